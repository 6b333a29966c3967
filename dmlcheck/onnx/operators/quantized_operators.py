"""Operators on quantized numbers, some of them onnxruntime's own: products, convolutions, sums, averages, ranges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused
from dmlcheck.onnx.descs.tensors import channels, channels_second, repeated, sized
from dmlcheck.onnx.operators.products_and_windows import batches, window

Shaped = Callable[[TensorRef], TensorRef]


def _of_rows(rank: int) -> Shaped:
    """Return what gives numbers of rows, or one number, as many dimensions as matrices have."""
    return lambda values: values.reshape((*(1,) * (rank - 2), -1, 1)) if values.ndim < 2 else values


def _of_columns(rank: int) -> Shaped:
    return lambda values: values.reshape((*(1,) * (rank - 1), -1)) if values.ndim < 2 else values


def _of_channels(rank: int) -> Shaped:
    return lambda values: channels(values, rank)


def _of_one(rank: int) -> Shaped:
    return lambda values: sized(values, (1,) * rank)


def _tensors(node: Node, *places: tuple[int, str, Shaped]) -> dict[str, TensorRef]:
    """Return the inputs that are there, by the field that each is."""
    given = ((name, shaped, node.optional(index)) for index, name, shaped in places)
    return {name: shaped(values) for name, shaped, values in given if values is not None}


def _matrices(node: Node, second: int) -> tuple[int, dict[str, TensorRef]]:
    """Return the rank of a product of matrices, and its tensors, batches of which repeat."""
    a, b, output = node.input(0), node.input(second), node.output()
    if min(a.ndim, b.ndim) < 2:
        raise Refused(f"{node.type} of a vector, where DirectML has matrices only")
    return output.ndim, batches(a, b, output)


def _product_of_integers(node: Node) -> Counterpart:
    rank, tensors = _matrices(node, 1)
    points = _tensors(node, (2, "AZeroPointTensor", _of_rows(rank)), (3, "BZeroPointTensor", _of_columns(rank)))
    return Counterpart("MATRIX_MULTIPLY_INTEGER", {**tensors, **points})


def _quantized_product(node: Node) -> Counterpart:
    rank, tensors = _matrices(node, 3)
    rows, columns = _of_rows(rank), _of_columns(rank)
    ways = (("A", 1, rows), ("B", 4, columns), ("Output", 6, rows))
    places = [(index, f"{name}ScaleTensor", shaped) for name, index, shaped in ways]
    places += [(index + 1, f"{name}ZeroPointTensor", shaped) for name, index, shaped in ways]
    return Counterpart("QUANTIZED_LINEAR_MATRIX_MULTIPLY", {**tensors, **_tensors(node, *places)})


def _convolution_of_integers(node: Node) -> Counterpart:
    x, weights = node.input(0), node.input(1)
    own = _of_channels(x.ndim)
    points = _tensors(node, (2, "InputZeroPointTensor", own), (3, "FilterZeroPointTensor", own))
    tensors = {"InputTensor": x, "FilterTensor": weights, **points, "OutputTensor": node.output()}
    fields = {**window(node, x, weights.shape[2:]), "GroupCount": node.get("group", 1)}
    return Counterpart("CONVOLUTION_INTEGER", {**tensors, **fields})


def _quantized_convolution(node: Node) -> Counterpart:
    x, weights = node.input(0), node.input(3)
    names = ("InputTensor", "InputScaleTensor", "InputZeroPointTensor", "FilterTensor", "FilterScaleTensor",
             "FilterZeroPointTensor", "OutputScaleTensor", "OutputZeroPointTensor", "BiasTensor")  # fmt: skip
    own = _of_channels(x.ndim)
    places = [(index, name, own) for index, name in enumerate(names) if index not in (0, 3)]
    tensors = {"InputTensor": x, "FilterTensor": weights, **_tensors(node, *places), "OutputTensor": node.output()}
    fields = {**window(node, x, weights.shape[2:]), "GroupCount": node.get("group", 1)}
    return Counterpart("QUANTIZED_LINEAR_CONVOLUTION", {**tensors, **fields})


def _by_range(node: Node) -> Counterpart:
    x = node.input(0)
    ones = (1,) * x.ndim
    outputs = {"OutputScaleTensor": sized(node.output(1), ones), "OutputZeroPointTensor": sized(node.output(2), ones)}
    return Counterpart("DYNAMIC_QUANTIZE_LINEAR", {**node.tensors(), **outputs})


def product_to_float(node: Node) -> Counterpart:
    """MATRIX_MULTIPLY_INTEGER_TO_FLOAT of two factors, their scales and zero points, and a bias."""
    rank, tensors = _matrices(node, 1)
    places = [
        (index, f"{name}{kind}Tensor", shaped)
        for first, kind in ((2, "Scale"), (4, "ZeroPoint"))
        for index, name, shaped in ((first, "A", _of_rows(rank)), (first + 1, "B", _of_columns(rank)))
    ]
    bias = node.optional(6)
    more = {} if bias is None else {"BiasTensor": repeated(bias, node.output().shape)}
    return Counterpart("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", {**tensors, **_tensors(node, *places), **more})


def _sum(node: Node) -> Counterpart:
    output = node.output()
    own = _of_one(output.ndim)
    names = ("AScaleTensor", "AZeroPointTensor", "", "BScaleTensor", "BZeroPointTensor", "OutputScaleTensor",
             "OutputZeroPointTensor")  # fmt: skip
    numbers = _tensors(node, *((index, name, own) for index, name in enumerate(names, start=1) if name))
    addends = {"ATensor": repeated(node.input(0), output.shape), "BTensor": repeated(node.input(3), output.shape)}
    return Counterpart("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", {**addends, **numbers, "OutputTensor": output})


def _average(node: Node, *, is_global: bool = False) -> Counterpart:
    """QUANTIZED_LINEAR_AVERAGE_POOLING; channels that are last are read and written through strides."""
    tensors = node.tensors()
    moved = {name: channels_second(x) for name, x in tensors.items()} if node.whole("channels_last", 0) else {}
    x = moved["InputTensor"] if moved else tensors["InputTensor"]
    sizes = list(x.shape[2:]) if is_global else list(node.get("kernel_shape") or [])
    names = ("InputScaleTensor", "InputZeroPointTensor", "OutputScaleTensor", "OutputZeroPointTensor")
    numbers = _tensors(node, *((index, name, _of_one(x.ndim)) for index, name in enumerate(names, start=1)))
    plain = node._replace(attributes={}) if is_global else node
    fields = {"WindowSize": sizes, **window(plain, x, sizes), "IncludePadding": node.get("count_include_pad", 0)}
    return Counterpart("QUANTIZED_LINEAR_AVERAGE_POOLING", {**tensors, **moved, **numbers, **fields})


OPERATORS: dict[str, Maker] = {
    "ConvInteger": _convolution_of_integers,
    "DynamicQuantizeLinear": _by_range,
    "MatMulInteger": _product_of_integers,
    "QLinearConv": _quantized_convolution,
    "QLinearMatMul": _quantized_product,
    "com.microsoft.MatMulIntegerToFloat": product_to_float,
    "com.microsoft.QLinearAdd": _sum,
    "com.microsoft.QLinearAveragePool": _average,
    "com.microsoft.QLinearGlobalAveragePool": partial(_average, is_global=True),
}
