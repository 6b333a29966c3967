"""The tolerances that the utilities of the W3C's tests have for operators, for files that state none.

The source is webnn/resources/utils.js of web-platform-tests (2025-03-31 and 2026): units in the last place of the
output's data type. A test of several operators has the sum of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from dmlcheck.formats.webnn.graph import GraphTest, WebnnOperator
from dmlcheck.formats.webnn.suite import Stated
from dmlcheck.graphs.tensors import TensorRef

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


def _matmul(_: WebnnOperator, shapes: list[_Shape]) -> Any:
    return 2 * shapes[0][-1]


def _convolution(operator: WebnnOperator, shapes: list[_Shape]) -> Any:
    get = operator.options.get
    height, width = _WINDOWS[get("filterLayout") or "oihw"]
    count = shapes[0][3 if get("inputLayout") == "nhwc" else 1]
    return int(shapes[1][height] * shapes[1][width] * count / (get("groups") or 1) * 2)


def _pooling(operator: WebnnOperator, shapes: list[_Shape]) -> Any:
    get, shape = operator.options.get, shapes[0]
    sides = shape[1:3] if get("layout") == "nhwc" else shape[2:4]
    return math.prod(get("windowDimensions") or sides) + 2


def _resampling(operator: WebnnOperator, _: list[_Shape]) -> Any:
    return _LINEAR if operator.options.get("mode") == "linear" else 0


def _softmax(operator: WebnnOperator, shapes: list[_Shape]) -> Any:
    axis = operator.given[1] if len(operator.given) > 1 else 1
    return 3 * shapes[0][axis] + 3


def _running_sum(operator: WebnnOperator, shapes: list[_Shape]) -> Any:
    return shapes[0][operator.given[1]] - 1


_BY_SHAPES: Mapping[str, Callable[[WebnnOperator, list[_Shape]], Any]] = {
    **dict.fromkeys(_REDUCTIONS, _reduction),
    "averagePool2d": _pooling,
    "conv2d": _convolution,
    "convTranspose2d": _convolution,
    "cumulativeSum": _running_sum,
    "gemm": _gemm,
    "l2Pool2d": _pooling,
    "matmul": _matmul,
    "resample2d": _resampling,
    "softmax": _softmax,
}
