"""Windows that slide over the last dimensions of a tensor: convolution, pooling, FOLD, and sums around each element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Ball, total_of_shared
from dmlcheck.reference.places import Index, with_ones_after
from dmlcheck.reference.tiling.blocks import Blocks

Places = Sequence[slice]


class Window(NamedTuple):
    """A window by spatial dimension: its size, its step, the distance of its elements, and the padding at the start.

    At place o its element w is over the element o * stride + w * dilation - padding of the tensor. A negative padding
    leaves elements out; a dilation of 0 puts all elements of the window over one.
    """

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: tuple[int, ...]


def once_each(window: Window) -> Window:
    """Return the window that sees each element once where a dilation of 0 puts all of its elements over one."""
    size = tuple(size if gap else min(size, 1) for size, gap in zip(window.size, window.dilations, strict=True))
    return window._replace(size=size)


# ---- what a window sees


class View(NamedTuple):
    """How a window sees a tensor at some places.

    Of each dimension it sees the run of elements from the first to the last, padding included; or, where they are
    fewer, those of a table, which has a row for each place. A table has numbers of elements, and others for what is
    beyond the edges. So what is seen is never larger than what is computed of it, whatever the padding and dilations.
    Where a dilation of 0 puts many elements of the window over one, that is seen once: `repeats` says for how many.
    `sizes` are those of all of the tensor, where they are known.
    """

    places: Places
    window: Window
    tables: tuple[Any, ...]
    repeats: int = 1
    sizes: tuple[int, ...] = ()

    @property
    def counts(self) -> list[int]:
        """How many places there are along each dimension."""
        return [at.stop - at.start for at in self.places]

    @property
    def slid(self) -> Window:
        """The window that slides over what is seen: the same one over a run, over a table from row to row."""
        own = zip(self.tables, *self.window, strict=True)
        return Window(*zip(*(_slid(*row) for row in own), strict=True))


def _slid(table: Any, size: int, stride: int, dilation: int, padding: int) -> tuple[int, ...]:
    if table is not None:
        return (table.shape[1], table.shape[1], 1, 0)
    return (1, stride, 1, padding) if _is_repeated(size, dilation) else (size, stride, dilation, padding)


def _is_repeated(size: int, dilation: int) -> bool:
    return dilation == 0 and size > _LONG_RUN


_LONG_RUN = 32  # elements: fewer are reduced one by one as fast as in any other way


def view(places: Places, window: Window, sizes: Sequence[int], *, is_whole: bool = False) -> View:
    """Return how a window sees a tensor of these spatial sizes at places that slices with a start and a stop give.

    Elements of the window that are beyond the edges at every place, or see the same, are left out, unless `is_whole`.
    """
    rows = zip(places, sizes, *window, strict=True)
    tables = tuple(_table(*row, is_whole=is_whole) for row in rows)
    repeated = (size for size, gap in zip(window.size, window.dilations, strict=True) if _is_repeated(size, gap))
    return View(places, window, tables, 1 if is_whole else math.prod(repeated), tuple(sizes))


def table_of(numbers: Any) -> View:
    """Return how places along one dimension see the elements of a table, which has a row for each."""
    return View([slice(0, len(numbers))], Window((numbers.shape[1],), (1,), (1,), (0,)), (numbers,))


def run_at(places: Places, window: Window) -> View:
    """Return how a window sees runs at some places."""
    return View(places, window, (None,) * len(places))


def run_of(counts: Sequence[int], window: Window) -> View:
    """Return how a window sees runs at so many places, which begin with 0."""
    return run_at([slice(0, count) for count in counts], window)


def joined(seen: Sequence[View]) -> View:
    """Return how a tensor is seen of which views see a dimension each."""
    fields = (tuple(row[0] for row in rows) for rows in zip(*(each.window for each in seen), strict=True))
    return View([each.places[0] for each in seen], Window(*fields), tuple(each.tables[0] for each in seen))


def by_dimension(seen: View) -> list[View]:
    """Return how each dimension is seen."""
    rows = zip(seen.places, windows_by_dimension(seen.window), seen.tables, strict=True)
    return [View([at], window, (table,)) for at, window, table in rows]


def windows_by_dimension(window: Window) -> list[Window]:
    """Return the window of each dimension."""
    return list(map(Window, *map(zip, window)))


def _table(at: slice, total: int, size: int, stride: int, dilation: int, padding: int, *, is_whole: bool) -> Any:
    """Return the elements that a window sees along a dimension as a table, None where a run of them is no longer."""
    count = at.stop - at.start
    most = size if is_whole else seen_at_most(total, size, dilation)
    span = (count - 1) * stride + (size - 1) * dilation + 1
    if size == 0 or (count * most >= span and not (is_whole and _is_repeated(size, dilation))):
        return None
    starts = np.arange(at.start, at.stop) * stride - padding
    if is_whole or dilation == 0:
        return starts[:, None] + np.arange(most) * dilation
    first, stop = _inside(starts, total, size, dilation)
    taps = first[:, None] + np.arange(max(1, int((stop - first).max())))
    return np.where(taps < stop[:, None], starts[:, None] + np.minimum(taps, stop[:, None]) * dilation, -1)


def seen_at_most(total: int, size: int, dilation: int) -> int:
    """Return how many elements of a window may be inside of a dimension at one place; at least 1."""
    if dilation == 0:
        return 1 if _is_repeated(size, dilation) else size
    return max(1, min(size, (total - 1) // dilation + 1))


def _inside(starts: Any, total: int, size: int, dilation: int) -> tuple[Any, Any]:
    """Return which elements of a window that begins at some places are inside: the first, and the one after the last.

    They are equal where none is.
    """
    if dilation == 0:
        return np.zeros_like(starts), np.where((starts >= 0) & (starts < total), size, 0)
    first = np.minimum(np.maximum(-(starts // dilation), 0), size)
    return first, np.maximum(np.minimum(-((starts - total) // dilation), size), first)


def part(x: Any, seen: View, fill: Any = 0) -> Any:
    """Return the elements of an array that a window sees; beyond the edges of the array there is `fill`.

    That is one number for all, or what is broadcast to the part.
    """
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
    """Return the run of elements that a window sees along a dimension, and how many more before and after it."""
    start = at.start * stride - padding
    stop = max(start, (at.stop - 1) * stride + (size - 1) * dilation + 1 - padding) if size else start
    first = min(max(start, 0), total)
    last = max(first, min(stop, total))
    before = min(first - start, stop - start) if start < 0 else 0
    return slice(first, last), (before, stop - start - before - (last - first))


def _picked(x: Any, table: Any, axis: int, fill: Any) -> Any:
    """Return the elements of a table along an axis, one row after the other."""
    numbers = table.reshape(-1)
    lead = (slice(None),) * axis
    is_beyond = (numbers < 0) | (numbers >= x.shape[axis])
    if len(table) == 1 and not is_beyond.any():  # one place, at which no element is seen twice unless all are one
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
    """Return what a window sees at some places of a tensor, of which x is the `part`.

    The sizes are those of x before the spatial dimensions, the numbers of places, and the sizes of the window. Nothing
    is copied.
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
    """Return a reduction of what the window sees at each place; Blocks are what it sees at one place."""
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
            values = of_runs(ufunc, values, axis, size)
        found = reduced(ufunc, _windows(values, counts, rest), len(counts))
        return found if repeats == 1 else found * float(repeats)

    return total_of_shared(x, reduction, repeats * math.prod(window.size)) if is_sum else reduction(x)


