"""A test as it is written: its tensors with their values, its operators with their arguments, its tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.diagnostics.wording import cut
from dmlcheck.formats.webnn.literals import Wrong, shown
from dmlcheck.formats.webnn.suite import Stated
from dmlcheck.formats.webnn.values import (
    ScriptValue,
    fields,
    is_list,
    is_nothing,
    items,
    number_in,
    scalar,
    string,
    whole,
)
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.values.number_formats import NUMPY_TYPES

_TYPES = {
    name.lower(): name
    for name in ("FLOAT32", "FLOAT16", "INT64", "UINT64", "INT32", "UINT32", "INT8", "UINT8", "INT4", "UINT4")
}
_RANGES = {"INT4": (-8, 7), "UINT4": (0, 15)}
_MOST_ELEMENTS = 2**24  # of a tensor
_MOST_NAME = 200  # characters
_MOST_DIMENSIONS = 100


class Operand(str):
    """An argument that is the name of a tensor."""

    __slots__ = ()


class WebnnOperator(NamedTuple):
    """An operator of a test: its arguments in order, its options, and the names of its outputs."""

    name: str
    given: tuple[Any, ...]
    options: Mapping[str, Any]
    outputs: tuple[str, ...]


class GraphTest(NamedTuple):
    """A test: its tensors by name, and its operators in order."""

    name: str
    inputs: Mapping[str, TensorRef]
    operators: tuple[WebnnOperator, ...]
    expected: Mapping[str, TensorRef]


def name_of(test: ScriptValue) -> str:
    """Return the name of a test."""
    return cut(string(_needed(test, "a test", "name"), "the name of a test"), _MOST_NAME)


def read_test(test: ScriptValue) -> GraphTest:
    """Return a test; Wrong if it has another form, NotData if code makes it, Unmapped for an unknown data type."""
    graph, what = _needed(test, "a test", "graph"), "the graph of a test"
    tensors = [
        {name: _tensor(each, name) for name, each in fields(_needed(graph, what, key, test), key).items()}
        for key in ("inputs", "expectedOutputs")
    ]
    known = set(tensors[0])
    operators = []
    for each in items(_needed(graph, what, "operators", test), "operators"):
        operators.append(_operator(each, known))
        known.update(operators[-1].outputs)
    return GraphTest(name_of(test), tensors[0], tuple(operators), tensors[1])


def _needed(value: ScriptValue, what: str, key: str, whole: ScriptValue | None = None) -> ScriptValue:
    """Return a part that an object must have; `whole` is the place where it is missing, if not the object."""
    found = fields(value, what)
    if key not in found:
        raise Wrong((whole or value).node, f"`{key}` is missing")
    return found[key]


# ---- tensors


def _tensor(tensor: ScriptValue, name: str) -> TensorRef:
    descriptor, what = _needed(tensor, f"the tensor {name}", "descriptor"), f"`descriptor` of {name}"
    stated = _needed(descriptor, what, "dataType")
    kind = string(stated, "dataType")
    if kind not in _TYPES:
        raise Wrong(stated.node, f"`{cut(kind, _MOST_NAME)}` is no data type of WebNN")
    earlier = "dimensions"  # what a shape was called
    sizes = _needed(descriptor, what, earlier if earlier in fields(descriptor, what) else "shape")
    shape = [whole(each, "a size") for each in items(sizes, "a shape")]
    count = math.prod(shape)
    if not count:
        raise Unmapped(f"{name} has no elements, and a tensor of DirectML has at least one")
    if min(shape, default=1) < 0 or len(shape) > _MOST_DIMENSIONS:
        raise Wrong(sizes.node, f"{shown(sizes.node)} is no shape")
    if count > _MOST_ELEMENTS:
        raise Unmapped(f"{name} has {count:,} elements; tensors of up to {_MOST_ELEMENTS:,} are imported")
    element = _TYPES[kind]
    data = _needed(tensor, f"the tensor {name}", "data")
    return TensorRef.of(_values(data, name, element, count).reshape(shape), element)


def _values(data: ScriptValue, name: str, element: str, count: int) -> Array:
    """Return the elements of a tensor; a number in place of a list fills it."""
    if not is_list(data):
        return np.full(count, _elements([number_in(data, "an element")], element, name)[0])
    parts = items(data, f"the data of {name}")
    if len(parts) != count:
        raise Wrong(data.node, f"{name} has {len(parts):,} values, and its shape {count:,} elements")
    return _elements([number_in(part, "an element") for part in parts], element, name)


def _elements(numbers: Sequence[float | int], element: str, name: str) -> Array:
    """Return numbers in a data type, floats rounded once to the nearest even."""
    dtype = NUMPY_TYPES[element]
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.array([float(number) for number in numbers], dtype=np.float64).astype(dtype)
    least, most = _RANGES.get(element) or (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    wrong = next((x for x in numbers if not (math.isfinite(x) and x == int(x) and least <= x <= most)), None)
    if wrong is not None:
        raise Unmapped(f"{name} has the value {wrong}, which is none of {element}")
    return np.array([int(number) for number in numbers], dtype=dtype)


# ---- operators


def _operator(operator: ScriptValue, known: set[str]) -> WebnnOperator:
    given: list[Any] = []
    options: dict[str, Any] = {}
    for each in items(_needed(operator, "an operator", "arguments"), "arguments"):
        if is_nothing(each):
            continue
        for name, value in fields(each, "an argument").items():
            if name == "options":
                options = {key: _argument(one, known) for key, one in fields(value, "options").items()}
            else:
                given.append(_argument(value, known))
    name = string(_needed(operator, "an operator", "name"), "name")
    made = _needed(operator, "an operator", "outputs")
    parts = items(made, "outputs") if is_list(made) else [made]
    return WebnnOperator(name, tuple(given), options, tuple(string(part, "an output") for part in parts))


def _argument(value: ScriptValue, known: set[str]) -> Any:
    """Return an argument: a number, text, a tensor by name, or a list of these."""
    if is_list(value):
        return [_scalar(part, known) for part in items(value, "a list")]
    return _scalar(value, known)


def _scalar(value: ScriptValue, known: set[str]) -> Any:
    found = scalar(value)
    return Operand(found) if isinstance(found, str) and found in known else found


# ---- the tolerances that the utilities of the W3C's tests have for operators, for files that state none

# The source is webnn/resources/utils.js of web-platform-tests (2025-03-31 and 2026): units in the last place of the
# output's data type. A test of several operators has the sum of theirs.


_Shape = tuple[int, ...]
_FLOATS = ("FLOAT32", "FLOAT16")

# ULP of float outputs, and of FLOAT16 outputs if that is different.
_ULP: Mapping[str, tuple[int, int]] = {
    "add": (1, 1),
    "batchNormalization": (6, 6),
    "elu": (18, 18),
    "gelu": (18, 18),
    "hardSigmoid": (2, 2),
    "hardSwish": (4, 4),
    "instanceNormalization": (840, 8400),
    "leakyRelu": (1, 2),
    "linear": (2, 2),
    "mul": (1, 1),
    "prelu": (1, 1),
    "sigmoid": (34, 10),
    "softplus": (18, 18),
    "softsign": (3, 3),
    "sub": (1, 1),
    "tanh": (16, 16),
}
_ZERO = frozenset(
    {
        "argMax",
        "argMin",
        "clamp",
        "concat",
        "equal",
        "expand",
        "gather",
        "gatherElements",
        "gatherND",
        "greater",
        "greaterOrEqual",
        "identity",
        "lesser",
        "lesserOrEqual",
        "logicalAnd",
        "logicalNot",
        "logicalOr",
        "logicalXor",
        "max",
        "maxPool2d",
        "min",
        "pad",
        "reduceMax",
        "reduceMin",
        "relu",
        "reshape",
        "reverse",
        "scatterElements",
        "scatterND",
        "slice",
        "split",
        "tile",
        "transpose",
        "triangular",
    }
)
_MOST = 2**31  # ULP; more would not be a tolerance
_LINEAR = 84  # of resample2d
# ULP of a reduction: for each element of a group, and in addition.
_REDUCTIONS: Mapping[str, tuple[int, int]] = {
    "reduceL1": (1, 0),
    "reduceL2": (2, 2),
    "reduceLogSum": (1, 18),
    "reduceLogSumExp": (2, 18),
    "reduceMean": (1, 2),
    "reduceProduct": (1, 0),
    "reduceSum": (1, 0),
    "reduceSumSquare": (2, 0),
}
_WINDOWS = {"oihw": (2, 3), "iohw": (2, 3), "hwio": (0, 1), "hwoi": (0, 1), "ohwi": (1, 2), "ihwo": (1, 2)}


def tolerance_of(test: GraphTest, stated: Stated | None) -> Any:
    """Return the tolerance of a test for its case: that of its file, else that of its operators; None if not known."""
    output = next(iter(test.expected.values()))
    if stated is not None:
        return _written(stated.metric, stated.of(output.element.lower()))
    if output.data_type not in _FLOATS:
        return "exact" if all(one.name in _ZERO for one in test.operators) else None
    each = [_ulp(one, test.inputs, output) for one in test.operators]
    return None if any(one is None for one in each) else _written("ULP", sum(one or 0 for one in each))


def _written(metric: str, value: float | None) -> Any:
    if value is None or not 0 <= value < _MOST or metric not in ("ULP", "ATOL"):
        return None
    return {"ulp" if metric == "ULP" else "absolute": value} if value else "exact"


def _ulp(operator: WebnnOperator, tensors: Mapping[str, TensorRef], output: TensorRef) -> int | None:
    """Return the tolerance of an operator; None if the utilities have none, or it cannot be computed."""
    name = operator.name
    if name in _ZERO:
        return 0
    if name in _ULP:
        return _ULP[name][output.data_type == "FLOAT16"]
    shapes = [tensors[one].shape if isinstance(one, str) and one in tensors else () for one in operator.given]
    made = _BY_SHAPES.get(name)
    try:
        return None if made is None else int(made(operator, shapes))
    except (ArithmeticError, LookupError, TypeError, ValueError):  # of a test that is wrong
        return None


def _reduction(operator: WebnnOperator, shapes: list[_Shape]) -> Any:
    each, more = _REDUCTIONS[operator.name]
    axes = operator.options.get("axes")
    shape = shapes[0]
    return each * math.prod(shape if axes is None else [shape[axis] for axis in axes]) + more


def _gemm(operator: WebnnOperator, shapes: list[_Shape]) -> Any:
    get = operator.options.get
    products = 2 * shapes[0][0 if get("aTranspose") else 1]
    has_c = get("c") is not None and get("beta") != 0
    return products + (get("alpha", 1) != 1) + (has_c and get("beta", 1) != 1) + has_c


def _convolution(operator: WebnnOperator, shapes: list[_Shape]) -> Any:
    get = operator.options.get
    height, width = _WINDOWS[get("filterLayout") or "oihw"]
    count = shapes[0][3 if get("inputLayout") == "nhwc" else 1]
    return int(shapes[1][height] * shapes[1][width] * count / (get("groups") or 1) * 2)


def _pooling(operator: WebnnOperator, shapes: list[_Shape]) -> Any:
    get, shape = operator.options.get, shapes[0]
    sides = shape[1:3] if get("layout") == "nhwc" else shape[2:4]
    return math.prod(get("windowDimensions") or sides) + 2


def _softmax(operator: WebnnOperator, shapes: list[_Shape]) -> Any:
    axis = operator.given[1] if len(operator.given) > 1 else 1
    return 3 * shapes[0][axis] + 3


_BY_SHAPES: Mapping[str, Callable[[WebnnOperator, list[_Shape]], Any]] = {
    **dict.fromkeys(_REDUCTIONS, _reduction),
    "averagePool2d": _pooling,
    "conv2d": _convolution,
    "convTranspose2d": _convolution,
    "cumulativeSum": lambda operator, shapes: shapes[0][operator.given[1]] - 1,
    "gemm": _gemm,
    "l2Pool2d": _pooling,
    "matmul": lambda _, shapes: 2 * shapes[0][-1],
    "resample2d": lambda operator, _: _LINEAR if operator.options.get("mode") == "linear" else 0,
    "softmax": _softmax,
}
