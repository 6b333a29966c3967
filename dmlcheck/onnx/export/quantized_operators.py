"""Operators on quantized numbers: convolutions, matrix products, averages and sums, some of them onnxruntime's own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import BYTES, require_type, window, window_attributes


def quantized_tensor(g: Builder, name: str, type: str) -> list[GraphValue]:
    """Return a quantized tensor with its scale and its zero point, each a vector or without dimensions."""
    x = g.input(f"{name}Tensor")
    require_type(type, x, BYTES)
    return [x, *scale_and_zero_point(g, name)]


def scale_and_zero_point(g: Builder, name: str) -> list[GraphValue]:
    """Return scale and zero point of a tensor; a zero point that is left out is 0."""
    scale = g.flatten(g.input(f"{name}ScaleTensor"))
    point = _zero_point(g, name)
    return [scale, g.scalar(0, g.tensor(f"{name}Tensor").data_type) if point is None else point]


def _zero_point(g: Builder, name: str) -> GraphValue | None:
    point = g.optional(f"{name}ZeroPointTensor")
    return None if point is None else g.flatten(point)


# ---- convolutions


def convolution_of_integers(g: Builder, desc: OperatorDesc) -> None:
    """CONVOLUTION_INTEGER: padding is real zeros in both."""
    x, kernel = g.input("InputTensor"), g.input("FilterTensor")
    require_type("ConvInteger", x, BYTES)
    require_type("ConvInteger", kernel, BYTES)
    points = [_zero_point(g, name) for name in ("Input", "Filter")]
    sizes = g.tensor("OutputTensor").sizes
    made = g.node("ConvInteger", [x, kernel, *points], sizes, "INT32", **window_attributes(desc, kernel))
    g.output("OutputTensor", made)


def quantized_convolution(g: Builder, desc: OperatorDesc) -> None:
    """QUANTIZED_LINEAR_CONVOLUTION: QLinearConv wants every zero point."""
    kernel = g.input("FilterTensor")
    parts = [number for name in ("Input", "Filter") for number in quantized_tensor(g, name, "QLinearConv")]
    inputs = [*parts, *scale_and_zero_point(g, "Output")]
    bias = g.optional("BiasTensor")
    if bias is not None:
        inputs.append(g.reshape(bias, (bias.sizes[1],)))
    output = g.tensor("OutputTensor")
    made = g.node("QLinearConv", inputs, output.sizes, output.data_type, **window_attributes(desc, kernel))
    g.output("OutputTensor", made)


# ---- matrix products


def product_of_integers(g: Builder, _: OperatorDesc) -> None:
    """MATRIX_MULTIPLY_INTEGER: a zero point for each row or column in as many dimensions as its matrix."""
    a, b = g.input("ATensor"), g.input("BTensor")
    require_type("MatMulInteger", a, BYTES)
    require_type("MatMulInteger", b, BYTES)
    points = [_for_every_batch(g, _zero_point(g, name), x, axis) for name, x, axis in (("A", a, -2), ("B", b, -1))]
    g.output("OutputTensor", g.node("MatMulInteger", [a, b, *points], g.tensor("OutputTensor").sizes, "INT32"))


def _for_every_batch(g: Builder, vector: GraphValue | None, x: GraphValue, axis: int) -> GraphValue | None:
    """Return numbers of rows or columns as ONNX has them: a vector for a matrix, else for every batch the same."""
    if vector is None or not vector.sizes or len(x.sizes) == 2:
        return vector
    ones = (1,) * len(x.sizes)
    own = (*ones[:-2], vector.sizes[0], 1) if axis == -2 else (*ones[:-1], vector.sizes[0])
    return g.expand(g.reshape(vector, own), (*x.sizes[:-2], *own[-2:]))


def quantized_product(g: Builder, _: OperatorDesc) -> None:
    """QUANTIZED_LINEAR_MATRIX_MULTIPLY: scale and zero point of one operand are of one shape in ONNX."""
    output = g.tensor("OutputTensor")
    inputs: list[GraphValue | None] = []
    for name, axis in (("A", -2), ("B", -1)):
        x, *numbers = quantized_tensor(g, name, "QLinearMatMul")
        inputs += [x, *(_for_every_batch(g, each, x, axis) for each in _of_one_shape(g, numbers))]
    result = GraphValue("", output.data_type, output.sizes)
    onto = _of_one_shape(g, scale_and_zero_point(g, "Output"))
    inputs += [_for_every_batch(g, each, result, -2) for each in onto]
    g.output("OutputTensor", g.node("QLinearMatMul", inputs, output.sizes, output.data_type))


def _of_one_shape(g: Builder, numbers: Sequence[GraphValue]) -> list[GraphValue]:
    """Return scale and zero point both as vectors where one is."""
    sizes = max((each.sizes for each in numbers), key=len)
    return [g.expand(each, sizes) for each in numbers]


def product_to_float(g: Builder, _: OperatorDesc) -> None:
    """MATRIX_MULTIPLY_INTEGER_TO_FLOAT: onnxruntime's own operator, of one scale for all of A and a bias of columns."""
    bias = g.optional("BiasTensor")
    (a, a_scale, a_point), (b, *columns) = (quantized_tensor(g, name, "MatMulIntegerToFloat") for name in ("A", "B"))
    output = g.tensor("OutputTensor")
    if a_scale.sizes or a_point.sizes:
        raise Inexpressible("MatMulIntegerToFloat has one scale and zero point for all of ATensor")
    if bias is not None and math.prod(output.sizes[:-1]) > 1:
        raise Inexpressible("MatMulIntegerToFloat has the same bias for every row")
    b_scale, b_point = _of_one_shape(g, columns)
    if math.prod(b.sizes[:-2]) == 1:
        b = g.reshape(b, b.sizes[-2:])
    elif b_scale.sizes:
        raise Inexpressible("MatMulIntegerToFloat has scales of columns for a single BTensor only")
    if bias is not None:
        bias = g.reshape(bias, output.sizes[-1:])
    inputs = [a, b, a_scale, b_scale, a_point, b_point, bias]
    g.output("OutputTensor", g.node("com.microsoft.MatMulIntegerToFloat", inputs, output.sizes, output.data_type))


