"""The descs that the provider makes of a node: several, or one of its own, or the same as an import.

`differing` and `resized` have those of the second kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Makers, Node, axes_of, number
from dmlcheck.onnx.descs.steps import identity, padded_steps, pair
from dmlcheck.onnx.operators import contributed, fused_attention
from dmlcheck.onnx.operators.provider import (
    dequantized,
    differing,
    einsum,
    fused_normalization,
    resized,
    rotary,
    transforms,
)
from dmlcheck.onnx.operators.provider.quantize_linear_21 import quantized
from dmlcheck.onnx.operators.shared import counterpart


def counterparts(node: Node) -> Sequence[Counterpart]:
    """Return the operators of DirectML for a node, with their fields; Refused where it has none that are known."""
    several = SEVERAL.get(node.type)
    if several is not None:
        return several(node)
    alone: Maker = _ALONE.get(node.type, counterpart)
    return [alone(node)]


_ALONE: dict[str, Maker] = {**differing.OPERATORS, **resized.OPERATORS}


def _of_any_number(operator: str, node: Node) -> list[Counterpart]:
    """Combine the first two inputs, then the result so far with each other one; of one input a copy."""
    inputs = [node.input(index) for index in range(len(node.inputs))]
    return padded_steps(_combined(operator, inputs, node.output()))


def _combined(operator: str, inputs: Sequence[TensorRef], output: TensorRef) -> list[Counterpart]:
    if len(inputs) == 1:
        return [identity(inputs[0], output)]
    results = [*(output.unknown() for _ in inputs[2:]), output]
    firsts = [inputs[0], *results]
    return [pair(operator, *each) for each in zip(firsts, inputs[1:], results, strict=False)]


def _mean(node: Node) -> list[Counterpart]:
    """MEAN of two inputs; of more their sum, scaled."""
    if len(node.inputs) < 3:
        return _of_any_number("MEAN", node)
    inputs = [node.input(index) for index in range(len(node.inputs))]
    summed = node.output().unknown()
    scale = {"Scale": number(1 / len(inputs)), "Bias": 0}
    return padded_steps([*_combined("ADD", inputs, summed), identity(summed, node.output(), ScaleBias=scale)])


def _dropout(node: Node) -> list[Counterpart]:
    """Copy the input: dropout is for training."""
    return [Counterpart("ACTIVATION_IDENTITY", node.tensors())]


def _mean_variance(node: Node) -> list[Counterpart]:
    """Normalize along axes, all but the channels where none are given, with a small number that ONNX does not have."""
    x = node.input(0)
    given = node.get("axes") or ([0, 1, 2, 3] if node.get("across_channels", 0) else [0, 2, 3])
    fields = {"Axes": axes_of(given, x.ndim), "NormalizeVariance": node.get("normalize_variance", 1)}
    return [Counterpart("MEAN_VARIANCE_NORMALIZATION1", {**node.tensors(), **fields, "Epsilon": number(1e-5)})]


def _cast(node: Node) -> list[Counterpart]:
    """CAST; to truth values a CLIP1 after it. The provider leaves MinMaxDataType open, which has to be UINT8."""
    x, output = node.input(0), node.output()
    if output.dtype != bool:
        return [Counterpart("CAST", {"InputTensor": x, "OutputTensor": output})]
    numbers, limits = output.unknown(), {"MinMaxDataType": "UINT8", "Min": 0, "Max": 1}
    clipped = Counterpart("ELEMENT_WISE_CLIP1", {"InputTensor": numbers, "OutputTensor": output, **limits})
    return [Counterpart("CAST", {"InputTensor": x, "OutputTensor": numbers}), clipped]


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
    "SimplifiedLayerNormalization": differing.layer,
    "Sum": partial(_of_any_number, "ADD"),
    **fused_attention.SEVERAL,
    **contributed.SEVERAL,
    **dequantized.SEVERAL,
    **fused_normalization.SEVERAL,
    **einsum.SEVERAL,
    **rotary.SEVERAL,
    **transforms.SEVERAL,
}
