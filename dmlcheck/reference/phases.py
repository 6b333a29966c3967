"""The windows that elements are in: phases of elements, which are in all windows at the same places of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import hull
from dmlcheck.reference.windows import View, Window, most_seen, over, table_of, view


class Phase(NamedTuple):
    """Some elements of a tensor, every stride-th from `first` on, and the window over the places that have them.

    The elements of a window in which they are, `taps`, are the same for all of them.
    """

    taps: tuple[range, ...]
    window: Window
    first: tuple[int, ...]
    counts: tuple[int, ...]


def phases(window: Window, sizes: Sequence[int]) -> Iterator[Phase]:
    """Yield the phases of a tensor of these spatial sizes under a window.

    Its element t is in the window of a place as its element w where the stride divides t + padding - w * dilation, and
    that is the place. Elements t = first + j * stride are in windows as the same w, and the places of these, in their
    opposite order, are a window that moves by 1 for each j.
    """
    for each in product(*(list(phases_along(*own)) for own in zip(sizes, *window, strict=True))):
        first, taps, dilations, padding, counts = zip(*each, strict=True)
        own = Window(tuple(map(len, taps)), (1,) * len(taps), dilations, padding)
        yield Phase(taps, own, first, counts)


def phases_along(
    total: int, size: int, stride: int, dilation: int, padding: int
) -> Iterator[tuple[int, range, int, int, int]]:
    """Yield the phases along a dimension: first element, taps, dilation and padding of the window, and count.

    The stride divides t + padding - w * dilation for every `step`-th w, if for any.
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
    """Some elements of a dimension of an output gradient, every `step`-th from `first` on, and how they see places.

    These are the places of windows that have them, of each element `most` at most. `seen` takes some of the elements.
    """

    first: int
    step: int
    size: int
    most: int
    seen: Callable[[slice], View]

    def where(self, at: slice) -> slice:
        """Return where some of the elements are."""
        return slice(self.first + at.start * self.step, self.first + at.stop * self.step, self.step)


def lines(total: int, count: int, size: int, stride: int, dilation: int, padding: int) -> Iterator[Line]:
    """Yield the lines that make a dimension, whose window has `count` places.

    Elements that are in windows as the same elements of these are one, where that does not make many.
    """
    if is_one_by_one(total, stride):
        window = Window((size,), (stride,), (dilation,), (padding,))
        yield Line(0, 1, total, min(size, count), partial(places_of, window=window, count=count))
        return
    for first, taps, gap, start, own_count in phases_along(total, size, stride, dilation, padding):
        # One of no elements sees an element beyond the edge.
        row = (len(taps), 1, gap, start) if taps else (1, 0, 1, count)
        window = Window(*((number,) for number in row))
        most = most_seen(count, row[0], row[2])
        yield Line(first, stride, own_count, most, partial(_seen_along, window=window, count=count))


def is_one_by_one(total: int, stride: int) -> bool:
    """Say whether the elements of a dimension are not taken by phases, of which there would be many."""
    return min(stride, total) > _MOST_PHASES


_MOST_PHASES = 16


def most_places(total: int, count: int, size: int, stride: int, dilation: int, _: int) -> int:
    """Return how many of `count` places are looked at for an element of a dimension."""
    if is_one_by_one(total, stride):
        return min(size, count)
    common = math.gcd(stride, dilation)
    return most_seen(count, -(-size * common // stride), dilation // common)


def _seen_along(at: slice, *, window: Window, count: int) -> View:
    return view([at], window, (count,))


def places_of(at: slice, *, window: Window, count: int) -> View:
    """Return how elements see the places along a dimension whose windows have them, one by one.

    Element t is that of the tap w at the place o where o * stride is t + padding - w * dilation.
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


# ---- what windows give to their elements


def equal_shares(x: Any, count: Any, seen: View) -> Any:
    """Return the sums of shares of what windows have, all of the same size; they may be added up undivided."""
    return hull(lambda: over(np.add, x, seen) / count, lambda: over(np.add, x / count, seen))