# ---- averages and sums


def quantized_average(g: Builder, desc: OperatorDesc) -> None:
    """QUANTIZED_LINEAR_AVERAGE_POOLING: onnxruntime's own operator, of one scale, one type and no dilations."""
    x, scale, point = quantized_tensor(g, "Input", "QLinearAveragePool")
    output = g.tensor("OutputTensor")
    onto = scale_and_zero_point(g, "Output")
    shape = window(desc)
    if shape["dilations"] or output.data_type != x.data_type or any(each.sizes for each in (scale, point, *onto)):
        raise Inexpressible("QLinearAveragePool has one scale and zero point a tensor, one data type, and no dilations")
    attributes = {**shape, "count_include_pad": int(bool(desc.values["IncludePadding"]))}
    inputs = [x, scale, point, *onto]
    made = g.node("com.microsoft.QLinearAveragePool", inputs, output.sizes, x.data_type, **attributes)
    g.output("OutputTensor", made)


def quantized_sum(g: Builder, _: OperatorDesc) -> None:
    """QUANTIZED_LINEAR_ADD: an operator of onnxruntime's own, whose formula is the same."""
    a, b = g.input("ATensor"), g.input("BTensor")
    kind = g.tensor("OutputTensor").data_type
    if not a.data_type == b.data_type == kind:
        raise Inexpressible("QLinearAdd has one data type for both addends and the sum")
    names = ("AScaleTensor", "AZeroPointTensor", "BScaleTensor", "BZeroPointTensor")
    numbers = [
        g.reshape(g.input(name), ()) if g.has(name) else g.scalar(0, kind)  # only zero points may be left out
        for name in (*names, "OutputScaleTensor", "OutputZeroPointTensor")
    ]
    inputs = [a, *numbers[:2], b, *numbers[2:]]
    g.output("OutputTensor", g.node("com.microsoft.QLinearAdd", inputs, a.sizes, kind))


MAPPINGS: dict[str, Maker] = {
    "CONVOLUTION_INTEGER": convolution_of_integers,
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": quantized_sum,
    "MATRIX_MULTIPLY_INTEGER": product_of_integers,
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": product_to_float,
    "QUANTIZED_LINEAR_AVERAGE_POOLING": quantized_average,
    "QUANTIZED_LINEAR_CONVOLUTION": quantized_convolution,
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": quantized_product,
}
