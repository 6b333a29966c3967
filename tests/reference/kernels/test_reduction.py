"""REDUCE, ARGMAX, ARGMIN, HARDMAX and HARDMAX1 against the oracle, what is undefined, and their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import oracle
import pytest
from elements import refused
from grouped import blocks_of, bound, computed, marks
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dmlcheck.reference.arrays import blocks

Array = np.ndarray[Any, Any]

FLOATS = ("FLOAT16", "FLOAT32")
INTEGERS = oracle.INTEGERS
WIDE_INTEGERS = ("INT32", "INT64", "UINT32", "UINT64")
INDEX_TYPES = ("INT32", "INT64", "UINT32", "UINT64")
FUNCTION_TYPES: dict[str, tuple[str, ...]] = {
    "ARGMAX": INTEGERS,
    "ARGMIN": INTEGERS,
    "AVERAGE": (),
    "L1": WIDE_INTEGERS,
    "L2": (),
    "LOG_SUM": (),
    "LOG_SUM_EXP": (),
    "MAX": INTEGERS,
    "MIN": INTEGERS,
    "MULTIPLY": WIDE_INTEGERS,
    "SUM": WIDE_INTEGERS,
    "SUM_SQUARE": WIDE_INTEGERS,
}
IGNORES_NAN = ("ARGMAX", "ARGMIN", "MAX", "MIN")
SUMS = ("AVERAGE", "L1", "SUM", "SUM_SQUARE")
ROUNDED_ONCE = (*IGNORES_NAN, *SUMS)
FUNCTIONS = tuple(FUNCTION_TYPES)
FLOAT64 = tuple(function for function in FUNCTIONS if function not in ROUNDED_ONCE)
INTEGER_FUNCTIONS = tuple(function for function, types in FUNCTION_TYPES.items() if types)

thorough = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
quick = settings(thorough, max_examples=50)


# ---- running


def reduced(
    function: str, tensor: Array, data_type: str, axes: Sequence[int], out_type: str | None = None
) -> list[Any]:
    """Return the elements that REDUCE computes, which must have the sizes and the type that the desc gives them."""
    out_type = out_type or ("UINT32" if function in ("ARGMAX", "ARGMIN") else data_type)
    output = computed("REDUCE", tensor, out_type, Function=function, Axes=list(axes))
    assert output.shape == tuple(oracle.reduced_sizes(tensor.shape, axes))
    assert output.dtype == np.dtype(oracle.NUMPY[out_type])
    return oracle.flatten(output.tolist())


def array(values: Sequence[Any], data_type: str, sizes: Sequence[int] | None = None) -> Array:
    """Return a tensor of these elements, none of which its data type may change."""
    tensor = np.array(values, dtype=oracle.NUMPY[data_type])
    assert oracle.same(tensor.reshape(-1).tolist(), values)
    return tensor if sizes is None else tensor.reshape(sizes)


def row(function: str, values: Sequence[Any], data_type: str) -> Any:
    """Return what REDUCE makes of one row."""
    (result,) = reduced(function, array(values, data_type, (1, len(values))), data_type, [1])
    return result


def assert_close(function: str, values: Sequence[float], data_type: str, found: float) -> None:
    """Assert that a result is what the function rounds to, but for what float64 may be off by: 2^-45 of its terms."""
    radius = Fraction(1, 2**45)
    if not all(map(math.isfinite, values)):
        assert oracle.same([found], [oracle.reduce_terms(function, values, data_type)])
        return
    if function == "L2":
        total = oracle.squares_of(values)
        below, above = (oracle.nearest_root(total * (1 + sign * radius), data_type) for sign in (-1, 1))
    elif function == "LOG_SUM":
        total, error = oracle.sum_of(values), radius * oracle.sum_of(map(abs, values))
        if abs(total) <= error:  # the sum is 0, or may be: its logarithm may be anything
            assert total != 0 or error != 0 or found == -math.inf
            return
        below, above = (_logarithm(total + sign * error, sign, data_type) for sign in (-1, 1))
    elif function == "LOG_SUM_EXP":
        total = Fraction(oracle.log_sum_exp(values, "FLOAT64"))
        error = radius * (1 + abs(total))
        below, above = (oracle.nearest(total + sign * error, data_type) for sign in (-1, 1))
    else:
        exact = oracle.exact(function, values)
        magnitude = {"MULTIPLY": lambda: abs(exact), "SUM_SQUARE": lambda: exact}.get(
            function, lambda: oracle.exact("L1", values) / (len(values) if function == "AVERAGE" else 1)
        )()
        below, above = (oracle.nearest(exact + sign * radius * magnitude, data_type) for sign in (-1, 1))
    assert below <= found <= above or (math.isnan(below) and math.isnan(found))


def _logarithm(total: Fraction, sign: int, data_type: str) -> float:
    value = oracle.log_of(total, "FLOAT64")
    if math.isnan(value):
        return value
    return oracle.nearest(Fraction(value) + sign * Fraction(1, 2**45) * abs(Fraction(value)), data_type)


# ---- strategies


def extremes(data_type: str) -> list[float]:
    """Numbers at the limits of a float format, and around 1."""
    precision, least, most, _ = oracle.FLOATS[data_type]
    magnitudes = [
        0.0,
        2.0 ** (least - precision + 1),
        2.0**least - 2.0 ** (least - precision + 1),
        2.0**least,
        1 - 2.0**-precision,
        1.0,
        1 + 2.0 ** (1 - precision),
        2.0**precision - 1,
        2.0**precision,
        2.0 ** (most + 1) - 2.0 ** (most + 1 - precision),
        math.inf,
    ]
    return [sign * magnitude for magnitude in magnitudes for sign in (1, -1)]


@st.composite
def ladders(draw: st.DrawFn, data_type: str) -> list[float]:
    """A few multiples of powers of two whose distances make sums end halfway between floats, or just beside it."""
    precision, least, most, _ = oracle.FLOATS[data_type]
    top = draw(st.one_of(st.just(0), st.integers(least, most - 2)))
    steps = (0, 1, precision - 1, precision, precision + 1, 2 * precision, 52, 53, 54, 100, 149)
    rungs = draw(st.lists(st.tuples(st.sampled_from(steps), st.sampled_from((1, -1, 3, -3))), min_size=1, max_size=6))
    return [oracle.nearest(factor * Fraction(2) ** (top - step), data_type) for step, factor in rungs]


def short(data_type: str) -> st.SearchStrategy[float]:
    """Numbers of about half a significand, whose products end halfway now and then."""
    precision = oracle.FLOATS[data_type][0]
    return st.builds(
        lambda factor, power: oracle.nearest(factor * Fraction(2) ** power, data_type),
        st.integers(1, 2 ** (precision // 2 + 1)),
        st.sampled_from((0, 0, -1, -precision, precision // 2)),
    )


# Strategies that are built once are validated once, which takes longer than to draw from them.
whole = cache(st.integers)
octets = cache(lambda count: st.binary(min_size=count, max_size=count))
orders = cache(lambda rank: st.permutations(range(rank)))
subsets = cache(lambda rank: st.lists(st.integers(0, rank - 1), unique=True))


@cache
def float_palettes(data_type: str) -> st.SearchStrategy[list[float] | None]:
    """A few numbers of a float format, NaN among them, some that tie, cancel or nearly do; or None for any at all."""
    number = st.one_of(
        st.integers(0, 2 ** (8 * size_of(data_type)) - 1).map(lambda bits: oracle.from_bits(bits, data_type)),
        short(data_type),
        st.sampled_from(extremes(data_type)),
    )
    mirrored = st.lists(number, min_size=1, max_size=4).map(lambda numbers: [*numbers, *(-n for n in numbers)])
    steps = ladders(data_type)
    return st.one_of(
        st.none(),
        st.lists(number, min_size=1, max_size=8),
        mirrored,
        steps,
        steps.map(lambda numbers: [*numbers, *(-n for n in numbers)]),
    )


@cache
def integer_palettes(data_type: str) -> st.SearchStrategy[list[int] | None]:
    """A few integers, some at the limits of the type or where floats skip integers; or None for any at all."""
    low, high = integer_range(data_type)
    edges = [low, low + 1, high, high - 1, 0, 1, high // 2, 2**24 + 1, 2**53, 2**53 + 1, 2**53 - 1, -(2**53) - 1, -1]
    number = st.one_of(
        st.integers(low, high),
        st.integers(max(low, -3), 3),
        st.sampled_from([edge for edge in edges if low <= edge <= high]),
    )
    return st.one_of(st.none(), st.lists(number, min_size=1, max_size=8))


def elements(draw: st.DrawFn, data_type: str, count: int) -> list[Any]:
    """Draw the elements of a tensor: from a palette, or by their bits. All NaN are the same, quiet one."""
    palette = draw((float_palettes if data_type in FLOATS else integer_palettes)(data_type))
    if palette is None:
        drawn = draw(octets(count * size_of(data_type)))
        numbers = np.frombuffer(drawn, dtype=oracle.NUMPY[data_type]).tolist()
    else:
        numbers = [palette[choice % len(palette)] for choice in draw(octets(count))]
    return [math.nan if number != number else number for number in numbers]  # noqa: PLR0124 - NaN is not itself


def size_of(data_type: str) -> int:
    """Return the size of an element in bytes."""
    return np.dtype(oracle.NUMPY[data_type]).itemsize


def integer_range(data_type: str) -> tuple[int, int]:
    """Return the least and the largest number of an integer type."""
    if data_type in oracle.UNSIGNED:
        return 0, 2 ** oracle.UNSIGNED[data_type] - 1
    half = 2 ** (oracle.SIGNED[data_type] - 1)
    return -half, half - 1


def shapes(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw the sizes of a tensor of 1 to 8 dimensions and up to 48 elements, and any of its axes in any order."""
    rank = draw(whole(1, 8))
    sizes = []
    room = 48
    for _ in range(rank):
        sizes.append(draw(whole(1, min(room, 7))))
        room //= sizes[-1]
    return [sizes[axis] for axis in draw(orders(rank))], draw(subsets(rank))


