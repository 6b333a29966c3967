"""Activations of both ONNX and DirectML; `gelu` has Gelu and the operators with a Gelu inside."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, shortest
from dmlcheck.onnx.descs.tensors import channels, repeated
from dmlcheck.onnx.operators.row import Row
from dmlcheck.onnx.same_operators import ACTIVATIONS


def _with(operator: str, attributes: Mapping[str, str], node: OnnxNode, **constants: Any) -> list[Counterpart]:
    """Map an operator whose fields are attributes, or the same for all nodes."""
    fields = {field: shortest(node.get(name)) for field, name in attributes.items()}
    return [Counterpart(operator, {**node.tensors(), **fields, **constants})]


def _slope(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    tensors = {"InputTensor": x, "SlopeTensor": repeated(node.input(1), x.shape), "OutputTensor": node.output()}
    return [Counterpart("ACTIVATION_PARAMETERIZED_RELU", tensors)]


def _slope_of_channels(node: OnnxNode) -> list[Counterpart]:
    """PARAMETERIZED_RELU: before opset 7, several slopes belong to the channels."""
    x, slope = node.input(0), node.input(1)
    if node.opset >= 7 or slope.ndim != 1 or slope.size == 1 or x.ndim < 2:
        return _slope(node)
    return _slope(node.with_inputs(x, channels(slope, x.ndim)))


OPERATORS: dict[str, Row] = {
    **{name: Row(partial(_with, f"ACTIVATION_{own}", fields)) for name, (own, fields) in ACTIVATIONS.items()},
    "HardSwish": Row(partial(_with, "ACTIVATION_HARD_SWISH", {}, Alpha=shortest(1 / 6), Beta=0.5)),
    "Softplus": Row(partial(_with, "ACTIVATION_SOFTPLUS", {}, Steepness=1)),
    "Swish": Row(partial(_with, "ACTIVATION_SWISH", {"SigmoidInputScale": "alpha"})),
    "PRelu": Row(_slope, exact=_slope_of_channels),
}
