"""Gradients of pooling, whose windows give what came in back to their elements, and of normalization."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import product
from operator import add
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.numbers import raw
from dmlcheck.reference.grouped import comparable
from dmlcheck.reference.pieces import Open, alternatives, any_of
from dmlcheck.reference.places import Index, with_ones_after
from dmlcheck.reference.rows import Axes, Kernel, shared_by
from dmlcheck.reference.sums import mean as mean_of
from dmlcheck.reference.sums import total
from dmlcheck.reference.tiling.blocks import BLOCK, hull, ranges, tiles_along
from dmlcheck.reference.tiling.groups import groups
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.reference.tiling.windows import views
from dmlcheck.reference.windows import (
    LARGE,
    View,
    Window,
    around,
    by_dimension,
    first_place,
    joined,
    once_each,
    over,
    padded_count,
    part,
    phases_along,
    places_at,
    places_at_once,
    reduced,
    run_at,
    run_of,
    seen_at_most,
    seen_count,
    sees_all,
    table_of,
    terms_of,
    view,
    windows,
    windows_by_dimension,
)
from dmlcheck.reference.work import Work, terms
from dmlcheck.values.number_formats import FORMATS

Sizes = tuple[int, ...]


# ---- windows, back to the elements that they have


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
        most = seen_at_most(count, row[0], row[2])
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
    return seen_at_most(count, -(-size * common // stride), dilation // common)


def work_of_windows(given: Mapping[str, Any]) -> Work:
    """Return the work of the windows with each element, and of the elements in each window, as far as they are seen."""
    dy, size, output = given["input_gradient"], given["window_size"], given["output_gradient"]
    window = once_each(Window(size, given["strides"], given.get("dilations", (1,) * len(size)), given["start_padding"]))
    ends = tuple(map(add, output.sizes[2:], given["end_padding"]))
    if not is_forward_of(dy.shape, output, ends, window):
        return terms(0)
    back = math.prod(map(most_places, output.sizes[2:], dy.shape[2:], *window))
    forward = terms_of(dy.shape, window, output.sizes[2:]) if "input" in given else 0
    return terms(math.prod(output.sizes) * back + forward)


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


class Target(NamedTuple):
    """A part of some batches and channels of an output gradient, and how it sees the places whose windows have it."""

    where: Index
    seen: View

    @property
    def lead(self) -> Index:
        """Which of the batches and channels it has."""
        return self.where[:2]

    def within(self, index: Index) -> Index:
        """Return where it is in the whole output, of which an index gives the batches and channels."""
        starts = (at.start or 0 for at in index[:2])
        lead = (slice(start + at.start, start + at.stop) for start, at in zip(starts, self.lead, strict=True))
        return (*lead, *self.where[2:])


def targets(window: Window, counts: Sizes, sizes: Sizes) -> Iterator[Target]:
    """Yield the parts of batches and channels of an output gradient of these sizes.

    `counts` are the numbers of places that there are. The pieces are small enough for all that they see of them.
    """
    for each in product(*(list(lines(*own)) for own in zip(sizes[2:], counts, *window, strict=True))):
        found = (*sizes[:2], *(line.size for line in each))
        for index in tiles_along(range(len(found)), found, max(1, BLOCK // math.prod(line.most for line in each))):
            lead, places = places_at(index[:2], sizes[:2]), places_at(index[2:], found[2:])
            where = (line.where(at) for line, at in zip(each, places, strict=True))
            yield Target((*lead, *where), joined([line.seen(at) for line, at in zip(each, places, strict=True)]))


def of_dimensions(ufunc: np.ufunc, tables: Sequence[Any], seen: View, fill: Any = 0) -> Any:
    """Return what is seen of a tensor that is made of a table for each dimension."""
    return reduce(ufunc.outer, (part(table, own, fill) for table, own in zip(tables, by_dimension(seen), strict=True)))


def left_open(output: TensorDesc) -> Piece:
    """Return a gradient that is left open, all of it."""
    return Piece((), partial(Open, np.broadcast_to(np.zeros(()), output.sizes), where=True))


def is_forward_of(gradient: Sizes, output: TensorDesc, ends: Sizes, window: Window) -> bool:
    """Say whether the forward operator may make a tensor of a gradient's sizes of one of an output gradient's."""
    rows = zip(gradient[2:], output.sizes[2:], ends, *window, strict=True)
    return gradient[:2] == output.sizes[:2] and all(is_forward(*row) for row in rows)


def is_forward(count: int, total: int, end: int, size: int, stride: int, dilation: int, padding: int) -> bool:
    """Say whether the forward operator may have so many places along a dimension: rounded down, or up."""
    room = padding + end - (size - 1) * dilation - 1
    down = room // stride + 1
    is_up = room % stride > 0 and down * stride < total + padding
    return room >= 0 and (count == down or (is_up and count == down + 1))


# ---- averages


def from_averages(dy: Any, divisors: Any, others: Any, *, seen: View) -> Any:
    """The sum of what the windows with an element give to each of theirs; equal shares may be added up undivided.

    `others` are divisors that are right too, or None.
    """

    def of_shares(by: Any) -> Any:
        return over(np.add, dy / by, seen)

    if divisors.ndim:
        return of_shares(divisors)
    result = hull(lambda: over(np.add, dy, seen) / divisors, partial(of_shares, divisors))
    return result if others is None else alternatives(result, of_shares(others))


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
    """The sum of InputGradient[o] / n[o] over all o and w for which o * Strides + w - StartPadding is the element.

    n[o] is the number of elements of window o inside OutputGradientTensor, with IncludePadding the number of all its
    elements, or of those up to EndPadding.
    """
    window = Window(window_size, strides, (1,) * len(strides), start_padding)
    sizes, counts = output_gradient.sizes[2:], input_gradient.shape[2:]
    ends = tuple(map(add, sizes, end_padding))
    if not is_forward_of(input_gradient.shape, output_gradient, ends, window):
        yield left_open(output_gradient)
        return
    rows: list[Any] = [[(slice(0, count),) for count in counts], windows_by_dimension(window)]
    count, limits = (padded_count, ends) if include_padding else (seen_count, sizes)
    divisors = [np.maximum(found, 1) for found in map(count, *rows, zip(limits))]
    whole = np.array(math.prod(window_size), float) if include_padding else None
    for target in targets(window, counts, output_gradient.sizes):
        own = of_dimensions(np.multiply, divisors, target.seen, fill=1)
        by, others = (own, None) if whole is None else (whole, own)
        dy = part(input_gradient[target.lead], target.seen)
        yield Piece(target.where, partial(from_averages, seen=target.seen), (dy, by, others))


# ---- maxima


def from_largest(dy: Any, *, target: Target, chosen: Callable[[], tuple[Any, Any]], sizes: Sizes) -> Open:
    """The sum of the gradients of the windows whose largest element each is."""
    seen, rank = target.seen, len(sizes)
    largest, in_doubt = (x[target.lead] for x in chosen())
    here = with_ones_after(numbers_of(target.where[2:], sizes), rank)
    hits = windows(part(largest, seen, math.prod(sizes)), seen) == here
    given, of_windows = windows(dy, seen), partial(reduced, rank=rank)
    count = of_windows(np.add, hits.astype(int))
    several = of_windows(np.add, np.where(hits, given, 0))
    only = of_windows(np.maximum, np.where(hits, given, -np.inf))
    mark = over(np.logical_or, part(in_doubt, seen), seen)
    return Open(np.where(count > 1, several, np.where(count == 1, only, 0.0)), mark)


def numbers_of(where: Index, sizes: Sizes) -> Any:
    """Return the numbers of some elements of a tensor of these sizes, counted row-major."""
    return np.ravel_multi_index(np.ix_(*ranges(where, sizes)), sizes)


def once(function: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that computes its result when it is first called, in one thread, and keeps it."""
    lock = Lock()
    kept: list[Any] = []

    def result() -> Any:
        with lock:
            if not kept:
                kept.append(function())
        return kept[0]

    return result