LAYOUTS = {
    "packed": np.ascontiguousarray,
    "transposed": np.asfortranarray,
    "backwards": lambda tensor: np.ascontiguousarray(tensor[::-1])[::-1],
    "spread": lambda tensor: np.repeat(tensor, 2, axis=-1)[..., ::2],
}


layouts = st.sampled_from(sorted(LAYOUTS))


@st.composite
def tensors(draw: st.DrawFn, data_type: str, *, may_have_nan: bool = False) -> tuple[Array, list[int]]:
    """Draw a tensor in some memory layout, and axes."""
    sizes, axes = shapes(draw)
    numbers = elements(draw, data_type, math.prod(sizes))
    if not may_have_nan:
        numbers = [0 if number != number else number for number in numbers]  # noqa: PLR0124 - NaN is not itself
    layout = LAYOUTS[draw(layouts)]
    return layout(array(numbers, data_type, sizes)), axes


# ---- every function, data type, rank and set of axes


@pytest.mark.slow
@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("function", ROUNDED_ONCE)
def test_sums_and_extremes_of_floats_are_rounded_once(function: str, data_type: str) -> None:
    @thorough
    @given(tensors(data_type, may_have_nan=function in SUMS))
    def check(drawn: tuple[Array, list[int]]) -> None:
        tensor, axes = drawn
        found = reduced(function, tensor, data_type, axes)
        assert oracle.same(found, oracle.reduce(function, tensor.tolist(), tensor.shape, axes, data_type))

    check()


