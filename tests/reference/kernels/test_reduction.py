"""REDUCE, ARGMAX, ARGMIN, HARDMAX and HARDMAX1 against the oracle, what is undefined, and their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import oracle
import pytest
from elements import refused
from grouped import blocks_of, bound, computed, marks

Array = np.ndarray[Any, Any]

FLOATS = ("FLOAT16", "FLOAT32")
INTEGERS = oracle.INTEGERS
WIDE_INTEGERS = ("INT32", "INT64", "UINT32", "UINT64")
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
FLOAT64 = tuple(function for function in FUNCTION_TYPES if function not in ROUNDED_ONCE)
OF_INTEGERS = [(function, data_type) for function, types in FUNCTION_TYPES.items() for data_type in types]


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


# ---- values


SHAPES: list[tuple[tuple[int, ...], list[int]]] = [
    ((40,), [0]),
    ((5, 7), [0]),
    ((5, 7), []),
    ((3, 2, 4), [2, 0]),
    ((1, 1, 2, 1, 1, 3, 2, 1), [6, 2, 0]),
]


def beside_ties(generator: np.random.Generator, sizes: tuple[int, ...], data_type: str) -> Array:
    """Return a few multiples of powers of two, whose sums end halfway between floats, or just beside it."""
    precision = oracle.FLOATS[data_type][0]
    steps = generator.choice((0, 1, precision - 1, precision, precision + 1, 2 * precision), sizes)
    return np.ldexp(generator.integers(-3, 4, sizes).astype(np.float64), -steps).astype(oracle.NUMPY[data_type])


@pytest.mark.slow
@pytest.mark.parametrize("block", [3, 65_536])
@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("function", ROUNDED_ONCE)
def test_sums_and_extremes_of_floats_are_rounded_once(function: str, data_type: str, block: int) -> None:
    generator = np.random.default_rng(4)
    for sizes, axes in SHAPES * 20:
        tensor = beside_ties(generator, sizes, data_type)
        with blocks_of(block):
            found = reduced(function, tensor, data_type, axes)
        assert oracle.same(found, oracle.reduce(function, tensor.tolist(), sizes, axes, data_type))


@pytest.mark.slow
@pytest.mark.parametrize("block", [3, 65_536])
@pytest.mark.parametrize(("function", "data_type"), OF_INTEGERS)
def test_functions_of_integers_are_exact_and_wrap(function: str, data_type: str, block: int) -> None:
    generator, dtype = np.random.default_rng(5), np.dtype(oracle.NUMPY[data_type])
    limits = np.iinfo(dtype)
    for sizes, axes in SHAPES * 4:
        least, most = ((limits.min, limits.max), (max(limits.min, -3), 3))[int(generator.integers(2))]
        tensor = generator.integers(least, most, sizes, dtype, endpoint=True)
        with blocks_of(block):
            found = reduced(function, tensor, data_type, axes)
        assert found == oracle.reduce(function, tensor.tolist(), sizes, axes, data_type)


# ---- NaN


@pytest.mark.parametrize("block", [1, 2, 65_536])
@pytest.mark.parametrize("operator", ["ARGMAX", "ARGMIN", "ACTIVATION_HARDMAX1"])
def test_an_index_or_mark_over_nan_is_undefined(operator: str, block: int) -> None:
    tensor = array([1, 2, 3, 4, math.nan, 5], "FLOAT32", (2, 3))
    fields = {} if operator == "ACTIVATION_HARDMAX1" else {"AxisDirection": "INCREASING"}
    with blocks_of(block):
        found = marks(operator, tensor, "UINT32" if fields else "", Axes=[1], **fields)
    assert found.all(axis=1).tolist() == found.any(axis=1).tolist() == [False, True]


# ---- tensors in blocks


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
