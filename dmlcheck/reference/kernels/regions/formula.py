"""ROI_ALIGN: regions of images, resampled to one size, and its gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.places import Places
from dmlcheck.reference.functions.interpolation import Sums, computed, is_any_lost, shares, spread, total_together
from dmlcheck.reference.kernels.regions.samples import (
    ONE,
    Counts,
    Sampling,
    bounded,
    certain,
    gradient_of_samples,
    has_part,
    is_in,
    kinks,
    largest,
    limits,
    places_of_samples,
    readings,
    rounding_of,
    sample_counts,
    samples_at,
    shares_of_ends,
    slopes_of,
)
from dmlcheck.reference.kernels.regions.tiles import crops, gradients
from dmlcheck.reference.results import (
    Alternatives,
    AsMeasured,
    PartlyUndefined,
    all_undefined,
    alternatives,
    any_of,
    stacked,
    ways_of,
)
from dmlcheck.reference.rows import Kernel, Spread, same_parameters

Sizes = Sequence[int]


# ---- samples of regions


def roi_align1(
    input: Any,
    roi: Any,
    batch_indices: Any,
    *,
    reduction_function: str,
    interpolation_mode: str,
    spatial_scale_x: Any,
    spatial_scale_y: Any,
    input_pixel_offset: Any = 0.5,
    output_pixel_offset: Any = -0.5,
    out_of_bounds_input_value: Any,
    minimum_samples_per_output: int,
    maximum_samples_per_output: int,
    align_regions_to_corners: bool = False,
    output: TensorDesc,
    places: Places,
) -> Any:
    """The average or the maximum of p samples of each output element along height, times p along width.

    Along width, sample s is at x = (s - OutputPixelOffset) * size / (width * p) + x1 * SpatialScaleX -
    InputPixelOffset; with AlignRegionsToCorners the divisor is width * p - 1. p is size / output size, limited to the
    range from MinimumSamplesPerOutput to MaximumSamplesPerOutput; size is (x2 - x1) * SpatialScaleX. The y axis is
    treated alike.

    Less than one element beyond an edge, the edge element is used; farther out, or anywhere beyond an edge with
    AlignRegionsToCorners, OutOfBoundsInputValue.
    """
    names, scales = (interpolation_mode, reduction_function), (spatial_scale_y, spatial_scale_x)
    counts = (minimum_samples_per_output, maximum_samples_per_output)
    sampling = Sampling(*names, scales, *counts, input_pixel_offset, output_pixel_offset, align_regions_to_corners)
    return crop(input, roi, batch_indices, sampling, out_of_bounds_input_value, output, places)


@same_parameters(roi_align1)
def roi_align(*tensors: Any, **fields: Any) -> Any:
    """The average or the maximum of p samples of each output element along height, times p along width.

    Along width, sample s is at x = (s + 0.5) * size / (width * p) + x1 * SpatialScaleX - 0.5. p is size / output size,
    limited to the range from MinimumSamplesPerOutput to MaximumSamplesPerOutput; size is (x2 - x1) * SpatialScaleX. The
    y axis is treated alike.

    Less than one element beyond an edge, the edge element is used; farther out, OutOfBoundsInputValue.
    """
    return roi_align1(*tensors, **fields)


def crop(
    input: Any, roi: Any, batch_indices: Any, sampling: Sampling, outside: Any, output: TensorDesc, places: Places
) -> Any:
    """Return some channels, rows and columns of a region: each element is the average or maximum of its samples."""
    sizes = output.sizes[2:]
    (region, channels, *tile), (own,) = places, sample_counts(roi, sizes, sampling)
    if own is None:
        return all_undefined([*map(len, places)])
    counts = own.counts
    image = input[batch_indices.flat[region.start], channels.start : channels.stop]
    at = places_of_samples(roi[0], tile, sizes, counts, sampling)
    of_each = (len(channels), len(tile[0]), counts[0], len(tile[1]), counts[1])
    samples, plane = samples_at(image, at, rounding_of(sampling), is_single=counts == ONE), image.shape[1:]
    ways = [bounded(samples, at, plane, way, outside) for way in readings(at, plane, sampling)]
    reduction = partial(largest, data_type=output.data_type) if sampling.function == "MAX" else average
    found = any_of(*(reduced(way, reduction, of_each) for way in ways))
    return AsMeasured(found, where=True) if own.is_measured else found


def reduced(samples: PartlyUndefined, of_each: Callable[[Any], Any], sizes: Sizes) -> PartlyUndefined:
    """Return the average or maximum of the samples of each element; `sizes` has their counts on axes 2 and 4."""
    ways = ways_of(samples.value)
    value = alternatives(*ways, of=lambda way: of_each(way.reshape(sizes)))
    return PartlyUndefined(value, np.broadcast_to(samples.where, ways[0].shape).reshape(sizes).any(axis=(2, 4)))


def average(samples: Any) -> Any:
    """Return the averages of the samples of each element; the errors of their places may all have one direction."""
    return total_together(samples, (2, 4)) / (samples.shape[2] * samples.shape[4])


# ---- gradients


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
    places: Places,
) -> dict[str, Any]:
    """OutputGradient is the sum of the gradient of each sample of ROI_ALIGN1 times the element's weight in the sample.

    For AVERAGE, the gradient of a sample is InputGradient / number of samples. For MAX, the largest sample has all of
    InputGradient. Samples more than one element beyond an edge contribute nothing.

    OutputROIGradient, for AVERAGE, LINEAR and one sample, is the sum of g * (1 - t) for x1 and g * t for x2. Here
    g = InputGradient * dv/dx * SpatialScaleX, v is the sample's value and t = (s - OutputPixelOffset) / width. With
    AlignRegionsToCorners the divisor is width - 1. The y axis is treated alike.
    """
    names, scales = (interpolation_mode, reduction_function), (spatial_scale_y, spatial_scale_x)
    counts = (minimum_samples_per_output, maximum_samples_per_output)
    sampling = Sampling(*names, scales, *counts, input_pixel_offset, output_pixel_offset, align_regions_to_corners)
    tensors = (input, input_gradient, roi, batch_indices.ravel())
    if output_gradient is not None:
        return {"output_gradient": either_reading(gradient_of_image, sampling, *tensors, output_gradient.sizes, places)}
    return {"output_roi_gradient": either_reading(gradient_of_regions, sampling, *tensors, places)}


def certain_counts(corners: Any, sizes: Sizes, sampling: Sampling) -> list[Counts | None]:
    """Return the numbers of samples as `sample_counts` does; None also where they were only measured of crops."""
    found = sample_counts(corners, sizes, sampling)
    return [None if own is None or own.is_measured else own.counts for own in found]


def either_reading(formula: Callable[..., Any], sampling: Sampling, *operands: Any) -> Any:
    """Return a gradient in both readings: with the pixel offsets of the forward operator, and with them exchanged."""
    before, after = sampling.input_offset, sampling.output_offset
    swapped = sampling._replace(input_offset=after, output_offset=before)
    readings = [sampling] if sampling.has_equal_offsets else [sampling, swapped]
    ways = tuple(formula(reading, *operands) for reading in readings)
    return ways[0] if len(ways) == 1 else Alternatives(ways)


# ---- gradients of images


def gradient_of_image(
    sampling: Sampling,
    input: Any,
    gradient: Any,
    roi: Any,
    batch_indices: Any,
    sizes: Sizes,
    places: Places,
) -> PartlyUndefined:
    """Return the gradient of some channels, rows and columns of an image, from all of its regions."""
    image, channels, *tile = places
    total = Sums(np.zeros([*map(len, places[1:])]), np.zeros((), bool))
    counts = certain_counts(roi, gradient.shape[2:], sampling)
    if None in counts:
        return all_undefined([*map(len, places)])
    own = None if input is None else input[image.start, channels.start : channels.stop]
    numbers = np.flatnonzero(batch_indices == image.start).tolist()
    for number, corners, of_each in zip(numbers, roi, filter(None, counts), strict=True):
        given = gradient[number, channels.start : channels.stop]
        found = gradient_of_crop(sampling, own, given, corners, of_each, sizes[2:], tile)
        total = total if found is None else total.and_(found)
    return total.rounded()


def gradient_of_crop(
    sampling: Sampling, image: Any, gradient: Any, corners: Any, counts: Counts, sizes: Sizes, tile: Places
) -> Sums | None:
    """Return a region's part of the gradient of some rows and columns; None if none of its samples is beside them."""
    at = all_places(corners, gradient.shape[1:], counts, sampling)
    near = list(map(partial(shares, rounding=rounding_of(sampling)), at, sizes, (part.start for part in tile)))
    if not all(map(is_in, near, tile)):
        return None
    samples = gradient_of_samples(computed(gradient, at), at, image, counts, sampling, sizes)
    found = spread(samples.value, [None, *near], [len(gradient), *map(len, tile)])
    is_undefined = has_part(samples.where, at, tile, sizes, sampling) | is_any_lost(at)
    return found._replace(is_undefined=found.is_undefined | is_undefined)


