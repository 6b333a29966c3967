"""The operators of ONNX that DirectML has exactly: for each, what makes its desc of a node.

`OPERATORS` is by ONNX's name. What a mapping gives is checked against DirectML's tables afterwards, so mappings look at
what those cannot see only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.formats.onnx.node import (
    Array,
    Laid,
    Mapped,
    Node,
    Refused,
    along,
    axes_of,
    axis_of,
    number,
    permuted,
    ranked,
    repeated,
    sized,
    type_name,
)

Maker = Callable[[Node], Mapped]


# ---- reductions


def _reduce(function: str, node: Node) -> Mapped:
    """REDUCE: no axes mean all of them, or with noop_with_empty_axes none."""
    x = np.atleast_1d(node.input(0))
    axes = axes_of(node.numbers("axes", 1) or [], x.ndim)
    if not axes and not node.get("noop_with_empty_axes"):
        axes = list(range(x.ndim))
    elif not axes and function not in ("SUM", "AVERAGE", "MULTIPLY", "MIN", "MAX"):
        raise Refused(f"{node.type} of no axes, of which versions of ONNX say different things")
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    tensors = {"InputTensor": x, "OutputTensor": sized(node.output(), sizes)}
    return Mapped("REDUCE", {"Function": function, **tensors, "Axes": axes})


def _index(operator: str, node: Node) -> Mapped:
    """ARGMAX and ARGMIN: the last of equal elements is what DECREASING gives."""
    x = np.atleast_1d(node.input(0))
    axis = axis_of(node.get("axis", 0), x.ndim)
    sizes = [1 if place == axis else size for place, size in enumerate(x.shape)]
    direction = "DECREASING" if node.get("select_last_index", 0) else "INCREASING"
    tensors = {"InputTensor": x, "OutputTensor": sized(node.output(), sizes)}
    return Mapped(operator, {**tensors, "Axes": [axis], "AxisDirection": direction})


def _grouped(operator: str, node: Node) -> Mapped:
    """HARDMAX1, SOFTMAX1, LOG_SOFTMAX1: before opset 13 the axis starts a group that goes to the last one."""
    x = np.atleast_1d(node.input(0))
    axis = axis_of(node.get("axis", -1 if node.opset >= 13 else 1), x.ndim)
    axes = [axis] if node.opset >= 13 else list(range(axis, x.ndim))
    return Mapped(operator, {"InputTensor": x, "OutputTensor": node.output(), "Axes": axes})


# ---- element by element


def _unary(operator: str, node: Node) -> Mapped:
    return Mapped(operator, {"InputTensor": node.input(0), "OutputTensor": node.output()})


def _with(operator: str, attributes: Mapping[str, str], node: Node, **constants: Any) -> Mapped:
    """Map an operator whose fields are attributes, or the same for all nodes."""
    fields = {field: number(node.get(name)) for field, name in attributes.items()}
    return Mapped(operator, {**_unary(operator, node).fields, **fields, **constants})


def _binary(operator: str, node: Node) -> Mapped:
    if len(node.inputs) != 2:
        raise Refused(f"{node.type} of {len(node.inputs)} inputs, where DirectML's has 2")
    output = node.output()
    tensors = {f"{name}Tensor": repeated(node.input(index), output.shape) for index, name in enumerate("AB")}
    return Mapped(operator, {**tensors, "OutputTensor": output})


def _modulus(node: Node) -> Mapped:
    operator = "MODULUS_TRUNCATE" if node.get("fmod", 0) else "MODULUS_FLOOR"
    return _binary(f"ELEMENT_WISE_{operator}", node)


def _shift(node: Node) -> Mapped:
    return _binary(f"ELEMENT_WISE_BIT_SHIFT_{node.get('direction')}", node)


def _power(node: Node) -> Mapped:
    output = node.output()
    names = ("InputTensor", "ExponentTensor")
    tensors = {name: repeated(node.input(index), output.shape) for index, name in enumerate(names)}
    return Mapped("ELEMENT_WISE_POW", {**tensors, "OutputTensor": output})


def _choice(node: Node) -> Mapped:
    output = node.output()
    names = ("ConditionTensor", "ATensor", "BTensor")
    tensors = {name: repeated(node.input(index), output.shape) for index, name in enumerate(names)}
    return Mapped("ELEMENT_WISE_IF", {**tensors, "OutputTensor": output})


def _clip(node: Node) -> Mapped:
    """CLIP1; CLIP where Min is above Max, since there both give Max."""
    x = node.input(0)
    info = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
    limits = []
    for index, (name, default) in enumerate((("min", info.min), ("max", info.max)), start=1):
        given = node.optional(index)
        value = node.get(name, default) if given is None else given.reshape(-1)[0]
        limits.append(number(value, x.dtype))
    tensors = {"InputTensor": x, "OutputTensor": node.output()}
    if limits[0] > limits[1]:
        return Mapped("ELEMENT_WISE_CLIP", {**tensors, "Min": limits[0], "Max": limits[1]})
    fields = {"MinMaxDataType": type_name(x), "Min": limits[0], "Max": limits[1]}
    return Mapped("ELEMENT_WISE_CLIP1", {**tensors, **fields})


def _infinity(node: Node) -> Mapped:
    modes = {(1, 1): "EITHER", (1, 0): "NEGATIVE", (0, 1): "POSITIVE"}
    mode = modes.get((node.get("detect_negative", 1), node.get("detect_positive", 1)))
    if mode is None:
        raise Refused("IsInf that finds neither infinity")
    return Mapped("ELEMENT_WISE_IS_INFINITY", {**_unary("", node).fields, "InfinityMode": mode})


def _cast(node: Node) -> Mapped:
    """CAST; truth values are 0 and 1 as numbers, but no number becomes a truth value."""
    if node.output().dtype == bool and node.input(0).dtype != bool:
        raise Refused("Cast to BOOL, which asks whether a number is not 0")
    return _unary("CAST", node)


def _quantize(operator: str, node: Node) -> Mapped:
    """QUANTIZE_LINEAR and DEQUANTIZE_LINEAR: scales and zero points repeat to the input's sizes."""
    x = np.atleast_1d(node.input(0))
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    fields: dict[str, Any] = {"InputTensor": x}
    for index, name in ((1, "ScaleTensor"), (2, "ZeroPointTensor")):
        values = node.optional(index)
        if values is None:
            continue
        if block:
            place = axis_of(axis, x.ndim)
            blocks = np.repeat(values, min(block, x.shape[place]), place)
            fields[name] = blocks[(slice(None),) * place + (slice(x.shape[place]),)]
        else:
            fields[name] = along(values, axis, x.shape)
    return Mapped(operator, {**fields, "OutputTensor": node.output()})


