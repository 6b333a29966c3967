"""Gradients of pooling: each window gives its gradient back to the elements that it has, or to the largest of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.blocks import BLOCK, Index, tiles_along
from dmlcheck.reference.numbers import raw, widest
from dmlcheck.reference.pieces import Kernel, Open, Piece
from dmlcheck.reference.windows import (
    Places,
    Window,
    first_place,
    over,
    part,
    phases,
    reaches_beyond,
    seen_count,
    windows,
)

Sizes = tuple[int, ...]


# ---- windows, back to the elements that they have


class Target(NamedTuple):
    """A part of an output gradient: where it is, and the places there of a window over the input gradient."""

    where: Index
    places: Places
    window: Window


def targets(window: Window, output: TensorDesc) -> Iterator[Target]:
    """Yield the parts of an output gradient: elements that are in windows as the same elements of these."""
    lead, spatial = output.sizes[:2], output.sizes[2:]
    for phase in phases(window, spatial):
        sizes = (*lead, *phase.counts)
        for index in tiles_along(range(len(sizes)), sizes, max(1, BLOCK // math.prod(window.size))):
            places = [slice(*at.indices(size)[:2]) for at, size in zip(index[2:], phase.counts, strict=True)]
            steps = zip(phase.first, window.strides, places, strict=True)
            at = (slice(first + o.start * step, first + (o.stop - 1) * step + 1, step) for first, step, o in steps)
            yield Target((*index[:2], *at), places, _of_something(phase.window, phase.counts))


def _of_something(window: Window, counts: Sizes) -> Window:
    """Return a window, in the place of one that has no elements one whose only element is always beyond the edge."""
    ones = (1,) * len(counts)
    return window if all(window.size) else Window(ones, ones, ones, tuple(count + 1 for count in counts))


def by_dimension(window: Window) -> list[Window]:
    """Return the window of each dimension."""
    return [Window(*((number,) for number in each)) for each in zip(*window, strict=True)]


def of_dimensions(ufunc: np.ufunc, tables: Sequence[Any], target: Target, fill: Any = 0) -> Any:
    """Return what a window sees of a tensor that is made of a table for each dimension."""
    rows = zip(tables, target.places, by_dimension(target.window), strict=True)
    return reduce(ufunc.outer, (part(table, (at,), own, fill) for table, at, own in rows))


def place_counts(size: int, stride: int, dilation: int, padding: int, total: int, end: int) -> list[int]:
    """Return how many places a forward operator may have along a dimension: rounded down, or up."""
    room = padding + end - (size - 1) * dilation - 1
    if room < 0:
        return []
    down = room // stride + 1
    return [down, down + 1] if room % stride and down * stride < total + padding else [down]


def is_forward(window: Window, sizes: Sizes, ends: Sizes, counts: Sizes) -> bool:
    """Say whether these are numbers of places that the forward operator may have."""
    rows = zip(zip(*window, strict=True), sizes, ends, counts, strict=True)
    return all(count in place_counts(*own, size, end) for own, size, end, count in rows)


# ---- averages


def from_averages(dy: Any, divisors: Any, beyond: Any, *, target: Target, is_open: bool) -> Open:
    """The sum of what the windows with an element give to each of theirs; equal shares may be added up undivided."""
    _, places, window = target
    ways = [lambda: over(np.add, dy / divisors, places, window)]
    if not divisors.ndim:
        ways.insert(0, lambda: over(np.add, dy, places, window) / divisors)
    mark = is_open if beyond is None else over(np.logical_or, beyond, places, window)
    return Open(widest(*ways), mark | is_open)


def average_pooling_grad(
    input_gradient: Any,
    *,
    strides: Sizes,
    window_size: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    include_padding: bool,
    output_gradient: TensorDesc,
) -> Iterator[Piece]:
    """The sum of InputGradient[o] / n[o] over all o and w where o * Strides + w - StartPadding is the element.

    n is the number of elements of the window that are inside of OutputGradientTensor, with IncludePadding of all. Left
    open is all where the places are not those of the forward operator, and with IncludePadding the elements of windows
    that have more than EndPadding.
    """
    window = Window(window_size, strides, (1,) * len(strides), start_padding)
    sizes, counts = output_gradient.sizes[2:], input_gradient.shape[2:]
    ends = tuple(size + more for size, more in zip(sizes, end_padding, strict=True))
    is_open = not is_forward(window, sizes, ends, counts)
    rows = [((slice(0, count),), own) for count, own in zip(counts, by_dimension(window), strict=True)]
    seen = [np.maximum(seen_count(*row, (size,)), 1) for row, size in zip(rows, sizes, strict=True)]
    beyond = [reaches_beyond(*row, (end,)) for row, end in zip(rows, ends, strict=True)]
    whole = np.array(math.prod(window_size)) if include_padding else None
    for target in targets(window, output_gradient):
        divisors = of_dimensions(np.multiply, seen, target, 1) if whole is None else whole
        marks = None if whole is None else of_dimensions(np.logical_or, beyond, target)
        dy = part(input_gradient[target.where[:2]], target.places, target.window)
        yield Piece(target.where, partial(from_averages, target=target, is_open=is_open), (dy, divisors, marks))


# ---- maxima


def from_largest(
    dy: Any, x: Any, *, target: Target, window: Window, sizes: Sizes, counts: Sizes, is_open: bool
) -> Open:
    """The sum of the gradients of the windows whose largest element each is."""
    where, places, back = target
    seen = places_seen(target, dy.shape[2:])
    chosen, in_doubt = largest(raw(x), seen, window, sizes)
    exists = reduce(np.logical_and.outer, (is_below(at, count) for at, count in zip(seen, counts, strict=True)))
    here = numbers_of(where[2:], sizes)[(..., *[None] * len(sizes))]
    of_windows = tuple(range(-len(sizes), 0))
    hits = windows(np.where(exists, chosen, -1), places, back) == here
    given = windows(dy, places, back)
    count = hits.sum(axis=of_windows)
    several = np.where(hits, given, 0).sum(axis=of_windows)
    only = np.where(hits, given, -np.inf).max(axis=of_windows)
    mark = windows(exists & in_doubt, places, back).any(axis=of_windows)
    return Open(np.where(count > 1, several, np.where(count == 1, only, 0.0)), mark | is_open)


def places_seen(target: Target, counts: Sizes) -> Places:
    """Return the places of the forward window that the window of a target sees, `counts` of them."""
    starts = (at.start - padding for at, padding in zip(target.places, target.window.padding, strict=True))
    return [slice(start, start + count) for start, count in zip(starts, counts, strict=True)]


def is_below(places: slice, count: int) -> Any:
    """Say which places are from 0 to below a count."""
    at = np.arange(places.start, places.stop)
    return (at >= 0) & (at < count)


def numbers_of(where: Index, sizes: Sizes) -> Any:
    """Return the numbers of some elements of a tensor of these sizes, counted row-major."""
    found = np.zeros((), np.int64)
    for at, size in zip(where, sizes, strict=True):
        found = np.add.outer(found * size, np.arange(size)[at])
    return found


def largest(x: Any, places: Places, window: Window, sizes: Sizes) -> tuple[Any, Any]:
    """Return where the first of the largest elements of each window is, and whether that is in doubt.

    It is where there are both numbers and a NaN, and where minus infinity is the largest beside padding.
    """
    seen = windows(x, places, window)
    axes = tuple(range(-len(sizes), 0))
    top = over(np.maximum, x, places, window)
    is_nan = np.isnan(seen)
    hits = (seen == top[(..., *[None] * len(sizes))]) | is_nan
    count = seen_count(places, window, sizes)
    nans = is_nan.sum(axis=axes)
    is_lost = np.isneginf(top) & (count < math.prod(window.size))
    return first_place(hits, places, window, sizes), (nans > 0) & (nans < count) | is_lost


def max_pooling_grad(
    input: Any,
    input_gradient: Any,
    *,
    strides: Sizes,
    window_size: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    dilations: Sizes,
    output_gradient: TensorDesc,
) -> Iterator[Piece]:
    """The sum of InputGradient[o] over all o whose largest Input[o * Strides + w * Dilations - StartPadding] it is.

    Of equal ones it is the first, of NaN alone too. Left open is all where the places are not those of the forward
    operator or a window has only padding; and the elements of windows that have both numbers and a NaN, or beside
    padding only minus infinity.
    """
    taps = tuple(size if gap else 1 for size, gap in zip(window_size, dilations, strict=True))
    window = Window(taps, strides, dilations, start_padding)
    sizes, counts = input.shape[2:], input_gradient.shape[2:]
    ends = tuple(size + more for size, more in zip(sizes, end_padding, strict=True))
    rows = zip(by_dimension(window), sizes, counts, strict=True)
    is_empty = any((seen_count((slice(0, count),), own, (size,)) == 0).any() for own, size, count in rows)
    options = {"window": window, "sizes": sizes, "counts": counts}
    is_open = is_empty or not is_forward(window, sizes, ends, counts)
    for target in targets(window, output_gradient):
        lead = target.where[:2]
        dy = part(input_gradient[lead], target.places, target.window)
        x = part(input[lead], places_seen(target, dy.shape[2:]), window, -np.inf)
        yield Piece(target.where, partial(from_largest, target=target, **options, is_open=is_open), (dy, x))


KERNELS: dict[str, Kernel] = {
    "AVERAGE_POOLING_GRAD": Kernel(average_pooling_grad),
    "MAX_POOLING_GRAD": Kernel(max_pooling_grad),
}
