"""Operators of onnxruntime on quantized numbers that only its CPU computes, by operators of DirectML.

The meanings are from the operators' own documentation, which the package has as data.
"""

from __future__ import annotations

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, axis_of, shortest
from dmlcheck.onnx.descs.steps import pair, step
from dmlcheck.onnx.descs.tensors import repeated
from dmlcheck.onnx.operators.fused_normalization import embeddings
from dmlcheck.onnx.operators.quantized_operators import dequantized, product_of_integers, scaled, through_float, zero_of
from dmlcheck.onnx.operators.row import Row


def _leaky(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR, LEAKY_RELU, QUANTIZE_LINEAR."""
    zeros = zero_of(node, 2, node.input(0)), zero_of(node, 4, node.output())
    return through_float(node, *zeros, "ACTIVATION_LEAKY_RELU", Alpha=shortest(node.get("alpha", 0.01)))


def _multiplied(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR of both factors, MULTIPLY, QUANTIZE_LINEAR."""
    output = node.output()
    factors = ((index, node.input(index)) for index in (0, 3))
    given = [dequantized(x, node.input(index + 1), zero_of(node, index + 2, x)) for index, x in factors]
    before, parts = zip(*given, strict=True)
    made = TensorRef("FLOAT32", output.shape)
    last = scaled("QUANTIZE", made, node.input(6), zero_of(node, 7, output), output)
    return [*before, pair("MULTIPLY", parts[0], parts[1], made), last]


def _softmax(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR, SOFTMAX1, QUANTIZE_LINEAR; of an opset before 13 along all axes from one on."""
    x, output = node.input(0), node.output()
    axis = axis_of(node.get("axis", -1), x.ndim)
    axes = [axis] if node.whole("opset") >= _OF_ONE_AXIS else list(range(axis, x.ndim))
    zeros = zero_of(node, 2, x), zero_of(node, 4, output)
    return through_float(node, *zeros, "ACTIVATION_SOFTMAX1", Axes=axes)


_OF_ONE_AXIS = 13  # the opset from which on Softmax is


def _choice(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR of both sides, IF, QUANTIZE_LINEAR."""
    output = node.output()
    sides = [(index, node.input(index)) for index in (1, 4)]
    given = [dequantized(x, node.input(index + 1), zero_of(node, index + 2, x)) for index, x in sides]
    before, parts = zip(*given, strict=True)
    made = TensorRef("FLOAT32", output.shape)
    tensors = dict(zip(("ConditionTensor", "ATensor", "BTensor"), (node.input(0), *parts), strict=True))
    fields = {name: repeated(x, output.shape) for name, x in tensors.items()}
    last = scaled("QUANTIZE", made, node.input(7), zero_of(node, 8, output), output)
    return [*before, step("ELEMENT_WISE_IF", **fields, OutputTensor=made), last]


def _gemm(node: OnnxNode) -> list[Counterpart]:
    """MATRIX_MULTIPLY_INTEGER, ADD of whole numbers, CAST, MULTIPLY by scales and alpha, and QUANTIZE_LINEAR if asked.

    The third factor has the scales of the product.
    """
    a, b = (
        x.transpose((1, 0)) if node.get(name, 0) else x
        for name, x in (("transA", node.input(0)), ("transB", node.input(3)))
    )
    output = node.output()
    sums, made = TensorRef("INT32", output.shape), TensorRef("FLOAT32", output.shape)
    zeros = zero_of(node, 2, a), zero_of(node, 5, b)
    steps = product_of_integers(node._replace(inputs=(a, b, *zeros), outputs=(sums,)))
    if node.has(6):
        whole, sums = sums, TensorRef("INT32", output.shape)
        steps.append(pair("ADD", whole, node.input(6), sums))
    steps.append(step("CAST", InputTensor=sums, OutputTensor=made))
    alpha = TensorRef.of(np.full((), node.get("alpha", 1.0), np.float32))
    for factor in (node.input(1), alpha, node.input(4)):
        is_last = factor is node.input(4) and not node.has(7)
        before, made = made, output if is_last else TensorRef("FLOAT32", output.shape)
        steps.append(pair("MULTIPLY", before, factor, made))
    last = [scaled("QUANTIZE", made, node.input(7), zero_of(node, 8, output), output)] if node.has(7) else []
    return [*steps, *last]


def _embeddings(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR of the tables and of both factors, and the steps of EmbedLayerNormalization."""
    inputs = [node.optional(index) for index in range(8)]
    before = []
    for index in _TABLES:
        x = inputs[index]
        if x is not None:
            made, inputs[index] = dequantized(x, node.input(index + _TO_SCALE), zero_of(node, index + _TO_ZERO, x))
            before.append(made)
    plain = node._replace(type="com.microsoft.EmbedLayerNormalization", inputs=tuple(inputs))
    return [*before, *embeddings(plain)]


_TABLES = range(2, 7)  # words, positions, segments, gamma and beta
_TO_SCALE, _TO_ZERO = 6, 11  # how many inputs later each has its scale and its zero point

OPERATORS: dict[str, Row] = {
    "com.microsoft.DynamicQuantizeLSTM": Row(reason="quantizes its state anew in each step, and no operator does that"),
    "com.microsoft.MatMulInteger16": Row(
        reason="multiplies integers of 16 bits, and no product of DirectML takes them"
    ),
    "com.microsoft.QEmbedLayerNormalization": Row(exact=_embeddings, outputs=None),
    "com.microsoft.QGemm": Row(exact=_gemm),
    "com.microsoft.QLinearLeakyRelu": Row(exact=_leaky),
    "com.microsoft.QLinearMul": Row(exact=_multiplied),
    "com.microsoft.QLinearSoftmax": Row(exact=_softmax),
    "com.microsoft.QLinearWhere": Row(exact=_choice),
}
