"""Regions of images that are sampled to a size of their own, and the gradients of that."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.numbers import Array, Ball, Condition, hull, radius, raw
from dmlcheck.reference.interpolation import (
    Share,
    Sums,
    beside,
    computed,
    half_up,
    is_lost,
    left_open,
    linear,
    nearest,
    nearest_of_several,
    shares,
    spread,
    taken,
    total_together,
)
from dmlcheck.reference.pieces import Alternatives, Open, alternatives, ways_of
from dmlcheck.reference.rows import Kernel
from dmlcheck.reference.tiling.blocks import BLOCK_OF_SAMPLES, ranges, share_of_block, tiles_along
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.reference.work import SAMPLES, SAMPLES_AT_ONCE, Work

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


# ---- where the samples are


def ends(corners: Any, axis: int, sampling: Sampling) -> tuple[Any, Any]:
    """Return where a region begins and ends along height (0) or width (1): of x1, y1, x2, y2 the two, scaled."""
    return corners[1 - axis] * sampling.scales[axis], corners[3 - axis] * sampling.scales[axis]


def places(corners: Any, axis: int, samples: Array, count: int, sampling: Sampling) -> Any:
    """Return where some of a region's samples are, of which there are `count` along height or width."""
    start, stop = ends(corners, axis, sampling)
    step = (stop - start) / (count - 1 if sampling.is_aligned else count)
    return (samples - sampling.output_offset) * step + start - sampling.input_offset


def sample_counts(corners: Array, sizes: Sequence[int], sampling: Sampling) -> Counts | None:
    """Return how many samples an element has along height and width, None where that is left open."""
    numbers = [float(raw(x)) for x in (*sampling.scales, sampling.input_offset, sampling.output_offset)]
    if not (np.isfinite(corners).all() and np.isfinite(numbers).all()):
        return None
    plain = sampling._replace(scales=(numbers[0], numbers[1]))
    found = [count_of(ends(Ball(corners), axis, plain), size, plain) for axis, size in enumerate(sizes)]
    is_single = sampling.is_aligned and 1 in map(operator.mul, found, sizes)
    return None if 0 in found or is_single else (found[0], found[1])


def count_of(region: tuple[Ball, Ball], size: int, sampling: Sampling) -> int:
    """Return the samples of an element along an axis: |region| / size between the limits; 0 where that is left open.

    That is where it is no whole number, or its rounding decides, or the region is mirrored and its size counts.
    """
    quotient = (region[1] - region[0]) / size
    value, error = float(raw(quotient)), float(quotient.radius)
    sizes = (value, abs(value) - error, abs(value) + error)  # the first is another one where the region is mirrored
    count, *others = {min(max(size, sampling.least), sampling.most) for size in sizes}
    is_known = 1 <= sampling.least <= sampling.most and not others and count == round(count)
    return int(count) if is_known else 0


# ---- samples


def samples_at(image: Array, at: Sequence[Any], sampling: Sampling, outside: Any, *, is_single: bool) -> Open:
    """Return what an image of several channels has at the places of some samples, along height and width.

    Farther beyond an edge than one element it is `outside`. A nearest element that is a result by itself is one of
    those that rounding may choose.
    """
    beyond, unclear = limits(at, image.shape[1:], sampling)
    if sampling.mode == "LINEAR":
        found = linear(image, [np.arange(len(image)), *at])
    else:
        found = (nearest if is_single else nearest_of_several)(image, [np.arange(len(image)), *at], half_up)
    values = alternatives(*(np.where(beyond, outside, way) for way in ways_of(found.value)))
    return Open(values, unclear | (found.where & ~certain(beyond)))


def limits(at: Sequence[Any], sizes: Sequence[int], sampling: Sampling) -> tuple[Any, Any]:
    """Say which samples are farther beyond an edge than one element, and of which it is left open what they are."""
    beyond = crossed(*map(is_beyond, at, sizes))
    unclear = crossed(*map(partial(is_unclear, sampling=sampling), at, sizes))
    return beyond, unclear if sampling.is_aligned else unclear & ~certain(beyond)


