"""A graph under construction: the tensors of a desc, nodes, and the short runs of nodes that many mappings need.

A change without effect adds no node: the value comes back as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.onnx.export.records import TYPES, ExportedGraph, ExportedNode, GraphValue, Inexpressible, Initializer
from dmlcheck.onnx.export.representable import as_float32, fits, is_float, multiplies_exactly
from dmlcheck.specs.names import MAX_ELEMENTS

OPSET = 17

Maker = Callable[["Builder", OperatorDesc], None]


class Builder:
    """The graph of one desc."""

    def __init__(self, desc: OperatorDesc, opset: int = OPSET) -> None:
        self.desc = desc
        self.opset = opset
        self.nodes: list[ExportedNode] = []
        self.inputs: dict[str, GraphValue] = {}
        self.outputs: dict[str, GraphValue] = {}
        self.constants: list[Initializer] = []
        self.values: list[GraphValue] = []
        self.count = 0

    def at_least(self, opset: int) -> None:
        """Require an opset that has a version of an operator."""
        self.opset = max(self.opset, opset)

    # ---- the tensors of the desc

    def has(self, name: str) -> bool:
        """Whether the desc has an optional tensor or tensors of this field."""
        return bool(self.desc.parts.get(name))

    def tensor(self, label: str) -> TensorDesc:
        """Return the tensor of a label (`InputTensors[0]` for a part of an array); Inexpressible if absent."""
        for part in self.desc.tensors():
            if part.label == label:
                return part.tensor
        raise Inexpressible(f"{label} is left out")

    def input(self, label: str) -> GraphValue:
        """Return the input of a tensor's label; Inexpressible if absent."""
        if label not in self.inputs:
            self.inputs[label] = _value(label, self.tensor(label))
        return self.inputs[label]

    def optional(self, label: str) -> GraphValue | None:
        """Return the input of a tensor that may be left out."""
        return self.input(label) if self.has(label) else None

    def output(self, label: str, value: GraphValue) -> None:
        """Let a value be the output of a tensor's label, in the shape and type that the desc gives it."""
        tensor = self.tensor(label)
        value = self.reshape(self.cast(value, tensor.data_type), tensor.sizes)
        result = _value(label, tensor)
        if not self._renamed(value.name, label):
            self.nodes.append(ExportedNode("Identity", (value.name,), (label,), {}))
        self.outputs[label] = result

    def _renamed(self, name: str, label: str) -> bool:
        """Give the last node's only output the name of a graph output; return whether it has the given name."""
        last = self.nodes[-1] if self.nodes else None
        if last is None or last.outputs != (name,):
            return False
        self.nodes[-1] = last._replace(outputs=(label,))
        return True

    def graph(self) -> ExportedGraph:
        """Return the graph, its inputs and outputs in the order of the desc's tensors."""
        labels = [part.label for part in self.desc.tensors()]
        return ExportedGraph(
            self.desc.spec.operator,
            self.opset,
            tuple(self.nodes),
            tuple(self.inputs[label] for label in labels if label in self.inputs),
            tuple(self.outputs[label] for label in labels if label in self.outputs),
            tuple(self.constants),
            tuple(self.values),
        )

    # ---- constants and nodes

    def constant(
        self, elements: Sequence[float], data_type: str = "INT64", sizes: Sequence[int] | None = None
    ) -> GraphValue:
        """Return a constant, by default a vector of INT64; `sizes` () makes it a scalar."""
        shape = (len(elements),) if sizes is None else tuple(sizes)
        value = GraphValue(self._name("constant"), data_type, shape)
        self.constants.append(Initializer(value, tuple(elements)))
        return value

    def scalar(self, value: float, data_type: str) -> GraphValue:
        """Return a number as a constant without dimensions."""
        return self.constant([value], data_type, ())

    def node(
        self,
        type: str,
        inputs: Sequence[GraphValue | None],
        sizes: Sequence[int],
        data_type: str,
        element: str | None = None,
        /,
        **attributes: Any,
    ) -> GraphValue:
        """Add an operator of one output, whose shape and type are given, and return that.

        Attributes that are None are left out. All else is given by position, so that any mapping can be their `**`.
        """
        (value,) = self.nodes_of(type, inputs, [(sizes, data_type, element)], **attributes)
        return value

    def nodes_of(
        self,
        type: str,
        inputs: Sequence[GraphValue | None],
        outputs: Sequence[tuple[Sequence[int], str, str | None]],
        /,
        **attributes: Any,
    ) -> tuple[GraphValue, ...]:
        """Add an operator of several outputs and return them; Inexpressible if one is larger than any tensor."""
        if any(math.prod(sizes) > MAX_ELEMENTS for sizes, _, _ in outputs):
            raise Inexpressible(f"{type} would give more elements on the way than a tensor can have")
        values = tuple(GraphValue(self._name(type.lower()), kind, tuple(sizes), own) for sizes, kind, own in outputs)
        self.values += values
        names = ["" if value is None else value.name for value in inputs]
        while names and not names[-1]:
            names.pop()
        kept = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(ExportedNode(type, tuple(names), tuple(value.name for value in values), kept))
        return values

    def _name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}_{self.count}"

    # ---- other types and shapes

    def cast(self, value: GraphValue, data_type: str, element: str | None = None) -> GraphValue:
        """Return a value in another type."""
        if (value.data_type, value.element) == (data_type, element):
            return value
        to = element or TYPES[data_type]
        return self.node("Cast", [value], value.sizes, data_type, element, to=to)

    def reshape(self, value: GraphValue, sizes: Sequence[int]) -> GraphValue:
        """Return a value in another shape."""
        if tuple(sizes) == value.sizes:
            return value
        return self.node("Reshape", [value, self.constant(sizes)], sizes, value.data_type, value.element)

    def flatten(self, value: GraphValue) -> GraphValue:
        """Return a value as a vector, or without dimensions if it has one element."""
        count = math.prod(value.sizes)
        return self.reshape(value, (count,) if count > 1 else ())

    def last_dimensions(self, value: GraphValue, count: int) -> GraphValue:
        """Return a value in its last dimensions; Inexpressible if those before them are not all of size 1."""
        kept = value.sizes[len(value.sizes) - count :]
        if math.prod(value.sizes) != math.prod(kept):
            raise Inexpressible(f"the dimensions of {value.name} that are ignored are not all of size 1")
        return self.reshape(value, kept)

    def transpose(self, value: GraphValue, order: Sequence[int]) -> GraphValue:
        """Return a value with its axes in another order."""
        if list(order) == sorted(order):
            return value
        sizes = tuple(value.sizes[axis] for axis in order)
        return self.node("Transpose", [value], sizes, value.data_type, value.element, perm=list(order))

    # ---- some of the elements, and more of them

    def gather(self, value: GraphValue, axis: int, indices: Sequence[int]) -> GraphValue:
        """Return the elements of an axis that constant indices name."""
        if len(indices) == value.sizes[axis] and list(indices) == list(range(len(indices))):
            return value
        sizes = (*value.sizes[:axis], len(indices), *value.sizes[axis + 1 :])
        return self.node("Gather", [value, self.constant(indices)], sizes, value.data_type, axis=axis)

    def slice(
        self,
        value: GraphValue,
        starts: Sequence[int],
        ends: Sequence[int],
        sizes: Sequence[int],
        axes: Sequence[int] | None = None,
        steps: Sequence[int] | None = None,
    ) -> GraphValue:
        """Return a window of a value, of these sizes, between starts and ends of all axes or of some."""
        bounds = [self.constant(numbers) for numbers in (starts, ends, axes, steps) if numbers is not None]
        return self.node("Slice", [value, *bounds], sizes, value.data_type)

    def first_of(self, value: GraphValue, axes: Sequence[int]) -> GraphValue:
        """Return the first of the elements along some axes, which keep a size of 1."""
        axes = [axis for axis in axes if value.sizes[axis] > 1]
        if not axes:
            return value
        sizes = [1 if axis in axes else size for axis, size in enumerate(value.sizes)]
        return self.slice(value, [0] * len(axes), [1] * len(axes), sizes, axes)

    def pad(
        self,
        value: GraphValue,
        before: Sequence[int],
        after: Sequence[int],
        fill: GraphValue | None = None,
        mode: str = "constant",
    ) -> GraphValue:
        """Return a value with elements added at the ends of its dimensions."""
        if not any((*before, *after)):
            return value
        sizes = tuple(size + low + high for size, low, high in zip(value.sizes, before, after, strict=True))
        inputs = [value, self.constant([*before, *after]), fill]
        return self.node("Pad", inputs, sizes, value.data_type, mode=mode)

    def expand(self, value: GraphValue, sizes: Sequence[int]) -> GraphValue:
        """Return a value repeated along its dimensions of size 1."""
        if tuple(sizes) == value.sizes:
            return value
        return self.node("Expand", [value, self.constant(sizes)], sizes, value.data_type)

    def fill(self, sizes: Sequence[int], number: float, data_type: str) -> GraphValue:
        """Return a value whose elements are all the same, without having them all in the model."""
        return self.expand(self.scalar(number, data_type), sizes)

    # ---- arithmetic with one number

    def times(self, value: GraphValue, factor: float) -> GraphValue:
        """Return a value times a number of its type."""
        return value if factor == 1 else self.with_number("Mul", value, factor)

    def plus(self, value: GraphValue, summand: float) -> GraphValue:
        """Return a value plus a number of its type."""
        return value if summand == 0 else self.with_number("Add", value, summand)

    def with_number(self, type: str, value: GraphValue, number: float) -> GraphValue:
        """Apply an operator of two inputs to a value and a number of its type."""
        return self.node(type, [value, self.scalar(number, value.data_type)], value.sizes, value.data_type)


