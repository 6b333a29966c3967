"""The samples of regions: their number, their places in an image, their values and gradients."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.data_types import beginning
from dmlcheck.reference.arrays.places import Places, numbers_of
from dmlcheck.reference.ball.numbers import Array, Ball, Condition, hull, kept_in_half, radius, raw
from dmlcheck.reference.functions.interpolation import (
    Rounding,
    Share,
    computed,
    half_down,
    half_up,
    is_any_lost,
    linear,
    nearest,
    nearest_of_several,
    neighbours,
    shares,
    spread,
    taken,
    total_together,
)
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives, ways_of, without_alternatives

Counts = tuple[int, int]  # of samples of an element along height and width
ONE: Counts = (1, 1)


class Sampling(NamedTuple):
    """The fields of a desc about sampling, by parameter."""

    interpolation_mode: str
    reduction_function: str
    spatial_scale_x: Any
    spatial_scale_y: Any
    minimum_samples_per_output: int
    maximum_samples_per_output: int
    input_pixel_offset: Any = 0.5
    output_pixel_offset: Any = -0.5
    align_regions_to_corners: bool = False

    @property
    def scales(self) -> tuple[Any, Any]:
        """The scales of height and width."""
        return self.spatial_scale_y, self.spatial_scale_x


def sampling_of(fields: Mapping[str, Any]) -> Sampling:
    """Return the fields of a desc about sampling; ROI_ALIGN has not all of them."""
    return Sampling(**{name: fields[name] for name in Sampling._fields if name in fields})


def sampled(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a formula with a parameter for each field about sampling, from one that takes them as `sampling`."""

    @wraps(formula)
    def of_fields(*tensors: Any, **fields: Any) -> Any:
        others = {name: value for name, value in fields.items() if name not in Sampling._fields}
        return formula(*tensors, sampling=sampling_of(fields), **others)

    own = [each for name, each in inspect.signature(formula).parameters.items() if name != "sampling"]
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in Sampling._fields]
    of_fields.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
    return of_fields


# ---- counts


class OfEach(NamedTuple):
    """The numbers of samples of an element along height and width, and whether they were only measured on DirectML."""

    counts: Counts
    is_measured: bool = False


def sample_counts(corners: Any, sizes: Sequence[int], sampling: Sampling) -> list[OfEach | None]:
    """Return the numbers of samples of an element along height and width, by region; None where undefined."""
    numbers: dict[str, Any] = {name: float(raw(getattr(sampling, name))) for name in _NUMBERS}
    exact, plain = raw(corners), sampling._replace(**numbers)
    if not np.isfinite([*numbers.values()]).all():
        return [None] * len(exact)
    along = [_counts(ends(Ball(exact), axis, plain), size, plain) for axis, size in enumerate(sizes)]
    found: list[OfEach | None] = []
    for is_finite, *each in zip(np.asarray(np.isfinite(exact).all(axis=-1)), *along, strict=True):
        counts, is_open = zip(*each, strict=True)
        is_measured = any(is_open) or (sampling.align_regions_to_corners and 1 in map(operator.mul, counts, sizes))
        found.append(OfEach(counts, is_measured) if is_finite and 0 not in counts else None)
    return found


_NUMBERS = ("spatial_scale_y", "spatial_scale_x", "input_pixel_offset", "output_pixel_offset")


def _counts(region: tuple[Ball, Ball], size: int, sampling: Sampling) -> list[tuple[int, bool]]:
    """Return the number of samples of an element along an axis, by region, and whether only DirectML takes it.

    It is |region| / size within the limits. DirectML rounds it up; it is 0, for undefined, where an error decides that.
    """
    least, most = sampling.minimum_samples_per_output, sampling.maximum_samples_per_output
    if least >= most or least < 1:
        return [(least if 1 <= least == most else 0, False)] * len(region[0])
    quotient = (region[1] - region[0]) / size
    value, error = raw(quotient), quotient.radius
    size_, low, high = np.clip([value, abs(value) - error, abs(value) + error], least, most)
    is_known = (size_ == low) & (low == high) & (np.rint(size_) == size_)
    found = np.where(np.ceil(low) == np.ceil(high), np.ceil(low), 0).astype(np.int64)
    return list(zip(found.tolist(), np.asarray(~is_known).tolist(), strict=True))


