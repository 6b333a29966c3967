"""QuantizeLinear and DequantizeLinear from version 21 on, as ONNX Runtime's DirectML provider makes them.

The sources are DmlOperatorQuantization21 in DmlOperatorElementWise.cpp, and BroadcastQuantizationParameters in
DmlOperator.cpp.
"""

from __future__ import annotations

from dmlcheck.descs.strides import packed_strides
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Node, axis_of
from dmlcheck.onnx.descs.tensors import vector
from dmlcheck.onnx.operators.shared import counterpart

OPERATORS = {"QuantizeLinear": "QUANTIZE", "DequantizeLinear": "DEQUANTIZE"}


def quantized(node: Node) -> list[Counterpart]:
    """QUANTIZE and DEQUANTIZE, whose scales and zero points have a value for each element.

    An unsigned type without a zero point gets one of 0: DirectML's own is the middle of the type.
    """
    if node.opset < 21:
        return [counterpart(node)]
    operator, x, output = OPERATORS[node.type], vector(node.input(0)), vector(node.output())
    given = [node.input(1), *(zero for zero in [node.optional(2)] if zero is not None)]
    numbers = [_spread(values, node.get("axis", 1), output.shape) for values in given]
    few, fill = output if operator == "QUANTIZE" else x, []
    if len(numbers) == 1 and few.data_type.startswith("U"):
        zero = TensorRef("UINT8", (1,) * output.ndim)
        numbers.append(zero.bits(few.element).broadcast_to(output.shape))
        fill.append(_filled(zero))
    kind = "SCALE" if len(numbers) == 1 else "SCALE_ZERO_POINT"
    tensors = {"InputTensor": x, "QuantizationTensors": numbers, "OutputTensor": output}
    return [*fill, Counterpart(operator, {**tensors, "QuantizationType": kind})]


def _filled(zero: TensorRef) -> Counterpart:
    """Return what makes the zero point: one byte, also where its type has 4 bits."""
    return Counterpart("FILL_VALUE_CONSTANT", {"OutputTensor": zero, "ValueDataType": "UINT8", "Value": 0})


def _spread(values: TensorRef, axis: int, shape: tuple[int, ...]) -> TensorRef:
    """Return values in a shape, with strides of 0 where they have size 1; a vector lies along the axis.

    The provider takes no notice of block_size: values of blocks have the strides of their own sizes.
    """
    own = values.shape
    if len(own) == 1 and own != shape:
        own = tuple(own[0] if place == axis_of(axis, len(shape)) else 1 for place in range(len(shape)))
    own = (1,) * (len(shape) - len(own)) + own
    strides = tuple(0 if size == 1 else step for size, step in zip(own, packed_strides(own), strict=True))
    return values.view(shape, strides)
