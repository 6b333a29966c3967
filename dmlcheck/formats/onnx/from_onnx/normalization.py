"""Normalizations."""

from __future__ import annotations

from dmlcheck.formats.onnx.from_onnx.node import Counterpart, Maker, Node, Refused, axis_of, number
from dmlcheck.formats.onnx.from_onnx.tensors import channels


def _batch_normalization(node: Node) -> Counterpart:
    x = node.input(0)
    if node.get("training_mode", 0):
        raise Refused("BatchNormalization in training, with its running mean and variance")
    names = ("ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor")
    tensors = {name: channels(node.input(index), x.ndim) for index, name in enumerate(names, start=1)}
    fields = {"InputTensor": x, **tensors, "OutputTensor": node.output(), "Spatial": 1}
    return Counterpart("BATCH_NORMALIZATION", {**fields, "Epsilon": number(node.get("epsilon", 1e-5))})


def _instances(node: Node) -> Counterpart:
    x = node.input(0)
    tensors = {name: channels(node.input(index), x.ndim) for index, name in ((1, "ScaleTensor"), (2, "BiasTensor"))}
    fields = {"Axes": list(range(2, x.ndim)), "NormalizeVariance": 1, "Epsilon": number(node.get("epsilon", 1e-5))}
    return Counterpart("MEAN_VARIANCE_NORMALIZATION1", {**node.tensors(), **tensors, **fields})


def _local_response(node: Node) -> Counterpart:
    numbers = {name: number(node.get(name.lower())) for name in ("Alpha", "Beta", "Bias")}
    fields = {"CrossChannel": 1, "LocalSize": node.get("size"), **numbers}
    return Counterpart("LOCAL_RESPONSE_NORMALIZATION", {**node.tensors(), **fields})


def _norm(node: Node) -> Counterpart:
    fields = {"Axis": axis_of(node.get("axis", -1), node.input(0).ndim), "Epsilon": 0, "P": node.get("p", 2)}
    return Counterpart("LP_NORMALIZATION", {**node.tensors(), **fields})


OPERATORS: dict[str, Maker] = {
    "BatchNormalization": _batch_normalization,
    "InstanceNormalization": _instances,
    "LRN": _local_response,
    "LpNormalization": _norm,
}
