"""The errors of single operations, on plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball import errors
from dmlcheck.reference.ball.errors import (
    POLES,
    Arithmetic,
    _is_spread,
    carried,
    corners,
    correctly_rounded,
    flushed,
    has_small,
    is_certain,
    of_a_constant,
    of_a_quotient,
    of_a_row,
    on_the_way,
    plus,
    summing_error,
)
from dmlcheck.reference.ball.roundings import Rounding

FLOAT32 = Arithmetic()
FLOAT16 = Arithmetic("FLOAT16", "FLOAT16", 2.0**-11, 2.0**-14)
LIKELY = FLOAT32._replace(is_likely=True)
U = 2.0**-24
INF, NAN = float("inf"), float("nan")


def wide(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float64)


def test_no_error_adds_nothing() -> None:
    assert plus(None, None) is None
    assert plus(None, 1.0) == plus(1.0, None) == 1.0
    assert plus(1.0, 2.0) == 3.0


# ---- roundings


def test_a_constant_is_off_by_what_its_type_lacks() -> None:
    assert of_a_constant(np.float32(0.1), FLOAT32)[1] is None
    assert of_a_constant(0.5, FLOAT32)[1] is None
    assert of_a_constant(0.1, FLOAT32)[1] == abs(0.1 - float(np.float32(0.1)))
    value, error = of_a_constant(np.array([0.1, 1, INF], np.float32), FLOAT16)
    assert value.tolist() == [float(np.float32(0.1)), 1, INF]
    assert error is not None
    assert error.tolist() == [float(np.float32(0.1)) - float(np.float16(0.1)), 0, 0]


def test_an_exact_result_is_rounded_to_the_number_beside_it() -> None:
    value = wide(1 + 2.0**-25, 1)
    assert correctly_rounded(value, np.abs(value), None, FLOAT32).tolist() == [2.0**-25, 0]
    moved = wide(0.25, 0)
    assert correctly_rounded(value, np.abs(value), moved, FLOAT32).tolist() == [0.25 + (value[0] + 0.25) * U, 0]


def test_a_quotient_has_the_rounding_of_its_row_but_by_a_power_of_two() -> None:
    row = Rounding("made up", ulp=4.5)
    divisor, value = wide(3, 4), wide(1 / 3, 1 / 4)
    found = of_a_quotient(divisor, value, value, [None, None], row, FLOAT32)
    assert found.tolist() == [4.5 * 2 * U / 3, 0]


def test_nothing_bounds_a_quotient_by_what_may_be_0() -> None:
    divisor, value = wide(3, 3), wide(1 / 3, 1 / 3)
    found = of_a_quotient(divisor, value, value, [None, wide(3, 1)], Rounding("made up", ulp=1), FLOAT32)
    assert found[0] == INF
    assert found[1] == pytest.approx(1 / 6 + U)  # 1/2 - 1/3, and a rounding of 1/2


def test_a_small_result_may_be_flushed_and_a_large_one_not() -> None:
    tiny = 2.0**-130
    assert flushed(wide(tiny, 1), wide(0, U), FLOAT32).tolist() == [tiny, U]
    assert flushed(wide(1), wide(U), FLOAT32).tolist() == [U]


# ---- functions


def test_a_row_counts_in_units_of_the_result_or_absolutely_and_has_an_end() -> None:
    def error(**limits: float) -> Any:
        return of_a_row(Rounding("made up", **limits), np.exp, "exp", [wide(0, 2)], [None], np.exp(wide(0, 2)), FLOAT32)

    assert error(ulp=3).tolist() == [6 * U, 6 * U * np.exp(2)]
    assert error(ulp=3, absolute=1e-6).tolist() == [1e-6, 6 * U * np.exp(2)]
    assert error(absolute=1, at_most=0.5).tolist() == [0.5, 0.5]
    assert error(operand=1) == pytest.approx([0, np.exp(2 + 4 * U) - np.exp(2)])


def test_an_error_is_carried_to_the_end_where_the_function_moves_most() -> None:
    x, error = wide(1), wide(0.5)
    assert carried(np.exp, "exp", [x], [error], np.exp(x)) == np.exp(1.5) - np.exp(1)
    assert carried(np.log, "log", [x], [error], np.log(x)) == -np.log(0.5)
    assert carried(np.sin, "sin", [x], [error], np.sin(x)) == 0.5
    assert carried(np.exp, "exp", [x], [None], np.exp(x)) is None


def test_two_operands_have_four_corners_and_a_root_none_below_0() -> None:
    both = corners("hypot", [wide(1), wide(2)], [wide(0.5), wide(0.25)])
    assert [(float(x[0]), float(y[0])) for x, y in both] == [(0.5, 1.75), (0.5, 2.25), (1.5, 1.75), (1.5, 2.25)]
    assert [float(x[0]) for (x,) in corners("sqrt", [wide(0.1)], [wide(0.5)])] == [0, 0.6]


def test_a_result_is_certain_where_no_error_changes_it() -> None:
    x = wide(INF, NAN, 1000, 709)
    found = is_certain(np.exp, [x], [wide(0, 0, 1, 1)], np.exp(x))
    assert found.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("name", "operands", "errors", "is_bounded"),
    [
        ("tan", (1.5,), (0.01,), True),
        ("tan", (1.5,), (0.1,), False),
        ("arccosh", (1.5,), (0.4,), True),
        ("arccosh", (1.5,), (0.6,), False),
        ("power", (0.1, -1), (0.05, 0), True),
        ("power", (0.1, -1), (0.2, 0), False),
        ("power", (0.1, 1 / 3), (0.2, 1e-8), True),
        ("power", (0.1, 2), (0.2, 1e-8), False),
        ("arctan2", (1, 0.1), (0, 0.2), True),
        ("arctan2", (0.1, 0.1), (0.2, 0.2), False),
    ],
)
def test_beside_a_pole_nothing_bounds_a_function(name: str, operands: Any, errors: Any, is_bounded: bool) -> None:
    found = POLES[name](*map(wide, operands), *map(wide, errors))
    assert bool(np.isfinite(found).all()) == is_bounded


# ---- sums


def test_a_sum_of_n_terms_may_be_off_by_n_roundings_of_their_magnitudes() -> None:
    assert summing_error(9, 5.0, 50.0, 300.0, FLOAT32) == 10 * U * 50
    assert summing_error(0, 5.0, 5.0, 25.0, FLOAT32) == 0


def test_likely_errors_of_long_sums_are_much_smaller_but_not_those_of_equal_terms() -> None:
    terms = np.random.default_rng(1).uniform(-1, 1, 10_000)
    hard, likely = (
        summing_error(9999, terms.sum(), np.abs(terms).sum(), (terms * terms).sum(), of) for of in (FLOAT32, LIKELY)
    )
    assert 0 < likely < hard / 10
    assert summing_error(9999, 1e4, 1e4, 1e4, LIKELY) == summing_error(9999, 1e4, 1e4, 1e4, FLOAT32)


@pytest.mark.parametrize("arithmetic", [LIKELY, FLOAT16._replace(is_likely=True)])
@pytest.mark.parametrize("even", [0, 1e-6, 1e-4, 1e-2, 0.3, 1.0])
def test_where_terms_are_seen_to_differ_at_once_the_errors_are_the_same(
    arithmetic: Arithmetic, even: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terms are 1, and more or less by a share; from 0.3 on they are far enough from equal."""
    terms = 1 + even * np.random.default_rng(1).standard_normal((50, 180)) * 4
    given = 179, terms.sum(1), np.abs(terms).sum(1), (terms * terms).sum(1), arithmetic
    assert _is_spread(180, given[1], given[3], arithmetic) is (even > 0.3)
    found = summing_error(*given)
    monkeypatch.setattr(errors, "_is_spread", lambda *_: False)
    np.testing.assert_array_equal(found, summing_error(*given))


