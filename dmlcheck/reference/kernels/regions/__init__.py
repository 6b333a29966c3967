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
    OfEach,
    Sampling,
    bounded,
    gradient_of_samples,
    has_part,
    is_in,
    marked_corners,
    measured_shares,
    places_of_samples,
    readings,
    reduced,
    rounding_of,
    sample_counts,
    sampled,
    samples_at,
    shares_of_ends,
    slopes_of,
)
from dmlcheck.reference.kernels.regions.tiles import crops, gradients
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, all_undefined, any_of, stacked
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
    InputPixelOffset; with AlignRegionsToCorners the divisor is width * p - 1. p is |size| / output size, rounded up and
    limited to the range from MinimumSamplesPerOutput to MaximumSamplesPerOutput; size is (x2 - x1) * SpatialScaleX. The
    y axis is treated alike.

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

    Along width, sample s is at x = (s + 0.5) * size / (width * p) + x1 * SpatialScaleX - 0.5. p is |size| / output
    size, rounded up and limited to the range from MinimumSamplesPerOutput to MaximumSamplesPerOutput; size is
    (x2 - x1) * SpatialScaleX. The y axis is treated alike.

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
    InputGradient. Samples outside contribute nothing, and are 0 to MAX.

    OutputROIGradient, for AVERAGE, LINEAR and one sample, is the sum of g * (1 - t) for x1 and g * t for x2. Here
    g = InputGradient * dv/dx * SpatialScaleX, v is the sample's value and t = (s - OutputPixelOffset) / width. With
    AlignRegionsToCorners the divisor is width - 1. The y axis is treated alike.

    For other samples it is what DirectML gives. The width of the image, less 1 with AlignRegionsToCorners, takes the
    place of SpatialScaleX. There t is the number of the element divided by that of all samples.
    """
    tensors = (input, input_gradient, roi, batch_indices.ravel())
    if output_gradient is None:
        return {"output_roi_gradient": gradient_of_regions(sampling, *tensors, places)}
    return {"output_gradient": gradient_of_image(sampling, *tensors, output_gradient.sizes, places)}


def gradient_of_image(
    sampling: Sampling,
    input: Any,
    gradient: Any,
    roi: Any,
    batch_indices: Any,
    sizes: Sequence[int],
    places: Places,
) -> Any:
    """Return the gradient of some channels, rows and columns of an image, from all of its regions."""
    image, channels, *tile = places
    total = Sums(np.zeros([*map(len, places[1:])]), np.zeros((), bool))
    counts = sample_counts(roi, gradient.shape[2:], sampling)
    known = [own for own in counts if own is not None]
    if len(known) < len(counts):
        return all_undefined([*map(len, places)])
    is_measured = np.full(total.value.shape, any(own.is_measured for own in known))
    own = None if input is None else input[image.start, channels.start : channels.stop]
    numbers = np.flatnonzero(batch_indices == image.start).tolist()
    for number, corners, of_each in zip(numbers, roi, known, strict=True):
        given = gradient[number, channels.start : channels.stop]
        found = gradient_of_crop(sampling, own, given, corners, of_each.counts, sizes[2:], tile)
        if found is not None:
            total, is_measured = total.and_(found[0]), is_measured | found[1]
    return AsMeasured(total.rounded(), is_measured)


def gradient_of_crop(
    sampling: Sampling, image: Any, gradient: Any, corners: Any, counts: Counts, sizes: Sequence[int], tile: Places
) -> tuple[Sums, Any] | None:
    """Return a region's part of the gradient of some rows and columns, and a mask of what was only measured.

    None if none of its samples is next to them.
    """
    at = places_of_samples(corners, [*map(range, gradient.shape[1:])], gradient.shape[1:], counts, sampling)
    near = list(map(partial(shares, rounding=rounding_of(sampling)), at, sizes, (part.start for part in tile)))
    if not all(map(is_in, near, tile)):
        return None
    samples = gradient_of_samples(computed(gradient, at), at, image, counts, sampling, sizes)
    found = spread(samples.value, [None, *near], [len(gradient), *map(len, tile)])
    is_undefined, is_measured = (has_part(marks, at, tile, sizes, sampling) for marks in samples[1:])
    return found._replace(is_undefined=found.is_undefined | is_undefined | is_any_lost(at)), is_measured


def gradient_of_regions(
    sampling: Sampling, input: Any, gradient: Any, roi: Any, batch_indices: Any, places: Places
) -> Any:
    """Return the gradients of some regions."""
    numbers, counts = places[-2], sample_counts(roi, gradient.shape[2:], sampling)
    return stacked(
        [
            all_undefined((4,))
            if of_each is None
            else gradient_of_region(sampling, input[batch_indices[number]], gradient[number], corners, of_each)
            for number, corners, of_each in zip(numbers, roi, counts, strict=True)
        ]
    )


def gradient_of_region(sampling: Sampling, image: Any, gradient: Any, corners: Any, of_each: OfEach) -> Any:
    """Return the sums of the samples' gradients times their slopes, times how far each moves with a corner.

    The slopes are 0 beyond the edges.
    """
    sizes, counts = gradient.shape[1:], of_each.counts
    kind = (sampling.interpolation_mode, sampling.reduction_function, counts)
    is_derivative = kind == ("LINEAR", "AVERAGE", ONE) and not of_each.is_measured
    factors = sampling.scales if is_derivative else [n - sampling.align_regions_to_corners for n in image.shape[1:]]
    at = places_of_samples(corners, [*map(range, sizes)], sizes, counts, sampling)
    samples = gradient_of_samples(computed(gradient, at), at, image, counts, sampling, image.shape[1:])
    results: list[Any] = [None] * 4
    for axis, slopes in enumerate(slopes_of(image, at)):
        moved, own = slopes * factors[axis] * samples.value, (axis, sizes[axis])
        t = shares_of_ends(*own, sampling) if is_derivative else measured_shares(*own, counts[axis], sampling)
        results[1 - axis] = total_together(moved * (1 - t), (0, 1, 2))
        results[3 - axis] = total_together(moved * t, (0, 1, 2))
    is_undefined, is_measured = marked_corners(image, gradient, at, sampling)
    found = AsMeasured(np.stack(results), is_measured | (not is_derivative) | np.any(samples.is_measured))
    return PartlyUndefined(found, is_undefined | np.any(samples.is_undefined))


KERNELS: dict[str, Kernel] = {
    "ROI_ALIGN": Kernel(roi_align, crops, spread=Spread(places=("roi", "batch_indices")), interpolates=True),
    "ROI_ALIGN1": Kernel(roi_align1, crops, spread=Spread(places=("roi", "batch_indices")), interpolates=True),
    "ROI_ALIGN_GRAD": Kernel(roi_align_grad, gradients, interpolates=True),
}
