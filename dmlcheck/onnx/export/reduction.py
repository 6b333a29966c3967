"""The reduction family; for operators of one axis in ONNX, several axes become the last one, and return afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker, merged
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


MAPPINGS: dict[str, Maker] = {
    "ARGMAX": argmax,
    "ARGMIN": argmax,
    "REDUCE": reduce,
}