@pytest.mark.slow
@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("function", FLOAT64)
def test_other_functions_of_floats_are_off_by_what_float64_is(function: str, data_type: str) -> None:
    @thorough
    @given(tensors(data_type, may_have_nan=True))
    def check(drawn: tuple[Array, list[int]]) -> None:
        tensor, axes = drawn
        flat = oracle.flatten(tensor.tolist())
        found = reduced(function, tensor, data_type, axes)
        for result, group in zip(found, oracle.groups(tensor.shape, axes), strict=True):
            assert_close(function, [flat[place] for place in group], data_type, result)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("function", INTEGER_FUNCTIONS)
def test_functions_of_integers_are_exact_and_wrap(function: str) -> None:
    @thorough
    @given(st.data())
    def check(data: st.DataObject) -> None:
        data_type = data.draw(st.sampled_from(FUNCTION_TYPES[function]))
        tensor, axes = data.draw(tensors(data_type))
        found = reduced(function, tensor, data_type, axes)
        assert found == oracle.reduce(function, tensor.tolist(), tensor.shape, axes, data_type)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["INCREASING", "DECREASING"])
@pytest.mark.parametrize("operator", ["ARGMAX", "ARGMIN"])
def test_the_axis_direction_decides_between_equal_elements(operator: str, direction: str) -> None:
    @thorough
    @given(st.data())
    def check(data: st.DataObject) -> None:
        data_type = data.draw(st.sampled_from((*FLOATS, *INTEGERS)))
        out_type = data.draw(st.sampled_from(INDEX_TYPES))
        tensor, axes = data.draw(tensors(data_type))
        found = computed(operator, tensor, out_type, Axes=axes, AxisDirection=direction)
        expected = oracle.argument(
            tensor.tolist(), tensor.shape, axes, largest=operator == "ARGMAX", last=direction == "DECREASING"
        )
        assert oracle.flatten(found.tolist()) == expected

    check()


@pytest.mark.parametrize("data_type", FLOATS)
def test_hardmax1_marks_the_first_largest_element_of_each_group(data_type: str) -> None:
    @thorough
    @given(tensors(data_type))
    def check(drawn: tuple[Array, list[int]]) -> None:
        tensor, axes = drawn
        found = computed("ACTIVATION_HARDMAX1", tensor, Axes=axes)
        assert oracle.flatten(found.tolist()) == oracle.hardmax1(tensor.tolist(), tensor.shape, axes)

    check()


@pytest.mark.parametrize("data_type", FLOATS)
def test_hardmax_marks_the_first_largest_element_of_each_row(data_type: str) -> None:
    @thorough
    @given(st.data())
    def check(data: st.DataObject) -> None:
        ones = data.draw(st.integers(0, 6))
        inner = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=2))
        sizes = [1] * ones + inner
        numbers = elements(data.draw, data_type, math.prod(sizes))
        assume(not any(map(math.isnan, numbers)))
        tensor = array(numbers, data_type, sizes)
        found = computed("ACTIVATION_HARDMAX", tensor)
        assert oracle.flatten(found.tolist()) == oracle.hardmax(tensor.tolist(), sizes)

    check()


# ---- NaN


@pytest.mark.slow
@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("function", IGNORES_NAN)
def test_the_reference_ignores_nan_where_the_documentation_is_silent(function: str, data_type: str) -> None:
    @quick
    @given(tensors(data_type, may_have_nan=True), st.integers(0, 2**48 - 1))
    def check(drawn: tuple[Array, list[int]], spoilt: int) -> None:
        tensor, axes = drawn
        is_spoilt = (spoilt >> np.arange(tensor.size) & 1 == 1).reshape(tensor.shape)
        tensor = np.where(is_spoilt, tensor.dtype.type(np.nan), tensor)
        found = reduced(function, tensor, data_type, axes)
        assert oracle.same(found, oracle.reduce(function, tensor.tolist(), tensor.shape, axes, data_type))

    check()


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("function", [function for function in FUNCTIONS if function not in IGNORES_NAN])
@pytest.mark.parametrize("others", [[1.0, 2.0], [math.inf, 1.0], [0.0, 0.0], [math.nan, math.nan]])
def test_nan_makes_arithmetic_nan(function: str, others: list[float], data_type: str) -> None:
    for place in range(3):
        values = [*others[:place], math.nan, *others[place:]]
        assert math.isnan(row(function, values, data_type))


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize(
    ("operator", "direction"), [(name, way) for name in ("ARGMAX", "ARGMIN") for way in ("INCREASING", "DECREASING")]
)
def test_the_index_in_a_row_of_nothing_but_nan_is_0(operator: str, direction: str, data_type: str) -> None:
    tensor = np.full((2, 3), np.nan, dtype=oracle.NUMPY[data_type])
    found = computed(operator, tensor, "UINT32", Axes=[1], AxisDirection=direction)
    assert found.tolist() == [[0], [0]]


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("function", ["MAX", "MIN"])
def test_the_extreme_of_nothing_but_nan_is_infinite(function: str, data_type: str) -> None:
    assert row(function, [math.nan, math.nan], data_type) == {"MAX": -math.inf, "MIN": math.inf}[function]


