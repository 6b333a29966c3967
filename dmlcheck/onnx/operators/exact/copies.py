"""Operators of ONNX that only move elements, as other operators of DirectML: copies, parts, updates."""

from __future__ import annotations

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused, axis_of
from dmlcheck.onnx.descs.tensors import sized
from dmlcheck.onnx.export.records import BYTES_OF
from dmlcheck.onnx.operators.shared import counterpart


def _copy(node: Node) -> Counterpart:
    return Counterpart("ELEMENT_WISE_IDENTITY", node.tensors())


def _of_same_bits(node: Node) -> Counterpart:
    """Copy the bits of the elements, which are of the output's type on both sides."""
    x, output = node.input(0), node.output()
    if {x.data_type, output.data_type} & BYTES_OF.keys():
        raise Refused("BitCast of elements of less than a byte")
    return Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": x.bits(output.element), "OutputTensor": output})


def _dropout(node: Node) -> Counterpart:
    """Copy the input: outside training, and where nothing is dropped."""
    ratio, training = node.known(1), node.known(2)
    is_training = training is not None and bool(training.any())
    if node.opset < 7:
        is_training = not node.get("is_test", 0)
    if is_training and (ratio is None or ratio.any()):
        raise Refused("Dropout in training, which draws random numbers")
    return _copy(node)._replace(note="The mask is not compared." if node.gives(1) else None)


def _of_several(node: Node) -> Counterpart:
    """Copy a single input."""
    return _copy(node) if len(node.inputs) == 1 else counterpart(node)


def _centered(node: Node) -> Counterpart:
    """SLICE1 where no axis is padded, PADDING1 where none is cut."""
    x, output = node.input(0), node.output()
    more = [new - old for old, new in zip(x.shape, output.shape, strict=True)]
    if min(more) < 0 < max(more):
        raise Refused("CenterCropPad that cuts and pads, which are two operators of DirectML")
    before = [abs(count) // 2 for count in more]
    tensors = {"InputTensor": x, "OutputTensor": output}
    if min(more) < 0:
        windows = {"InputWindowOffsets": before, "InputWindowSizes": list(output.shape)}
        return Counterpart("SLICE1", {**tensors, **windows, "InputWindowStrides": [1] * x.ndim})
    after = [count - start for count, start in zip(more, before, strict=True)]
    fields = {"PaddingMode": "CONSTANT", "PaddingValueDataType": x.data_type, "PaddingValue": 0}
    return Counterpart("PADDING1", {**tensors, **fields, "StartPadding": before, "EndPadding": after})


def _features(node: Node) -> Counterpart:
    """GATHER of columns."""
    x, places = node.input(0), node.input(1).reshape(-1)
    output = sized(node.output(), (*x.shape[:-1], places.size))
    return counterpart(Node("Gather", 13, {"axis": -1}, (x, places), (output,)))


def _chosen(node: Node) -> Counterpart:
    """GATHER of the places whose condition is true."""
    axis = node.get("axis")
    x = node.input(0) if axis is not None else node.input(0).reshape(-1)
    places = TensorRef.of(np.flatnonzero(node.numbers_of(1)))
    return counterpart(Node("Gather", 13, {"axis": axis or 0}, (x, places), (node.output(),)))


def _updated(node: Node) -> Counterpart:
    """SCATTER to places that follow each other from one of each batch, and go round where the model says so."""
    x, updates, first = node.input(0), node.input(1), node.known(2)
    axis = axis_of(node.get("axis", -2), x.ndim)
    shape = [updates.shape[axis] if place == axis else 1 for place in range(x.ndim)]
    places = np.arange(updates.shape[axis]).reshape(shape)
    if first is not None:
        places = places + first.reshape(-1, *(1 for _ in shape[1:]))
    if node.get("mode", "linear") == "circular":
        places = places % x.shape[axis]
    inputs = (x, TensorRef.of(np.broadcast_to(places, updates.shape)), updates)
    return counterpart(Node("ScatterElements", 13, {"axis": axis}, inputs, node.outputs))


OPERATORS: dict[str, Maker] = {
    **dict.fromkeys(("Max", "Mean", "Min", "Sum"), _of_several),
    "BitCast": _of_same_bits,
    "CenterCropPad": _centered,
    "Compress": _chosen,
    "Dropout": _dropout,
    "OptionalGetElement": _copy,
    "TensorScatter": _updated,
    "ai.onnx.ml.ArrayFeatureExtractor": _features,
}
