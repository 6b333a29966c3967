"""Descs as ONNX graphs: the operator that ONNX has for it, and what takes the tensors to its shapes and types and back.

A graph is plain records and needs neither NumPy nor onnx. Each family of operators ends in its table MAPPINGS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.specs.names import MAX_ELEMENTS

OPSET = 17

_FAMILIES = (
    "reduction",
    "elementwise",
    "activation",
    "shaping",
    "gathering",
    "creation",
    "pooling",
    "convolution",
    "normalization",
    "recurrent",
    "resampling",
    "quantizing",
    "attention",
)

# ONNX's names of the element types that DirectML has too.
TYPES = {
    "FLOAT16": "FLOAT16",
    "FLOAT32": "FLOAT",
    "FLOAT64": "DOUBLE",
    "INT8": "INT8",
    "INT16": "INT16",
    "INT32": "INT32",
    "INT64": "INT64",
    "UINT8": "UINT8",
    "UINT16": "UINT16",
    "UINT32": "UINT32",
    "UINT64": "UINT64",
}


class Inexpressible(Exception):
    """A desc that ONNX has no exact words for; the message says what is missing."""


class Value(NamedTuple):
    """A value of a graph: its name, its data type in DirectML's name, and its shape.

    `element` is ONNX's own type where DirectML has none: BOOL.
    """

    name: str
    data_type: str
    sizes: tuple[int, ...]
    element: str | None = None

    @property
    def onnx_type(self) -> str:
        """ONNX's name of the type."""
        return self.element or TYPES[self.data_type]


class Constant(NamedTuple):
    """A value that is part of the graph: its elements, flat."""

    value: Value
    elements: tuple[float, ...]


class Node(NamedTuple):
    """One operator of a graph; "" stands for an input that is left out.

    A type may begin with its domain (`com.microsoft.QLinearAdd`). An attribute that is a data type is its ONNX name,
    one that is a tensor is a Constant.
    """

    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]