@pytest.mark.parametrize("data_type", FLOATS)
def test_hardmax1_passes_over_nan_unless_it_is_the_first(data_type: str) -> None:
    nan = math.nan
    tensor = array([nan, 2, 3, 3, nan, nan, nan, nan, 1, nan, -math.inf, nan], data_type, (3, 4))
    found = computed("ACTIVATION_HARDMAX1", tensor, Axes=[1])
    assert found.tolist() == [[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]


@pytest.mark.parametrize("count", [3, 17, 64, 1000])
@pytest.mark.parametrize(("data_type", "pattern"), [("FLOAT16", 0x7C01), ("FLOAT16", 0xFE00), ("FLOAT32", 0xFF800001)])
@pytest.mark.parametrize("function", IGNORES_NAN)
def test_nan_of_any_bits_is_ignored(function: str, data_type: str, pattern: int, count: int) -> None:
    """A signalling NaN as well as a quiet one, and a negative one as well as a positive one."""
    tensor = array([0.5] * count, data_type, (1, count))
    tensor.view(f"u{tensor.itemsize}")[0, 1::2] = pattern
    tensor[0, 0], tensor[0, -1] = (1, 0.25) if function in ("MAX", "ARGMAX") else (0.25, 1)
    expected = {"ARGMAX": 0, "ARGMIN": 0, "MAX": 1, "MIN": 0.25}[function]
    assert reduced(function, tensor, data_type, [1]) == [expected]


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("block", [1, 2, 65_536])
@pytest.mark.parametrize("function", [*IGNORES_NAN, "SUM"])
def test_a_result_over_nan_is_undefined_where_nan_is_ignored(function: str, block: int, data_type: str) -> None:
    nan = math.nan
    tensor = array([1, 2, nan, 3, nan, nan, math.inf, -math.inf], data_type, (4, 2))
    with blocks_of(block):
        found = marks("REDUCE", tensor, "UINT32" if "ARG" in function else "", Function=function, Axes=[1])
    assert found.reshape(-1).tolist() == [function in IGNORES_NAN and mark for mark in (False, True, True, False)]


@pytest.mark.parametrize("block", [1, 2, 65_536])
@pytest.mark.parametrize("operator", ["ARGMAX", "ARGMIN", "ACTIVATION_HARDMAX1"])
def test_an_index_or_mark_over_nan_is_undefined(operator: str, block: int) -> None:
    tensor = array([1, 2, 3, 4, math.nan, 5], "FLOAT32", (2, 3))
    fields = {} if operator == "ACTIVATION_HARDMAX1" else {"AxisDirection": "INCREASING"}
    with blocks_of(block):
        found = marks(operator, tensor, "UINT32" if fields else "", Axes=[1], **fields)
    assert found.all(axis=1).tolist() == found.any(axis=1).tolist() == [False, True]


# ---- long rows


def scrambled(values: Sequence[float], seed: int) -> list[float]:
    """Return the values in an order that is the same every time."""
    return [values[place] for place in np.random.default_rng(seed).permutation(len(values))]


def spread_out(count: int, data_type: str, seed: int, *, least: int, most: int) -> list[float]:
    """Return floats of both signs with exponents from `least` to `most`, drawn evenly."""
    numbers = np.random.default_rng(seed)
    significands = numbers.uniform(1, 2, count) * numbers.choice([-1.0, 1.0], count)
    values = np.ldexp(significands, numbers.integers(least, most, count))
    return list(map(float, values.astype(oracle.NUMPY[data_type]).tolist()))


RANGES = {"FLOAT16": (-14, 15), "FLOAT32": (-126, 100)}


@pytest.mark.slow
@pytest.mark.parametrize("count", [1000, 65_535, 65_536])
@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("function", SUMS)
def test_sums_of_up_to_65536_terms_are_rounded_correctly(function: str, data_type: str, count: int) -> None:
    least, most = (-14, 0) if data_type == "FLOAT16" else (-100, 60)
    values = spread_out(count, data_type, count, least=least, most=most)
    assert row(function, values, data_type) == oracle.reduce_terms(function, values, data_type)


@pytest.mark.parametrize("count", [4, 1000, 65_536])
@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("function", ["SUM", "AVERAGE"])
def test_what_is_left_of_a_sum_that_cancels_is_right(function: str, data_type: str, count: int) -> None:
    least, most = RANGES[data_type]
    half = spread_out(count // 2 - 1, data_type, count, least=least, most=most)
    left = [2.0**least * 1.5, -(2.0**least)]
    values = scrambled([*half, *(-value for value in half), *left], 7)
    assert sum(map(Fraction, left)) == oracle.sum_of(values)
    assert row(function, values, data_type) == oracle.nearest(
        Fraction(2) ** (least - 1) / (count if function == "AVERAGE" else 1), data_type
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [8, 4096, 65_536])
@pytest.mark.parametrize("nudge", [0, 1, -1])
@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("data_type", FLOATS)
def test_exact_ties_of_long_sums_go_to_even_and_the_least_nudge_decides(
    data_type: str, odd: int, nudge: int, count: int
) -> None:
    precision, least, _, _ = oracle.FLOATS[data_type]
    units = 2 ** (precision - 1) + odd
    denormal = 2.0 ** (least - precision + 1)
    noise = spread_out((count - 4) // 2, data_type, count, least=-10, most=3)
    parts = [float(units), 0.25, 0.25, nudge * denormal]
    values = scrambled([*noise, *(-value for value in noise), *parts], 3)
    expected = units + (1 if nudge > 0 or (nudge == 0 and odd) else 0)
    assert row("SUM", values, data_type) == expected
    assert row("SUM", [-value for value in values], data_type) == -expected


@pytest.mark.parametrize("divisor", [3, 7, 10, 4096, 65_535, 65_536])
@pytest.mark.parametrize("nudge", [0, 1, -1])
@pytest.mark.parametrize("data_type", FLOATS)
def test_averages_are_divided_before_they_are_rounded(data_type: str, nudge: int, divisor: int) -> None:
    """The mean is half a unit above an odd number of units, or the least denormal's share beside that."""
    precision, least, _, _ = oracle.FLOATS[data_type]
    units = 2 ** (precision - 1) + 1
    denormal = 2.0 ** (least - precision + 1)
    total = (Fraction(units) + Fraction(1, 2)) * divisor * Fraction(2) ** -14
    parts = []
    while total:
        parts.append(oracle.nearest(total, data_type))
        total -= Fraction(parts[-1])
    values = [*parts, nudge * denormal, *[0.0] * (divisor - len(parts) - 1)]
    assert len(values) == divisor
    expected = (units + (0 if nudge < 0 else 1)) * 2.0**-14
    assert row("AVERAGE", values, data_type) == expected


@pytest.mark.slow
@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("count", [65_537, 200_001])
@pytest.mark.parametrize("function", SUMS)
def test_longer_sums_are_off_by_next_to_nothing(function: str, data_type: str, count: int) -> None:
    least, most = (-14, -6) if data_type == "FLOAT16" else (-100, 60)
    half = spread_out(count // 2, data_type, count, least=least, most=most)
    values = scrambled([*half, *(-value for value in half)], count)[:-1]
    values = [*values, *[2.0**least] * (count - len(values))]
    assert_close(function, values, data_type, row(function, values, data_type))


# ---- products


@pytest.mark.parametrize("count", [3, 25, 499, 500, 501, 999, 1000, 1001, 4096, 65_536])
def test_products_may_leave_the_range_of_float64_on_the_way(count: int) -> None:
    """The largest powers come first, so a running product of float64 would be infinite or 0."""
    pairs = (count - 1) // 2
    third = float(np.float32(2 / 3))
    values = [1.5 * 2.0**100] * pairs + [third * 2.0**-100] * pairs + [1 + 2.0**-23] * (count - 2 * pairs)
    for order in (values, values[::-1], scrambled(values, count)):
        found = row("MULTIPLY", order, "FLOAT32")
        assert_close("MULTIPLY", order, "FLOAT32", found)
        assert 1 < found < 1.01


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("count", [2, 7, 600])
def test_products_of_random_floats_are_off_by_what_float64_is(count: int, data_type: str) -> None:
    for seed in range(20):
        values = spread_out(count, data_type, seed, least=-1, most=1)
        assert_close("MULTIPLY", values, data_type, row("MULTIPLY", values, data_type))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3e38, 3e38, 1e-38, 1e-38], 9.0),
        ([1e-38] * 40, 0.0),
        ([-1e-38] * 41, 0.0),
        ([1e38] * 40, math.inf),
        ([-1e38] * 41, -math.inf),
        ([2.0**-149] * 7 + [2.0**127] * 8 + [2.0**27], 1.0),
        ([2.0**-149, 0.5], 0.0),
        ([2.0**-149, 0.75], 2.0**-149),
        ([-(2.0**-149), 0.75], -(2.0**-149)),
        ([0.0, math.inf], math.nan),
        ([-0.0] + [1e38] * 40, 0.0),
        ([math.inf, -(2.0**-149)], -math.inf),
    ],
)
def test_products_at_the_limits(values: list[float], expected: float) -> None:
    values = np.array(values, dtype=np.float32).tolist()
    assert oracle.same([row("MULTIPLY", values, "FLOAT32")], [pytest.approx(expected, rel=1e-6, nan_ok=True)])
    assert oracle.same([row("MULTIPLY", values, "FLOAT32")], [oracle.reduce_terms("MULTIPLY", values, "FLOAT32")])


