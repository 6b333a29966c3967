"""Floats to quantized numbers and back: QUANTIZE, DEQUANTIZE, their element-wise ancestors, and by the input's range.

DirectML has scales and zero points in the size of the input, with a size of 1 or a stride of 0 if they repeat, or of
blocks along any dimensions. ONNX has a number, a vector for an axis, or blocks along one; a block of one element is one
for each element, from opset 21 on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import BYTES_OF, GraphValue, Inexpressible


def quantize_linear(g: Builder, desc: OperatorDesc) -> None:
    """ELEMENT_WISE_QUANTIZE_LINEAR: without a zero point it is 0 of the output's type."""
    x = g.input("InputTensor")
    kind = g.tensor("OutputTensor").data_type
    (scale, zero), attributes = _linear_numbers(g, desc)
    if zero is None and kind != "UINT8":
        zero = g.constant([0] * math.prod(scale.sizes), kind, scale.sizes)
    if x.data_type == "FLOAT16":
        g.at_least(19)
    if scale.data_type != x.data_type and (x.data_type, scale.data_type) != ("INT32", "FLOAT32"):
        g.at_least(23)
    g.output("OutputTensor", g.node("QuantizeLinear", [x, scale, zero], x.sizes, kind, **attributes))


def dequantize_linear(g: Builder, desc: OperatorDesc) -> None:
    """ELEMENT_WISE_DEQUANTIZE_LINEAR: FLOAT16 is from opset 19 on, 16 bits from 21, results of another type from 23."""
    x = g.input("InputTensor")
    kind = g.tensor("OutputTensor").data_type
    (scale, zero), attributes = _linear_numbers(g, desc)
    if zero is not None and x.data_type == "INT32":
        raise Inexpressible("ONNX's DequantizeLinear has no zero point for INT32")
    g.at_least(19)
    if x.data_type in ("INT16", "UINT16"):
        g.at_least(21)
    if kind != scale.data_type:
        g.at_least(23)
    own = None if kind == scale.data_type else "FLOAT" if kind == "FLOAT32" else kind
    made = g.node("DequantizeLinear", [x, scale, zero], x.sizes, kind, output_dtype=own, **attributes)
    g.output("OutputTensor", made)


def quantize(g: Builder, desc: OperatorDesc) -> None:
    """QUANTIZE: without a zero point it is the middle of an unsigned output's type, and 0 of a signed one."""
    x = g.input("InputTensor")
    kind = g.tensor("OutputTensor").data_type
    numbers, attributes = _listed_numbers(g, desc, x)
    if len(numbers) == 1:
        numbers.append(_middles(g, numbers[0], kind))
    g.at_least(21 if kind in BYTES_OF else 19)  # FLOAT16 is new there
    g.output("OutputTensor", g.node("QuantizeLinear", [x, *numbers], x.sizes, kind, **attributes))


def dequantize(g: Builder, desc: OperatorDesc) -> None:
    """DEQUANTIZE: the result has the scale's type; without a zero point it is the middle of an unsigned type."""
    x = g.input("InputTensor")
    numbers, attributes = _listed_numbers(g, desc, x)
    if len(numbers) == 1 and x.data_type.startswith("U"):
        numbers.append(_middles(g, numbers[0], x.data_type))
    g.at_least(21 if x.data_type in BYTES_OF else 19)
    g.output("OutputTensor", g.node("DequantizeLinear", [x, *numbers], x.sizes, numbers[0].data_type, **attributes))


def quantize_by_range(g: Builder, _: OperatorDesc) -> None:
    """DYNAMIC_QUANTIZE_LINEAR: ONNX's widens the range to contain 0, where DirectML's result is undefined."""
    x = g.input("InputTensor")
    labels = ("OutputTensor", "OutputScaleTensor", "OutputZeroPointTensor")
    kind = g.tensor("OutputTensor").data_type
    outputs = [(x.sizes, kind, None), ((), "FLOAT32", None), ((), kind, None)]
    for label, value in zip(labels, g.nodes_of("DynamicQuantizeLinear", [x], outputs), strict=True):
        g.output(label, value)


def _middles(g: Builder, like: GraphValue, data_type: str) -> GraphValue:
    """Return the zero points that QUANTIZE and DEQUANTIZE take where none are given."""
    middle = {"UINT8": 128, "UINT4": 8}.get(data_type, 0)
    return g.constant([middle] * math.prod(like.sizes), data_type, like.sizes)


# ---- scales and zero points


