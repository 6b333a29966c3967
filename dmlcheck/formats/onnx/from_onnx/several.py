"""Nodes of models that are no case: the provider makes several descs of them, or another than an import.

`differing` and `resized` have those of the second kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dmlcheck.formats.onnx.from_onnx import differing, resized
from dmlcheck.formats.onnx.from_onnx.node import Array, Counterpart, Maker, Node, Refused, axes_of, number
from dmlcheck.formats.onnx.from_onnx.operators import counterpart
from dmlcheck.formats.onnx.from_onnx.quantize_linear_21 import quantized
from dmlcheck.formats.onnx.from_onnx.tensors import repeated

Makers = Callable[[Node], list[Counterpart]]


def counterparts(node: Node) -> Sequence[Counterpart]:
    """Return the operators of DirectML for a node, with their fields; Refused where it has none that are known."""
    several = SEVERAL.get(node.type)
    if several is not None:
        return several(node)
    alone: Maker = _ALONE.get(node.type, counterpart)
    return [alone(node)]


_ALONE: dict[str, Maker] = {**differing.OPERATORS, **resized.OPERATORS}


def _identity(x: Array, output: Array, **more: object) -> Counterpart:
    return Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": x, "OutputTensor": output, **more})


def _pair(operator: str, a: Array, b: Array, output: Array) -> Counterpart:
    tensors = {"ATensor": repeated(a, output.shape), "BTensor": repeated(b, output.shape), "OutputTensor": output}
    return Counterpart(f"ELEMENT_WISE_{operator}", tensors)


def _of_any_number(operator: str, node: Node) -> list[Counterpart]:
    """Combine the first two inputs, then each other one with the result so far; of one input a copy."""
    inputs, output = [node.input(index) for index in range(len(node.inputs))], node.output()
    if len(inputs) == 1:
        return [_identity(inputs[0], output)]
    first = _pair(operator, inputs[0], inputs[1], output)
    return [first, *(_pair(operator, x, output, output) for x in inputs[2:])]


def _mean(node: Node) -> list[Counterpart]:
    """MEAN of two inputs; of more their sum, scaled."""
    if len(node.inputs) < 3:
        return _of_any_number("MEAN", node)
    scale = {"Scale": number(1 / len(node.inputs)), "Bias": 0}
    return [*_of_any_number("ADD", node), _identity(node.output(), node.output(), ScaleBias=scale)]


def _dropout(node: Node) -> list[Counterpart]:
    """Copy the input: dropout is for training."""
    return [Counterpart("ACTIVATION_IDENTITY", node.tensors())]


def _quick_gelu(node: Node) -> list[Counterpart]:
    """X * sigmoid(alpha * x)."""
    x, output = node.input(0), node.output()
    alpha = number(node.get("alpha", 1.702))
    scaled = [] if alpha == 1 else [_identity(x, output, ScaleBias={"Scale": alpha, "Bias": 0})]
    sigmoid = Counterpart("ACTIVATION_SIGMOID", {"InputTensor": x, "OutputTensor": output})
    return [*scaled, sigmoid, _pair("MULTIPLY", x, output, output)]


def _skip_layer_normalization(node: Node) -> list[Counterpart]:
    """Sum input, skip and bias, and normalize that; the hidden size is dimension 2."""
    x = node.input(0)
    if x.ndim not in (2, 3):
        raise Refused(f"{node.type} of {x.ndim} dimensions")
    shape = (x.shape[0], x.shape[1] if x.ndim == 3 else 1, x.shape[-1], 1)
    vector = (1, 1, x.shape[-1], 1)
    summed = [_pair("ADD", x.reshape(shape), node.input(1).reshape(shape), x.reshape(shape))]
    if node.has(4):
        summed.append(_pair("ADD", x.reshape(shape), node.input(4).reshape(vector), x.reshape(shape)))
    names = ((2, "ScaleTensor"), (3, "BiasTensor"))
    factors = {name: node.input(index).reshape(vector) for index, name in names if node.has(index)}
    fields = {"Axes": [2, 3], "UseMean": 1, "UseVariance": 1, "Epsilon": number(node.get("epsilon", 1e-12))}
    tensors = {"InputTensor": x.reshape(shape), **factors, "OutputTensor": node.output().reshape(shape)}
    return [*summed, Counterpart("MEAN_VARIANCE_NORMALIZATION2", {**tensors, **fields})]


def _mean_variance(node: Node) -> list[Counterpart]:
    """Normalize along axes, all but the channels where none are given, with a small number that ONNX does not have."""
    x = node.input(0)
    given = node.get("axes") or ([0, 1, 2, 3] if node.get("across_channels", 0) else [0, 2, 3])
    fields = {"Axes": axes_of(given, x.ndim), "NormalizeVariance": node.get("normalize_variance", 1)}
    return [Counterpart("MEAN_VARIANCE_NORMALIZATION1", {**node.tensors(), **fields, "Epsilon": number(1e-5)})]


def _cast(node: Node) -> list[Counterpart]:
    """CAST; to truth values a CLIP1 after it. The provider leaves MinMaxDataType open, which has to be UINT8."""
    x, output = node.input(0), node.output()
    made = Counterpart("CAST", {"InputTensor": x, "OutputTensor": output})
    if output.dtype != bool:
        return [made]
    limits = {"MinMaxDataType": "UINT8", "Min": 0, "Max": 1}
    return [made, Counterpart("ELEMENT_WISE_CLIP1", {"InputTensor": output, "OutputTensor": output, **limits})]


SEVERAL: dict[str, Makers] = {
    "Cast": _cast,
    "CastLike": _cast,
    "DequantizeLinear": quantized,
    "Dropout": _dropout,
    "LayerNormalization": differing.layer,
    "Max": partial(_of_any_number, "MAX"),
    "Mean": _mean,
    "MeanVarianceNormalization": _mean_variance,
    "Min": partial(_of_any_number, "MIN"),
    "QuantizeLinear": quantized,
    "Sum": partial(_of_any_number, "ADD"),
    "com.microsoft.QuickGelu": _quick_gelu,
    "com.microsoft.SkipLayerNormalization": _skip_layer_normalization,
}
