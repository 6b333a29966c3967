"""Hulls: choices in doubt, and formulas that can be computed in two ways."""

from __future__ import annotations

import math

import numpy as np
import pytest
from balls import as_balls

from dmlcheck.reference.ball.numbers import Ball, Condition, hull, radius, with_roundings_of

INF, NAN = math.inf, math.nan


def test_a_choice_in_doubt_reaches_the_other_number_and_no_further() -> None:
    x = as_balls(1.0, 1.0, 5.0, radius=[1e-6, 0.0, 1e-6])
    chosen = np.where(x > 1.0, 10.0, as_balls(3, 3, 3, radius=0.5))
    assert chosen.value.tolist() == [6.25, 3, 10]  # from 2.5 to 10
    assert chosen.radius.tolist() == [3.75, 0.5, 0]


def test_a_choice_between_the_same_numbers_is_in_no_doubt() -> None:
    doubtful = Condition(np.array([True, True, False]), np.array([True, True, True]))
    same = np.array([1.0, INF, NAN])
    assert radius(np.where(doubtful, same, same)).tolist() == [0, 0, 0]
    assert radius(np.where(doubtful, np.array([1.0, INF, 2.0]), np.array([NAN, 1.0, 2.0]))).tolist() == [INF, INF, 0]


def test_the_hull_of_two_ways_has_both_balls() -> None:
    """From 0.5 to 9.25, and from 1.875 to 9.75."""
    one, other = Ball([1.0, 2], [0.5, 0.125]), Ball([9.0, 9], [0.25, 0.75])
    found = hull(lambda: one, lambda: other)
    assert found.value.tolist() == [4.875, 5.8125]
    assert found.radius.tolist() == [4.375, 3.9375]
    assert hull(lambda: 3.0, lambda: pytest.fail("computed where there is no bound")) == 3


def either_of(one: Ball, other: Ball) -> Ball:
    found = hull(lambda: one, lambda: other)
    assert isinstance(found, Ball)
    return found


def test_the_bound_of_two_ways_reaches_from_the_least_to_the_largest() -> None:
    found = either_of(
        Ball([1.0, 5.0, -2.0], [0.5, 0.0, 0.25], terms=3), Ball([1.25, 5.0, -3.0], [0.5, 0.0, 0.5], terms=7)
    )
    assert (found.value - found.radius).tolist() == [0.5, 5, -3.5]
    assert (found.value + found.radius).tolist() == [1.75, 5, -1.75]
    assert found.terms == 7


def test_a_result_gets_the_roundings_of_another_way_but_not_the_radii_of_its_operands() -> None:
    """The product of 3 and 1 + 2^-12 is exact, and its sum with 2^-23 is halfway between two FLOAT32 numbers."""
    x, result = Ball([1 + 2.0**-12], [0.5]), Ball([7.0], [0.25], terms=3)
    found = with_roundings_of(lambda x: x * 3 + 2.0**-23, result, x)
    assert (found.value.tolist(), found.radius.tolist(), found.terms) == ([7], [0.25 + 2.0**-23], 3)
    assert with_roundings_of(lambda _: pytest.fail("computed without a radius"), 7.0, x) == 7


def test_plain_numbers_need_no_other_way() -> None:
    assert hull(lambda: 3.0, lambda: pytest.fail("computed where there is no bound")) == 3


def test_where_nothing_bounds_one_of_two_ways_the_value_is_that_of_the_first() -> None:
    found = either_of(
        Ball([1.0, INF, NAN, 2.0], [0.5, 0.0, 0.0, INF]), Ball([3.0, INF, NAN, 9.0], [INF, 0.0, 0.0, 1.0])
    )
    assert str(found.value.tolist()) == "[1.0, inf, nan, 2.0]"
    assert found.radius.tolist() == [INF, 0, 0, INF]