def _slope(node: Node) -> Mapped:
    x = node.input(0)
    tensors = {"InputTensor": x, "SlopeTensor": repeated(node.input(1), x.shape), "OutputTensor": node.output()}
    return Mapped("ACTIVATION_PARAMETERIZED_RELU", tensors)


def _gelu(node: Node) -> Mapped:
    if node.get("approximate", "none") != "none":
        raise Refused("Gelu by the tanh of a polynomial")
    return _unary("ACTIVATION_GELU", node)


# ---- moved elements


def _identity(values: Array | Laid, node: Node) -> Mapped:
    """ELEMENT_WISE_IDENTITY that reads through strides."""
    return Mapped("ELEMENT_WISE_IDENTITY", {"InputTensor": values, "OutputTensor": node.output()})


def _expand(node: Node) -> Mapped:
    return _identity(repeated(node.input(0), node.output().shape), node)


def _transpose(node: Node) -> Mapped:
    x = node.input(0)
    return _identity(permuted(x, node.get("perm") or range(x.ndim)[::-1]), node)


def _concat(node: Node) -> Mapped:
    parts = [node.input(index) for index in range(len(node.inputs))]
    axis = axis_of(node.get("axis", 1), parts[0].ndim)
    return Mapped("JOIN", {"InputTensors": parts, "OutputTensor": node.output(), "Axis": axis})


