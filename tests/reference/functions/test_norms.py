"""Norms of what windows see: of high powers without overflow, and of odd ones with the signs of elements."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.reference.functions.pooled import absolute_norm, alternatives_of_signs
from dmlcheck.reference.functions.windows import View, Window, run_of
from dmlcheck.reference.results import ways_of

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
