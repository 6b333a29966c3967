"""Elements that indices name, gathered, replaced or marked; the first of sorted sequences; where elements are not 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.pieces import Open, as_bits, is_float, width
from dmlcheck.reference.rows import WHOLE, Cut, Given, Groups, Kernel, Places, exact_row
from dmlcheck.reference.tiling.blocks import BLOCK, Index, runs, tiles_along, whole_along, with_ones_after
from dmlcheck.reference.tiling.piece import Piece, exact_piece

LIMIT = 4 * BLOCK  # elements of a piece:
COPIED = 8 * LIMIT  # elements of a piece of a gather or scatter: each piece of a scatter looks at all updates


# ---- indices


def indices_in(indices: Any, size: int) -> tuple[Any, Any]:
    """Return where indices point along a dimension, and which are outside of it; these are moved to its nearest end.

    Negative indices of signed types count from the end.
    """
    indices = np.asarray(indices)
    at = np.asarray(np.minimum(indices, size) if indices.dtype.kind == "u" else indices).astype(np.int64)
    np.add(at, size, out=at, where=at < 0)
    outside = ~is_inside(at, size)
    return np.clip(at, 0, size - 1, out=at), outside


def is_inside(at: Any, size: int) -> Any:
    """Say which places are in a dimension."""
    return (at >= 0) & (at < size)


def right_aligned(index: Index, rank: int) -> Index:
    """Return an index in `rank` dimensions: with whole ones before its own, or without its first ones."""
    return (slice(None),) * (rank - len(index)) + index[max(0, len(index) - rank) :]


def last_dimensions(x: Any, count: int) -> tuple[Any, bool]:
    """Return the part of a tensor at 0 of all dimensions but the last, and whether there is any other part."""
    lead = x.ndim - count
    return x[(*[0] * lead, ...)], any(size > 1 for size in x.shape[:lead])


# ---- gathering


def gather(input: Any, indices: Any, *, axis: int, index_dimensions: int, output: TensorDesc) -> Iterator[Piece]:
    """Output[l, b, t] = Input[l, Indices[b], t].

    l are the coordinates before Axis, t those after it, b those of the last IndexDimensions dimensions of
    IndicesTensor.
    """
    own, is_open = last_dimensions(indices, index_dimensions)
    after = axis + index_dimensions
    for index in tiles_along(range(len(output.sizes)), output.sizes, COPIED):
        full = right_aligned(index, input.ndim - 1 + index_dimensions)
        part = input[(*full[:axis], slice(None), *full[after:])]
        yield exact_piece(index, partial(taken, axis=axis, is_open=is_open), (part, own[full[axis:after]]))


def taken(x: Any, indices: Any, *, axis: int, is_open: bool) -> Open:
    """The parts of x at indices along an axis."""
    at, outside = indices_in(indices, x.shape[axis])
    mark = np.asarray(outside | is_open)
    found = np.take(x, at, axis) if x.flags.c_contiguous else x[(*[slice(None)] * axis, at)]  # take copies others first
    return Open(found, with_ones_after(mark, x.ndim - axis - 1))


def gather_elements(input: Any, indices: Any, *, axis: int) -> Iterator[Piece]:
    """Output[c] = Input[c], with Indices[c] in place of the coordinate of Axis."""
    corner = input[whole_along(axis, tuple(map(slice, indices.shape)))]
    for index in tiles_along(range(input.ndim), indices.shape, LIMIT):
        lines = corner[whole_along(axis, index)]
        yield exact_piece(index, partial(taken_along, axis=axis), (lines, indices[index]))


def taken_along(x: Any, indices: Any, *, axis: int) -> Open:
    """The elements of the lines of x along an axis at an index of their own."""
    at, outside = indices_in(indices, x.shape[axis])
    return Open(np.take_along_axis(x, at, axis), outside)


def gather_nd1(
    input: Any,
    indices: Any,
    *,
    input_dimension_count: int,
    indices_dimension_count: int,
    batch_dimension_count: int,
    output: TensorDesc,
) -> Iterator[Piece]:
    """Output[b, m, t] = Input[b, Indices[b, m], t].

    b are the coordinates of the first BatchDimensionCount dimensions in use. The last dimension of Indices has the
    coordinates of a tuple; t are the coordinates after those.
    """
    x, is_open = last_dimensions(input, input_dimension_count)
    tuples, more = last_dimensions(indices, indices_dimension_count)
    count, width = tuples.ndim - 1, tuples.shape[-1]
    for index in tiles_along(range(len(output.sizes)), output.sizes, LIMIT):
        full = right_aligned(index, count + x.ndim - batch_dimension_count - width)
        batches, rest = full[:batch_dimension_count], full[count:]
        part = x[(*batches, *[slice(None)] * width, *rest)]
        formula = partial(taken_by_tuples, batches=len(batches), is_open=is_open or more)
        yield exact_piece(index, formula, (part, tuples[full[:count]]))


def taken_by_tuples(x: Any, tuples: Any, *, batches: int, is_open: bool) -> Open:
    """The parts of x at tuples of indices, for each of the batches in its first dimensions its own."""
    count, width = tuples.ndim - 1, tuples.shape[-1]
    own = np.ogrid[tuple(map(slice, tuples.shape[:batches]))]
    found = [indices_in(tuples[..., p], x.shape[batches + p]) for p in range(width)]
    batch = [with_ones_after(at, count - batches) for at in own]
    mark = np.asarray(reduce(np.logical_or, (outside for _, outside in found), is_open))
    return Open(x[(*batch, *(at for at, _ in found))], with_ones_after(mark, x.ndim - batches - width))


def gather_nd(
    input: Any, indices: Any, *, input_dimension_count: int, indices_dimension_count: int, output: TensorDesc
) -> Iterator[Piece]:
    """Output[m, t] = Input[Indices[m], t].

    The last dimension of Indices has the coordinates of a tuple; t are the coordinates after those.
    """
    return gather_nd1(
        input,
        indices,
        input_dimension_count=input_dimension_count,
        indices_dimension_count=indices_dimension_count,
        batch_dimension_count=0,
        output=output,
    )


# ---- replacing


def scatter(input: Any, indices: Any, updates: Any, *, axis: int) -> Iterator[Piece]:
    """Output is Input with Updates[c] at c, where Indices[c] replaces the coordinate of Axis."""
    for index in tiles_along(range(input.ndim), input.shape, COPIED):
        lines, starts = whole_along(axis, index), starts_of(index)
        columns = partial(coordinates_with, axis=axis, starts=starts)
        formula = partial(replaced, columns=columns, sizes=input.shape, starts=starts)
        yield exact_piece(index, formula, (input[index], indices[lines], updates[lines]))


def coordinates_with(indices: Any, cut: Index, *, axis: int, starts: Sequence[int]) -> Sequence[Any]:
    """Return the coordinates of elements, with their indices for that of an axis; `cut` counts from `starts`."""
    first = np.add(starts, starts_of(cut))
    grid = np.ogrid[tuple(map(slice, first, first + indices.shape))]
    return (*grid[:axis], indices, *grid[axis + 1 :])


def scatter_nd(
    input: Any, indices: Any, updates: Any, *, input_dimension_count: int, indices_dimension_count: int
) -> Iterator[Piece]:
    """Output is Input with Updates[m, t] at [Indices[m], t].

    The last dimension of Indices has the coordinates of a tuple; t are the coordinates after those.
    """
    _, is_open = last_dimensions(input, input_dimension_count)
    tuples, more = last_dimensions(indices, indices_dimension_count)
    lead = input.ndim - input_dimension_count
    sizes = input.shape[: lead + tuples.shape[-1]]
    blocks = updates.reshape((*tuples.shape[:-1], *input.shape[len(sizes) :]))
    columns = partial(coordinates_of_tuples, lead=lead)
    formula = partial(replaced, columns=columns, sizes=sizes, is_open=is_open or more)
    for index in tiles_along(range(input.ndim), input.shape, COPIED):
        part = blocks[(*[slice(None)] * (tuples.ndim - 1), *index[len(sizes) :])]
        yield exact_piece(index, partial(formula, starts=starts_of(index)), (input[index], tuples, part))


def coordinates_of_tuples(tuples: Any, _: Index, *, lead: int) -> Sequence[Any]:
    """Return the coordinates that tuples have, after those of the dimensions before, which are 0."""
    return (*[0] * lead, *np.moveaxis(tuples, -1, 0))


def starts_of(index: Index) -> list[int]:
    """Return where the slices of an index begin."""
    return [at.start or 0 for at in index]


def replaced(
    x: Any,
    indices: Any,
    updates: Any,
    *,
    columns: Callable[[Any, Index], Sequence[Any]],
    sizes: Sequence[int],
    starts: Sequence[int],
    is_open: bool = False,
) -> Open:
    """A part of a tensor, which begins at `starts`, with the updates that go there.

    `columns` gives the coordinates of a part of the updates along the first dimensions of the tensor, of these sizes.
    """
    found, mark = x.copy(), np.full(x.shape, is_open)
    count = updates.ndim - x.ndim + len(sizes)  # of the dimensions that number the updates
    for cut in tiles_along(range(count), updates.shape[:count], max(1, BLOCK // math.prod(updates.shape[count:]))):
        at, outside = zip(*map(indices_in, columns(indices[cut], cut), sizes), strict=True)
        beyond = reduce(np.logical_or, outside)
        where, here = inside(at, ~beyond, starts, x.shape)
        found[where] = updates[cut][here]
        for ends in (at, [0] * len(sizes), [size - 1 for size in sizes]) if beyond.any() else ():
            mark[inside(list(map(np.where, outside, ends, at)), beyond, starts, x.shape)[0]] = True
    return Open(found, mark)


def inside(at: Sequence[Any], mask: Any, starts: Sequence[int], sizes: Sequence[int]) -> tuple[tuple[Any, ...], Any]:
    """Return the coordinates, of those that a mask has, in the part of a tensor that begins at `starts`; and a mask."""
    own = list(map(np.subtract, at, starts))
    here = reduce(np.logical_and, map(is_inside, own, sizes), mask)
    return tuple(np.broadcast_to(one, here.shape)[here] for one in own), here


# ---- one-hot


def one_hot(indices: Any, values: Any, *, axis: int, output: TensorDesc, places: Places) -> Open:
    """Output[c] = Values[1] where c[Axis] is Indices[c], with 0 for the coordinate of Axis; else Values[0]."""
    off, on = values.flat[:2]
    found, outside = indices_in(indices, output.sizes[axis])
    at = with_ones_after(np.asarray(places[axis]), indices.ndim - axis - 1)
    return Open(np.where((at == found) & ~outside, on, off), outside & (indices < 0))


# ---- sorting


def top_k1(input: Any, *, axis: int, k: int, axis_direction: str) -> dict[str, Any]:
    """The K smallest or largest elements of each sequence along Axis, sorted by AxisDirection, and their indices.

    Among equal elements the lower index comes first.
    """
    order = first_in_order(sorting_keys(input, is_decreasing=axis_direction == "DECREASING"), axis, k)
    found = np.take_along_axis(input, order, axis)
    has_nan, has_zero, has_negative_zero = notable(input, axis)
    is_open = has_nan | (has_zero & has_negative_zero & (found == 0))
    return {"output_value": Open(found, has_nan), "output_index": Open(order, is_open)}


def top_k(input: Any, *, axis: int, k: int) -> dict[str, Any]:
    """The K largest elements of each sequence along Axis, in decreasing order, and their indices.

    Among equal elements the lower index comes first.
    """
    return top_k1(input, axis=axis, k=k, axis_direction="DECREASING")


def first_in_order(keys: Any, axis: int, k: int) -> Any:
    """Return the places along an axis of the first k keys in rising order; of equal ones the first comes first."""
    part = (*[slice(None)] * axis, slice(k))
    if keys.dtype.itemsize == 8:
        return np.argsort(keys, axis=axis, kind="stable")[part]
    pairs = np.empty((*keys.shape, 2), "<u4")  # places and keys, sorted as they lie: argsort takes twice the memory
    pairs[..., 1] = keys
    del keys
    pairs[..., 0] = with_ones_after(np.arange(pairs.shape[axis], dtype=np.uint32), pairs.ndim - axis - 2)
    numbers = pairs.view("<u8")[..., 0]
    numbers.sort(axis=axis)
    return (numbers[part] & np.uint64(0xFFFFFFFF)).astype(np.int64)


def sorting_keys(x: Any, *, is_decreasing: bool) -> Any:
    """Return unsigned integers in the order in which elements are sorted, the same for equal ones; NaN is last."""
    if is_float(x):
        bits = as_bits(0 - x if is_decreasing else 0 + x)  # where -0 is 0
        found = np.where(bits < _middle(x), bits | _middle(x), ~bits)
        return np.where(np.isnan(x), ~bits.dtype.type(0), found)
    found = as_bits(x) ^ _middle(x) if x.dtype.kind == "i" else x
    return ~found if is_decreasing else found


def _middle(x: Any) -> Any:
    """Return the unsigned integer whose only bit is the sign's."""
    return as_bits(x).dtype.type(1 << width(x) - 1)