def is_long_run(axis: int, counts: Sequence[int], window: Window) -> bool:
    """Whether a window moves by 1 along a dimension and is so long that its places share most of what they see."""
    return window.size[axis] > _LONG_RUN and counts[axis] > 1 and window.strides[axis] == window.dilations[axis] == 1


def of_runs(ufunc: np.ufunc, x: Any, axis: int, size: int) -> Any:
    """Return a reduction of each run of `size` elements along an axis, in the time that three of all elements take.

    The axis is cut into blocks of that size. A run is the end of a block and the beginning of the next: of both there
    are the reductions on the way from the cut, so nothing is subtracted, and no run has what is not in it.
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
    """Return a reduction of what windows of so many dimensions see, of small ones one element after another."""
    lead = seen.ndim - rank
    if isinstance(seen, Ball) or math.prod(seen.shape[lead:]) > math.prod(seen.shape[:lead]):
        return ufunc.reduce(seen, axis=tuple(range(lead, seen.ndim)))
    return reduce(ufunc, (seen[(..., *at)] for at in np.ndindex(*seen.shape[lead:])))


# ---- where windows are


def place_count(size: int, taps: int, stride: int, dilation: int, padding: int, end: int) -> int:
    """Return how many places a window has."""
    return (size + padding + end - (taps - 1) * dilation - 1) // stride + 1


def places_at(index: Index, sizes: Sequence[int]) -> list[slice]:
    """Return the places that an index of slices has of so many along each dimension."""
    return [slice(*at.indices(size)[:2]) for at, size in zip(index, sizes, strict=True)]


def _starts(places: Places, window: Window) -> list[Any]:
    """Return where the first element of the window is at each place, by dimension."""
    rows = zip(places, window.strides, window.padding, strict=True)
    return [np.arange(at.start, at.stop) * stride - padding for at, stride, padding in rows]


def numbers(seen: View) -> list[Any]:
    """Return where in the tensor the elements are that a window sees: for each dimension, place and element."""
    window = seen.slid
    rows = zip(_starts(seen.places, seen.window), seen.tables, window.size, window.dilations, strict=True)
    return [start[:, None] + np.arange(size) * gap if table is None else table for start, table, size, gap in rows]


def seen_count(places: Places, window: Window, sizes: tuple[int, ...]) -> Any:
    """Return how many elements of the input the window sees at each place."""
    return count_at([np.arange(at.start, at.stop) for at in places], window, sizes)


def count_at(places: Sequence[Any], window: Window, sizes: Sequence[int]) -> Any:
    """Return how many elements of the input the window sees at places of which each dimension has the numbers."""
    found = []
    for own, total, size, stride, gap, padding in zip(places, sizes, *window, strict=True):
        first, stop = _inside(own * stride - padding, total, size, gap)
        found.append(stop - first)
    is_long = math.prod(window.size) >= 1 << 63  # so many elements over one, by a dilation of 0, have no whole number
    return reduce(np.multiply.outer, (count.astype(float) for count in found) if is_long else found)


def padded_count(places: Places, window: Window, ends: tuple[int, ...]) -> Any:
    """Return how many elements before some ends, of the input or of the padding, the window has at each place."""
    return seen_count(places, *from_padding(window, ends))


def from_padding(window: Window, ends: Sequence[int]) -> tuple[Window, tuple[int, ...]]:
    """Return a window and ends of a tensor, both counted from where the padding begins."""
    return window._replace(padding=(0,) * len(window.size)), tuple(map(add, window.padding, ends))


def numbers_in_part(seen: View) -> list[Any]:
    """Return for each dimension the numbers of the elements in the part that a window sees."""
    rows = zip(seen.tables, _starts(seen.places, seen.window), seen.window.size, seen.window.dilations, strict=True)
    return [
        np.arange(starts[0], starts[-1] + (size - 1) * gap + 1) if table is None else table.reshape(-1)
        for table, starts, size, gap in rows
    ]


def first_place(hits: Any, seen: View, sizes: tuple[int, ...]) -> Any:
    """Return where in the input the first element of each window is that hits and is inside, counted row-major.

    `hits` has the places and the elements of the window last; where no element hits the result has no meaning.
    """
    tables = numbers(seen)
    inside = hits
    for axis, (table, size) in enumerate(zip(tables, sizes, strict=True)):
        inside = inside & _along((table >= 0) & (table < size), axis, len(sizes))
    lead = hits.shape[: hits.ndim - len(sizes)]
    first = inside.reshape(*lead, -1).argmax(axis=-1)
    flat = np.unravel_index(
        first.reshape(-1), [table.shape[1] for table in tables]
    )  # of others NumPy 2.4 has some wrong
    elements = [element.reshape(first.shape) for element in flat]
    index: Any = 0
    for axis, (table, element, size) in enumerate(zip(tables, elements, sizes, strict=True)):
        place = with_ones_after(np.arange(len(table)), len(sizes) - axis - 1)
        index = index * size + table[place, element]
    return index


def _along(table: Any, axis: int, count: int) -> Any:
    """Return a table of the places and elements of one dimension so that it broadcasts to those of all."""
    shape = [1] * (2 * count)
    shape[axis], shape[count + axis] = table.shape
    return table.reshape(shape)