# ---- places


def ends(corners: Any, axis: int, sampling: Sampling) -> tuple[Any, Any]:
    """Return the scaled starts and ends of regions along height (0) or width (1), from x1, y1, x2 and y2."""
    return corners[..., 1 - axis] * sampling.scales[axis], corners[..., 3 - axis] * sampling.scales[axis]


def places_along(corners: Any, axis: int, samples: Array, counts: tuple[int, int], sampling: Sampling) -> Any:
    """Return the places of some samples of a region along height or width.

    `counts` are the numbers of samples along the region and of an element. A single one between corners is in the
    middle, as DirectML has it.
    """
    start, stop = ends(corners, axis, sampling)
    if sampling.align_regions_to_corners and counts[0] == 1:
        return (start + stop) / 2 - sampling.input_pixel_offset + samples
    count = counts[0] - 1 if sampling.align_regions_to_corners else counts[0]
    step = (stop - start) / count
    found = (samples - sampling.output_pixel_offset) * step + start - sampling.input_pixel_offset
    if not isinstance(found, Ball):
        return found
    # Others subtract the offset from the ends first, and go from an element's start to its samples.
    start, stop = start - sampling.input_pixel_offset, stop - sampling.input_pixel_offset
    step, own = (stop - start) / count, samples % counts[1]
    other = start + (samples - own) * step + (own - sampling.output_pixel_offset) * step
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
    return None if sampling.interpolation_mode == "LINEAR" else half_up


def readings(at: Sequence[Any], sizes: Sequence[int], sampling: Sampling) -> list[Outside]:
    """Return the readings of what is outside that differ at some places, the reference's first.

    They differ on a place that is exactly one element beyond an edge. With AlignRegionsToCorners, all places beyond an
    edge are outside.
    """
    own = outside_of(sampling)
    is_at_end = any(np.any((raw(x) == -1) | (raw(x) == size)) for x, size in zip(at, sizes, strict=True))
    return [own, _is_beyond] if is_at_end and own is not _is_off else [own]


def outside_of(sampling: Sampling) -> Outside:
    """Return the reading of what is outside that DirectML has."""
    return _is_off if sampling.align_regions_to_corners else _is_at_least_one_beyond


def samples_at(image: Array, at: Sequence[Any], sampling: Sampling, *, is_single: bool) -> PartlyUndefined:
    """Return the samples of an image of several channels at some places along height and width.

    Beyond an edge they are the elements of the edge. If a sample is a result by itself (`is_single`), all elements that
    its place may be rounded to are alternatives.
    """
    every, rounding = [np.arange(len(image)), *at], rounding_of(sampling)
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


def by_element(sizes: Sequence[int], counts: Counts) -> tuple[int, ...]:
    """Return the sizes of samples with an axis for those of an element after height, and one after width."""
    channels, height, width = sizes
    return channels, height // counts[0], counts[0], width // counts[1], counts[1]


def reduced(samples: PartlyUndefined, counts: Counts, sampling: Sampling, data_type: str) -> PartlyUndefined:
    """Return the average or the largest of the samples of each element."""
    ways = ways_of(samples.value)
    sizes = by_element(ways[0].shape, counts)
    of_each = partial(largest, data_type=data_type) if sampling.reduction_function == "MAX" else average
    value = alternatives(*ways, of=lambda way: of_each(way.reshape(sizes)))
    return PartlyUndefined(value, np.broadcast_to(samples.where, ways[0].shape).reshape(sizes).any(axis=(2, 4)))


def average(samples: Any) -> Any:
    """Return the averages of the samples of each element; the errors of their places may all have one direction."""
    return total_together(samples, (2, 4)) / (samples.shape[2] * samples.shape[4])


def largest(samples: Any, data_type: str) -> Any:
    """Return the largest sample of each element; what has NaN, which DirectML leaves out, is measured."""
    is_nan = np.isnan(raw(samples))
    if not is_nan.any():
        return samples.max(axis=(2, 4))
    found = np.where(is_nan, beginning(data_type), samples).max(axis=(2, 4))
    return AsMeasured(found, is_nan.any(axis=(2, 4)))