def _value(label: str, tensor: TensorDesc) -> GraphValue:
    if tensor.data_type not in TYPES:
        raise Inexpressible(f"{label} is {tensor.data_type}")
    return GraphValue(label, tensor.data_type, tensor.sizes)


# ---- x * Scale + Bias and other products that are nodes of their own, where that adds no rounding


def scaled(g: Builder, x: GraphValue, scale: float, bias: float, *, rounds_after: bool = False) -> GraphValue:
    """Return x * scale + bias; Inexpressible if that adds a rounding before the function that follows.

    `rounds_after`: the function gives the same whether its argument is rounded or its result is, so that one rounding
    of the argument adds none. Integers are exact wherever DirectML's result is defined.
    """
    scale, bias = as_float32(scale), as_float32(bias)
    if (scale, bias) == (1, 0):
        return x
    for name, value in (("Scale", scale), ("Bias", bias)):
        if not fits(value, x.data_type):
            raise Inexpressible(f"{name} {value:g} is not a number of {x.data_type}")
    if is_float(x.data_type):
        is_exact = multiplies_exactly(scale)
        if (bias or not is_exact) and not rounds_after:
            raise Inexpressible("x * Scale + Bias would be rounded before the function is applied")
        if bias and not is_exact:
            raise Inexpressible("x * Scale + Bias would be rounded twice")
    return g.plus(g.times(x, scale), bias)


