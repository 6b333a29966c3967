"""Windows that slide over the last dimensions of a tensor, for convolution, pooling, FOLD and sums of neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.arrays.places import Index, with_ones_after
from dmlcheck.reference.ball.numbers import Ball, radius, raw, total_of_shared

Places = Sequence[slice]


class Window(NamedTuple):
    """A window: by spatial dimension its size, its strides, its dilations, and the padding at the start.

    At place o, element w of the window is over the element o * stride + w * dilation - padding of the tensor. A
    negative padding leaves elements out. With a dilation of 0 all elements of the window are over the same one.
    """

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: tuple[int, ...]


def without_repeats(window: Window) -> Window:
    """Return a window whose dimensions with a dilation of 0 have size 1, so that it covers no element twice."""
    size = tuple(size if gap else min(size, 1) for size, gap in zip(window.size, window.dilations, strict=True))
    return window._replace(size=size)


# ---- the elements under a window


class View(NamedTuple):
    """The elements of a tensor under a window at some places, and how the window slides over them.

    In each dimension they are a run, from the first element to the last, padding included; or, where that has fewer
    elements, a table with a row of indices for each place, in which indices beyond the edges stand for padding. So the
    elements are never more than the operations on them, for any padding and dilations. Many elements of a window
    that a dilation of 0 puts over one tensor element are there once; `repeats` is their number. `sizes` has the spatial
    sizes of the tensor, if they are known.
    """

    places: Places
    window: Window
    tables: tuple[Any, ...]
    repeats: int = 1
    sizes: tuple[int, ...] = ()

    @property
    def counts(self) -> list[int]:
        """The number of places along each dimension."""
        return [at.stop - at.start for at in self.places]

    @property
    def slid(self) -> Window:
        """The window over the elements of the view: the same one over a run; over a table it moves from row to row."""
        own = zip(self.tables, *self.window, strict=True)
        return Window(*zip(*(_slid(*row) for row in own), strict=True))


def _slid(table: Any, size: int, stride: int, dilation: int, padding: int) -> tuple[int, ...]:
    if table is not None:
        return (table.shape[1], table.shape[1], 1, 0)
    return (1, stride, 1, padding) if _is_repeated(size, dilation) else (size, stride, dilation, padding)


def _is_repeated(size: int, dilation: int) -> bool:
    return dilation == 0 and size > _LONG_RUN


_LONG_RUN = 32  # elements of a window; no other way to reduce fewer is faster than one by one


def view(places: Places, window: Window, sizes: Sequence[int], *, is_whole: bool = False) -> View:
    """Return the view of a tensor of these spatial sizes; `places` are slices with a start and a stop.

    Elements of the window that are beyond the edges at every place, or repeat others, are left out unless `is_whole`.
    """
    rows = zip(places, sizes, *window, strict=True)
    tables = tuple(_table(*row, is_whole=is_whole) for row in rows)
    repeated = (size for size, gap in zip(window.size, window.dilations, strict=True) if _is_repeated(size, gap))
    return View(places, window, tables, 1 if is_whole else math.prod(repeated), tuple(sizes))


def table_of(numbers: Any) -> View:
    """Return the view of one dimension whose table has a row of indices for each place."""
    return View([slice(0, len(numbers))], Window((numbers.shape[1],), (1,), (1,), (0,)), (numbers,))


def run_at(places: Places, window: Window) -> View:
    """Return the view of runs at some places."""
    return View(places, window, (None,) * len(places))


def run_of(counts: Sequence[int], window: Window) -> View:
    """Return the view of runs at the places from 0 on; `counts` has their number by dimension."""
    return run_at([slice(0, count) for count in counts], window)


def joined(seen: Sequence[View]) -> View:
    """Return one view from views of one dimension each."""
    fields = (tuple(row[0] for row in rows) for rows in zip(*(each.window for each in seen), strict=True))
    return View([each.places[0] for each in seen], Window(*fields), tuple(each.tables[0] for each in seen))


def windows_by_dimension(window: Window) -> list[Window]:
    """Return the window of each dimension."""
    return list(map(Window, *map(zip, window)))


def _table(at: slice, total: int, size: int, stride: int, dilation: int, padding: int, *, is_whole: bool) -> Any:
    """Return the table of a dimension, or None where a run has no more elements than a table."""
    count = at.stop - at.start
    most = size if is_whole else most_seen(total, size, dilation)
    span = (count - 1) * stride + (size - 1) * dilation + 1
    if size == 0 or (count * most >= span and not (is_whole and _is_repeated(size, dilation))):
        return None
    starts = np.arange(at.start, at.stop) * stride - padding
    if is_whole or dilation == 0:
        return starts[:, None] + np.arange(most) * dilation
    first, stop = _inside(starts, total, size, dilation)
    taps = first[:, None] + np.arange(max(1, int((stop - first).max())))
    return np.where(taps < stop[:, None], starts[:, None] + np.minimum(taps, stop[:, None]) * dilation, -1)


def most_seen(total: int, size: int, dilation: int) -> int:
    """Return the most elements of a window that can be inside a dimension at one place; at least 1."""
    if dilation == 0:
        return 1 if _is_repeated(size, dilation) else size
    return max(1, min(size, (total - 1) // dilation + 1))


def _inside(starts: Any, total: int, size: int, dilation: int) -> tuple[Any, Any]:
    """Return the range of a window's elements that are inside a dimension, for windows that begin at some indices.

    It is the first element, and the one after the last; they are equal where none is inside.
    """
    if dilation == 0:
        return np.zeros_like(starts), np.where((starts >= 0) & (starts < total), size, 0)
    first = np.minimum(np.maximum(-(starts // dilation), 0), size)
    return first, np.maximum(np.minimum(-((starts - total) // dilation), size), first)


def part(x: Any, seen: View, fill: Any = 0) -> Any:
    """Return the elements of a view, with `fill` beyond the edges of the array: a number, or an array to broadcast."""
    if isinstance(x, Ball):
        of_both = (part(x.value, seen, raw(fill)), part(x.radius, seen, radius(fill)))
        return Ball(*of_both, x.arithmetic, x.terms)
    lead = x.ndim - len(seen.places)
    cut, width = [slice(None)] * lead, [(0, 0)] * lead
    for table, total, at, *own in zip(seen.tables, x.shape[lead:], seen.places, *seen.window, strict=True):
        inside, beyond = (slice(None), (0, 0)) if table is not None else _run(total, at, *own)
        cut.append(inside)
        width.append(beyond)
    found = x[tuple(cut)]
    for axis, table in enumerate(seen.tables, lead):
        found = found if table is None else _picked(found, table, axis, fill)
    return _padded(found, width, fill) if any(map(any, width)) else found


def _run(total: int, at: slice, size: int, stride: int, dilation: int, padding: int) -> tuple[slice, tuple[int, int]]:
    """Return the run of a dimension: the slice of the tensor, and the padding before and after it."""
    start = at.start * stride - padding
    stop = max(start, (at.stop - 1) * stride + (size - 1) * dilation + 1 - padding) if size else start
    first = min(max(start, 0), total)
    last = max(first, min(stop, total))
    before = min(first - start, stop - start) if start < 0 else 0
    return slice(first, last), (before, stop - start - before - (last - first))


def _picked(x: Any, table: Any, axis: int, fill: Any) -> Any:
    """Return the elements along an axis whose indices are in a table, one row after the other."""
    numbers = table.reshape(-1)
    lead = (slice(None),) * axis
    is_beyond = (numbers < 0) | (numbers >= x.shape[axis])
    if len(table) == 1 and not is_beyond.any():  # one place: its indices have equal steps, all 0 or none
        step = int(numbers[1] - numbers[0]) if len(numbers) > 1 else 1
        if step:
            return x[(*lead, slice(int(numbers[0]), int(numbers[-1]) + 1, step))]
    found = np.take(x, np.where(is_beyond, 0, numbers), axis)
    if is_beyond.any():
        found[(*lead, is_beyond)] = fill
    return found


def _padded(x: Any, width: Sequence[tuple[int, int]], fill: Any) -> Any:
    sizes = [size + before + after for size, (before, after) in zip(x.shape, width, strict=True)]
    padded = np.broadcast_to(np.asarray(fill, x.dtype), sizes).copy()
    padded[tuple(slice(low, low + size) for size, (low, _) in zip(x.shape, width, strict=True))] = x
    return padded


def windows(x: Any, seen: View) -> Any:
    """Return the elements under the window at each place; x is the `part` of the view.

    The result is a NumPy view with the sizes of x before the spatial dimensions, then the counts of places, then the
    sizes of the window.
    """
    return _windows(x, seen.counts, seen.slid)


def _windows(x: Any, counts: Sequence[int], window: Window) -> Any:
    lead = x.ndim - len(counts)

    def view(values: Any) -> Any:
        steps = values.strides[lead:]
        moves = [step * stride for step, stride in zip(steps, window.strides, strict=True)]
        gaps = [step * dilation for step, dilation in zip(steps, window.dilations, strict=True)]
        sizes = (*values.shape[:lead], *counts, *window.size)
        return np.lib.stride_tricks.as_strided(values, sizes, (*values.strides[:lead], *moves, *gaps), writeable=False)

    return x.moved(view) if isinstance(x, Ball) else view(x)


def over(ufunc: np.ufunc, x: Any, seen: View) -> Any:
    """Return the reduction by a ufunc of the elements under the window at each place; Blocks are of one place."""
    repeats = seen.repeats if ufunc is np.add else 1
    if isinstance(x, Blocks):
        along: Any = partial(ufunc.reduce, axis=tuple(range(x.ndim - len(seen.places), x.ndim)), keepdims=True)
        return along(x) if repeats == 1 else along(x) * float(repeats)
    window, counts, lead = seen.slid, seen.counts, x.ndim - len(seen.places)
    runs = {lead + axis: size for axis, size in enumerate(window.size) if is_long_run(axis, counts, window)}
    is_sum = ufunc is np.add and isinstance(x, Ball)
    if repeats == 1 and (not runs or (isinstance(x, Ball) and not is_sum)):
        return reduced(ufunc, _windows(x, counts, window), len(counts))
    rest = window._replace(size=tuple(1 if lead + axis in runs else size for axis, size in enumerate(window.size)))

    def reduction(values: Any) -> Any:
        for axis, size in runs.items():
            values = reduced_runs(ufunc, values, axis, size)
        found = reduced(ufunc, _windows(values, counts, rest), len(counts))
        return found if repeats == 1 else found * float(repeats)

    return total_of_shared(x, reduction, repeats * math.prod(window.size)) if is_sum else reduction(x)


def is_long_run(axis: int, counts: Sequence[int], window: Window) -> bool:
    """Whether a window is long and moves by 1 along a dimension, so that its places share most of their elements."""
    return window.size[axis] > _LONG_RUN and counts[axis] > 1 and window.strides[axis] == window.dilations[axis] == 1


def reduced_runs(ufunc: np.ufunc, x: Any, axis: int, size: int) -> Any:
    """Return the reduction of each run of `size` elements along an axis, by three operations for each element.

    The axis is cut into blocks of that size, so that a run is the end of a block and the beginning of the next. The
    running reductions of each block, from both of its ends, give both parts. Nothing is subtracted, so that no run has
    rounding errors of elements that are not in it.
    """
    rows = np.moveaxis(x, axis, -1)
    count = rows.shape[-1] - size + 1
    blocks = -(-rows.shape[-1] // size)
    padded = np.zeros((*rows.shape[:-1], blocks * size), x.dtype)
    padded[..., : rows.shape[-1]] = rows
    cut = padded.reshape(*rows.shape[:-1], blocks, size)
    begun = ufunc.accumulate(cut, axis=-1).reshape(padded.shape)[..., size - 1 : size - 1 + count]
    ended = ufunc.accumulate(cut[..., ::-1], axis=-1)[..., ::-1].reshape(padded.shape)[..., :count]
    found = ufunc(ended, begun)
    found[..., ::size] = begun[..., ::size]
    return np.moveaxis(found, -1, axis)


def reduced(ufunc: np.ufunc, seen: Any, rank: int) -> Any:
    """Return the reduction of windows, which are the last `rank` dimensions; small windows element by element."""
    lead = seen.ndim - rank
    if isinstance(seen, Ball) or math.prod(seen.shape[lead:]) > math.prod(seen.shape[:lead]):
        return ufunc.reduce(seen, axis=tuple(range(lead, seen.ndim)))
    return reduce(ufunc, (seen[(..., *at)] for at in np.ndindex(*seen.shape[lead:])))


# ---- the places of windows


def places_at(index: Index, sizes: Sequence[int]) -> list[slice]:
    """Return the places that an index of slices selects, as slices with a start and a stop."""
    return [slice(*at.indices(size)[:2]) for at, size in zip(index, sizes, strict=True)]


def _starts(places: Places, window: Window) -> list[Any]:
    """Return the index of the window's first element at each place, by dimension."""
    rows = zip(places, window.strides, window.padding, strict=True)
    return [np.arange(at.start, at.stop) * stride - padding for at, stride, padding in rows]