def _split(node: Node) -> Mapped:
    x = node.input(0)
    parts = [node.output(index) for index in range(len(node.outputs))]
    return Mapped("SPLIT", {"InputTensor": x, "OutputTensors": parts, "Axis": axis_of(node.get("axis", 0), x.ndim)})


def _slice(node: Node) -> Mapped:
    """SLICE1: a window from the lowest to the highest element that is taken, walked up or down."""
    x = node.input(0)
    starts, ends = node.numbers("starts", 1) or [], node.numbers("ends", 2) or []
    axes = node.numbers("axes", 3) or list(range(len(starts)))
    steps = node.numbers("steps", 4) or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise Refused("Slice whose starts, ends, axes and steps do not go together")
    offsets, sizes, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    for start, end, given, step in zip(starts, ends, axes, steps, strict=True):
        axis = axis_of(given, x.ndim)
        taken = range(x.shape[axis])[start:end:step]
        if not taken:
            raise Refused("Slice that takes no element")
        offsets[axis], strides[axis] = min(taken), taken.step
        sizes[axis] = max(taken) - min(taken) + 1
    windows = {"InputWindowOffsets": offsets, "InputWindowSizes": sizes, "InputWindowStrides": strides}
    return Mapped("SLICE1", {"InputTensor": x, "OutputTensor": node.output(), **windows})


_PADDING = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION", "wrap": "WRAP"}


def _pad(node: Node) -> Mapped:
    x = node.input(0)
    pads = node.numbers("pads", 1) or []
    axes = [axis_of(axis, x.ndim) for axis in node.numbers("axes", 3) or range(x.ndim)]
    mode = node.get("mode", "constant")
    if len(pads) != 2 * len(axes) or mode not in _PADDING:
        raise Refused(f"Pad of mode {mode} whose pads are {pads}")
    if min(pads, default=0) < 0:
        raise Refused("Pad that cuts elements off")
    start, end = [0] * x.ndim, [0] * x.ndim
    for index, axis in enumerate(axes):
        start[axis], end[axis] = pads[index], pads[index + len(axes)]
    given = node.optional(2)
    value = node.get("value", 0) if given is None else given.reshape(-1)[0]
    fields = {"PaddingValueDataType": type_name(x), "PaddingValue": number(value, x.dtype)}
    ends = {"StartPadding": start, "EndPadding": end}
    tensors = {"InputTensor": x, "OutputTensor": node.output()}
    return Mapped("PADDING1", {**tensors, "PaddingMode": _PADDING[mode], **fields, **ends})


def _tile(node: Node) -> Mapped:
    return Mapped("TILE", {**_unary("", node).fields, "Repeats": node.numbers("repeats", 1)})


def _blocks(operator: str, node: Node) -> Mapped:
    orders = {"DCR": "DEPTH_COLUMN_ROW", "CRD": "COLUMN_ROW_DEPTH"}
    order = orders.get(node.get("mode", "DCR"))
    return Mapped(operator, {**_unary("", node).fields, "BlockSize": node.get("blocksize"), "Order": order})


# ---- elements by their indices


def _of_one_rank(fields: Mapping[str, Array], least: int = 1) -> dict[str, Array]:
    """Return tensors with leading dimensions of size 1 up to the largest number of dimensions."""
    rank = max(least, *(values.ndim for values in fields.values()))
    return {name: ranked(values, rank) for name, values in fields.items()}


def _gather(node: Node) -> Mapped:
    x, indices = node.input(0), node.input(1)
    tensors = _of_one_rank({"InputTensor": x, "IndicesTensor": indices, "OutputTensor": node.output()})
    axis = axis_of(node.get("axis", 0), x.ndim) + tensors["InputTensor"].ndim - x.ndim
    return Mapped("GATHER", {**tensors, "Axis": axis, "IndexDimensions": indices.ndim})


def _gather_elements(node: Node) -> Mapped:
    x = node.input(0)
    tensors = {"InputTensor": x, "IndicesTensor": node.input(1), "OutputTensor": node.output()}
    return Mapped("GATHER_ELEMENTS", {**tensors, "Axis": axis_of(node.get("axis", 0), x.ndim)})