def crossed(rows: Any, columns: Any) -> Any:
    """Return which elements of a grid are in one of some rows or columns."""
    return rows[:, None] | columns


def is_beyond(x: Any, size: int) -> Any:
    """Say which places along an axis are farther beyond an edge than one element."""
    return (x < -1) | (x > size)


def is_unclear(x: Any, size: int, sampling: Sampling) -> Any:
    """Say at which places along an axis it is left open what is there.

    That is one element beyond an edge; nearest elements beyond the edges, and halfway between two elements; and all
    beyond the edges where AlignRegionsToCorners is set.
    """
    exact = raw(x)
    is_off = possible((x < 0) | (x > size - 1))
    if sampling.mode == "LINEAR":
        return is_off if sampling.is_aligned else (exact == -1) | (exact == size)
    return is_off | (np.floor(exact) + 0.5 == exact)


def possible(condition: Any) -> Any:
    """Say where a condition holds, or may hold."""
    return condition.holds | condition.doubt if isinstance(condition, Condition) else condition


def certain(condition: Any) -> Any:
    """Say where a condition surely holds."""
    return condition.holds & ~condition.doubt if isinstance(condition, Condition) else condition


# ---- crops


def crop(
    corners: Any,
    *,
    image: Array,
    tile: Sequence[range],
    sizes: Sequence[int],
    counts: Counts,
    sampling: Sampling,
    outside: Any,
) -> Any:
    """Some rows and columns of a region: each element is the average of its samples, or the largest."""
    samples = (np.arange(own.start * count, own.stop * count) for own, count in zip(tile, counts, strict=True))
    steps = map(operator.mul, sizes, counts)
    at = list(map(partial(places, corners, sampling=sampling), (0, 1), samples, steps))
    found = samples_at(image, at, sampling, outside, is_single=math.prod(counts) == 1)
    of_each = (len(image), len(tile[0]), counts[0], len(tile[1]), counts[1])
    reduced = largest if sampling.function == "MAX" else average
    ways = ways_of(found.value)
    value = alternatives(*ways, of=lambda samples: reduced(samples.reshape(of_each)))
    return Open(value, np.broadcast_to(found.where, ways[0].shape).reshape(of_each).any(axis=(2, 4)))


def average(samples: Any) -> Any:
    """Return the averages of the samples of each element, whose places all may be off in one direction."""
    return total_together(samples, (2, 4)) / (samples.shape[2] * samples.shape[4])


def largest(samples: Any) -> Open:
    """Return the largest samples of each element; left open is that of a NaN."""
    found = samples.max(axis=(2, 4))
    return Open(found, np.isnan(raw(found)))


def crops(
    input: Array, roi: Array, batch_indices: Array, sampling: Sampling, outside: Any, output: TensorDesc
) -> Iterator[Piece]:
    """Yield the pieces of an output: some channels, rows and columns of a region."""
    regions, channels, height, width = output.sizes
    for region, corners in enumerate(roi.reshape(regions, 4)):
        counts = sample_counts(corners, (height, width), sampling)
        if counts is None:
            yield Piece(region, partial(left_open, output.sizes[1:]))
            continue
        options = {"sizes": (height, width), "counts": counts, "sampling": sampling, "outside": outside}
        image = input[batch_indices.flat[region]]
        for index in tiles_along(
            range(3), (channels, height, width), share_of_block(1, math.prod(counts), BLOCK_OF_SAMPLES)
        ):
            tile = ranges(index, (channels, height, width))[1:]
            formula = partial(crop, image=image[index[0]], tile=tile, **options)
            yield Piece((region, *index), formula, (corners,))


