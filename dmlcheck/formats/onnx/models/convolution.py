"""Convolutions and matrix products, of floats, integers and quantized numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.formats.onnx.models._graph_parts import (
    BYTES,
    activated,
    at_least_one,
    extended,
    flat,
    optional,
    padded,
    takes,
)
from dmlcheck.formats.onnx.models._numbers import field, fits, scalar, scales_exactly, times
from dmlcheck.formats.onnx.models.graph import Builder, Inexpressible, Mapping, Value
from dmlcheck.formats.onnx.models.pooling import window

_MOST_PRODUCTS = 64  # a model with more nodes than that says little of one operator


# ---- convolutions


def convolution(g: Builder, desc: OperatorDesc) -> None:
    """CONVOLUTION: Conv, and ConvTranspose for the backward direction, which flips the filter by itself."""
    x, kernel = g.input("InputTensor"), g.input("FilterTensor")
    if desc.values["Mode"] == "CONVOLUTION":
        kernel = _flipped(g, kernel)
    bias = optional(g, "BiasTensor")
    if bias is not None:
        bias = g.reshape(bias, (bias.sizes[1],))
    is_forward = desc.values["Direction"] == "FORWARD"
    sizes = desc.parts["OutputTensor"][0].tensor.sizes
    reached = _reached(x, kernel, desc, is_forward=is_forward)
    zeros = [0] * len(reached)
    if is_forward:
        zeros = [size - end for size, end in zip(sizes[2:], reached, strict=True)]
    else:
        zeros = list(desc.values["OutputPadding"])
    own = (*sizes[:2], *(size - more for size, more in zip(sizes[2:], zeros, strict=True)))
    rest = [size - end for size, end in zip(own[2:], reached, strict=True)]
    made = g.node(
        "Conv" if is_forward else "ConvTranspose",
        [x, kernel, bias],
        own,
        x.data_type,
        **_steps(desc, kernel),
        output_padding=rest if any(rest) else None,
    )
    made = activated(g, made, desc)
    g.output("OutputTensor", padded(g, made, [0] * len(sizes), [0, 0, *zeros]))


def _flipped(g: Builder, kernel: Value) -> Value:
    """Return a filter reversed along its spatial dimensions."""
    axes = range(2, len(kernel.sizes))
    bounds = (
        [kernel.sizes[axis] - 1 for axis in axes],
        [-kernel.sizes[axis] - 1 for axis in axes],
        axes,
        [-1 for _ in axes],
    )
    return g.node("Slice", [kernel, *(g.constant(list(each)) for each in bounds)], kernel.sizes, kernel.data_type)


def _steps(desc: OperatorDesc, kernel: Value) -> dict[str, Any]:
    return {
        "dilations": at_least_one(desc, "Dilations"),
        "group": desc.values["GroupCount"],
        "kernel_shape": list(kernel.sizes[2:]),
        "pads": [*desc.values["StartPadding"], *desc.values["EndPadding"]],
        "strides": list(desc.values["Strides"]),
    }


def _reached(x: Value, kernel: Value, desc: OperatorDesc, *, is_forward: bool) -> list[int]:
    """Return the spatial sizes of a convolution without OutputPadding and without what ONNX may add."""
    names = ("Strides", "Dilations", "StartPadding", "EndPadding")
    steps = zip(*(desc.values[name] for name in names), strict=True)
    reached = []
    for size, reach, (step, gap, before, after) in zip(x.sizes[2:], kernel.sizes[2:], steps, strict=True):
        span = (reach - 1) * gap + 1
        if is_forward:
            reached.append((size + before + after - span) // step + 1)
        else:
            reached.append((size - 1) * step + span - before - after)
    return reached


def integers(g: Builder, desc: OperatorDesc) -> None:
    """CONVOLUTION_INTEGER: padding is real zeros in both."""
    x, kernel = g.input("InputTensor"), g.input("FilterTensor")
    takes("ConvInteger", x, BYTES)
    takes("ConvInteger", kernel, BYTES)
    points = [_point(g, name) for name in ("InputZeroPointTensor", "FilterZeroPointTensor")]
    sizes = desc.parts["OutputTensor"][0].tensor.sizes
    g.output("OutputTensor", g.node("ConvInteger", [x, kernel, *points], sizes, "INT32", **_steps(desc, kernel)))


def _point(g: Builder, name: str) -> Value | None:
    point = optional(g, name)
    return None if point is None else flat(g, point)


def quantized(g: Builder, desc: OperatorDesc) -> None:
    """QUANTIZED_LINEAR_CONVOLUTION: QLinearConv wants every zero point."""
    kernel = g.input("FilterTensor")
    parts = [number for name in ("Input", "Filter") for number in _quantized(g, name, "QLinearConv")]
    inputs = [*parts, *_scale_and_point(g, "Output", desc)]
    bias = optional(g, "BiasTensor")
    if bias is not None:
        inputs.append(g.reshape(bias, (bias.sizes[1],)))
    output = desc.parts["OutputTensor"][0].tensor
    g.output("OutputTensor", g.node("QLinearConv", inputs, output.sizes, output.data_type, **_steps(desc, kernel)))


def _quantized(g: Builder, name: str, type: str) -> list[Value]:
    """Return a quantized tensor with its scale and its zero point, each a vector or without dimensions."""
    x = g.input(f"{name}Tensor")
    takes(type, x, BYTES)
    return [x, *_scale_and_point(g, name, g.desc)]


def _scale_and_point(g: Builder, name: str, desc: OperatorDesc) -> list[Value]:
    scale = flat(g, g.input(f"{name}ScaleTensor"))
    point = _point(g, f"{name}ZeroPointTensor")
    return [scale, scalar(g, 0, desc.parts[f"{name}Tensor"][0].tensor.data_type) if point is None else point]


def quantized_average(g: Builder, desc: OperatorDesc) -> None:
    """QUANTIZED_LINEAR_AVERAGE_POOLING: onnxruntime's own operator, of one scale, one type and no dilations."""
    x, scale, point = _quantized(g, "Input", "QLinearAveragePool")
    output = desc.parts["OutputTensor"][0].tensor
    onto = _scale_and_point(g, "Output", desc)
    shape = window(desc)
    if shape["dilations"] or output.data_type != x.data_type or any(each.sizes for each in (scale, point, *onto)):
        raise Inexpressible("QLinearAveragePool has one scale and zero point a tensor, one data type, and no dilations")
    attributes = {**shape, "count_include_pad": int(bool(desc.values["IncludePadding"]))}
    inputs = [x, scale, point, *onto]
    made = g.node("com.microsoft.QLinearAveragePool", inputs, output.sizes, x.data_type, **attributes)
    g.output("OutputTensor", made)


