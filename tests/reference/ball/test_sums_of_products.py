"""Matrix products and sums of other products: whole, in parts, of one term and of none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from balls import FLOAT32, allowed, likely

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, product_of_parts, radius, sum_of_products
from dmlcheck.reference.ball.sums_of_products import ProductSums, _scaled


@pytest.mark.parametrize(
    ("first", "second"),
    [((4, 5), (5, 3)), ((2, 4, 5), (5, 3)), ((2, 1, 4, 5), (3, 5, 2)), ((5,), (5, 3)), ((4, 5), (5,))],
)
def test_matrix_products_of_any_shape_are_within_their_bound(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    generator = np.random.default_rng(6)
    a, b = (generator.normal(size=sizes).astype(np.float32) for sizes in (first, second))
    for arithmetic in (FLOAT32, likely(FLOAT32)):
        bound = Ball(a, 0.0, arithmetic) @ Ball(b, 0.0, arithmetic)
        assert np.allclose(bound.value, a.astype(np.float64) @ b)
        assert (np.abs(a @ b - bound.value) <= allowed(bound, "FLOAT32")).all()
        assert bound.terms == 5
        assert np.array_equal(radius(a @ Ball(b, 0.0, arithmetic)), bound.radius)


def test_an_einsum_is_the_matrix_product() -> None:
    a, b = np.random.default_rng(7).normal(size=(2, 3, 4)), np.random.default_rng(8).normal(size=(2, 4, 5))
    x, y = Ball(a.astype(np.float32)), Ball(b.astype(np.float32), 1e-4)
    found, right = np.einsum("bij,bjk->bik", x, y), x @ y
    assert np.allclose(found.value, right.value)
    assert np.allclose(found.radius, right.radius)


def test_a_matrix_product_of_one_term_is_rounded_like_a_product() -> None:
    a, b = np.array([[0.1], [0.5]], np.float32), np.array([[0.3, 2]], np.float32)
    found = Ball(a) @ Ball(b)
    exact = a.astype(np.float64) * b
    assert np.array_equal(found.value, exact)
    assert np.array_equal(found.radius, np.abs(exact - exact.astype(np.float32)))
    assert found.radius[0, 0] > 0
    moved = Ball(a, 1e-3) @ Ball(b)
    assert (np.abs(moved.radius - 1e-3 * b) < 1e-6 * b).all()


@pytest.mark.parametrize("arithmetic", [FLOAT32, likely(FLOAT32)])
def test_a_matrix_product_in_parts_has_the_bound_of_the_whole(arithmetic: Arithmetic) -> None:
    generator = np.random.default_rng(12)
    a, b = (Ball(generator.normal(size=size).astype(np.float32), 1e-6, arithmetic) for size in ((3, 40), (40, 5)))
    whole, parts = a @ b, product_of_parts((a[:, at], b[at]) for at in (slice(7), slice(7, 8), slice(8, 40)))
    assert np.allclose(parts.value, whole.value, rtol=1e-13)
    assert np.allclose(parts.radius, whole.radius, rtol=1e-13)
    assert parts.terms == whole.terms == 40
    plain = [(a.value[:, :3], b.value[:3]), (a.value[:, 3:], b.value[3:])]
    assert np.allclose(product_of_parts(plain), a.value @ b.value, rtol=1e-5)


@pytest.mark.parametrize("arithmetic", [FLOAT32, likely(FLOAT32)])
def test_products_of_several_kinds_are_one_sum(arithmetic: Arithmetic) -> None:
    generator = np.random.default_rng(13)
    sizes = ((1, 9), (9, 1), (1, 1), (1, 1), (1, 1))
    a, b, c, d, e = (Ball(generator.normal(size=size).astype(np.float32), 1e-6, arithmetic) for size in sizes)
    found = sum_of_products([(np.matmul, a, b), (np.multiply, c, d), (np.multiply, 1.0, e)])
    row = np.concatenate([a, c, Ball(np.ones((1, 1)), 0.0, arithmetic)], axis=1)
    whole = row @ np.concatenate([b, d, e], axis=0)
    assert np.allclose(found.value, whole.value, rtol=1e-13)
    assert np.allclose(found.radius, whole.radius, rtol=1e-13)
    assert found.terms == whole.terms == 11
    plain = sum_of_products(
        [(np.multiply, 2.0, np.array([3.0, 4.0])), (np.matmul, np.array([5.0]), np.array([[6.0, 7.0]]))]
    )
    assert plain.tolist() == [36, 43]


def test_a_matrix_product_of_no_terms_is_0() -> None:
    found = Ball(np.zeros((2, 0), np.float32)) @ Ball(np.zeros((0, 3), np.float32))
    assert not found.value.any()
    assert not found.radius.any()


# ---- absolute values and squares
Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(12)


@pytest.fixture
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcheck.reference.ball.sums_of_products.LARGE", 1)


def is_in_float32(products: ProductSums) -> bool:
    """Whether sums of absolute values and of squares are added up in FLOAT32; they are float64 in any case."""
    assert products.absolute.dtype == products.squares.dtype == np.float64
    return products._scaled is not None


def exact(x: Array, y: Array, power: int) -> Any:
    """Return the sums of absolute values, or of squares, as fractions."""
    return [[sum(abs(Fraction(a) * Fraction(b)) ** power for a, b in zip(row, column, strict=True))
             for column in y.T.tolist()] for row in x.tolist()]  # fmt: skip


def factors(*, scale: float = 1.0, length: int = 60) -> tuple[Array, Array]:
    x, y = RANDOM.standard_normal((5, length)), RANDOM.standard_normal((length, 4))
    return (x * scale).astype(np.float32).astype(np.float64), y.astype(np.float32).astype(np.float64)


@pytest.mark.slow
@pytest.mark.usefixtures("all_are_large")
@pytest.mark.parametrize("scale", [1.0, 2.0**-100, 2.0**100, 1e-30])
@pytest.mark.parametrize("length", [2, 60, 3000])
def test_absolute_values_in_float32_are_added_up_to_no_less(scale: float, length: int) -> None:
    x, y = factors(scale=scale, length=length)
    x[1] = 0.0  # as after a RELU
    products = ProductSums(np.matmul, x, y)
    assert is_in_float32(products)
    for found, row in zip(products.absolute, exact(x, y, 1), strict=True):
        for one, right in zip(found.tolist(), row, strict=True):
            assert right <= Fraction(one) <= right * Fraction(1 + 1e-6 * (length + 4))


@pytest.mark.usefixtures("all_are_large")
@pytest.mark.parametrize("scale", [1.0, 2.0**-100, 2.0**100])
def test_squares_in_float32_are_those(scale: float) -> None:
    x, y = factors(scale=scale)
    right = [[float(value) for value in row] for row in exact(x, y, 2)]
    assert ProductSums(np.matmul, x, y).squares == pytest.approx(np.array(right), rel=1e-5, abs=0)


@pytest.mark.usefixtures("all_are_large")
@pytest.mark.parametrize("value", [0.1, 1 / 3])
def test_squares_of_terms_that_are_alike_are_exact_enough_to_see_that(value: float) -> None:
    x, y = np.full((3, 500), np.float64(np.float32(value))), np.full((500, 4), 0.7)
    x[2] = RANDOM.standard_normal(500)
    products = ProductSums(np.matmul, x, y)
    assert is_in_float32(products)
    even = np.abs(500 * products.squares - products.value**2) <= 1e-12 * products.value**2
    assert even.tolist() == [[True] * 4, [True] * 4, [False] * 4]


@pytest.mark.usefixtures("all_are_large")
def test_few_products_other_functions_and_what_float32_cannot_hold_are_in_float64(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, y = factors()
    assert is_in_float32(ProductSums(np.matmul, x, y))
    for first, second in (
        (x * np.where(np.arange(60) == 3, 1e-60, 1.0), y),  # whose least term would be 0
        (x * np.where(np.arange(60) == 3, np.inf, 1.0), y),
        (np.where(np.arange(60) == 3, np.nan, x), y),
        (x * 1e100, y * 1e100),
        (x * 0.0, y),
    ):
        with np.errstate(all="ignore"):
            products = ProductSums(np.matmul, first, second)
            assert not is_in_float32(products)
            np.testing.assert_array_equal(products.absolute, np.abs(first) @ np.abs(second))
            np.testing.assert_array_equal(products.squares, (first * first) @ (second * second))
    monkeypatch.setattr("dmlcheck.reference.ball.sums_of_products.LARGE", 5 * 60 * 4 + 1)
    assert not is_in_float32(ProductSums(np.matmul, x, y))
    assert not is_in_float32(ProductSums(np.multiply, x, x))


@pytest.mark.usefixtures("all_are_large")
def test_the_same_factors_are_multiplied_once() -> None:
    x, y = factors()
    calls: list[int] = []

    def counted(first: Array, second: Array) -> Any:
        calls.append(1)
        return first @ second

    products = ProductSums(counted, x, y)
    again = products.of(x, y)
    for _ in range(2):
        assert again.value is products.value
        assert again.absolute is products.absolute
    assert len(calls) == 2
    assert products.of(x.copy(), y) is not products
    assert products.of(x, y.copy()) is not products


@pytest.mark.parametrize("least", [1.0, 2.0**-60, 2.0**-140])
def test_zeros_are_no_least_number_of_a_factor(least: float) -> None:
    scaled = _scaled(np.array([[0.0, 4.0, -least], [0.0, -1.5, 2.0]]))
    assert scaled is not None
    assert scaled.span == least / 4


def test_a_factor_whose_least_numbers_would_become_0_is_not_scaled() -> None:
    assert _scaled(np.array([[0.0, 4.0, 2.0**-180]])) is None


@pytest.mark.usefixtures("all_are_large")
def test_a_factor_of_several_sums_is_scaled_once() -> None:
    x, y = factors()
    first = ProductSums(np.matmul, x, y)
    second = first.of(np.abs(x) + 1, y)
    assert is_in_float32(first)
    assert is_in_float32(second)
    assert first._scaled is not None
    assert second._scaled is not None
    assert second._scaled[1] is first._scaled[1]
    assert second._scaled[0] is not first._scaled[0]


@pytest.mark.usefixtures("all_are_large")
def test_a_factor_whose_least_numbers_are_lost_in_float32_is_in_float64() -> None:
    """2^-180 as a share of the largest is 0 in FLOAT32, as 0 itself is, which does no harm."""
    x, y = factors()
    x[0, 0] = 0.0
    assert is_in_float32(ProductSums(np.matmul, x, y))
    x[0, 0] = 2.0**-180
    assert not is_in_float32(ProductSums(np.matmul, x, y))
