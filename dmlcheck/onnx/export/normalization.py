"""Normalizations: by given or computed mean and variance, by neighbours, by a norm."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.activation import fused
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import as_float32


def batch(g: Builder, desc: OperatorDesc) -> None:
    """BATCH_NORMALIZATION: the dimensions that its tensors tell apart are ONNX's channels."""
    x = g.input("InputTensor")
    tensors = [g.input(f"{name}Tensor") for name in ("Scale", "Bias", "Mean", "Variance")]
    order = _by_channels(x, tensors)
    rows, parts = _channels(g, x, tensors, order)
    epsilon = as_float32(desc.values["Epsilon"])
    made = g.node("BatchNormalization", [rows, *parts], rows.sizes, x.data_type, epsilon=epsilon)
    g.output("OutputTensor", fused(g, _back(g, made, x, order), desc))


def batch_training(g: Builder, desc: OperatorDesc) -> None:
    """BATCH_NORMALIZATION_TRAINING: with a momentum of 0 the running statistics are the input's own."""
    if g.has("FusedAddTensor"):
        raise Inexpressible("the normalized values would be rounded before FusedAddTensor is added")
    x = g.input("InputTensor")
    tensors = [g.input(f"{name}Tensor") for name in ("Scale", "Bias")]
    order = _by_channels(x, tensors)
    rows, parts = _channels(g, x, tensors, order)
    count = rows.sizes[1]
    unused = [g.fill((count,), 0, x.data_type) for _ in range(2)]  # onnxruntime writes its results over these
    made, mean, variance = g.nodes_of(
        "BatchNormalization",
        [rows, *parts, *unused],
        [(sizes, x.data_type, None) for sizes in (rows.sizes, (count,), (count,))],
        epsilon=as_float32(desc.values["Epsilon"]),
        momentum=0.0,
        training_mode=1,
    )
    g.output("OutputTensor", fused(g, _back(g, made, x, order), desc))
    g.output("OutputMeanTensor", mean)
    g.output("OutputVarianceTensor", variance)


def _by_channels(x: GraphValue, tensors: Sequence[GraphValue]) -> list[int]:
    """Return the axes of a value from the first to the last in which some tensor has a size other than 1."""
    own = [axis for axis in range(len(x.sizes)) if any(each.sizes[axis] > 1 for each in tensors)]
    return [*(axis for axis in range(len(x.sizes)) if axis not in own), *own]


