"""The windows that contain each element, by phases, and sums of windows that overlap, by layers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.places import Places
from dmlcheck.reference.ball.numbers import hull
from dmlcheck.reference.functions.windows import View, Window, most_seen, over, table_of, view


class Phase(NamedTuple):
    """Some elements of a tensor, every stride-th from `first` on, and the window over the places that contain them.

    `taps` are their positions in these windows, the same for all of them.
    """

    taps: tuple[range, ...]
    window: Window
    first: tuple[int, ...]
    counts: tuple[int, ...]


def phases(window: Window, sizes: Sequence[int]) -> Iterator[Phase]:
    """Yield the phases of a tensor of these spatial sizes under a window.

    Element t of the tensor is element w of the window at place o if o * stride = t + padding - w * dilation. So the
    elements t = first + j * stride have the same w, and their places, in reverse order, are a window that moves by 1
    with each j.
    """
    for each in product(*(list(phases_along(*own)) for own in zip(sizes, *window, strict=True))):
        first, taps, dilations, padding, counts = zip(*each, strict=True)
        own = Window(tuple(map(len, taps)), (1,) * len(taps), dilations, padding)
        yield Phase(taps, own, first, counts)


def phases_along(
    total: int, size: int, stride: int, dilation: int, padding: int
) -> Iterator[tuple[int, range, int, int, int]]:
    """Yield the phases along a dimension: first element, taps, dilation and padding of the window, and count.

    If the stride divides t + padding - w * dilation for some w, it does so for every `step`-th w.
    """
    common = math.gcd(stride, dilation)
    step = stride // common
    inverse = pow(dilation // common, -1, step) if step > 1 else 0
    for first in range(min(stride, total)):
        taps, start = range(0), 0
        if (first + padding) % common == 0:
            least = (first + padding) // common * inverse % step
            taps = range(least, size, step)[::-1]
            start = (first + padding - taps[0] * dilation) // stride if taps else 0
        yield first, taps, dilation // common, -start, len(range(first, total, stride))


# ---- lines of elements


class Line(NamedTuple):
    """Some elements along a dimension, every `step`-th from `first` on, with the windows that contain them.

    `seen` takes a slice of the elements and returns the View of these windows; each element has `most` of them or
    fewer.
    """

    first: int
    step: int
    size: int
    most: int
    seen: Callable[[slice], View]

    def where(self, at: slice) -> slice:
        """Return the slice of the dimension for a slice of the elements."""
        return slice(self.first + at.start * self.step, self.first + at.stop * self.step, self.step)


def lines(total: int, count: int, size: int, stride: int, dilation: int, padding: int) -> Iterator[Line]:
    """Yield the lines that make up a dimension whose window has `count` places.

    Each phase is a line; if there would be many, all elements are one.
    """
    if is_one_by_one(total, stride):
        window = Window((size,), (stride,), (dilation,), (padding,))
        yield Line(0, 1, total, min(size, count), partial(places_of, window=window, count=count))
        return
    for first, taps, gap, start, own_count in phases_along(total, size, stride, dilation, padding):
        # Without taps, the view has one element, beyond the edge.
        row = (len(taps), 1, gap, start) if taps else (1, 0, 1, count)
        window = Window(*((number,) for number in row))
        most = most_seen(count, row[0], row[2])
        yield Line(first, stride, own_count, most, partial(_seen_along, window=window, count=count))


def is_one_by_one(total: int, stride: int) -> bool:
    """Whether a dimension would have so many phases that all elements are one line."""
    return min(stride, total) > _MOST_PHASES


_MOST_PHASES = 16


def most_places(total: int, count: int, size: int, stride: int, dilation: int, _: int) -> int:
    """Return the most of the `count` windows along a dimension that are read for an element."""
    if is_one_by_one(total, stride):
        return min(size, count)
    common = math.gcd(stride, dilation)
    return most_seen(count, -(-size * common // stride), dilation // common)


def _seen_along(at: slice, *, window: Window, count: int) -> View:
    return view([at], window, (count,))


def places_of(at: slice, *, window: Window, count: int) -> View:
    """Return the view of the windows along a dimension that contain each element, as a table.

    Element t of the tensor is element w of the window at place o if o * stride = t + padding - w * dilation.
    """
    ((size, stride, dilation, padding),) = zip(*window, strict=True)
    elements = np.arange(at.start, at.stop)[:, None] + padding
    if size <= count:
        start = elements - np.arange(size) * dilation
        found, is_one = start // stride, start % stride == 0
    else:
        found = np.broadcast_to(np.arange(count), (len(elements), count))
        taps = elements - found * stride
        is_one = (taps % dilation == 0) & (taps >= 0) & (taps // dilation < size)
    is_one = is_one & (found >= 0) & (found < count)
    first = np.argsort(~is_one, axis=1, kind="stable")[:, : max(1, int(is_one.sum(axis=1).max()))]
    return table_of(np.take_along_axis(np.where(is_one, found, -1), first, 1))


# ---- shares of windows


def equal_shares(x: Any, count: Any, seen: View) -> Any:
    """Return the sums of x / count over the windows of each element; the sums may be divided instead."""
    return hull(lambda: over(np.add, x, seen) / count, lambda: over(np.add, x / count, seen))


# ---- layers


Sizes = tuple[int, ...]


def layers_at(x: Any, places: Places, window: Window, counts: Sizes) -> list[Any]:
    """Return the layers of some places of the output, whose sum is the result.

    x is {batch, channels, window elements by dimension, blocks by dimension}.
    """
    batch, channel, *spatial = places
    fallen = product(*map(hits, spatial, counts, *window))
    own = x[batch.start : batch.stop, channel.start : channel.stop]
    return layered(own, (len(batch), len(channel), *map(len, spatial)), fallen)


def depth_of(window: Window) -> int:
    """Return the most elements of windows that are added up at one place."""
    return math.prod(map(overlap, window.size, window.strides, window.dilations))


class Hit(NamedTuple):
    """An element of the window along a dimension, the blocks it is taken from, and the places it is added to.

    Elements of one layer are never added to the same place.
    """

    layer: int
    element: int
    blocks: slice
    places: slice


def hits(at: range, count: int, size: int, stride: int, gap: int, start: int) -> Iterator[Hit]:
    """Yield the elements of the windows of `count` blocks that are added to the places `at` of a dimension."""
    layers: Counter[int] = Counter()
    for element in range(size):
        shift = element * gap - start
        layer, rest = layers[shift % stride], at.start - shift
        layers.update([shift % stride])
        own = range(max(0, -(-rest // stride)), min(count, -(-(at.stop - shift) // stride)))
        if own:
            places = slice(own.start * stride - rest, own.stop * stride - rest, stride)
            yield Hit(layer, element, slice(own.start, own.stop), places)


def overlap(size: int, stride: int, gap: int) -> int:
    """Return the most elements of windows that are added up at one place of a dimension."""
    return max(Counter(element * gap % stride for element in range(size)).values())


def layered(x: Any, sizes: Sizes, fallen: Iterable[tuple[Hit, ...]]) -> list[Any]:
    """Return the layers, 0 at places without an element."""
    found: dict[tuple[int, ...], Any] = {}
    for hits_along in fallen:
        layer = tuple(hit.layer for hit in hits_along)
        if layer not in found:
            found[layer] = np.zeros(sizes, x.dtype)
        elements, own = (hit.element for hit in hits_along), (hit.blocks for hit in hits_along)
        found[layer][(..., *(hit.places for hit in hits_along))] = x[(slice(None), slice(None), *elements, *own)]
    return list(found.values()) or [np.zeros(sizes, x.dtype)]


# ---- places


def place_count(size: int, taps: int, stride: int, dilation: int, padding: int, end: int) -> int:
    """Return the number of places of a window along a dimension of a size, with padding at the start and at the end."""
    return _room(size, taps, dilation, padding, end) // stride + 1


def may_be_place_count(count: int, size: int, taps: int, stride: int, dilation: int, padding: int, end: int) -> bool:
    """Whether `count` may be the number of places, be it rounded down or up; all begin before the end padding."""
    steps, rest = divmod(_room(size, taps, dilation, padding, end), stride)
    has_one_more = rest > 0 and (steps + 1) * stride < size + padding
    return steps >= 0 and (count == steps + 1 or (has_one_more and count == steps + 2))


def _room(size: int, taps: int, dilation: int, padding: int, end: int) -> int:
    """Return how far the last place of a window may be from its first one."""
    return size + padding + end - (taps - 1) * dilation - 1
