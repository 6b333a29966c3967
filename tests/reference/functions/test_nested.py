"""Operators inside others: that a sum may be rounded before them, and which results are undefined then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.errors import Arithmetic
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.functions.nested import NONE, Nested
from dmlcheck.reference.results import PartlyUndefined, separated, ways_of

NAN, INF = float("nan"), float("inf")


pytestmark = pytest.mark.usefixtures("quiet")


def times(factor: float) -> Any:
    return lambda x: x * factor


def test_without_an_operator_numbers_stay_as_they_are() -> None:
    x = np.array([1.5, NAN, 1e300, INF])
    assert NONE(x) is x


def test_elements_are_not_rounded_before_the_operator() -> None:
    assert Nested(times(2), "FLOAT16")(np.array([1.0001, 5e-9])).tolist() == [2.0002, 1e-8]


@pytest.mark.parametrize(("data_type", "unit"), [("FLOAT16", 2.0**-10), ("FLOAT32", 2.0**-23)])
def test_an_implementation_may_round_to_the_type_of_the_tensor_first(data_type: str, unit: float) -> None:
    found = Nested(lambda x: x, data_type)(Ball(np.array([1.3, 1.25, 1.25]), np.array([1e-12, 0.0, 1e-12])))
    assert found.value.tolist() == [1.3, 1.25, 1.25]
    assert found.radius == pytest.approx([unit / 2 + 1e-12, 0, unit / 2 + 1e-12])


def test_a_number_that_is_exact_may_be_rounded_too() -> None:
    found = Nested(lambda x: x, "FLOAT16")(Ball(np.array([1 + 2.0**-12])))
    assert found.radius.tolist() == [2.0**-12]


def test_results_of_an_infinite_number_are_right_as_well() -> None:
    x = np.array([70000.0, -70000.0, 60000.0, INF])
    value, is_undefined = separated(Nested(times(0.5), "FLOAT16")(x))
    assert [way.tolist() for way in ways_of(value)] == [[INF, -INF, 30000, INF], [35000, -35000, 30000, INF]]
    assert is_undefined is False
    value, _ = separated(Nested(times(0.5), "FLOAT16", is_step=True)(x))
    assert [way.tolist() for way in ways_of(value)] == [[35000, -35000, 30000, INF], [INF, -INF, 30000, INF]]


@pytest.mark.parametrize("formula", [lambda x: np.clip(x, -6, 6), lambda x: x * NAN])
def test_results_that_are_the_same_for_an_infinite_number_are_there_once(formula: Any) -> None:
    assert len(ways_of(Nested(formula, "FLOAT16")(np.array([70000.0, -70000.0, 3.0])))) == 1


def test_a_bound_has_the_same_results() -> None:
    x = Ball(np.array([70000.0, 3.0]), np.array([1.0, 1e-3]))
    other, first = ways_of(Nested(times(0.5), "FLOAT16")(x))
    assert first.value.tolist() == [35000, 1.5]
    assert other.value.tolist() == [INF, 1.5]
    assert np.isfinite(first.radius).all()
    assert other.radius[1] == first.radius[1]


def test_nothing_bounds_what_follows_from_a_number_beyond_the_type_where_that_is_asked() -> None:
    arithmetic = Arithmetic(has_overflows=True)
    found = Nested(np.tanh, "FLOAT32")(Ball(np.array([1e39, 3.0]), np.array([INF, 1e-3]), arithmetic))
    assert np.isfinite(ways_of(found)[0].radius).tolist() == [False, True]


def test_a_result_is_undefined_where_the_operator_has_it_so_of_either_number() -> None:
    found = Nested(lambda x: PartlyUndefined(x * 0.5, x < 0), "FLOAT16")(np.array([70000.0, -1.0, 1.0]))
    assert separated(found)[1].tolist() == [False, True, False]
    found = Nested(lambda x: PartlyUndefined(x * 0.5, np.isinf(x)), "FLOAT16")(np.array([70000.0, -1.0, 1.0]))
    assert separated(found)[1].tolist() == [True, False, False]