def _gather_nd(node: Node) -> Mapped:
    x, indices = node.input(0), node.input(1)
    tensors = _of_one_rank({"InputTensor": x, "IndicesTensor": indices, "OutputTensor": node.output()})
    counts = {"InputDimensionCount": x.ndim, "IndicesDimensionCount": indices.ndim}
    return Mapped("GATHER_ND1", {**tensors, **counts, "BatchDimensionCount": node.get("batch_dims", 0)})


def _plain_scatter(node: Node) -> dict[str, Array]:
    if node.get("reduction", "none") != "none":
        raise Refused(f"{node.type} that combines updates with elements by {node.get('reduction')}")
    names = ("InputTensor", "IndicesTensor", "UpdatesTensor")
    return {**{name: node.input(index) for index, name in enumerate(names)}, "OutputTensor": node.output()}


def _scatter(node: Node) -> Mapped:
    tensors = _plain_scatter(node)
    return Mapped("SCATTER", {**tensors, "Axis": axis_of(node.get("axis", 0), node.input(0).ndim)})


def _scatter_nd(node: Node) -> Mapped:
    counts = {"InputDimensionCount": node.input(0).ndim, "IndicesDimensionCount": node.input(1).ndim}
    return Mapped("SCATTER_ND", {**_of_one_rank(_plain_scatter(node)), **counts})


def _one_hot(node: Node) -> Mapped:
    output = node.output()
    axis = axis_of(node.get("axis", -1), output.ndim)
    sizes = [1 if place == axis else size for place, size in enumerate(output.shape)]
    tensors = {
        "IndicesTensor": sized(node.input(0), sizes),
        "ValuesTensor": ranked(node.input(2), output.ndim),
        "OutputTensor": output,
    }
    return Mapped("ONE_HOT", {**tensors, "Axis": axis})


def _top(node: Node) -> Mapped:
    x = node.input(0)
    if not node.get("sorted", 1):
        raise Refused("TopK in any order")
    axis = axis_of(node.get("axis", -1), x.ndim)
    tensors = {"InputTensor": x, "OutputValueTensor": node.output(0), "OutputIndexTensor": _unsigned(node.output(1))}
    count = (node.numbers("k", 1) or [0])[0]
    direction = "DECREASING" if node.get("largest", 1) else "INCREASING"
    return Mapped("TOP_K1", {**tensors, "Axis": axis, "K": count, "AxisDirection": direction})


def _unsigned(indices: Array) -> Array:
    """Return indices, none of them negative, as the type that DirectML has for them."""
    return indices.astype(np.uint64)


def _reversed(node: Node) -> Mapped:
    x = node.input(0)
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)
    sizes = [1 if axis == time else size for axis, size in enumerate(x.shape)]
    tensors = {"InputTensor": x, "SequenceLengthsTensor": along(node.input(1), batch, sizes)}
    return Mapped("REVERSE_SUBSEQUENCES", {**tensors, "OutputTensor": node.output(), "Axis": axis_of(time, x.ndim)})


def _running(operator: str, exclusive: str, node: Node) -> Mapped:
    axis = axis_of((node.numbers("axis", 1) or [0])[0], node.input(0).ndim)
    direction = "DECREASING" if node.get("reverse", 0) else "INCREASING"
    fields = {"Axis": axis, "AxisDirection": direction, exclusive: node.get("exclusive", 0)}
    return Mapped(operator, {**_unary("", node).fields, **fields})


# ---- products and windows


def _gemm(node: Node) -> Mapped:
    output = node.output()
    fields: dict[str, Any] = {"ATensor": node.input(0), "BTensor": node.input(1)}
    c = node.optional(2)
    if c is not None:
        fields["CTensor"] = repeated(c, output.shape)
    sides = {f"Trans{side}": "TRANSPOSE" if node.get(f"trans{side}", 0) else "NONE" for side in "AB"}
    factors = {"Alpha": number(node.get("alpha", 1.0)), "Beta": number(node.get("beta", 1.0))}
    return Mapped("GEMM", {**fields, "OutputTensor": output, **sides, **factors})