def largest_of_all(x: Any, window: Window, counts: Sizes) -> tuple[Any, Any]:
    """Return where the first of the largest elements of each window is, and whether that is in doubt."""
    sizes = (*x.shape[:2], *counts)
    chosen, in_doubt = np.zeros(sizes, np.uint32), np.zeros(sizes, bool)
    for index, seen, own in views(x, window, sizes, -np.inf):
        chosen[index], in_doubt[index] = largest(comparable(own), seen, x.shape[2:])
    return chosen, in_doubt


def largest(x: Any, seen: View, sizes: Sizes) -> tuple[Any, Any]:
    """Return where the first of the largest elements of each window is, and whether that is in doubt.

    It is where there are both numbers and a NaN, and where minus infinity is the largest beside padding.
    """
    top, is_nan = over(np.maximum, x, seen), np.isnan(x)
    of_windows = with_ones_after(top, len(sizes))
    hits = (windows(x, seen) == of_windows) | windows(is_nan, seen)
    count, nans = seen_count(seen.places, seen.window, sizes), over(np.add, is_nan.astype(int), seen)
    is_lost = np.isneginf(top) & (count < math.prod(seen.window.size))
    return first_place(hits, seen, sizes), (nans > 0) & (nans < count) | is_lost


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
    """The sum of InputGradient[o] over all o whose window has its maximum at the element.

    The window of o is Input[o * Strides + w * Dilations - StartPadding]. Among equal elements the first wins; so does
    the first of a window of NaN alone.
    """
    window = once_each(Window(window_size, strides, dilations, start_padding))
    sizes, counts = input.shape[2:], input_gradient.shape[2:]
    ends = tuple(map(add, sizes, end_padding))
    seen = map(seen_count, [(slice(0, count),) for count in counts], windows_by_dimension(window), zip(sizes))
    if not (is_forward_of(input_gradient.shape, output_gradient, ends, window) and all(map(np.all, seen))):
        yield left_open(output_gradient)
        return
    planes = LARGE // max(math.prod(sizes), math.prod(counts))
    for index in tiles_along((0, 1), output_gradient.sizes, planes):
        chosen = once(partial(largest_of_all, input[index], window, counts))
        dy = input_gradient[index]
        for target in targets(window, counts, (*dy.shape[:2], *sizes)):
            formula = partial(from_largest, target=target, chosen=chosen, sizes=sizes)
            yield Piece(target.within(index), formula, (part(dy[target.lead], target.seen),))


