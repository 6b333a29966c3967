"""Sums that depend on the order of their terms: which overflow on the way, and come back or meet the other infinity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions import overflowing
from dmlcheck.reference.functions.overflowing import may_overflow, norm, products_depend_on_order, terms_depend_on_order

INF, NAN = np.inf, np.nan
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")


def any_of(mask: Any) -> bool:
    return bool(np.any(mask))


def ball(value: float, radius: float, data_type: str = "FLOAT32") -> Ball:
    return Ball(np.array([value]), np.array([radius]), Arithmetic(data_type))


SUMS: list[tuple[tuple[float, ...], bool]] = [  # the terms, and whether FLOAT32 has several results for their sum
    ((1.0, -2.0), False),
    ((3e38, 3e38, -3e38), True),  # infinity, or 3e38
    ((3e38, 3e38, -9e38), True),  # NaN of two lanes, or -infinity
    ((3e38, 3e38, 3e38), False),
    ((3e38, 3e38, -1.0), False),
    ((-3e38, -3e38, 3e38), True),
    ((-3e38, -3e38, 3e38, 3e38), True),
    ((2e38, -3e38, 1e38), False),
    ((INF, -1.0), False),
    ((INF, -3e38, -3e38), True),  # infinity, or NaN
    ((-INF, 3e38, 3e38), True),
    ((INF, 3e38, 3e38), False),
    ((INF, -INF), False),  # always NaN
    ((NAN, 3e38, 3e38, -3e38), False),
]


@pytest.mark.parametrize(("terms", "expected"), SUMS)
def test_a_sum_depends_on_the_order_if_some_terms_overflow_and_others_bring_it_back(
    terms: tuple[float, ...], expected: bool
) -> None:
    total = np.array([sum(terms)])
    assert any_of(terms_depend_on_order("FLOAT32", total, *(np.array([x]) for x in terms))) is expected
    assert any_of(terms_depend_on_order("FLOAT32", total, *(ball(x, 0.0) for x in terms))) is expected
    ones = np.ones((len(terms), 1))
    found = products_depend_on_order(total[None], [(np.matmul, np.array([terms]), ones)], sum(map(abs, terms)))
    assert any_of(found) is expected


@pytest.mark.parametrize(("error", "expected"), [(0.0, False), (1e36, True)])
def test_errors_may_take_terms_beyond_the_type(error: float, expected: bool) -> None:
    """The largest number is 3.4028e38: 3.4e38 is within it, and 3.4e38 + 1e36 is not."""
    terms = ball(3.4e38, error), ball(-2e38, 0.0)
    assert any_of(terms_depend_on_order("FLOAT32", ball(1.4e38, error), *terms)) is expected
    assert any_of(may_overflow("FLOAT32", terms[0])) is expected


def test_what_is_beyond_a_type_overflows_it_and_infinity_does_not() -> None:
    x = np.array([65519.0, 65520.0, -7e4, INF, NAN])  # 65520 is halfway to the number that would follow 65504
    assert may_overflow("FLOAT16", x).tolist() == [False, True, True, False, False]
    assert any_of(may_overflow("FLOAT16", ball(1.0, INF))) is False


def test_sums_of_products_overflow_the_type_that_they_are_computed_in() -> None:
    """300 * 300 is beyond FLOAT16, and so are both partial sums of 300 * 300 - 299 * 300."""
    for data_type, expected in (("FLOAT16", True), ("FLOAT32", False)):
        rows = Ball(np.array([[300.0, -299.0]]), None, Arithmetic(data_type))
        columns = np.array([[300.0], [300.0]])
        found = products_depend_on_order(rows @ columns, [(np.matmul, rows, columns)], INF)
        assert any_of(found) is expected


def test_small_products_are_not_multiplied_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest number is just below 3.403e38."""
    monkeypatch.setattr(overflowing, "_finite", lambda *_: pytest.fail("multiplied again"))
    products = [(np.matmul, np.ones((1, 3)), np.ones((3, 1)))]
    assert products_depend_on_order(np.ones((1, 1)), products, 3.402e38) is overflowing.NONE
    for most in (3.404e38, NAN):
        with pytest.raises(pytest.fail.Exception):
            products_depend_on_order(np.ones((1, 1)), products, most)


def test_no_number_is_larger_than_the_root_of_all_squares_and_the_largest_error() -> None:
    assert norm(np.array([[3.0], [-4.0]])) == 5
    assert norm(Ball(np.array([3.0, -4.0]), np.array([0.5, 0.25]))) == 5.5
    assert norm(np.zeros((0, 3))) == 0
    assert np.isnan(norm(np.array([1.0, NAN])))
    assert norm(np.array([1e200, 1.0])) == INF


def test_a_norm_of_many_elements_is_the_largest_of_them() -> None:
    many = np.linspace(-4.0, 3.0, 10_001)
    assert norm(many) == 4
    assert norm(-many) == 4
    assert norm(Ball(many, np.full(many.shape, 0.5))) == 4.5
    assert np.isnan(norm(np.where(many > 2, NAN, many)))
