"""Windows that slide over spatial dimensions, the last ones of a tensor: convolution and pooling."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.blocks import BLOCK, Blocks, Index, tiles_along
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
    view = windows(x, places, window)
    lead = view.ndim - len(window.size)
    if isinstance(x, Tracked) or math.prod(window.size) > math.prod(view.shape[:lead]):
        return ufunc.reduce(view, axis=tuple(range(lead, view.ndim)))
    return reduce(ufunc, (view[(..., *at)] for at in np.ndindex(*window.size)))


def views(input: Any, window: Window, sizes: tuple[int, ...], fill: Any = 0) -> Iterator[tuple[Index, Places, Any]]:
    """Yield the parts of an output of these sizes: index, places of the window, and what it sees of the input there.

    Elements beyond the edges are `fill`, a number or one for each channel, in as many dimensions as the input has.
    """
    lead = input.ndim - len(window.size)
    reach = math.prod((size - 1) * gap + 1 for size, gap in zip(window.size, window.dilations, strict=True))
    at_once = 1 if reach > LARGE else max(1, BLOCK // math.prod(map(max, window.size, window.strides)))
    for index in tiles_along(range(input.ndim), sizes, at_once):
        places = [slice(*at.indices(size)[:2]) for at, size in zip(index[lead:], sizes[lead:], strict=True)]
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
