"""Operators on quantized numbers, some of them onnxruntime's own: products, convolutions, sums, averages, sigmoids.

From DmlOperatorQLinearSigmoid.cpp, DmlOperatorQLinearConcat.cpp, DmlOperatorDynamicQuantizeMatMul.cpp and
DmlOperatorMatMulNBits.cpp of ONNX Runtime's DirectML provider.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.strides import packed_strides
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped, axis_of, shortest
from dmlcheck.onnx.descs.padded import padded
from dmlcheck.onnx.descs.steps import dequantized, pair, product, scaled, step, zero_of
from dmlcheck.onnx.descs.tensors import channels, channels_second, converted, repeated, sized
from dmlcheck.onnx.operators.convolution import window
from dmlcheck.onnx.operators.matrix_products import batches
from dmlcheck.onnx.operators.row import Row, not_taken

Shaped = Callable[[TensorRef], TensorRef]


def _of_rows(rank: int) -> Shaped:
    """Return a number, or a number for each row, with as many dimensions as a matrix has."""
    return lambda values: values.reshape((*(1,) * (rank - 2), -1, 1)) if values.ndim < 2 else values


def _of_columns(rank: int) -> Shaped:
    return lambda values: values.reshape((*(1,) * (rank - 1), -1)) if values.ndim < 2 else values


def _of_channels(rank: int) -> Shaped:
    return lambda values: channels(values, rank)


def _of_one(rank: int) -> Shaped:
    return lambda values: sized(values, (1,) * rank)


def _tensors(node: OnnxNode, *places: tuple[int, str, Shaped]) -> dict[str, TensorRef]:
    """Return the present inputs by their fields."""
    given = ((name, shaped, node.optional(index)) for index, name, shaped in places)
    return {name: shaped(values) for name, shaped, values in given if values is not None}


def _matrices(node: OnnxNode, second: int) -> tuple[int, dict[str, TensorRef]]:
    """Return the rank of a product of matrices, and its tensors, batches of which repeat."""
    a, b, output = node.input(0), node.input(second), node.output()
    if min(a.ndim, b.ndim) < 2:
        raise Unmapped(f"{node.type} of a vector, where DirectML has matrices only")
    return output.ndim, batches(a, b, output)


def product_of_integers(node: OnnxNode) -> list[Counterpart]:
    """MATRIX_MULTIPLY_INTEGER."""
    rank, tensors = _matrices(node, 1)
    points = _tensors(node, (2, "AZeroPointTensor", _of_rows(rank)), (3, "BZeroPointTensor", _of_columns(rank)))
    return [Counterpart("MATRIX_MULTIPLY_INTEGER", {**tensors, **points})]


def _quantized_product(node: OnnxNode) -> list[Counterpart]:
    rank, tensors = _matrices(node, 3)
    rows, columns = _of_rows(rank), _of_columns(rank)
    ways = (("A", 1, rows), ("B", 4, columns), ("Output", 6, rows))
    places = [(index, f"{name}ScaleTensor", shaped) for name, index, shaped in ways]
    places += [(index + 1, f"{name}ZeroPointTensor", shaped) for name, index, shaped in ways]
    return [Counterpart("QUANTIZED_LINEAR_MATRIX_MULTIPLY", {**tensors, **_tensors(node, *places)})]


_SCALES = (1, 4, 6)


def _product_by_float32(node: OnnxNode) -> list[Counterpart]:
    """QUANTIZED_LINEAR_MATRIX_MULTIPLY: scales of FLOAT16 are numbers of FLOAT32, as DirectML has them."""
    inputs = list(node.inputs)
    for index in _SCALES:
        inputs[index] = converted(node.input(index), np.float32)
    return _quantized_product(node._replace(inputs=tuple(inputs)))


def _convolution_of_integers(node: OnnxNode) -> list[Counterpart]:
    x, weights = node.input(0), node.input(1)
    own = _of_channels(x.ndim)
    points = _tensors(node, (2, "InputZeroPointTensor", own), (3, "FilterZeroPointTensor", own))
    tensors = {"InputTensor": x, "FilterTensor": weights, **points, "OutputTensor": node.output()}
    fields = {**window(node, x, weights.shape[2:]), "GroupCount": node.get("group", 1)}
    return [Counterpart("CONVOLUTION_INTEGER", {**tensors, **fields})]


def _quantized_convolution(node: OnnxNode) -> list[Counterpart]:
    x, weights = node.input(0), node.input(3)
    names = ("InputTensor", "InputScaleTensor", "InputZeroPointTensor", "FilterTensor", "FilterScaleTensor",
             "FilterZeroPointTensor", "OutputScaleTensor", "OutputZeroPointTensor", "BiasTensor")  # fmt: skip
    own = _of_channels(x.ndim)
    places = [(index, name, own) for index, name in enumerate(names) if index not in (0, 3)]
    tensors = {"InputTensor": x, "FilterTensor": weights, **_tensors(node, *places), "OutputTensor": node.output()}
    fields = {**window(node, x, weights.shape[2:]), "GroupCount": node.get("group", 1)}
    return [Counterpart("QUANTIZED_LINEAR_CONVOLUTION", {**tensors, **fields})]


def _refusal_of_convolution(node: OnnxNode) -> RefusedNode | None:
    """Return the refusal of an output's scale or zero point for each channel, which DirectML does not take, or None."""
    numbers = (node.optional(index) for index in (6, 7))
    if all(x is None or x.size == 1 for x in numbers):
        return None
    return RefusedNode(
        f"the DirectML provider refuses {node.type} whose output has a scale or a zero point for each channel",
        "quantize the output with one scale and one zero point",
    )


