"""Numbers in other types: casts, and quantization with scales and zero points.

The provider's descs from version 21 on are from DmlOperatorQuantization21 in DmlOperatorElementWise.cpp, and
BroadcastQuantizationParameters in DmlOperator.cpp.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.strides import packed_strides
from dmlcheck.graphs.tensors import BOOL, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, axis_of
from dmlcheck.onnx.descs.steps import pair, step, unary
from dmlcheck.onnx.descs.tensors import along, along_axis, sized, vector
from dmlcheck.onnx.export.records import BYTES_OF
from dmlcheck.onnx.operators.row import Row

# ---- casts


def _cast(node: OnnxNode) -> list[Counterpart]:
    """CAST; to truth values the opposite of being equal to 0.

    Of 4-bit integers, which CAST does not read, it is a DEQUANTIZE with a scale of 1.
    """
    x, output = node.input(0), node.output()
    if output.element == BOOL and x.element != BOOL:
        is_zero = output.unknown()
        zero = TensorRef.of(np.zeros((1,) * max(1, x.ndim), x.dtype), x.element)
        equal = pair("LOGICAL_EQUALS", x, zero, is_zero)
        return [equal, unary("ELEMENT_WISE_LOGICAL_NOT", is_zero, output)]
    if x.data_type in BYTES_OF and output.dtype.kind == "f":
        scale = TensorRef.of(np.ones((1,) * max(1, x.ndim), output.dtype))
        return _of_blocks("DEQUANTIZE", vector(x), [scale, *_zero_if_unsigned(x, scale)], output)
    return [Counterpart("CAST", {"InputTensor": x, "OutputTensor": output})]


def _cast_of_provider(node: OnnxNode) -> list[Counterpart]:
    """CAST; to truth values a CLIP1 after it, with the MinMaxDataType UINT8, which the provider does not set."""
    x, output = node.input(0), node.output()
    if output.element != BOOL:
        return [Counterpart("CAST", {"InputTensor": x, "OutputTensor": output})]
    numbers, limits = output.unknown(), {"MinMaxDataType": "UINT8", "Min": 0, "Max": 1}
    clipped = Counterpart("ELEMENT_WISE_CLIP1", {"InputTensor": numbers, "OutputTensor": output, **limits})
    return [Counterpart("CAST", {"InputTensor": x, "OutputTensor": numbers}), clipped]


# ---- scales and zero points


def _quantize(operator: str, node: OnnxNode) -> list[Counterpart]:
    """QUANTIZE and DEQUANTIZE of 4 bits, and of blocks of bytes; of all others their ancestors, whose scales repeat.

    To 16 bits no operator quantizes: what does it in steps is another graph.
    """
    x, output = vector(node.input(0)), node.output()
    numbers = [values for index in (1, 2) if (values := node.optional(index)) is not None]
    axis, block, kinds = node.get("axis", 1), node.get("block_size", 0), {x.data_type, output.data_type}
    if kinds & BYTES_OF.keys() or (block and kinds & set(BYTES_OF.values())):
        own = [_blocks(values, axis, block, x.shape) for values in numbers]
        few = output if operator == "QUANTIZE" else x
        return _of_blocks(operator, x, own if len(own) > 1 else [*own, *_zero_if_unsigned(few, own[0])], output)
    own = [_of_each(values, axis, block, x.shape) if block else along(values, axis, x.shape) for values in numbers]
    if operator == "QUANTIZE" and output.dtype.itemsize > 1:
        return _quantize_in_steps(x, own, vector(output))
    tensors = dict(zip(("ScaleTensor", "ZeroPointTensor"), own, strict=False))
    return [Counterpart(f"ELEMENT_WISE_{operator}_LINEAR", {"InputTensor": x, **tensors, "OutputTensor": output})]


def _quantize_in_steps(x: TensorRef, numbers: list[TensorRef], output: TensorRef) -> list[Counterpart]:
    """DIVIDE, ROUND, ADD of the zero point, CLIP and again ROUND in FLOAT32, and CAST.

    The second ROUND changes nothing but the tolerance: of numbers beside a half both neighbours are whole again.
    """
    to_even, limits = {"RoundingMode": "HALVES_TO_NEAREST_EVEN"}, np.iinfo(output.dtype)
    quotients = x.unknown()
    made = [pair("DIVIDE", x, numbers[0], quotients)]

    def then(operator: str, before: TensorRef, **fields: Any) -> TensorRef:
        after = TensorRef("FLOAT32", x.shape)
        made.append(step(operator, InputTensor=before, OutputTensor=after, **fields))
        return after

    floats = quotients if x.data_type == "FLOAT32" else then("CAST", quotients)
    rounded = then("ELEMENT_WISE_ROUND", floats, **to_even)
    if len(numbers) > 1:
        addends, rounded = (rounded, then("CAST", numbers[1])), TensorRef("FLOAT32", x.shape)
        made.append(pair("ADD", *addends, rounded))
    inside = then("ELEMENT_WISE_CLIP", rounded, Min=float(limits.min), Max=float(limits.max))
    whole = then("ELEMENT_WISE_ROUND", inside, **to_even)
    return [*made, unary("CAST", whole, output)]


def _of_blocks(operator: str, x: TensorRef, numbers: list[TensorRef], output: TensorRef) -> list[Counterpart]:
    fields: dict[str, Any] = {
        "InputTensor": x,
        "QuantizationType": "SCALE" if len(numbers) == 1 else "SCALE_ZERO_POINT",
        "QuantizationTensors": numbers,
    }
    return [Counterpart(operator, {**fields, "OutputTensor": output})]


def _zero_if_unsigned(few: TensorRef, scale: TensorRef) -> list[TensorRef]:
    """Return the zero point 0 of an unsigned type, for a scale: DirectML's own is the middle of the type."""
    if not few.data_type.startswith("U"):
        return []
    zero = TensorRef.of(np.zeros((1,) * scale.ndim, np.uint8), few.element)
    return [zero.broadcast_to(scale.shape)]


