"""Numbers in another format of floats: both neighbours within a bound, the nearest without one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, NoBound
from dmlcheck.reference.functions.conversions import (
    as_directml_converts,
    difference,
    float_as,
    in_type_of,
    quantized_in_32_bits,
    requantized,
    to_floats,
)
from dmlcheck.reference.results import Alternatives, with_measured

INF, NAN = math.inf, math.nan


def ways(x: Any, output_type: str, input_type: str = "FLOAT64") -> list[list[float]]:
    """Return all right results, the reference's first."""
    found = to_floats(x, input_type, output_type)
    return [way.astype(np.float64).tolist() for way in (found.ways if isinstance(found, Alternatives) else (found,))]


pytestmark = pytest.mark.usefixtures("quiet")


def test_a_float_becomes_an_element_of_any_type() -> None:
    assert with_measured(float_as(-2.75, "INT16")) == (-2, False, False)
    assert float_as(np.float64(0.1), "FLOAT16") == np.float16(0.1)


@pytest.mark.parametrize("kind", ["INT8", "UINT8"])
def test_floats_with_errors_become_integers_that_contain_both_ends(kind: str) -> None:
    x = Ball(np.array([5.5, 3, 6, 300, -0.5]), np.array([0.25, 0, 0.5, 0, 0.5]), Arithmetic())
    found = as_directml_converts(x, "FLOAT32", kind)
    least, most = found.value - found.radius, found.value + found.radius
    assert least.tolist() == [5, 3, 5, -INF, -1 if kind == "INT8" else -INF]
    assert most.tolist() == [5, 3, 6, INF, 0 if kind == "INT8" else INF]


def test_whole_numbers_with_errors_have_no_bound_in_another_type() -> None:
    with pytest.raises(NoBound):
        as_directml_converts(Ball(np.array([5.0]), np.array([0.5]), Arithmetic()), "INT32", "INT8")


def test_without_a_bound_the_nearest_is_the_result() -> None:
    x = np.array([0.1, 65519.0, 65520, -INF, 2049])
    assert np.array_equal(to_floats(x, "FLOAT64", "FLOAT16"), x.astype(np.float16))


def test_within_a_bound_the_neighbour_on_the_other_side_is_right_too() -> None:
    x = Ball(np.array([2049.5, -2049.5, 2050, 65519, 65520, -70000, INF]))
    nearest, other = ways(x, "FLOAT16")
    assert nearest == [2050, -2050, 2050, 65504, INF, -INF, INF]
    assert other == [2048, -2048, 2050, INF, 65504, -65504, INF]


def test_numbers_that_a_type_has_have_no_other_result() -> None:
    assert ways(Ball(np.array([0.5, -2048, INF, np.nan])), "FLOAT16") == [
        pytest.approx([0.5, -2048, INF, np.nan], nan_ok=True)
    ]


@pytest.mark.parametrize(("input_type", "output_type"), [("FLOAT64", "FLOAT32"), ("FLOAT32", "FLOAT64")])
def test_a_denormal_float32_may_be_0(input_type: str, output_type: str) -> None:
    x = Ball(np.array([2.0**-140, -(2.0**-130), 2.0**-126, 0]))
    nearest, *others = ways(x, output_type, input_type)
    assert nearest == [2.0**-140, -(2.0**-130), 2.0**-126, 0]
    assert others == [[0, 0, 2.0**-126, 0]]


def test_a_denormal_float16_stays() -> None:
    assert ways(Ball(np.array([2.0**-24])), "FLOAT16") == [[2.0**-24]]


@pytest.mark.parametrize(
    ("number", "others"),
    [
        (2**24 + 1, [2**24, 2**24 + 2]),
        (2**24 + 2, [2**24 + 2]),
        (-(2**24) - 3, [-(2**24) - 4, -(2**24) - 2]),
        (2**62 + 2**38 + 1, [2**62 + 2**39, 2**62]),
        (2**63 - 1, [2**63, 2**63 - 2**39]),
        (-(2**63), [-(2**63)]),
        (2**40 + 1, [2**40, 2**40 + 2**17]),
    ],
)
def test_integers_are_beside_two_floats_or_one_of_them(number: int, others: list[int]) -> None:
    assert [way[0] for way in ways(np.array([number], np.int64), "FLOAT32", "INT64")] == others


def test_the_largest_unsigned_integer_is_beside_2_to_the_64() -> None:
    x = np.array([2**64 - 1, 2**64 - 2**40], np.uint64)
    assert ways(x, "FLOAT32", "UINT64") == [[2.0**64, 2.0**64 - 2.0**40], [2.0**64 - 2.0**40, 2.0**64 - 2.0**40]]


def test_a_float_in_the_type_of_elements_may_be_the_neighbour_toward_0() -> None:
    found = in_type_of(-2049.5, np.zeros(0, np.float16))
    assert isinstance(found, Alternatives)
    assert [float(way) for way in found.ways] == [-2050, -2048]
    assert in_type_of(2048.5, np.zeros(0, np.float16)) == 2048
    assert in_type_of(0.5, np.zeros(0, np.float32)) == 0.5


def test_a_float_in_the_type_of_integers_is_measured_where_they_do_not_hold_it() -> None:
    for number, value, is_measured in ((2.9, 2, False), (-2.0, -2, False), (128.0, -128, True), (INF, 0, True)):
        assert with_measured(in_type_of(number, np.zeros(0, np.int8))) == (value, False, is_measured)
    assert with_measured(in_type_of(INF, np.zeros(0, np.uint64)))[1:] == (True, True)


# ---- quantized numbers
def of(*numbers: float) -> Any:
    return np.array(numbers, np.float64)


def test_a_difference_is_exact_whatever_the_types() -> None:
    x = np.array([255, 0, 2**31 - 1, 2**32 - 1], np.uint64)
    assert difference(x, np.array([0, 255, 1, 0], np.uint64)).tolist() == [255, -255, 2**31 - 2, 2**32 - 1]
    assert difference(x, None).tolist() == [255, 0, 2**31 - 1, 2**32 - 1]


def test_quotients_in_32_bits_wrap_with_their_zero_point() -> None:
    """As DirectML 1.13.1 and 1.15.4 gave it for an output scale of 0: 27 / 0 + 7 is the least number."""
    quotients = of(INF, -INF, NAN, 2.5)
    assert quantized_in_32_bits(quotients, of(7), "UINT8").tolist() == [0, 0, 7, 9]
    assert quantized_in_32_bits(quotients, None, "INT8").tolist() == [127, -128, 0, 2]


def test_the_bound_is_that_of_the_sums_of_integers_and_of_scaled_numbers() -> None:
    scale = Ball(of(0.3), 0.0, Arithmetic())
    sums = of(5)
    apart = Ball(of(1.5), 0.4, Arithmetic())
    found = requantized(sums, lambda: apart, scale, Ball(of(1.0), 0.0, Arithmetic()), None, "INT8")
    found = with_measured(found)[0]
    assert (found.value - found.radius <= 1.0 + 1e-5).all()  # 1.5 - 0.4 and 1.5 + 0.4 are rounded to 1 and 2
    assert (found.value + found.radius >= 2.0 - 1e-5).all()
    assert (found.radius <= 0.5 + 1e-5).all()