# ---- batches


def moment(x: Any, dy: Any, point: Any, sums: Any, axes: Axes) -> Any:
    """The sum of dy * (x - point), or of dy * x less that of dy times the point."""
    return hull(lambda: total(dy * (x - point), axes), lambda: total(dy * x, axes) - point * sums)


def batch_normalization_grad(
    input: Any, input_gradient: Any, mean: Any, variance: Any, scale: Any, *, axes: Axes, epsilon: Any
) -> dict[str, Any]:
    """OutputGradient = dy * Scale / sqrt(Variance + Epsilon), with dy the elements of InputGradient.

    OutputScaleGradient is the sum of dy * (x - Mean) / sqrt(Variance + Epsilon), OutputBiasGradient the sum of dy; both
    are over the dimensions in which MeanTensor has size 1.
    """
    square = variance if epsilon is None else variance + epsilon
    root, sums = np.sqrt(square), total(input_gradient, axes)
    is_open = (square <= 0) | (epsilon is None)
    slope = moment(input, input_gradient, mean, sums, axes) / root
    return by_output(Open(input_gradient * (scale / root), is_open), Open(slope, is_open), sums)


def batch_normalization_training_grad(
    input: Any, input_gradient: Any, mean: Any, variance: Any, scale: Any, *, axes: Axes, epsilon: Any, input_type: str
) -> dict[str, Any]:
    """OutputGradient = Scale / sqrt(V) * (dy - mean(dy) - c * mean(dy * c) / V).

    V = Variance + Epsilon and c = x - mean(x); dy are the elements of InputGradient. OutputScaleGradient is the sum of
    dy * (x - Mean) / sqrt(V), OutputBiasGradient the sum of dy. Means and sums are over the dimensions in which
    MeanTensor has size 1.
    """
    x, dy, square = input, input_gradient, variance + epsilon
    root, sums = np.sqrt(square), total(dy, axes)
    factor, count = scale / root, x.size // sums.size
    point, middle = mean_of(x, axes), sums / count
    about_point, about_mean = (moment(x, dy, each, sums, axes) for each in (point, mean))
    slope, slope_of_mean = (each / count / square for each in (about_point, about_mean))
    result = hull(
        lambda: factor * (dy - middle - (x - point) * slope),
        lambda: factor * (dy - middle - (x - mean) * slope_of_mean),
    )
    is_open = (square <= 0) | np.isinf(factor)
    is_other = np.abs(mean - point) > 2 * FORMATS[input_type].unit_roundoff * count * mean_of(np.abs(x), axes)
    return by_output(Open(result, is_open | is_other | (not axes)), Open(about_mean / root, is_open), sums)


