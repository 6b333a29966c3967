"""Where the corners of regions are: products rounded to whole numbers, and which others these may be."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.reference.functions.pooled import Corners, corners


@pytest.mark.parametrize(
    ("coordinates", "scale", "expected"),
    [
        ([3, 4, 4, 5], 0.25, [(1, 1, 1, 1)]),
        ([10, 20, 30, 40], 1 / 3, [(3, 7, 10, 13)]),
        # Of 0.5, 1.5, 2.5 and 3.5 the even ones, or the larger ones, which are as far from 0.
        ([1, 3, 5, 7], 0.5, [(0, 2, 2, 4), (1, 2, 3, 4)]),
        ([-3, -1, 1, 0], 0.5, [(-2, 0, 0, 0), (-1, 0, 1, 0), (-2, -1, 1, 0)]),
        # 15 * 0.1 is 1.5 but for the rounding of 0.1 and of the product; equal products are rounded alike.
        ([0, 0, 14, 15], 0.1, [(0, 0, 1, 2), (0, 0, 1, 1)]),
        ([15, 0, 15, 4], 0.1, [(2, 0, 2, 0), (1, 0, 1, 0)]),
        ([np.nan, 1, 1, 1], 1.0, []),
        ([0, 0, 1e38, 1], 2.0, [(0, 0, int(2 * float(np.float32(1e38))), 2)]),
        ([0, 0, 1e38, 1], 1.1, []),  # FLOAT32 numbers of that size are far apart
    ],
)
def test_a_corner_is_at_a_nearest_whole_number(coordinates: list[float], scale: float, expected: list[Corners]) -> None:
    assert corners(np.array(coordinates, np.float32), scale) == expected


def test_float16_holds_fewer_products() -> None:
    third = float(np.float32(1 / 3))
    # FLOAT16 has 1/3 as 0.33325195: times 31.515625 that is 10.50265, beside which it has 10.5 and 10.5078125.
    assert corners(np.array([0, 0, 31.515625, 1], np.float16), third) == [(0, 0, 11, 0), (0, 0, 10, 0)]
    assert corners(np.array([0, 0, 31.515625, 1], np.float32), third) == [(0, 0, 11, 0)]
