"""The tiles and the work of regions, whose samples are counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.kernels.regions import tiles
from dmlcheck.reference.limits.work import SAMPLES_AT_ONCE, Work

# Regions of 4 by 8 and of 8 by 8 elements; 2 by 2 results have 2 by 4 and 4 by 4 samples each.
REGIONS = np.array([[[[0, 0, 8, 4], [0, 0, 8, 8]]]], np.float32)
GIVEN: dict[str, Any] = {
    "roi": REGIONS,
    "interpolation_mode": "LINEAR",
    "reduction_function": "AVERAGE",
    "spatial_scale_x": 1.0,
    "spatial_scale_y": 1.0,
    "minimum_samples_per_output": 1,
    "maximum_samples_per_output": 100,
}
CROPS = GIVEN | {"output": TensorDesc("FLOAT32", (2, 3, 2, 2))}
GRADIENT = GIVEN | {
    "input_gradient": np.zeros((2, 3, 2, 2), np.float32),
    "output_gradient": TensorDesc("FLOAT32", (4, 3, 8, 16)),
}


def amount(work: Work | None) -> int:
    assert work is not None
    return work.amount


def test_each_result_has_the_samples_of_its_region_and_one_where_they_are_undefined() -> None:
    assert tiles.crops(CROPS).depth({}) == [8, 16]
    assert tiles.crops(CROPS | {"minimum_samples_per_output": 0}).depth({}) == [1, 1]


def test_an_element_of_an_image_has_itself_and_its_share_of_the_samples_of_the_largest_region() -> None:
    """16 samples for each of 4 results are half a sample for each of 128 elements."""
    assert tiles.gradients(GRADIENT).cuts["output_gradient"].depth({}) == [1.5] * 4


def test_the_corners_of_a_region_share_its_samples() -> None:
    """3 channels of 4 elements with up to 16 samples, for 4 coordinates."""
    assert tiles.gradients(GRADIENT).cuts["output_roi_gradient"].depth({}) == 3 * 4 * 16 / 4


def test_the_work_of_crops_is_all_of_their_samples() -> None:
    assert amount(tiles.crops(CROPS).work) == (8 + 16) * 4 * 3


def test_the_work_of_gradients_is_all_samples_for_each_channel_or_part_of_the_images() -> None:
    assert amount(tiles.gradients(GRADIENT).work) == (8 + 16) * 4 * 3
    alone = tiles.gradients(GRADIENT | {"output_gradient": None})
    assert amount(alone.work) == (8 + 16) * 4 * 3
    assert list(alone.cuts) == ["output_roi_gradient"]


def test_images_of_many_parts_take_the_samples_once_for_each() -> None:
    """3 channels of 2^20 elements are 12 parts of 4 blocks of 2^16, and the samples add less than a part."""
    given = GRADIENT | {"output_gradient": TensorDesc("FLOAT32", (4, 3, 1024, 1024))}
    assert amount(tiles.gradients(given).work) == (8 + 16) * 4 * 12


def test_regions_are_those_of_a_crop_of_a_gradient_or_of_an_image() -> None:
    given = GRADIENT | {"roi": np.arange(12).reshape(1, 1, 3, 4), "batch_indices": np.array([0, 7, 7])}
    one, two = [4, 5, 6, 7], [8, 9, 10, 11]
    crop, cuts = tiles.crops(CROPS).needs["roi"], tiles.gradients(given).cuts
    assert crop(given["roi"], [range(1, 2), range(5, 6)], {}).tolist() == [one]
    corners, image = (cuts[f"output_{name}gradient"] for name in ("roi_", ""))
    assert corners.needs["roi"](given["roi"], [range(5, 6), range(1, 3), range(4)], {}).tolist() == [one, two]
    assert image.needs["roi"](given["roi"], [range(7, 8)], {}).tolist() == [one, two]
    assert corners.axes == (2,)


@pytest.mark.parametrize(("of_one", "unit"), [(SAMPLES_AT_ONCE, "samples"), (SAMPLES_AT_ONCE + 1, "at once")])
def test_samples_that_do_not_fit_into_memory_are_counted_for_one(of_one: int, unit: str) -> None:
    found = tiles.work_of_samples(of_one, 1 << 40)
    assert found.unit.endswith(unit)
    assert found.amount == (1 << 40 if unit == "samples" else of_one)
