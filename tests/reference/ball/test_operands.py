"""Operands and results of operations: constants, denormals, infinities, and the arithmetic of both."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from balls import FLOAT16, FLOAT32, as_balls, ends

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, radius, raw
from dmlcheck.reference.functions import special

INF, NAN = math.inf, math.nan


def test_denormals_may_be_flushed_wherever_they_are() -> None:
    x = Ball(np.float32([1e-39, 1e-20, 1.0]))
    assert radius(x * 1e30).tolist()[0] >= 1e-9
    product = x * np.float32(1e-20)
    assert product.radius[1] == product.value[1]
    assert (x > 0).doubt.tolist() == [True, False, False]
    assert ends(np.ceil(x)) == [(0, 1), (1, 1), (1, 1)]


def test_constants_are_rounded_to_the_type_of_an_implementation() -> None:
    bound = as_balls(1, 1024) * math.sqrt(0.5)
    distance = abs(math.sqrt(0.5) - float(np.float32(math.sqrt(0.5))))
    assert (bound.radius >= distance * np.array([1, 1024])).all()
    weights = np.array([0.1, 0.5])
    assert (radius(as_balls(1, 1) * weights) > 0).tolist() == [True, False]


def test_whole_numbers_that_the_type_does_not_have_are_rounded_to_it() -> None:
    bound = as_balls(1, 1) * np.array([2**24 + 1, 2**24])
    assert bound.radius.tolist()[0] >= 1
    assert bound.radius.tolist()[1] == 0
    halves = Ball(np.ones(2), 0.0, FLOAT16) * np.array([2049, 2048])
    assert halves.radius.tolist()[0] >= 1
    assert halves.radius.tolist()[1] == 0


def test_infinities_and_nan_have_no_error() -> None:
    x = as_balls(INF, -INF, NAN, 1, radius=[0.0, 0.0, 0.0, 0.1])
    for function in (
        np.exp, np.log, np.sin, np.tanh, np.sqrt, np.square, np.rint, np.sign, np.expm1, np.arctan, np.tan, np.power,
        special.erf, special.erfc, special.ln_1_exp, np.arcsinh, np.cosh, np.log1p, np.reciprocal, np.absolute,
    ):  # fmt: skip
        found = function(x, 2.0) if function is np.power else function(x)
        assert not np.isnan(found.radius).any(), function
        assert not found.radius[~np.isfinite(found.value)].any(), function
    computed = [x + 1, x - x, x * 0, x * x, x / 3, 1 / x, x.sum(), np.maximum(x, 0), np.cumsum(x), x.max(), np.prod(x)]
    for found in computed:
        assert not np.isnan(found.radius).any()
        assert not found.radius[~np.isfinite(found.value)].any()
    matrix = Ball(np.array([[INF, 1.0], [0.3, 2.0]]))
    assert radius(matrix @ matrix)[0].tolist() == [0, 0]


def test_an_infinity_that_may_be_a_number_is_not_bounded() -> None:
    assert radius(1 / (as_balls(1, radius=1e-7) - 1)).tolist() == [INF]
    assert radius(np.log(as_balls(0, radius=1e-7))).tolist() == [INF]
    assert radius(0 / as_balls(0, radius=1e-7)).tolist() == [INF]


def test_what_is_not_bounded_stays_so() -> None:
    x = as_balls(1, radius=INF)
    for found in (x + 1, x * 0, x * 2, x / 2, np.exp(x), np.maximum(x, 0), x.sum(), np.where(x > 0, 1.0, 5.0) * x):
        assert radius(found).max() == INF
    assert radius(np.tanh(x)).tolist()[0] <= 2.1
    either = np.where(x > 0, 1.0, 5.0)
    assert (either.value.tolist(), either.radius.tolist()) == ([3], [2])


def test_float16_has_the_roundings_of_float16() -> None:
    bound = Ball(np.array([0.1, 1.0]), 0.0, FLOAT16) + Ball(np.array([1000.0, 1000.0]), 0.0, FLOAT16)
    assert bound.radius[0] == pytest.approx(0.1)
    assert bound.radius[1] == 0


def test_float32_elements_are_rounded_to_float16_where_it_computes() -> None:
    x = np.float32([0.1, 0.5, 70000])
    bound = Ball(x, 0.0, FLOAT16) * 1
    distance = abs(float(x[0]) - float(np.float16(x[0])))
    assert distance <= bound.radius[0] <= distance + 2.0**-11 * 0.1001
    assert bound.radius[1] == 0
    assert 0 < bound.radius[2] < 100
    assert not (Ball(x, 0.0, FLOAT32) * 1).radius.any()


def test_of_two_arithmetics_the_coarser_computes() -> None:
    x, y = Ball(np.ones(1), 0.0, FLOAT32), Ball(np.full(1, 0.1), 0.0, FLOAT16)
    assert (x + y).arithmetic is FLOAT16
    assert (y + x).arithmetic is FLOAT16


def test_float64_bounds_what_the_reference_itself_loses() -> None:
    arithmetic = Arithmetic("FLOAT64", "FLOAT64", 2.0**-53, 2.0**-1022)
    x = np.random.default_rng(3).normal(size=500).astype(np.float32)
    bound = Ball(x, 0.0, arithmetic).sum()
    right = sum(map(Fraction, x.tolist()))
    assert abs(float(Fraction(float(bound.value)) - right)) <= bound.radius
    assert 0 < bound.radius < 1e-10
    found = np.exp(Ball(np.array([1.0]), 0.0, arithmetic))
    assert abs(found.value[0] - math.e) <= found.radius[0] < 1e-14


def test_float32_values_are_computed_in_float64() -> None:
    x = Ball(np.float32([0.1]))
    assert (x * x).value[0] == float(np.float32(0.1)) ** 2
    assert raw(x).dtype == np.float64
    assert np.exp(x).value.dtype == np.float64
    wide = np.zeros(3)
    assert raw(wide) is wide
    assert raw(np.int32([1])).dtype == np.int32


def test_terms_are_those_of_the_longest_sum_on_the_way() -> None:
    x = Ball(np.ones((4, 7)))
    assert np.exp(x.sum(1) + 1).terms == 7
    assert (x.sum(1) * x.sum(1).sum()).terms == 7
    assert (x + 1).terms == 0