def _product_to_float(node: OnnxNode) -> list[Counterpart]:
    """MATRIX_MULTIPLY_INTEGER_TO_FLOAT of two factors, their scales and zero points, and a bias."""
    rank, tensors = _matrices(node, 1)
    places = [
        (index, f"{name}{kind}Tensor", shaped)
        for first, kind in ((2, "Scale"), (4, "ZeroPoint"))
        for index, name, shaped in ((first, "A", _of_rows(rank)), (first + 1, "B", _of_columns(rank)))
    ]
    bias = node.optional(6)
    more = {} if bias is None else {"BiasTensor": repeated(bias, node.output().shape)}
    return [Counterpart("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", {**tensors, **_tensors(node, *places), **more})]


def _product_scaled(node: OnnxNode) -> list[Counterpart]:
    """As `_product_to_float`; of factors of different types MATRIX_MULTIPLY_INTEGER, MULTIPLY by both scales, ADD."""
    a, b = node.input(0), node.input(1)
    if a.data_type == b.data_type:
        return _product_to_float(node)
    output, zeros = node.output(), (node.optional(4), node.optional(5))
    sums = TensorRef("INT32", output.shape)
    steps = product_of_integers(node._replace(inputs=(a, b, *zeros), outputs=(sums,)))
    made = output.unknown()
    steps.append(step("CAST", InputTensor=sums, OutputTensor=made))
    scales = _of_rows(output.ndim)(node.input(2)), _of_columns(output.ndim)(node.input(3))
    factors = [("MULTIPLY", scale) for scale in scales]
    if node.has(6):
        factors.append(("ADD", node.input(6)))
    for number, (operator, factor) in enumerate(factors, start=1):
        before, made = made, output if number == len(factors) else output.unknown()
        steps.append(pair(operator, before, factor, made))
    return steps


