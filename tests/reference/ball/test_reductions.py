"""Sums and products of many terms in any order, and the largest and smallest elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from balls import FLOAT16, FLOAT32, allowed, as_balls, likely

from dmlcheck.reference.ball.numbers import (
    Arithmetic,
    Ball,
    plus_start,
    product,
    radius,
    total,
    total_of_parts,
    total_of_shared,
)

Array = np.ndarray[Any, Any]
NAN = float("nan")
U = 2.0**-24


def in_orders(x: Array) -> Iterator[Array]:
    """Yield the sums of rows in their own type, in the orders that implementations have."""
    one_by_one = np.cumsum(x, axis=-1, dtype=x.dtype)[..., -1]
    lanes = np.cumsum(x.reshape(*x.shape[:-1], -1, 8), axis=-2, dtype=x.dtype)[..., -1, :]
    yield from (one_by_one, np.cumsum(x[..., ::-1], axis=-1, dtype=x.dtype)[..., -1])
    yield np.cumsum(lanes, axis=-1, dtype=x.dtype)[..., -1]
    yield np.cumsum(x[..., np.random.default_rng(3).permutation(x.shape[-1])], axis=-1, dtype=x.dtype)[..., -1]
    while x.shape[-1] > 1:
        x = x[..., : x.shape[-1] // 2] + x[..., x.shape[-1] // 2 :]
    yield x[..., 0]


ROWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda generator, sizes: generator.normal(size=sizes),
    "around 100": lambda generator, sizes: generator.normal(size=sizes) + 100,
    "uniform": lambda generator, sizes: generator.uniform(size=sizes),
    "sorted": lambda generator, sizes: np.sort(generator.normal(size=sizes), axis=-1),
    "a wave": lambda generator, sizes: np.sin(np.linspace(0, 6.28, sizes[1])) + generator.normal(size=sizes) / 1000,
    "of all sizes": lambda generator, sizes: generator.lognormal(0, 3, sizes),
    "all the same": lambda generator, sizes: np.full(sizes, 0.1) + 0 * generator.normal(size=sizes),
    "of 256 values": lambda generator, sizes: generator.integers(0, 256, sizes) / 255,
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("count", [2, 16, 1024, 65536])
def test_sums_in_any_order_are_within_the_hard_and_the_likely_limit(rows: str, count: int) -> None:
    x = ROWS[rows](np.random.default_rng(count), (max(2, min(500, 100_000 // count)), count)).astype(np.float32)
    hard, walk = (Ball(x, 0.0, arithmetic).sum(-1) for arithmetic in (FLOAT32, likely(FLOAT32)))
    assert (walk.radius <= hard.radius).all()
    orders = in_orders(x) if count > 8 else [x.sum(axis=-1)]
    for found in orders:
        error = np.abs(found.astype(np.float64) - hard.value)
        assert (error <= hard.radius).all()
        assert (error <= walk.radius).all()


def test_the_likely_limit_is_much_tighter_for_long_sums() -> None:
    x = np.random.default_rng(1).uniform(size=65536).astype(np.float32)
    hard, walk = (Ball(x, 0.0, arithmetic).sum() for arithmetic in (FLOAT32, likely(FLOAT32)))
    assert 50 < hard.radius / walk.radius < 100
    assert hard.radius == pytest.approx(65536 * U * x.astype(np.float64).sum())


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 1)])
@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("is_likely", [True, False])
def test_sums_and_their_kin_are_numpys_in_shape_and_value(axis: Any, *, keepdims: bool, is_likely: bool) -> None:
    x = np.random.default_rng(2).normal(size=(3, 4, 5))
    t = Ball(x, 0.01, FLOAT32._replace(is_likely=is_likely))
    along = {"axis": axis, "keepdims": keepdims}
    for function in (np.sum, np.mean, np.max, np.min, np.prod, np.add.reduce, np.maximum.reduce, np.multiply.reduce):
        found, right = function(t, **along), function(x, **along)
        assert np.allclose(found.value, right, rtol=1e-13)
        assert found.shape == found.radius.shape == np.shape(right)
    assert np.allclose(t.sum(**along).value, x.sum(**along))


def test_errors_that_enter_a_sum_add_up_in_quadrature() -> None:
    x = Ball(np.zeros(10_000), 1e-3)
    assert x.sum().radius == pytest.approx(0.1, rel=0.1)
    matrix = Ball(np.ones((1, 10_000)), 1e-3) @ np.ones((10_000, 1))
    assert matrix.radius[0, 0] == pytest.approx(0.1 + 10_000**2 * U, rel=0.1)


def test_sums_in_parts_are_the_sum() -> None:
    x = np.random.default_rng(3).normal(size=(4, 90)).astype(np.float32)
    for arithmetic in (FLOAT32, likely(FLOAT32)):
        whole = Ball(x, 0.0, arithmetic).sum(1, keepdims=True)
        parts = total_of_parts([Ball(part, 0.0, arithmetic) for part in np.split(x, 3, axis=1)], (1,), keepdims=True)
        assert np.allclose(whole.value, parts.value, rtol=1e-13)
        assert np.allclose(whole.radius, parts.radius, rtol=1e-9)
        assert whole.terms == parts.terms == 90
    assert total(x, 1).tolist() == x.sum(1).tolist()


def test_denormal_products_on_the_way_move_the_result() -> None:
    """By hand, in denormal numbers of FLOAT32: 0.625 is rounded to 1, 0.51 to 1, 1.5 to 2; the exact result is 0.48."""
    one = 2.0**-149
    x = np.array([0.625, one, 3, 0.17, 1.5])
    right = [0.625, 0.625 * one, 1.875 * one, 0.31875 * one, 0.478125 * one]
    found = np.array([0.625, one, 3 * one, one, 2 * one])
    bound = np.cumprod(Ball(x.astype(np.float32), 0.0, FLOAT32))
    assert np.allclose(bound.value, right, rtol=1e-6, atol=0)
    assert (np.abs(found - bound.value) <= allowed(bound, "FLOAT32")).all()
    assert (bound.radius[2:] < 100 * one).all()
    whole = np.prod(Ball(x.astype(np.float32), 0.0, FLOAT32))
    assert abs(2 * one - whole.value) <= allowed(whole, "FLOAT32")
    beside = np.cumprod(Ball(np.stack([x, np.full(5, np.nan)]).astype(np.float32), 0.0, FLOAT32), axis=1)
    assert (beside.radius[0] == bound.radius).all()  # NaN in another row changes nothing


def test_products_of_which_the_last_alone_is_denormal_are_off_by_no_more_than_a_unit() -> None:
    one = 2.0**-149
    bound = np.cumprod(Ball(np.array([2.0**-20, 0.75, 2.0**-126], np.float32), 0.0, FLOAT32))
    assert bound.value[-1] == 6 * one
    assert bound.radius[-1] <= 7 * one  # which may be flushed


def test_tiny_terms_may_be_flushed_one_by_one() -> None:
    x = np.full(1000, 2.0**-13) * np.where(np.arange(1000) % 2, 1.0, -1.3)
    bound = Ball(x, 0.0, FLOAT16).sum()
    assert bound.radius >= 500 * 0.3 * 2.0**-13


@pytest.mark.parametrize("arithmetic", [FLOAT32, likely(FLOAT32)])
def test_cumulative_sums_and_products_have_the_roundings_of_their_way(arithmetic: Arithmetic) -> None:
    x = np.random.default_rng(9).normal(size=(50, 200)).astype(np.float32)
    bound = np.cumsum(Ball(x, 0.0, arithmetic), axis=1)
    assert (np.abs(np.cumsum(x, axis=1, dtype=np.float32) - bound.value) <= bound.radius).all()
    assert radius(bound[:, 0]).tolist() == [0] * 50
    last, whole = bound[:, -1], Ball(x, 0.0, arithmetic).sum(1)
    assert np.allclose(last.radius, whole.radius, rtol=1e-6)
    bound = np.cumprod(Ball(np.abs(x[:, :30]) + 0.5, 0.0, arithmetic), axis=1)
    found = np.cumprod(np.abs(x[:, :30]) + np.float32(0.5), axis=1, dtype=np.float32)
    assert (np.abs(found - bound.value) <= bound.radius).all()
    assert np.array_equal(np.add.accumulate(Ball(x), axis=1).value, np.cumsum(x.astype(np.float64), axis=1))


def test_the_factors_of_a_product_bring_their_errors() -> None:
    bound = np.prod(as_balls(2, 3, 4, radius=[0.1, 0.1, 0.1]))
    assert bound.radius == pytest.approx(2.1 * 3.1 * 4.1 - 24, rel=1e-5)
    assert np.prod(as_balls(2, 0, 4, radius=[0.0, 0.1, 0.0])).radius == pytest.approx(0.8, rel=1e-5)


def test_the_largest_moves_with_what_may_be_the_largest() -> None:
    x = as_balls(1, 3, 2.9, radius=[0.1, 0.1, 0.5])
    assert x.max().radius == pytest.approx(0.4)
    assert x.min().radius == pytest.approx(0.1)
    assert np.maximum(as_balls(1, radius=0.1), as_balls(5, radius=0.2)).radius == pytest.approx([0.2])
    assert np.maximum(as_balls(-1, radius=0.1), 0).radius.tolist() == [0]
    assert np.fmax(as_balls(NAN, radius=0.0), as_balls(5, radius=0.2)).radius == pytest.approx([0.2])


@pytest.mark.parametrize(("start", "size"), [(1e5, 1.0), (-3e4, 1.0), (1e3, 1e-6)])
def test_a_sum_may_begin_with_what_is_added(start: float, size: float) -> None:
    count = 4096
    a, b = np.random.default_rng(2).normal(size=(2, 8, count)).astype(np.float32)
    a, b = np.abs(a) * np.float32(size), np.abs(b)
    first = np.full((8, 1), start, np.float32)
    found = np.cumsum(np.concatenate([first, a * b], axis=1), axis=1, dtype=np.float32)[:, -1]
    for is_likely in (False, True):
        arithmetic = Arithmetic(is_likely=is_likely)
        sums = product(Ball(a[:, None], 0.0, arithmetic), Ball(b[:, :, None], 0.0, arithmetic))
        later, begun = sums + first[:, :, None], plus_start(sums, first[:, :, None])
        off = np.abs(found - begun.value.reshape(-1))
        assert (off <= begun.radius.reshape(-1) + np.spacing(np.abs(found))).all()
        # What begins with its terms alone has an error of few units in the last place of the start.
        assert (begun.radius > later.radius).all()
        assert (begun.radius <= later.radius + count * 2.0**-24 * abs(start)).all()


def test_errors_of_one_cause_add_up_and_independent_ones_do_as_their_squares() -> None:
    values, radii = np.array([[3.0, -1.0, 2.0, 8.0]]), np.array([[4.0, 2.0, 5.0, 2.0]])  # 49 = 16 + 4 + 25 + 4
    weights = np.array([[1.0], [-2.0], [1.0], [0.5]])
    fine = Arithmetic("FLOAT64", unit_roundoff=2.0**-53)
    for has_one_cause, summed, cumulated, multiplied in (
        (False, 7.0, 20**0.5, (16 + 16 + 25 + 1) ** 0.5),
        (True, 13.0, 6.0, 4 + 4 + 5 + 1),
    ):
        x = Ball(values, radii, fine._replace(has_one_cause=has_one_cause))
        assert radius(total(x, -1)).item() == pytest.approx(summed)
        assert radius(np.cumsum(x, axis=-1))[0, 1] == pytest.approx(cumulated)
        assert radius(total_of_shared(x, lambda each: each.sum(axis=-1), 4)).item() == pytest.approx(summed)
        assert radius(product(x, weights)).item() == pytest.approx(multiplied)


def test_both_factors_of_one_cause_may_be_off_by_all_of_their_errors() -> None:
    fine = Arithmetic("FLOAT64", unit_roundoff=2.0**-53, has_one_cause=True)
    a, b = (Ball(np.full(sizes, 2.0), np.full(sizes, 0.5), fine) for sizes in ((1, 3), (3, 1)))
    assert radius(product(a, b)).item() == pytest.approx(3 * (2.5 * 2.5 - 2 * 2))
