"""The reduction family; for operators of one axis in ONNX, several axes become the last one, and return afterwards."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue
from dmlcheck.onnx.same_operators import REDUCTIONS

_REDUCE = {function: name for name, function in REDUCTIONS.items()}


def reduce(g: Builder, desc: OperatorDesc) -> None:
    """REDUCE: axes are an input from opset 18 on."""
    function = desc.values["Function"]
    axes = desc.values["Axes"]
    if function in ("ARGMAX", "ARGMIN"):
        index_of(g, axes, "ArgMax" if function == "ARGMAX" else "ArgMin", is_last=False)
        return
    g.at_least(18)
    x = g.input("InputTensor")
    if not axes:
        x, axes = merged(g, x, axes), [len(x.sizes)]
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.sizes)]
    inputs = [x, g.constant(sorted(axes))]
    g.output("OutputTensor", g.node(_REDUCE[function], inputs, sizes, x.data_type, keepdims=1))


def argmax(g: Builder, desc: OperatorDesc) -> None:
    """ARGMAX and ARGMIN, with AxisDirection to choose among equal elements."""
    name = "ArgMax" if desc.spec.short == "ARGMAX" else "ArgMin"
    index_of(g, desc.values["Axes"], name, is_last=desc.values["AxisDirection"] == "DECREASING")


def index_of(g: Builder, axes: Sequence[int], name: str, *, is_last: bool) -> None:
    """Reduce to an index: ONNX counts along one axis, so several become one, which counts their elements."""
    x = g.input("InputTensor")
    axis = axes[0] if len(axes) == 1 else len(x.sizes) - len(axes)
    if len(axes) != 1:
        x = merged(g, x, axes)
    sizes = [1 if each == axis else size for each, size in enumerate(x.sizes)]
    indices = g.node(name, [x], sizes, "INT64", axis=axis, keepdims=1, select_last_index=int(is_last))
    g.output("OutputTensor", indices)


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


MAPPINGS: dict[str, Maker] = {
    "ARGMAX": argmax,
    "ARGMIN": argmax,
    "REDUCE": reduce,
}
