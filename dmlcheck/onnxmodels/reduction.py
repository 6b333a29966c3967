"""The reduction family: reductions over the last axes of a transposed tensor, the largest and smallest by index."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmlcheck.model import OperatorDesc
from dmlcheck.onnxmodels import Builder, Inexpressible, Value

# The reduction of ONNX for each function; those of indices are below.
_REDUCE = {
    "AVERAGE": "ReduceMean",
    "L1": "ReduceL1",
    "L2": "ReduceL2",
    "LOG_SUM": "ReduceLogSum",
    "LOG_SUM_EXP": "ReduceLogSumExp",
    "MAX": "ReduceMax",
    "MIN": "ReduceMin",
    "MULTIPLY": "ReduceProd",
    "SUM": "ReduceSum",
    "SUM_SQUARE": "ReduceSumSquare",
}


def reduce(g: Builder, desc: OperatorDesc) -> None:
    """REDUCE: axes are an input from opset 18 on."""
    function = desc.values["Function"]
    axes = desc.values["Axes"]
    if function in ("ARGMAX", "ARGMIN"):
        index_of(g, axes, "ArgMax" if function == "ARGMAX" else "ArgMin", is_last=False)
        return
    g.at_least(18)
    x = g.input("InputTensor")
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.sizes)]
    if not axes:
        raise Inexpressible("Axes is empty")
    inputs = [x, g.constant(sorted(axes))]
    g.output("OutputTensor", g.node(_REDUCE[function], inputs, sizes, x.data_type, keepdims=1))


def argmax(g: Builder, desc: OperatorDesc) -> None:
    """ARGMAX and ARGMIN, whose AxisDirection says which of several equal elements counts."""
    name = "ArgMax" if desc.spec.short == "ARGMAX" else "ArgMin"
    index_of(g, desc.values["Axes"], name, is_last=desc.values["AxisDirection"] == "DECREASING")


def index_of(g: Builder, axes: Sequence[int], name: str, *, is_last: bool) -> None:
    """Reduce to an index: ONNX counts along one axis, so several become one, which counts their elements."""
    if not axes:
        raise Inexpressible("Axes is empty")
    x = merged(g, g.input("InputTensor"), axes)
    indices = g.node(
        name, [x], (*x.sizes[:-1], 1), "INT64", axis=len(x.sizes) - 1, keepdims=1, select_last_index=int(is_last)
    )
    g.output("OutputTensor", indices)


def merged(g: Builder, x: Value, axes: Sequence[int]) -> Value:
    """Return a value with some axes made one, its last."""
    kept = [axis for axis in range(len(x.sizes)) if axis not in axes]
    moved = g.transpose(x, [*kept, *sorted(axes)])
    length = math.prod(x.sizes[axis] for axis in axes)
    return g.reshape(moved, [*(x.sizes[axis] for axis in kept), length])


MAPPINGS = {
    "ARGMAX": argmax,
    "ARGMIN": argmax,
    "REDUCE": reduce,
}
