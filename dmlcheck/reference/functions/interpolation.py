"""Interpolation between the elements of a tensor: for resampling, regions and their gradients.

Along each axis the elements are at the places 0, 1, 2 ...; before the first and after the last, the edge element is
used. Places are an array for each axis: integers are the numbers of elements, any other numbers may lie between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.data_types import is_float
from dmlcheck.reference.arrays.data_types import nearest as nearest_whole
from dmlcheck.reference.arrays.places import Places, numbers_of, with_ones_after
from dmlcheck.reference.ball.errors import unbounded
from dmlcheck.reference.ball.numbers import Array, Ball, hull, of_array, radius, raw, summing_error
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives, ways_of
from dmlcheck.reference.rows import Axes

Rounding = Callable[[Any], Any]


def coordinates(places: Iterable[range], scales: Any, input_offsets: Any, output_offsets: Any) -> list[Any]:
    """Return the places in the input of places o of an output: (o - OutputPixelOffset) / Scale - InputPixelOffset."""
    return list(map(_coordinates, map(numbers_of, places), scales, input_offsets, output_offsets))


def _coordinates(places: Array, scale: Any, input_offset: Any, output_offset: Any) -> Any:
    """Return the coordinates along an axis; if they are o itself, as integers, without roundings."""
    if raw(scale) == 1 and raw(input_offset) + raw(output_offset) == 0:
        return places
    own = Ball(places, None, scale.arithmetic) if isinstance(scale, Ball) else places
    return (own - output_offset) / scale - input_offset


def stepped(places: Any, scale: Any) -> Any:
    """Return the places of a gradient's elements, with the errors of an implementation that goes there in steps.

    For each element of the result DirectML starts at the first place beside it, or the one before, and adds 1 / Scale.
    """
    if not isinstance(places, Ball):
        return places
    step = 1 / raw(scale)
    steps = np.minimum(np.arange(places.size), np.floor(2 * raw(scale)) + 1)
    sizes = np.fmax(np.abs(raw(places)), np.abs(raw(places) - 2 - step))  # of the places on the way
    error = (steps + 1) * places.arithmetic.unit_roundoff * sizes
    return Ball(raw(places), radius(places) + unbounded(sizes, error, places.arithmetic), places.arithmetic)


def interpolated(x: Array, places: Sequence[Any], mode: str, rounding: Rounding) -> Any:
    """Return the values at places between elements: the nearest element, or the weighted average of its neighbours."""
    if mode == "NEAREST_NEIGHBOR":
        return nearest(x, places, rounding)
    average = linear(x, places)
    return average if is_float(x) else PartlyUndefined(integers(average.value), average.where)


def integers(x: Any) -> Any:
    """Return averages as integers: rounded toward zero, as DirectML does, or to the nearest, as alternatives."""
    return alternatives(np.trunc(x), nearest_whole(x))


def clamped(places: Any, size: int) -> Array:
    """Return whole numbers as indices of an axis with `size` elements, clipped to its ends."""
    found: Array = np.fmin(np.fmax(places, 0), size - 1).astype(np.int64)
    return found


def taken(x: Array, indices: Sequence[Array]) -> Array:
    """Return the elements at all combinations of the indices of each axis; a view where the indices are runs."""
    for axis in sorted(range(x.ndim), key=lambda axis: len(indices[axis]) / x.shape[axis]):
        index = indices[axis]
        if (np.diff(index) == 1).all():
            x = x[(*[slice(None)] * axis, slice(int(index[0]), int(index[-1]) + 1))]
        else:
            x = np.take(x, index, axis)
    return x


def repeated(x: Array, places: Iterable[range], factors: Sequence[Any]) -> Array:
    """Return the elements at places of x with each element repeated: along an axis as often as its factor says."""
    return taken(x, [numbers_of(place) // int(raw(factor)) for place, factor in zip(places, factors, strict=True)])


def is_enlarged(factors: Sequence[Any]) -> bool:
    """Whether a factor is above 1."""
    return any(raw(factor) > 1 for factor in factors)


# ---- nearest elements


def half_up(x: Any) -> Any:
    """Return the nearest whole numbers, halves rounded up."""
    return np.floor(x + 0.5)


def half_down(x: Any) -> Any:
    """Return the nearest whole numbers, halves rounded down."""
    return np.ceil(x - 0.5)


def nearest(x: Array, places: Sequence[Any], rounding: Rounding) -> PartlyUndefined:
    """Return the elements at rounded places; if the error of a place reaches another element, that is an alternative.

    The result is undefined at a place whose error reaches more than a few elements.
    """
    ways = product(*map(partial(candidates, rounding=rounding), places, x.shape))
    return PartlyUndefined(alternatives(*(taken(x, indices) for indices in ways)), is_lost(places))


def nearest_of_several(x: Array, places: Sequence[Any], rounding: Rounding) -> PartlyUndefined:
    """Return the elements at rounded places as balls that contain all alternatives of `nearest`."""
    found = nearest(x, places, rounding)
    return PartlyUndefined(hull(*(partial(computed, way, places) for way in ways_of(found.value))), found.where)


def candidates(places: Any, size: int, rounding: Rounding) -> list[Array]:
    """Return the indices of the rounded places, then the other indices that their errors allow."""
    if is_whole(places):
        return [clamped(places, size)]
    index, first, last = _rounded(places, size, rounding)
    others = (np.minimum(first + step, last) for step in range(int((last - first).max(initial=0)) + 1))
    return [index, *(other for other in others if (other != index).any())]


def _rounded(places: Any, size: int, rounding: Rounding) -> tuple[Array, Array, Array]:
    """Return the indices of the rounded places, and the first and the last indices that their errors allow."""
    found = rounding(places)
    reach = np.fmin(radius(found), _FEW)
    index, first, last = (clamped(at, size) for at in (rounding(raw(places)), raw(found) - reach, raw(found) + reach))
    return index, first, last


def is_whole(places: Any) -> bool:
    """Whether places are integers, without errors."""
    return isinstance(places, np.ndarray) and places.dtype.kind == "i"


def is_lost(places: Sequence[Any]) -> Any:
    """Return a mask of the places that are not finite, or have errors of more than a few elements."""
    marks = [~((radius(at) <= _FEW) & np.isfinite(raw(at))) for at in places]
    return reduce(np.logical_or.outer, marks) if any(mark.any() for mark in marks) else False


def is_any_lost(places: Sequence[Any]) -> bool:
    """Whether a place is lost, so that a gradient may be anywhere."""
    return bool(np.any(is_lost(places)))


_FEW = 4  # elements: FLOAT32 places are that far off after millions of elements, FLOAT16 ones after a thousand
_REACH = _FEW + 2  # elements: those that a place depends on are no farther away


# ---- weighted averages


class Between(NamedTuple):
    """The indices of the elements next to places, and the fraction of the distance from `low` to `high`.

    `after` has the elements after the places, those beyond an edge moved to it first: at an element, it has weight 0.
    """

    low: Array
    high: Array
    part: Array
    after: Array

    @property
    def elements(self) -> tuple[Array, ...]:
        """The indices of all elements that an implementation may read."""
        return self.low, self.high, self.after

    @property
    def is_idle(self) -> Array:
        """A mask of the places where `after` has weight 0, or may have."""
        return np.asarray((self.part == 0) | (self.low == self.high))


def linear(x: Array, places: Sequence[Any], *, channels: int = 0) -> PartlyUndefined:
    """Return low * (1 - part) + high * part for the elements next to each place, one axis after the other.

    The result is undefined as for `nearest`. The first axes may be `channels`, of which no implementation takes
    averages.
    """
    near = list(map(neighbours, places, x.shape))
    kept = [np.unique(np.concatenate([index for way in ways for index in way.elements])) for ways in near]
    near = list(map(_within, kept, near))
    elements = taken(x, kept)
    if np.isfinite(elements).all() or any(isinstance(x, Ball) and x.arithmetic.has_overflows for x in places):
        return PartlyUndefined(averaged(elements, finite(elements), near, places), is_lost(places))
    kinds = kinds_of(elements, partial(seen_in_averages, near=near, channels=channels))
    numbers = np.where(np.isfinite(elements), elements, np.nan)
    found = averaged(numbers, finite(elements), near, places, is_finite=False)
    return PartlyUndefined(with_infinities(found, kinds), is_lost(places))


def averaged(
    elements: Array,
    sizes: Array,
    near: Sequence[Sequence[Between]],
    places: Sequence[Any],
    *,
    is_finite: bool = True,
) -> Any:
    """Return the weighted averages of elements, with the roundings of `sizes`; balls if one of the places is a ball.

    If not all elements are finite, the hull of several ways leaves out those in which NaN has a weight.
    """
    found = computed(elements, places)
    for axis, ways in enumerate(near):
        found = hull(*(partial(mixed, found, way, axis, is_finite=is_finite) for way in ways))
    return in_any_order(found, sizes, [ways[0] for ways in near])


def neighbours(places: Any, size: int) -> list[Between]:
    """Return the elements next to places; then those next to other places that the errors allow."""
    if is_whole(places):
        return [_between(places, size)]
    value, error = raw(places), np.fmin(radius(places), _FEW)
    ways, reach = [value], int(error.max(initial=0))
    if error.any():
        knots = (np.floor(value) + step for step in range(-reach, reach + 2))
        ways += [value - error, value + error, *(np.clip(knot, value - error, value + error) for knot in knots)]
    return [_between(x, size) for x in ways]


def _between(x: Array, size: int) -> Between:
    low = np.floor(x)
    return Between(clamped(low, size), clamped(low + 1, size), x - low, clamped(np.fmax(low, 0) + 1, size))


def _within(kept: Array, ways: list[Between]) -> list[Between]:
    return [Between(_at(way.low, kept), _at(way.high, kept), way.part, _at(way.after, kept)) for way in ways]


def _at(indices: Array, kept: Array) -> Array:
    return np.asarray(np.searchsorted(kept, indices))


def computed(elements: Array, numbers: Sequence[Any]) -> Any:
    """Return elements as float64, or as balls if one of the numbers is a ball."""
    wide = elements if elements.dtype.kind == "f" else elements.astype(np.float64)
    arithmetic = next((x.arithmetic for x in numbers if isinstance(x, Ball)), None)
    return wide.astype(np.float64, copy=False) if arithmetic is None else of_array(wide, arithmetic)


def mixed(x: Any, way: Between, axis: int, *, is_finite: bool = True) -> Any:
    """Return the weighted averages of elements along an axis, without elements of weight 0 if not all are finite."""
    low = np.take(x, way.low, axis)
    if not way.part.any():
        return low
    part = with_ones_after(way.part, x.ndim - axis - 1)
    found = low * (1 - part) + np.take(x, way.high, axis) * part
    return found if is_finite else np.where(part == 0, low, found)


def in_any_order(found: Any, elements: Array, near: Sequence[Between]) -> Any:
    """Return averages with the roundings of any order of axes and any form of the weighted average.

    An implementation may multiply by the product of all weights, or add a part of the difference along each axis.
    """
    if not isinstance(found, Ball) or elements.dtype.kind != "f":
        return found
    sizes, is_mixed = np.abs(elements.astype(np.float64)), reduce(np.logical_or.outer, [way.part != 0 for way in near])
    moved = np.zeros_like(sizes)  # the sizes of the parts of differences that are added to the first element
    for axis, way in enumerate(near):
        part = with_ones_after(way.part, sizes.ndim - axis - 1)
        moved = np.take(sizes, way.low, axis) * part + mixed(moved, way, axis)
        sizes = mixed(sizes, way, axis)
    most = 2 * reduce(_largest_beside, enumerate(near), np.abs(elements.astype(np.float64)))  # of a difference
    roundings = _ROUNDINGS * sizes + _OF_DIFFERENCES * moved
    own = np.where(is_mixed, found.arithmetic.unit_roundoff * roundings, 0.0)
    error = radius(found) + unbounded(most, own, found.arithmetic)
    return Ball.result(raw(found), error, found.arithmetic, found.terms)


def _largest_beside(sizes: Array, along: tuple[int, Between]) -> Array:
    axis, way = along
    found: Array = np.maximum(np.take(sizes, way.low, axis), np.take(sizes, way.high, axis))
    return found


_ROUNDINGS = 6  # u times the weighted average of absolute values; 4.8 is the largest error that was measured
_OF_DIFFERENCES = 2  # u times a part of a difference: it is rounded, and then its product with the part


def seen_in_averages(marked: Array, near: Sequence[Sequence[Between]], channels: int) -> Seen:
    """Return the averages that see a marked element: with a weight, perhaps with one as errors decide, or with 0."""
    surely = perhaps = marked
    in_vain = np.zeros(marked.shape, dtype=bool)
    for axis, ways in enumerate(near):
        is_idle = [with_ones_after(way.is_idle, marked.ndim - axis - 1) for way in ways]
        vain = [np.take(in_vain, index, axis) for way in ways for index in way.elements]
        if axis >= channels:
            vain += [np.take(perhaps, way.after, axis) & idle for way, idle in zip(ways, is_idle, strict=True)]
        in_vain = reduce(np.logical_or, vain)
        surely = reduce(np.logical_and, (_touched(surely, way, axis) for way in ways))
        perhaps = reduce(np.logical_or, (_touched(perhaps, way, axis) for way in ways))
    return Seen(surely, perhaps, in_vain)


def _touched(marked: Array, way: Between, axis: int) -> Array:
    """Return a mask of the averages along an axis in which a marked element has a weight other than 0."""
    has_weight = with_ones_after(way.part != 0, marked.ndim - axis - 1)
    touched: Array = np.take(marked, way.low, axis) | (np.take(marked, way.high, axis) & has_weight)
    return touched


# ---- the transpose


def returned(
    gradient: Array, places: Sequence[Any], numbers: Any, tile: Places, sizes: Sequence[int], rounding: Rounding | None
) -> PartlyUndefined:
    """Return the gradient of a tile of a tensor of some sizes, from the gradient at places between its elements.

    It is the transpose of `nearest` with a rounding, and of `linear` without. All results are undefined if a place has
    an error of more than a few elements, or alone is not finite, and measured if none is: places of NaN are at each
    element for a rounding, and at none without. If `numbers` are balls, so are the results.
    """
    seen = list(map(_reached, places, tile, sizes))
    at = [own[part] for own, part in zip(places, seen, strict=True)]
    near = list(map(partial(shares, rounding=rounding), at, sizes, (part.start for part in tile)))
    found = spread(computed(gradient[tuple(seen)], [numbers]), near, [*map(len, tile)]).rounded()
    is_measured = any(_are_none(np.isfinite(raw(own))) for own in places)
    value = AsMeasured(found.value, is_measured) if is_measured else found.value
    return PartlyUndefined(
        value, found.where | is_any_lost([own for own in at if not _are_none(np.isfinite(raw(own)))])
    )


def _are_none(marks: Array) -> bool:
    return not marks.any()


def _reached(places: Any, tile: range, size: int) -> slice:
    """Return the slice of the places along an axis that may depend on the elements of a tile; at least one place."""
    if _are_none(~np.isnan(raw(places))):
        return slice(None)
    held = clamped(raw(places), size)
    start, stop = np.searchsorted(held, (tile.start - _REACH, tile.stop - 1 + _REACH)).tolist()
    return slice(start, stop) if start < stop else slice(1)  # the first, with weight 0 for them


class Share(NamedTuple):
    """An element for each place along an axis, by its index, and its weight there."""

    element: Array
    weight: Any


def shares(places: Any, size: int, start: int = 0, rounding: Rounding | None = None) -> list[Share]:
    """Return the elements that places depend on: with a rounding the nearest ones, without one both neighbours.

    They include the elements that the errors of the places allow. Indices count from `start`.
    """
    if _are_none(~np.isnan(raw(places))):
        count = 1 if rounding is None else size
        found = [
            Share(np.full(places.shape, at), np.full(places.shape, float(rounding is not None))) for at in range(count)
        ]
    elif is_whole(places):
        found = [Share(clamped(places, size), np.ones(places.shape))]
    else:
        found = _shares_of_neighbours(places, size) if rounding is None else _shares_of_nearest(places, size, rounding)
    return [Share(element - start, weight) for element, weight in found]


def _shares_of_neighbours(places: Any, size: int) -> list[Share]:
    places = np.clip(places, 0, size - 1)
    low, reach = np.floor(raw(places)), int(np.ceil(np.fmin(radius(places), _FEW).max(initial=0)))
    steps = range(-reach, reach + 2) if (raw(places) > low).any() or reach else [0]
    return [Share(clamped(low + at, size), np.maximum(1 - np.abs(places - (low + at)), 0)) for at in steps]


def _shares_of_nearest(places: Any, size: int, rounding: Rounding) -> list[Share]:
    index, first, last = _rounded(places, size, rounding)
    if not isinstance(places, Ball) or (first == last).all():
        return [Share(index, np.ones(index.shape))]
    parts = []
    for step in range(int((last - first).max()) + 1):
        half = np.where((first < last) & (first + step <= last), 0.5, 0.0)
        sure = (first == last) & (step == 0)
        parts.append(Share(np.minimum(first + step, last), Ball(sure + half, half, places.arithmetic)))
    return parts


class Sums(NamedTuple):
    """The sums of a gradient's finite terms, the mask of undefined sums, and the count, sizes and squares of terms.

    `kinds` has the sums that see infinity or NaN; None if none does.
    """

    value: Any
    is_undefined: Any
    count: Any = 0.0
    absolute: Any = 0.0
    squares: Any = 0.0
    kinds: Kinds | None = None

    def and_(self, other: Sums) -> Sums:
        """Return the sums of the terms of both."""
        kinds = self.kinds.or_(other.kinds) if self.kinds and other.kinds else self.kinds or other.kinds
        found = Sums(
            self.value + other.value, self.is_undefined | other.is_undefined, *map(np.add, self[2:5], other[2:5])
        )
        return found._replace(kinds=kinds)

    def rounded(self) -> PartlyUndefined:
        """Return the sums with the error of a sum in any order."""
        value = self.value
        if isinstance(value, Ball):
            own = summing_error(
                np.maximum(self.count - 1, 0), raw(value), self.absolute, self.squares, value.arithmetic
            )
            value = Ball.result(raw(value), value.radius + own, value.arithmetic, int(np.max(self.count, initial=0)))
        found = value if self.kinds is None else with_infinities(value, self.kinds)
        return PartlyUndefined(found, self.is_undefined)


def spread(gradient: Any, near: Sequence[Sequence[Share] | None], sizes: Sequence[int]) -> Sums:
    """Return for each element the sum over all places of the gradient times the element's weight there.

    It is the transpose of `nearest` and `linear`; an axis of None is left as it is.
    """
    along, kinds = partial(_spread, near=near, sizes=sizes), None
    if not np.isfinite(raw(gradient)).all():
        kinds = kinds_of(raw(gradient), partial(seen_in_sums, along))
        gradient = np.where(np.isfinite(raw(gradient)), gradient, 0.0)
    found, value = along(gradient), raw(gradient)
    if not isinstance(found, Ball):
        return Sums(found, np.zeros((), bool), kinds=kinds)
    return Sums(
        found,
        np.zeros((), bool),
        along(np.ones(value.shape), weigh=_has_weight),
        along(np.abs(value) + radius(gradient), weigh=lambda weight: np.abs(raw(weight)) + radius(weight)),
        along(value * value, weigh=lambda weight: raw(weight) ** 2),
        kinds,
    )


def seen_in_sums(along: Callable[..., Array], marked: Array) -> Seen:
    """Return the sums that see a marked term: with a weight, perhaps with one as errors decide, or with 0."""
    terms = marked.astype(np.float64)
    every, perhaps, surely = (along(terms, weigh=weigh) for weigh in (_one, _has_weight, _surely_has_weight))
    return Seen(surely > 0, perhaps > 0, every > perhaps)


def _one(weight: Any) -> Array:
    return np.ones(weight.shape)


def _has_weight(weight: Any) -> Array:
    return (np.abs(raw(weight)) + radius(weight) > 0).astype(np.float64)


def _surely_has_weight(weight: Any) -> Array:
    return (np.abs(raw(weight)) - radius(weight) > 0).astype(np.float64)


def _spread(
    x: Any,
    near: Sequence[Sequence[Share] | None],
    sizes: Sequence[int],
    weigh: Callable[[Any], Any] = lambda weight: weight,
) -> Any:
    unread = [(0, 0)] * x.ndim  # elements before and after on which no place depends
    for axis in sorted(range(x.ndim), key=lambda axis: sizes[axis] / x.shape[axis]):
        own, after = near[axis], x.ndim - axis - 1
        if own:
            start, stop = span_of(own, sizes[axis])
            weighted = ((at - start, x * with_ones_after(weigh(weight), after)) for at, weight in own)
            x = reduce(np.add, [grouped(part, at, stop - start, axis) for at, part in weighted])
            unread[axis] = start, sizes[axis] - stop
    return np.pad(x, unread) if any(map(any, unread)) else x


def span_of(near: Sequence[Share], size: int) -> tuple[int, int]:
    """Return the range of the elements of an axis that places depend on: the first, and the one after the last."""
    numbers = np.clip(np.concatenate([element for element, _ in near]), -1, size)
    start = max(int(numbers.min()), 0)
    return start, max(min(int(numbers.max()) + 1, size), start)


def grouped(x: Any, index: Array, count: int, axis: int) -> Any:
    """Return the sums of the slices of an array along an axis with the same index, for the indices below `count`.

    The radii of balls are added up, since the errors of neighbouring places are not independent.
    """
    if isinstance(x, Ball):
        return x.moved(lambda part: grouped(part, index, count, axis))
    if (np.diff(index) < 0).any():
        order = np.argsort(index, kind="stable")
        x, index = np.take(x, order, axis), index[order]
    edges = np.searchsorted(index, np.arange(count + 1))
    has_any = edges[1:] > edges[:-1]
    lead: tuple[Any, ...] = (slice(None),) * axis
    found = np.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]))
    if has_any.any():
        x = x[(*lead, slice(None, edges[-1]))]
        found[(*lead, has_any)] = np.add.reduceat(x, edges[:-1][has_any], axis)
    return found


# ---- sums


def total_together(x: Any, axes: Axes) -> Any:
    """Return sums along `axes`; the radii are added up, as the errors of places may all have one direction."""
    if not isinstance(x, Ball):
        return x.sum(axis=axes)
    exact = Ball.result(raw(x), None, x.arithmetic, x.terms).sum(axis=axes)
    return Ball.result(exact.value, exact.radius + x.radius.sum(axis=axes), x.arithmetic, exact.terms)


# ---- weighted sums of elements that may be infinite or NaN


class Seen(NamedTuple):
    """Masks of the sums that see an element of one kind: with a weight above 0, perhaps with one, and with one of 0."""

    surely: Any
    perhaps: Any
    in_vain: Any

    def or_(self, other: Seen) -> Seen:
        """Return the masks for the sums of the terms of both."""
        return Seen(*map(np.logical_or, self, other))


class Kinds(NamedTuple):
    """The sums that see infinity, -infinity and NaN."""

    infinity: Seen
    negative: Seen
    nan: Seen

    def or_(self, other: Kinds) -> Kinds:
        """Return the masks for the sums of the terms of both."""
        return Kinds(*map(Seen.or_, self, other))


def finite(x: Array) -> Array:
    """Return elements with 0 in place of infinity and NaN."""
    return np.where(np.isfinite(x), x, 0)


def kinds_of(x: Array, seen: Callable[[Array], Seen]) -> Kinds:
    """Return the sums that see each kind of element; `seen` returns those that see the elements of a mask."""
    return Kinds(seen(x == np.inf), seen(x == -np.inf), seen(np.isnan(x)))


def with_infinities(sums: Any, kinds: Kinds) -> Any:
    """Return the sums of all elements, from the sums of the finite ones.

    An element with weight 0 may be left out, or be multiplied by 0, which gives NaN. Where errors decide whether a
    weight is 0, the infinity is another alternative.
    """
    positive, negative, nan = kinds
    is_nan = nan.surely | positive.surely & negative.surely
    first = np.where(positive.surely, np.inf, np.where(negative.surely, -np.inf, sums))
    first = np.where(is_nan, np.nan, first)
    others = {
        np.nan: reduce(np.logical_or, (kind.in_vain | kind.perhaps & ~kind.surely for kind in kinds)),
        np.inf: positive.perhaps & ~positive.surely & ~negative.surely & ~nan.surely,
        -np.inf: negative.perhaps & ~negative.surely & ~positive.surely & ~nan.surely,
    }
    return alternatives(first, *(np.where(mask, number, first) for number, mask in others.items() if mask.any()))