def _sum(node: OnnxNode) -> list[Counterpart]:
    output = node.output()
    own = _of_one(output.ndim)
    names = ("AScaleTensor", "AZeroPointTensor", "", "BScaleTensor", "BZeroPointTensor", "OutputScaleTensor",
             "OutputZeroPointTensor")  # fmt: skip
    numbers = _tensors(node, *((index, name, own) for index, name in enumerate(names, start=1) if name))
    addends = {"ATensor": repeated(node.input(0), output.shape), "BTensor": repeated(node.input(3), output.shape)}
    return [Counterpart("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", {**addends, **numbers, "OutputTensor": output})]


def _average(node: OnnxNode, *, is_global: bool = False) -> list[Counterpart]:
    """QUANTIZED_LINEAR_AVERAGE_POOLING; channels that are last are read and written through strides."""
    tensors = node.tensors()
    moved = {name: channels_second(x) for name, x in tensors.items()} if node.whole("channels_last", 0) else {}
    x = moved["InputTensor"] if moved else tensors["InputTensor"]
    sizes = list(x.shape[2:]) if is_global else list(node.get("kernel_shape") or [])
    names = ("InputScaleTensor", "InputZeroPointTensor", "OutputScaleTensor", "OutputZeroPointTensor")
    numbers = _tensors(node, *((index, name, _of_one(x.ndim)) for index, name in enumerate(names, start=1)))
    plain = node._replace(attributes={}) if is_global else node
    fields = {"WindowSize": sizes, **window(plain, x, sizes), "IncludePadding": node.get("count_include_pad", 0)}
    return [padded(Counterpart("QUANTIZED_LINEAR_AVERAGE_POOLING", {**tensors, **moved, **numbers, **fields}))]


# ---- computed in floating point, or quantized first


