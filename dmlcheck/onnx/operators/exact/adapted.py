"""Operators of ONNX that DirectML has for fewer types, sizes or attributes, where the values are the same in those."""

from __future__ import annotations

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused, axes_of, axis_of, number
from dmlcheck.onnx.descs.padded import padded
from dmlcheck.onnx.descs.tensors import channels, converted, sized
from dmlcheck.onnx.operators.shared import counterpart


def _with_inputs(node: Node, *inputs: TensorRef | None) -> Node:
    return node._replace(inputs=(*inputs, *node.inputs[len(inputs) :]))


# ---- before opset 7


def _from_an_axis(node: Node) -> Counterpart:
    """Return an operator whose second input lies along axes of the first, from one on that the model names."""
    axis, x, y = node.get("axis"), node.input(0), node.input(1)
    if node.opset >= 7 or axis is None:
        return counterpart(node)
    after = x.ndim - axis_of(axis, x.ndim) - y.ndim
    return counterpart(_with_inputs(node, x, sized(y, (*y.shape, *(1 for _ in range(after))))))


def _slope(node: Node) -> Counterpart:
    """PARAMETERIZED_RELU: several slopes are those of the channels before opset 7."""
    x, slope = node.input(0), node.input(1)
    if node.opset >= 7 or slope.ndim != 1 or slope.size == 1 or x.ndim < 2:
        return counterpart(node)
    return counterpart(_with_inputs(node, x, channels(slope, x.ndim)))


# ---- other types


def _shift(node: Node) -> Counterpart:
    """BIT_SHIFT of the bits of signed numbers, which DirectML has as unsigned ones."""
    x, by = node.input(0), node.input(1)
    if x.dtype.kind != "i":
        return counterpart(node)
    places = node.numbers_of(1)
    if places.min() < 0 or places.max() >= 8 * x.dtype.itemsize:
        raise Refused("BitShift by less than 0 bits, or by all: DirectML does not say what that gives")
    if node.get("direction") == "RIGHT" and node.numbers_of(0).min() < 0:
        raise Refused("BitShift of negative numbers to the right, where DirectML brings in zeros")
    unsigned = f"UINT{8 * x.dtype.itemsize}"
    bits = _with_inputs(node, x.bits(unsigned), by.bits(unsigned))
    return counterpart(bits._replace(outputs=(node.output().bits(unsigned),)))


_NARROW = {"INT64": np.int32, "UINT64": np.uint32}


def _power(node: Node) -> Counterpart:
    """POW: exponents of 64 bits that fit in 32 are numbers of those."""
    exponent = node.input(1)
    narrow = _NARROW.get(exponent.data_type)
    if narrow is None:
        return _from_an_axis(node)
    values = node.numbers_of(1)
    if (values != values.astype(narrow)).any():
        return _from_an_axis(node)
    return counterpart(_with_inputs(node, node.input(0), converted(exponent, narrow)))


_SCALES = (1, 4, 6)


def _quantized_product(node: Node) -> Counterpart:
    """QUANTIZED_LINEAR_MATRIX_MULTIPLY: scales of FLOAT16 are numbers of FLOAT32, as DirectML has them."""
    inputs = list(node.inputs)
    for index in _SCALES:
        inputs[index] = converted(node.input(index), np.float32)
    return counterpart(node._replace(inputs=tuple(inputs)))


# ---- other sizes


def _of_images(node: Node) -> Counterpart:
    """Return an operator that takes four dimensions or more, of which some may be new."""
    return padded(counterpart(node))


def _largest(node: Node) -> Counterpart:
    return _of_images(_by_columns(node) if node.gives(1) and node.get("storage_order", 0) else node)


