"""Regions of images that are sampled to a size of their own, and the gradients of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.blocks import BLOCK, tiles_along
from dmlcheck.reference.interpolation import half_up, linear, nearest, nearest_of_several, total_together
from dmlcheck.reference.numbers import Array, Claim, Tracked, raw
from dmlcheck.reference.pieces import Kernel, OneOf, Open, Piece, one_of

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
    height, width = (float(raw(scale)) for scale in sampling.scales)
    plain = sampling._replace(scales=(height, width))
    found = [count_of(ends(Tracked(corners, 0.0), axis, plain), size, plain) for axis, size in enumerate(sizes)]
    is_single = sampling.is_aligned and any(count == size == 1 for count, size in zip(found, sizes, strict=True))
    return None if 0 in found or is_single or not np.isfinite(corners).all() else (found[0], found[1])


def count_of(region: tuple[Tracked, Tracked], size: int, sampling: Sampling) -> int:
    """Return the samples of an element along an axis: |region| / size between the limits; 0 where that is left open.

    That is where it is no whole number, or its rounding decides, or the region is mirrored and its size counts.
    """
    quotient = (region[1] - region[0]) / size
    value, error = float(raw(quotient)), float(quotient.slack)
    low, high = (min(max(end, sampling.least), sampling.most) for end in (abs(value) - error, abs(value) + error))
    is_known = 1 <= sampling.least <= sampling.most and low == high == round(low)
    return int(low) if is_known and (value >= 0 or low == sampling.least) else 0


# ---- samples


def samples_at(image: Array, at: Sequence[Any], sampling: Sampling, outside: Any, *, is_single: bool) -> Open:
    """Return what an image of several channels has at the places of some samples, along height and width.

    Farther beyond an edge than one element it is `outside`. A nearest element that is a result by itself is one of
    those that rounding may choose.
    """
    axes = list(zip(at, image.shape[1:], strict=True))
    beyond = crossed(*((x < -1) | (x > size) for x, size in axes))
    if sampling.mode == "LINEAR":
        found = linear(image, [np.arange(len(image)), *at])
    else:
        found = (nearest if is_single else nearest_of_several)(image, [np.arange(len(image)), *at], half_up)
    ways = found.value.ways if isinstance(found.value, OneOf) else (found.value,)
    values = one_of(*(np.where(beyond, outside, way) for way in ways))
    is_open = crossed(*(is_unclear(x, size, sampling) for x, size in axes)) | found.where
    return Open(values, is_open if sampling.is_aligned else is_open & ~certain(beyond))


def crossed(rows: Any, columns: Any) -> Any:
    """Return which elements of a grid are in one of some rows or columns."""
    return rows[:, None] | columns


def is_unclear(x: Any, size: int, sampling: Sampling) -> Any:
    """Say at which places along an axis it is left open what is there.

    That is one element beyond an edge; nearest elements between there and the edge, and halfway between two elements;
    and all beyond the edges where AlignRegionsToCorners is set.
    """
    exact = raw(x)
    at_the_limit = (exact == -1) | (exact == size)
    is_off = possible((x < 0) | (x > size - 1))
    if sampling.mode == "LINEAR":
        return at_the_limit | (is_off & sampling.is_aligned)
    is_half = np.floor(exact) + 0.5 == exact
    return at_the_limit | is_half | (is_off & (sampling.is_aligned | possible((x > -1) & (x < size))))


def possible(condition: Any) -> Any:
    """Say where a condition holds, or may hold."""
    return condition.holds | condition.doubt if isinstance(condition, Claim) else condition


def certain(condition: Any) -> Any:
    """Say where a condition surely holds."""
    return condition.holds & ~condition.doubt if isinstance(condition, Claim) else condition


# ---- crops


def crop(
    corners: Any,
    *,
    image: Array,
    rows: range,
    width: int,
    height: int,
    counts: Counts,
    sampling: Sampling,
    outside: Any,
) -> Any:
    """Some rows of a region: each element is the average of its samples, or the largest."""
    down, across = (
        np.arange(part.start * n, part.stop * n) for part, n in zip((rows, range(width)), counts, strict=True)
    )
    at = (
        places(corners, 0, down, height * counts[0], sampling),
        places(corners, 1, across, width * counts[1], sampling),
    )
    found = samples_at(image, at, sampling, outside, is_single=counts == (1, 1))
    grid = (len(image), len(rows), counts[0], width, counts[1])

    reduced = largest if sampling.function == "MAX" else average
    ways = found.value.ways if isinstance(found.value, OneOf) else (found.value,)
    value = one_of(*ways, of=lambda samples: reduced(samples.reshape(grid)))
    return Open(value, np.broadcast_to(found.where, ways[0].shape).reshape(grid).any(axis=(2, 4)))


def average(samples: Any) -> Any:
    """Return the averages of the samples of each element, whose places all may be off in one direction."""
    count = samples.shape[2] * samples.shape[4]
    return total_together(samples, (2, 4)) / count if count > 1 else samples[:, :, 0, :, 0]


def largest(samples: Any) -> Open:
    """Return the largest samples of each element; left open is that of a NaN."""
    found = samples.max(axis=(2, 4))
    return Open(found, np.isnan(raw(found)))


def crops(
    input: Array, roi: Array, batch_indices: Array, sampling: Sampling, outside: Any, output: TensorDesc
) -> Iterator[Piece]:
    """Yield the pieces of an output: some channels and rows of a region."""
    _, channels, height, width = output.sizes
    for region, (corners, image) in enumerate(zip(roi.reshape(-1, 4), batch_indices.reshape(-1), strict=True)):
        counts = sample_counts(corners, (height, width), sampling)
        if counts is None:
            yield Piece(region, partial(left_open, output.sizes[1:]))
            continue
        options = {"height": height, "width": width, "counts": counts, "sampling": sampling, "outside": outside}
        of_each = counts[0] * counts[1] * width  # samples of a row
        for own, part in tiles_along(range(2), (channels, height), max(1, 4 * BLOCK // of_each)):
            rows = range(*part.indices(height))
            formula = partial(crop, image=input[int(image)][own], rows=rows, **options)
            yield Piece((region, own, part), formula, (corners,))


def left_open(sizes: Sequence[int]) -> Open:
    """Return results that are left open."""
    return Open(np.zeros(sizes), where=True)


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
    """The average, or the largest, of p samples of each output element along height, times as many along width.

    Sample s of all is at x = (s - OutputPixelOffset) * size / (width * p) + x1 * SpatialScaleX - InputPixelOffset,
    where size is (x2 - x1) * SpatialScaleX, and p is size / width between the limits; y alike.
    With AlignRegionsToCorners the divisor is width * p - 1. Up to one element beyond the edges there is what is at
    them, farther beyond OutOfBoundsInputValue. Left open are places at this limit; a p that is not whole; MAX of a NaN;
    with AlignRegionsToCorners all beyond the edges, and a single sample; with NEAREST_NEIGHBOR what is beyond the edges
    up to the limit, and halves.
    """
    sampling = Sampling(
        interpolation_mode,
        reduction_function,
        (spatial_scale_y, spatial_scale_x),
        minimum_samples_per_output,
        maximum_samples_per_output,
        input_pixel_offset,
        output_pixel_offset,
        align_regions_to_corners,
    )
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
    """The average, or the largest, of p samples of each output element along height, times as many along width.

    Sample s of all is at x = (s + 0.5) * size / (width * p) + x1 * SpatialScaleX - 0.5, where size is
    (x2 - x1) * SpatialScaleX, and p is size / width between the limits; y alike. Up to one element beyond the edges
    there is what is at them, farther beyond OutOfBoundsInputValue. Left open are places at this limit; a p that is not
    whole; MAX of a NaN; and with NEAREST_NEIGHBOR what is beyond the edges up to the limit, and halves.
    """
    sampling = Sampling(
        interpolation_mode,
        reduction_function,
        (spatial_scale_y, spatial_scale_x),
        minimum_samples_per_output,
        maximum_samples_per_output,
    )
    return crops(input, roi, batch_indices, sampling, out_of_bounds_input_value, output)


KERNELS: dict[str, Kernel] = {
    "ROI_ALIGN": Kernel(roi_align),
    "ROI_ALIGN1": Kernel(roi_align1),
}
