"""Normalization over a batch, an instance or a layer, and quantization."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.formats.webnn.operators.windows import LAYOUTS
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Unmapped, axis_of, shortest
from dmlcheck.onnx.descs.tensors import permuted, ranked, sized

_EPSILON = 1e-5
_RANK = 4  # that Chromium gives the tensors of QUANTIZE and DEQUANTIZE at least


def _along(x: TensorRef, rank: int, axes: Sequence[int]) -> TensorRef:
    """Return a tensor whose dimensions are some axes of another, in the order of these; all others have size 1."""
    if x.ndim != len(axes):
        raise Unmapped(f"a tensor of {x.ndim} dimensions stands for {len(axes)} axes")
    ordered = permuted(x, sorted(range(len(axes)), key=lambda place: axes[place]))
    sizes = dict(zip(sorted(axes), ordered.shape, strict=True))
    return sized(ordered, [sizes.get(axis, 1) for axis in range(rank)])


def _constant(value: float, like: TensorRef, rank: int) -> TensorRef:
    """Return a tensor of one element for one that is left out."""
    return TensorRef.of(np.full((1,) * rank, value, dtype=like.dtype), like.element)


def _batch(call: Call) -> Counterpart:
    x = call.tensor("input")
    axis = call.axis("axis", x.ndim, 1)
    tensors = {
        "InputTensor": x,
        "MeanTensor": _along(call.tensor("mean"), x.ndim, [axis]),
        "VarianceTensor": _along(call.tensor("variance"), x.ndim, [axis]),
    }
    for field, name, default in (("ScaleTensor", "scale", 1.0), ("BiasTensor", "bias", 0.0)):
        given = call.optional(name)
        tensors[field] = _constant(default, x, x.ndim) if given is None else _along(given, x.ndim, [axis])
    fields = {"Spatial": True, "Epsilon": shortest(call.number("epsilon", _EPSILON))}
    return Counterpart("BATCH_NORMALIZATION", {**tensors, "OutputTensor": call.output, **fields, **call.fused})


def _mean_variance(
    call: Call, x: TensorRef, output: TensorRef, axes: Sequence[int], along: Sequence[int]
) -> Counterpart:
    """MEAN_VARIANCE_NORMALIZATION1, which has a scale where it has a bias."""
    tensors = {"InputTensor": x, "OutputTensor": output}
    if call.has("scale") or call.has("bias"):
        for field, name, default in (("ScaleTensor", "scale", 1.0), ("BiasTensor", "bias", 0.0)):
            given = call.optional(name)
            tensors[field] = _constant(default, x, x.ndim) if given is None else _along(given, x.ndim, along)
    fields = {
        "Axes": list(axes),
        "NormalizeVariance": True,
        "Epsilon": shortest(call.number("epsilon", _EPSILON)),
    }
    return Counterpart("MEAN_VARIANCE_NORMALIZATION1", {**tensors, **fields, **call.fused})


def _instance(call: Call) -> Counterpart:
    order = call.choice("layout", LAYOUTS, "nchw")
    x, output = permuted(call.tensor("input"), order), permuted(call.output, order)
    return _mean_variance(call, x, output, [2, 3], [1])


def _layer(call: Call) -> Counterpart:
    x = call.tensor("input")
    axes = [axis_of(axis, x.ndim) for axis in call.numbers("axes", list(range(1, x.ndim)))]
    return _mean_variance(call, x, call.output, axes, axes)


def _quantize(call: Call) -> Counterpart:
    return _quantization("QUANTIZE", call)


def _dequantize(call: Call) -> Counterpart:
    return _quantization("DEQUANTIZE", call)


def _quantization(operator: str, call: Call) -> Counterpart:
    """QUANTIZE or DEQUANTIZE, whose scales and zero points may each be for a block of elements."""
    x = call.tensor("input")
    rank = max(_RANK, x.ndim)
    numbers = [ranked(call.tensor(name), rank) for name in ("scale", "zeroPoint")]
    return Counterpart(
        operator,
        {
            "InputTensor": ranked(x, rank),
            "QuantizationType": "SCALE_ZERO_POINT",
            "QuantizationTensors": numbers,
            "OutputTensor": ranked(call.output, rank),
        },
    )


_QUANTIZED = ("input", "scale", "zeroPoint")
_NORMALIZED = ("MEAN_VARIANCE_NORMALIZATION1",)
OPERATORS: dict[str, WebnnRow] = {
    "batchNormalization": WebnnRow(
        ("input", "mean", "variance"), _batch, ("BATCH_NORMALIZATION",), takes_activation=True
    ),
    "dequantizeLinear": WebnnRow(_QUANTIZED, _dequantize, ("DEQUANTIZE",), below=("ELEMENT_WISE_DEQUANTIZE_LINEAR",)),
    "instanceNormalization": WebnnRow(("input",), _instance, _NORMALIZED, takes_activation=True),
    "layerNormalization": WebnnRow(("input",), _layer, _NORMALIZED, takes_activation=True),
    "quantizeLinear": WebnnRow(_QUANTIZED, _quantize, ("QUANTIZE",), below=("ELEMENT_WISE_QUANTIZE_LINEAR",)),
}