def _matmul(node: Node) -> Mapped:
    """GEMM of batches, which repeat where one side has less of them."""
    a, b, output = node.input(0), node.input(1), node.output()
    if min(a.ndim, b.ndim) < 2:
        raise Refused("MatMul of a vector, where DirectML has matrices only")
    batch = output.shape[:-2]
    tensors = {"ATensor": repeated(a, (*batch, *a.shape[-2:])), "BTensor": repeated(b, (*batch, *b.shape[-2:]))}
    fields = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0}
    return Mapped("GEMM", {**tensors, "OutputTensor": output, **fields})


def _window(node: Node, x: Array, sizes: Sequence[int]) -> dict[str, list[int]]:
    """Return the steps and the padding of a window over the dimensions after batch and channels."""
    count = len(sizes)
    strides, dilations = node.get("strides") or [1] * count, node.get("dilations") or [1] * count
    pads = node.get("pads") or [0] * (2 * count)
    start, end = list(pads[:count]), list(pads[count:])
    auto = node.get("auto_pad", "NOTSET")
    if x.ndim != count + 2 or len(pads) != 2 * count or not len(strides) == len(dilations) == count:
        raise Refused(f"{node.type} whose attributes are not for {x.ndim} dimensions")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        for axis in range(count):
            places = -(-x.shape[axis + 2] // strides[axis])
            reach = (places - 1) * strides[axis] + (sizes[axis] - 1) * dilations[axis] + 1
            total = max(0, reach - x.shape[axis + 2])
            less = total // 2
            start[axis], end[axis] = (less, total - less) if auto == "SAME_UPPER" else (total - less, less)
    elif auto == "VALID":
        start, end = [0] * count, [0] * count
    return {"Strides": strides, "Dilations": dilations, "StartPadding": start, "EndPadding": end}


def _channels(values: Array, rank: int) -> Array:
    """Return a vector of channels as a tensor of a rank, its dimension 1."""
    return values.reshape((1, -1) + (1,) * (rank - 2))


def _convolution(direction: str, node: Node) -> Mapped:
    x, weights = node.input(0), node.input(1)
    if direction == "BACKWARD" and (node.get("output_shape") or node.get("auto_pad", "NOTSET") != "NOTSET"):
        raise Refused("ConvTranspose whose padding follows from its output")
    tensors = {"InputTensor": x, "FilterTensor": weights}
    bias = node.optional(2)
    if bias is not None:
        tensors["BiasTensor"] = _channels(bias, x.ndim)
    fields = _window(node, x, weights.shape[2:])
    more = {"OutputPadding": node.get("output_padding") or [0] * (x.ndim - 2), "GroupCount": node.get("group", 1)}
    kind = {"Mode": "CROSS_CORRELATION", "Direction": direction}
    return Mapped("CONVOLUTION", {**tensors, "OutputTensor": node.output(), **kind, **fields, **more})


def _pool(operator: str, node: Node, *, is_global: bool = False) -> Mapped:
    """Pooling; a size that is rounded up has no counterpart unless it rounds to the same."""
    x = node.input(0)
    sizes = list(x.shape[2:]) if is_global else list(node.get("kernel_shape"))
    fields: dict[str, Any] = {**_unary("", node).fields, "WindowSize": sizes, **_window(node, x, sizes)}
    if operator == "AVERAGE_POOLING1":
        fields["IncludePadding"] = node.get("count_include_pad", 0)
    elif operator == "LP_POOLING1":
        fields["P"] = node.get("p", 2)
    elif len(node.outputs) > 1 and node.outputs[1] is not None:
        if node.get("storage_order", 0):
            raise Refused("MaxPool that counts columns first")
        fields["OutputIndicesTensor"] = _unsigned(node.output(1))
    return Mapped(operator, fields)


# ---- normalizations


def _batch_normalization(node: Node) -> Mapped:
    x = node.input(0)
    if node.get("training_mode", 0):
        raise Refused("BatchNormalization in training, with its running mean and variance")
    names = ("ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor")
    tensors = {name: _channels(node.input(index), x.ndim) for index, name in enumerate(names, start=1)}
    fields = {"InputTensor": x, **tensors, "OutputTensor": node.output(), "Spatial": 1}
    return Mapped("BATCH_NORMALIZATION", {**fields, "Epsilon": number(node.get("epsilon", 1e-5))})


def _instances(node: Node) -> Mapped:
    x = node.input(0)
    tensors = {name: _channels(node.input(index), x.ndim) for index, name in ((1, "ScaleTensor"), (2, "BiasTensor"))}
    fields = {"Axes": list(range(2, x.ndim)), "NormalizeVariance": 1, "Epsilon": number(node.get("epsilon", 1e-5))}
    return Mapped("MEAN_VARIANCE_NORMALIZATION1", {**_unary("", node).fields, **tensors, **fields})


def _local_response(node: Node) -> Mapped:
    numbers = {name: number(node.get(name.lower())) for name in ("Alpha", "Beta", "Bias")}
    fields = {"CrossChannel": 1, "LocalSize": node.get("size"), **numbers}
    return Mapped("LOCAL_RESPONSE_NORMALIZATION", {**_unary("", node).fields, **fields})


def _norm(node: Node) -> Mapped:
    fields = {"Axis": axis_of(node.get("axis", -1), node.input(0).ndim), "Epsilon": 0, "P": node.get("p", 2)}
    return Mapped("LP_NORMALIZATION", {**_unary("", node).fields, **fields})


# ---- the table

_REDUCE = {
    "ReduceL1": "L1",
    "ReduceL2": "L2",
    "ReduceLogSum": "LOG_SUM",
    "ReduceLogSumExp": "LOG_SUM_EXP",
    "ReduceMax": "MAX",
    "ReduceMean": "AVERAGE",
    "ReduceMin": "MIN",
    "ReduceProd": "MULTIPLY",
    "ReduceSum": "SUM",
    "ReduceSumSquare": "SUM_SQUARE",
}
_SAME_NAMES = """
    Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Identity Log Sign Sin Sinh Sqrt Tan
"""
_UNARY = {
    **{name: name.upper() for name in _SAME_NAMES.split()},
    "BitwiseNot": "BIT_NOT",
    "IsNaN": "IS_NAN",
    "Neg": "NEGATE",
    "Not": "LOGICAL_NOT",
    "Reciprocal": "RECIP",
}
_BINARY = {
    "Add": "ADD",
    "And": "LOGICAL_AND",
    "BitwiseAnd": "BIT_AND",
    "BitwiseOr": "BIT_OR",
    "BitwiseXor": "BIT_XOR",
    "Div": "DIVIDE",
    "Equal": "LOGICAL_EQUALS",
    "Greater": "LOGICAL_GREATER_THAN",
    "GreaterOrEqual": "LOGICAL_GREATER_THAN_OR_EQUAL",
    "Less": "LOGICAL_LESS_THAN",
    "LessOrEqual": "LOGICAL_LESS_THAN_OR_EQUAL",
    "Max": "MAX",
    "Mean": "MEAN",
    "Min": "MIN",
    "Mul": "MULTIPLY",
    "Or": "LOGICAL_OR",
    "Sub": "SUBTRACT",
    "Sum": "ADD",
    "Xor": "LOGICAL_XOR",
}
# The fields of activations and the attributes that they are; what is not an attribute follows.
_ACTIVATION: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "Celu": ("CELU", {"Alpha": "alpha"}, {}),
    "Elu": ("ELU", {"Alpha": "alpha"}, {}),
    "HardSigmoid": ("HARD_SIGMOID", {"Alpha": "alpha", "Beta": "beta"}, {}),
    "HardSwish": ("HARD_SWISH", {}, {"Alpha": number(1 / 6), "Beta": 0.5}),
    "LeakyRelu": ("LEAKY_RELU", {"Alpha": "alpha"}, {}),
    "Relu": ("RELU", {}, {}),
    "Selu": ("SCALED_ELU", {"Alpha": "alpha", "Gamma": "gamma"}, {}),
    "Shrink": ("SHRINK", {"Bias": "bias", "Threshold": "lambd"}, {}),
    "Sigmoid": ("SIGMOID", {}, {}),
    "Softplus": ("SOFTPLUS", {}, {"Steepness": 1}),
    "Softsign": ("SOFTSIGN", {}, {}),
    "Swish": ("SWISH", {"SigmoidInputScale": "alpha"}, {}),
    "Tanh": ("TANH", {}, {}),
    "ThresholdedRelu": ("THRESHOLDED_RELU", {"Alpha": "alpha"}, {}),
}