def indices_seen(seen: View) -> list[Any]:
    """Return the indices in the tensor of the elements under a window: by dimension, a row for each place."""
    window = seen.slid
    rows = zip(_starts(seen.places, seen.window), seen.tables, window.size, window.dilations, strict=True)
    return [start[:, None] + np.arange(size) * gap if table is None else table for start, table, size, gap in rows]


def seen_count(places: Places, window: Window, sizes: tuple[int, ...]) -> Any:
    """Return how many elements of the window are inside the tensor at each place."""
    return count_at([np.arange(at.start, at.stop) for at in places], window, sizes)


def count_at(places: Sequence[Any], window: Window, sizes: Sequence[int]) -> Any:
    """Return how many elements of the window are inside the tensor at places, which are arrays by dimension."""
    found = []
    for own, total, size, stride, gap, padding in zip(places, sizes, *window, strict=True):
        first, stop = _inside(own * stride - padding, total, size, gap)
        found.append(stop - first)
    is_long = math.prod(window.size) >= 1 << 63  # a dilation of 0 allows counts beyond int64
    return reduce(np.multiply.outer, (count.astype(float) for count in found) if is_long else found)


def padded_count(places: Places, window: Window, ends: tuple[int, ...]) -> Any:
    """Return how many elements of the window are before some ends at each place, those on the padding included."""
    return seen_count(places, *from_padding(window, ends))