# ---- matrix products


def gemm(g: Builder, desc: OperatorDesc) -> None:
    """GEMM: one Gemm, a MatMul of all batches where that is all, or a Gemm for each batch."""
    a, b, c = g.input("ATensor"), g.input("BTensor"), optional(g, "CTensor")
    sizes = desc.parts["OutputTensor"][0].tensor.sizes
    alpha = field(desc.values["Alpha"])
    count = math.prod(sizes[:-2])
    if count == 1:
        made = _gemm(g, desc, [_matrices(g, x, ()) for x in (a, b, c)], sizes[-2:])
    elif c is None and scales_exactly(alpha) and fits(alpha, a.data_type):
        parts = [_turned(g, x, desc.values[name]) for x, name in ((a, "TransA"), (b, "TransB"))]
        made = times(g, g.node("MatMul", parts, sizes, a.data_type), alpha)
    elif count > _MOST_PRODUCTS:
        raise Inexpressible(f"MatMul has no Alpha and CTensor, and more than {_MOST_PRODUCTS} Gemm would be needed")
    else:
        stacks = [_batches(g, x, count) for x in (a, b, c)]
        products = [g.reshape(_gemm(g, desc, each, sizes[-2:]), (1, *sizes[-2:])) for each in zip(*stacks, strict=True)]
        made = g.node("Concat", products, (count, *sizes[-2:]), a.data_type, axis=0)
    g.output("OutputTensor", activated(g, g.reshape(made, sizes), desc))


def _gemm(g: Builder, desc: OperatorDesc, matrices: Sequence[Value | None], sizes: Sequence[int]) -> Value:
    a_turned, b_turned = (int(desc.values[name] == "TRANSPOSE") for name in ("TransA", "TransB"))
    return g.node(
        "Gemm",
        matrices,
        sizes,
        g.input("ATensor").data_type,
        alpha=field(desc.values["Alpha"]),
        beta=field(desc.values["Beta"]),
        transA=a_turned,
        transB=b_turned,
    )


def _matrices(g: Builder, x: Value | None, batches: tuple[int, ...]) -> Value | None:
    return None if x is None else g.reshape(x, (*batches, *x.sizes[-2:]))


def _batches(g: Builder, x: Value | None, count: int) -> Sequence[Value | None]:
    """Return the matrices of a tensor one by one."""
    stack = _matrices(g, x, (count,))
    if stack is None:
        return [None] * count
    sizes = (1, *stack.sizes[1:])
    parts = g.nodes_of("Split", [stack, g.constant([1] * count)], [(sizes, stack.data_type, None)] * count, axis=0)
    return [_matrices(g, part, ()) for part in parts]