# ---- norms and logarithms


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 1000, 65_536])
@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("function", ["L2", "LOG_SUM", "LOG_SUM_EXP"])
def test_long_norms_and_logarithms_are_off_by_what_float64_is(function: str, data_type: str, count: int) -> None:
    least, most = (-24, 4) if data_type == "FLOAT16" else (-149, 110)
    for seed in range(5 if count < 65_536 and function != "LOG_SUM_EXP" else 1):
        values = spread_out(
            min(count, 5000) if function == "LOG_SUM_EXP" else count, data_type, seed, least=least, most=most
        )
        values = list(map(abs, values)) if function == "LOG_SUM" else values
        assert_close(function, values, data_type, row(function, values, data_type))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1.0, -1.0], 0.0),
        ([1e38, -1e38, 1.0], 0.0),
        ([1.0, 2.0**-23], 2.0**-23),
        ([2.0**100, 1.0, -1.0, -(2.0**100)], -math.inf),
        ([3e38, 3e38, 3e38, 3e38], 89.983139),
        ([0.0, -0.0], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([-math.inf, 1.0], math.nan),
    ],
)
def test_logs_of_sums_near_1_and_near_0(values: list[float], expected: float) -> None:
    values = np.array(values, dtype=np.float32).tolist()
    found = row("LOG_SUM", values, "FLOAT32")
    assert oracle.same([found], [pytest.approx(expected, rel=1e-7, abs=0, nan_ok=True)])


