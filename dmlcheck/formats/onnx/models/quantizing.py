"""Quantization that is not element-wise by its name: by the range of the input, and with one list of tensors."""

from __future__ import annotations

import math

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.formats.onnx.models._graph_parts import extended
from dmlcheck.formats.onnx.models.graph import Builder, Inexpressible, Mapping, Value


def by_range(g: Builder, desc: OperatorDesc) -> None:
    """DYNAMIC_QUANTIZE_LINEAR: ONNX's widens the range until it has 0 in it, where DirectML's result is left open."""
    x = g.input("InputTensor")
    labels = ("OutputTensor", "OutputScaleTensor", "OutputZeroPointTensor")
    kind = desc.parts["OutputTensor"][0].tensor.data_type
    outputs = [(x.sizes, kind, None), ((), "FLOAT32", None), ((), kind, None)]
    for label, value in zip(labels, g.nodes_of("DynamicQuantizeLinear", [x], outputs), strict=True):
        g.output(label, value)


def quantize(g: Builder, desc: OperatorDesc) -> None:
    """QUANTIZE: without a zero point it is 0 of the output's type."""
    x = g.input("InputTensor")
    kind = desc.parts["OutputTensor"][0].tensor.data_type
    numbers, attributes = _numbers(g, desc, x)
    if len(numbers) == 1:
        sizes = numbers[0].sizes
        numbers.append(g.constant([0] * math.prod(sizes), kind, sizes))
    g.at_least(19)  # FLOAT16 is new there
    g.output("OutputTensor", g.node("QuantizeLinear", [x, *numbers], x.sizes, kind, **attributes))


def dequantize(g: Builder, desc: OperatorDesc) -> None:
    """DEQUANTIZE: the result has the scale's type."""
    x = g.input("InputTensor")
    numbers, attributes = _numbers(g, desc, x)
    g.at_least(19)
    g.output("OutputTensor", g.node("DequantizeLinear", [x, *numbers], x.sizes, numbers[0].data_type, **attributes))


def _numbers(g: Builder, desc: OperatorDesc, x: Value) -> tuple[list[Value], dict[str, int]]:
    """Return scale and zero point as one number, as a vector along an axis, or as one for each element."""
    parts = desc.parts["QuantizationTensors"]
    if any(size not in (1, own) for part in parts for size, own in zip(part.tensor.sizes, x.sizes, strict=True)):
        raise Inexpressible("the sizes of QuantizationTensors are neither 1 nor those of InputTensor")
    rank = len(x.sizes)
    varied = [axis for axis in range(rank) if any(_varies(part.tensor, axis) for part in parts)]
    values = [g.input(part.label) for part in parts]
    if len(varied) > 1:
        g.at_least(21)  # blocks, here of one element
        return [extended(g, value, x.sizes) for value in values], {"axis": rank - 1, "block_size": 1}
    kept = tuple(size if axis in varied else 1 for axis, size in enumerate(x.sizes))
    vectors = [
        g.reshape(extended(g, _cut(g, value, kept), kept), [x.sizes[axis] for axis in varied]) for value in values
    ]
    return vectors, {"axis": varied[0]} if varied else {}


def _varies(tensor: TensorDesc, axis: int) -> bool:
    return tensor.sizes[axis] > 1 and (tensor.strides is None or tensor.strides[axis] != 0)


def _cut(g: Builder, value: Value, kept: tuple[int, ...]) -> Value:
    """Return the first of the equal elements along each dimension that is to be of size 1."""
    axes = [axis for axis, size in enumerate(kept) if size == 1 < value.sizes[axis]]
    if not axes:
        return value
    sizes = [1 if axis in axes else size for axis, size in enumerate(value.sizes)]
    bounds = [g.constant(numbers) for numbers in ([0] * len(axes), [1] * len(axes), axes)]
    return g.node("Slice", [value, *bounds], sizes, value.data_type)


MAPPINGS: dict[str, Mapping] = {
    "DEQUANTIZE": dequantize,
    "DYNAMIC_QUANTIZE_LINEAR": by_range,
    "QUANTIZE": quantize,
}
