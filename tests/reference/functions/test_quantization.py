"""What quantized numbers stand for, and how results become such numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.conversions import (
    difference,
    differences,
    overflows_int32,
    quantized,
    quantized_in_32_bits,
    requantized,
)
from dmlcheck.reference.results import with_measured

INF, NAN = math.inf, math.nan


def of(*numbers: float) -> Any:
    return np.array(numbers, np.float64)


def test_a_difference_is_exact_whatever_the_types() -> None:
    x = np.array([255, 0, 2**31 - 1, 2**32 - 1], np.uint64)
    assert difference(x, np.array([0, 255, 1, 0], np.uint64)).tolist() == [255, -255, 2**31 - 2, 2**32 - 1]
    assert difference(x, None).tolist() == [255, 0, 2**31 - 1, 2**32 - 1]


def test_differences_of_32_bits_are_first_those_in_float32() -> None:
    x, zero = np.array([2**24 + 1], np.int64), np.array([1], np.int64)
    assert [way.tolist() for way in differences(x, zero, "INT32")] == [[2**24 - 1], [2**24]]
    assert [way.tolist() for way in differences(x, zero, "INT16")] == [[2**24]]
    assert [way.tolist() for way in differences(x, None, "INT32")] == [[2**24 + 1]]


def test_int32_holds_sums_up_to_its_limits() -> None:
    assert overflows_int32(of(2**31 - 1, 2**31, -(2**31), -(2**31) - 1)).tolist() == [False, True, False, True]


def test_quotients_are_rounded_to_even_moved_and_limited() -> None:
    value, is_undefined = quantized(of(0.5, 1.5, -2.5, 300, -INF, NAN), np.array([1, 1, 1, 1, 1, 1]), "INT8")
    assert value.tolist()[:5] == [1, 3, -1, 127, -128]
    assert is_undefined.tolist() == [False] * 5 + [True]
    assert quantized(of(-3, 15.5, 12.4), None, "UINT4").value.tolist() == [0, 15, 12]


def test_sums_are_scaled_and_quantized() -> None:
    found = requantized(of(100, -100, 3), lambda: pytest.fail("computed where there is no bound"), 0.5, 2, 10, "UINT8")
    value, is_undefined, is_measured = with_measured(found)
    assert value.tolist() == [35, 0, 11]
    assert not np.any(is_undefined | is_measured)


@pytest.mark.parametrize(
    ("sums", "factor", "scale", "is_measured"),
    [
        (5, 1, 1, False),
        (5, 0, 1, True),
        (5, 1, 0, True),
        (5, INF, 1, True),
        (5, 1, INF, True),
        (5, NAN, 1, True),
        (2**31 - 1, 1, 1, False),
        (2**31, 1, 1, True),
    ],
)
def test_a_scale_of_0_is_measured(sums: int, factor: float, scale: float, is_measured: bool) -> None:
    with np.errstate(all="ignore"):
        found = requantized(of(sums), lambda: of(0), np.float64(factor), np.float64(scale), None, "INT8")
    assert bool(np.any(found.where)) == is_measured


def test_quotients_in_32_bits_wrap_with_their_zero_point() -> None:
    """As DirectML 1.13.1 and 1.15.4 gave it for an output scale of 0: 27 / 0 + 7 is the least number."""
    quotients = of(INF, -INF, NAN, 2.5)
    assert quantized_in_32_bits(quotients, of(7), "UINT8").tolist() == [0, 0, 7, 9]
    assert quantized_in_32_bits(quotients, None, "INT8").tolist() == [127, -128, 0, 2]


@pytest.mark.parametrize(("sums", "expected"), [(2**31 - 1, 64), (2**31, -64), (-(2**31) - 1, 64), (2**32 + 2**25, 1)])
def test_a_sum_beyond_32_bits_wraps_as_it_does_in_directml(sums: int, expected: int) -> None:
    found = with_measured(requantized(of(sums), lambda: of(0), 1.0, np.float64(2**25), None, "INT8"))
    assert [found[0].tolist(), found[2].tolist()] == [[expected], [not -(2**31) <= sums < 2**31]]


def test_the_bound_is_that_of_the_sums_of_integers_and_of_scaled_numbers() -> None:
    scale = Ball(of(0.3), 0.0, Arithmetic())
    sums = of(5)
    apart = Ball(of(1.5), 0.4, Arithmetic())
    found = requantized(sums, lambda: apart, scale, Ball(of(1.0), 0.0, Arithmetic()), None, "INT8")
    found = with_measured(found)[0]
    assert (found.value - found.radius <= 1.0 + 1e-5).all()  # 1.5 - 0.4 and 1.5 + 0.4 are rounded to 1 and 2
    assert (found.value + found.radius >= 2.0 - 1e-5).all()
    assert (found.radius <= 0.5 + 1e-5).all()
