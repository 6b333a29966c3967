"""The samples of regions: their number, their places in an image, their values and gradients."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.data_types import beginning
from dmlcheck.reference.arrays.places import Places, numbers_of
from dmlcheck.reference.ball.numbers import Array, Ball, Condition, hull, radius, raw
from dmlcheck.reference.functions.interpolation import (
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
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives, ways_of, without_alternatives

Counts = tuple[int, int]  # of samples of an element along height and width
ONE: Counts = (1, 1)


class Sampling(NamedTuple):
    """The fields of a desc about sampling; `scales` are the scales of height and width."""

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
        """Whether both pixel offsets are the same."""
        return bool(raw(self.input_offset) == raw(self.output_offset))


# ---- counts


class OfEach(NamedTuple):
    """The numbers of samples of an element along height and width, and whether they were only measured on DirectML."""

    counts: Counts
    is_measured: bool = False


def sample_counts(corners: Any, sizes: Sequence[int], sampling: Sampling) -> list[OfEach | None]:
    """Return the numbers of samples of an element along height and width, by region; None where undefined."""
    numbers = [float(raw(x)) for x in (*sampling.scales, sampling.input_offset, sampling.output_offset)]
    exact = raw(corners)
    if not np.isfinite(numbers).all():
        return [None] * len(exact)
    plain = sampling._replace(scales=(numbers[0], numbers[1]))
    found = [_counts(ends(Ball(exact), axis, plain), size, plain) for axis, size in enumerate(sizes)]
    is_finite = np.asarray(np.isfinite(exact).all(axis=-1)).tolist()
    return [
        _of_each(rows, columns, sizes, sampling) if finite else None
        for finite, rows, columns in zip(is_finite, *found, strict=True)
    ]


def _of_each(rows: tuple[int, bool], columns: tuple[int, bool], sizes: Sequence[int], sampling: Sampling) -> Any:
    counts, is_open = zip(rows, columns, strict=True)
    has_one = sampling.is_aligned and 1 in map(operator.mul, counts, sizes)
    return None if 0 in counts else OfEach(counts, any(is_open) or has_one)


def _counts(region: tuple[Ball, Ball], size: int, sampling: Sampling) -> list[tuple[int, bool]]:
    """Return the number of samples of an element along an axis, by region, and whether it is what DirectML takes alone.

    It is |region| / size within the limits. DirectML rounds it up; it is 0, for undefined, where an error decides that.
    """
    if sampling.least >= sampling.most or sampling.least < 1:
        return [(sampling.least if 1 <= sampling.least == sampling.most else 0, False)] * len(region[0])
    quotient = (region[1] - region[0]) / size
    value, error = raw(quotient), quotient.radius
    size_, low, high = np.clip([value, abs(value) - error, abs(value) + error], sampling.least, sampling.most)
    is_known = (size_ == low) & (low == high) & (np.rint(size_) == size_)
    found = np.where(np.ceil(low) == np.ceil(high), np.ceil(low), 0).astype(np.int64)
    return list(zip(found.tolist(), np.asarray(~is_known).tolist(), strict=True))


# ---- places


def ends(corners: Any, axis: int, sampling: Sampling) -> tuple[Any, Any]:
    """Return the scaled starts and ends of regions along height (0) or width (1), from x1, y1, x2 and y2."""
    return corners[..., 1 - axis] * sampling.scales[axis], corners[..., 3 - axis] * sampling.scales[axis]


def places_along(corners: Any, axis: int, samples: Array, counts: tuple[int, int], sampling: Sampling) -> Any:
    """Return the places of some samples of a region along height or width.

    `counts` are those of the samples along the region, and of an element. A single one between corners is in the
    middle, as DirectML has it.
    """
    start, stop = ends(corners, axis, sampling)
    if sampling.is_aligned and counts[0] == 1:
        return (start + stop) / 2 - sampling.input_offset + samples
    count = counts[0] - 1 if sampling.is_aligned else counts[0]
    step = (stop - start) / count
    found = (samples - sampling.output_offset) * step + start - sampling.input_offset
    if not isinstance(found, Ball):
        return found
    # Others subtract the offset from the ends first, and go from an element's start to its samples.
    start, stop = start - sampling.input_offset, stop - sampling.input_offset
    step, own = (stop - start) / count, samples % counts[1]
    other = start + (samples - own) * step + (own - sampling.output_offset) * step
    return Ball(found.value, np.fmax(found.radius, other.radius), found.arithmetic, found.terms)


def places_of_samples(
    corners: Any, tile: Places, sizes: Sequence[int], counts: Counts, sampling: Sampling
) -> list[Any]:
    """Return the places of the samples of some rows and columns of a region, along height and width."""
    samples = (numbers_of(range(own.start * count, own.stop * count)) for own, count in zip(tile, counts, strict=True))
    of_each = zip(map(operator.mul, sizes, counts), counts, strict=True)
    return list(map(partial(places_along, corners, sampling=sampling), (0, 1), samples, of_each))


# ---- values


Outside = Callable[[Any, int], Any]  # the mask of the places that are outside an axis of a size


def rounding_of(sampling: Sampling) -> Rounding | None:
    """Return the rounding of places to nearest elements; None for averages."""
    return None if sampling.mode == "LINEAR" else half_up


def readings(at: Sequence[Any], sizes: Sequence[int], sampling: Sampling) -> list[Outside]:
    """Return the readings of what is outside that differ at some places, the reference's first.

    They differ on a place that is exactly one element beyond an edge. With AlignRegionsToCorners, all places beyond an
    edge are outside.
    """
    if sampling.is_aligned:
        return [_is_off]
    is_at_end = any(np.any((raw(x) == -1) | (raw(x) == size)) for x, size in zip(at, sizes, strict=True))
    return [_is_at_least_one_beyond, _is_beyond] if is_at_end else [_is_at_least_one_beyond]


def samples_at(image: Array, at: Sequence[Any], rounding: Rounding | None, *, is_single: bool) -> PartlyUndefined:
    """Return the samples of an image of several channels at some places along height and width.

    Beyond an edge they are the elements of the edge. If a sample is a result by itself (`is_single`), all elements that
    its place may be rounded to are alternatives.
    """
    every = [np.arange(len(image)), *at]
    if rounding is None:
        return linear(image, every, channels=1)
    return (nearest if is_single else nearest_of_several)(image, every, rounding)


def bounded(
    found: PartlyUndefined, at: Sequence[Any], sizes: Sequence[int], is_outside: Outside, outside: Any
) -> PartlyUndefined:
    """Return samples at some places of an image, with the value `outside` at those that a reading puts outside."""
    beyond = _crossed(*map(is_outside, at, sizes))
    values = alternatives(*(np.where(beyond, outside, way) for way in ways_of(found.value)))
    return PartlyUndefined(values, found.where & ~certain(beyond))


def limits(at: Sequence[Any], sizes: Sequence[int], sampling: Sampling) -> tuple[Any, Any]:
    """Return masks of the samples more than one element beyond an edge, and of those on which readings differ."""
    beyond = _crossed(*map(_is_beyond, at, sizes))
    unclear = _crossed(*map(partial(_is_unclear, sampling=sampling), at, sizes))
    return beyond, unclear if sampling.is_aligned else unclear & ~certain(beyond)


def _crossed(rows: Any, columns: Any) -> Any:
    """Return the mask of a grid that is true in marked rows and in marked columns."""
    return rows[:, None] | columns


def _is_beyond(x: Any, size: int) -> Any:
    """Return a mask of the places along an axis that are more than one element beyond an edge."""
    return (x < -1) | (x > size)


def _is_at_least_one_beyond(x: Any, size: int) -> Any:
    """Return a mask of the places along an axis that are one element or more beyond an edge."""
    return (x <= -1) | (x >= size)


def _is_off(x: Any, size: int) -> Any:
    """Return a mask of the places along an axis that are beyond an edge."""
    return (x < 0) | (x > size - 1)


def _is_unclear(x: Any, size: int, sampling: Sampling) -> Any:
    """Return a mask of the places along an axis on which `readings` differ."""
    exact = raw(x)
    is_off = possible(_is_off(x, size))
    if sampling.mode == "LINEAR":
        return is_off if sampling.is_aligned else (exact == -1) | (exact == size)
    return is_off | (np.floor(exact) + 0.5 == exact)


def possible(condition: Any) -> Any:
    """Return a mask of the places where a condition is true, or may be."""
    return condition.value | condition.doubt if isinstance(condition, Condition) else condition


def certain(condition: Any) -> Any:
    """Return a mask of the places where a condition is true without doubt."""
    return condition.value & ~condition.doubt if isinstance(condition, Condition) else condition


def largest(samples: Any, data_type: str) -> Any:
    """Return the largest sample of each element; what has NaN, which DirectML leaves out, is measured."""
    is_nan = np.isnan(raw(samples))
    if not is_nan.any():
        return samples.max(axis=(2, 4))
    found = np.where(is_nan, beginning(data_type), samples).max(axis=(2, 4))
    return AsMeasured(found, is_nan.any(axis=(2, 4)))


# ---- gradients


def gradient_of_samples(
    gradient: Any, at: Sequence[Any], image: Any, counts: Counts, sampling: Sampling, sizes: Sequence[int]
) -> PartlyUndefined:
    """Return the gradient of each sample: its part of an average, or all of a maximum for the largest sample.

    It is 0 for samples beyond the limit. It is undefined where readings differ; for MAX also for equal samples, and if
    the readings differ for any sample of the element.
    """
    beyond, unclear = limits(at, sizes, sampling)
    given = np.repeat(np.repeat(gradient, counts[0], 1), counts[1], 2)
    if sampling.function == "AVERAGE":
        return PartlyUndefined(np.where(beyond, 0.0, given / math.prod(counts)), unclear)
    inside = samples_at(image, at, rounding_of(sampling), is_single=False)
    samples = without_alternatives(bounded(inside, at, image.shape[1:], _is_beyond, np.nan))
    chosen = _which_is_largest(samples.value, counts)
    is_undefined = _in_each(np.any, samples.where | unclear | possible(beyond), given.shape, counts) | chosen.where
    is_none = beyond | (raw(chosen.value) + radius(chosen.value) == 0)
    return PartlyUndefined(np.where(is_none, 0.0, given * chosen.value), is_undefined)


def _which_is_largest(samples: Any, counts: Counts) -> PartlyUndefined:
    """Return 1 for the largest sample of each element and 0 for others, as balls where errors leave that in doubt.

    It is undefined for elements with equal largest samples, or with NaN.
    """
    value = raw(samples)
    error = np.where(np.isfinite(value), radius(samples), 0.0)  # infinity is exact
    may_be = value + error >= _in_each(np.max, value - error, value.shape, counts)
    is_sure = may_be & (_in_each(np.sum, may_be, value.shape, counts) == 1)
    is_equal = value == _in_each(np.max, value, value.shape, counts)
    chosen = hull(*(partial(computed, marks, [samples]) for marks in (is_sure, may_be)))
    return PartlyUndefined(chosen, _in_each(np.sum, is_equal, value.shape, counts) != 1)


def _in_each(reduction: Any, samples: Array, sizes: Sequence[int], counts: Counts) -> Array:
    """Return the reduction of the samples of each element, repeated for each of these samples."""
    channels, height, width = sizes
    of_each = (channels, height // counts[0], counts[0], width // counts[1], counts[1])
    found = reduction(np.broadcast_to(samples, sizes).reshape(of_each), axis=(2, 4), keepdims=True)
    reduced: Array = np.broadcast_to(found, of_each).reshape(sizes)
    return reduced


def has_part(samples: Any, at: Sequence[Any], tile: Places, sizes: Sequence[int], sampling: Sampling) -> Array:
    """Return a mask of the elements of a tile that marked samples depend on, or may depend on."""
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
    """Whether one of the elements, with indices from the start of a part of an axis, is inside that part."""
    return any((np.clip(element, 0, len(part) - 1) == element).any() for element, _ in near)


# ---- gradients of regions


def shares_of_ends(axis: int, count: int, sampling: Sampling) -> Any:
    """Return the fraction of a region's height (0) or width (1) before each sample: how far it moves with the end."""
    share = (np.arange(count) - sampling.output_offset) / (count - 1 if sampling.is_aligned else count)
    return share[:, None] if axis == 0 else share


def slopes_of(image: Array, at: Sequence[Any]) -> tuple[Any, Any]:
    """Return the slopes of an image along height and width, at places between its elements."""
    sides = [ways[0][:2] for ways in map(beside, at, image.shape[1:])]
    every = np.arange(len(image))
    corners = [computed(taken(image, [every, y, x]), at) for y, x in product(*sides)]
    top_left, top_right, bottom_left, bottom_right = corners
    down, across = (x - np.floor(raw(x)) for x in at)
    down = down[:, None]
    along_height = (1 - across) * (bottom_left - top_left) + across * (bottom_right - top_right)
    return along_height, (1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left)


def kinks(x: Any, size: int) -> Array:
    """Return a mask of the places that are, or may be, at an element, where the slope changes."""
    found: Array = possible(np.floor(x) == np.ceil(x)) & (size > 1)
    return found