def _channels(
    g: Builder, x: GraphValue, tensors: Sequence[GraphValue], order: Sequence[int]
) -> tuple[GraphValue, list[GraphValue]]:
    full = _channel_sizes(x, tensors)
    count = math.prod(full)
    rows = g.reshape(g.transpose(x, order), (math.prod(x.sizes) // count, count))
    return rows, [g.reshape(g.expand(each, full), (count,)) for each in tensors]


def _channel_sizes(x: GraphValue, tensors: Sequence[GraphValue]) -> list[int]:
    """Return the sizes that tensors have together, 1 along each axis that none of them follows."""
    return [max([1, *(each.sizes[axis] for each in tensors)]) for axis in range(len(x.sizes))]


def _back(g: Builder, made: GraphValue, x: GraphValue, order: Sequence[int]) -> GraphValue:
    """Return a value that was transposed and reshaped in its first shape."""
    moved = g.reshape(made, [x.sizes[axis] for axis in order])
    return g.transpose(moved, [order.index(axis) for axis in range(len(order))])


def mean_variance(g: Builder, desc: OperatorDesc) -> None:
    """MEAN_VARIANCE_NORMALIZATION to ...2: over an instance, a layer or a group, by the axes of Scale and Bias."""
    x = g.input("InputTensor")
    axes = _axes(desc)
    if not axes:
        raise Inexpressible("Axes is empty")
    others = [axis for axis in range(len(x.sizes)) if axis not in axes]
    pair = [g.optional(name) for name in ("ScaleTensor", "BiasTensor")]
    if not desc.values.get("NormalizeVariance", desc.values.get("UseVariance")):
        made = _centred(g, desc, x, pair, axes)
    elif not desc.values.get("UseMean", 1):
        made = _by_size(g, desc, x, pair, axes)
    elif _is_1_along(pair, axes):
        made = _instances(g, desc, x, pair, axes)
    elif _is_1_along(pair, others):
        made = _of_rows(g, "LayerNormalization", desc, x, list(zip(pair, (1, 0), strict=True)), axes)
    else:
        made = _groups(g, desc, x, pair, axes)
    g.output("OutputTensor", fused(g, made, desc))


def _axes(desc: OperatorDesc) -> list[int]:
    if "CrossChannel" in desc.values:
        return [1, 2, 3] if desc.values["CrossChannel"] else [2, 3]
    return sorted(desc.values["Axes"])


def _is_1_along(tensors: Sequence[GraphValue | None], axes: Sequence[int]) -> bool:
    """Whether tensors that are there have size 1 along some axes."""
    return all(each.sizes[axis] == 1 for each in tensors if each is not None for axis in axes)


def _instances(
    g: Builder, desc: OperatorDesc, x: GraphValue, pair: Sequence[GraphValue | None], axes: Sequence[int]
) -> GraphValue:
    """Normalize each row of elements separately, with a scale and a bias for its channel."""
    given = [each for each in pair if each is not None]
    order = [*(axis for axis in _by_channels(x, given) if axis not in axes), *axes]
    full = _channel_sizes(x, given)
    channels, length = math.prod(full), math.prod(x.sizes[axis] for axis in axes)
    rows = g.reshape(g.transpose(x, order), (math.prod(x.sizes) // channels // length, channels, length))
    parts = [_vector(g, each, full, start, x.data_type) for each, start in zip(pair, (1, 0), strict=True)]
    epsilon = as_float32(desc.values["Epsilon"])
    made = g.node("InstanceNormalization", [rows, *parts], rows.sizes, x.data_type, epsilon=epsilon)
    return _back(g, made, x, order)


def _centred(
    g: Builder, desc: OperatorDesc, x: GraphValue, pair: Sequence[GraphValue | None], axes: Sequence[int]
) -> GraphValue:
    """Subtract only the mean, then scale and add, all in FLOAT64: the result is rounded once."""
    if not desc.values.get("UseMean", 1):
        raise Inexpressible("neither mean nor variance is used")
    wide, *parameters = (each if each is None else g.cast(each, "FLOAT64") for each in (x, *pair))
    means = [1 if axis in axes else size for axis, size in enumerate(x.sizes)]
    g.at_least(18)  # axes are an input from there on
    mean = g.node("ReduceMean", [wide, g.constant(axes)], means, "FLOAT64", keepdims=1)
    made = g.node("Sub", [wide, mean], x.sizes, "FLOAT64")
    for name, each in zip(("Mul", "Add"), parameters, strict=True):
        if each is not None:
            made = g.node(name, [made, each], x.sizes, "FLOAT64")
    return g.cast(made, x.data_type)


def _by_size(
    g: Builder, desc: OperatorDesc, x: GraphValue, pair: Sequence[GraphValue | None], axes: Sequence[int]
) -> GraphValue:
    """Divide each row of elements by the root of its mean square, with a scale for each place in it."""
    scale, bias = pair
    if bias is not None:
        raise Inexpressible("ONNX has no normalization by the mean square that adds a bias before it rounds")
    if not _is_1_along([scale], [axis for axis in range(len(x.sizes)) if axis not in axes]):
        raise Inexpressible("ScaleTensor of a normalization by the mean square follows what Axes does not name")
    g.at_least(23)
    return _of_rows(g, "RMSNormalization", desc, x, [(scale, 1)], axes)


def _of_rows(
    g: Builder,
    type: str,
    desc: OperatorDesc,
    x: GraphValue,
    parameters: Sequence[tuple[GraphValue | None, float]],
    axes: Sequence[int],
) -> GraphValue:
    """Normalize each row; the parameters, each with its default if it is missing, follow the elements of a row."""
    order = [*(axis for axis in range(len(x.sizes)) if axis not in axes), *axes]
    full = [x.sizes[axis] if axis in axes else 1 for axis in range(len(x.sizes))]
    length = math.prod(full)
    rows = g.reshape(g.transpose(x, order), (math.prod(x.sizes) // length, length))
    parts = [_vector(g, each, full, start, x.data_type) for each, start in parameters]
    epsilon = as_float32(desc.values["Epsilon"])
    made = g.node(type, [rows, *parts], rows.sizes, x.data_type, axis=1, epsilon=epsilon)
    return _back(g, made, x, order)


def _groups(
    g: Builder, desc: OperatorDesc, x: GraphValue, pair: Sequence[GraphValue | None], axes: Sequence[int]
) -> GraphValue:
    """Normalize each group of channels separately, with a scale and a bias for each channel: so from opset 21 on."""
    g.at_least(21)
    full = _channel_sizes(x, [each for each in pair if each is not None])
    order = sorted(range(len(full)), key=lambda axis: (axis in axes, (full[axis] > 1) != (axis in axes), axis))
    groups = math.prod(size for axis, size in enumerate(full) if axis not in axes)
    channels, length = math.prod(full), math.prod(x.sizes[axis] for axis in axes if full[axis] == 1)
    rows = g.reshape(g.transpose(x, order), (math.prod(x.sizes) // channels // length, channels, length))
    parts = [
        g.fill((channels,), start, x.data_type)
        if each is None
        else g.reshape(g.transpose(g.expand(each, full), order), (channels,))
        for each, start in zip(pair, (1, 0), strict=True)
    ]
    epsilon = as_float32(desc.values["Epsilon"])
    made = g.node("GroupNormalization", [rows, *parts], rows.sizes, x.data_type, epsilon=epsilon, num_groups=groups)
    return _back(g, made, x, order)


def _vector(g: Builder, tensor: GraphValue | None, full: Sequence[int], start: float, data_type: str) -> GraphValue:
    """Return a scale or a bias for every element of a row, or the default for a missing one."""
    count = math.prod(full)
    if tensor is None:
        return g.fill((count,), start, data_type)
    return g.reshape(g.expand(tensor, full), (count,))


def local_response(g: Builder, desc: OperatorDesc) -> None:
    """LOCAL_RESPONSE_NORMALIZATION: Alpha is divided by the number of channels in both."""
    if not desc.values["CrossChannel"]:
        raise Inexpressible("ONNX's LRN sums over channels only, not over height and width")
    x = g.input("InputTensor")
    alpha, beta, bias = (as_float32(desc.values[name]) for name in ("Alpha", "Beta", "Bias"))
    size = desc.values["LocalSize"]
    made = g.node("LRN", [x], x.sizes, x.data_type, size=size, alpha=alpha, beta=beta, bias=bias)
    g.output("OutputTensor", made)


def norm(g: Builder, desc: OperatorDesc) -> None:
    """LP_NORMALIZATION: ONNX has no Epsilon, and ONNX Runtime's DirectML provider adds one of 1e-5."""
    if as_float32(desc.values["Epsilon"]) not in (0.0, as_float32(1e-5)):
        raise Inexpressible("ONNX's LpNormalization has no Epsilon: only 0 and 1e-5 are exported")
    x = g.input("InputTensor")
    made = g.node("LpNormalization", [x], x.sizes, x.data_type, axis=desc.values["Axis"], p=desc.values["P"])
    g.output("OutputTensor", made)


MAPPINGS: dict[str, Maker] = {
    "BATCH_NORMALIZATION": batch,
    "BATCH_NORMALIZATION_TRAINING": batch_training,
    "LOCAL_RESPONSE_NORMALIZATION": local_response,
    "LP_NORMALIZATION": norm,
    "MEAN_VARIANCE_NORMALIZATION": mean_variance,
    "MEAN_VARIANCE_NORMALIZATION1": mean_variance,
    "MEAN_VARIANCE_NORMALIZATION2": mean_variance,
}
