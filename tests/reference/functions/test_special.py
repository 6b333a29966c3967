"""The special functions against independent ones: those of the C library, which are within 1 ULP, and mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.functions.special import erf, erfc, ln_1_exp

POINTS = np.concatenate([np.linspace(-11, 11, 40_001), np.ldexp(1.0, np.arange(-1000, 4)), [1.0, -1.0, 0.0, -0.0]])


def test_erf_is_within_a_few_units_of_roundoff() -> None:
    expected = np.array([math.erf(x) for x in POINTS])
    assert np.max(np.abs(erf(POINTS) - expected) / np.maximum(np.abs(expected), 5e-324)) < 2**-50


def test_a_few_values_are_those_of_mpmath() -> None:
    for x in (-5.5, -1.0, 1e-12, 0.3, 1.0, 2.5, 9.0):
        for ours, theirs in ((erf, mpmath.erf), (erfc, mpmath.erfc)):
            right = theirs(mpmath.mpf(x))
            assert abs(float(ours(np.array([x]))[0]) / float(right) - 1) < 2**-44


@pytest.mark.parametrize("function", [erf, erfc, ln_1_exp])
def test_of_tracked_numbers_they_are_the_same_with_an_error(function: Callable[..., Any]) -> None:
    x = np.linspace(-4, 4, 101)
    found = function(Ball(x))
    assert isinstance(found, Ball)
    assert np.array_equal(found.value, function(x))
    assert (found.radius > 0).all()
    assert found.radius.max() < 1e-3


@pytest.mark.parametrize("function", [erf, erfc, ln_1_exp])
def test_one_number_is_as_good_as_many(function: Callable[..., Any]) -> None:
    assert float(function(np.float64(0.7))) == pytest.approx(float(function(np.array([0.7]))[0]), rel=1e-15)
