"""The samples of regions: how many there are, where each is in an image, and what the image has there."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Array, Ball, Condition, hull, radius, raw
from dmlcheck.reference.interpolation import (
    Rounding,
    Share,
    beside,
    computed,
    half_down,
    half_up,
    linear,
    nearest,
    nearest_of_several,
    shares,
    spread,
    taken,
)
from dmlcheck.reference.places import Places, numbers_of
from dmlcheck.reference.results import PartlyUndefined, alternatives, ways_of

Counts = tuple[int, int]


class Sampling(NamedTuple):
    """How regions are sampled: the fields of a desc, of height and width where there are two."""

    mode: str
    function: str
    scales: tuple[Any, Any]
    least: int
    most: int
    input_offset: Any = 0.5
    output_offset: Any = -0.5
    is_aligned: bool = False

    @property
    def has_equal_offsets(self) -> bool:
        """Whether it makes no difference which offset is which."""
        return bool(raw(self.input_offset) == raw(self.output_offset))


# ---- how many there are


def sample_counts(corners: Any, sizes: Sequence[int], sampling: Sampling) -> list[Counts | None]:
    """Return how many samples an element of each region has along height and width, None where that is undefined."""
    numbers = [float(raw(x)) for x in (*sampling.scales, sampling.input_offset, sampling.output_offset)]
    exact = raw(corners)
    if not np.isfinite(numbers).all():
        return [None] * len(exact)
    plain = sampling._replace(scales=(numbers[0], numbers[1]))
    found = [_counts(ends(Ball(exact), axis, plain), size, plain) for axis, size in enumerate(sizes)]
    is_known = np.asarray(np.isfinite(exact).all(axis=-1)).tolist()
    return [
        None if not known or 0 in own or (sampling.is_aligned and 1 in map(operator.mul, own, sizes)) else own
        for known, own in zip(is_known, zip(*found, strict=True), strict=True)
    ]


def _counts(region: tuple[Ball, Ball], size: int, sampling: Sampling) -> list[int]:
    """Return the samples of an element along an axis: |region| / size between the limits; 0 where that is undefined.

    That is where it is no whole number, or its rounding decides, or the region is mirrored and its size counts.
    """
    if sampling.least >= sampling.most or sampling.least < 1:
        return [sampling.least if 1 <= sampling.least == sampling.most else 0] * len(region[0])
    quotient = (region[1] - region[0]) / size
    value, error = raw(quotient), quotient.radius
    size_, low, high = np.clip([value, abs(value) - error, abs(value) + error], sampling.least, sampling.most)
    is_known = (size_ == low) & (low == high) & (np.rint(size_) == size_)
    return np.where(is_known, size_, 0).astype(np.int64).tolist()  # type: ignore[no-any-return]


# ---- where they are


def ends(corners: Any, axis: int, sampling: Sampling) -> tuple[Any, Any]:
    """Return where regions begin and end along height (0) or width (1): of x1, y1, x2, y2 the two, scaled."""
    return corners[..., 1 - axis] * sampling.scales[axis], corners[..., 3 - axis] * sampling.scales[axis]


def places_along(corners: Any, axis: int, samples: Array, count: int, sampling: Sampling) -> Any:
    """Return where some of a region's samples are, of which there are `count` along height or width."""
    start, stop = ends(corners, axis, sampling)
    step = (stop - start) / (count - 1 if sampling.is_aligned else count)
    return (samples - sampling.output_offset) * step + start - sampling.input_offset


def places_of_samples(
    corners: Any, tile: Places, sizes: Sequence[int], counts: Counts, sampling: Sampling
) -> list[Any]:
    """Return where the samples of some rows and columns of a region are, along height and width."""
    samples = (numbers_of(range(own.start * count, own.stop * count)) for own, count in zip(tile, counts, strict=True))
    steps = map(operator.mul, sizes, counts)
    return list(map(partial(places_along, corners, sampling=sampling), (0, 1), samples, steps))


# ---- what they are


class Reading(NamedTuple):
    """A reading of the documentation: which places along an axis are outside, and which element is the nearest.

    `outside` is a function of places and the size of the axis; no `rounding` is for averages of elements.
    """

    outside: Callable[[Any, int], Any]
    rounding: Rounding | None


