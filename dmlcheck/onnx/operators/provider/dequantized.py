"""Nodes on quantized numbers that are computed in floating point, or quantized first; onnxruntime's own.

From DmlOperatorQLinearSigmoid.cpp, DmlOperatorQLinearConcat.cpp, DmlOperatorDynamicQuantizeMatMul.cpp and
DmlOperatorMatMulNBits.cpp of ONNX Runtime's DirectML provider.
"""

from __future__ import annotations

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Makers, Node, Refused, axis_of
from dmlcheck.onnx.descs.steps import product, step, unary
from dmlcheck.onnx.descs.tensors import along, repeated
from dmlcheck.onnx.operators.quantized_operators import product_to_float


def _scaled(operator: str, x: TensorRef, scale: TensorRef, zero: TensorRef, output: TensorRef) -> Counterpart:
    """Return a QUANTIZE_LINEAR or DEQUANTIZE_LINEAR, its numbers repeated to all elements."""
    tensors = {"ScaleTensor": along(scale, 0, x.shape), "ZeroPointTensor": along(zero, 0, x.shape)}
    return Counterpart(f"ELEMENT_WISE_{operator}_LINEAR", {"InputTensor": x, **tensors, "OutputTensor": output})


def _sigmoid(node: Node) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR, SIGMOID, QUANTIZE_LINEAR."""
    x = node.input(0)
    numbers, made = (x.like(x.shape, "FLOAT32") for _ in range(2))
    first = _scaled("DEQUANTIZE", x, node.input(1), node.input(2), numbers)
    sigmoid = unary("ACTIVATION_SIGMOID", numbers, made)._replace(least=4)
    return [first, sigmoid, _scaled("QUANTIZE", made, node.input(3), node.input(4), node.output())]


def _concat(node: Node) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR of each input, JOIN, QUANTIZE_LINEAR; scale and zero point follow each input."""
    count, rest = divmod(len(node.inputs) - 2, 3)
    if count < 1 or rest:
        raise Refused(f"{node.type} of {len(node.inputs)} inputs, which are not each with a scale and a zero point")
    parts, first = [], []
    for index in range(2, 2 + 3 * count, 3):
        x, scale, zero = (node.input(index + more) for more in range(3))
        parts.append(TensorRef("FLOAT32", x.shape))
        first.append(_scaled("DEQUANTIZE", x, scale, zero, parts[-1]))
    output = node.output()
    made = TensorRef("FLOAT32", output.shape)
    fields = {"InputTensors": parts, "OutputTensor": made, "Axis": axis_of(node.whole("axis"), output.ndim)}
    last = _scaled("QUANTIZE", made, node.input(0), node.input(1), output)
    return [*first, Counterpart("JOIN", fields), last]


def _product_of_quantized(node: Node) -> list[Counterpart]:
    """DYNAMIC_QUANTIZE_LINEAR of the first factor, MATRIX_MULTIPLY_INTEGER_TO_FLOAT."""
    x, weights = node.input(0), node.input(1)
    quantized, zero = weights.like(x.shape), weights.like((1,) * x.ndim)
    scale = TensorRef("FLOAT32", (1,) * x.ndim)
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
    weights = _of_bits(node.input(1), (rows, columns), bits)
    made = x.like((*batch, rows, columns))
    numbers = [repeated(node.input(2).reshape(rows, blocks), (*batch, rows, blocks))]
    if node.has(3):
        numbers.append(_zero_points(node.input(3), (*batch, rows, blocks), bits))
    kind = "SCALE" if len(numbers) == 1 else "SCALE_ZERO_POINT"
    fields = {"QuantizationType": kind, "QuantizationTensors": numbers, "OutputTensor": made}
    first = step("DEQUANTIZE", InputTensor=repeated(weights, made.shape), **fields)
    return [first, product(x, made, output, TransB="TRANSPOSE")]


def _of_bits(packed: TensorRef, sizes: tuple[int, ...], bits: int, strides: tuple[int, ...] | None = None) -> TensorRef:
    """Return bytes as numbers of so many bits."""
    return TensorRef("UINT4" if bits == 4 else "UINT8", sizes, strides, packed.buffer)


def _zero_points(packed: TensorRef, sizes: tuple[int, ...], bits: int) -> TensorRef:
    """Return zero points, whose rows begin at a whole byte: after an odd number of them one is skipped."""
    blocks = sizes[-1]
    row = blocks + blocks % 2 if bits == 4 else blocks
    return _of_bits(packed, sizes, bits, (*(0 for _ in sizes[:-2]), row, 1))


SEVERAL: dict[str, Makers] = {
    "com.microsoft.DynamicQuantizeMatMul": _product_of_quantized,
    "com.microsoft.MatMulNBits": _product_of_blocks,
    "com.microsoft.QLinearConcat": _concat,
    "com.microsoft.QLinearSigmoid": _sigmoid,
}