def by_output(gradient: Any, scale: Any, bias: Any) -> dict[str, Any]:
    """Return something of each gradient by the name of its output."""
    return {"output_gradient": gradient, "output_scale_gradient": scale, "output_bias_gradient": bias}


# ---- neighbours


def of_neighbours(
    x: Any, dy: Any, *around_it: Any, sides: Sequence[Sides], alphas: Sequence[Any], **options: Any
) -> Any:
    """The gradient of x / B^Beta; around it are x, dy and what exists, for each side on which regions may be longer."""
    parts = [around_it[at : at + 3] for at in range(0, len(around_it), 3)]
    return any_of(
        *(
            of_region(x, dy, *near, side=side, alpha=alpha, **options)
            for alpha in alphas
            for side, near in zip(sides, parts, strict=True)
        )
    )


def of_region(
    x: Any, dy: Any, seen: Any, given: Any, exists: Any, *, side: Sides, alpha: Any, beta: Any, bias: Any
) -> Open:
    """The gradient of x / B^Beta; `seen` and `given` are x and dy around, where these exist."""
    every, here = (run_of(each.shape, window) for each, window in ((given, side.own), (x, side.back)))
    base = np.where(exists, bias + alpha * over(np.add, np.square(seen), every), 1)
    terms = given * seen[_inner(side.own, given)] * np.power(base, -beta - 1)
    result = dy * np.power(base[_inner(side.back, x)], -beta) - 2 * alpha * beta * x * over(np.add, terms, here)
    return Open(result, over(np.logical_or, raw(base) <= 0, here))


def of_all(x: Any, dy: Any, *, axes: Axes, alphas: Sequence[Any], beta: Any, bias: Any) -> Any:
    """The gradient of x / B^Beta where each region has all elements."""
    return any_of(*(of_whole(x, dy, axes, alpha, beta, bias) for alpha in alphas))


def of_whole(x: Any, dy: Any, axes: Axes, alpha: Any, beta: Any, bias: Any) -> Open:
    """The gradient of x / B^Beta where each region has all elements, with what Alpha is after its division."""
    base = bias + alpha * total(np.square(x), axes)
    sums = total(dy * x * np.power(base, -beta - 1), axes)
    result = dy * np.power(base, -beta) - 2 * alpha * beta * x * sums
    return Open(result, raw(base) <= 0)


