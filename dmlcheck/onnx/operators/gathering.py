"""Elements by their indices, sorted, counted or added up along an axis."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused, axis_of
from dmlcheck.onnx.descs.tensors import along, converted, ranked, sized, unsigned


def _of_one_rank(fields: Mapping[str, TensorRef], least: int = 1) -> dict[str, TensorRef]:
    """Return tensors with leading dimensions of size 1 up to the largest number of dimensions."""
    rank = max(least, *(values.ndim for values in fields.values()))
    return {name: ranked(values, rank) for name, values in fields.items()}


def _gather(node: Node) -> Counterpart:
    x, indices = node.input(0), node.input(1)
    tensors = _of_one_rank({"InputTensor": x, "IndicesTensor": indices, "OutputTensor": node.output()})
    axis = axis_of(node.get("axis", 0), x.ndim) + tensors["InputTensor"].ndim - x.ndim
    return Counterpart("GATHER", {**tensors, "Axis": axis, "IndexDimensions": indices.ndim})


def _gather_elements(node: Node) -> Counterpart:
    x = node.input(0)
    tensors = {"InputTensor": x, "IndicesTensor": node.input(1), "OutputTensor": node.output()}
    return Counterpart("GATHER_ELEMENTS", {**tensors, "Axis": axis_of(node.get("axis", 0), x.ndim)})


def _gather_nd(node: Node) -> Counterpart:
    x, indices = node.input(0), node.input(1)
    tensors = _of_one_rank({"InputTensor": x, "IndicesTensor": indices, "OutputTensor": node.output()})
    counts = {"InputDimensionCount": x.ndim, "IndicesDimensionCount": indices.ndim}
    return Counterpart("GATHER_ND1", {**tensors, **counts, "BatchDimensionCount": node.get("batch_dims", 0)})


def _plain_scatter(node: Node) -> dict[str, TensorRef]:
    if node.get("reduction", "none") != "none":
        raise Refused(
            f"{node.type} that combines updates with elements by {node.get('reduction')}, which DirectML's does not"
        )
    names = ("InputTensor", "IndicesTensor", "UpdatesTensor")
    return {**{name: node.input(index) for index, name in enumerate(names)}, "OutputTensor": node.output()}


def _scatter(node: Node) -> Counterpart:
    """SCATTER; without updates a copy."""
    tensors = _plain_scatter(node)
    if not tensors["IndicesTensor"].size:
        return Counterpart("ELEMENT_WISE_IDENTITY", node.tensors())
    return Counterpart("SCATTER", {**tensors, "Axis": axis_of(node.get("axis", 0), node.input(0).ndim)})


def _scatter_nd(node: Node) -> Counterpart:
    counts = {"InputDimensionCount": node.input(0).ndim, "IndicesDimensionCount": node.input(1).ndim}
    return Counterpart("SCATTER_ND", {**_of_one_rank(_plain_scatter(node)), **counts})


def _one_hot(node: Node) -> Counterpart:
    """ONE_HOT; the provider's ValuesTensor has four dimensions, which the page refuses where the others have not."""
    output = node.output()
    axis = axis_of(node.get("axis", -1), output.ndim)
    sizes = [1 if place == axis else size for place, size in enumerate(output.shape)]
    indices = node.input(0)
    given = indices.values
    if indices.dtype.kind == "f" and (given is None or (given == np.rint(given)).all()):
        indices = converted(indices, np.int64)
    tensors = {
        "IndicesTensor": sized(indices, sizes),
        "ValuesTensor": ranked(node.input(2), output.ndim),
        "OutputTensor": output,
    }
    return Counterpart("ONE_HOT", {**tensors, "Axis": axis})


def _top(node: Node) -> Counterpart:
    x = node.input(0)
    if not node.get("sorted", 1):
        raise Refused("TopK in any order")
    axis = axis_of(node.get("axis", -1), x.ndim)
    tensors = {"InputTensor": x, "OutputValueTensor": node.output(0), "OutputIndexTensor": unsigned(node.output(1))}
    count = (node.numbers("k", 1) or [0])[0]
    direction = "DECREASING" if node.get("largest", 1) else "INCREASING"
    return Counterpart("TOP_K1", {**tensors, "Axis": axis, "K": count, "AxisDirection": direction})


def _nonzero(node: Node) -> Counterpart:
    """NONZERO_COORDINATES: a row for each element, those beyond the last that is not zero left open."""
    x = node.input(0)
    if not node.has_outputs:
        return _open_coordinates(x)
    places = node.output().values
    count = 0 if places is None else places.shape[1]
    rows = np.ma.MaskedArray(np.zeros((x.size, x.ndim), np.uint32), mask=True)
    rows[:count] = 0 if places is None else places.T
    tensors = {
        "OutputCountTensor": TensorRef.of(np.full((1,), count, np.uint32)),
        "OutputCoordinatesTensor": TensorRef.of(rows),
    }
    return Counterpart("NONZERO_COORDINATES", {"InputTensor": x, **tensors})


def _open_coordinates(x: TensorRef) -> Counterpart:
    """NONZERO_COORDINATES of values that are not known: as many rows as there are elements."""
    tensors = {
        "OutputCountTensor": x.like((1,), "UINT32"),
        "OutputCoordinatesTensor": x.like((x.size, x.ndim), "UINT32"),
    }
    return Counterpart("NONZERO_COORDINATES", {"InputTensor": x, **tensors})


def _reversed(node: Node) -> Counterpart:
    x = node.input(0)
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)
    sizes = [1 if axis == time else size for axis, size in enumerate(x.shape)]
    tensors = {"InputTensor": x, "SequenceLengthsTensor": along(converted(node.input(1), np.uint32), batch, sizes)}
    return Counterpart(
        "REVERSE_SUBSEQUENCES", {**tensors, "OutputTensor": node.output(), "Axis": axis_of(time, x.ndim)}
    )


def _running(operator: str, exclusive: str, node: Node) -> Counterpart:
    axis = axis_of((node.numbers("axis", 1) or [0])[0], node.input(0).ndim)
    direction = "DECREASING" if node.get("reverse", 0) else "INCREASING"
    fields = {"Axis": axis, "AxisDirection": direction, exclusive: node.get("exclusive", 0)}
    return Counterpart(operator, {**node.tensors(), **fields})


OPERATORS: dict[str, Maker] = {
    "CumProd": partial(_running, "CUMULATIVE_PRODUCT", "HasExclusiveProduct"),
    "CumSum": partial(_running, "CUMULATIVE_SUMMATION", "HasExclusiveSum"),
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "NonZero": _nonzero,
    "OneHot": _one_hot,
    "ReverseSequence": _reversed,
    "Scatter": _scatter,
    "ScatterElements": _scatter,
    "ScatterND": _scatter_nd,
    "TopK": _top,
}
