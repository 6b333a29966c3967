"""Gathering, scattering and one-hot tensors by indices; the first elements of sorted sequences; nonzero coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.data_types import as_bits, is_float
from dmlcheck.reference.arrays.grouped import first_in_order
from dmlcheck.reference.arrays.needs import (
    LINES,
    WHOLE,
    axes_after_tuples,
    axes_but_axis,
    indices_of_gather,
    lines_of_gather,
    parts_of_gather_nd,
    tuples_of_gather_nd,
    updates_after_tuples,
)
from dmlcheck.reference.arrays.places import Places, last_dimensions, picked, with_ones_after, within_all
from dmlcheck.reference.limits.work import BLOCKS_OF_COPIES
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives
from dmlcheck.reference.rows import RANKS, UNCUT, Cut, Groups, Kernel, Spread, exact_row

# ---- indices


def indices_in(indices: Any, size: int) -> tuple[Any, Any]:
    """Return indices as positions along a dimension, and a mask of those outside it, which become the nearest end.

    Negative indices of signed types count from the end.
    """
    indices = np.asarray(indices)
    at = np.asarray(np.minimum(indices, size) if indices.dtype.kind == "u" else indices).astype(np.int64)
    np.add(at, size, out=at, where=at < 0)
    outside = (at < 0) | (at >= size)
    return np.clip(at, 0, size - 1, out=at), outside


def last_outside(indices: Any, size: int) -> tuple[Any, Any]:
    """Return the result of `indices_in` with the last position for indices outside, which DirectML reads."""
    at, outside = indices_in(indices, size)
    return np.where(outside, size - 1, at), outside


def known(found: Any, where: Any, indices: Any) -> Any:
    """Return results for indices outside a dimension, which were measured for those that 32 bits hold."""
    return (AsMeasured if in_32_bits(indices) else PartlyUndefined)(found, where)


def in_32_bits(indices: Any) -> bool:
    """Whether all indices are held by 32 bits, with a sign unless these are their type."""
    held = np.iinfo(np.uint32 if indices.dtype == np.uint32 else np.int32)
    return bool(indices.max() <= held.max and indices.min() >= held.min)


# ---- gathering


def gather(input: Any, indices: Any, *, axis: int, index_dimensions: int) -> Any:
    """Output[l, b, t] = Input[l, Indices[b], t].

    l are the coordinates before Axis, t the ones after it, b the ones in the last IndexDimensions dimensions of
    IndicesTensor.
    """
    own = last_dimensions(indices, index_dimensions)
    at, outside = last_outside(own, input.shape[axis])
    mark = with_ones_after(np.asarray(outside), input.ndim - axis - 1)
    return known(PartlyUndefined(picked(input, at, axis), own.size < indices.size), mark, own)


def gather_elements(input: Any, indices: Any, *, axis: int) -> Any:
    """Output[c] = Input[c], with Indices[c] in place of the coordinate of Axis."""
    at, outside = last_outside(indices, input.shape[axis])
    return known(np.take_along_axis(input, at, axis), outside, indices)


def gather_nd1(
    input: Any,
    indices: Any,
    *,
    input_dimension_count: int,
    indices_dimension_count: int,
    batch_dimension_count: int,
) -> Any:
    """Output[b, m, t] = Input[b, Indices[b, m], t].

    b are the coordinates of the first BatchDimensionCount dimensions in use. The last dimension of Indices has the
    coordinates of a tuple; t are the coordinates after those.
    """
    x, tuples = last_dimensions(input, input_dimension_count), last_dimensions(indices, indices_dimension_count)
    count, width, batches = tuples.ndim - 1, tuples.shape[-1], batch_dimension_count
    own = np.ogrid[tuple(map(slice, tuples.shape[:batches]))]
    batch = [with_ones_after(at, count - batches) for at in own]
    each = map(last_outside, np.moveaxis(tuples, -1, 0), x.shape[batches : batches + width])
    at, outside = zip(*each, strict=True)
    mark = with_ones_after(np.asarray(reduce(np.logical_or, outside)), x.ndim - batches - width)
    found = x[(*batch, *at)]
    return known(found, mark, tuples) if width == 1 else PartlyUndefined(found, mark)


def gather_nd(input: Any, indices: Any, *, input_dimension_count: int, indices_dimension_count: int) -> Any:
    """Output[m, t] = Input[Indices[m], t].

    The last dimension of Indices has the coordinates of a tuple; t are the coordinates after those.
    """
    counts = {"input_dimension_count": input_dimension_count, "indices_dimension_count": indices_dimension_count}
    return gather_nd1(input, indices, **counts, batch_dimension_count=0)


def coordinates(indices: Iterable[Any], sizes: Sequence[int]) -> tuple[tuple[Any, ...], list[Any]]:
    """Return indices as positions along several dimensions, and for each a mask of those outside, as `indices_in`."""
    found = list(map(indices_in, indices, sizes))
    return tuple(at for at, _ in found), [outside for _, outside in found]


# ---- replacing


def scatter(input: Any, indices: Any, updates: Any, *, axis: int) -> Any:
    """Output is Input with Updates[c] at c, where Indices[c] replaces the coordinate of Axis."""
    grid = np.ogrid[tuple(map(slice, indices.shape))]
    return replaced(input, (*grid[:axis], indices, *grid[axis + 1 :]), updates)


def scatter_nd(
    input: Any, indices: Any, updates: Any, *, input_dimension_count: int, indices_dimension_count: int
) -> Any:
    """Output is Input with Updates[m, t] at [Indices[m], t].

    The last dimension of Indices has the coordinates of a tuple; t are the coordinates after those.
    """
    tuples = last_dimensions(indices, indices_dimension_count)
    lead = [0] * (input.ndim - input_dimension_count)
    each = (*lead, *np.moveaxis(tuples, -1, 0))
    found = replaced(input, each, updates)
    if isinstance(found, PartlyUndefined) and in_32_bits(tuples):
        found = counted_on(found, each, updates)
    return found


def counted_on(found: PartlyUndefined, indices: Sequence[Any], updates: Any) -> AsMeasured:
    """Return a tensor with the updates by indices outside where these lead, counted over all dimensions together."""
    value, mark = found.value.copy(), found.where.copy()
    sizes = value.shape[: len(indices)]
    place, is_inside = within_all(indices, sizes)
    at = np.unravel_index(place[is_inside], sizes)
    is_beyond = reduce(np.logical_or, coordinates(indices, sizes)[1])
    value[at] = updates[is_inside]
    mark[tuple(one[is_beyond[is_inside]] for one in at)] = True
    return AsMeasured(value, mark)


def replaced(x: Any, indices: Sequence[Any], updates: Any) -> Any:
    """Return a tensor with updates at indices of its first dimensions.

    An index outside the tensor makes undefined the elements that it may replace: at its nearest end, and at both ends.
    """
    sizes = x.shape[: len(indices)]
    at, outside = coordinates(indices, sizes)
    beyond, found = reduce(np.logical_or, outside), x.copy()
    if not beyond.any():
        found[at] = updates
        return found
    found[masked(at, ~beyond)] = updates[~beyond]
    mark = np.zeros(x.shape, bool)
    for ends in (at, [0] * len(sizes), [size - 1 for size in sizes]):
        mark[masked(list(map(np.where, outside, ends, at)), beyond)] = True
    return PartlyUndefined(found, mark)


def masked(at: Sequence[Any], mask: Any) -> tuple[Any, ...]:
    """Return the coordinates at the places of a mask."""
    return tuple(np.broadcast_to(one, mask.shape)[mask] for one in at)


# ---- one-hot


def one_hot(indices: Any, values: Any, *, axis: int, output: TensorDesc, places: Places) -> Any:
    """Output[c] = Values[1] where c[Axis] is Indices[c], with 0 for the coordinate of Axis; else Values[0]."""
    off, on = values.flat[:2]
    found, outside = indices_in(indices, output.sizes[axis])
    at = with_ones_after(np.asarray(places[axis]), indices.ndim - axis - 1)
    return known(np.where((at == found) & ~outside, on, off), indices < -output.sizes[axis], indices)


# ---- sorting


def top_k1(input: Any, *, axis: int, k: int, axis_direction: str) -> dict[str, Any]:
    """The K smallest or largest elements of each sequence along Axis, sorted by AxisDirection, and their indices.

    Among equal elements the lower index comes first. -0 and 0 are equal, or -0 is the smaller.
    """
    has_nan, *has_zeros = notable(input, axis)
    readings = [False, True] if np.logical_and(*has_zeros).any() else [False]
    order = partial(first_in_order, input, axis, k, is_decreasing=axis_direction == "DECREASING")
    orders = [order(has_order=has_order) for has_order in readings]
    return {
        "output_value": PartlyUndefined(np.take_along_axis(input, orders[0], axis), has_nan),
        "output_index": PartlyUndefined(alternatives(*orders), has_nan),
    }


def top_k(input: Any, *, axis: int, k: int) -> dict[str, Any]:
    """The K largest elements of each sequence along Axis, in decreasing order, and their indices.

    Among equal elements the lower index comes first. -0 and 0 are equal, or -0 is the smaller.
    """
    return top_k1(input, axis=axis, k=k, axis_direction="DECREASING")


def notable(x: Any, axis: int) -> Any:
    """Return masks of the sequences with NaN, with 0, and with -0."""
    if not is_float(x):
        return np.zeros(3, bool)
    zeros = as_bits(np.array([0.0, -0.0], x.dtype))
    is_nan = np.isnan(x).any(axis=axis, keepdims=True)
    return np.stack([is_nan, *((as_bits(x) == zero).any(axis=axis, keepdims=True) for zero in zeros)])


# ---- coordinates


def nonzero_coordinates(input: Any, *, output_coordinates: TensorDesc) -> dict[str, Any]:
    """OutputCount is the number of elements other than 0; row r of OutputCoordinates is the place of the r-th of them.

    Later rows belong to no element.
    """
    rows, count = output_coordinates.sizes[-2:]
    found, mark = np.zeros((rows, count), np.uint32), np.ones((rows, 1), bool)
    at, doubt = np.flatnonzero(input != 0), in_doubt(input).ravel()
    for axis, places in enumerate(np.unravel_index(at, input.shape)[input.ndim - count :]):
        found[: at.size, axis] = places
    mark[: at.size, 0] = doubt.any() and np.logical_or.accumulate(doubt)[at]
    seen = np.zeros((rows, 1), bool)
    is_nan = np.isnan(input).ravel() if is_float(input) else np.zeros(input.size, bool)
    seen[: at.size, 0] = is_nan.any() and np.logical_or.accumulate(is_nan)[at]
    marks = np.broadcast_to(mark, (rows, count))
    sizes = output_coordinates.sizes
    is_seen = np.broadcast_to(seen, (rows, count)).reshape(sizes)
    return {
        "output_coordinates": PartlyUndefined(AsMeasured(found.reshape(sizes), is_seen), marks.reshape(sizes)),
        "output_count": PartlyUndefined(AsMeasured(np.array([at.size]), is_nan.any()), doubt.any()),
    }


def in_doubt(x: Any) -> Any:
    """Return a mask of the elements that may or may not count as 0: denormals, which devices may flush."""
    if not is_float(x):
        return np.zeros(x.shape, bool)
    return (x != 0) & (np.abs(x) < np.finfo(x.dtype).smallest_normal)


GATHER = Cut(needs={"input": lines_of_gather, "indices": indices_of_gather}, blocks=BLOCKS_OF_COPIES)
GATHER_ND = Cut(needs={"input": parts_of_gather_nd, "indices": tuples_of_gather_nd})
SEQUENCES = Groups(lambda given: (given["axis"],), is_whole=True)

INDEXED = Spread(places=("indices",))

KERNELS: dict[str, Kernel] = {
    "GATHER": exact_row(gather, GATHER, spread=INDEXED),
    "GATHER_ELEMENTS": exact_row(gather_elements, Cut(needs={"input": LINES})),
    "GATHER_ND": exact_row(gather_nd, GATHER_ND, spread=INDEXED),
    "GATHER_ND1": exact_row(gather_nd1, GATHER_ND, spread=INDEXED),
    "NONZERO_COORDINATES": exact_row(nonzero_coordinates, UNCUT),
    "ONE_HOT": exact_row(one_hot, Cut(needs={"indices": LINES, "values": WHOLE})),
    "SCATTER": exact_row(
        scatter, Cut(axes_but_axis, {"indices": LINES, "updates": LINES}, BLOCKS_OF_COPIES), spread=INDEXED
    ),
    "SCATTER_ND": exact_row(
        scatter_nd,
        Cut(axes_after_tuples, {"indices": WHOLE, "updates": updates_after_tuples}, BLOCKS_OF_COPIES),
        spread=INDEXED,
    ),
    "TOP_K": exact_row(top_k, SEQUENCES, spread=Spread(RANKS)),
    "TOP_K1": exact_row(top_k1, SEQUENCES, spread=Spread(RANKS)),
}
