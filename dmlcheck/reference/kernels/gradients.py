"""Gradients of pooling, whose windows give what came in back to their elements, and of normalization."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.blocks import BLOCK, Axes, Index, either, groups, ranges, tiles_along, with_ones_after
from dmlcheck.reference.numbers import raw, widest
from dmlcheck.reference.pieces import Kernel, Open, Piece
from dmlcheck.reference.sums import mean, total
from dmlcheck.reference.windows import (
    Places,
    Window,
    around,
    coordinates,
    first_place,
    over,
    part,
    phases,
    places_at,
    reaches_beyond,
    reduced,
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


def targets(window: Window, counts: Sizes, output: TensorDesc) -> Iterator[Target]:
    """Yield the parts of an output gradient: elements that are in windows as the same elements of these.

    `counts` are the numbers of places that there are. The pieces are small enough for all that windows see of them.
    """
    lead, spatial = output.sizes[:2], output.sizes[2:]
    for phase in phases(window, spatial):
        sizes = (*lead, *phase.counts)
        back = Window(*zip(*map(_no_more, *phase.window, counts), strict=True))
        most = math.prod(map(min, window.size, counts))
        for index in tiles_along(range(len(sizes)), sizes, BLOCK // most):
            places = places_at(index[2:], phase.counts)
            where = map(_spread, places, phase.first, window.strides)
            yield Target((*index[:2], *where), places, back)


def _no_more(size: int, stride: int, dilation: int, padding: int, count: int) -> tuple[int, ...]:
    """Return a dimension of a window over some places; one that has more elements than there are places sees them all.

    One of no elements becomes one that sees an element beyond the edge.
    """
    if size == 0:
        return (1, 0, 1, count)
    return (size, stride, dilation, padding) if size <= count else (count, 0, 1, 0)


def _spread(places: slice, first: int, stride: int) -> slice:
    return slice(first + places.start * stride, first + places.stop * stride, stride)


def by_dimension(window: Window) -> list[Window]:
    """Return the window of each dimension."""
    return list(map(Window, *map(zip, window)))


def of_dimensions(ufunc: np.ufunc, tables: Sequence[Any], target: Target, fill: Any = 0) -> Any:
    """Return what a window sees of a tensor that is made of a table for each dimension."""
    parts = map(partial(part, fill=fill), tables, zip(target.places), by_dimension(target.window))
    return reduce(ufunc.outer, parts)


def is_forward(count: int, total: int, end: int, size: int, stride: int, dilation: int, padding: int) -> bool:
    """Say whether the forward operator may have so many places along a dimension: rounded down, or up."""
    room = padding + end - (size - 1) * dilation - 1
    down = room // stride + 1
    is_up = room % stride > 0 and down * stride < total + padding
    return room >= 0 and (count == down or (is_up and count == down + 1))


# ---- averages


def from_averages(dy: Any, divisors: Any, beyond: Any, *, members: Any, target: Target, is_open: bool) -> Open:
    """The sum of what the windows with an element give to each of theirs; equal shares may be added up undivided."""
    _, places, window = target

    def gathered(ufunc: np.ufunc, x: Any) -> Any:
        if members is None:
            return over(ufunc, x, places, window)
        return ufunc.reduce(np.where(members, windows(x, places, window), 0), axis=tuple(range(-len(places), 0)))

    def of_shares() -> Any:
        return gathered(np.add, dy / divisors)

    result = of_shares() if divisors.ndim else widest(lambda: gathered(np.add, dy) / divisors, of_shares)
    return Open(result, is_open if beyond is None else gathered(np.logical_or, beyond) | is_open)


def members_of(target: Target, window: Window) -> Any:
    """Say which of the windows that an element sees have it; None where all do, but for those beyond the edge."""
    if all(target.window.strides):
        return None
    tables = map(_have, target.where[2:], coordinates(target.places, target.window), *window)
    found, rank = reduce(np.logical_and.outer, tables), len(target.places)
    return found.transpose(*range(0, 2 * rank, 2), *range(1, 2 * rank, 2))


def _have(where: slice, seen: Any, size: int, stride: int, _: int, padding: int) -> Any:
    """Say which places along a dimension have the elements that see them in their window."""
    element = where.start + np.arange(len(seen))[:, None] * where.step
    return (element + padding >= seen * stride) & (element + padding < seen * stride + size)


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
    ends = tuple(map(add, sizes, end_padding))
    is_open = not all(map(is_forward, counts, sizes, ends, *window))
    rows: list[Any] = [[(slice(0, count),) for count in counts], by_dimension(window)]
    seen = [np.maximum(count, 1) for count in map(seen_count, *rows, zip(sizes))]
    beyond = list(map(reaches_beyond, *rows, zip(ends)))
    whole = np.array(math.prod(window_size)) if include_padding else None
    for target in targets(window, counts, output_gradient):
        divisors = of_dimensions(np.multiply, seen, target, 1) if whole is None else whole
        marks = None if whole is None else of_dimensions(np.logical_or, beyond, target)
        dy = part(input_gradient[target.where[:2]], target.places, target.window)
        formula = partial(from_averages, members=members_of(target, window), target=target, is_open=is_open)
        yield Piece(target.where, formula, (dy, divisors, marks))


# ---- maxima


def from_largest(
    dy: Any, x: Any, *, target: Target, window: Window, sizes: Sizes, counts: Sizes, is_open: bool
) -> Open:
    """The sum of the gradients of the windows whose largest element each is."""
    where, places, back = target
    seen = places_seen(target, dy.shape[2:])
    chosen, in_doubt = largest(raw(x), seen, window, sizes)
    exists = reduce(np.logical_and.outer, map(is_below, seen, counts))
    here = with_ones_after(numbers_of(where[2:], sizes), len(sizes))
    hits = windows(np.where(exists, chosen, math.prod(sizes)), places, back) == here
    given, of_windows = windows(dy, places, back), partial(reduced, rank=len(sizes))
    count = of_windows(np.add, hits.astype(int))
    several = of_windows(np.add, np.where(hits, given, 0))
    only = of_windows(np.maximum, np.where(hits, given, -np.inf))
    mark = over(np.logical_or, exists & in_doubt, places, back)
    return Open(np.where(count > 1, several, np.where(count == 1, only, 0.0)), mark | is_open)


def places_seen(target: Target, counts: Sizes) -> Places:
    """Return the places of the forward window that the window of a target sees, `counts` of them."""
    rows = zip(target.places, target.window.strides, target.window.padding, strict=True)
    starts = [at.start * stride - padding for at, stride, padding in rows]
    return list(map(slice, starts, map(add, starts, counts)))


def is_below(places: slice, count: int) -> Any:
    """Say which places are from 0 to below a count."""
    at = np.arange(places.start, places.stop)
    return (at >= 0) & (at < count)


def numbers_of(where: Index, sizes: Sizes) -> Any:
    """Return the numbers of some elements of a tensor of these sizes, counted row-major."""
    return np.ravel_multi_index(np.ix_(*ranges(where, sizes)), sizes)


def largest(x: Any, places: Places, window: Window, sizes: Sizes) -> tuple[Any, Any]:
    """Return where the first of the largest elements of each window is, and whether that is in doubt.

    It is where there are both numbers and a NaN, and where minus infinity is the largest beside padding.
    """
    top, is_nan = over(np.maximum, x, places, window), np.isnan(x)
    of_windows = with_ones_after(top, len(sizes))
    hits = (windows(x, places, window) == of_windows) | windows(is_nan, places, window)
    count, nans = seen_count(places, window, sizes), over(np.add, is_nan.astype(int), places, window)
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
    taps = tuple(size if gap else 1 for size, gap in zip(window_size, dilations, strict=True))  # each element once
    window = Window(taps, strides, dilations, start_padding)
    sizes, counts = input.shape[2:], input_gradient.shape[2:]
    ends = map(add, sizes, end_padding)
    seen = map(seen_count, [(slice(0, count),) for count in counts], by_dimension(window), zip(sizes))
    is_open = not (all(map(is_forward, counts, sizes, ends, *window)) and all(map(np.all, seen)))
    options = {"window": window, "sizes": sizes, "counts": counts, "is_open": is_open}
    for target in targets(window, counts, output_gradient):
        lead = target.where[:2]
        dy = part(input_gradient[lead], target.places, target.window)
        x = part(input[lead], places_seen(target, dy.shape[2:]), window, -np.inf)
        yield Piece(target.where, partial(from_largest, target=target, **options), (dy, x))


# ---- batches


def moment(x: Any, dy: Any, point: Any, sums: Any, axes: Axes) -> Any:
    """The sum of dy * (x - point), or of dy * x less that of dy times the point."""
    return either(lambda: total(dy * (x - point), axes), lambda: total(dy * x, axes) - point * sums)


def of_frozen(x: Any, dy: Any, centre: Any, variance: Any, scale: Any, *, axes: Axes, epsilon: Any) -> dict[str, Any]:
    """The gradients of a batch normalization whose means and variances are constants."""
    square = variance if epsilon is None else variance + epsilon
    root, sums = np.sqrt(square), total(dy, axes)
    is_open = (square <= 0) | (epsilon is None)
    slope = moment(x, dy, centre, sums, axes) / root
    return by_output(Open(dy * (scale / root), is_open), Open(slope, is_open), sums)


def of_training(
    x: Any, dy: Any, centre: Any, variance: Any, scale: Any, *, axes: Axes, epsilon: Any, unit: float
) -> dict[str, Any]:
    """The gradients of a batch normalization that took its means and variances of the batch."""
    square = variance + epsilon
    root, sums = np.sqrt(square), total(dy, axes)
    factor, count = scale / root, x.size // sums.size
    point, middle = mean(x, axes), sums / count
    about_point, about_centre = (moment(x, dy, each, sums, axes) for each in (point, centre))
    slope, slope_of_centre = (each / count / square for each in (about_point, about_centre))
    result = either(
        lambda: factor * (dy - middle - (x - point) * slope),
        lambda: factor * (dy - middle - (x - centre) * slope_of_centre),
    )
    is_open = (square <= 0) | np.isinf(factor)
    is_other = np.abs(centre - point) > unit * count * mean(np.abs(x), axes)
    return by_output(Open(result, is_open | is_other | (not axes)), Open(about_centre / root, is_open), sums)


def by_output(gradient: Any, scale: Any, bias: Any) -> dict[str, Any]:
    """Return something of each gradient by the name of its output."""
    return {"output_gradient": gradient, "output_scale_gradient": scale, "output_bias_gradient": bias}


def of_batches(formula: Callable[..., Any], x: Any, dy: Any, centre: Any, *parameters: Any) -> Iterator[Piece]:
    """Yield the pieces of the gradients, which have sums over the dimensions in which the means have size 1."""
    axes = tuple(axis for axis, size in enumerate(centre.shape) if size == 1)
    for piece in groups(formula, axes, x, dy, centre, *parameters):
        yield piece._replace(where=by_output(piece.where, piece.where, piece.where))


def batch_normalization_grad(
    input: Any, input_gradient: Any, mean: Any, variance: Any, scale: Any, *, epsilon: Any
) -> Iterator[Piece]:
    """dy * Scale / sqrt(Variance + Epsilon), the sum of dy * (x - Mean) / sqrt(Variance + Epsilon), and that of dy.

    The sums are over the dimensions in which MeanTensor has size 1. Left open are a root of 0 or less, and what has
    Epsilon where that is missing.
    """
    return of_batches(partial(of_frozen, epsilon=epsilon), input, input_gradient, mean, variance, scale)


def batch_normalization_training_grad(
    input: Any, input_gradient: Any, mean: Any, variance: Any, scale: Any, *, epsilon: Any
) -> Iterator[Piece]:
    """Scale / sqrt(V) * (dy - mean(dy) - c * mean(dy * c) / V), the sum of dy * (x - Mean) / sqrt(V), and that of dy.

    V is Variance + Epsilon and c is x - mean(x); means and sums are over the dimensions in which MeanTensor has size 1.
    Left open are a V of 0 or less and an infinite factor; and the first result where MeanTensor is not mean(x), or has
    no such dimension.
    """
    formula = partial(of_training, epsilon=epsilon, unit=float(np.finfo(input.dtype).eps))
    return of_batches(formula, input, input_gradient, mean, variance, scale)


# ---- neighbours


def of_neighbours(
    x: Any,
    dy: Any,
    seen: Any,
    given: Any,
    exists: Any,
    *,
    own: Window,
    back: Window,
    alpha: Any,
    beta: Any,
    bias: Any,
    is_open: bool,
) -> Open:
    """The gradient of x / B^Beta; `seen` and `given` are x and dy around, where these exist."""
    every, here = ([slice(0, size) for size in each.shape] for each in (given, x))
    base = np.where(exists, bias + alpha * over(np.add, np.square(seen), every, own), 1)
    terms = given * seen[_inner(own, given)] * np.power(base, -beta - 1)
    result = dy * np.power(base[_inner(back, x)], -beta) - 2 * alpha * beta * x * over(np.add, terms, here, back)
    return Open(result, is_open | over(np.logical_or, raw(base) <= 0, here, back))


def _inner(window: Window, x: Any) -> Index:
    """Return where the middles of the windows are in what these see."""
    return tuple(map(slice, window.padding, map(add, window.padding, x.shape)))


def local_response_normalization_grad(
    input: Any, input_gradient: Any, *, cross_channel: bool, local_size: int, alpha: Any, beta: Any, bias: Any
) -> Iterator[Piece]:
    """dy * B^-Beta - 2 * Alpha * Beta / LocalSize * x * the sum of dy' * x' * B'^(-Beta - 1).

    B is Bias + Alpha / LocalSize * the sum of x^2 over the region, as in LOCAL_RESPONSE_NORMALIZATION, and the second
    sum is over the elements in whose regions x is. Left open are a B of 0 or less, an even LocalSize, and without
    CrossChannel all but a LocalSize of 1.
    """
    axes = (1,) if cross_channel else (2, 3)
    before, after = (local_size - 1) // 2, local_size // 2
    own, back = around(input.shape, axes, before, after), around(input.shape, axes, after, before)
    both = own._replace(size=tuple(map(add, own.size, (size - 1 for size in back.size))))
    both = both._replace(padding=tuple(map(add, own.padding, back.padding)))
    is_open = local_size != 1 and (local_size % 2 == 0 or not cross_channel)
    options = {"own": own, "back": back, "alpha": alpha / local_size, "beta": beta, "bias": bias, "is_open": is_open}
    ones = np.broadcast_to(np.True_, input.shape)
    for index in regions(input.shape, axes, both):
        places = places_at(index, input.shape)
        around_it = (part(input, places, both), *(part(x, places, back) for x in (input_gradient, ones)))
        yield Piece(index, partial(of_neighbours, **options), (input[index], input_gradient[index], *around_it))


def regions(sizes: Sizes, axes: Axes, window: Window) -> Iterator[Index]:
    """Yield indices that leave some axes whole unless these are long, so that no neighbour is seen twice."""
    whole = math.prod(sizes[axis] for axis in axes)
    is_long = whole > BLOCK
    cut = [axis for axis in range(len(sizes)) if is_long or axis not in axes]
    return tiles_along(cut, sizes, BLOCK // (math.prod(window.size) if is_long else whole))


KERNELS: dict[str, Kernel] = {
    "AVERAGE_POOLING_GRAD": Kernel(average_pooling_grad),
    "BATCH_NORMALIZATION_GRAD": Kernel(batch_normalization_grad),
    "BATCH_NORMALIZATION_TRAINING_GRAD": Kernel(batch_normalization_training_grad),
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": Kernel(local_response_normalization_grad),
    "MAX_POOLING_GRAD": Kernel(max_pooling_grad),
}
