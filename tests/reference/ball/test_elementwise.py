"""Operations on elements: one rounding, radii carried through slopes and corners, jumps, comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from balls import allowed, as_balls, ends

from dmlcheck.reference.ball.numbers import Ball, elementary, radius
from dmlcheck.reference.functions import special

INF = math.inf
U = 2.0**-24


def test_exact_operands_leave_the_one_rounding_that_ieee_754_has() -> None:
    x, y = np.float32([0.1, 3, 1e30, 2.5, 16777216]), np.float32([0.2, 5, 1e-30, 2, 1])
    for operation in (np.add, np.subtract, np.multiply):
        bound = operation(Ball(x), Ball(y))
        found = operation(x, y)
        exact = [abs(operation(Fraction(a), Fraction(b)) - Fraction(c)) for a, b, c in
                 zip(x.tolist(), y.tolist(), found.tolist(), strict=True)]  # fmt: skip
        assert bound.radius.tolist() == pytest.approx([float(error) for error in exact], rel=1e-6)


def test_a_sum_that_float64_rounds_is_no_exact_one() -> None:
    tiny = as_balls(2.0**-60, -(2.0**-60), 0.0)
    sums, differences = as_balls(1.0, 1.0, 1.0) + tiny, as_balls(1.0, 1.0, 1.0) - tiny
    assert sums.radius.tolist() == differences.radius.tolist() == [2.0**-60, 2.0**-60, 0]
    assert (as_balls(1.0) + 2.0**-30).radius == [2.0**-30]  # to the nearest FLOAT32


def test_whole_numbers_have_no_error() -> None:
    x = Ball(np.arange(-50.0, 50.0))
    assert not radius(x * 3 - x + 1).any()
    assert not radius(x / 8).any()


def test_a_quotient_may_be_a_product_with_the_reciprocal() -> None:
    x = np.random.default_rng(1).normal(size=5000).astype(np.float32)
    y = np.random.default_rng(2).normal(size=5000).astype(np.float32)
    bound = Ball(x) / Ball(y)
    rcp = (1 / y.astype(np.float64) * (1 + 2.0**-21)).astype(np.float32)
    assert (np.abs((x * rcp).astype(np.float64) - bound.value) <= allowed(bound, "FLOAT32")).all()
    assert (bound.radius <= 4.51 * 2 * U * np.abs(bound.value)).all()


def test_a_quotient_by_a_power_of_two_is_exact() -> None:
    assert radius(as_balls(1, 3, 0.7, radius=0.0) / as_balls(0.5, 4, 1)).tolist() == [
        0, 0, abs(0.7 - float(np.float32(0.7)))
    ]  # fmt: skip
    assert ((as_balls(3.0) + 2.0**-22) / 4).radius == (as_balls(3.0) + 2.0**-22).radius / 4


def test_a_reciprocal_that_is_denormal_may_be_flushed() -> None:
    bound = as_balls(3e38, 3e37) / as_balls(2e38, 2e37)
    assert bound.radius[0] == bound.value[0]
    assert bound.radius[1] < 1e-6


def test_both_errors_of_a_product_count_and_their_product() -> None:
    bound = as_balls(2, radius=1.0) * as_balls(3, radius=0.5)
    low, high = ends(bound)[0]
    assert low <= (2 - 1) * (3 - 0.5)
    assert pytest.approx(high) == (2 + 1) * (3 + 0.5)


def test_both_errors_of_a_quotient_count() -> None:
    assert ends(as_balls(2, radius=1.0) / as_balls(3, radius=0.5))[0][1] == pytest.approx(3 / 2.5)


@pytest.mark.parametrize("divisor", [as_balls(1e-7, radius=1e-7), as_balls(1e-7, radius=1.0), as_balls(0, radius=1e-9)])
def test_nothing_bounds_a_quotient_whose_divisor_may_be_0(divisor: Ball) -> None:
    assert radius(1 / divisor).tolist() == [INF]
    assert radius(np.reciprocal(divisor)).tolist() == [INF]
    assert radius(np.power(divisor, -2.0)).tolist() == [INF]


def test_nothing_bounds_functions_beside_their_poles() -> None:
    assert radius(np.log(as_balls(1e-8, radius=1e-7))).tolist() == [INF]
    assert radius(np.tan(as_balls(math.pi / 2 + 1e-3, radius=2e-3))).tolist() == [INF]
    assert radius(np.arctanh(as_balls(0.999, radius=1e-2))).tolist() == [INF]


def test_a_root_of_what_cancelled_is_no_root_of_a_negative_number() -> None:
    for root in (np.sqrt, lambda x: np.power(x, 0.5)):
        bound = root(as_balls(1e-8, 0, 4, radius=[1e-6, 1e-6, 1.0]))
        assert bound.radius[0] >= math.sqrt(1.01e-6) - 1e-4
        assert bound.radius[1] >= 1e-3
        assert 2 - math.sqrt(3) <= bound.radius[2] < 0.3


def test_a_function_with_a_turning_point_between_the_ends_is_bounded() -> None:
    for function in (np.cosh, np.square, np.absolute):
        low, high = ends(function(as_balls(0.3, radius=0.5)))[0]
        assert low <= function(0.0)
        assert high >= function(0.8)
    low, high = ends(np.cos(as_balls(0.3, radius=0.5)))[0]
    assert low <= math.cos(0.8)
    assert high >= 1
    assert radius(np.sin(as_balls(7, radius=1e9)))[0] <= 2.1


@pytest.mark.parametrize(
    ("function", "x", "error"),
    [
        (np.exp, 3.0, 0.5),
        (np.log, 3.0, 0.5),
        (np.tanh, 0.2, 0.5),
        (np.arctan, -1.0, 1.5),
        (np.sinh, -0.2, 0.7),
        (np.cosh, 2.0, 0.7),
        (np.arcsin, 0.4, 0.5),
        (np.arccos, -0.4, 0.5),
        (np.arccosh, 2.0, 0.5),
        (np.arctanh, 0.3, 0.5),
        (np.arcsinh, 0.1, 3.0),
        (np.expm1, -1.0, 2.0),
        (np.log1p, 0.5, 1.0),
        (np.exp2, 1.0, 1.0),
        (np.log2, 4.0, 3.0),
        (special.erf, 0.3, 0.9),
        (special.erfc, -0.3, 0.9),
        (special.ln_1_exp, 0.3, 0.9),
        (np.sqrt, 0.5, 2.0),
        (np.cbrt, 0.5, 2.0),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_functions_carry_an_error_as_far_as_they_reach(
    function: Callable[[Any], Any], x: float, error: float, sign: int
) -> None:
    x = sign * x if np.isfinite(function(np.array(sign * x))) else x
    bound = function(as_balls(x, radius=error))
    reach = np.linspace(x - error, x + error, 1001)
    moved = np.nanmax(np.abs(function(reach) - bound.value))
    assert moved <= bound.radius[0] <= moved * 1.01 + 1e-3


def test_two_operands_with_errors_reach_all_corners() -> None:
    bound = np.power(as_balls(2, radius=0.5), as_balls(-1, radius=2.5))
    corners = [x**y for x in (1.5, 2.5) for y in (-3.5, 1.5)]
    low, high = ends(bound)[0]
    assert low <= min(corners)
    assert high >= max(corners)
    assert radius(np.arctan2(as_balls(1e-3, radius=1e-2), as_balls(-1, radius=0.0)))[0] >= 2 * math.pi - 0.1
    assert radius(np.arctan2(as_balls(1e-3, radius=1e-2), as_balls(1e-3, radius=1e-2)))[0] == INF


def test_near_a_half_rounding_reaches_the_other_whole_number_and_no_further() -> None:
    near = np.rint(as_balls(2.4999999, 2.5, 2.5000001, 2.4, 3.5, radius=[1e-6, 1e-6, 1e-6, 1e-6, 0.0]))
    assert ends(near) == [(2, 3), (2, 3), (2, 3), (2, 2), (4, 4)]


@pytest.mark.parametrize(("function", "jump"), [(np.floor, 2.0), (np.ceil, 2.0), (np.trunc, 2.0), (np.sign, 0.0)])
def test_beside_a_jump_the_bound_reaches_its_other_side(function: Callable[[Any], Any], jump: float) -> None:
    both = {float(function(jump - 1e-6)), float(function(jump + 1e-6))}
    for x in (jump - 1e-7, jump + 1e-7):
        (low, high), = ends(function(as_balls(x, radius=1e-6)))  # fmt: skip
        assert (low, high) == (min(both), max(both))
    assert not radius(function(as_balls(jump + 0.4, radius=1e-6))).any()


def test_a_sign_that_is_in_doubt_reaches_the_other_side() -> None:
    assert radius(np.copysign(as_balls(3, 3), as_balls(1e-9, 1, radius=1e-8))).tolist() == [6, 0]
    assert np.signbit(as_balls(1e-9, -1, radius=1e-8)).doubt.tolist() == [True, False]


def test_a_remainder_jumps_where_the_quotient_is_nearly_whole() -> None:
    remainder = np.fmod(as_balls(3, 7, 7.5), as_balls(0.1, 7, 2))
    assert ends(remainder)[0] == pytest.approx((0, 0.1), abs=1e-6)
    assert remainder.radius[2] < 1e-5
    assert radius(np.remainder(as_balls(7.5), as_balls(2)))[0] < 1e-5


def test_comparisons_are_in_doubt_where_the_errors_meet() -> None:
    x, y = as_balls(1, 1, 2, radius=[1e-3, 0.0, 1e-3]), as_balls(1.0005, 1, 1)
    for compare in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal):
        found = compare(x, y)
        assert found.value.tolist() == compare(x.value, y.value).tolist()
        assert found.doubt.tolist() == [True, False, False]
    assert not (as_balls(INF, radius=0.0) > as_balls(INF, radius=1.0)).doubt.any()


def test_functions_of_plain_arrays_stay_plain() -> None:
    assert elementary(np.exp, "exp", np.zeros(2)).tolist() == [1, 1]


@pytest.mark.parametrize("function", [np.arcsin, np.arccos])
def test_beside_the_end_of_a_domain_are_one_number_and_nan(function: Callable[[Any], Any]) -> None:
    """1 + U and 1 may each be on either side of 1, 1 + 4 * U is outside and -0.5 inside, whatever the error of U."""
    found = function(Ball(np.array([1 + U, 1, 1 + 4 * U, -0.5, -1 - U]), np.full(5, 2 * U)))
    assert found.beyond is not None
    at_the_ends = [float(function(1.0)), float(function(-1.0))]
    reach = 1e-3  # asin's slope at 1: a change of 4 * U moves it by sqrt(8 * U)
    assert found.value[[1, 3]] == pytest.approx([at_the_ends[0], float(function(-0.5))])
    assert np.isnan(found.value[[0, 2, 4]]).all()
    assert found.radius[[0, 2, 4]].tolist() == [0, 0, 0]
    assert found.beyond.value[[0, 4]] == pytest.approx(at_the_ends)
    assert (found.beyond.radius[[0, 4]] < reach).all()
    assert np.isnan(found.beyond.value[[1, 2]]).all()
    assert found.beyond.radius[[1, 2]].tolist() == [0, 0]
    assert found.beyond.value[3] == found.value[3]
    assert (found.radius < reach).all()
    assert (np.negative(found)).beyond is None


def test_a_ball_at_the_end_reaches_as_far_as_its_numbers_in_the_domain() -> None:
    found = np.arccos(Ball(np.array([1.0]), np.array([0.5])))
    assert found.radius[0] == pytest.approx(math.acos(0.5), rel=1e-3)