def _turned(g: Builder, x: Value, transform: str) -> Value:
    rank = len(x.sizes)
    return g.transpose(x, [*range(rank - 2), rank - 1, rank - 2]) if transform == "TRANSPOSE" else x


def integer_product(g: Builder, desc: OperatorDesc) -> None:
    """MATRIX_MULTIPLY_INTEGER: a zero point for each row or column in as many dimensions as its matrix."""
    a, b = g.input("ATensor"), g.input("BTensor")
    takes("MatMulInteger", a, BYTES)
    takes("MatMulInteger", b, BYTES)
    points = [
        _spread(_point(g, f"{name}ZeroPointTensor"), x, axis, g) for name, x, axis in (("A", a, -2), ("B", b, -1))
    ]
    sizes = desc.parts["OutputTensor"][0].tensor.sizes
    g.output("OutputTensor", g.node("MatMulInteger", [a, b, *points], sizes, "INT32"))


def _spread(vector: Value | None, x: Value, axis: int, g: Builder) -> Value | None:
    """Return numbers of rows or columns as ONNX has them: a vector for a matrix, else for every batch the same."""
    if vector is None or not vector.sizes or len(x.sizes) == 2:
        return vector
    ones = (1,) * len(x.sizes)
    own = (*ones[:-2], vector.sizes[0], 1) if axis == -2 else (*ones[:-1], vector.sizes[0])
    return extended(g, g.reshape(vector, own), (*x.sizes[:-2], *own[-2:]))


def quantized_product(g: Builder, desc: OperatorDesc) -> None:
    """QUANTIZED_LINEAR_MATRIX_MULTIPLY: scale and zero point of one operand are of one shape in ONNX."""
    output = desc.parts["OutputTensor"][0].tensor
    inputs: list[Value | None] = []
    for name, axis in (("A", -2), ("B", -1)):
        x, *numbers = _quantized(g, name, "QLinearMatMul")
        inputs += [x, *(_spread(each, x, axis, g) for each in _alike(g, numbers))]
    result = Value("", output.data_type, output.sizes)
    inputs += [_spread(each, result, -2, g) for each in _alike(g, _scale_and_point(g, "Output", desc))]
    g.output("OutputTensor", g.node("QLinearMatMul", inputs, output.sizes, output.data_type))


def _alike(g: Builder, numbers: Sequence[Value]) -> list[Value]:
    """Return scale and zero point both as vectors where one is."""
    sizes = max((each.sizes for each in numbers), key=len)
    return [extended(g, each, sizes) for each in numbers]


def product_to_float(g: Builder, desc: OperatorDesc) -> None:
    """MATRIX_MULTIPLY_INTEGER_TO_FLOAT: onnxruntime's own operator, of one scale for all of A and a bias of columns."""
    bias = optional(g, "BiasTensor")
    (a, a_scale, a_point), (b, *columns) = (_quantized(g, name, "MatMulIntegerToFloat") for name in ("A", "B"))
    output = desc.parts["OutputTensor"][0].tensor
    if a_scale.sizes or a_point.sizes:
        raise Inexpressible("MatMulIntegerToFloat has one scale and zero point for all of ATensor")
    if bias is not None and math.prod(output.sizes[:-1]) > 1:
        raise Inexpressible("MatMulIntegerToFloat has the same bias for every row")
    b_scale, b_point = _alike(g, columns)
    if math.prod(b.sizes[:-2]) == 1:
        b = g.reshape(b, b.sizes[-2:])
    elif b_scale.sizes:
        raise Inexpressible("MatMulIntegerToFloat has scales of columns for a single BTensor only")
    if bias is not None:
        bias = g.reshape(bias, output.sizes[-1:])
    inputs = [a, b, a_scale, b_scale, a_point, b_point, bias]
    g.output("OutputTensor", g.node("com.microsoft.MatMulIntegerToFloat", inputs, output.sizes, output.data_type))


MAPPINGS: dict[str, Mapping] = {
    "CONVOLUTION": convolution,
    "CONVOLUTION_INTEGER": integers,
    "GEMM": gemm,
    "MATRIX_MULTIPLY_INTEGER": integer_product,
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": product_to_float,
    "QUANTIZED_LINEAR_AVERAGE_POOLING": quantized_average,
    "QUANTIZED_LINEAR_CONVOLUTION": quantized,
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": quantized_product,
}
