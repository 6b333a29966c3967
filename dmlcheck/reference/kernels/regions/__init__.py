"""ROI_ALIGN: regions of images, resampled to one size, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.places import Places
from dmlcheck.reference.arrays.shapes import Batch, Channel, Corner, Floats, Height, Integers, Region, Width
from dmlcheck.reference.functions.interpolation import Sums, computed, is_any_lost, shares, spread, total_together
from dmlcheck.reference.kernels.regions.samples import (
    ONE,
    Counts,
    Sampling,
    bounded,
    certain_counts,
    gradient_of_samples,
    has_part,
    is_in,
    limits,
    places_of_samples,
    readings,
    reduced,
    rounding_of,
    sample_counts,
    sampled,
    samples_at,
    shares_of_ends,
    slopes_of,
    undefined_corners,
)
from dmlcheck.reference.kernels.regions.tiles import crops, gradients
from dmlcheck.reference.results import Alternatives, AsMeasured, PartlyUndefined, all_undefined, any_of, stacked
from dmlcheck.reference.rows import Kernel, Spread, same_parameters

# ---- samples of regions


@sampled
def roi_align1(
    input: Floats[Batch, Channel, Height, Width],
    roi: Floats[Region, Corner],
    batch_indices: Integers[Region],
    sampling: Sampling,
    *,
    out_of_bounds_input_value: Any,
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
    (region, channels, *tile), sizes = places, output.sizes[2:]
    (p,) = sample_counts(roi, sizes, sampling)
    if p is None:
        return all_undefined([*map(len, places)])
    x = places_of_samples(roi[0], tile, sizes, p.counts, sampling)
    image = input[batch_indices.flat[region.start], channels.start : channels.stop]
    samples = samples_at(image, x, sampling, is_single=p.counts == ONE)
    plane, outside = image.shape[1:], out_of_bounds_input_value
    ways = [bounded(samples, x, plane, way, outside) for way in readings(x, plane, sampling)]
    found = any_of(*(reduced(way, p.counts, sampling, output.data_type) for way in ways))
    return AsMeasured(found, where=True) if p.is_measured else found


@same_parameters(roi_align1)
def roi_align(*tensors: Any, **fields: Any) -> Any:
    """The average or the maximum of p samples of each output element along height, times p along width.

    Along width, sample s is at x = (s + 0.5) * size / (width * p) + x1 * SpatialScaleX - 0.5. p is size / output size,
    limited to the range from MinimumSamplesPerOutput to MaximumSamplesPerOutput; size is (x2 - x1) * SpatialScaleX. The
    y axis is treated alike.

    Less than one element beyond an edge, the edge element is used; farther out, OutOfBoundsInputValue.
    """
    return roi_align1(*tensors, **fields)


# ---- gradients


@sampled
def roi_align_grad(
    input: Floats[Batch, Channel, Height, Width] | None,
    input_gradient: Floats[Region, Channel, Height, Width],
    roi: Floats[Region, Corner],
    batch_indices: Integers[Region],
    sampling: Sampling,
    *,
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
    tensors, ways = (input, input_gradient, roi, batch_indices.ravel()), sampling.with_offsets_exchanged()
    if output_gradient is not None:
        found = [gradient_of_image(way, *tensors, output_gradient.sizes, places) for way in ways]
    else:
        found = [gradient_of_regions(way, *tensors, places) for way in ways]
    name = "output_roi_gradient" if output_gradient is None else "output_gradient"
    return {name: found[0] if len(found) == 1 else Alternatives(tuple(found))}


def gradient_of_image(
    sampling: Sampling,
    input: Any,
    gradient: Any,
    roi: Any,
    batch_indices: Any,
    sizes: Sequence[int],
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
    sampling: Sampling, image: Any, gradient: Any, corners: Any, counts: Counts, sizes: Sequence[int], tile: Places
) -> Sums | None:
    """Return a region's part of the gradient of some rows and columns; None if none of its samples is next to them."""
    at = places_of_samples(corners, [*map(range, gradient.shape[1:])], gradient.shape[1:], counts, sampling)
    near = list(map(partial(shares, rounding=rounding_of(sampling)), at, sizes, (part.start for part in tile)))
    if not all(map(is_in, near, tile)):
        return None
    samples = gradient_of_samples(computed(gradient, at), at, image, counts, sampling, sizes)
    found = spread(samples.value, [None, *near], [len(gradient), *map(len, tile)])
    is_undefined = has_part(samples.where, at, tile, sizes, sampling) | is_any_lost(at)
    return found._replace(is_undefined=found.is_undefined | is_undefined)


def gradient_of_regions(
    sampling: Sampling, input: Any, gradient: Any, roi: Any, batch_indices: Any, places: Places
) -> Any:
    """Return the gradients of some regions; they are defined for averages of one linear sample."""
    numbers, is_known = places[-2], (sampling.interpolation_mode, sampling.reduction_function) == ("LINEAR", "AVERAGE")
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

    The slopes are 0 beyond the edges.
    """
    at = places_of_samples(corners, [*map(range, gradient.shape[1:])], gradient.shape[1:], ONE, sampling)
    beyond, _ = limits(at, image.shape[1:], sampling)
    g = np.where(beyond, 0.0, computed(gradient, at))
    results: list[Any] = [None] * 4
    for axis, slopes in enumerate(slopes_of(image, at)):
        moved, t = g * slopes * sampling.scales[axis], shares_of_ends(axis, gradient.shape[1 + axis], sampling)
        results[1 - axis] = total_together(moved * (1 - t), (0, 1, 2))
        results[3 - axis] = total_together(moved * t, (0, 1, 2))
    return PartlyUndefined(np.stack(results), undefined_corners(image, gradient, at, sampling))


KERNELS: dict[str, Kernel] = {
    "ROI_ALIGN": Kernel(roi_align, crops, spread=Spread(places=("roi", "batch_indices")), interpolates=True),
    "ROI_ALIGN1": Kernel(roi_align1, crops, spread=Spread(places=("roi", "batch_indices")), interpolates=True),
    "ROI_ALIGN_GRAD": Kernel(roi_align_grad, gradients, interpolates=True),
}