def _linear_numbers(g: Builder, desc: OperatorDesc) -> tuple[tuple[GraphValue, GraphValue | None], dict[str, int]]:
    """Return scale and zero point of the element-wise operators, and the attributes that say how they repeat."""
    names = ("ScaleTensor", "ZeroPointTensor")
    tensors = [tensor for name in names if (tensor := desc.tensor(name)) is not None]
    axes = _varied_axes(tensors)
    attributes = _of_each_element(g, len(tensors[0].sizes)) if len(axes) > 1 else {"axis": axes[0]} if axes else {}
    scale = _without_repetitions(g, g.input("ScaleTensor"), axes)
    point = g.optional("ZeroPointTensor")
    return (scale, None if point is None else _without_repetitions(g, point, axes)), attributes


def _without_repetitions(g: Builder, value: GraphValue, axes: list[int]) -> GraphValue:
    """Return numbers as one, as a vector along an axis, or as they are where they differ along several."""
    if len(axes) > 1:
        return value
    first = g.first_of(value, [axis for axis in range(len(value.sizes)) if axis not in axes])
    return g.reshape(first, [first.sizes[axis] for axis in axes])


def _listed_numbers(g: Builder, desc: OperatorDesc, x: GraphValue) -> tuple[list[GraphValue], dict[str, int]]:
    """Return scale and zero point of QuantizationTensors, and the attributes that say how they repeat."""
    parts = desc.parts["QuantizationTensors"]
    sizes = [pair for part in parts for pair in zip(part.tensor.sizes, x.sizes, strict=True)]
    if any(size % own for own, size in sizes):
        raise Inexpressible("the sizes of QuantizationTensors do not divide InputTensor's")
    axes = _varied_axes([part.tensor for part in parts])
    values = [g.input(part.label) for part in parts]
    if len(axes) > 1 or any(own not in (1, size) for own, size in sizes):
        return [_in_bytes(g, value, partial(_repeated, g, x.sizes)) for value in values], _of_each_element(
            g, len(x.sizes)
        )
    return [_in_bytes(g, value, partial(_along, g, x, axes)) for value in values], {"axis": axes[0]} if axes else {}


def _in_bytes(g: Builder, value: GraphValue, change: Callable[[GraphValue], GraphValue]) -> GraphValue:
    """Return a value whose elements are moved or repeated, 4-bit ones as bytes: ONNX does not move them."""
    kind = value.data_type
    if kind not in BYTES_OF:
        return change(value)
    g.at_least(21)
    return g.cast(change(g.cast(value, BYTES_OF[kind])), kind)


def _repeated(g: Builder, sizes: Sequence[int], value: GraphValue) -> GraphValue:
    """Return numbers with each repeated along every dimension, so often that they have these sizes."""
    apart: list[int] = []
    wide: list[int] = []
    for own, size in zip(value.sizes, sizes, strict=True):
        is_block = 1 < own < size
        apart += [own, 1] if is_block else [own]
        wide += [own, size // own] if is_block else [size]
    return g.reshape(g.expand(g.reshape(value, apart), wide), sizes)


def _along(g: Builder, x: GraphValue, axes: list[int], value: GraphValue) -> GraphValue:
    """Return numbers as one, or as a vector along an axis of the input."""
    kept = tuple(size if axis in axes else 1 for axis, size in enumerate(x.sizes))
    first = g.first_of(value, [axis for axis, size in enumerate(kept) if size == 1])
    return g.reshape(g.expand(first, kept), [x.sizes[axis] for axis in axes])


def _varied_axes(tensors: list[TensorDesc]) -> list[int]:
    """Return the axes along which some of the tensors do not repeat."""
    return [axis for axis in range(len(tensors[0].sizes)) if any(_varies(tensor, axis) for tensor in tensors)]


def _varies(tensor: TensorDesc, axis: int) -> bool:
    return tensor.sizes[axis] > 1 and (tensor.strides is None or tensor.strides[axis] != 0)


def _of_each_element(g: Builder, rank: int) -> dict[str, int]:
    g.at_least(21)
    return {"axis": rank - 1, "block_size": 1}


MAPPINGS: dict[str, Maker] = {
    "DEQUANTIZE": dequantize,
    "DYNAMIC_QUANTIZE_LINEAR": quantize_by_range,
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": dequantize_linear,
    "ELEMENT_WISE_QUANTIZE_LINEAR": quantize_linear,
    "QUANTIZE": quantize,
}