class Graph(NamedTuple):
    """A desc as ONNX says it. `inputs` and `outputs` are named as the desc's tensors are in reports.

    `values` are those between its nodes.
    """

    operator: str
    opset: int
    nodes: tuple[Node, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    constants: tuple[Constant, ...]
    values: tuple[Value, ...] = ()


Mapping = Callable[["Builder", OperatorDesc], None]


class Builder:
    """A graph as it grows."""

    def __init__(self, desc: OperatorDesc, opset: int = OPSET) -> None:
        self.desc = desc
        self.opset = opset
        self.nodes: list[Node] = []
        self.inputs: dict[str, Value] = {}
        self.outputs: dict[str, Value] = {}
        self.constants: list[Constant] = []
        self.values: list[Value] = []
        self.count = 0

    def at_least(self, opset: int) -> None:
        """Ask for an opset that has what is used."""
        self.opset = max(self.opset, opset)

    def input(self, label: str) -> Value:
        """Return the input of a tensor's label (`InputTensors[0]` for a part of an array); Inexpressible if absent."""
        if label not in self.inputs:
            tensor = next((part.tensor for part in self.desc.tensors() if part.label == label), None)
            if tensor is None:
                raise Inexpressible(f"{label} is left out")
            self.inputs[label] = _value(label, tensor)
        return self.inputs[label]

    def has(self, name: str) -> bool:
        """Whether the desc has an optional tensor or tensors of this field."""
        return bool(self.desc.parts.get(name))

    def constant(
        self, elements: Sequence[float], data_type: str = "INT64", sizes: Sequence[int] | None = None
    ) -> Value:
        """Return a constant, by default a vector of INT64; `sizes` () makes it a scalar."""
        shape = (len(elements),) if sizes is None else tuple(sizes)
        value = Value(self._name("constant"), data_type, shape)
        self.constants.append(Constant(value, tuple(elements)))
        return value

    def node(
        self,
        type: str,
        inputs: Sequence[Value | None],
        sizes: Sequence[int],
        data_type: str,
        element: str | None = None,
        /,
        **attributes: Any,
    ) -> Value:
        """Add an operator of one output, whose shape and type are given, and return that.

        Attributes that are None are left out. All else goes by position, so that any mapping can be their `**`.
        """
        (value,) = self.nodes_of(type, inputs, [(sizes, data_type, element)], **attributes)
        return value

    def nodes_of(
        self,
        type: str,
        inputs: Sequence[Value | None],
        outputs: Sequence[tuple[Sequence[int], str, str | None]],
        /,
        **attributes: Any,
    ) -> tuple[Value, ...]:
        """Add an operator of several outputs and return them; Inexpressible where one is larger than any tensor."""
        for sizes, _, _ in outputs:
            if math.prod(sizes) > MAX_ELEMENTS:
                raise Inexpressible(f"{type} would give more elements on the way than a tensor can have")
        values = tuple(Value(self._name(type.lower()), kind, tuple(sizes), own) for sizes, kind, own in outputs)
        self.values += values
        names = tuple("" if value is None else value.name for value in inputs)
        while names and not names[-1]:
            names = names[:-1]
        kept = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(Node(type, names, tuple(value.name for value in values), kept))
        return values

    def cast(self, value: Value, data_type: str, element: str | None = None) -> Value:
        """Return a value in another type: itself where it has that type."""
        if (value.data_type, value.element) == (data_type, element):
            return value
        to = element or TYPES[data_type]
        return self.node("Cast", [value], value.sizes, data_type, element, to=to)

    def reshape(self, value: Value, sizes: Sequence[int]) -> Value:
        """Return a value in another shape: itself where it has that shape."""
        if tuple(sizes) == value.sizes:
            return value
        return self.node("Reshape", [value, self.constant(sizes)], sizes, value.data_type, value.element)

    def transpose(self, value: Value, order: Sequence[int]) -> Value:
        """Return a value with its axes in another order."""
        if list(order) == sorted(order):
            return value
        sizes = tuple(value.sizes[axis] for axis in order)
        return self.node("Transpose", [value], sizes, value.data_type, value.element, perm=list(order))

    def output(self, label: str, value: Value) -> None:
        """Let a value be the output of a tensor's label, in the shape and type that the desc gives it."""
        tensor = next(part.tensor for part in self.desc.tensors() if part.label == label)
        value = self.cast(value, tensor.data_type)
        value = self.reshape(value, tensor.sizes)
        result = _value(label, tensor)
        if not self._renamed(value.name, label):
            self.nodes.append(Node("Identity", (value.name,), (label,), {}))
        self.outputs[label] = result

    def _renamed(self, name: str, label: str) -> bool:
        """Give the last node's only output the name of a graph output, if that is what it makes."""
        last = self.nodes[-1] if self.nodes else None
        if last is None or last.outputs != (name,):
            return False
        self.nodes[-1] = last._replace(outputs=(label,))
        return True

    def graph(self) -> Graph:
        """Return what was built, its inputs and outputs in the order of the desc's tensors."""
        labels = [part.label for part in self.desc.tensors()]
        return Graph(
            self.desc.spec.operator,
            self.opset,
            tuple(self.nodes),
            tuple(self.inputs[label] for label in labels if label in self.inputs),
            tuple(self.outputs[label] for label in labels if label in self.outputs),
            tuple(self.constants),
            tuple(self.values),
        )

    def _name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}_{self.count}"


def build(desc: OperatorDesc) -> Graph:
    """Return a valid desc as a graph; Inexpressible where ONNX has no exact words for it."""
    mapping = mappings().get(desc.spec.short)
    if mapping is None:
        raise Inexpressible(f"ONNX has no operator for {desc.spec.operator}")
    builder = Builder(desc)
    mapping(builder, desc)
    return builder.graph()


@cache
def mappings() -> dict[str, Mapping]:
    """Return the mappings of all families by operator, without its prefix."""
    found: dict[str, Mapping] = {}
    for family in _FAMILIES:
        found.update(import_module(f"dmlcheck.formats.onnx.models.{family}").MAPPINGS)
    return found


def _value(label: str, tensor: TensorDesc) -> Value:
    if tensor.data_type not in TYPES:
        raise Inexpressible(f"{label} is {tensor.data_type}")
    return Value(label, tensor.data_type, tensor.sizes)