def all_places(corners: Any, sizes: Sizes, counts: Counts, sampling: Sampling) -> list[Any]:
    """Return the places of all samples of a region, along height and width."""
    return places_of_samples(corners, [*map(range, sizes)], sizes, counts, sampling)


# ---- gradients of regions


def gradient_of_regions(
    sampling: Sampling, input: Any, gradient: Any, roi: Any, batch_indices: Any, places: Places
) -> Any:
    """Return the gradients of some regions; they are defined for averages of one linear sample."""
    numbers, is_known = places[-2], (sampling.mode, sampling.function) == ("LINEAR", "AVERAGE")
    counts = certain_counts(roi, gradient.shape[2:], sampling)
    found = [
        gradient_of_region(sampling, input[batch_indices[number]], gradient[number], corners)
        if is_known and of_each == ONE
        else all_undefined((4,))
        for number, corners, of_each in zip(numbers, roi, counts, strict=True)
    ]
    return stacked(found)


def gradient_of_region(sampling: Sampling, image: Any, gradient: Any, corners: Any) -> PartlyUndefined:
    """Return the sums of InputGradient times the slopes of the samples, times how far each moves with a corner.

    The slopes are 0 beyond the edges. They are undefined at the place of an element, where they differ on both sides.
    """
    at = all_places(corners, gradient.shape[1:], ONE, sampling)
    beyond, unclear = limits(at, image.shape[1:], sampling)
    is_finite = np.isfinite(image).all() and np.isfinite(gradient).all()
    given = np.where(beyond, 0.0, computed(gradient, at))
    results: list[Any] = [None] * 4
    marks = np.full(4, unclear.any() or is_any_lost(at) or not is_finite)
    for axis, slopes in enumerate(slopes_of(image, at)):
        moved = given * slopes * sampling.scales[axis]
        share = shares_of_ends(axis, gradient.shape[1 + axis], sampling)
        results[1 - axis] = total_together(moved * (1 - share), (0, 1, 2))
        results[3 - axis] = total_together(moved * share, (0, 1, 2))
        is_kink = np.expand_dims(kinks(at[axis], image.shape[1 + axis]), 1 - axis) & ~certain(beyond)
        marks[1 - axis :: 2] |= is_kink.any()
    return PartlyUndefined(np.stack(results), marks)


KERNELS: dict[str, Kernel] = {
    "ROI_ALIGN": Kernel(roi_align, crops, spread=Spread(places=("roi", "batch_indices")), interpolates=True),
    "ROI_ALIGN1": Kernel(roi_align1, crops, spread=Spread(places=("roi", "batch_indices")), interpolates=True),
    "ROI_ALIGN_GRAD": Kernel(roi_align_grad, gradients, interpolates=True),
}
