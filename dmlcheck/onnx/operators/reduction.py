"""Reductions along axes, and operators of groups along axes."""

from __future__ import annotations

from functools import partial

from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, axis_of
from dmlcheck.onnx.descs.tensors import sized, vector
from dmlcheck.onnx.operators.row import Row
from dmlcheck.onnx.same_operators import REDUCTIONS


def _reduce(function: str, node: OnnxNode) -> list[Counterpart]:
    """REDUCE: no axes mean all of them, or with noop_with_empty_axes none."""
    x = vector(node.input(0))
    axes = [axis_of(axis, x.ndim) for axis in node.numbers("axes", 1) or []]
    if not axes and not node.get("noop_with_empty_axes"):
        axes = list(range(x.ndim))
    elif not axes and node.has_outputs and function not in ("SUM", "AVERAGE", "MULTIPLY", "MIN", "MAX"):
        raise Unmapped(f"{node.type} of no axes, of which versions of ONNX say different things")
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    tensors = {"InputTensor": x, "OutputTensor": sized(node.output(), sizes)}
    return [Counterpart("REDUCE", {"Function": function, **tensors, "Axes": axes})]


def _index(operator: str, node: OnnxNode) -> list[Counterpart]:
    """ARGMAX and ARGMIN: DECREASING gives the last of equal elements."""
    x = vector(node.input(0))
    axis = axis_of(node.get("axis", 0), x.ndim)
    sizes = [1 if place == axis else size for place, size in enumerate(x.shape)]
    direction = "DECREASING" if node.get("select_last_index", 0) else "INCREASING"
    tensors = {"InputTensor": x, "OutputTensor": sized(node.output(), sizes)}
    return [Counterpart(operator, {**tensors, "Axes": [axis], "AxisDirection": direction})]


def _grouped(operator: str, node: OnnxNode) -> list[Counterpart]:
    """HARDMAX1, SOFTMAX1, LOG_SOFTMAX1 along an axis; before opset 13 along all axes from one on."""
    x = vector(node.input(0))
    axis = axis_of(node.get("axis", -1 if node.opset >= 13 else 1), x.ndim)
    axes = [axis] if node.opset >= 13 else list(range(axis, x.ndim))
    return [Counterpart(operator, {"InputTensor": x, "OutputTensor": node.output(), "Axes": axes})]


OPERATORS: dict[str, Row] = {
    **{name: Row(partial(_reduce, function), may_be_empty=1) for name, function in REDUCTIONS.items()},
    "ArgMax": Row(partial(_index, "ARGMAX")),
    "ArgMin": Row(partial(_index, "ARGMIN")),
    "Hardmax": Row(partial(_grouped, "ACTIVATION_HARDMAX1")),
    "LogSoftmax": Row(partial(_grouped, "ACTIVATION_LOG_SOFTMAX1")),
    "Softmax": Row(partial(_grouped, "ACTIVATION_SOFTMAX1")),
}