class Sides(NamedTuple):
    """The region around an element, and the elements in whose regions it is."""

    own: Window
    back: Window

    @property
    def both(self) -> Window:
        """All that these elements' regions have."""
        own, back = self
        size = tuple(map(add, own.size, (size - 1 for size in back.size)))
        return own._replace(size=size, padding=tuple(map(add, own.padding, back.padding)))


def _inner(window: Window, x: Any) -> Index:
    """Return where the middles of the windows are in what these see."""
    return tuple(map(slice, window.padding, map(add, window.padding, x.shape)))


def local_response_normalization_grad(
    input: Any, input_gradient: Any, *, cross_channel: bool, local_size: int, alpha: Any, beta: Any, bias: Any
) -> Iterator[Piece]:
    """dy * B^-Beta - 2 * Alpha * Beta / LocalSize * x * the sum of dy' * x' * B'^(-Beta - 1).

    dy are the elements of InputGradient. B is Bias + Alpha / LocalSize * the sum of x^2 over the region of
    LOCAL_RESPONSE_NORMALIZATION, or longer before x where LocalSize is even. The second sum is over the elements whose
    regions contain x. Without CrossChannel Alpha may be divided by LocalSize^2 too.
    """
    axes = (1,) if cross_channel else (2, 3)
    before, after = (local_size - 1) // 2, local_size // 2
    alphas = [alpha / local_size] if cross_channel else [alpha / local_size, alpha / local_size**2]
    options = {"alphas": alphas, "beta": beta, "bias": bias}
    if sees_all(input, axes, before):
        yield from groups(partial(of_all, axes=axes, **options), axes, input, input_gradient)
        return
    first, last = (around(input.shape, axes, *reach) for reach in ((before, after), (after, before)))
    sides = [Sides(first, last), Sides(last, first)][: 1 + (before < after)]
    ones = np.broadcast_to(np.True_, input.shape)
    for index in regions(input.shape, axes, sides[0].both):
        places, around_it = places_at(index, input.shape), []
        for side in sides:
            beside, near = run_at(places, side.both), run_at(places, side.back)
            around_it += [part(input, beside), part(input_gradient, near), part(ones, near)]
        operands = input[index], input_gradient[index], *around_it
        yield Piece(index, partial(of_neighbours, sides=sides, **options), operands)


def regions(sizes: Sizes, axes: Axes, window: Window) -> Iterator[Index]:
    """Yield indices that leave some axes whole unless these are long, so that no neighbour is seen twice."""
    whole = math.prod(sizes[axis] for axis in axes)
    if whole <= BLOCK:
        cut = [axis for axis in range(len(sizes)) if axis not in axes]
        return tiles_along(cut, sizes, max(1, BLOCK // whole))
    return tiles_along(range(len(sizes)), sizes, places_at_once(sizes, window, sizes, is_reduced=True))


def work_of_neighbours(given: Mapping[str, Any]) -> Work:
    """Return the work of the sums of squares and of what comes back from the regions."""
    axes, size, x = (1,) if given["cross_channel"] else (2, 3), given["local_size"], given["input"]
    if sees_all(x, axes, (size - 1) // 2):
        return terms(x.size)
    both = around(x.shape, axes, size - 1, size - 1)
    return terms(2 * terms_of(x.shape, both, x.shape, is_reduced=True))


KERNELS: dict[str, Kernel] = {
    "AVERAGE_POOLING_GRAD": Kernel(average_pooling_grad, work=work_of_windows),
    "BATCH_NORMALIZATION_GRAD": Kernel(batch_normalization_grad, shared_by("mean")),
    "BATCH_NORMALIZATION_TRAINING_GRAD": Kernel(batch_normalization_training_grad, shared_by("mean")),
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": Kernel(local_response_normalization_grad, work=work_of_neighbours),
    "MAX_POOLING_GRAD": Kernel(max_pooling_grad, work=work_of_windows),
}
