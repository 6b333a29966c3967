"""Normalizations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused, axis_of, number
from dmlcheck.onnx.descs.tensors import channels, ranked, sized


def _batch_normalization(node: Node) -> Counterpart:
    x = node.input(0)
    if node.get("training_mode", 0):
        raise Refused("BatchNormalization in training, with its running mean and variance")
    names = ("ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor")
    tensors = {name: _by_channel(node.input(index), x.ndim) for index, name in enumerate(names, start=1)}
    fields = {"InputTensor": x, **tensors, "OutputTensor": node.output(), "Spatial": node.get("spatial", 1)}
    return Counterpart("BATCH_NORMALIZATION", {**fields, "Epsilon": number(node.get("epsilon", 1e-5))})


def _by_channel(values: TensorRef, rank: int) -> TensorRef:
    """Return numbers of channels, or of the elements of an image, in as many dimensions as images have."""
    return channels(values, rank) if values.ndim == 1 else ranked(values, values.ndim + 1)


def _instances(node: Node) -> Counterpart:
    x = node.input(0)
    tensors = {name: channels(node.input(index), x.ndim) for index, name in ((1, "ScaleTensor"), (2, "BiasTensor"))}
    return _mean_variance(node, x, tensors, list(range(2, x.ndim)))


def _layer(uses_mean: int, node: Node) -> Counterpart:
    """MEAN_VARIANCE_NORMALIZATION2 along the last axes."""
    x = node.input(0)
    axes = list(range(axis_of(node.get("axis", -1), x.ndim), x.ndim))
    given = ((name, node.optional(index)) for index, name in ((1, "ScaleTensor"), (2, "BiasTensor")))
    tensors = {name: ranked(values, x.ndim) for name, values in given if values is not None}
    numbers = {"Axes": axes, "UseMean": uses_mean, "UseVariance": 1, "Epsilon": number(node.get("epsilon", 1e-5))}
    note = "Mean and InvStdDev are not compared." if len(node.outputs) > 1 else None
    fields = {"InputTensor": x, **tensors, "OutputTensor": node.output(), **numbers}
    return Counterpart("MEAN_VARIANCE_NORMALIZATION2", fields, note)


def _groups(node: Node) -> Counterpart:
    """MEAN_VARIANCE_NORMALIZATION1, groups being a dimension; before opset 21 a group has one scale and one bias."""
    x, output, count = node.input(0), node.output(), node.get("num_groups")
    if x.ndim < 2 or count < 1 or x.shape[1] % count:
        raise Refused(f"GroupNormalization of {count} groups, which sizes {list(x.shape)} do not have")
    sizes = (x.shape[0], count, x.shape[1] // count, *x.shape[2:])
    own = (count, -1) if node.opset >= 21 else (count, 1)
    names = ((1, "ScaleTensor"), (2, "BiasTensor"))
    tensors = {name: sized(node.input(index), (1, *own, *(1 for _ in x.shape[2:]))) for index, name in names}
    split = node._replace(outputs=(sized(output, sizes),))
    return _mean_variance(split, sized(x, sizes), tensors, list(range(2, x.ndim + 1)))


def _mean_variance(node: Node, x: TensorRef, tensors: Mapping[str, TensorRef], axes: Sequence[int]) -> Counterpart:
    numbers = {"Axes": axes, "NormalizeVariance": 1, "Epsilon": number(node.get("epsilon", 1e-5))}
    fields = {"InputTensor": x, **tensors, "OutputTensor": node.output(), **numbers}
    return Counterpart("MEAN_VARIANCE_NORMALIZATION1", fields)


def _local_response(node: Node) -> Counterpart:
    numbers = {name: number(node.get(name.lower())) for name in ("Alpha", "Beta", "Bias")}
    fields = {"CrossChannel": 1, "LocalSize": node.get("size"), **numbers}
    return Counterpart("LOCAL_RESPONSE_NORMALIZATION", {**node.tensors(), **fields})


def _norm(node: Node) -> Counterpart:
    fields = {"Axis": axis_of(node.get("axis", -1), node.input(0).ndim), "Epsilon": 0, "P": node.get("p", 2)}
    return Counterpart("LP_NORMALIZATION", {**node.tensors(), **fields})


OPERATORS: dict[str, Maker] = {
    "BatchNormalization": _batch_normalization,
    "GroupNormalization": _groups,
    "InstanceNormalization": _instances,
    "LRN": _local_response,
    "LayerNormalization": partial(_layer, 1),
    "LpNormalization": _norm,
    "RMSNormalization": partial(_layer, 0),
    "SimplifiedLayerNormalization": partial(_layer, 0),
}
