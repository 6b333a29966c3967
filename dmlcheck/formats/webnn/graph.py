"""A test as it is written: its tensors with their values, and its operators with their arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dmlcheck.diagnostics.wording import cut
from dmlcheck.formats.webnn.literals import ScriptData, Wrong
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.values.number_formats import NUMPY_TYPES

if TYPE_CHECKING:
    from tree_sitter import Node

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


def name_of(data: ScriptData, node: Node) -> str:
    """Return the name of a test."""
    fields = data.fields(node, "a test")
    return cut(data.string(_needed(fields, "name", node), "the name of a test"), _MOST_NAME)


def read_test(data: ScriptData, node: Node) -> GraphTest:
    """Return a test; Wrong if it has another form, NotData if code makes it, Unmapped for an unknown data type."""
    graph = data.fields(_needed(data.fields(node, "a test"), "graph", node), "the graph of a test")
    tensors = [
        {name: _tensor(data, each, name) for name, each in data.fields(_needed(graph, key, node), key).items()}
        for key in ("inputs", "expectedOutputs")
    ]
    known = set(tensors[0])
    operators = []
    for each in data.items(_needed(graph, "operators", node), "operators"):
        operators.append(_operator(data, each, known))
        known.update(operators[-1].outputs)
    return GraphTest(name_of(data, node), tensors[0], tuple(operators), tensors[1])


def _needed(fields: Mapping[str, Node], key: str, at: Node) -> Node:
    if key not in fields:
        raise Wrong(at, f"`{key}` is missing")
    return fields[key]


# ---- tensors


def _tensor(data: ScriptData, node: Node, name: str) -> TensorRef:
    fields = data.fields(node, f"the tensor {name}")
    descriptor = data.fields(_needed(fields, "descriptor", node), f"`descriptor` of {name}")
    kind = data.string(_needed(descriptor, "dataType", node), "dataType")
    if kind not in _TYPES:
        raise Wrong(descriptor["dataType"], f"`{cut(kind, _MOST_NAME)}` is no data type of WebNN")
    sizes = _needed(descriptor, "dimensions" if "dimensions" in descriptor else "shape", node)  # its earlier name
    shape = [data.whole(each, "a size") for each in data.items(sizes, "a shape")]
    count = math.prod(shape)
    if not count:
        raise Unmapped(f"{name} has no elements, and a tensor of DirectML has at least one")
    if min(shape, default=1) < 0 or len(shape) > _MOST_DIMENSIONS:
        raise Wrong(sizes, f"{data.shown(sizes)} is no shape")
    if count > _MOST_ELEMENTS:
        raise Unmapped(f"{name} has {count:,} elements; tensors of up to {_MOST_ELEMENTS:,} are imported")
    element = _TYPES[kind]
    return TensorRef.of(_values(data, _needed(fields, "data", node), name, element, count).reshape(shape), element)


def _values(data: ScriptData, node: Node, name: str, element: str, count: int) -> Array:
    """Return the elements of a tensor; a number in place of a list fills it."""
    if not data.is_list(node):
        return np.full(count, _elements([data.number(node, "an element")], element, name)[0])
    parts = data.items(node, f"the data of {name}")
    if len(parts) != count:
        raise Wrong(node, f"{name} has {len(parts):,} values, and its shape {count:,} elements")
    return _elements([data.number(part, "an element") for part in parts], element, name)


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


def _operator(data: ScriptData, node: Node, known: set[str]) -> WebnnOperator:
    fields = data.fields(node, "an operator")
    given: list[Any] = []
    options: dict[str, Any] = {}
    for each in data.items(_needed(fields, "arguments", node), "arguments"):
        if data.is_nothing(each):
            continue
        for name, value in data.fields(each, "an argument").items():
            if name == "options":
                options = {key: _value(data, one, known) for key, one in data.fields(value, "options").items()}
            else:
                given.append(_value(data, value, known))
    return WebnnOperator(
        data.string(_needed(fields, "name", node), "name"), tuple(given), options, _outputs(data, fields, node)
    )


def _outputs(data: ScriptData, fields: Mapping[str, Node], node: Node) -> tuple[str, ...]:
    made = _needed(fields, "outputs", node)
    parts = data.items(made, "outputs") if data.is_list(made) else [made]
    return tuple(data.string(part, "an output") for part in parts)


def _value(data: ScriptData, node: Node, known: set[str]) -> Any:
    """Return an argument: a number, text, a tensor by name, or a list of these."""
    if data.is_list(node):
        return [_scalar(data, part, known) for part in data.items(node, "a list")]
    return _scalar(data, node, known)


def _scalar(data: ScriptData, node: Node, known: set[str]) -> Any:
    value = data.scalar(node)
    return Operand(value) if isinstance(value, str) and value in known else value
