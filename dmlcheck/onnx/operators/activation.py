"""Activations of both ONNX and DirectML; `gelu` has Gelu and the operators with a Gelu inside."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, shortest
from dmlcheck.onnx.descs.tensors import channels, repeated
from dmlcheck.onnx.operators.row import Row


def _with(operator: str, attributes: Mapping[str, str], node: OnnxNode, **constants: Any) -> list[Counterpart]:
    """Map an operator whose fields are attributes, or the same for all nodes."""
    fields = {field: shortest(node.get(name)) for field, name in attributes.items()}
    return [Counterpart(operator, {**node.tensors(), **fields, **constants})]


def _slope(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    tensors = {"InputTensor": x, "SlopeTensor": repeated(node.input(1), x.shape), "OutputTensor": node.output()}
    return [Counterpart("ACTIVATION_PARAMETERIZED_RELU", tensors)]


def _slope_of_channels(node: OnnxNode) -> list[Counterpart]:
    """PARAMETERIZED_RELU: before opset 7, several slopes are those of the channels."""
    x, slope = node.input(0), node.input(1)
    if node.opset >= 7 or slope.ndim != 1 or slope.size == 1 or x.ndim < 2:
        return _slope(node)
    return _slope(node.with_inputs(x, channels(slope, x.ndim)))


# The fields of activations and the attributes for them; fields without attribute follow.
_ACTIVATION: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "Celu": ("CELU", {"Alpha": "alpha"}, {}),
    "Elu": ("ELU", {"Alpha": "alpha"}, {}),
    "HardSigmoid": ("HARD_SIGMOID", {"Alpha": "alpha", "Beta": "beta"}, {}),
    "HardSwish": ("HARD_SWISH", {}, {"Alpha": shortest(1 / 6), "Beta": 0.5}),
    "LeakyRelu": ("LEAKY_RELU", {"Alpha": "alpha"}, {}),
    "Relu": ("RELU", {}, {}),
    "Selu": ("SCALED_ELU", {"Alpha": "alpha", "Gamma": "gamma"}, {}),
    "Shrink": ("SHRINK", {"Bias": "bias", "Threshold": "lambd"}, {}),
    "Sigmoid": ("SIGMOID", {}, {}),
    "Softplus": ("SOFTPLUS", {}, {"Steepness": 1}),
    "Softsign": ("SOFTSIGN", {}, {}),
    "Swish": ("SWISH", {"SigmoidInputScale": "alpha"}, {}),
    "Tanh": ("TANH", {}, {}),
    "ThresholdedRelu": ("THRESHOLDED_RELU", {"Alpha": "alpha"}, {}),
}

OPERATORS: dict[str, Row] = {
    **{
        name: Row(partial(_with, f"ACTIVATION_{own}", attributes, **constants))
        for name, (own, attributes, constants) in _ACTIVATION.items()
    },
    "PRelu": Row(_slope, exact=_slope_of_channels),
}
