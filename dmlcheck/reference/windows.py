"""Windows that slide over the last dimensions of a tensor: convolution, pooling, FOLD, and sums around each element."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.blocks import BLOCK, Blocks, Index, tiles_along, with_ones_after
from dmlcheck.reference.numbers import Tracked

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


def around(sizes: Sequence[int], axes: Sequence[int], before: int, after: int) -> Window:
    """Return the window that has so many elements before and after each along some axes, as far as there may be any."""
    least, most = (
        tuple(min(reach, size - 1) if axis in axes else 0 for axis, size in enumerate(sizes))
        for reach in (before, after)
    )
    ones = (1,) * len(sizes)
    return Window(tuple(map(sum, zip(least, most, ones, strict=True))), ones, ones, least)


def part(x: Any, places: Places, window: Window, fill: Any = 0) -> Any:
    """Return the part of an array that a window sees at some places, which slices with a start and a stop give.

    Elements beyond the edges of the array are `fill`, one for all or what is broadcast to the part.
    """
    lead = x.ndim - len(places)
    cut, width = [slice(None)] * lead, [(0, 0)] * lead
    for total, at, size, stride, dilation, padding in zip(x.shape[lead:], places, *window, strict=True):
        start = at.start * stride - padding
        stop = max(start, (at.stop - 1) * stride + (size - 1) * dilation + 1 - padding) if size else start
        first = min(max(start, 0), total)
        last = max(first, min(stop, total))
        before = min(first - start, stop - start) if start < 0 else 0
        cut.append(slice(first, last))
        width.append((before, stop - start - before - (last - first)))
    inside = x[tuple(cut)]
    if not any(map(any, width)):
        return inside
    sizes = [size + before + after for size, (before, after) in zip(inside.shape, width, strict=True)]
    padded = np.broadcast_to(np.asarray(fill, inside.dtype), sizes).copy()
    padded[tuple(slice(low, low + size) for size, (low, _) in zip(inside.shape, width, strict=True))] = inside
    return padded


def windows(x: Any, places: Places, window: Window) -> Any:
    """Return what a window sees at some places of a tensor, of which x is the `part`.

    The sizes are those of x before the spatial dimensions, the numbers of places, and the sizes of the window. Nothing
    is copied.
    """
    lead = x.ndim - len(places)
    counts = [at.stop - at.start for at in places]

    def view(values: Any) -> Any:
        steps = values.strides[lead:]
        moves = [step * stride for step, stride in zip(steps, window.strides, strict=True)]
        gaps = [step * dilation for step, dilation in zip(steps, window.dilations, strict=True)]
        sizes = (*values.shape[:lead], *counts, *window.size)
        return np.lib.stride_tricks.as_strided(values, sizes, (*values.strides[:lead], *moves, *gaps), writeable=False)

    return x.moved(view) if isinstance(x, Tracked) else view(x)


def over(ufunc: np.ufunc, x: Any, places: Places, window: Window) -> Any:
    """Return a reduction of what the window sees at each place; Blocks are what it sees at one place."""
    if isinstance(x, Blocks):
        along: Any = partial(ufunc.reduce, axis=tuple(range(x.ndim - len(window.size), x.ndim)), keepdims=True)
        return along(x)
    return reduced(ufunc, windows(x, places, window), len(places))


def reduced(ufunc: np.ufunc, seen: Any, rank: int) -> Any:
    """Return a reduction of what windows of so many dimensions see, of small ones one element after another."""
    lead = seen.ndim - rank
    if isinstance(seen, Tracked) or math.prod(seen.shape[lead:]) > math.prod(seen.shape[:lead]):
        return ufunc.reduce(seen, axis=tuple(range(lead, seen.ndim)))
    return reduce(ufunc, (seen[(..., *at)] for at in np.ndindex(*seen.shape[lead:])))


def views(input: Any, window: Window, sizes: tuple[int, ...], fill: Any = 0) -> Iterator[tuple[Index, Places, Any]]:
    """Yield the parts of an output of these sizes: index, places of the window, and what it sees of the input there.

    Elements beyond the edges are `fill`, a number or one for each channel, in as many dimensions as the input has.
    """
    lead = input.ndim - len(window.size)
    reach = math.prod((size - 1) * gap + 1 for size, gap in zip(window.size, window.dilations, strict=True))
    at_once = 1 if reach > LARGE else max(1, BLOCK // math.prod(map(max, window.size, window.strides)))
    for index in tiles_along(range(input.ndim), sizes, at_once):
        places = places_at(index[lead:], sizes[lead:])
        own = fill if np.size(fill) == 1 else fill[:, index[1]]
        yield index, places, part(input[index[:lead]], places, window, own)


def in_blocks(x: Any, places: Places, window: Window) -> Any:
    """Return what a window sees in blocks, where that is one place and a large part of a tensor; else the part."""
    if x.size <= LARGE or 0 in window.dilations or any(at.stop - at.start > 1 for at in places):
        return x
    seen = x[(..., *(slice(None, None, step) for step in window.dilations))]
    spatial = range(seen.ndim - len(places), seen.ndim)
    return Blocks(seen.shape, list(tiles_along(spatial, seen.shape, BLOCK)), seen.__getitem__)


LARGE = 1 << 20  # elements: 8 megabytes of float64


# ---- where windows are


def placed(size: int, taps: int, stride: int, dilation: int, padding: int, end: int) -> int:
    """Return how many places a window has."""
    return (size + padding + end - (taps - 1) * dilation - 1) // stride + 1


def places_at(index: Index, sizes: Sequence[int]) -> list[slice]:
    """Return the places that an index of slices has of so many along each dimension."""
    return [slice(*at.indices(size)[:2]) for at, size in zip(index, sizes, strict=True)]


def coordinates(places: Places, window: Window) -> list[Any]:
    """Return where in the input the elements of the window are: for each spatial dimension, place and element."""
    return [
        np.arange(at.start, at.stop)[:, None] * stride + np.arange(size) * dilation - padding
        for at, size, stride, dilation, padding in zip(places, *window, strict=True)
    ]


def seen_count(places: Places, window: Window, sizes: tuple[int, ...]) -> Any:
    """Return how many elements of the input the window sees at each place."""
    inside = ((at >= 0) & (at < size) for at, size in zip(coordinates(places, window), sizes, strict=True))
    return reduce(np.multiply.outer, (held.sum(axis=1) for held in inside))


def reaches_beyond(places: Places, window: Window, ends: tuple[int, ...]) -> Any:
    """Say at which places the window has elements at or after some ends."""
    last = (at[:, -1] >= end for at, end in zip(coordinates(places, window), ends, strict=True))
    return reduce(np.logical_or.outer, last)


def first_place(hits: Any, places: Places, window: Window, sizes: tuple[int, ...]) -> Any:
    """Return where in the input the first element of each window is that hits and is inside, counted row-major.

    `hits` has the places and the elements of the window last; where no element hits the result has no meaning.
    """
    tables = coordinates(places, window)
    inside = hits
    for axis, (table, size) in enumerate(zip(tables, sizes, strict=True)):
        inside = inside & _along((table >= 0) & (table < size), axis, len(sizes))
    lead = hits.shape[: hits.ndim - len(sizes)]
    elements = np.unravel_index(inside.reshape(*lead, -1).argmax(axis=-1), window.size)
    index: Any = 0
    for axis, (table, element, size) in enumerate(zip(tables, elements, sizes, strict=True)):
        start = with_ones_after(table[:, 0], len(sizes) - axis - 1)
        index = index * size + start + element * window.dilations[axis]
    return index


def _along(table: Any, axis: int, count: int) -> Any:
    """Return a table of the places and elements of one dimension so that it broadcasts to those of all."""
    shape = [1] * (2 * count)
    shape[axis], shape[count + axis] = table.shape
    return table.reshape(shape)


# ---- the windows that have an element


class Phase(NamedTuple):
    """Some elements of a tensor, every stride-th from `first` on, and the window over the places that have them.

    The elements of a window in which they are, `taps`, are the same for all of them.
    """

    taps: tuple[list[int], ...]
    window: Window
    first: tuple[int, ...]
    counts: tuple[int, ...]


def phases(window: Window, sizes: Sequence[int]) -> Iterator[Phase]:
    """Yield the phases of a tensor of these spatial sizes under a window.

    Its element t is in the window of a place as its element w where the stride divides t + padding - w * dilation, and
    that is the place. Elements t = first + j * stride are in windows as the same w, and the places of these, in their
    opposite order, are a window that moves by 1 for each j.
    """
    for each in product(*(list(_phases(*own)) for own in zip(sizes, *window, strict=True))):
        first, taps, dilations, padding, counts = zip(*each, strict=True)
        own = Window(tuple(map(len, taps)), (1,) * len(taps), dilations, padding)
        yield Phase(taps, own, first, counts)


def _phases(
    total: int, size: int, stride: int, dilation: int, padding: int
) -> Iterator[tuple[int, list[int], int, int, int]]:
    """Yield the phases along a dimension: first element, taps, dilation and padding of the window, and count."""
    for first in range(min(stride, total)):
        taps = [w for w in reversed(range(size)) if (first + padding - w * dilation) % stride == 0]
        start = (first + padding - taps[0] * dilation) // stride if taps else 0
        yield first, taps, dilation // math.gcd(stride, dilation), -start, len(range(first, total, stride))