def roi_align1(
    input: Any,
    roi: Any,
    batch_indices: Any,
    *,
    reduction_function: str,
    interpolation_mode: str,
    spatial_scale_x: Any,
    spatial_scale_y: Any,
    input_pixel_offset: Any,
    output_pixel_offset: Any,
    out_of_bounds_input_value: Any,
    minimum_samples_per_output: int,
    maximum_samples_per_output: int,
    align_regions_to_corners: bool,
    output: TensorDesc,
) -> Iterator[Piece]:
    """The average or the maximum of p samples of each output element along height, times p along width.

    Along width, sample s is at x = (s - OutputPixelOffset) * size / (width * p) + x1 * SpatialScaleX -
    InputPixelOffset; with AlignRegionsToCorners the divisor is width * p - 1. p is size / output size, limited to the
    range from MinimumSamplesPerOutput to MaximumSamplesPerOutput; size is (x2 - x1) * SpatialScaleX. The y axis is
    treated alike.

    Up to one element beyond an edge, the edge element is used; farther out, OutOfBoundsInputValue.
    """
    names, scales = (interpolation_mode, reduction_function), (spatial_scale_y, spatial_scale_x)
    counts = (minimum_samples_per_output, maximum_samples_per_output)
    sampling = Sampling(*names, scales, *counts, input_pixel_offset, output_pixel_offset, align_regions_to_corners)
    return crops(input, roi, batch_indices, sampling, out_of_bounds_input_value, output)


def roi_align(
    input: Any,
    roi: Any,
    batch_indices: Any,
    *,
    reduction_function: str,
    interpolation_mode: str,
    spatial_scale_x: Any,
    spatial_scale_y: Any,
    out_of_bounds_input_value: Any,
    minimum_samples_per_output: int,
    maximum_samples_per_output: int,
    output: TensorDesc,
) -> Iterator[Piece]:
    """The average or the maximum of p samples of each output element along height, times p along width.

    Along width, sample s is at x = (s + 0.5) * size / (width * p) + x1 * SpatialScaleX - 0.5. p is size / output size,
    limited to the range from MinimumSamplesPerOutput to MaximumSamplesPerOutput; size is (x2 - x1) * SpatialScaleX. The
    y axis is treated alike.

    Up to one element beyond an edge, the edge element is used; farther out, OutOfBoundsInputValue.
    """
    names, scales = (interpolation_mode, reduction_function), (spatial_scale_y, spatial_scale_x)
    sampling = Sampling(*names, scales, minimum_samples_per_output, maximum_samples_per_output)
    return crops(input, roi, batch_indices, sampling, out_of_bounds_input_value, output)


# ---- gradients of images


def gradient_of_image(
    corners: Any,
    *,
    gradient: Array,
    image: Array | None,
    regions: Sequence[tuple[int, Any]],
    tile: Sequence[range],
    sizes: Sequence[int],
    sampling: Sampling,
) -> Open:
    """What regions, by number and with their samples, give back to some rows and columns of their image."""
    counts = [len(gradient[0]), *map(len, tile)]
    total = Sums(np.zeros(counts), np.zeros((), bool))
    rounding = None if sampling.mode == "LINEAR" else half_up
    for number, of_each in regions:
        at = grid(corners[number], gradient.shape[2:], of_each, sampling)
        near = list(map(partial(shares, rounding=rounding), at, sizes, (part.start for part in tile)))
        if not all(map(is_in, near, tile)):
            continue
        samples = gradient_of_samples(computed(gradient[number], at), at, image, of_each, sampling, sizes)
        found = spread(samples.value, [None, *near], counts)
        is_open = has_part(samples.where, at, tile, sizes, sampling) | np.any(is_lost(at))
        total = total.and_(found._replace(is_open=found.is_open | is_open))
    return total.rounded()


def grid(corners: Any, sizes: Sequence[int], counts: Counts, sampling: Sampling) -> list[Any]:
    """Return where all samples of a region are, along height and width."""
    steps = list(map(operator.mul, sizes, counts))
    return list(map(partial(places, corners, sampling=sampling), (0, 1), map(np.arange, steps), steps))


