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


@pytest.mark.slow
@pytest.mark.parametrize("data_type", FLOATS)
def test_hardmax1_marks_the_first_largest_element_of_each_group(data_type: str) -> None:
    @thorough
    @given(tensors(data_type))
    def check(drawn: tuple[Array, list[int]]) -> None:
        tensor, axes = drawn
        found = computed("ACTIVATION_HARDMAX1", tensor, Axes=axes)
        assert oracle.flatten(found.tolist()) == oracle.hardmax1(tensor.tolist(), tensor.shape, axes)

    check()


@pytest.mark.slow
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
def test_hardmax1_passes_over_nan_unless_it_is_the_first(data_type: str) -> None:
    nan = math.nan
    tensor = array([nan, 2, 3, 3, nan, nan, nan, nan, 1, nan, -math.inf, nan], data_type, (3, 4))
    found = computed("ACTIVATION_HARDMAX1", tensor, Axes=[1])
    assert found.tolist() == [[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]


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


@pytest.mark.slow
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