OPERATORS: dict[str, Maker] = {
    **{name: partial(_reduce, function) for name, function in _REDUCE.items()},
    **{name: partial(_unary, f"ELEMENT_WISE_{own}") for name, own in _UNARY.items()},
    **{name: partial(_binary, f"ELEMENT_WISE_{own}") for name, own in _BINARY.items()},
    **{
        name: partial(_with, f"ACTIVATION_{own}", attributes, **constants)
        for name, (own, attributes, constants) in _ACTIVATION.items()
    },
    "ArgMax": partial(_index, "ARGMAX"),
    "ArgMin": partial(_index, "ARGMIN"),
    "AveragePool": partial(_pool, "AVERAGE_POOLING1"),
    "BatchNormalization": _batch_normalization,
    "BitShift": _shift,
    "Cast": _cast,
    "CastLike": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Conv": partial(_convolution, "FORWARD"),
    "ConvTranspose": partial(_convolution, "BACKWARD"),
    "CumProd": partial(_running, "CUMULATIVE_PRODUCT", "HasExclusiveProduct"),
    "CumSum": partial(_running, "CUMULATIVE_SUMMATION", "HasExclusiveSum"),
    "DepthToSpace": partial(_blocks, "DEPTH_TO_SPACE1"),
    "DequantizeLinear": partial(_quantize, "ELEMENT_WISE_DEQUANTIZE_LINEAR"),
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Gelu": _gelu,
    "Gemm": _gemm,
    "GlobalAveragePool": partial(_pool, "AVERAGE_POOLING1", is_global=True),
    "GlobalMaxPool": partial(_pool, "MAX_POOLING2", is_global=True),
    "Hardmax": partial(_grouped, "ACTIVATION_HARDMAX1"),
    "InstanceNormalization": _instances,
    "IsInf": _infinity,
    "LRN": _local_response,
    "LogSoftmax": partial(_grouped, "ACTIVATION_LOG_SOFTMAX1"),
    "LpNormalization": _norm,
    "LpPool": partial(_pool, "LP_POOLING1"),
    "MatMul": _matmul,
    "MaxPool": partial(_pool, "MAX_POOLING2"),
    "Mod": _modulus,
    "OneHot": _one_hot,
    "PRelu": _slope,
    "Pad": _pad,
    "Pow": _power,
    "QuantizeLinear": partial(_quantize, "ELEMENT_WISE_QUANTIZE_LINEAR"),
    "ReverseSequence": _reversed,
    "Round": partial(_with, "ELEMENT_WISE_ROUND", {}, RoundingMode="HALVES_TO_NEAREST_EVEN"),
    "Scatter": _scatter,
    "ScatterElements": _scatter,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
    "Softmax": partial(_grouped, "ACTIVATION_SOFTMAX1"),
    "SpaceToDepth": partial(_blocks, "SPACE_TO_DEPTH1"),
    "Split": _split,
    "Tile": _tile,
    "TopK": _top,
    "Transpose": _transpose,
    "Where": _choice,
}
_SEVERAL_OUTPUTS = ("MaxPool", "Split", "TopK")


def mapped(node: Node) -> Mapped:
    """Return the operator of DirectML for a node, with its fields; Refused where it has none."""
    make = OPERATORS.get(node.type)
    if make is None:
        raise Refused(f"{node.type} is not one of the operators that are imported")
    if node.type not in _SEVERAL_OUTPUTS:
        node.only_outputs(1)
    return make(node)