def limits(at: Sequence[Any], sizes: Sequence[int], sampling: Sampling) -> tuple[Any, Any]:
    """Return masks of the samples that are outside, and of those on which readings differ."""
    unclear = _crossed(*map(partial(_is_unclear, sampling=sampling), at, sizes))
    if not sampling.align_regions_to_corners:
        unclear = unclear & ~certain(_crossed(*map(_is_beyond, at, sizes)))
    return _crossed(*map(outside_of(sampling), at, sizes)), unclear


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
    if sampling.interpolation_mode == "LINEAR":
        return is_off if sampling.align_regions_to_corners else (exact == -1) | (exact == size)
    return is_off | (np.floor(exact) + 0.5 == exact)


def possible(condition: Any) -> Any:
    """Return a mask of the places where a condition is true, or may be."""
    return condition.value | condition.doubt if isinstance(condition, Condition) else condition


def certain(condition: Any) -> Any:
    """Return a mask of the places where a condition is true without doubt."""
    return condition.value & ~condition.doubt if isinstance(condition, Condition) else condition


# ---- gradients


class GradientOfSamples(NamedTuple):
    """The gradient of each sample, and masks of those that are undefined, and of those that were only measured."""

    value: Any
    is_undefined: Any
    is_measured: Any


def gradient_of_samples(
    gradient: Any, at: Sequence[Any], image: Any, counts: Counts, sampling: Sampling, sizes: Sequence[int]
) -> GradientOfSamples:
    """Return the gradient of each sample: its part of an average, or all of a maximum for the largest sample.

    It is 0 for samples outside, which are 0 to a maximum. It was measured where readings differ; for MAX also for equal
    samples, NaN and samples outside, and if the readings differ for any sample of the element.
    """
    beyond, unclear = limits(at, sizes, sampling)
    given = np.repeat(np.repeat(gradient, counts[0], 1), counts[1], 2)
    if sampling.interpolation_mode == "LINEAR":
        given = parted_beyond(given, at, sizes)
    if sampling.reduction_function == "AVERAGE":
        share = given if counts == ONE else given / math.prod(counts)
        share = share if sampling.interpolation_mode == "LINEAR" else kept_in_half(share)
        return GradientOfSamples(np.where(beyond, 0.0, share), np.zeros((), bool), unclear)
    inside = samples_at(image, at, sampling, is_single=False)
    samples = without_alternatives(bounded(inside, at, sizes, outside_of(sampling), 0.0))
    chosen = _which_is_largest(samples.value, counts, float(beginning(image.dtype.name.upper())))
    is_open = samples.where | ((radius(chosen.value) > 0) & ~np.isfinite(raw(given)))
    marks = is_open, unclear | possible(beyond) | chosen.where
    is_undefined, is_measured = (_in_each(np.any, each, given.shape, counts) for each in marks)
    is_none = beyond | (raw(chosen.value) + radius(chosen.value) == 0)
    return GradientOfSamples(np.where(is_none, 0.0, given * chosen.value), is_undefined, is_measured)