def is_in(near: Sequence[Share], part: range) -> bool:
    """Whether some elements, counted from the start of a part of an axis, are in it."""
    return any((np.clip(element, 0, len(part) - 1) == element).any() for element, _ in near)


def gradient_of_samples(
    gradient: Any, at: Sequence[Any], image: Any, counts: Counts, sampling: Sampling, sizes: Sequence[int]
) -> Open:
    """What each sample gets of the gradient: its part of the average, or all of it if it is the largest.

    Those beyond the limit get nothing. Left open are those that are not clear, and equal or unclear ones for MAX.
    """
    beyond, unclear = limits(at, sizes, sampling)
    given = np.repeat(np.repeat(gradient, counts[0], 1), counts[1], 2)
    if sampling.function == "AVERAGE":
        return Open(np.where(beyond, 0.0, given / math.prod(counts)), unclear)
    samples = samples_at(image, at, sampling, np.nan, is_single=False)
    chosen = which_is_largest(samples.value, counts)
    is_open = in_each(np.any, samples.where | possible(beyond), given.shape, counts) | chosen.where
    is_none = beyond | (raw(chosen.value) + radius(chosen.value) == 0)
    return Open(np.where(is_none, 0.0, given * chosen.value), is_open)


def which_is_largest(samples: Any, counts: Counts) -> Open:
    """Return 1 for the largest sample of each element and 0 for the others; of several that it may be, each may be it.

    Left open are equal samples, and those with a NaN among them.
    """
    value, error = raw(samples), radius(samples)
    may_be = value + error >= in_each(np.max, value - error, value.shape, counts)
    is_sure = may_be & (in_each(np.sum, may_be, value.shape, counts) == 1)
    is_equal = value == in_each(np.max, value, value.shape, counts)
    chosen = hull(*(partial(computed, marks, [samples]) for marks in (is_sure, may_be)))
    return Open(chosen, in_each(np.sum, is_equal, value.shape, counts) != 1)


