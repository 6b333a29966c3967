"""Elements by their indices, sorted, counted or added up along an axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from dmlcheck.diagnostics.wording import braces
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped, axis_of
from dmlcheck.onnx.descs.steps import join, step
from dmlcheck.onnx.descs.tensors import along, converted, ranked, sized, unsigned
from dmlcheck.onnx.operators.row import Row, not_taken


def _of_one_rank(fields: Mapping[str, TensorRef]) -> dict[str, TensorRef]:
    """Return tensors with leading dimensions of size 1 up to the largest number of dimensions."""
    rank = max(1, *(values.ndim for values in fields.values()))
    return {name: ranked(values, rank) for name, values in fields.items()}


def _gather(node: OnnxNode) -> list[Counterpart]:
    x, indices = node.input(0), node.input(1)
    tensors = _of_one_rank({"InputTensor": x, "IndicesTensor": indices, "OutputTensor": node.output()})
    axis = axis_of(node.get("axis", 0), x.ndim) + tensors["InputTensor"].ndim - x.ndim
    return [Counterpart("GATHER", {**tensors, "Axis": axis, "IndexDimensions": indices.ndim})]


def _gather_elements(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    tensors = {"InputTensor": x, "IndicesTensor": node.input(1), "OutputTensor": node.output()}
    return [Counterpart("GATHER_ELEMENTS", {**tensors, "Axis": axis_of(node.get("axis", 0), x.ndim)})]


def _gather_nd(node: OnnxNode) -> list[Counterpart]:
    x, indices = node.input(0), node.input(1)
    tensors = _of_one_rank({"InputTensor": x, "IndicesTensor": indices, "OutputTensor": node.output()})
    counts = {"InputDimensionCount": x.ndim, "IndicesDimensionCount": indices.ndim}
    return [Counterpart("GATHER_ND1", {**tensors, **counts, "BatchDimensionCount": node.get("batch_dims", 0)})]


def _plain_scatter(node: OnnxNode) -> dict[str, TensorRef]:
    if _reduction(node) != "none":
        raise Unmapped(
            f"{node.type} that combines updates with elements by {_reduction(node)}, which DirectML's does not"
        )
    names = ("InputTensor", "IndicesTensor", "UpdatesTensor")
    return {**{name: node.input(index) for index, name in enumerate(names)}, "OutputTensor": node.output()}


def _reduction(node: OnnxNode) -> str:
    return str(node.get("reduction", "none"))


def _scatter(node: OnnxNode) -> list[Counterpart]:
    """SCATTER; without updates a copy."""
    tensors = _plain_scatter(node)
    if not tensors["IndicesTensor"].size:
        return [Counterpart("ELEMENT_WISE_IDENTITY", node.tensors())]
    return [Counterpart("SCATTER", {**tensors, "Axis": axis_of(node.get("axis", 0), node.input(0).ndim)})]


def _scatter_nd(node: OnnxNode) -> list[Counterpart]:
    counts = {"InputDimensionCount": node.input(0).ndim, "IndicesDimensionCount": node.input(1).ndim}
    return [Counterpart("SCATTER_ND", {**_of_one_rank(_plain_scatter(node)), **counts})]


# ---- updates that are combined with elements

_REDUCTIONS = {"add": ("SUM", 0), "max": ("MAX", None), "min": ("MIN", None), "mul": ("MULTIPLY", 1)}
_MOST_COMBINED = 1 << 24  # elements and updates in a row each


def _combined_elements(node: OnnxNode) -> list[Counterpart]:
    x, axis = node.input(0), axis_of(node.get("axis", 0), node.input(0).ndim)
    is_plain = _reduction(node) == "none"
    has_sizes_of_scatter = all(
        size == whole or at == axis for at, (size, whole) in enumerate(zip(node.input(1).shape, x.shape, strict=True))
    )
    if not node.input(1).size or (is_plain and has_sizes_of_scatter):
        return _scatter(node.with_attributes(reduction="none"))
    indices = node.numbers_of(1)
    coordinates: list[Array] = list(np.indices(indices.shape))
    coordinates[axis] = _from_start(indices, x.shape[axis])
    places = np.asarray(np.ravel_multi_index(tuple(coordinates), x.shape))
    return _replaced(node, places.reshape(-1)) if is_plain else _combined(node, places)


def _replaced(node: OnnxNode, places: Array) -> list[Counterpart]:
    """JOIN and GATHER: the elements, and in some places their updates; SCATTER takes as many as the input has."""
    x, updates = node.input(0), node.input(2)
    if np.unique(places).size < places.size:
        raise Unmapped(f"{node.type} of several updates for an element, of which ONNX does not say which one stays")
    sources = np.arange(x.size)
    sources[places] = x.size + np.arange(places.size)
    joined = x.like((x.size + updates.size,))
    return [join([x.reshape(-1), updates.reshape(-1)], joined, 0), *_gathered(joined, sources, node.output())]


def _gathered(joined: TensorRef, sources: Array, output: TensorRef) -> list[Counterpart]:
    """GATHER elements of a tensor of one dimension."""
    inputs = joined, TensorRef.of(sources)
    return _gather(OnnxNode("Gather", 13, {"axis": 0}, inputs, (output.view(sources.shape),)))


def _combined_slices(node: OnnxNode) -> list[Counterpart]:
    if _reduction(node) == "none":
        return _scatter_nd(node)
    x, indices = node.input(0), node.numbers_of(1)
    count = indices.shape[-1]
    rows = tuple(_from_start(indices[..., at], x.shape[at]) for at in range(count))
    first = np.ravel_multi_index(rows, x.shape[:count]) if count else np.zeros(indices.shape[:-1], np.int64)
    inner = math.prod(x.shape[count:])
    return _combined(node, first[..., np.newaxis] * inner + np.arange(inner))


def _from_start(indices: Array, size: int) -> Array:
    """Return indices that count from the start of a dimension; Unmapped if one is outside of it."""
    counted = np.where(indices < 0, indices + size, indices)
    if counted.size and not 0 <= counted.min() <= counted.max() < size:
        raise Unmapped(f"an index that is not in a dimension of {size}")
    return counted


def _combined(node: OnnxNode, places: Array) -> list[Counterpart]:
    """JOIN, GATHER and REDUCE: a row for each element, of itself and of its updates, whose places in it are known.

    A row with fewer updates than others is filled up with a number that changes nothing, or with the element.
    """
    function, neutral = _REDUCTIONS.get(_reduction(node), ("", None))
    if not function:
        raise Unmapped(f"{node.type} of reduction {_reduction(node)}")
    x, updates, output = node.input(0), node.input(2), node.output()
    order = np.argsort(places.reshape(-1), kind="stable")
    target = places.reshape(-1)[order]
    counts = np.bincount(target, minlength=x.size)
    longest = int(counts.max(initial=0))
    if x.size * (longest + 1) > _MOST_COMBINED:
        raise Unmapped(f"{node.type} of up to {longest:,} updates for each of {x.size:,} elements")
    if x.data_type == "FLOAT16" and longest > 1 and function in ("SUM", "MULTIPLY"):
        raise Unmapped(f"{node.type} of several FLOAT16 updates for an element, which are rounded in any order")
    own = np.arange(x.size)
    rows = (
        np.repeat(own[:, np.newaxis], longest + 1, axis=1)
        if neutral is None
        else np.full((x.size, longest + 1), x.size + updates.size)
    )
    rows[:, 0] = own
    rows[target, 1 + np.arange(target.size) - (np.cumsum(counts) - counts)[target]] = x.size + order
    filler = [] if neutral is None else [TensorRef.of(np.full((1,), neutral, x.dtype))]
    parts = [x.reshape(-1), updates.reshape(-1), *filler]
    joined, gathered = x.like((sum(part.size for part in parts),)), x.like(rows.shape)
    tensors = {"InputTensor": gathered, "OutputTensor": output.view((x.size, 1))}
    return [
        join(parts, joined, 0),
        *_gathered(joined, rows, gathered),
        step("REDUCE", Function=function, **tensors, Axes=[1]),
    ]


def _one_hot(node: OnnxNode) -> list[Counterpart]:
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
    return [Counterpart("ONE_HOT", {**tensors, "Axis": axis})]


def _top(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    if not node.get("sorted", 1):
        raise Unmapped("TopK in any order")
    axis = axis_of(node.get("axis", -1), x.ndim)
    tensors = {"InputTensor": x, "OutputValueTensor": node.output(0), "OutputIndexTensor": unsigned(node.output(1))}
    count = (node.numbers("k", 1) or [0])[0]
    direction = "DECREASING" if node.get("largest", 1) else "INCREASING"
    return [Counterpart("TOP_K1", {**tensors, "Axis": axis, "K": count, "AxisDirection": direction})]


def _nonzero(node: OnnxNode) -> list[Counterpart]:
    """NONZERO_COORDINATES: a row for each element; rows beyond the last nonzero element are undefined."""
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
    return [Counterpart("NONZERO_COORDINATES", {"InputTensor": x, **tensors})]


def _wrong_coordinates(node: OnnxNode, columns: Array) -> str | None:
    """Return the first difference from the coordinates of the elements that are not 0, or None."""
    x = node.numbers_of(0)
    if not x.ndim:
        raise Unmapped("NonZero of a scalar")
    right = np.array(np.nonzero(x))
    if columns.shape != right.shape:
        return f"is {braces(columns.shape)}; it must be {braces(right.shape)}: {right.shape[1]:,} elements are not 0"
    different = np.flatnonzero((columns != right).any(axis=0))
    if not different.size:
        return None
    at = different[0]
    return f"has {columns[:, at].tolist()} in column {at:,}; it must be {right[:, at].tolist()}"


def _open_coordinates(x: TensorRef) -> list[Counterpart]:
    """NONZERO_COORDINATES of values that are not known: as many rows as there are elements."""
    tensors = {
        "OutputCountTensor": x.like((1,), "UINT32"),
        "OutputCoordinatesTensor": x.like((x.size, x.ndim), "UINT32"),
    }
    return [Counterpart("NONZERO_COORDINATES", {"InputTensor": x, **tensors})]


def _reversed(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)
    sizes = [1 if axis == time else size for axis, size in enumerate(x.shape)]
    tensors = {"InputTensor": x, "SequenceLengthsTensor": along(converted(node.input(1), np.uint32), batch, sizes)}
    return [
        Counterpart("REVERSE_SUBSEQUENCES", {**tensors, "OutputTensor": node.output(), "Axis": axis_of(time, x.ndim)})
    ]


def _running(operator: str, exclusive: str, node: OnnxNode) -> list[Counterpart]:
    axis = axis_of((node.numbers("axis", 1) or [0])[0], node.input(0).ndim)
    direction = "DECREASING" if node.get("reverse", 0) else "INCREASING"
    fields = {"Axis": axis, "AxisDirection": direction, exclusive: node.get("exclusive", 0)}
    return [Counterpart(operator, {**node.tensors(), **fields})]


# ---- as others of these


def _features(node: OnnxNode) -> list[Counterpart]:
    x, places = node.input(0), node.input(1).reshape(-1)
    output = sized(node.output(), (*x.shape[:-1], places.size))
    return _gather(OnnxNode("Gather", 13, {"axis": -1}, (x, places), (output,)))


def _chosen(node: OnnxNode) -> list[Counterpart]:
    """GATHER of the places whose condition is true."""
    axis = node.get("axis")
    x = node.input(0) if axis is not None else node.input(0).reshape(-1)
    places = TensorRef.of(np.flatnonzero(node.numbers_of(1)))
    return _gather(OnnxNode("Gather", 13, {"axis": axis or 0}, (x, places), (node.output(),)))


def _updated(node: OnnxNode) -> list[Counterpart]:
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
    return _scatter(OnnxNode("ScatterElements", 13, {"axis": axis}, inputs, node.outputs))


# ---- as the provider makes them


def _query_scatter(node: OnnxNode) -> str | None:
    """DmlOperatorScatter.cpp, QueryScatter."""
    reduction = _reduction(node)
    return None if reduction == "none" else not_taken(node, f"of reduction {reduction}")


def _refusal_of_gather_nd(node: OnnxNode) -> RefusedNode | None:
    """Return the refusal of a result without dimensions, by GatherNdHelper of OperatorHelper, or None."""
    x, indices = node.optional(0), node.optional(1)
    if x is None or indices is None or not indices.ndim:
        return None
    if indices.ndim - 1 + x.ndim - indices.shape[-1] - node.get("batch_dims", 0) > 0:
        return None
    return RefusedNode(
        f"the DirectML provider refuses {node.type} whose result is a scalar",
        "give the indices a dimension of size 1 in front, and squeeze the result",
    )


def _nonzero_of_provider(node: OnnxNode) -> list[Counterpart]:
    """NONZERO_COORDINATES whose rows are the columns of INT64 numbers; the copy of these is made in the run."""
    (made,) = _nonzero(node)
    rows = made.fields["OutputCoordinatesTensor"]
    return [made.with_fields(OutputCoordinatesTensor=rows.view(rows.shape, (2, 2 * rows.shape[0])))]


def _top_of_provider(node: OnnxNode) -> list[Counterpart]:
    """TOP_K1, always sorted; the step that sets the upper halves of the indices to 0 is left out."""
    return _top(node.with_attributes(sorted=1))


def _reversed_of_provider(node: OnnxNode) -> list[Counterpart]:
    """REVERSE_SUBSEQUENCES whose lengths have the input's sizes, but for the axis, without strides."""
    x, lengths = node.input(0), node.input(1)
    time = axis_of(node.get("time_axis", 0), x.ndim)
    sizes = [1 if axis == time else size for axis, size in enumerate(x.shape)]
    unsigned_lengths = lengths.bits(f"UINT{8 * lengths.dtype.itemsize}").view(sizes)
    tensors = {"InputTensor": x, "SequenceLengthsTensor": unsigned_lengths, "OutputTensor": node.output()}
    return [Counterpart("REVERSE_SUBSEQUENCES", {**tensors, "Axis": time})]


OPERATORS: dict[str, Row] = {
    "Compress": Row(exact=_chosen),
    "CumProd": Row(partial(_running, "CUMULATIVE_PRODUCT", "HasExclusiveProduct")),
    "CumSum": Row(partial(_running, "CUMULATIVE_SUMMATION", "HasExclusiveSum")),
    "Gather": Row(_gather),
    "GatherElements": Row(_gather_elements),
    "GatherND": Row(_gather_nd, refusal=_refusal_of_gather_nd),
    "NonZero": Row(_nonzero, provider=_nonzero_of_provider, is_sized_by_inputs=True, rule=_wrong_coordinates),
    "OneHot": Row(_one_hot),
    "ReverseSequence": Row(_reversed, provider=_reversed_of_provider),
    "Scatter": Row(_scatter, leaves_out_empty=True),
    "ScatterElements": Row(exact=_combined_elements, provider=_scatter, query=_query_scatter, leaves_out_empty=True),
    "ScatterND": Row(exact=_combined_slices, provider=_scatter_nd, query=_query_scatter),
    "TensorScatter": Row(exact=_updated),
    "TopK": Row(_top, provider=_top_of_provider, outputs=2),
    "ai.onnx.ml.ArrayFeatureExtractor": Row(exact=_features),
}