@pytest.mark.parametrize(
    ("data_type", "value"),
    [("FLOAT16", value) for value in (65504.0, 12.0, 0.0, -20.0, -65504.0)]
    + [("FLOAT32", value) for value in (3e38, 1000.0, 89.0, 0.0, -89.0, -104.0, -1000.0, -3e38)],
)
@pytest.mark.parametrize("count", [1, 2, 1000, 65_536])
def test_log_sum_exp_neither_overflows_nor_underflows(data_type: str, value: float, count: int) -> None:
    """log(n e^x) = x + log n."""
    value = float(np.array(value, dtype=oracle.NUMPY[data_type]))
    expected = oracle.nearest(Fraction(value) + Fraction(math.log(count)), data_type)
    assert row("LOG_SUM_EXP", [value] * count, data_type) == expected


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("low", [-60000.0, -700.0, -5.0])
def test_log_sum_exp_of_mixed_terms_is_off_by_what_float64_is(low: float, data_type: str) -> None:
    for seed in range(20):
        values = np.random.default_rng(seed).uniform(low, -low, 50).astype(oracle.NUMPY[data_type]).tolist()
        assert_close("LOG_SUM_EXP", values, data_type, row("LOG_SUM_EXP", values, data_type))


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0, -50], 1.9287499e-22), ([0, -50, -50], 3.8574998e-22), ([0, -0.5, -1], 0.68026966), ([0], 0), ([0, -1e30], 0)],
)
def test_what_the_largest_element_leaves_of_log_sum_exp_is_not_lost(values: list[float], expected: float) -> None:
    assert row("LOG_SUM_EXP", np.float32(values).tolist(), "FLOAT32") == pytest.approx(expected, rel=1e-7, abs=0)


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([math.inf, 1], math.inf),
        ([math.inf, -math.inf], math.inf),
        ([-math.inf, -math.inf], -math.inf),
        ([-math.inf, 3], 3.0),
        ([math.nan, math.inf], math.nan),
    ],
)
def test_log_sum_exp_of_infinities(values: list[float], expected: float, data_type: str) -> None:
    assert oracle.same([row("LOG_SUM_EXP", values, data_type)], [expected])


# ---- axes and layouts


def test_the_index_counts_in_the_order_of_the_dimensions_whatever_the_order_of_axes() -> None:
    tensor = array([0, 1, 2, 3, 9, 4, 5, 6, 7, 8, 1, 1], "INT32", (2, 3, 2))
    for axes in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        assert reduced("ARGMAX", tensor, "INT32", axes) == [4]
    for axes in ([0, 2], [2, 0]):
        assert reduced("ARGMAX", tensor, "INT32", axes) == [3, 3, 0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("ARGMAX", [0, 0, 0]),
        ("ARGMIN", [0, 0, 0]),
        ("AVERAGE", [4, 0.5, 2]),
        ("L1", [4, 0.5, 2]),
        ("L2", [4, 0.5, 2]),
        ("LOG_SUM", [2 * 0.6931472, -0.6931472, 0.6931472]),
        ("LOG_SUM_EXP", [4, 0.5, 2]),
        ("MAX", [4, 0.5, 2]),
        ("MIN", [4, 0.5, 2]),
        ("MULTIPLY", [4, 0.5, 2]),
        ("SUM", [4, 0.5, 2]),
        ("SUM_SQUARE", [16, 0.25, 4]),
    ],
)
def test_no_axes_applies_the_function_to_each_element_alone(function: str, expected: list[float]) -> None:
    tensor = array([4, 0.5, 2], "FLOAT32", (3, 1))
    assert reduced(function, tensor, "FLOAT32", []) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("axes", [[0], [1], [0, 2], [2, 1, 0]])
def test_a_broadcast_tensor_counts_each_element_as_often_as_it_is_repeated(function: str, axes: list[int]) -> None:
    tensor = np.broadcast_to(array([3, -1.5, 2], "FLOAT32", (1, 3, 1)), (4, 3, 5))
    found = reduced(function, tensor, "FLOAT32", axes)
    assert oracle.same(found, oracle.reduce(function, tensor.tolist(), (4, 3, 5), axes, "FLOAT32"))


# ---- tensors in blocks


BLOCK_SIZES = st.integers(1, 9)


@pytest.mark.slow
@pytest.mark.parametrize("function", [name for name in FUNCTIONS if name not in ("ARGMAX", "ARGMIN", "MAX", "MIN")])
def test_float_arithmetic_in_blocks_is_off_by_next_to_nothing(function: str) -> None:
    @quick
    @given(st.data(), BLOCK_SIZES)
    def check(data: st.DataObject, block: int) -> None:
        data_type = data.draw(st.sampled_from(FLOATS))
        tensor, axes = data.draw(tensors(data_type, may_have_nan=True))
        with blocks_of(block):
            found = reduced(function, tensor, data_type, axes)
        flat = oracle.flatten(tensor.tolist())
        for result, group in zip(found, oracle.groups(tensor.shape, axes), strict=True):
            assert_close(function, [flat[place] for place in group], data_type, result)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("function", INTEGER_FUNCTIONS)
def test_integers_and_indices_in_blocks_are_exact(function: str) -> None:
    @quick
    @given(st.data(), BLOCK_SIZES)
    def check(data: st.DataObject, block: int) -> None:
        floats = FLOATS if function in IGNORES_NAN else ()
        data_type = data.draw(st.sampled_from((*FUNCTION_TYPES[function], *floats)))
        tensor, axes = data.draw(tensors(data_type, may_have_nan=True))
        with blocks_of(block):
            found = reduced(function, tensor, data_type, axes)
        assert oracle.same(found, oracle.reduce(function, tensor.tolist(), tensor.shape, axes, data_type))

    check()


@quick
@given(st.data(), BLOCK_SIZES, st.booleans(), st.booleans())
def test_indices_in_blocks_go_by_the_axis_direction(data: st.DataObject, block: int, largest: bool, last: bool) -> None:
    data_type = data.draw(st.sampled_from((*FLOATS, *INTEGERS)))
    tensor, axes = data.draw(tensors(data_type, may_have_nan=True))
    with blocks_of(block):
        found = computed(
            "ARGMAX" if largest else "ARGMIN",
            tensor,
            "INT64",
            Axes=axes,
            AxisDirection="DECREASING" if last else "INCREASING",
        )
    expected = oracle.argument(tensor.tolist(), tensor.shape, axes, largest=largest, last=last)
    assert oracle.flatten(found.tolist()) == expected