def _blocks(values: TensorRef, axis: int, block: int, shape: tuple[int, ...]) -> TensorRef:
    """Return scales or zero points in as many dimensions as the input has, one for each block."""
    if block and shape[axis] % block:
        return _of_each(values, axis, block, shape)  # DirectML does not say where its blocks end
    if not block and values.size > 1:
        return values.reshape(along_axis(axis, len(shape)))
    return values.reshape((1,) * len(shape)) if values.size == 1 else values


def _of_each(values: TensorRef, axis: int, block: int, shape: tuple[int, ...]) -> TensorRef:
    """Return the scale or the zero point of each element."""
    place = axis_of(axis, len(shape))
    known = values.values
    if known is None:
        return values.like(shape)
    repeats = np.repeat(known, min(block, shape[place]), place)
    return TensorRef.of(repeats[(slice(None),) * place + (slice(shape[place]),)], values.element)


def _by_range(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    ones = (1,) * x.ndim
    outputs = {"OutputScaleTensor": sized(node.output(1), ones), "OutputZeroPointTensor": sized(node.output(2), ones)}
    return [Counterpart("DYNAMIC_QUANTIZE_LINEAR", {**node.tensors(), **outputs})]


# ---- as the provider has them


def _of_each_element(operator: str, node: OnnxNode) -> list[Counterpart]:
    """QUANTIZE and DEQUANTIZE from version 21 on, whose scales and zero points have a value for each element.

    An unsigned type without a zero point gets one of 0: DirectML's own is the middle of the type.
    """
    if node.opset < 21:
        return _quantize(operator, node)
    x, output = vector(node.input(0)), vector(node.output())
    given = [node.input(1), *(zero for zero in [node.optional(2)] if zero is not None)]
    numbers = [_spread(values, node.get("axis", 1), output.shape) for values in given]
    few, fill = output if operator == "QUANTIZE" else x, []
    if len(numbers) == 1 and few.data_type.startswith("U"):
        zero = TensorRef("UINT8", (1,) * output.ndim)
        numbers.append(zero.bits(few.element).broadcast_to(output.shape))
        # One byte, also where the type has 4 bits.
        fill.append(Counterpart("FILL_VALUE_CONSTANT", {"OutputTensor": zero, "ValueDataType": "UINT8", "Value": 0}))
    return [*fill, *_of_blocks(operator, x, numbers, output)]


def _spread(values: TensorRef, axis: int, shape: tuple[int, ...]) -> TensorRef:
    """Return values in a shape, with strides of 0 if they have size 1; a vector lies along the axis.

    The provider takes no notice of block_size: values of blocks have the strides of their own sizes.
    """
    own = values.shape
    if len(own) == 1 and own != shape:
        own = tuple(own[0] if place == axis_of(axis, len(shape)) else 1 for place in range(len(shape)))
    own = (1,) * (len(shape) - len(own)) + own
    strides = tuple(0 if size == 1 else step for size, step in zip(own, packed_strides(own), strict=True))
    return values.view(shape, strides)


def _by_first_axis(operator: str, node: OnnxNode) -> list[Counterpart]:
    """QUANTIZE_LINEAR and DEQUANTIZE_LINEAR of onnxruntime's own, whose scales are along axis 0 by default."""
    return _quantize(operator, node.with_attributes(axis=node.get("axis", 0)))


def _row(operator: str, provider: Any, *, is_kept: bool = False) -> Row:
    return Row(partial(_quantize, operator), provider=partial(provider, operator), is_kept=is_kept)


def _deviation(node: OnnxNode) -> str | None:  # noqa: ARG001 - as other operators have it
    return "DynamicQuantizeLinear may round a number that lies halfway between two otherwise than ONNX, to even"


OPERATORS: dict[str, Row] = {
    "Cast": Row(_cast, provider=_cast_of_provider),
    "CastLike": Row(_cast, provider=_cast_of_provider, may_be_empty=1),
    "DequantizeLinear": _row("DEQUANTIZE", _of_each_element, is_kept=True),
    "DynamicQuantizeLinear": Row(_by_range, outputs=3, deviation=_deviation),
    "QuantizeLinear": _row("QUANTIZE", _of_each_element),
    "com.microsoft.DequantizeLinear": _row("DEQUANTIZE", _by_first_axis, is_kept=True),
    "com.microsoft.QuantizeLinear": _row("QUANTIZE", _by_first_axis),
}
