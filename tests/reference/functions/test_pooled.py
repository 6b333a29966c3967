"""Where the corners of regions are: products rounded to whole numbers, and which others these may be."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.reference.functions.pooled import Corners, absolute_norm, alternatives_of_signs, corners
from dmlcheck.reference.functions.windows import View, Window, run_of
from dmlcheck.reference.results import ways_of


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


# ---- norms
PAIRS: View = run_of([2], Window((2,), (2,), (1,), (0,)))
X = np.array([[3.0, -4.0, 1.0, 2.0]])


@pytest.mark.parametrize(
    ("p", "norms"),
    [(1, [7, 3]), (2, [5, 5**0.5]), (3, [91 ** (1 / 3), 9 ** (1 / 3)]), (8, [(3**8 + 4**8) ** 0.125, 257**0.125])],
)
def test_a_norm_is_the_root_of_the_sum_of_powers(p: int, norms: list[float]) -> None:
    assert absolute_norm(X, PAIRS, p).reshape(-1).tolist() == pytest.approx(norms)


def test_a_high_power_of_a_large_number_does_not_overflow() -> None:
    found = absolute_norm(np.array([[2.0**120, 0.0, 2.0**-140, 0.0]]), PAIRS, 64)
    assert found.reshape(-1).tolist() == [2.0**120, 2.0**-140]


def test_odd_powers_of_negative_elements_may_keep_their_signs() -> None:
    found = alternatives_of_signs(absolute_norm(X, PAIRS, 1), X, PAIRS, 1)
    assert [way.reshape(-1).tolist() for way in ways_of(found)] == [[7, 3], [-1, 3]]
    size = np.abs(X)
    assert alternatives_of_signs(size, size, PAIRS, 3) is size