def rounding_of(sampling: Sampling) -> Rounding | None:
    """Return how the reference rounds places to nearest elements; None for averages."""
    return None if sampling.mode == "LINEAR" else half_up


def readings(at: Sequence[Any], sizes: Sequence[int], sampling: Sampling) -> list[Reading]:
    """Return the readings that may differ on what is at the places of some samples, the reference's first.

    One element beyond an edge is inside or outside. Nearest elements, and all where AlignRegionsToCorners is set, end
    there, or at the edges themselves. Halfway between two elements either may be the nearest, or the even one.
    """
    outsides: list[Callable[[Any, int], Any]] = [_is_beyond]
    roundings = [rounding_of(sampling)]
    if any(np.any((raw(x) == -1) | (raw(x) == size)) for x, size in zip(at, sizes, strict=True)):
        outsides.append(_is_at_least_one_beyond)
    is_strict = sampling.is_aligned or sampling.mode != "LINEAR"
    if is_strict and any(np.any(possible(_is_off(x, size))) for x, size in zip(at, sizes, strict=True)):
        outsides.append(_is_off)
    if sampling.mode != "LINEAR" and any(np.any(np.floor(raw(x)) + 0.5 == raw(x)) for x in at):
        roundings += [half_down, np.rint]
    return [Reading(*ways) for ways in product(outsides, roundings)]


def samples_at(image: Array, at: Sequence[Any], reading: Reading, outside: Any, *, is_single: bool) -> PartlyUndefined:
    """Return what an image of several channels has at the places of some samples, along height and width.

    A nearest element that is a result by itself is one of those that rounding may choose.
    """
    every = [np.arange(len(image)), *at]
    beyond = _crossed(*map(reading.outside, at, image.shape[1:]))
    if reading.rounding is None:
        found = linear(image, every)
    else:
        found = (nearest if is_single else nearest_of_several)(image, every, reading.rounding)
    values = alternatives(*(np.where(beyond, outside, way) for way in ways_of(found.value)))
    return PartlyUndefined(values, found.where & ~certain(beyond))


def limits(at: Sequence[Any], sizes: Sequence[int], sampling: Sampling) -> tuple[Any, Any]:
    """Say which samples are farther beyond an edge than one element, and on which of them readings differ."""
    beyond = _crossed(*map(_is_beyond, at, sizes))
    unclear = _crossed(*map(partial(_is_unclear, sampling=sampling), at, sizes))
    return beyond, unclear if sampling.is_aligned else unclear & ~certain(beyond)


def _crossed(rows: Any, columns: Any) -> Any:
    """Return which elements of a grid are in one of some rows or columns."""
    return rows[:, None] | columns


def _is_beyond(x: Any, size: int) -> Any:
    """Say which places along an axis are farther beyond an edge than one element."""
    return (x < -1) | (x > size)


def _is_at_least_one_beyond(x: Any, size: int) -> Any:
    """Say which places along an axis are at least one element beyond an edge."""
    return (x <= -1) | (x >= size)


def _is_off(x: Any, size: int) -> Any:
    """Say which places along an axis are beyond an edge."""
    return (x < 0) | (x > size - 1)


def _is_unclear(x: Any, size: int, sampling: Sampling) -> Any:
    """Say at which places along an axis readings differ on what is there, as `readings` has them."""
    exact = raw(x)
    is_off = possible(_is_off(x, size))
    if sampling.mode == "LINEAR":
        return is_off if sampling.is_aligned else (exact == -1) | (exact == size)
    return is_off | (np.floor(exact) + 0.5 == exact)


def possible(condition: Any) -> Any:
    """Say where a condition holds, or may hold."""
    return condition.holds | condition.doubt if isinstance(condition, Condition) else condition


def certain(condition: Any) -> Any:
    """Say where a condition surely holds."""
    return condition.holds & ~condition.doubt if isinstance(condition, Condition) else condition


# ---- what comes back to them


