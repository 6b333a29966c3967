"""The bounds of elements: which are computed, where they stand, and in which arithmetic."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from elements import built
from grouped import bound as bound_of_groups
from grouped import built as built_groups
from judged import answering
from products_of import built as built_products

import dmlcheck
from dmlcheck.comparison.compare import Differing
from dmlcheck.reference.bounds import arithmetic_of, bounds, is_all, positions
from dmlcheck.reference.limits.precision import Precision

Array = np.ndarray[Any, Any]
U = 2.0**-24
OUTPUT = "OutputTensor"


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


# ---- positions

ALL = slice(None)
PLACES = [(), 1, -1, ALL, slice(1, None), (0, 2), (ALL, 1), (ALL, slice(0, 3, 2), -1), (1, 2, 3), slice(1, 2)]


def _cuts(sizes: tuple[int, ...]) -> list[Any]:
    found: list[Any] = [(), *([slice(0, 1), -1, (slice(None, None, 2),)] if sizes else [])]
    return found + ([(0, slice(1, None)), (ALL, 0)] if len(sizes) > 1 else [])


@pytest.mark.parametrize("where", PLACES, ids=str)
def test_positions_are_those_of_the_elements_in_row_major_order(where: Any) -> None:
    sizes = (2, 3, 4)
    numbers = np.arange(24).reshape(sizes)
    generator = np.random.default_rng(3)
    for cut in _cuts(numbers[where].shape):
        part = numbers[where][cut]
        for mask in (np.ones(part.shape, bool), np.zeros(part.shape, bool), generator.random(part.shape) < 0.5):
            found = positions(sizes, where, cut, np.asarray(mask))
            assert found.dtype == np.int64
            assert found.tolist() == np.asarray(part)[mask].tolist()


@pytest.mark.parametrize("count", [1, 3, 70_000, 5, (1 << 20) + 1, 70_001])
def test_positions_of_all_elements_are_their_numbers(count: int) -> None:
    """Masks that are true everywhere may repeat one element."""
    for mask in (np.ones((1, count), bool), np.broadcast_to(np.True_, (1, count))):
        assert is_all(mask)
        for row in (0, 1):
            found = positions((2, count), (slice(row, row + 1),), (), mask)
            assert np.array_equal(found, np.arange(count * row, count * (row + 1)))


def test_a_mask_is_true_everywhere_if_its_elements_are() -> None:
    masks = [np.array([True, False]), np.broadcast_to(np.False_, (2, 3)), np.zeros(0, bool), np.array(True)]
    assert [is_all(mask) for mask in masks] == [False, False, True, True]
    rows = np.broadcast_to(np.array([[True], [False]]), (2, 3))
    assert [is_all(mask) for mask in (rows, rows[:1], rows[1:])] == [False, True, False]


def test_positions_reach_beyond_32_bits() -> None:
    mask = np.array([False, True])
    assert positions((70_000, 70_000), (69_999, slice(69_998, None)), (), mask).tolist() == [70_000**2 - 1]


# ---- which elements


def test_only_the_asked_elements_of_an_element_wise_operator_are_computed() -> None:
    x = floats(*np.linspace(0.1, 5, 12)).reshape(3, 4)
    desc, inputs = built("EXP", {}, x)
    for asked in (np.eye(3, 4, dtype=bool), np.zeros((3, 4), bool), np.ones((3, 4), bool)):
        parts = list(bounds(desc, inputs, {OUTPUT: asked}))
        assert len(parts) == bool(asked.any())
        for label, at, bound in parts:
            assert label == OUTPUT
            assert at.tolist() == np.flatnonzero(asked).tolist()
            assert bound.value == pytest.approx(np.exp(x.astype(np.float64)[asked]), rel=1e-15)


def test_what_differs_is_asked_for_tile_by_tile() -> None:
    """A mask that is computed where it is looked at gives the bounds that an array of it gives."""
    x = np.random.default_rng(1).normal(size=(300, 1000)).astype(np.float32)
    desc, inputs = built("TANH", {}, x)
    expected = np.tanh(x)
    actual = expected.copy()
    places = [(0, 0), (7, 999), (150, 3), (299, 999)]
    for place in places:
        actual[place] += 1
    lazy = Differing(expected, actual, is_float=True)
    parts = list(bounds(desc, inputs, {OUTPUT: lazy}))
    assert len(parts) > 1
    found = np.concatenate([at for _, at, _ in parts])
    assert sorted(found.tolist()) == [np.ravel_multi_index(place, x.shape) for place in places]
    whole = gathered(desc, inputs, {OUTPUT: lazy})[OUTPUT]
    other = gathered(desc, inputs, {OUTPUT: expected != actual})[OUTPUT]
    assert whole.value.tolist() == other.value.tolist()
    assert whole.radius.tolist() == other.radius.tolist()


@pytest.mark.parametrize(("shape", "axes"), list(product([(4, 50_000), (50_000, 4), (2, 3, 40_000)], [[0], [1]])))
def test_long_groups_have_the_bound_of_short_ones(shape: tuple[int, ...], axes: list[int]) -> None:
    """The same elements, and as many terms, whether a group is computed whole or in blocks."""
    x = np.ones(shape, np.float32)
    found = bound_of_groups("REDUCE", x, Function="SUM", Axes=axes)
    terms = shape[axes[0]]
    assert found.terms == terms
    assert np.unique(found.value).tolist() == [terms]
    assert np.unique(found.radius) == pytest.approx([terms * U * terms], rel=1e-6)


def test_elements_of_a_long_row_stand_where_they_are_asked_for() -> None:
    x = np.random.default_rng(2).normal(size=(2, 300_000)).astype(np.float32)
    desc, inputs = built_groups("ACTIVATION_HARDMAX1", x, Axes=[1])
    asked = np.zeros(x.shape, bool)
    top = x.argmax(axis=1)
    asked[[0, 1, 0], [*top, 7]] = True
    found = gathered(desc, inputs, {OUTPUT: asked})[OUTPUT]
    assert found.value.tolist() == [
        float((row, column) in {(0, top[0]), (1, top[1])}) for row, column in np.argwhere(asked)
    ]


# ---- what is said of them


def test_results_that_are_only_moved_have_no_radius_and_are_not_rounded() -> None:
    moved = gathered(*built("ABS", {}, floats(-1, 2)), {OUTPUT: np.ones(2, bool)})[OUTPUT]
    assert (moved.value.tolist(), moved.radius.tolist(), moved.is_rounded, moved.terms) == ([1, 2], [0, 0], False, 0)
    scaled = {"ScaleBias": {"Scale": 0.1, "Bias": 0}}
    computed = gathered(*built("ABS", scaled, floats(-3, 7)), {OUTPUT: np.ones(2, bool)})[OUTPUT]
    assert computed.is_rounded
    assert computed.radius.all()


def test_conditions_and_integers_are_numbers() -> None:
    x = np.array([[1, 3], [5, 2]], np.int64)
    for desc, inputs, expected in (
        (*built_groups("ACTIVATION_HARDMAX1", x.astype(np.float32), Axes=[1]), [[0, 1], [1, 0]]),
        (*built("LOGICAL_GREATER_THAN", {}, x, x[::-1]), [[0, 1], [1, 0]]),
        (*built("ADD", {}, x + 2**60, x), [[2**60 + 2, 2**60 + 6], [2**60 + 10, 2**60 + 4]]),
    ):
        found = gathered(desc, inputs, {OUTPUT: np.ones(x.shape, bool)})[OUTPUT]
        assert found.value.dtype.kind in "iuf"
        assert found.value.tolist() == np.ravel(expected).tolist()
        assert not found.radius.any()


def test_integers_beyond_their_type_are_undefined_as_in_the_results() -> None:
    x = np.array([100, 1], np.int8)
    found = gathered(*built("ADD", {}, x, x), {OUTPUT: np.ones(2, bool)})[OUTPUT]
    assert found.undefined.tolist() == [True, False]
    found = gathered(*built("ADD", {}, x, x), {OUTPUT: np.ones(2, bool)}, with_measured=True)[OUTPUT]
    assert not found.undefined.any()  # DirectML wraps them, and is judged


@pytest.mark.parametrize(
    ("data_type", "accumulate", "used", "attributes", "unit_roundoff"),
    [
        ("float32", "FLOAT32", "FLOAT32", "FLOAT32", 2.0**-24),
        ("float32", "FLOAT16", "FLOAT16", "FLOAT16", 2.0**-11),
        ("float16", "FLOAT32", "FLOAT32", "FLOAT16", 2.0**-24),
        ("float16", "FLOAT16", "FLOAT16", "FLOAT16", 2.0**-11),
        ("float64", "FLOAT32", "FLOAT64", "FLOAT32", 2.0**-53),
        ("float64", "FLOAT16", "FLOAT64", "FLOAT32", 2.0**-53),
        ("float32", "FLOAT64", "FLOAT64", "FLOAT32", 2.0**-53),
    ],
)
def test_the_tensors_and_the_run_say_in_which_type_is_computed(
    data_type: str, accumulate: str, used: str, attributes: str, unit_roundoff: float
) -> None:
    desc, _ = built("IDENTITY", {}, np.ones(1, data_type))
    found = arithmetic_of(desc, Precision(accumulate))
    assert (found.data_type, found.attributes, found.unit_roundoff) == (used, attributes, unit_roundoff)
    assert not found.is_likely
    assert arithmetic_of(desc, Precision(accumulate), is_likely=True) == found._replace(is_likely=True)


@pytest.mark.parametrize(
    ("data_type", "accumulate", "factors"),
    [
        ("float32", "FLOAT32", "TF32"),
        ("float32", "FLOAT16", "TF32"),
        ("float16", "FLOAT32", "FLOAT32"),
        ("float64", "FLOAT32", "FLOAT32"),
        ("int32", "FLOAT32", "FLOAT32"),
    ],
)
def test_only_float32_factors_are_rounded(data_type: str, accumulate: str, factors: str) -> None:
    desc, _ = built("IDENTITY", {}, np.ones(1, data_type))
    assert arithmetic_of(desc, Precision(accumulate, "TF32")).factors == factors


def test_the_likely_bound_of_a_long_sum_is_the_smaller_one() -> None:
    x = np.random.default_rng(4).uniform(size=(1, 10_000)).astype(np.float32)
    hard, likely = (
        bound_of_groups("REDUCE", x, Function="SUM", Axes=[1], is_likely=is_likely) for is_likely in (False, True)
    )
    assert hard.value == likely.value
    assert hard.radius == pytest.approx(10_000 * U * x.astype(np.float64).sum(), rel=1e-6)
    assert 0 < likely.radius < hard.radius / 10


def test_nothing_warns_and_the_callers_settings_hold_between_the_tiles() -> None:
    """Formulas divide by 0 and take logarithms of it; who asks for bounds is warned of his own."""
    desc, inputs = built("LOG", {}, np.zeros((300, 1000), np.float32))
    with np.errstate(all="raise"):
        parts = bounds(desc, inputs, {OUTPUT: np.ones((300, 1000), bool)})
        count = 0
        for _ in parts:
            count += 1
            with pytest.raises(FloatingPointError):
                np.float64(1) / np.float64(0)
        assert count > 1


# ---- NaN beside a number


def outcomes(tmp_path: Path, case: str, field: str, results: list[float]) -> list[str]:
    """Return how a case of one element ends for implementations that give these results."""
    path = tmp_path / "case.yaml"
    path.write_text(case, encoding="utf-8")

    def outcome(result: float) -> str:
        (found,) = dmlcheck.run_cases(
            dmlcheck.load_cases(path), answering({field: np.full((1, 1, 1, 1), result, np.float32)})
        )
        return found.outcome

    return [outcome(result) for result in results]


ASIN = """
operator: ELEMENT_WISE_ASIN
desc:
  InputTensor: {{DataType: FLOAT32, Sizes: [1, 1, 1, 1]}}
  OutputTensor: {{DataType: FLOAT32, Sizes: [1, 1, 1, 1]}}
  ScaleBias: {{Scale: 1, Bias: {bias}}}
