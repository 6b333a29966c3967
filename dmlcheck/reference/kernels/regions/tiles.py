"""The tiles of regions of images: how many samples fit into a tile, and how much work all of them are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmlcheck.reference.arrays.needs import WHOLE
from dmlcheck.reference.arrays.places import slices
from dmlcheck.reference.kernels.regions.samples import sample_counts, sampling_of
from dmlcheck.reference.limits.work import BLOCKS_OF_SAMPLES, ELEMENTS_OF_BLOCK, SAMPLES, SAMPLES_AT_ONCE, Work
from dmlcheck.reference.rows import Cut, EachOutput, Given

AS_IS = ("input", "input_gradient", "batch_indices")


def crops(given: Given) -> Cut:
    """Return the tiles of regions that are resampled: some channels, rows and columns of one of them."""
    samples, (_, channels, *window) = samples_of_each(given, given["output"].sizes[2:]), given["output"].sizes
    return Cut(
        needs={
            "input": WHOLE,
            "roi": lambda roi, places, _: roi.reshape(-1, 4)[slices(places)[0]],
            "batch_indices": WHOLE,
        },
        blocks=BLOCKS_OF_SAMPLES,
        depth=lambda _: samples,
        as_is=("input", "batch_indices"),
        work=work_of_samples(max(samples), sum(samples) * math.prod(window) * channels),
    )


def gradients(given: Given) -> EachOutput:
    """Return the tiles of the gradient of images, parts of one of them, and the tiles of the gradient of regions."""
    tensors, shape = dict.fromkeys(AS_IS, WHOLE), given["input_gradient"].shape
    samples = [count * math.prod(shape[2:]) for count in samples_of_each(given, shape[2:])]
    corners = Cut(
        (given["roi"].ndim - 2,),
        {**tensors, "roi": lambda roi, places, _: roi.reshape(-1, 4)[slices(places)[-2]]},
        depth=lambda _: shape[1] * max(samples) / 4,  # samples for each coordinate
        as_is=AS_IS,
    )
    if given["output_gradient"] is None:
        return EachOutput({"output_roi_gradient": corners}, work_of_samples(max(samples), sum(samples) * shape[1]))
    sizes = given["output_gradient"].sizes
    numbers = 1 + max(samples) / math.prod(sizes[2:])  # of an element: itself, and its share of a region's samples
    images = Cut(
        needs={
            **tensors,
            "roi": lambda roi, places, _: roi.reshape(-1, 4)[given["batch_indices"].reshape(-1) == places[0].start],
        },
        blocks=BLOCKS_OF_SAMPLES,
        depth=lambda _: [numbers] * int(sizes[0]),
        as_is=AS_IS,
    )
    parts = int(math.prod(sizes[1:]) * numbers) // (BLOCKS_OF_SAMPLES * ELEMENTS_OF_BLOCK)
    work = work_of_samples(max(samples), sum(samples) * max(shape[1], parts))
    return EachOutput({"output_gradient": images, "output_roi_gradient": corners}, work)


def samples_of_each(given: Given, window: Sequence[int]) -> list[int]:
    """Return the number of samples of an element, by region; 1 where it is undefined."""
    counts = sample_counts(given["roi"].reshape(-1, 4), window, sampling_of(given))
    return [1 if own is None else math.prod(own.counts) for own in counts]


def work_of_samples(of_one: int, count: int) -> Work:
    """Return the work of samples; if too many are in memory at once, their number."""
    if of_one > SAMPLES_AT_ONCE:
        return Work(of_one, "samples that are there at once", SAMPLES_AT_ONCE)
    return Work(count, "samples", SAMPLES)
