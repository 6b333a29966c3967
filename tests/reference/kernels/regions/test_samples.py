"""Samples of regions: their numbers, their places, what is there, and what comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Ball, radius, raw
from dmlcheck.reference.functions.interpolation import half_up, shares
from dmlcheck.reference.kernels.regions.samples import (
    Sampling,
    bounded,
    certain,
    ends,
    gradient_of_samples,
    has_part,
    is_in,
    kinks,
    limits,
    measured_shares,
    places_of_samples,
    possible,
    readings,
    rounding_of,
    sample_counts,
    samples_at,
    shares_of_ends,
    slopes_of,
)
from dmlcheck.reference.results import ways_of

Array = np.ndarray[Any, Any]
NAN, INF = float("nan"), float("inf")
PLAIN = Sampling("LINEAR", "AVERAGE", 1.0, 1.0, 1, 4)
SHORT = {
    "least": "minimum_samples_per_output",
    "most": "maximum_samples_per_output",
    "mode": "interpolation_mode",
    "is_aligned": "align_regions_to_corners",
}


def plain(**fields: Any) -> Sampling:
    """Return the plain sampling with other fields, some by a short name."""
    return PLAIN._replace(**{SHORT.get(name, name): value for name, value in fields.items()})


REGION = np.array([1.0, 2, 5, 8])  # x1, y1, x2, y2: four wide and six high
IMAGE = np.array([[[0.0, 1, 4], [10, 11, 14]]])


def test_the_samples_of_an_element_are_as_many_as_the_region_has_elements_for_it() -> None:
    regions = np.stack([REGION, [0, 0, 2, 2], [0, 0, 3, 2], [2, 2, 0, 0], [0, 0, NAN, 2], [0, 0, 99, 99]])
    assert sample_counts(regions, (2, 2), PLAIN) == [
        ((3, 2), False),
        ((1, 1), False),
        ((1, 2), True),
        ((1, 1), False),
        None,
        ((4, 4), False),
    ]
    assert sample_counts(regions[:2], (2, 2), plain(spatial_scale_y=0.5, spatial_scale_x=2.0)) == [
        ((2, 4), True),
        ((1, 2), False),
    ]
    assert sample_counts(regions[:1], (2, 2), plain(least=0)) == [None]
    assert sample_counts(regions[:1], (2, 2), plain(input_pixel_offset=INF)) == [None]
    assert sample_counts(regions[:2], (1, 2), plain(is_aligned=True)) == [
        ((4, 2), False),
        ((2, 1), False),
    ]
    assert sample_counts(regions[1:2], (1, 1), plain(is_aligned=True, most=1)) == [((1, 1), True)]


def test_a_quotient_that_rounding_may_decide_gives_no_number_of_samples() -> None:
    assert sample_counts(np.array([[0.0, 0, 6, 6]]), (3, 3), PLAIN) == [None]  # 6 / 3 may be a little more than 2
    assert sample_counts(np.array([[0.0, 0, 6, 6]]), (3, 3), plain(most=1)) == [((1, 1), False)]


def test_samples_are_spread_evenly_or_from_corner_to_corner() -> None:
    assert [end.tolist() for end in ends(REGION, 1, plain(spatial_scale_x=3.0))] == [3, 15]
    at = places_of_samples(REGION, [range(2), range(2)], (2, 2), (1, 2), PLAIN)
    assert [own.tolist() for own in at] == [[3, 6], [1, 2, 3, 4]]
    at = places_of_samples(REGION, [range(1, 2), range(2)], (2, 2), (1, 2), PLAIN)
    assert [own.tolist() for own in at] == [[6], [1, 2, 3, 4]]
    aligned = plain(input_pixel_offset=0, output_pixel_offset=0, is_aligned=True)
    at = places_of_samples(REGION, [range(2), range(3)], (2, 3), (1, 1), aligned)
    assert [own.tolist() for own in at] == [[2, 8], [1, 3, 5]]


def test_places_have_the_errors_of_an_offset_that_is_subtracted_first() -> None:
    ends = np.array([84.65493, 125.35732], np.float32)
    corners = Ball(np.array([0, ends[0], 0, ends[1]], np.float32), None)
    at, _ = places_of_samples(corners, [range(128), range(1)], (128, 1), (1, 1), PLAIN)
    start, stop = ends - np.float32(0.5)
    part = (stop - start) / np.float32(128)
    others = start + np.arange(128, dtype=np.float32) * part + np.float32(0.5) * part
    assert (others.dtype, np.abs(others - raw(at)).max() > 6e-6) == (np.float32, True)
    assert (np.abs(others - raw(at)) <= radius(at)).all()


def samples(y: list[float], x: list[float], sampling: Sampling = PLAIN) -> tuple[Any, Array]:
    at = [np.array(y), np.array(x)]
    reading, *_ = readings(at, IMAGE.shape[1:], sampling)
    inside = samples_at(IMAGE, at, sampling, is_single=False)
    found = bounded(inside, at, IMAGE.shape[1:], reading, 7.0)
    (way,) = ways_of(found.value)
    return way.tolist(), np.broadcast_to(found.where, way.shape)


def test_a_sample_is_the_average_of_those_beside_it_or_the_nearest_or_outside() -> None:
    values, is_undefined = samples([0.5, -0.5, 9], [0.5, 1.5])
    assert (values, is_undefined.any()) == ([[[5.5, 7.5], [0.5, 2.5], [7, 7]]], False)
    values, is_undefined = samples([0.4, 9], [0.6, 1.6], plain(mode="NEAREST_NEIGHBOR"))
    assert (values, is_undefined.any()) == ([[[1, 4], [7, 7]]], False)


@pytest.mark.parametrize(
    ("mode", "is_aligned", "expected"),
    [
        ("LINEAR", False, [False, True, False, False, False, False, True, False]),
        ("NEAREST_NEIGHBOR", False, [False, True, True, False, True, True, True, False]),
        ("LINEAR", True, [True, True, True, False, False, True, True, True]),
        ("NEAREST_NEIGHBOR", True, [True, True, True, False, True, True, True, True]),
    ],
)
def test_what_is_not_clear_is_one_element_beyond_an_edge_or_halfway(
    mode: str, is_aligned: bool, expected: list[bool]
) -> None:
    x = np.array([-1.5, -1, -0.25, 0, 0.5, 2.25, 3, 3.5])
    beyond, unclear = limits([np.zeros(1), x], (2, 3), plain(mode=mode, is_aligned=is_aligned))
    outside = (
        [True, True, True, False, False, True, True, True] if is_aligned else [True, True, *[False] * 4, True, True]
    )
    assert beyond[0].tolist() == outside
    assert unclear[0].tolist() == expected


@pytest.mark.parametrize(
    ("x", "is_nearest", "is_aligned", "count"),
    [
        ([0.0, 1.25], True, True, 1),
        ([-1.0, 1.25], False, False, 2),  # inside or outside
        ([-0.5, 1.25], False, False, 1),
        ([-1.0, 1.25], False, True, 1),  # outside
        ([0.5, 1.25], True, False, 1),  # up
        ([-1.0, 0.5], True, False, 2),
    ],
)
def test_only_readings_that_may_differ_are_taken(
    x: list[float], is_nearest: bool, is_aligned: bool, count: int
) -> None:
    sampling = plain(mode="NEAREST_NEIGHBOR" if is_nearest else "LINEAR", is_aligned=is_aligned)
    found = readings([np.zeros(1), np.array(x)], (2, 3), sampling)
    assert len(found) == count
    assert rounding_of(sampling) == (half_up if is_nearest else None)


def test_the_gradient_of_an_average_is_shared_and_that_of_a_maximum_is_not() -> None:
    at, gradient = [np.array([0.25, 0.75]), np.array([0.5, 1.5])], np.array([[[8.0]]])
    found = gradient_of_samples(gradient, at, IMAGE, (2, 2), PLAIN, (2, 3))
    assert (found.value.tolist(), np.any(found.is_measured)) == ([[[2, 2], [2, 2]]], False)
    largest = plain(reduction_function="MAX")
    found = gradient_of_samples(gradient, at, IMAGE, (2, 2), largest, (2, 3))
    assert (found.value.tolist(), np.any(found.is_measured)) == ([[[0, 0], [0, 8]]], False)
    equal = gradient_of_samples(gradient, at, np.zeros((1, 2, 3)), (2, 2), largest, (2, 3))
    assert (equal.value.tolist(), np.all(equal.is_measured)) == ([[[8, 0], [0, 0]]], True)
    outside = gradient_of_samples(gradient, [at[0], np.array([1.5, 4.0])], -1 - IMAGE, (2, 2), largest, (2, 3))
    assert (outside.value.tolist(), np.all(outside.is_measured)) == ([[[0, 0], [0, 0]]], True)
    close = [at[0], Ball(np.array([1.5, 1.5 + 1e-9]), np.full(2, 1e-6))]
    either = gradient_of_samples(Ball(gradient), close, IMAGE, (2, 2), largest, (2, 3)).value
    assert (raw(either) + radius(either))[0, 1].tolist() == pytest.approx([8, 8], abs=1e-5)
    assert (raw(either) - radius(either))[0, 1].tolist() == pytest.approx([0, 0], abs=1e-5)
    lost = gradient_of_samples(Ball(gradient * NAN), close, IMAGE, (2, 2), largest, (2, 3))
    assert np.all(lost.is_undefined)


def test_elements_beside_marked_samples_have_a_part_in_them() -> None:
    at, marks = [np.array([0.0]), np.array([1.25, 4.5])], np.array([[[True, False]]])
    tile = [range(1), range(6)]
    assert has_part(marks, at, tile, (1, 6), PLAIN).tolist() == [[[False, True, True, False, False, False]]]
    nearest = plain(mode="NEAREST_NEIGHBOR")
    found = has_part(~marks, at, tile, (1, 6), nearest)  # 4.5 has one on each side
    assert found.tolist() == [[[False, False, False, False, True, True]]]
    assert not has_part(np.zeros((1, 1, 2), bool), at, tile, (1, 6), PLAIN).any()


def test_only_elements_of_a_part_are_in_it() -> None:
    near = shares(np.array([2.0, 3.0]), 9, start=2, rounding=half_up)
    assert is_in(near, range(2, 3))
    assert not is_in(shares(np.array([2.0, 3.0]), 9, start=4, rounding=half_up), range(4, 9))


def test_a_sample_moves_with_the_ends_of_its_region() -> None:
    assert shares_of_ends(1, 2, PLAIN).tolist() == [0.25, 0.75]
    assert shares_of_ends(0, 3, plain(output_pixel_offset=0, is_aligned=True)).tolist() == [
        [0],
        [0.5],
        [1],
    ]


def test_directml_moves_a_sample_by_the_number_of_its_element() -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-30."""
    assert measured_shares(1, 2, 2, PLAIN).tolist() == [0, 0, 0.25, 0.25]
    assert measured_shares(0, 2, 2, plain(is_aligned=True))[:, 0].tolist() == pytest.approx([0, 0, 1 / 3, 1 / 3])
    assert measured_shares(1, 1, 1, plain(is_aligned=True)).tolist() == [0.5]


def test_slopes_are_those_between_the_elements_beside_a_place_and_change_at_elements() -> None:
    at = [np.array([0.25]), np.array([0.5, 1.5])]
    along_height, along_width = slopes_of(IMAGE, at)
    assert along_height.tolist() == [[[10, 10]]]
    assert along_width.tolist() == [[[1, 3]]]
    assert kinks(np.array([0.5, 1, 2]), 3).tolist() == [False, True, True]
    assert kinks(np.array([0.5, 1, 2]), 1).tolist() == [False] * 3
    near = kinks(Ball(np.array([0.5, 0.999]), np.full(2, 0.01)), 3)
    assert (possible(near).tolist(), certain(near).tolist()) == ([False, True], [False, False])