@quick
@given(st.data(), BLOCK_SIZES)
def test_hardmax1_in_blocks_marks_one_element_of_each_group(data: st.DataObject, block: int) -> None:
    data_type = data.draw(st.sampled_from(FLOATS))
    tensor, axes = data.draw(tensors(data_type, may_have_nan=True))
    with blocks_of(block):
        found = computed("ACTIVATION_HARDMAX1", tensor, Axes=axes)
    assert oracle.flatten(found.tolist()) == oracle.hardmax1(tensor.tolist(), tensor.shape, axes)


LARGE = {
    "long rows": ((2, 3, 70_000), (0, 2)),  # 140,000 elements each, in three blocks
    "many rows": ((45_000, 3), (1,)),
    "many columns": ((3, 45_000), (0,)),
}
PALETTES = {
    "FLOAT32": [0.5, 2.0, 1.0, 1.0, -1.0, 1 + 2.0**-10, 1 - 2.0**-10, 1.0, 1.0, 1.0],
    "INT32": [0x7FFFFFFF, -0x80000000, 0x10001, 3, -1, 5, 7, 1, 1, 1],
}
large_groups = cache(oracle.groups)
large_terms = cache(oracle.reduce_terms)


def large_tensor(data_type: str, shape: tuple[int, ...]) -> Array:
    """Return a tensor with few different elements."""
    places = np.random.default_rng(5).integers(0, len(PALETTES[data_type]), shape)
    return np.array(PALETTES[data_type], dtype=oracle.NUMPY[data_type])[places]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "data_type"),
    [(function, "FLOAT32") for function in FUNCTIONS]
    + [(function, "INT32") for function, types in FUNCTION_TYPES.items() if types],
)
@pytest.mark.parametrize("layout", LARGE)
def test_large_tensors_of_every_function(function: str, data_type: str, layout: str) -> None:
    shape, axes = LARGE[layout]
    tensor = large_tensor(data_type, shape)
    if function == "LOG_SUM":
        tensor = np.abs(tensor)
    assert tensor.size > blocks.BLOCK
    found = reduced(function, tensor, data_type, axes)
    flat = tensor.reshape(-1).tolist()
    is_exact = data_type == "INT32" or function in IGNORES_NAN or (function in SUMS and layout != "long rows")
    rows = [tuple(map(flat.__getitem__, group)) for group in large_groups(shape, axes)]
    for result, terms in set(zip(found, rows, strict=True)):
        if is_exact:
            assert result == large_terms(function, terms, data_type)
        else:
            assert_close(function, terms, data_type, result)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LARGE)
@pytest.mark.parametrize("last", [False, True])
def test_large_tensors_of_argmax_and_hardmax1(layout: str, last: bool) -> None:
    shape, axes = LARGE[layout]
    tensor = large_tensor("FLOAT32", shape)
    found = computed(
        "ARGMAX",
        tensor,
        "UINT64",
        Axes=list(axes),
        AxisDirection="DECREASING" if last else "INCREASING",
    )
    flat = tensor.reshape(-1).tolist()
    marks = [0] * len(flat)
    places = found.reshape(-1).tolist()
    for place, group in zip(places, large_groups(shape, axes), strict=True):
        assert place == oracle.index_of([flat[element] for element in group], largest=True, last=last)
        marks[group[place]] = 1
    if not last:
        marked = computed("ACTIVATION_HARDMAX1", tensor, Axes=list(axes))
        assert marked.reshape(-1).tolist() == marks


@pytest.mark.parametrize(
    ("direction", "expected"), [("INCREASING", 131_071), ("DECREASING", 262_143)], ids=["first", "last"]
)
def test_equal_elements_in_different_blocks(direction: str, expected: int) -> None:
    tensor = np.zeros((1, 300_000), dtype=np.int8)
    tensor[0, [131_071, 131_072, 262_143]] = 1
    found = computed("ARGMAX", tensor, "UINT32", Axes=[1], AxisDirection=direction)
    assert found.tolist() == [[expected]]


# ---- bounds