def _sigmoid(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR, SIGMOID, QUANTIZE_LINEAR; both zero points must be there."""
    return through_float(node, node.input(2), node.input(4), "ACTIVATION_SIGMOID")


def through_float(
    node: OnnxNode, zero: TensorRef, zero_of_output: TensorRef, operator: str, **fields: Any
) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR, an operator of floats, QUANTIZE_LINEAR."""
    first, numbers = dequantized(node.input(0), node.input(1), zero)
    output = node.output()
    made = TensorRef("FLOAT32", output.shape)
    inner = step(operator, InputTensor=numbers, OutputTensor=made, **fields)._replace(least=4)
    return [first, inner, scaled("QUANTIZE", made, node.input(3), zero_of_output, output)]


def _query_q_linear_sigmoid(node: OnnxNode) -> str | None:
    """DmlOperatorQLinearSigmoid.cpp, QueryQLinearSigmoid."""
    return not_taken(node, "without the zero points") if len(node.inputs) < 5 else None


def _as_floats(node: OnnxNode, *indices: int) -> tuple[list[Counterpart], list[TensorRef]]:
    """Return the steps that dequantize inputs, each of which its scale and its zero point follow, and the results."""
    inputs = ((index, node.input(index)) for index in indices)
    given = [dequantized(x, node.input(index + 1), zero_of(node, index + 2, x)) for index, x in inputs]
    return [first for first, _ in given], [floats for _, floats in given]


def _concat(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR of each input, JOIN, QUANTIZE_LINEAR; scale and zero point follow each input."""
    count, rest = divmod(len(node.inputs) - 2, 3)
    if count < 1 or rest:
        raise Unmapped(f"{node.type} of {len(node.inputs)} inputs, which are not each with a scale and a zero point")
    first, parts = _as_floats(node, *range(2, 2 + 3 * count, 3))
    output = node.output()
    made = TensorRef("FLOAT32", output.shape)
    fields = {"InputTensors": parts, "OutputTensor": made, "Axis": axis_of(node.whole("axis"), output.ndim)}
    last = scaled("QUANTIZE", made, node.input(0), zero_of(node, 1, output), output)
    return [*first, Counterpart("JOIN", fields), last]


def _product_of_quantized(node: OnnxNode) -> list[Counterpart]:
    """DYNAMIC_QUANTIZE_LINEAR of the first factor, MATRIX_MULTIPLY_INTEGER_TO_FLOAT."""
    x, weights = node.input(0), node.input(1)
    quantized, zero = weights.like(x.shape), weights.like((1,) * x.ndim)
    scale = TensorRef("FLOAT32", (1,) * x.ndim)
    made = {"OutputTensor": quantized, "OutputScaleTensor": scale, "OutputZeroPointTensor": zero}
    inputs = (quantized, weights, scale, node.input(2), zero, node.optional(3), node.optional(4))
    first = Counterpart("DYNAMIC_QUANTIZE_LINEAR", {"InputTensor": x, **made})
    return [first, *_product_to_float(node._replace(inputs=inputs))]


# ---- weights in blocks of few bits


def _product_of_blocks(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE of the weights, which each batch reads again, and GEMM with them transposed.

    The last block of a row may reach beyond its columns: what is there is packed too, and left out of the product.
    """
    x, output = node.input(0), node.output()
    rows, columns, bits = node.positive("N"), node.positive("K"), node.whole("bits", 4)
    if bits not in (4, 8):
        raise Unmapped(f"{node.type} of {bits} bits, where DirectML unpacks only 4 and 8")
    if x.ndim < 2 or x.shape[-1] != columns:
        raise Unmapped(f"{node.type} whose first factor of the sizes {list(x.shape)} is not of {columns} columns")
    if node.has(4) or node.has(5):
        raise Unmapped(f"{node.type} with group indices or a bias, which the provider does not take")
    batch = x.shape[:-2]
    blocks = node.input(2).size // rows
    width = blocks * node.positive("block_size")
    weights = _of_bits(node.input(1), (rows, width), bits)
    made = x.like((*batch, rows, width))
    numbers = [repeated(node.input(2).reshape(rows, blocks), (*batch, rows, blocks))]
    if node.has(3):
        numbers.append(_zero_points(node.input(3), (*batch, rows, blocks), bits))
    kind = "SCALE" if len(numbers) == 1 else "SCALE_ZERO_POINT"
    fields = {"QuantizationType": kind, "QuantizationTensors": numbers, "OutputTensor": made}
    first = step("DEQUANTIZE", InputTensor=repeated(weights, made.shape), **fields)
    factor = made if width == columns else made.view((*batch, rows, columns), packed_strides(made.shape))
    return [first, product(x, factor, output, TransB="TRANSPOSE")]


def _of_bits(packed: TensorRef, sizes: tuple[int, ...], bits: int, strides: tuple[int, ...] | None = None) -> TensorRef:
    """Return bytes as numbers of fewer bits."""
    return TensorRef("UINT4" if bits == 4 else "UINT8", sizes, strides, packed.buffer)


def _zero_points(packed: TensorRef, sizes: tuple[int, ...], bits: int) -> TensorRef:
    """Return zero points, whose rows begin at a whole byte: after an odd number of them one is skipped."""
    blocks = sizes[-1]
    row = blocks + blocks % 2 if bits == 4 else blocks
    return _of_bits(packed, sizes, bits, (*(0 for _ in sizes[:-2]), row, 1))


def _product_with_bias(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE of the weights and GEMM, and the bias, which the provider does not take."""
    if node.has(3) and node.input(3).element != "UINT8":
        raise Unmapped(f"{node.type} whose zero points are {node.input(3).data_type}, not packed in UINT8")
    bias, output = node.optional(5), node.output()
    product = output if bias is None else output.unknown()
    made = _product_of_blocks(node._replace(inputs=node.inputs[:5], outputs=(product,)))
    return made if bias is None else [*made, pair("ADD", product, bias, output)]


_LEAST_ACCURATE = 4  # an accuracy_level: INT8, in blocks like the weights
_HALF_A_STEP = 0.5 / 127  # of the largest magnitude of a block
_ROUNDINGS = {2: 2.0**-11, 3: 2.0**-8}  # of levels: to FLOAT16 and BFLOAT16, of each magnitude


def _slack(node: OnnxNode) -> dict[int, Array]:
    """Return how far an accuracy_level lets the first factor be rounded."""
    level, x = node.whole("accuracy_level", 0), np.abs(node.numbers_of(0).astype(np.float64))
    if level != _LEAST_ACCURATE:
        return {0: x * _ROUNDINGS[level]} if level in _ROUNDINGS else {}
    columns, block = x.shape[-1], node.positive("block_size")
    largest = np.maximum.reduceat(x, range(0, columns, block), axis=-1)
    return {0: np.repeat(largest, block, axis=-1)[..., :columns] * _HALF_A_STEP}


def _query_mat_mul_n_bits(node: OnnxNode) -> str | None:
    """DmlOperatorMatMulNBits.cpp, QueryMatMulNBits."""
    bits, inner, block = node.whole("bits", 4), node.whole("K", 0), node.whole("block_size", 0)
    if bits not in (4, 8):
        return not_taken(node, f"of {bits} bits")
    return (
        not_taken(node, f"of K {inner}, which is no multiple of block_size {block}")
        if block and inner % block
        else None
    )


# ---- what only the CPU of onnxruntime computes: the meanings are from its own documentation


def _leaky(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR, LEAKY_RELU, QUANTIZE_LINEAR."""
    zeros = zero_of(node, 2, node.input(0)), zero_of(node, 4, node.output())
    return through_float(node, *zeros, "ACTIVATION_LEAKY_RELU", Alpha=shortest(node.get("alpha", 0.01)))


def _multiplied(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR of both factors, MULTIPLY, QUANTIZE_LINEAR."""
    output = node.output()
    before, (left, right) = _as_floats(node, 0, 3)
    made = TensorRef("FLOAT32", output.shape)
    last = scaled("QUANTIZE", made, node.input(6), zero_of(node, 7, output), output)
    return [*before, pair("MULTIPLY", left, right, made), last]


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
    before, sides = _as_floats(node, 1, 4)
    made = TensorRef("FLOAT32", output.shape)
    tensors = dict(zip(("ConditionTensor", "ATensor", "BTensor"), (node.input(0), *sides), strict=True))
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


OPERATORS: dict[str, Row] = {
    "ConvInteger": Row(_convolution_of_integers),
    "MatMulInteger": Row(product_of_integers),
    "QLinearConv": Row(_quantized_convolution, refusal=_refusal_of_convolution),
    "QLinearMatMul": Row(_quantized_product, exact=_product_by_float32),
    "com.microsoft.DynamicQuantizeMatMul": Row(_product_of_quantized),
    "com.microsoft.MatMulIntegerToFloat": Row(exact=_product_scaled, provider=_product_to_float),
    "com.microsoft.MatMulNBits": Row(
        exact=_product_with_bias, provider=_product_of_blocks, query=_query_mat_mul_n_bits, slack=_slack
    ),
    "com.microsoft.QLinearAdd": Row(_sum),
    "com.microsoft.QLinearAveragePool": Row(_average),
    "com.microsoft.QLinearConcat": Row(_concat),
    "com.microsoft.QLinearGlobalAveragePool": Row(partial(_average, is_global=True)),
    "com.microsoft.QLinearSigmoid": Row(_sigmoid, query=_query_q_linear_sigmoid),
    "com.microsoft.DynamicQuantizeLSTM": Row(reason="quantizes its state anew in each step, and no operator does that"),
    "com.microsoft.MatMulInteger16": Row(
        reason="multiplies integers of 16 bits, and no product of DirectML takes them"
    ),
    "com.microsoft.QGemm": Row(exact=_gemm),
    "com.microsoft.QLinearLeakyRelu": Row(exact=_leaky),
    "com.microsoft.QLinearMul": Row(exact=_multiplied),
    "com.microsoft.QLinearSoftmax": Row(exact=_softmax),
    "com.microsoft.QLinearWhere": Row(exact=_choice),
}