def notable(x: Any, axis: int) -> Any:
    """Say which sequences hold NaN, which 0, and which -0."""
    if not is_float(x):
        return np.zeros(3, bool)
    zeros = as_bits(np.array([0.0, -0.0], x.dtype))
    is_nan = np.isnan(np.maximum.reduce(x, axis=axis, keepdims=True))
    return np.stack([is_nan, *((as_bits(x) == zero).any(axis=axis, keepdims=True) for zero in zeros)])


# ---- coordinates


def nonzero_coordinates(input: Any, *, output_coordinates: TensorDesc) -> Iterator[Piece]:
    """OutputCount is the number of elements that are not 0, row r of OutputCoordinates where the r-th of them is."""
    *lead, rows, count = output_coordinates.sizes
    first = [0] * len(lead)
    row, is_open = 0, False
    for index, start, _ in runs(input.shape, LIMIT):
        part = input[index]
        formula = partial(coordinates, start=start, sizes=input.shape, count=count, is_open=is_open)
        stop = row + int(np.count_nonzero(part))
        yield exact_piece({"output_coordinates": (*first, slice(row, stop))}, formula, (part,))
        row, is_open = stop, is_open or bool(in_doubt(part).any())
    yield Piece({"output_count": ()}, lambda: {"output_count": Open(np.array([row]), is_open)})
    for start in range(row, rows, LIMIT):
        stop = min(start + LIMIT, rows)
        formula = partial(unwritten, stop - start, count)
        yield Piece({"output_coordinates": (*first, slice(start, stop))}, formula)