inputs: {{InputTensor: [1]}}
"""
GEMM_OF_INFINITY = """
operator: GEMM
desc:
  ATensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 1]}
  BTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 1]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 1]}
  TransA: NONE
  TransB: NONE
  Alpha: 0
  Beta: 0
inputs: {ATensor: [inf], BTensor: [2]}
"""


@pytest.mark.parametrize(
    ("bias", "expected"),
    [
        (2.0**-24, ["passed", "passed", "failed", "failed", "failed"]),  # 1 + 2^-24 rounds to 1
        (2.0**-22, ["passed", "failed", "failed", "failed", "failed"]),  # a number of FLOAT32 outside the domain
        (0.0, ["failed", "passed", "failed", "failed", "failed"]),
    ],
)
def test_where_rounding_decides_whether_there_is_a_number_it_is_that_number(
    tmp_path: Path, bias: float, expected: list[str]
) -> None:
    results = [np.nan, np.pi / 2, 5.0, -np.pi / 2, np.inf]
    assert outcomes(tmp_path, ASIN.format(bias=bias), "OutputTensor", results) == expected


def test_infinite_factors_times_0_are_nan_or_0_and_no_other_number(tmp_path: Path) -> None:
    found = outcomes(tmp_path, GEMM_OF_INFINITY, "OutputTensor", [np.nan, 0.0, 5.0, 1e-3, np.inf])
    assert found == ["passed", "passed", "failed", "failed", "failed"]


# ---- numbers beyond the type


@pytest.mark.parametrize(
    ("a", "b", "unlimited"),
    [
        ([[3e38, 3e38]], [[1], [-1]], True),  # partial sums
        ([[3e38, 1]], [[2], [0]], True),  # a product
        ([[np.inf, 1]], [[0], [1]], True),
        ([[np.nan, 1]], [[0], [1]], True),
        ([[1e38, 2e38]], [[1], [-1]], False),
        ([[1, 2]], [[0], [1]], False),
    ],
)
def test_nothing_bounds_what_follows_from_a_number_beyond_the_type(a: Any, b: Any, *, unlimited: bool) -> None:
    tensors = {"A": np.float32([[a]]), "B": np.float32([[b]]), "C": None}
    fields = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 1.0}
    desc, inputs = built_products("GEMM", (1, 1, 1, 1), "FLOAT32", tensors, **fields)
    asked = {OUTPUT: np.ones((1, 1, 1, 1), bool)}
    ((_, _, bound),) = bounds(desc, inputs, asked, with_overflows=True)
    assert (bound.unlimited is not None) == unlimited


@pytest.mark.parametrize(("x", "unlimited"), [(3e38, True), (np.inf, True), (1e38, False)])
def test_a_function_with_limits_has_none_where_its_operand_has_none(x: float, *, unlimited: bool) -> None:
    """The operand is 2 * x."""
    desc, inputs = built("TANH", {"ScaleBias": {"Scale": 2, "Bias": 0}}, floats(x))
    ((_, _, bound),) = bounds(desc, inputs, {OUTPUT: np.ones(1, bool)}, with_overflows=True)
    assert np.isinf(bound.radius).all() == unlimited