def _by_columns(node: Node) -> Node:
    """Return a pooling that counts columns first as one of images whose rows and columns are exchanged."""
    x = node.input(0)
    if x.ndim != 4:
        raise Refused("MaxPool that counts columns first, of other than two spatial dimensions")
    names = ("kernel_shape", "strides", "dilations")
    turned = {name: node.get(name)[::-1] for name in names if node.get(name)}
    if node.get("pads"):
        turned["pads"] = [node.get("pads")[index] for index in (1, 0, 3, 2)]
    return node.with_attributes(**turned, storage_order=0)._replace(
        inputs=(x.transpose((0, 1, 3, 2)),),
        outputs=tuple(None if values is None else values.transpose((0, 1, 3, 2)) for values in node.outputs),
    )


def _transposed_convolution(node: Node) -> Counterpart:
    """CONVOLUTION, with output padding where the output has one element more than the windows reach."""
    sizes = node.get("output_shape")
    if not sizes or node.get("auto_pad", "NOTSET") == "SAME_UPPER":
        return counterpart(node)
    x, windows, ones = node.input(0).shape[2:], node.input(1).shape[2:], [1] * len(sizes)
    more = node.get("output_padding") or [0] * len(sizes)
    steps = (node.get(name) or ones for name in ("strides", "dilations"))
    places = zip(sizes, x, windows, more, *steps, strict=True)
    beyond = [
        size - ((count - 1) * step + (reach - 1) * gap + 1 + own) for size, count, reach, own, step, gap in places
    ]
    padding = [own + (excess == 1) for own, excess in zip(more, beyond, strict=True)]
    return counterpart(node.with_attributes(output_padding=padding))


# ---- normalizations


def _batch_normalization(node: Node) -> Counterpart:
    """BATCH_NORMALIZATION_TRAINING in training: it gives mean and variance of the batch, and ONNX running ones."""
    if not node.get("training_mode", 0):
        return counterpart(node)
    x = node.input(0)
    scale, bias = (channels(node.input(index), x.ndim) for index in (1, 2))
    tensors = {"InputTensor": x, "ScaleTensor": scale, "BiasTensor": bias, "OutputTensor": node.output()}
    own = {name: scale.unknown() for name in ("OutputMeanTensor", "OutputVarianceTensor")}
    fields = {**tensors, **own, "Epsilon": number(node.get("epsilon", 1e-5))}
    note = "The running mean and variance are not compared."
    return Counterpart("BATCH_NORMALIZATION_TRAINING", fields, note, frozenset(own))


_ADDED = 1e-9  # to the deviation, by ONNX
_SMALL = 2.0**-26  # of a deviation: less than its rounding


def _mean_variance(node: Node) -> Counterpart:
    """MEAN_VARIANCE_NORMALIZATION1, where what ONNX adds to the deviation is below its rounding."""
    x = node.input(0)
    axes = axes_of(node.get("axes") or [0, 2, 3], x.ndim)
    if (node.numbers_of(0).std(axis=tuple(axes), dtype=np.float64) * _SMALL < _ADDED).any():
        raise Refused("MeanVarianceNormalization of a deviation so small that 1e-9, which ONNX adds to it, counts")
    fields = {"Axes": axes, "NormalizeVariance": 1, "Epsilon": 0}
    return Counterpart("MEAN_VARIANCE_NORMALIZATION1", {**node.tensors(), **fields})


_ALONG_AXES = "Add And Div Equal Greater Less Mul Or Sub Xor"
OPERATORS: dict[str, Maker] = {
    **dict.fromkeys(("AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"), _of_images),
    **dict.fromkeys(("LRN", "LpPool", "MaxUnpool"), _of_images),
    **dict.fromkeys(_ALONG_AXES.split(), _from_an_axis),
    "BatchNormalization": _batch_normalization,
    "BitShift": _shift,
    "ConvTranspose": _transposed_convolution,
    "MaxPool": _largest,
    "MeanVarianceNormalization": _mean_variance,
    "PRelu": _slope,
    "Pow": _power,
    "QLinearMatMul": _quantized_product,
}