def test_tiny_sums_may_be_flushed_on_the_way() -> None:
    smallest = FLOAT32.smallest
    assert summing_error(3, smallest, 4 * smallest, smallest**2, FLOAT32) == pytest.approx(3 * smallest, rel=1e-6)


def test_the_sums_on_the_way_and_the_terms_that_they_absorb() -> None:
    squares, absorbed = on_the_way(wide(1, 2, 1e-9, 3), None, wide(0), U)
    assert squares.tolist() == pytest.approx([1 + 9 + 9 + 36])
    assert absorbed.tolist() == [1e-9]


# ---- small numbers


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", [0, 40_000, 99_999])
def test_a_small_number_is_found_wherever_it_is(place: int, dtype: Any) -> None:
    x = np.zeros((100, 1000), dtype)
    x.reshape(-1)[::3] = 2.0**-126
    assert not has_small(x, 2.0**-126)
    x.reshape(-1)[place] = -(2.0**-127)
    for each in (x, x.T, x[::-1], np.asfortranarray(x)):
        assert has_small(each, 2.0**-126)
    assert not has_small(x[:0], 2.0**-126)


def test_results_that_may_be_denormal_reach_0() -> None:
    """Those whose error reaches 0 anyway do not change, nor does a result that is 0."""
    size = np.array([0.0, 2.0**-127, 2.0**-126, 2.0**-125, 2.0**-127, 1.0])
    error = np.array([0.0, 0.0, 2.0**-130, 2.0**-126, 2.0**-120, 2.0**-24])
    right = [0.0, 2.0**-127, 2.0**-126, 2.0**-126, 2.0**-120, 2.0**-24]
    assert flushed(size, error, FLOAT32).tolist() == right
