"""The sums and products behind kernels, of arrays, of arrays in blocks and of balls, against fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions import sums
from dmlcheck.reference.results import Approximate

Array = np.ndarray[Any, Any]

anytime = settings(deadline=None)
SHORT = ("FLOAT16", "FLOAT32")
U = Fraction(1, 2**53)

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
cuts = st.lists(st.integers(1, 5), min_size=1, max_size=3)


def rows(*values: Sequence[float]) -> Array:
    return np.array(values, np.float64)


def cut(tensor: Array, sizes: Sequence[int], *, tracked: bool = False) -> Any:
    """Return rows in blocks of these sizes, over and over."""
    indices, start = [], 0
    while start < tensor.shape[1]:
        for size in sizes:
            indices.append((slice(None), slice(start, start + size)))
            start += size
    indices = [index for index in indices if index[1].start < tensor.shape[1]]
    return Blocks(tensor.shape, indices, lambda at: Ball(tensor[at], 0.5) if tracked else tensor[at])


# ---- sums


@pytest.mark.slow
@anytime
@given(st.lists(finite, min_size=1, max_size=30), cuts)
def test_a_total_is_off_by_a_rounding_a_term_in_blocks_too(values: list[float], sizes: list[int]) -> None:
    tensor = rows(values, values[::-1])
    bound = len(values) * U * sum(abs(Fraction(value)) for value in values)
    for x in (tensor, cut(tensor, sizes)):
        found = sums.total(x, (1,))
        assert found.shape == (2, 1)
        assert all(abs(Fraction(value) - oracle.sum_of(values)) <= bound for value in found.reshape(-1).tolist())


def test_a_total_of_tracked_numbers_counts_all_blocks_as_one_sum() -> None:
    tensor = rows([1, -2, 3, -4, 5])
    whole = sums.total(Ball(tensor, 0.5), (1,))
    assert whole.value.tolist() == [[3]]
    assert whole.radius.tolist() == [[pytest.approx(5 * 2.0**-24 * 15 + 0.5 * math.sqrt(5))]]
    for sizes in ([1], [2], [4]):
        found = sums.total(cut(tensor, sizes, tracked=True), (1,))
        assert found.value.tolist() == [[3]]
        assert found.radius.tolist() == [[pytest.approx(whole.radius[0, 0])]]
        assert found.terms == 5


# ---- correctly rounded sums


def rounded(result: Approximate, data_type: str) -> list[float]:
    """Round what a sum says is exact, all of it, and check that its error bounds what the float64 is off by."""
    everywhere = np.arange(result.value.size)
    odd = result.exact(everywhere)
    assert (np.abs(result.value.reshape(-1) - odd) <= result.error.reshape(-1)).all()
    with np.errstate(over="ignore"):
        return list(map(float, odd.astype(oracle.NUMPY[data_type]).tolist()))


moderate = st.one_of(
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([1.0, -1.0, 2.0**-149, 2.0**24, 2.0**-24, 2.0**53, -(2.0**53), 3.0, 2.0**100, -(2.0**100)]),
)


@pytest.mark.slow
@pytest.mark.parametrize("data_type", SHORT)
def test_a_sum_and_a_mean_round_on_as_the_exact_ones(data_type: str) -> None:
    @anytime
    @given(st.lists(st.one_of(finite, moderate), min_size=1, max_size=30))
    def check(values: list[float]) -> None:
        exact = oracle.sum_of(values)
        tensor = rows(values, [-value for value in values])
        for result, right in ((sums.fsum(tensor, (1,)), exact), (sums.fmean(tensor, (1,)), exact / len(values))):
            assert rounded(result, data_type) == [oracle.nearest(sign * right, data_type) for sign in (1, -1)]

    check()


@st.composite
def near_ties(draw: st.DrawFn, data_type: str) -> list[float]:
    """Draw terms whose mean is halfway between two floats, or nearly so."""
    precision = oracle.FLOATS[data_type][0]
    noise = draw(st.lists(st.floats(-100, 100, width=16), max_size=8))
    beside = draw(st.sampled_from([0, 0, 1, -1])) * 2.0 ** -draw(st.integers(10, 149))
    terms = [*noise, beside, *(-value for value in noise)]
    divisor = len(terms) + draw(st.integers(10, 60))
    total = (2 * draw(st.integers(2 ** (precision - 1), 2**precision - 1)) + 1) * divisor * Fraction(2) ** -6
    while total:
        terms.append(oracle.nearest(total, "FLOAT32"))
        total -= Fraction(terms[-1])
    return draw(st.permutations([*terms, *[0.0] * (divisor - len(terms))]))


@pytest.mark.slow
@pytest.mark.parametrize("data_type", SHORT)
def test_a_mean_next_to_halfway_is_settled(data_type: str) -> None:
    @anytime
    @given(near_ties(data_type))
    def check(terms: list[float]) -> None:
        found = rounded(sums.fmean(rows(terms), (1,)), data_type)
        assert found == [oracle.nearest(oracle.sum_of(terms) / len(terms), data_type)]

    check()


@pytest.mark.slow
@anytime
@given(st.lists(finite, min_size=2, max_size=20))
def test_a_sum_of_squares_rounds_on_as_the_exact_one(values: list[float]) -> None:
    tensor = rows(values)
    assert rounded(sums.fsum(tensor * tensor, (1,)), "FLOAT32") == [
        oracle.nearest(oracle.squares_of(values), "FLOAT32")
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0**127, 2.0**-126, -(2.0**127)], 2.0**-126),
        ([1, -(2.0**-60), -1], -(2.0**-60)),
        ([2.0**60, 1, -(2.0**60) + 2.0**40], 2.0**40 + 1),
        ([1, 2, 3], 6),
        ([1, -1, 0], 0),
        ([math.inf, 1, 2], math.inf),
        ([math.inf, -math.inf, 2], math.nan),
    ],
)
def test_what_terms_leave_of_each_other_is_not_lost(values: list[float], expected: float) -> None:
    with np.errstate(invalid="ignore"):
        found = sums.ftotal(rows([4, 5, 6], values), (1,))
    assert oracle.same(found.reshape(-1).tolist(), [15, expected])


def test_what_terms_leave_of_each_other_is_not_lost_in_an_array_of_any_memory_order() -> None:
    terms = np.asfortranarray(np.broadcast_to([2.0**60, 1, 2.0**40 - 2.0**60], (3, 2, 3)))
    assert np.array_equal(sums.ftotal(terms, (2,)), np.full((3, 2, 1), 2.0**40 + 1))


def test_a_sum_with_an_infinity_has_no_finite_error() -> None:
    for value in (math.inf, -math.inf, math.nan):
        assert not np.isfinite(sums.fsum(rows([1, value]), (1,)).error).any()


def test_sums_in_blocks_and_of_tracked_numbers_are_plain() -> None:
    assert isinstance(sums.fsum(cut(rows([1, 2, 3]), [2]), (1,)), np.ndarray)
    assert isinstance(sums.fmean(Ball(rows([1, 2, 3])), (1,)), Ball)
    assert sums.fmean(cut(rows([1, 2, 6]), [2]), (1,)).tolist() == [[3]]


# ---- what is left beside 1


@pytest.mark.parametrize(
    ("powers", "expected"),
    [
        ([1.0], 0.0),
        ([1.0, 0.0], 0.0),
        ([1.0, 1e-30, 2e-30], 3e-30),
        ([1e-300, 1.0], 1e-300),
        ([1.0, 1.0, 1e-20], 1.0),
        ([0.25, 1.0, 0.5], 0.75),
        ([math.nan, 1.0], math.nan),
    ],
)
def test_what_other_powers_add_to_1_is_not_lost_in_it(powers: list[float], expected: float) -> None:
    tensor = rows(powers, [1.0] * len(powers))
    for x in (tensor, cut(tensor, [1]), cut(tensor, [2, 1])):
        found = sums.total_less_1(x, (1,))
        assert found.tolist() == [[pytest.approx(expected, rel=1e-14, abs=0, nan_ok=True)], [len(powers) - 1]]
    tracked = sums.total_less_1(Ball(tensor), (1,))
    assert tracked.value[0, 0] == pytest.approx(expected, rel=1e-14, abs=0, nan_ok=True)


def test_an_implementation_adds_other_powers_to_1_and_may_lose_them() -> None:
    tensor = rows([1.0, *[1e-9] * 99])
    for x in (Ball(tensor), cut(tensor, [7], tracked=True)):
        assert sums.total_less_1(x, (1,)).radius >= 99 * 2.0**-24


# ---- products


@pytest.mark.slow
@anytime
@given(st.lists(finite, min_size=1, max_size=40), cuts)
def test_products_are_off_by_one_rounding_a_factor(values: list[float], sizes: list[int]) -> None:
    exact = math.prod(map(Fraction, values))
    for x in (rows(values), cut(rows(values), sizes)):
        with np.errstate(over="ignore", under="ignore"):
            found = float(sums.product(x, (1,))[0, 0])
        if abs(exact) >= Fraction(2) ** 1024:
            assert found == math.copysign(math.inf, 1 if exact > 0 else -1)
        elif abs(exact) < Fraction(2) ** -1022:
            assert abs(found) <= 2.0**-1022
        else:
            assert abs(Fraction(found) - exact) <= len(values) * U * abs(exact)


@pytest.mark.parametrize("width", [1, 2, 499, 500, 501, 1000, 1001, 1499, 250_001])
def test_products_of_every_width_take_every_factor(width: int) -> None:
    """One 3 among factors that leave nothing, at each place that a cut could lose."""
    places = sorted({place for place in (0, 1, width // 2, 499, 500, width - 1) if place < width})
    tensor = np.ones((len(places), width))
    tensor[:, : width // 2 * 2 : 2], tensor[:, 1::2] = 2.0**100, 2.0**-100
    tensor[range(len(places)), places] *= 3
    assert sums.product(tensor, (1,)).reshape(-1).tolist() == [3.0] * len(places)


@pytest.mark.parametrize("sizes", [[], [1]])
def test_a_product_has_the_radii_of_its_factors(sizes: list[int]) -> None:
    """(2 + 0.5) * (3 + 0.25) * 4 is 32.5, 8.5 above 24, which the product of the centres is; then 2 roundings."""
    x = Ball(np.array([[-2.0, 3.0, 4.0]]), np.array([[0.5, 0.25, 0.0]]))
    found = sums.product(cut(x, sizes) if sizes else x, (1,))
    assert found.value.tolist() == [[-24]]
    assert found.radius.item() == pytest.approx(8.5 + 32.5 * 2 * 2.0**-24, rel=1e-9)


@pytest.mark.parametrize(("is_likely", "roundings"), [(False, 999), (True, 6 * math.sqrt(999))])
def test_a_product_of_tracked_numbers_is_rounded_a_factor_less_than_it_has(is_likely: bool, roundings: float) -> None:
    x = Ball(np.full((1, 1000), 1.5), 0.0, Arithmetic(is_likely=is_likely))
    small = Ball(np.array([[2.0**-100, 2.0**-40]]))
    with np.errstate(over="ignore"):
        found = sums.product(x, (1,))
    assert found.value == pytest.approx(1.5**1000)
    assert found.radius / found.value == pytest.approx(roundings * 2.0**-24, rel=1e-4)
    assert found.terms == 1000
    assert sums.product(small, (1,)).radius == pytest.approx(2.0**-126, rel=1e-4)  # denormals are less exact, or 0
    assert sums.product(small, ()).radius.tolist() == [[0, 0]]


# ---- variances


def test_the_bound_of_the_variance_has_the_cancelling_way_to_compute_it() -> None:
    x = Ball(np.array([[4096.0, 4097, 4098, 4100], [1, -1, 1, -1]]), 0.0, Arithmetic())
    found = sums.variance(x, sums.mean(x, (1,)), (1,))
    assert found.value.reshape(-1) == pytest.approx([2.1875, 1], abs=1e-6)
    # The squares have 25 bits: each is off by 1 or 2 of 2^24, and so is their mean.
    assert 2 <= found.radius[0, 0] <= 20
    assert found.radius[1, 0] <= 32 * 2.0**-24


# ---- progressions


@pytest.mark.parametrize("is_likely", [False, True])
def test_a_progression_has_a_bound_that_grows_with_its_steps(is_likely: bool) -> None:
    places = np.array([0.0, 1, 2, 10])
    assert sums.progression(places, 3, -0.5).tolist() == [3, 2.5, 2, -2]
    found = sums.progression(Ball(places, 0.0, Arithmetic(is_likely=is_likely)), 3, -0.5)
    assert found.value.tolist() == [3, 2.5, 2, -2]
    sizes = [3.5, 4, 8]  # |start| + |i * delta|
    assert found.radius.tolist() == [0, *((i + 1) * 2.0**-24 * size for i, size in zip((1, 2, 10), sizes, strict=True))]
