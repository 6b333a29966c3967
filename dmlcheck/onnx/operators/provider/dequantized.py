"""Nodes on quantized numbers that are computed in floating point, or quantized first; onnxruntime's own.

From DmlOperatorQLinearSigmoid.cpp, DmlOperatorQLinearConcat.cpp, DmlOperatorDynamicQuantizeMatMul.cpp and
DmlOperatorMatMulNBits.cpp of ONNX Runtime's DirectML provider.
"""

from __future__ import annotations

import numpy as np

from dmlcheck.onnx.descs.node import Array, Counterpart, Makers, Node, Refused, axis_of
from dmlcheck.onnx.descs.steps import Tensor, product, step, unary
from dmlcheck.onnx.descs.tensors import Strided, along, empty, empty_like, four_bits, repeated
from dmlcheck.onnx.operators.quantized_operators import product_to_float


def _scaled(operator: str, x: Array, scale: Array, zero: Array, output: Array) -> Counterpart:
    """Return a QUANTIZE_LINEAR or DEQUANTIZE_LINEAR, its numbers repeated to all elements."""
    tensors = {"ScaleTensor": along(scale, 0, x.shape), "ZeroPointTensor": along(zero, 0, x.shape)}
    return Counterpart(f"ELEMENT_WISE_{operator}_LINEAR", {"InputTensor": x, **tensors, "OutputTensor": output})


def _sigmoid(node: Node) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR, SIGMOID, QUANTIZE_LINEAR."""
    x, made = node.input(0), empty(node.input(0).shape, np.float32)
    sigmoid = unary("ACTIVATION_SIGMOID", made, made)._replace(least=4)
    first = _scaled("DEQUANTIZE", x, node.input(1), node.input(2), made)
    return [first, sigmoid, _scaled("QUANTIZE", made, node.input(3), node.input(4), node.output())]


def _concat(node: Node) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR of each input, JOIN, QUANTIZE_LINEAR; scale and zero point follow each input."""
    count, rest = divmod(len(node.inputs) - 2, 3)
    if count < 1 or rest:
        raise Refused(f"{node.type} of {len(node.inputs)} inputs, which are not each with a scale and a zero point")
    parts, first = [], []
    for index in range(2, 2 + 3 * count, 3):
        x, scale, zero = (node.input(index + more) for more in range(3))
        parts.append(empty(x.shape, np.float32))
        first.append(_scaled("DEQUANTIZE", x, scale, zero, parts[-1]))
    output = node.output()
    made = empty(output.shape, np.float32)
    fields = {"InputTensors": parts, "OutputTensor": made, "Axis": axis_of(node.whole("axis"), output.ndim)}
    last = _scaled("QUANTIZE", made, node.input(0), node.input(1), output)
    return [*first, Counterpart("JOIN", fields), last]


def _product_of_quantized(node: Node) -> list[Counterpart]:
    """DYNAMIC_QUANTIZE_LINEAR of the first factor, MATRIX_MULTIPLY_INTEGER_TO_FLOAT."""
    x, weights = node.input(0), node.input(1)
    quantized, zero = empty_like(weights, x.shape), empty_like(weights, (1,) * x.ndim)
    scale = empty((1,) * x.ndim, np.float32)
    made = {"OutputTensor": quantized, "OutputScaleTensor": scale, "OutputZeroPointTensor": zero}
    inputs = (quantized, weights, scale, node.input(2), zero, node.optional(3), node.optional(4))
    first = Counterpart("DYNAMIC_QUANTIZE_LINEAR", {"InputTensor": x, **made})
    return [first, product_to_float(node._replace(inputs=inputs))]


def _product_of_blocks(node: Node) -> list[Counterpart]:
    """DEQUANTIZE of the weights, which each batch reads again, and GEMM with them transposed."""
    x, output = node.input(0), node.output()
    rows, columns, bits = node.positive("N"), node.positive("K"), node.whole("bits", 4)
    if x.ndim < 2 or x.shape[-1] != columns or bits not in (4, 8):
        raise Refused(
            f"{node.type} of {bits} bits, whose first factor of the sizes {list(x.shape)} is not of {columns} columns"
        )
    if node.has(4) or node.has(5):
        raise Refused(f"{node.type} with group indices or a bias, which the provider does not take")
    batch = x.shape[:-2]
    blocks = node.input(2).size // rows
    weights = _of_bits((rows, columns), bits)
    made = empty_like(x, (*batch, rows, columns))
    numbers: list[Tensor] = [repeated(empty_like(x, (rows, blocks)), (*batch, rows, blocks))]
    if node.has(3):
        numbers.append(_zero_points(rows, blocks, bits, batch))
    kind = "SCALE" if len(numbers) == 1 else "SCALE_ZERO_POINT"
    fields = {"QuantizationType": kind, "QuantizationTensors": numbers, "OutputTensor": made}
    first = step("DEQUANTIZE", InputTensor=repeated(weights, made.shape), **fields)
    return [first, product(x, made, output, TransB="TRANSPOSE")]


def _of_bits(sizes: tuple[int, ...], bits: int) -> Array:
    number = np.zeros((), np.uint8)
    return np.broadcast_to(four_bits(number, "UINT4") if bits == 4 else number, sizes)


def _zero_points(rows: int, blocks: int, bits: int, batch: tuple[int, ...]) -> Tensor:
    """Return zero points, whose rows begin at a whole byte: after an odd number of them one is skipped."""
    full = repeated(_of_bits((rows, blocks), bits), (*batch, rows, blocks))
    if blocks % 2 == 0:
        return full
    values = full.values if isinstance(full, Strided) else full
    return Strided(values, (*(0 for _ in batch), blocks + 1, 1))


SEVERAL: dict[str, Makers] = {
    "com.microsoft.DynamicQuantizeMatMul": _product_of_quantized,
    "com.microsoft.MatMulNBits": _product_of_blocks,
    "com.microsoft.QLinearConcat": _concat,
    "com.microsoft.QLinearSigmoid": _sigmoid,
}
