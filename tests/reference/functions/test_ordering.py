"""The order of elements, against Python's sorted."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.reference.arrays.grouped import first_in_order

INF = np.inf
NUMBERS = [3, 0, 7, 3, 1, 7, 0]


@pytest.mark.parametrize("is_decreasing", [False, True])
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_equal_elements_keep_their_order(kind: str, is_decreasing: bool) -> None:
    least = [] if kind[0] == "u" else [-2, -5, -2]
    x = np.array([*NUMBERS, *least, *([INF, -INF, 0.5, -0.5] if kind[0] == "f" else [])], kind)
    sign = -1 if is_decreasing else 1
    expected = sorted(range(len(x)), key=lambda at: sign * float(x[at]))
    assert first_in_order(x, 0, len(x), is_decreasing=is_decreasing).tolist() == expected
    assert first_in_order(x, 0, 3, is_decreasing=is_decreasing).tolist() == expected[:3]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_positions_are_along_an_axis(axis: int) -> None:
    x = np.moveaxis(np.array([[[5, 1, 3]], [[2, 9, 4]]], np.int32), 2, axis)
    found = np.moveaxis(first_in_order(x, axis, 2, is_decreasing=True), axis, 2)
    assert found.tolist() == [[[0, 2]], [[1, 2]]]


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_zeros_of_both_signs_are_equal_or_in_order(kind: str) -> None:
    x = np.array([0.0, -0.0, 1.0], kind)
    found = {
        (is_decreasing, has_order): first_in_order(x, 0, 3, is_decreasing=is_decreasing, has_order=has_order).tolist()
        for is_decreasing in (False, True)
        for has_order in (False, True)
    }
    assert found == {
        (False, False): [0, 1, 2],
        (False, True): [1, 0, 2],
        (True, False): [2, 0, 1],
        (True, True): [2, 0, 1],
    }


def test_the_ends_of_integers_are_in_order() -> None:
    x = np.array([127, -128, 0], np.int8)
    assert first_in_order(x, 0, 3, is_decreasing=False).tolist() == [1, 2, 0]
    assert first_in_order(x.view(np.uint8), 0, 3, is_decreasing=False).tolist() == [2, 0, 1]