def times_exactly(g: Builder, x: GraphValue, factor: float, name: str) -> GraphValue:
    """Return a value times a number; Inexpressible if that product would be rounded."""
    factor = as_float32(factor)
    if not multiplies_exactly(factor) or not fits(factor, x.data_type):
        raise Inexpressible(f"a product with {name} {factor:g} would be rounded by itself")
    return g.times(x, factor)


# ---- operators of one axis


def along(g: Builder, type: str, x: GraphValue, axes: Sequence[int]) -> GraphValue:
    """Apply an operator of one axis to several, of which its result has all elements."""
    if len(axes) == 1:
        return g.node(type, [x], x.sizes, x.data_type, axis=axes[0])
    group = merged(g, x, axes)
    made = g.node(type, [group], group.sizes, x.data_type, axis=len(group.sizes) - 1)
    order = _last(x, axes)
    apart = g.reshape(made, [x.sizes[axis] for axis in order])
    return g.transpose(apart, [order.index(axis) for axis in range(len(order))])


def merged(g: Builder, x: GraphValue, axes: Sequence[int]) -> GraphValue:
    """Return a value with some axes made one, its last; no axes become one of size 1."""
    moved = g.transpose(x, _last(x, axes))
    kept = len(x.sizes) - len(axes)
    return g.reshape(moved, [*moved.sizes[:kept], math.prod(moved.sizes[kept:])])


def _last(x: GraphValue, axes: Sequence[int]) -> list[int]:
    """Return the axes of a value with some of them moved to its end, both in their order."""
    return [*(axis for axis in range(len(x.sizes)) if axis not in axes), *sorted(axes)]