def from_padding(window: Window, ends: Sequence[int]) -> tuple[Window, tuple[int, ...]]:
    """Return a window and ends with indices that count from the start of the padding."""
    return window._replace(padding=(0,) * len(window.size)), tuple(map(add, window.padding, ends))


def indices_in_part(seen: View) -> list[Any]:
    """Return the indices in the tensor of the elements of the `part` of a view, by dimension."""
    rows = zip(seen.tables, _starts(seen.places, seen.window), seen.window.size, seen.window.dilations, strict=True)
    return [
        np.arange(starts[0], starts[-1] + (size - 1) * gap + 1) if table is None else table.reshape(-1)
        for table, starts, size, gap in rows
    ]


def first_place(hits: Any, seen: View, sizes: tuple[int, ...]) -> Any:
    """Return the row-major index in the tensor of the first element of each window that is marked and inside.

    `hits` are the marks, with the places and the elements of the window last. Without a mark the result has no meaning.
    """
    tables = indices_seen(seen)
    inside = hits
    for axis, (table, size) in enumerate(zip(tables, sizes, strict=True)):
        inside = inside & _along((table >= 0) & (table < size), axis, len(sizes))
    lead = hits.shape[: hits.ndim - len(sizes)]
    first = inside.reshape(*lead, -1).argmax(axis=-1)
    flat = np.unravel_index(
        first.reshape(-1), [table.shape[1] for table in tables]
    )  # one-dimensional: NumPy 2.4 returns wrong results for others
    elements = [element.reshape(first.shape) for element in flat]
    index: Any = 0
    for axis, (table, element, size) in enumerate(zip(tables, elements, sizes, strict=True)):
        place = with_ones_after(np.arange(len(table)), len(sizes) - axis - 1)
        index = index * size + table[place, element]
    return index


def _along(table: Any, axis: int, count: int) -> Any:
    """Return a table of one dimension in a shape that broadcasts to the places and elements of all dimensions."""
    shape = [1] * (2 * count)
    shape[axis], shape[count + axis] = table.shape
    return table.reshape(shape)
