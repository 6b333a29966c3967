"""The error function against an independent one: math.erf and math.erfc of the C library, which are within 1 ULP."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dmlcheck.kernels._special import erf, erfc

POINTS = np.concatenate([np.linspace(-11, 11, 40_001), np.ldexp(1.0, np.arange(-1000, 4)), [1.0, -1.0, 0.0, -0.0]])


def test_erf_is_within_a_few_units_of_roundoff() -> None:
    expected = np.array([math.erf(x) for x in POINTS])
    assert np.max(np.abs(erf(POINTS) - expected) / np.maximum(np.abs(expected), 5e-324)) < 2**-50


def test_erfc_loses_nothing_where_it_is_small() -> None:
    expected = np.array([math.erfc(x) for x in POINTS])
    assert np.max(np.abs(erfc(POINTS) - expected) / expected) < 2**-44


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 100.0, -100.0])
def test_the_ends_are_those_of_the_definition(value: float) -> None:
    with np.errstate(all="ignore"):
        found = (float(erf(np.array([value]))[0]), float(erfc(np.array([value]))[0]))
    assert found == (math.erf(value), math.erfc(value)) or all(map(math.isnan, found)) == math.isnan(value)


def test_the_sign_of_zero_stays() -> None:
    assert math.copysign(1, float(erf(np.array([-0.0]))[0])) == -1
