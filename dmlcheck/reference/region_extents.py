"""The number of samples of regions: how many fit into a tile, and how much work all of them are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmlcheck.reference.rows import Given
from dmlcheck.reference.samples import ONE, Counts, Sampling, sample_counts
from dmlcheck.reference.work import BLOCKS_OF_SAMPLES, ELEMENTS_OF_BLOCK, SAMPLES, SAMPLES_AT_ONCE, Work


def counts_of(given: Given, window: Sequence[int]) -> list[Counts]:
    """Return the numbers of samples of an element along height and width, by region; 1 where they are undefined."""
    names, scales = ("", ""), (given["spatial_scale_y"], given["spatial_scale_x"])
    least, most = given["minimum_samples_per_output"], given["maximum_samples_per_output"]
    offsets = (given.get("input_pixel_offset", 0.5), given.get("output_pixel_offset", -0.5))
    sampling = Sampling(*names, scales, least, most, *offsets, given.get("align_regions_to_corners", False))
    return [own or ONE for own in sample_counts(given["roi"].reshape(-1, 4), window, sampling)]


def samples_of_each(given: Given) -> list[int]:
    """Return the number of samples of an element, by region."""
    return list(map(math.prod, counts_of(given, given["output"].sizes[2:])))


def samples_on_each(given: Given) -> float:
    """Return the numbers in memory for each element of an image: itself, and its share of the samples of a region."""
    window, plane = given["input_gradient"].shape[2:], given["output_gradient"].sizes[2:]
    samples = max(map(math.prod, counts_of(given, window))) * math.prod(window)
    return float(1 + samples / math.prod(plane))


def numbers_on_images(given: Given) -> list[float]:
    """Return the numbers in memory for each element, by image."""
    return [samples_on_each(given)] * int(given["output_gradient"].sizes[0])


def samples_for_corners(given: Given) -> float:
    """Return the number of samples for each coordinate of a region."""
    return float(math.prod(given["input_gradient"].shape[1:]) / 4)


# ---- work


def work_of_crops(given: Given) -> Work:
    """Return the work of all samples; those of one element are in memory at once."""
    _, channels, *window = given["output"].sizes
    samples = samples_of_each(given)
    return work_of_samples(max(samples), sum(samples) * math.prod(window) * channels)


def work_of_gradients(given: Given) -> Work:
    """Return the work of all samples, for each part of an image; those of a region are in memory at once."""
    _, channels, *window = given["input_gradient"].shape
    if given["output_gradient"] is None:  # the gradient of regions alone has one sample for each element
        return work_of_samples(math.prod(window), math.prod(given["input_gradient"].shape))
    plane = math.prod(given["output_gradient"].sizes[2:])
    samples = [math.prod(own) * math.prod(window) for own in counts_of(given, window)]
    parts = int(channels * plane * samples_on_each(given)) // (BLOCKS_OF_SAMPLES * ELEMENTS_OF_BLOCK)
    return work_of_samples(max(samples), sum(samples) * max(channels, parts))


def work_of_samples(of_one: int, count: int) -> Work:
    """Return the work of samples; if too many are in memory at once, their number."""
    if of_one > SAMPLES_AT_ONCE:
        return Work(of_one, "samples that are there at once", SAMPLES_AT_ONCE)
    return Work(count, "samples", SAMPLES)
