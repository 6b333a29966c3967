"""The element-wise operators of one tensor: values by hand and from mpmath, what is undefined, and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from bounds_of import gathered
from elements import (
    FLOATS,
    INF,
    NAN,
    SAMPLES,
    SCALED,
    Array,
    bound,
    built,
    computed,
    every_float16,
    float32_around_edges,
    marks,
    misrounded,
    refused,
)
from mpmath import mpf
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import Bound, bounds
from dmlcheck.reference.kernels import unary
from dmlcheck.reference.results import separated, ways_of
from dmlcheck.reference.tiling.plan import tiles_of

# ---- values from mpmath


def inside(low: float, high: float, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Give NaN outside of a domain, which mpmath would leave for complex numbers."""
    return lambda x: function(x) if low <= x <= high else mpmath.nan


def power(x: Any, exponent: float) -> Any:
    return mpmath.nan if x < 0 and not float(exponent).is_integer() else x ** mpf(exponent)


def odd(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Keep mpmath from cancelling for negative numbers."""
    return lambda x: mpmath.sign(x) * function(abs(x))


# An operator, its fields as a case has them, and its formula for finite elements but 0.
ROWS: list[tuple[str, dict[str, Any], Callable[[Any], Any]]] = [
    ("ABS", {}, abs),
    ("ACOS", {}, inside(-1, 1, mpmath.acos)),
    ("ACOSH", {}, inside(1, INF, mpmath.acosh)),
    ("ASIN", {}, inside(-1, 1, mpmath.asin)),
    ("ASINH", {}, odd(mpmath.asinh)),
    ("ATAN", {}, mpmath.atan),
    ("ATANH", {}, inside(-1, 1, lambda x: x * INF if abs(x) == 1 else mpmath.atanh(x))),
    ("CEIL", {}, mpmath.ceil),
    ("CLIP", {"Min": -0.75, "Max": 3.5}, lambda x: min(mpf(3.5), max(mpf(-0.75), x))),
    ("CONSTANT_POW", {"Exponent": 2.5}, lambda x: power(x, 2.5)),
    ("CONSTANT_POW", {"Exponent": -3}, lambda x: x**-3),
    ("COS", {}, mpmath.cos),
    ("COSH", {}, mpmath.cosh),
    ("ERF", {}, mpmath.erf),
    ("EXP", {}, mpmath.exp),
    ("FLOOR", {}, mpmath.floor),
    ("IDENTITY", {}, lambda x: x),
    ("LOG", {}, inside(0, INF, mpmath.log)),
    ("NEGATE", {}, lambda x: -x),
    ("RECIP", {}, lambda x: 1 / x),
    ("ROUND", {"RoundingMode": "HALVES_TO_NEAREST_EVEN"}, mpmath.nint),
    ("ROUND", {"RoundingMode": "TOWARD_INFINITY"}, odd(lambda x: mpmath.floor(x + mpf(1) / 2))),
    ("ROUND", {"RoundingMode": "TOWARD_ZERO"}, odd(mpmath.floor)),
    ("SIGN", {}, mpmath.sign),
    ("SIN", {}, mpmath.sin),
    ("SINH", {}, odd(mpmath.sinh)),
    ("SQRT", {}, inside(0, INF, mpmath.sqrt)),
    ("TAN", {}, mpmath.tan),
    ("TANH", {}, mpmath.tanh),
    ("THRESHOLD", {"Min": 0.5}, lambda x: max(x, mpf(0.5))),
]
NAMES = ["-".join(map(str, (name, *fields.values()))) for name, fields, _ in ROWS]


def elements_of(data_type: str) -> Array:
    return every_float16() if data_type == "FLOAT16" else float32_around_edges()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fields", "function"), ROWS, ids=NAMES)
@pytest.mark.parametrize("data_type", FLOATS)
def test_the_result_is_the_mathematical_one_rounded_once(
    name: str, fields: dict[str, Any], function: Callable[[Any], Any], data_type: str
) -> None:
    given = elements_of(data_type)
    given = given[np.isfinite(given) & (given != 0)][:: max(1, given.size // SAMPLES)]
    with mpmath.workprec(220):  # the largest angles take 128 bits before the point
        right = np.array([float(function(mpf(x))) for x in given.tolist()])
    found = computed(name, fields, given)
    wrong = misrounded(found, right) & ~np.array(marks(name, fields, given))
    rows = zip(given[wrong].tolist(), right[wrong].tolist(), found[wrong].tolist(), strict=True)
    assert [(x.hex(), good, bad) for x, good, bad in rows] == []


@pytest.mark.parametrize(("name", "fields"), [row[:2] for row in ROWS if row[0] not in ("NEGATE", "ROUND", "SIGN")])
def test_scale_and_bias_come_before_the_function(name: str, fields: dict[str, Any]) -> None:
    given = np.arange(-300, 300, dtype=np.float32) / 64
    scaled = computed(name, {**fields, "ScaleBias": {"Scale": 0.5, "Bias": 1}}, given)
    np.testing.assert_array_equal(scaled, computed(name, fields, given / 2 + 1))


def test_a_sum_is_not_rounded_before_the_function() -> None:
    # 2^-30 is lost beside 1 in FLOAT32.
    given, fields = np.array([2.0**-30], np.float32), {"ScaleBias": {"Scale": 1, "Bias": 1}}
    assert computed("LOG", fields, given).tolist() == [2.0**-30]
    assert computed("CEIL", fields, given).tolist() == [2]


# ---- values by hand; None is undefined


@pytest.mark.parametrize(
    ("exponent", "may_be_nan"), [(0, [True, False, True]), (0.5, [True, False, False]), (2, [False, False, False])]
)
def test_only_a_power_that_exp_and_log_make_nan_may_be_nan(exponent: float, may_be_nan: list[bool]) -> None:
    given = np.array([-INF, 3, INF])
    ways = ways_of(separated(unary.constant_pow(given, exponent=exponent, output_type="FLOAT32"))[0])
    assert np.isnan(ways[0]).tolist() == may_be_nan
    assert not np.isnan(ways[-1]).any()


# ---- integers


def test_scaled_integers_are_exact_or_computed_in_float32() -> None:
    given = np.array([2**24 - 1, 2**24 + 1, 5], np.int32)
    desc, inputs = built("IDENTITY", {"ScaleBias": {"Scale": 3, "Bias": 1}}, given)
    ((_, _, first),) = bounds(desc, inputs, {"OutputTensor": np.ones(3, bool)})
    found = [set(row) for row in zip(*(side.value.tolist() for side in (first, *first.others)), strict=True)]
    # every fourth number, from 2^25 on; the first with a rounding of the product, and without
    assert found == [{50331646, 50331644, 50331648}, {50331652, 50331648}, {16}]


# ---- bounds

EXACT = [
    name.removeprefix("ELEMENT_WISE_") for name, row in unary.KERNELS.items() if row.is_exact and "BIT" not in name
]
FIELDS: dict[str, dict[str, Any]] = {
    "CLIP": {"Min": -0.3, "Max": 0.7},
    "CLIP1": {"MinMaxDataType": "FLOAT32", "Min": -0.3, "Max": 0.7},
    "CONSTANT_POW": {"Exponent": 2.7},
    "IS_INFINITY": {"InfinityMode": "EITHER"},
    "ROUND": {"RoundingMode": "TOWARD_INFINITY"},
    "THRESHOLD": {"Min": 0.3},
}


@pytest.mark.parametrize("name", [name for name in EXACT if name != "LOGICAL_NOT"])
@pytest.mark.parametrize("data_type", FLOATS)
def test_operators_that_round_nothing_allow_nothing(name: str, data_type: str) -> None:
    fields, given = FIELDS.get(name, {}), elements_of(data_type)
    if name == "CLIP1":
        fields = {**fields, "MinMaxDataType": data_type}
    found = bound(name, fields, given)
    assert not found.radius.any()
    right = ~(found.undefined | (np.isnan(found.value) & np.isnan(computed(name, fields, given))))
    np.testing.assert_array_equal(found.value.astype(given.dtype)[right], computed(name, fields, given)[right])


@pytest.mark.parametrize("name", ["ABS", "CLIP", "IDENTITY", "NEGATE", "SIGN", "THRESHOLD"])
def test_integers_have_no_rounding(name: str) -> None:
    given = np.array([-128, -5, 0, 3, 127], np.int8)
    fields = {"CLIP": {"Min": -7, "Max": 9}, "THRESHOLD": {"Min": 3}}.get(name, {})
    assert not bound(name, fields, given).radius.any()


# What someone would write in FLOAT32 with NumPy.
PLAIN: dict[str, Callable[..., Any]] = {
    "ABS": np.abs,
    "ACOS": np.arccos,
    "ACOSH": lambda x: np.log(x + np.sqrt(np.where(x < 1, NAN, x * x - np.float32(1)).astype(np.float32))),
    "ASIN": np.arcsin,
    "ASINH": lambda x: np.copysign(np.log(np.abs(x) + np.sqrt(x * x + np.float32(1))), x),
    "ATAN": np.arctan,
    "ATANH": lambda x: np.log((1 + x) / (1 - x)) / np.float32(2),
    "CEIL": np.ceil,
    "CLIP": lambda x: np.clip(x, np.float32(-0.3), np.float32(0.7)),
    "CLIP1": lambda x: np.clip(x, np.float32(-0.3), np.float32(0.7)),
    "CONSTANT_POW": lambda x: np.exp2(np.float32(2.7) * np.log2(x)),
    "COS": np.cos,
    "COSH": lambda x: (np.exp(x) + np.exp(-x)) / np.float32(2),
    "ERF": lambda x: np.array([math.erf(value) for value in x], np.float32),
    "EXP": lambda x: np.exp2(x * np.float32(1 / math.log(2))),
    "FLOOR": np.floor,
    "IDENTITY": lambda x: x,
    "LOG": lambda x: np.log2(x) * np.float32(math.log(2)),
    "RECIP": np.reciprocal,
    "SIN": np.sin,
    "SINH": lambda x: (np.exp(x) - np.exp(-x)) / np.float32(2),
    "SQRT": np.sqrt,
    "TAN": lambda x: np.sin(x) / np.cos(x),
    "TANH": lambda x: np.float32(1) - np.float32(2) / (np.exp(np.float32(2) * x) + np.float32(1)),
    "THRESHOLD": lambda x: np.maximum(x, np.float32(0.3)),
}


LARGEST = {"ACOSH": 1e18, "ASINH": 1e18, "COSH": 79.0, "SINH": 79.0}  # from where on squares or powers overflow


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_implementation_in_float32_is_within_the_bound(name: str, scaled: bool) -> None:
    given = float32_around_edges()
    given = given[~(np.abs(given) > LARGEST.get(name, INF))]
    with np.errstate(all="ignore"):
        x = given * np.float32(1.1) + np.float32(0.3) if scaled else given
        found = PLAIN[name](x)
    assert found.dtype == np.float32
    limit = bound(name, {**FIELDS.get(name, {}), **({"ScaleBias": SCALED} if scaled else {})}, given)
    wrong = refused(found, limit)
    rows = zip(given[wrong].tolist(), found[wrong].tolist(), limit.value[wrong].tolist(), strict=True)
    assert [(x.hex(), bad, good) for x, bad, good in rows] == []


@pytest.mark.parametrize("name", ["CEIL", "FLOOR"])
def test_beside_a_whole_number_of_a_sum_both_neighbours_are_right_and_no_others(name: str) -> None:
    given = np.array([1 + 2.0**-23, 1.25, 1000.5], np.float32)
    found = bound(name, {"ScaleBias": {"Scale": 3, "Bias": 4}}, given)  # 7 and a little, 7.75, 3005.5
    right = {"CEIL": [[7, 8], [8, 8], [3006, 3006]], "FLOOR": [[6, 7], [7, 7], [3005, 3005]]}[name]
    assert np.stack([found.value - found.radius, found.value + found.radius], axis=1).tolist() == right


def test_scale_and_bias_that_float16_rounds_widen_the_bound_of_float16_tensors_only() -> None:
    given = np.array([0, 1], np.float16)
    fields = {"ScaleBias": {"Scale": 0, "Bias": 0.3}}
    radius = bound("IDENTITY", fields, given).radius
    rounded = abs(float(np.float16(0.3)) - float(np.float32(0.3)))
    assert (radius >= rounded).all()
    assert (radius <= rounded + 2.0**-11).all()
    assert (bound("IDENTITY", fields, given.astype(np.float32)).radius <= 2.0**-24).all()


@pytest.mark.parametrize(
    ("name", "element", "most"),
    [("SQRT", 2.0, 4e-7), ("EXP", 1.0, 4e-6), ("LOG", 10.0, 4e-6), ("RECIP", 3.0, 4e-7), ("TANH", 0.5, 2e-5)],
)
def test_bounds_are_not_looser_than_needed(name: str, element: float, most: float) -> None:
    assert 0 < bound(name, {}, np.array([element], np.float32)).radius[0] <= most


# ---- VALUE_SCALE_2D


def scaled_images(
    x: Array, scale: float, bias: list[float], accumulate: str = "FLOAT32"
) -> tuple[Array, Bound, OperatorDesc]:
    """Return what the engine computes, its bound of all elements in row-major order, and the desc."""
    tensor = {"DataType": x.dtype.name.upper(), "Sizes": list(x.shape)}
    fields = {"InputTensor": tensor, "OutputTensor": tensor, "Scale": scale, "Bias": bias}
    desc = valid("VALUE_SCALE_2D", fields)
    inputs = {"InputTensor": x}
    asked = {"OutputTensor": np.ones(x.shape, bool)}
    return engine.run(desc, inputs)["OutputTensor"], gathered(desc, inputs, asked, accumulate)["OutputTensor"], desc


def images(seed: int, dtype: Any = np.float32) -> tuple[Array, float, list[float]]:
    """Return images of three channels, a scale and a bias for each of these that nearly cancels some products."""
    generator = np.random.default_rng(seed)
    x = (generator.normal(size=(2, 3, 4, 5)) * 100).astype(dtype)
    scale = float(np.float32(generator.normal()))
    return x, scale, [float(-np.float32(scale * x[0, channel, 1, 2])) for channel in range(3)]


def test_either_order_of_rounding_in_float32_is_within_the_bound_of_scaled_images() -> None:
    for seed in range(20):
        x, scale, bias = images(seed)
        shift = np.array(bias, np.float32).reshape(1, 3, 1, 1)
        _, bound, _ = scaled_images(x, scale, bias)
        separate = x * np.float32(scale) + shift
        fused = (x.astype(np.float64) * scale + shift).astype(np.float32)
        assert not refused(separate.reshape(-1), bound).any()
        assert not refused(fused.reshape(-1), bound).any()


def test_images_of_float16_may_be_scaled_in_float16_with_rounded_numbers() -> None:
    for seed in range(20):
        x, scale, bias = images(seed, np.float16)
        in_float16 = x * np.float16(scale) + np.array(bias, np.float16).reshape(1, 3, 1, 1)
        _, bound, _ = scaled_images(x, scale, bias, "FLOAT16")
        assert not refused(in_float16.reshape(-1), bound).any()


def test_the_bias_of_float16_images_may_be_rounded_to_float16() -> None:
    x = np.zeros((1, 1, 1, 1), np.float16)
    _, bound, _ = scaled_images(x, 1, [1.0006])
    assert float(bound.radius[0]) == pytest.approx(1.0009765625 - 1.0006, rel=1e-3)


def test_a_fault_in_scaled_images_is_refused() -> None:
    x, scale, bias = images(3)
    found, bound, _ = scaled_images(x, scale, bias)
    for wrong in (
        x * np.float32(scale) + np.array(bias[::-1], np.float32).reshape(1, 3, 1, 1),
        x * np.float32(scale * 1.000001) + np.array(bias, np.float32).reshape(1, 3, 1, 1),
        found * np.float32(1.0001),
    ):
        assert refused(wrong.reshape(-1), bound).mean() > 0.3
    assert not refused(found.reshape(-1), bound).any()


def test_scaled_images_of_many_elements_come_in_tiles() -> None:
    x = np.arange(3 * 300 * 400, dtype=np.float32).reshape(1, 3, 300, 400)
    found, _, desc = scaled_images(x, 2, [1, 2, 3])
    assert len(list(tiles_of(desc, {"InputTensor": x}))) > 1
    assert np.array_equal(found, x * 2 + np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1))