def in_each(reduction: Any, samples: Array, sizes: Sequence[int], counts: Counts) -> Array:
    """Return a reduction of the samples of each element, for each of them."""
    channels, height, width = sizes
    of_each = (channels, height // counts[0], counts[0], width // counts[1], counts[1])
    found = reduction(np.broadcast_to(samples, sizes).reshape(of_each), axis=(2, 4), keepdims=True)
    reduced: Array = np.broadcast_to(found, of_each).reshape(sizes)
    return reduced


def has_part(samples: Any, at: Sequence[Any], tile: Sequence[range], sizes: Sequence[int], sampling: Sampling) -> Array:
    """Say which elements have, or may have, a part in samples that are marked."""
    if not np.any(samples):
        return np.zeros((), bool)
    starts = [part.start for part in tile]
    roundings = [None] if sampling.mode == "LINEAR" else [half_up, lambda x: np.ceil(x - 0.5)]
    ways = [map(partial(shares, rounding=rounding), map(raw, at), sizes, starts) for rounding in roundings]
    near = list(map(list, map(chain, *ways)))
    marks = np.broadcast_to(samples, np.broadcast_shapes(np.shape(samples), (1, *map(len, at))))
    found: Array = spread(marks, [None, *near], [len(marks), *map(len, tile)]).value > 0
    return found


# ---- gradients of regions


def gradient_of_region(corners: Any, *, gradient: Array, image: Array, sampling: Sampling) -> Open:
    """The sums of InputGradient times the slope of a sample along x and y, as far as it moves with each corner.

    The slopes are 0 beyond the edges. Left open are those at an element, where there is one on each side.
    """
    at = grid(corners, gradient.shape[1:], (1, 1), sampling)
    beyond, unclear = limits(at, image.shape[1:], sampling)
    is_finite = np.isfinite(image).all() and np.isfinite(gradient).all()
    given = np.where(beyond, 0.0, computed(gradient, at))
    results: list[Any] = [None] * 4
    marks = np.full(4, unclear.any() or np.any(is_lost(at)) or not is_finite)
    for axis, slopes in enumerate(slopes_of(image, at)):
        moved = given * slopes * sampling.scales[axis]
        share = shares_of_ends(axis, gradient.shape[1 + axis], sampling)
        results[1 - axis] = total_together(moved * (1 - share), (0, 1, 2))
        results[3 - axis] = total_together(moved * share, (0, 1, 2))
        is_kink = np.expand_dims(kinks(at[axis], image.shape[1 + axis]), 1 - axis) & ~certain(beyond)
        marks[1 - axis :: 2] |= is_kink.any()
    return Open(np.stack(results), marks)


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


# ---- both


def either_reading(corners: Any, *, formula: Callable[..., Open], sampling: Sampling, output: str) -> dict[str, Any]:
    """Return a gradient with the offsets as the forward operator has them, or as if they had changed their roles."""
    swapped = sampling._replace(input_offset=sampling.output_offset, output_offset=sampling.input_offset)
    is_same = raw(sampling.input_offset) == raw(sampling.output_offset)
    ways = tuple(formula(corners, sampling=way) for way in ([sampling] if is_same else [sampling, swapped]))
    return {output: ways[0] if is_same else Alternatives(ways)}


def piece_of(
    output: str,
    index: Any,
    formula: Callable[..., Open] | None,
    corners: Array,
    sampling: Sampling,
    sizes: Sequence[int],
) -> Piece:
    """Return a piece of an output, which is left open where there is no formula."""
    if formula is None:
        return Piece({output: index}, lambda: {output: left_open(sizes)})
    return Piece(
        {output: index}, partial(either_reading, formula=formula, sampling=sampling, output=output), (corners,)
    )


def elements_at_once(counts: Sequence[Counts | None], window: Sequence[int], plane: Sequence[int]) -> int:
    """Return how many elements of the gradient of images make a block, with the samples of a region in it."""
    samples = max(math.prod(own or ()) for own in counts) * math.prod(window)
    return share_of_block(math.prod(plane), math.prod(plane) + samples, BLOCK_OF_SAMPLES)


def gradients_of_images(
    input: Array | None, gradient: Array, roi: Array, images: Array, sampling: Sampling, sizes: Sequence[int]
) -> Iterator[Piece]:
    """Yield the pieces of the gradient of all images: some channels, rows and columns of one."""
    batch, channels, *plane = sizes
    regions, _, *window = gradient.shape
    corners = roi.reshape(regions, 4)
    counts = [sample_counts(own, window, sampling) for own in corners]
    limit = elements_at_once(counts, window, plane)
    for image, index in product(range(batch), tiles_along(range(3), (channels, *plane), limit)):
        own = np.flatnonzero(images == image).tolist()
        (layers, *_), tile = index, ranges(index, (channels, *plane))
        formula = partial(
            gradient_of_image,
            gradient=gradient[:, layers],
            image=None if input is None else input[image][layers],
            regions=[(number, counts[number]) for number in own],
            tile=tile[1:],
            sizes=plane,
        )
        chosen = None if None in (counts[number] for number in own) else formula
        yield piece_of("output_gradient", (image, *index), chosen, corners, sampling, list(map(len, tile)))


def gradients_of_regions(
    input: Array, gradient: Array, roi: Array, images: Array, sampling: Sampling
) -> Iterator[Piece]:
    """Yield the gradient of each region."""
    for number, corners in enumerate(roi.reshape(len(gradient), 4)):
        counts = sample_counts(corners, gradient.shape[2:], sampling)
        is_known = (sampling.mode, sampling.function, counts) == ("LINEAR", "AVERAGE", (1, 1))
        formula = partial(gradient_of_region, gradient=gradient[number], image=input[images.flat[number]])
        index = (*[0] * (roi.ndim - 2), number)
        yield piece_of("output_roi_gradient", index, formula if is_known else None, corners, sampling, (4,))


def roi_align_grad(
    input: Any,
    input_gradient: Any,
    roi: Any,
    batch_indices: Any,
    *,
    reduction_function: str,
    interpolation_mode: str,
    spatial_scale_x: Any,
    spatial_scale_y: Any,
    input_pixel_offset: Any,
    output_pixel_offset: Any,
    minimum_samples_per_output: int,
    maximum_samples_per_output: int,
    align_regions_to_corners: bool,
    output_gradient: TensorDesc | None,
    output_roi_gradient: TensorDesc | None,
) -> Iterator[Piece]:
    """OutputGradient is the sum of the gradient of each sample of ROI_ALIGN1 times the element's weight in the sample.

    For AVERAGE, the gradient of a sample is InputGradient / number of samples. For MAX, the largest sample has all of
    InputGradient. Samples more than one element beyond an edge contribute nothing.

    OutputROIGradient, for AVERAGE, LINEAR and one sample: the sum of InputGradient * dv/dx * SpatialScaleX * (1 - t)
    for x1 and * t for x2, with v the sample's value and t = (s - OutputPixelOffset) / width. The y axis is treated
    alike.
    """
    names, scales = (interpolation_mode, reduction_function), (spatial_scale_y, spatial_scale_x)
    counts = (minimum_samples_per_output, maximum_samples_per_output)
    sampling = Sampling(*names, scales, *counts, input_pixel_offset, output_pixel_offset, align_regions_to_corners)
    if output_gradient is not None:
        yield from gradients_of_images(input, input_gradient, roi, batch_indices, sampling, output_gradient.sizes)
    if output_roi_gradient is not None:
        yield from gradients_of_regions(input, input_gradient, roi, batch_indices, sampling)


# ---- how much there is to compute


def counts_of(given: Mapping[str, Any], window: Sequence[int]) -> list[Counts | None]:
    """Return how many samples an element of each region has along height and width, None where that is left open."""
    names, scales = ("", ""), (given["spatial_scale_y"], given["spatial_scale_x"])
    least, most = given["minimum_samples_per_output"], given["maximum_samples_per_output"]
    offsets = (given.get("input_pixel_offset", 0.5), given.get("output_pixel_offset", -0.5))
    sampling = Sampling(*names, scales, least, most, *offsets, given.get("align_regions_to_corners", False))
    return [sample_counts(corners, window, sampling) for corners in given["roi"].reshape(-1, 4)]


def work_of_crops(given: Mapping[str, Any]) -> Work:
    """Return the work of all samples; those of one element are there at once."""
    _, channels, *window = given["output"].sizes
    samples = [math.prod(counts) for counts in counts_of(given, window) if counts is not None]
    return work_of_samples(max(samples, default=0), sum(samples) * math.prod(window) * channels)


def work_of_gradients(given: Mapping[str, Any]) -> Work:
    """Return the work of all samples, for each part of an image anew; those of a region are there at once."""
    _, channels, *window = given["input_gradient"].shape
    output = given["output_gradient"]
    if output is None:  # the gradient of regions alone, which is only known where each element is one sample
        return work_of_samples(math.prod(window), math.prod(given["input_gradient"].shape))
    counts, plane = counts_of(given, window), output.sizes[2:]
    samples = [math.prod(own) * math.prod(window) for own in counts if own is not None]
    parts = channels * math.prod(plane) // max(1, elements_at_once(counts, window, plane))
    return work_of_samples(max(samples, default=0), sum(samples) * max(channels, parts))


def work_of_samples(of_one: int, count: int) -> Work:
    """Return the work of samples, or how many are there at once where these are too many."""
    if of_one > SAMPLES_AT_ONCE:
        return Work(of_one, "samples that are there at once", SAMPLES_AT_ONCE)
    return Work(count, "samples", SAMPLES)


KERNELS: dict[str, Kernel] = {
    "ROI_ALIGN": Kernel(roi_align, work=work_of_crops),
    "ROI_ALIGN1": Kernel(roi_align1, work=work_of_crops),
    "ROI_ALIGN_GRAD": Kernel(roi_align_grad, work=work_of_gradients),
}