def coordinates(x: Any, *, start: int, sizes: Sequence[int], count: int, is_open: bool) -> dict[str, Any]:
    """The last coordinates of the elements that are not 0 in a row-major run of a tensor."""
    at = np.flatnonzero(x)
    found = np.stack(np.unravel_index(start + at, sizes)[len(sizes) - count :], axis=1)
    doubt = np.logical_or.accumulate(in_doubt(x).reshape(-1))[at] | is_open
    return {"output_coordinates": Open(found, doubt[:, None])}


def in_doubt(x: Any) -> Any:
    """Say which elements may count as 0 or not: NaN, and numbers so small that some devices take them for 0."""
    if not is_float(x):
        return np.zeros(x.shape, bool)
    return np.isnan(x) | ((x != 0) & (np.abs(x) < np.finfo(x.dtype).smallest_normal))


def unwritten(rows: int, count: int) -> dict[str, Any]:
    """Rows of coordinates that no element has: 0, which is left open."""
    return {"output_coordinates": Open(np.zeros((rows, count), np.uint32), np.ones((rows, count), bool))}


def without_axis(indices: Any, places: Places, given: Given) -> Any:
    """Return the indices of a tile, of which there is one along the axis."""
    return indices[whole_along(given["axis"], tuple(slice(at.start, at.stop) for at in places))]


SEQUENCES = Groups(lambda given: (given["axis"],), is_whole=True)

KERNELS: dict[str, Kernel] = {
    "GATHER": exact_row(gather),
    "GATHER_ELEMENTS": exact_row(gather_elements),
    "GATHER_ND": exact_row(gather_nd),
    "GATHER_ND1": exact_row(gather_nd1),
    "NONZERO_COORDINATES": exact_row(nonzero_coordinates),
    "ONE_HOT": exact_row(one_hot, Cut(needs={"indices": without_axis, "values": WHOLE}, blocks=4)),
    "SCATTER": exact_row(scatter),
    "SCATTER_ND": exact_row(scatter_nd),
    "TOP_K": exact_row(top_k, SEQUENCES),
    "TOP_K1": exact_row(top_k1, SEQUENCES),
}