def values_of(function: str, kind: str, count: int) -> Array:
    """Return rows of elements: ordinary ones, or ones that leave little of their sum, with factors next to 1."""
    generator = np.random.default_rng(count)
    x = generator.normal(size=(20 if count < 10_000 else 3, count))
    if kind == "wide":
        x *= 2.0 ** generator.integers(-20, 20, x.shape)
    if kind == "equal":
        x[:] = 0.1
    if kind == "cancelling":
        x[:, 1::2] = -x[:, : count // 2 * 2 : 2] * (1 + generator.normal(size=x[:, 1::2].shape) * 1e-6)
    if function == "LOG_SUM":
        x = np.abs(x)
    if function == "MULTIPLY":
        x = np.maximum(1 + x / max(2, math.sqrt(count)), 0.1)
    return x.astype(np.float32)


def one_by_one(terms: Array) -> Array:
    return np.add.accumulate(terms, axis=1, dtype=terms.dtype)[:, -1:]


SUMMING: dict[str, Callable[[Array], Array]] = {
    "one by one": one_by_one,
    "pairwise": lambda terms: np.ascontiguousarray(terms).sum(axis=1, keepdims=True, dtype=terms.dtype),
    "shuffled": lambda terms: one_by_one(np.random.default_rng(1).permutation(terms, axis=1)),
}


def plain(function: str, x: Array, sums: Callable[[Array], Array]) -> Array:
    """Compute a function as it stands, in the arithmetic of x."""
    top = x.max(axis=1, keepdims=True)
    return {
        "AVERAGE": lambda: sums(x) / x.dtype.type(x.shape[1]),
        "L1": lambda: sums(np.abs(x)),
        "L2": lambda: np.sqrt(sums(x * x)),
        "LOG_SUM": lambda: np.log(sums(x)),
        "LOG_SUM_EXP": lambda: top + np.log(sums(np.exp(x - top))),
        "MULTIPLY": lambda: np.multiply.accumulate(x, axis=1, dtype=x.dtype)[:, -1:],
        "SUM": lambda: sums(x),
        "SUM_SQUARE": lambda: sums(x * x),
    }[function]()


ARITHMETIC = (*SUMS, *FLOAT64)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 5, 64, 1024, 65_536])
@pytest.mark.parametrize("kind", ["normal", "wide", "equal", "cancelling"])
@pytest.mark.parametrize("function", ARITHMETIC)
def test_a_plain_implementation_in_float32_is_within_the_bound_in_any_order(
    function: str, kind: str, count: int
) -> None:
    x = values_of(function, kind, count)
    given_bound = bound("REDUCE", x, Function=function, Axes=[1])
    for sums in SUMMING.values():
        with np.errstate(all="ignore"):
            found = plain(function, x, sums).reshape(-1)
        assert not refused(found, given_bound).any()


@pytest.mark.parametrize("count", [1024, 65_536])
@pytest.mark.parametrize("function", ARITHMETIC)
def test_accumulation_in_float16_is_beyond_the_likely_bound(function: str, count: int) -> None:
    x = values_of(function, "normal", count)
    likely = bound("REDUCE", x, is_likely=True, Function=function, Axes=[1])
    with np.errstate(all="ignore"):
        short = plain(function, x.astype(np.float16), one_by_one).reshape(-1).astype(np.float32)
        right = [plain(function, x, sums).reshape(-1) for sums in (SUMMING["pairwise"], SUMMING["shuffled"])]
    assert refused(short, likely).mean() > 0.8
    assert not any(refused(found, likely).any() for found in right)
    assert (likely.radius <= bound("REDUCE", x, Function=function, Axes=[1]).radius).all()


@pytest.mark.parametrize("count", [16, 1024])
@pytest.mark.parametrize("function", ARITHMETIC)
def test_a_term_too_few_is_refused(function: str, count: int) -> None:
    x = values_of(function, "normal", count)
    x[:, -1] = 1.25
    found = plain(function, x[:, :-1], one_by_one).reshape(-1)
    assert refused(found, bound("REDUCE", x, Function=function, Axes=[1])).all()


def test_a_bound_is_n_roundings_of_the_sum_of_magnitudes_and_says_n() -> None:
    x = array([1, -1, 0.5, 3], "FLOAT32", (1, 4))
    found = bound("REDUCE", x, Function="SUM", Axes=[1])
    assert found.value.tolist() == [3.5]
    assert found.radius.tolist() == [pytest.approx(4 * 2.0**-24 * 5.5)]
    assert found.terms == 4
    in_float16 = bound("REDUCE", x, accumulate="FLOAT16", Function="SUM", Axes=[1])
    assert in_float16.radius.tolist() == [pytest.approx(4 * 2.0**-11 * 5.5)]


@pytest.mark.parametrize("function", IGNORES_NAN)
def test_an_extreme_or_an_index_has_no_error(function: str) -> None:
    x = values_of(function, "wide", 100)
    found = bound("REDUCE", x, "INT32" if "ARG" in function else "", Function=function, Axes=[1])
    assert not found.radius.any()
    assert found.value.tolist() == reduced(function, x, "FLOAT32", [1])


@pytest.mark.parametrize("function", ["SUM", "L1", "L2", "MULTIPLY", "LOG_SUM_EXP"])
def test_an_infinity_or_nan_has_no_error(function: str) -> None:
    x = array([math.inf, 1, math.nan, 1, math.inf, math.nan], "FLOAT32", (3, 2))
    found = bound("REDUCE", x, Function=function, Axes=[1])
    assert oracle.same(found.value.tolist(), [math.inf, math.nan, math.nan])
    assert found.radius.tolist() == [0, 0, 0]


def test_a_product_that_leaves_float32_on_its_way_is_bounded_by_what_it_is() -> None:
    x = array([2.0**100, 2.0**100, 2.0**-100, 2.0**-99], "FLOAT32", (1, 4))
    found = bound("REDUCE", x, Function="MULTIPLY", Axes=[1])
    assert found.value.tolist() == [2.0]
    assert found.radius.tolist() == [pytest.approx(3 * 2.0**-24 * 2)]
    tiny = array([2.0**-100, 2.0**-40], "FLOAT32", (1, 2))
    assert bound("REDUCE", tiny, Function="MULTIPLY", Axes=[1]).radius >= 2.0**-140  # a denormal may be flushed to 0


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 3, 7])
@pytest.mark.parametrize("function", [*ARITHMETIC, "MAX"])
def test_the_bound_of_a_group_in_blocks_is_that_of_the_whole_group(function: str, block: int) -> None:
    x = values_of(function, "normal", 20)
    for is_likely in (False, True):
        whole = bound("REDUCE", x, is_likely=is_likely, Function=function, Axes=[1])
        with blocks_of(block):
            cut = bound("REDUCE", x, is_likely=is_likely, Function=function, Axes=[1])
        assert cut.value == pytest.approx(whole.value, rel=1e-14)
        assert cut.radius == pytest.approx(whole.radius, rel=1e-9)
        assert cut.terms == whole.terms
