"""The example of the guide that goes from a formula to its tolerance, with the numbers that were worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.sums import _around_the_mean, mean, total, variance

U = 2.0**-24
X = Ball(np.float32([1, 2, 4.5]), 0.0, Arithmetic("FLOAT32", "FLOAT32", U, 2.0**-149))


def units(x: Any) -> Any:
    """Return the radii in units of u, without the terms of higher order, which the guide leaves out."""
    return pytest.approx((x.radius / U).tolist(), rel=1e-5)


def test_the_mean_of_three_numbers() -> None:
    assert units(total(X, (0,))) == [22.5]
    assert units(mean(X, (0,))) == [30]


def test_its_variance_from_differences() -> None:
    differences = X - mean(X, (0,))
    assert units(differences) == [31.5, 30.5, 32]
    squares = np.square(differences)
    assert units(squares) == [96.75, 30.75, 132]
    terms = np.sqrt(96.75**2 + 30.75**2 + 132**2)
    assert terms == pytest.approx(166.5, abs=0.05)
    assert [19.5 + terms] == units(total(squares, (0,)))
    assert [(19.5 + terms) / 3 + 19.5] == units(mean(squares, (0,)))


def test_the_engine_s_variance_from_differences() -> None:
    """An error of the mean cancels, so differences have their roundings alone; four times that for a shifted origin.

    A running mean that is 30 u off adds 2 * 30 u standard deviations, over the root of the number of terms.
    """
    terms = np.sqrt(6.75**2 + 0.75**2 + 12**2)  # 2 * 1.5 * 1.5 + 2.25, 2 * 0.5 * 0.5 + 0.25, 2 * 2 * 2 + 4
    shifted = 4 * ((19.5 + terms) / 3 + 19.5)
    assert [shifted + 60 * np.sqrt(13 / 6 / 3)] == units(_around_the_mean(X, mean(X, (0,)), (0,)))


def test_its_variance_in_one_pass_and_the_hull_of_both_ways() -> None:
    squares = np.square(X)
    assert units(squares) == [0, 0, 0]
    assert units(mean(squares, (0,))) == [101]
    assert units(np.square(mean(X, (0,)))) == [156.25]
    found = variance(X, mean(X, (0,)), (0,))
    assert units(found) == [101 + 156.25 + 13 / 6]
    assert found.value == pytest.approx(13 / 6)
    reach = float(found.radius[0] + 4 * U)
    assert abs(2.16668 - 13 / 6) < reach < abs(2.1668 - 13 / 6)