def parted_beyond(gradient: Any, at: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Return gradients with the roundings of two parts beyond an edge, whose element is both neighbours of a place."""
    if not isinstance(gradient, Ball):
        return gradient
    value, is_off = raw(gradient), possible(_crossed(*map(_is_off, at, sizes)))
    error = np.where(is_off, 4 * gradient.arithmetic.unit_roundoff * np.abs(value), 0.0)  # of two weights and products
    return Ball.result(value, gradient.radius + error, gradient.arithmetic, gradient.terms)


def _which_is_largest(samples: Any, counts: Counts, beginning: float) -> AsMeasured:
    """Return 1 for the largest sample of each element and 0 for others, as balls where errors leave that in doubt.

    Of equal samples it is the first, NaN is left out, and no sample is as small as the `beginning`: all measured.
    """
    is_nan = np.isnan(raw(samples))
    value = np.where(is_nan, -np.inf, raw(samples))
    error = np.where(np.isfinite(value), radius(samples), 0.0)  # infinity is exact
    in_each = partial(_in_each, sizes=value.shape, counts=counts)
    most = in_each(np.max, value - error)
    may_be = (value + error >= most) & (value + error > beginning)
    is_equal = may_be & (value == in_each(np.max, value))
    is_exact = in_each(np.all, ~may_be | (is_equal & (error == 0)))
    may_be = np.where(is_exact, _first_of_each(may_be, counts), may_be)
    is_sure = may_be & (in_each(np.sum, may_be) == 1)
    chosen = hull(*(partial(computed, marks, [samples]) for marks in (is_sure, may_be)))
    return AsMeasured(chosen, is_nan | (in_each(np.sum, is_equal) != 1))


def _first_of_each(marks: Array, counts: Counts) -> Array:
    """Return a mask of the first marked sample of each element, row by row."""
    of_each = marks.reshape(by_element(marks.shape, counts)).swapaxes(2, 3)
    flat = of_each.reshape(*of_each.shape[:3], -1)
    first = flat & (np.cumsum(flat, axis=-1) == 1)
    found: Array = first.reshape(of_each.shape).swapaxes(2, 3).reshape(marks.shape)
    return found


def _in_each(reduction: Any, samples: Array, sizes: Sequence[int], counts: Counts) -> Array:
    of_each = by_element(sizes, counts)
    found = reduction(np.broadcast_to(samples, sizes).reshape(of_each), axis=(2, 4), keepdims=True)
    reduced: Array = np.broadcast_to(found, of_each).reshape(sizes)
    return reduced


def has_part(samples: Any, at: Sequence[Any], tile: Places, sizes: Sequence[int], sampling: Sampling) -> Array:
    """Return a mask of the elements of a tile that marked samples depend on, or may depend on."""
    if not np.any(samples):
        return np.zeros((), bool)
    starts = [part.start for part in tile]
    roundings = [None] if sampling.interpolation_mode == "LINEAR" else [half_up, half_down]
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
    share = (np.arange(count) - sampling.output_pixel_offset) / (
        count - 1 if sampling.align_regions_to_corners else count
    )
    return share[:, None] if axis == 0 else share


def measured_shares(axis: int, count: int, of_each: int, sampling: Sampling) -> Array:
    """Return the shares of ends in DirectML: the number of an element divided by that of all samples along an axis."""
    samples = count * of_each - sampling.align_regions_to_corners
    numbers = np.repeat(np.arange(count), of_each)
    share = numbers / samples if samples else np.full(numbers.shape, 0.5)
    return share[:, None] if axis == 0 else share


def slopes_of(image: Array, at: Sequence[Any]) -> tuple[Any, Any]:
    """Return the slopes of an image along height and width, at places between its elements."""
    sides = [ways[0][:2] for ways in map(neighbours, at, image.shape[1:])]
    every = np.arange(len(image))
    corners = [computed(taken(image, [every, y, x]), at) for y, x in product(*sides)]
    top_left, top_right, bottom_left, bottom_right = corners
    down, across = (x - np.floor(raw(x)) for x in at)
    down = down[:, None]
    along_height = (1 - across) * (bottom_left - top_left) + across * (bottom_right - top_right)
    return along_height, (1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left)


def kinks(x: Any, size: int) -> Any:
    """Return a mask of the places at an element, where the slope changes, as a condition."""
    return (np.floor(x) == np.ceil(x)) & (size > 1)


def marked_corners(image: Array, gradient: Array, at: Sequence[Any], sampling: Sampling) -> tuple[Array, Array]:
    """Return masks of the gradients of a region's corners that are undefined, and of those that were only measured.

    The slopes of an image differ on both sides of an element, and readings beyond an edge.
    """
    _, unclear = limits(at, image.shape[1:], sampling)
    beyond = certain(_crossed(*map(_is_beyond, at, image.shape[1:])))
    is_finite = np.isfinite(image).all() and np.isfinite(gradient).all()
    is_undefined = np.full(4, is_any_lost(at) or not is_finite)
    is_measured = np.full(4, bool(np.any(unclear)))
    for axis, (x, size) in enumerate(zip(at, image.shape[1:], strict=True)):
        at_element = kinks(x, size)
        inside = ~beyond.all(axis=1 - axis)
        is_measured[1 - axis :: 2] |= (certain(at_element) & inside).any()
        is_undefined[1 - axis :: 2] |= (possible(at_element) & ~certain(at_element) & inside).any()
    return is_undefined, is_measured