def gradient_of_samples(
    gradient: Any, at: Sequence[Any], image: Any, counts: Counts, sampling: Sampling, sizes: Sequence[int]
) -> PartlyUndefined:
    """Return what each sample gets of the gradient: its part of the average, or all of it if it is the largest.

    Those beyond the limit get nothing. Those that are not clear are undefined, and equal or unclear ones for MAX.
    """
    beyond, unclear = limits(at, sizes, sampling)
    given = np.repeat(np.repeat(gradient, counts[0], 1), counts[1], 2)
    if sampling.function == "AVERAGE":
        return PartlyUndefined(np.where(beyond, 0.0, given / math.prod(counts)), unclear)
    samples = samples_at(image, at, Reading(_is_beyond, rounding_of(sampling)), np.nan, is_single=False)
    chosen = _which_is_largest(samples.value, counts)
    is_undefined = _in_each(np.any, samples.where | unclear | possible(beyond), given.shape, counts) | chosen.where
    is_none = beyond | (raw(chosen.value) + radius(chosen.value) == 0)
    return PartlyUndefined(np.where(is_none, 0.0, given * chosen.value), is_undefined)


def _which_is_largest(samples: Any, counts: Counts) -> PartlyUndefined:
    """Return 1 for the largest sample of each element and 0 for the others; of several that it may be, each may be it.

    Elements of equal samples, or with a NaN among them, are undefined.
    """
    value, error = raw(samples), radius(samples)
    may_be = value + error >= _in_each(np.max, value - error, value.shape, counts)
    is_sure = may_be & (_in_each(np.sum, may_be, value.shape, counts) == 1)
    is_equal = value == _in_each(np.max, value, value.shape, counts)
    chosen = hull(*(partial(computed, marks, [samples]) for marks in (is_sure, may_be)))
    return PartlyUndefined(chosen, _in_each(np.sum, is_equal, value.shape, counts) != 1)


def _in_each(reduction: Any, samples: Array, sizes: Sequence[int], counts: Counts) -> Array:
    """Return a reduction of the samples of each element, for each of them."""
    channels, height, width = sizes
    of_each = (channels, height // counts[0], counts[0], width // counts[1], counts[1])
    found = reduction(np.broadcast_to(samples, sizes).reshape(of_each), axis=(2, 4), keepdims=True)
    reduced: Array = np.broadcast_to(found, of_each).reshape(sizes)
    return reduced


def has_part(samples: Any, at: Sequence[Any], tile: Places, sizes: Sequence[int], sampling: Sampling) -> Array:
    """Say which elements of a tile have, or may have, a part in samples that are marked."""
    if not np.any(samples):
        return np.zeros((), bool)
    starts = [part.start for part in tile]
    roundings = [None] if sampling.mode == "LINEAR" else [half_up, half_down]
    ways = [map(partial(shares, rounding=rounding), map(raw, at), sizes, starts) for rounding in roundings]
    near = list(map(list, map(chain, *ways)))
    marks = np.broadcast_to(samples, np.broadcast_shapes(np.shape(samples), (1, *map(len, at))))
    found: Array = spread(marks, [None, *near], [len(marks), *map(len, tile)]).value > 0
    return found


def is_in(near: Sequence[Share], part: range) -> bool:
    """Whether some elements, counted from the start of a part of an axis, are in it."""
    return any((np.clip(element, 0, len(part) - 1) == element).any() for element, _ in near)


# ---- how they move


def shares_of_ends(axis: int, count: int, sampling: Sampling) -> Any:
    """Return how far along height (0) or width (1) of a region its samples are: how much each moves with the end."""
    share = (np.arange(count) - sampling.output_offset) / (count - 1 if sampling.is_aligned else count)
    return share[:, None] if axis == 0 else share


def slopes_of(image: Array, at: Sequence[Any]) -> tuple[Any, Any]:
    """Return how steep an image is at some places along height and width, between the elements beside each."""
    sides = [ways[0][:2] for ways in map(beside, at, image.shape[1:])]
    every = np.arange(len(image))
    corners = [computed(taken(image, [every, y, x]), at) for y, x in product(*sides)]
    top_left, top_right, bottom_left, bottom_right = corners
    down, across = (x - np.floor(raw(x)) for x in at)
    down = down[:, None]
    along_height = (1 - across) * (bottom_left - top_left) + across * (bottom_right - top_right)
    return along_height, (1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left)


def kinks(x: Any, size: int) -> Array:
    """Say which places are, or may be, at an element, where the slope changes if there are several."""
    found: Array = possible(np.floor(x) == np.ceil(x)) & (size > 1)
    return found
