"""The sums, products and exact values behind the reductions, against fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dmlcheck.reference.kernels import _sums
from dmlcheck.reference.kernels._blocks import Rows

Array = np.ndarray[Any, Any]

anytime = settings(deadline=None)
SHORT = ("FLOAT16", "FLOAT32")
U = Fraction(1, 2**53)

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
moderate = st.one_of(
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([1.0, -1.0, 2.0**-149, 2.0**24, 2.0**-24, 2.0**53, -(2.0**53), 3.0, 2.0**100, -(2.0**100)]),
)


def whole(values: Sequence[Any], dtype: str = "float32") -> Rows:
    """Return one row that comes in one chunk."""
    return chunked([values], dtype)


def chunked(parts: Sequence[Sequence[Any]], dtype: str = "float32") -> Rows:
    """Return one row that comes in these chunks."""
    chunks = []
    start = 0
    for part in parts:
        chunks.append((start, np.array([part], dtype=dtype)))
        start += len(part)
    return Rows(start, lambda: iter(chunks))


def cut(values: Sequence[Any], sizes: Sequence[int]) -> list[Sequence[Any]]:
    """Cut a list into parts of the given sizes, over and over."""
    parts = []
    start = 0
    while start < len(values):
        for size in sizes:
            parts.append(values[start : start + size])
            start += size
    return [part for part in parts if len(part)]


cuts = st.lists(st.integers(1, 5), min_size=1, max_size=3)


# ---- sums


@anytime
@given(st.lists(finite, min_size=1, max_size=40))
def test_a_tree_sum_is_off_by_one_rounding_a_level(values: list[float]) -> None:
    found = _sums.tree_sum(np.array([values, values[::-1]]))
    bound = (len(values) - 1).bit_length() * U * sum(abs(Fraction(value)) for value in values) * (1 + 2**-40)
    for result in found.tolist():
        assert abs(Fraction(result) - oracle.sum_of(values)) <= bound


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 31, 1000, 4097])
def test_a_tree_sum_counts_every_element_once(count: int) -> None:
    terms = np.arange(3 * count, dtype=np.float64).reshape(3, count) ** 2
    assert _sums.tree_sum(terms.copy()).tolist() == [sum(map(int, row)) for row in terms.tolist()]


@anytime
@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_two_sum_gives_the_rounded_sum_and_its_exact_error(a: float, b: float) -> None:
    total, error = _sums.two_sum(np.array([a]), np.array([b]))
    assert total[0] == a + b
    assert Fraction(float(total[0])) + Fraction(float(error[0])) == Fraction(a) + Fraction(b)


TERMS = {"identity": (_sums.identity, Fraction), "square": (_sums.square, lambda x: Fraction(x) ** 2)}


@anytime
@given(st.lists(moderate, min_size=1, max_size=30), cuts, st.sampled_from(sorted(TERMS)))
def test_adding_up_in_chunks_keeps_the_rounding_errors(values: list[float], sizes: list[int], name: str) -> None:
    term, exact = TERMS[name]
    found = Fraction(float(_sums.add_up(chunked(cut(values, sizes)), term)[0]))
    terms = [exact(value) for value in values]
    # Each chunk of up to 5 terms is rounded 3 times; the chunks together twice more.
    assert abs(found - sum(terms)) <= 6 * U * sum(map(abs, terms))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([[math.inf], [1.0], [2.0]], math.inf),
        ([[1.0], [math.inf], [2.0]], math.inf),
        ([[1.0], [-math.inf], [-math.inf]], -math.inf),
        ([[math.inf], [1.0], [-math.inf]], math.nan),
        ([[1.0], [math.nan]], math.nan),
        ([[1e38], [1.0], [-1e38], [2.0]], 3.0),
    ],
)
def test_adding_up_in_chunks_is_ieee_about_infinities(parts: list[list[float]], expected: float) -> None:
    with np.errstate(invalid="ignore"):
        assert oracle.same(_sums.add_up(chunked(parts), _sums.identity).tolist(), [expected])


@anytime
@given(st.lists(finite, min_size=1, max_size=50), st.sampled_from(sorted(TERMS)))
def test_the_bound_of_a_sums_error_holds(values: list[float], name: str) -> None:
    term, exact = TERMS[name]
    rows = whole(values)
    error = Fraction(float(_sums.sum_error(rows, term)[0]))
    found = Fraction(float(_sums.add_up(rows, term)[0]))
    assert abs(found - sum(exact(value) for value in values)) <= error


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_sum_with_an_infinity_or_nan_has_no_error(value: float) -> None:
    assert _sums.sum_error(whole([1.0, value, 2.0]), _sums.identity).tolist() == [0]


# ---- rounding to odd


def odd(value: Fraction) -> float:
    """Round to odd: to the float64 itself, or to that neighbour whose last bit is 1."""
    near = float(value)
    if Fraction(near) == value:
        return near
    other = math.nextafter(near, math.inf if value > Fraction(near) else -math.inf)
    (result,) = (number for number in (near, other) if pattern(number) & 1)
    return result


def pattern(value: float) -> int:
    """Return the bits of a float64."""
    return int(np.array([value]).view(np.uint64)[0])


@anytime
@given(st.floats(-1e30, 1e30), st.floats(-1e30, 1e30))
def test_to_odd_is_the_sum_itself_or_the_odd_neighbour(a: float, b: float) -> None:
    value, rest = _sums.two_sum(np.array([a]), np.array([b]))
    assert _sums.to_odd(value, rest).tolist() == [odd(Fraction(a) + Fraction(b))]


@anytime
@given(st.fractions(), st.integers(-200, 200))
def test_odd_float_is_the_number_itself_or_the_odd_neighbour(value: Fraction, power: int) -> None:
    value *= Fraction(2) ** power
    assert _sums.odd_float(value) == odd(value)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 0.0])
def test_odd_float_leaves_floats_alone(value: float) -> None:
    assert oracle.same([_sums.odd_float(value)], [value])


@st.composite
def near_ties(draw: st.DrawFn, data_type: str) -> Fraction:
    """Draw a number on, or ever so slightly beside, a float of the type or the middle between two."""
    precision, least, most, _ = oracle.FLOATS[data_type]
    units = draw(st.integers(0, 2 ** (precision + 1)))
    power = draw(st.integers(least - precision, most - precision))
    beside = draw(st.sampled_from([0, 1, -1])) * Fraction(2) ** -draw(st.integers(30, 300))
    return draw(st.sampled_from([1, -1])) * (units + beside) * Fraction(2) ** power


@pytest.mark.parametrize("data_type", SHORT)
def test_a_number_rounded_to_odd_rounds_on_as_the_number_itself(data_type: str) -> None:
    @anytime
    @given(near_ties(data_type))
    def check(value: Fraction) -> None:
        shorter = np.array([_sums.odd_float(value)]).astype(oracle.NUMPY[data_type])
        assert shorter.tolist() == [oracle.nearest(value, data_type)]

    with np.errstate(over="ignore"):
        check()


# ---- exact sums and means


@anytime
@given(st.lists(finite, min_size=1, max_size=30))
def test_the_exact_sum_is_right_to_106_bits(values: list[float]) -> None:
    total = oracle.sum_of(values)
    found = _sums.exact_sum(values)
    assert float(found) == float(total)
    rest = total - Fraction(float(total))
    assert abs(found - total) <= abs(rest) * U
    assert (found > Fraction(float(total))) == (rest > 0)


@st.composite
def means(draw: st.DrawFn, data_type: str) -> tuple[list[float], int]:
    """Draw a divisor and terms whose sum over it is halfway between floats, or nearly so."""
    precision = oracle.FLOATS[data_type][0]
    divisor = draw(st.integers(1, 65_536))
    power = draw(st.integers(-10, 3))
    total = (2 * draw(st.integers(2 ** (precision - 1), 2**precision - 1)) + 1) * divisor * Fraction(2) ** power
    noise = draw(st.lists(st.floats(-100, 100, width=16), max_size=8))
    beside = draw(st.sampled_from([0, 0, 1, -1])) * 2.0 ** -draw(st.integers(10, 149))
    terms = [*noise, beside, *(-value for value in noise)]
    while total:
        terms.append(oracle.nearest(total, "FLOAT32"))
        total -= Fraction(terms[-1])
    return draw(st.permutations(terms)), divisor


@pytest.mark.parametrize("data_type", SHORT)
def test_an_exact_mean_rounds_on_as_the_mean_itself(data_type: str) -> None:
    @anytime
    @given(means(data_type))
    def check(drawn: tuple[list[float], int]) -> None:
        terms, divisor = drawn
        rows = Rows(len(terms), lambda: iter([(0, np.array([[0.0] * len(terms), terms], dtype=np.float32))]))
        found = _sums.exact_mean(rows, _sums.identity, divisor, np.array([1])).astype(oracle.NUMPY[data_type])
        assert found.tolist() == [oracle.nearest(oracle.sum_of(terms) / divisor, data_type)]

    with np.errstate(over="ignore"):
        check()


@anytime
@given(st.lists(finite, min_size=2, max_size=20), st.integers(1, 65_536))
def test_an_exact_mean_of_squares_rounds_on_as_the_mean_itself(values: list[float], divisor: int) -> None:
    assume(all(abs(value) < 1e18 for value in values))
    found = _sums.exact_mean(whole(values), _sums.square, divisor, np.array([0])).astype(np.float32)
    assert found.tolist() == [oracle.nearest(oracle.squares_of(values) / divisor, "FLOAT32")]


def test_exact_means_come_in_the_order_that_is_asked_for() -> None:
    block = np.arange(12, dtype=np.float32).reshape(4, 3)
    rows = Rows(3, lambda: iter([(0, block)]))
    assert _sums.exact_mean(rows, _sums.identity, 1, np.array([3, 0, 2])).tolist() == [30, 3, 21]


def test_exactly_computes_the_rows_that_are_asked_for() -> None:
    block = np.arange(12, dtype=np.float32).reshape(4, 3)
    function = _sums.exactly(Rows(3, lambda: iter([(0, block)])), lambda row: Fraction(max(row)))
    assert function(np.array([2, 0])).tolist() == [8, 2]


# ---- roots, logarithms, products


@anytime
@given(st.fractions(min_value=0), st.integers(-600, 600))
def test_the_exact_root_is_on_the_side_of_the_root_of_every_float(value: Fraction, power: int) -> None:
    value *= Fraction(2) ** power
    root = _sums.exact_sqrt(value)
    near = Fraction(math.isqrt(int(value * 4**700)), 2**700)
    for bits in (11, 12, 24, 25, 53, 54):
        if not near:
            break
        unit = Fraction(2) ** (oracle.floor_log2(near) - bits + 1)
        for candidate in (near // unit * unit, near // unit * unit + unit):
            assert (root > candidate) == (value > candidate**2)
            assert (root < candidate) == (value < candidate**2)


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0), (1, 1), (4, 2), (Fraction(9, 16), Fraction(3, 4)), (2**400, 2**200)]
)
def test_the_exact_root_of_a_square_is_exact(value: Fraction, expected: Fraction) -> None:
    assert _sums.exact_sqrt(Fraction(value)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, -math.inf), (-1, math.nan), (Fraction(-1, 10**30), math.nan), (1, 0.0)],
)
def test_the_exact_log_at_the_edges_of_its_domain(value: Fraction, expected: float) -> None:
    assert oracle.same([_sums.exact_log(Fraction(value))], [expected])


@pytest.mark.parametrize(
    ("value", "digits"),
    [
        (
            Fraction(2),
            "0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418",
        ),
        (
            Fraction(10),
            "2.302585092994045684017991454684364207601101488628772976033327900967572609677352480235997205089598",
        ),
    ],
)
def test_the_exact_log_has_a_hundred_digits(value: Fraction, digits: str) -> None:
    assert abs(_sums.exact_log(value) - Fraction(digits)) < Fraction(1, 10**95)


def test_the_exact_log_keeps_its_digits_near_1() -> None:
    """log(1 + x) = x - x^2/2 + x^3/3 - ..."""
    x = Fraction(1, 2**149)
    assert abs(_sums.exact_log(1 + x) / (x - x**2 / 2 + x**3 / 3) - 1) < Fraction(1, 10**70)


@pytest.mark.parametrize(
    ("terms", "shift"),
    [([0.0, 0.0], 0), ([1000.0, 1000.0], 1000), ([-1e38, -1e38], -1e38), ([5.0, 5.0, -math.inf], 5)],
)
def test_exact_log_sum_exp_of_two_equal_terms_adds_log_2(terms: list[float], shift: float) -> None:
    log_2 = Fraction(Context(prec=110).ln(Decimal(2)))
    assert abs(_sums.exact_log_sum_exp(terms) - Fraction(shift) - log_2) < Fraction(1, 10**95)


@anytime
@given(st.lists(finite, min_size=1, max_size=20))
def test_the_exact_product_is_exact(values: list[float]) -> None:
    assert _sums.exact_product(values) == math.prod(map(Fraction, values))


@anytime
@given(st.lists(finite, min_size=1, max_size=40), cuts)
def test_products_are_off_by_one_rounding_a_factor(values: list[float], sizes: list[int]) -> None:
    exact = math.prod(map(Fraction, values))
    found = float(_sums.multiply_up(chunked(cut(values, sizes)))[0])
    if abs(exact) >= Fraction(2) ** 1024:
        assert found == math.copysign(math.inf, 1 if exact > 0 else -1)
    elif abs(exact) < Fraction(2) ** -1022:
        assert abs(found) <= 2.0**-1022
    else:
        assert abs(Fraction(found) - exact) <= len(values) * U * abs(exact)


@pytest.mark.parametrize("width", [1, 2, 499, 500, 501, 1000, 1001, 1499])
def test_products_of_every_width_take_every_factor(width: int) -> None:
    """One 3 among ones, at each place that a cut could lose."""
    rows = np.ones((width, width) if width < 5 else (6, width), dtype=np.float32)
    places = [0, 1, width // 2, min(499, width - 1), min(500, width - 1), width - 1][: len(rows)]
    for row, place in enumerate(places):
        rows[row, place] = 3
    found = _sums.multiply_up(Rows(width, lambda: iter([(0, rows)])))
    assert found.tolist() == [3.0 if (row == 3).any() else 1.0 for row in rows]
    assert 3 in found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 5.0], 0.0),
        ([0.0, math.inf], math.nan),
        ([math.inf, -2.0], -math.inf),
        ([math.nan, 0.0], math.nan),
        ([1e38] * 9, math.inf),
        ([1e-38] * 9, 0.0),
    ],
)
def test_products_of_special_values(values: list[float], expected: float) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        for parts in ([values], [[value] for value in values]):
            assert oracle.same(_sums.multiply_up(chunked(parts)).tolist(), [expected])


# ---- integers


INTEGER_TERMS: dict[str, tuple[Callable[[Array], Array], Callable[[int], int]]] = {
    "identity": (_sums.identity, int),
    "square": (_sums.square, lambda x: x * x),
    "magnitude": (np.abs, abs),
}


@pytest.mark.parametrize("data_type", ["INT8", "UINT8", "INT32", "UINT32", "INT64", "UINT64"])
@pytest.mark.parametrize("name", INTEGER_TERMS)
def test_integer_sums_wrap_modulo_2_to_the_64(name: str, data_type: str) -> None:
    term, exact = INTEGER_TERMS[name]
    signed = data_type in oracle.SIGNED
    bits = oracle.SIGNED[data_type] if signed else oracle.UNSIGNED[data_type]
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)

    @anytime
    @given(st.lists(st.one_of(st.integers(low, high), st.sampled_from([low, high])), min_size=1, max_size=12), cuts)
    def check(values: list[int], sizes: list[int]) -> None:
        wide = "INT64" if signed else "UINT64"
        found = _sums.wrap_sum(chunked(cut(values, sizes), oracle.NUMPY[data_type]), term)
        assert found.tolist() == [oracle.wrapped(sum(map(exact, values)), wide)]
        product = _sums.wrap_product(chunked(cut(values, sizes), oracle.NUMPY[data_type]))
        assert product.tolist() == [oracle.wrapped(math.prod(values), wide)]

    check()
