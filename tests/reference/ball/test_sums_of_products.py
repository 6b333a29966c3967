"""Matrix products and sums of other products: whole, in parts, of one term and of none."""

from __future__ import annotations

import numpy as np
import pytest
from balls import FLOAT32, allowed, likely

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, product_of_parts, radius, sum_of_products


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
