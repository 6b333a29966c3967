"""A test as it is written: its tensors with their values, and its operators with their arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.diagnostics.wording import cut
from dmlcheck.formats.webnn.literals import Wrong, shown
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
    return WebnnOperator(name, tuple(given), options, _outputs(_needed(operator, "an operator", "outputs")))


def _outputs(made: ScriptValue) -> tuple[str, ...]:
    parts = items(made, "outputs") if is_list(made) else [made]
    return tuple(string(part, "an output") for part in parts)


def _argument(value: ScriptValue, known: set[str]) -> Any:
    """Return an argument: a number, text, a tensor by name, or a list of these."""
    if is_list(value):
        return [_scalar(part, known) for part in items(value, "a list")]
    return _scalar(value, known)


def _scalar(value: ScriptValue, known: set[str]) -> Any:
    found = scalar(value)
    return Operand(found) if isinstance(found, str) and found in known else found
