"""The element-wise and activation kernels against mpmath, bit for bit, on every FLOAT16 and on FLOAT32 around edges.

DMLCHECK_SAMPLES sets how many FLOAT32 elements each operator is given.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import dmlcheck
from dmlcheck import validation
from dmlcheck.reference.kernels import compute
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]

SAMPLES = int(os.environ.get("DMLCHECK_SAMPLES", "2000"))
DIGITS = mpmath.workprec(220)  # bits: the largest angles take 128 before the point


# ---- what is mathematically right


def number(x: Any) -> Any:
    return x


def logistic(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def softplus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x)) if x < 80 else x + mpmath.log1p(mpmath.exp(-x))


def expm1(x: Any) -> Any:
    return mpmath.expm1(x) if x > -200 else mpf(-1)


def half_away(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.floor(abs(x) + mpf(1) / 2)


def inside(low: float, high: float, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Give NaN outside of a domain, which mpmath would leave for complex numbers."""
    return lambda x: function(x) if low <= x <= high else mpmath.nan


def power(x: Any, exponent: float) -> Any:
    return mpmath.nan if x < 0 and not float(exponent).is_integer() else x ** mpf(exponent)


SINGLE = {name: float(np.float32(value)) for name, value in {"0.1": 0.1, "0.3": 0.3, "1.1": 1.1, "1.6": 1.6732}.items()}
A, B, C, D = SINGLE.values()
INF = math.inf
E = float(np.float32(3e-5))
STEEP = {"ScaleBias": {"Scale": 3e-5, "Bias": 1}}  # a base beside 1, whose power shows what float64 cannot hold
FROM_1 = {"ScaleBias": {"Scale": -1, "Bias": 1}}  # numbers beside 1 that float64 cannot hold

# An operator, its attributes as a case has them, and its formula for finite elements.
ROWS: list[tuple[str, dict[str, Any], Callable[[Any], Any]]] = [
    ("ELEMENT_WISE_ABS", {}, abs),
    ("ELEMENT_WISE_ACOS", {}, inside(-1, 1, mpmath.acos)),
    ("ELEMENT_WISE_ACOSH", {}, inside(1, INF, mpmath.acosh)),
    ("ELEMENT_WISE_ASIN", {}, inside(-1, 1, mpmath.asin)),
    ("ELEMENT_WISE_ASINH", {}, lambda x: mpmath.sign(x) * mpmath.asinh(abs(x))),
    ("ELEMENT_WISE_ATAN", {}, mpmath.atan),
    ("ELEMENT_WISE_ATANH", {}, inside(-1, 1, lambda x: x * INF if abs(x) == 1 else mpmath.atanh(x))),
    ("ELEMENT_WISE_CEIL", {}, mpmath.ceil),
    ("ELEMENT_WISE_CONSTANT_POW", {"Exponent": 2.5}, lambda x: power(x, 2.5)),
    ("ELEMENT_WISE_CONSTANT_POW", {"Exponent": 3}, lambda x: x**3),
    ("ELEMENT_WISE_CLIP", {"Min": -0.75, "Max": 3.5}, lambda x: min(mpf(3.5), max(mpf(-0.75), x))),
    ("ELEMENT_WISE_CLIP", {"Min": 2, "Max": 1}, lambda _: mpf(1)),
    (
        "ELEMENT_WISE_CLIP1",
        {"MinMaxDataType": "", "Min": -0.75, "Max": 3.5},
        lambda x: min(mpf(3.5), max(mpf(-0.75), x)),
    ),
    ("ELEMENT_WISE_CLIP1", {"MinMaxDataType": "", "Min": 2, "Max": 1}, lambda _: mpf(2)),
    ("ELEMENT_WISE_COS", {}, mpmath.cos),
    ("ELEMENT_WISE_COSH", {}, mpmath.cosh),
    ("ELEMENT_WISE_ERF", {}, mpmath.erf),
    ("ELEMENT_WISE_EXP", {}, mpmath.exp),
    ("ELEMENT_WISE_FLOOR", {}, mpmath.floor),
    ("ELEMENT_WISE_LOG", {}, lambda x: -mpmath.inf if x == 0 else inside(0, INF, mpmath.log)(x)),
    ("ELEMENT_WISE_NEGATE", {}, lambda x: -x),
    ("ELEMENT_WISE_RECIP", {}, lambda x: mpmath.inf if x == 0 else 1 / x),
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "HALVES_TO_NEAREST_EVEN"}, mpmath.nint),
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "TOWARD_INFINITY"}, half_away),
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "TOWARD_ZERO"}, lambda x: mpmath.sign(x) * mpmath.floor(abs(x))),
    ("ELEMENT_WISE_SIGN", {}, mpmath.sign),
    ("ELEMENT_WISE_SIN", {}, mpmath.sin),
    ("ELEMENT_WISE_SIN", {"ScaleBias": {"Scale": 1.1, "Bias": 0.3}}, lambda x: mpmath.sin(x * mpf(C) + mpf(B))),
    ("ELEMENT_WISE_ACOS", FROM_1, lambda x: inside(-1, 1, mpmath.acos)(1 - x)),
    ("ELEMENT_WISE_ACOSH", FROM_1, lambda x: inside(1, INF, mpmath.acosh)(1 - x)),
    (
        "ELEMENT_WISE_ATANH",
        FROM_1,
        lambda x: inside(-1, 1, lambda y: y * INF if abs(y) == 1 else mpmath.atanh(y))(1 - x),
    ),
    ("ELEMENT_WISE_LOG", FROM_1, lambda x: -mpmath.inf if x == 1 else inside(0, INF, mpmath.log)(1 - x)),
    ("ELEMENT_WISE_CONSTANT_POW", {**STEEP, "Exponent": 1e5}, lambda x: (x * mpf(E) + 1) ** 100_000),
    ("ELEMENT_WISE_COS", {"ScaleBias": {"Scale": 1.1, "Bias": 0.3}}, lambda x: mpmath.cos(x * mpf(C) + mpf(B))),
    ("ELEMENT_WISE_TAN", {"ScaleBias": {"Scale": 1.1, "Bias": 0.3}}, lambda x: mpmath.tan(x * mpf(C) + mpf(B))),
    ("ELEMENT_WISE_SINH", {}, lambda x: mpmath.sign(x) * mpmath.sinh(abs(x))),
    ("ELEMENT_WISE_SQRT", {}, inside(0, INF, mpmath.sqrt)),
    ("ELEMENT_WISE_TAN", {}, mpmath.tan),
    ("ELEMENT_WISE_TANH", {}, mpmath.tanh),
    ("ELEMENT_WISE_THRESHOLD", {"Min": 0.3}, lambda x: max(x, mpf(B))),
    ("ELEMENT_WISE_IDENTITY", {"ScaleBias": {"Scale": 1.1, "Bias": 0.3}}, lambda x: x * mpf(C) + mpf(B)),
    ("ACTIVATION_CELU", {"Alpha": 1.1}, lambda x: x if x > 0 else mpf(C) * expm1(x / mpf(C))),
    ("ACTIVATION_ELU", {"Alpha": 1.1}, lambda x: x if x > 0 else mpf(C) * expm1(x)),
    ("ACTIVATION_GELU", {}, lambda x: x / 2 * mpmath.erfc(-x / mpmath.sqrt(2))),
    ("ACTIVATION_HARD_SIGMOID", {"Alpha": 0.1, "Beta": 0.3}, lambda x: min(max(mpf(A) * x + mpf(B), mpf(0)), mpf(1))),
    (
        "ACTIVATION_HARD_SWISH",
        {"Alpha": 0.1, "Beta": 0.3},
        lambda x: x * min(max(mpf(A) * x + mpf(B), mpf(0)), mpf(1)),
    ),
    ("ACTIVATION_IDENTITY", {}, number),
    ("ACTIVATION_LEAKY_RELU", {"Alpha": 0.1}, lambda x: x if x > 0 else mpf(A) * x),
    ("ACTIVATION_LINEAR", {"Alpha": 1.1, "Beta": 0.3}, lambda x: mpf(C) * x + mpf(B)),
    ("ACTIVATION_PARAMETRIC_SOFTPLUS", {"Alpha": 1.1, "Beta": 0.3}, lambda x: mpf(C) * softplus(mpf(B) * x)),
    ("ACTIVATION_RELU", {}, lambda x: max(x, mpf(0))),
    (
        "ACTIVATION_SCALED_ELU",
        {"Alpha": 1.6732, "Gamma": 1.1},
        lambda x: mpf(C) * (x if x > 0 else mpf(D) * expm1(x)),
    ),
    ("ACTIVATION_SCALED_TANH", {"Alpha": 1.1, "Beta": 0.3}, lambda x: mpf(C) * mpmath.tanh(mpf(B) * x)),
    (
        "ACTIVATION_SHRINK",
        {"Bias": 0.1, "Threshold": 0.3},
        lambda x: x - mpmath.sign(x) * mpf(A) if abs(x) > mpf(B) else mpf(0),
    ),
    ("ACTIVATION_SIGMOID", {}, logistic),
    ("ACTIVATION_SOFTPLUS", {"Steepness": 1.1}, lambda x: softplus(mpf(C) * x) / mpf(C)),
    ("ACTIVATION_SOFTSIGN", {}, lambda x: x / (1 + abs(x))),
    ("ACTIVATION_SWISH", {"SigmoidInputScale": 1.1}, lambda x: x * logistic(mpf(C) * x)),
    ("ACTIVATION_TANH", {}, mpmath.tanh),
    ("ACTIVATION_THRESHOLDED_RELU", {"Alpha": 0.3}, lambda x: x if x > mpf(B) else mpf(0)),
]
NAMES = ["-".join((operator, *attributes)) for operator, attributes, _ in ROWS]


def rounded_to_odd(value: Any) -> float:
    """Return a float64 that rounds to any shorter format as a number of mpmath's does."""
    sign, mantissa, exponent, bits = value._mpf_
    if not mantissa or bits + exponent > 1000:
        return float(value) if not mantissa else -math.inf if sign else math.inf
    if bits > 53:
        is_cut = mantissa & ((1 << (bits - 53)) - 1) != 0
        mantissa, exponent = (mantissa >> (bits - 53)) | is_cut, exponent + bits - 53
    return math.ldexp(-mantissa if sign else mantissa, exponent)


def expected(function: Callable[[Any], Any], elements: Array) -> Array:
    with DIGITS, np.errstate(all="ignore"):
        wide = np.array([rounded_to_odd(mpf(function(mpf(x)))) for x in elements.tolist()])
        return wide.astype(elements.dtype)


# ---- elements


@cache
def every_float16() -> Array:
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    return values[np.isfinite(values) & (values != 0)]


@cache
def float32_around_edges() -> Array:
    """Return elements of all magnitudes, more of them where functions bend, overflow, vanish or turn."""
    generator = np.random.default_rng(20_210)
    edges = [1.0, -1.0, 0.5, 2.0, math.e, math.pi / 2, math.pi, 88.722839, -87.336545, -103.97208, 9.0109, -9.0109, 4.0]
    edges += [multiple * math.pi / 2 for multiple in (1, 2, 3, 5, 100, 1001, 31_415)] + [0.3, -0.3, 0.7, 7.0]
    count = max(1, SAMPLES // 8)
    distances = generator.normal(size=2 * count) * 2.0 ** -generator.integers(4, 24, 2 * count)
    near = generator.choice(edges, 2 * count) * (1 + distances)
    wide = generator.integers(0, 1 << 32, 3 * count, dtype=np.uint32).view(np.float32)
    powers = np.ldexp(
        generator.choice([1, 1 + 2.0**-23, 2 - 2.0**-23, -1], count), generator.integers(-149, 128, count)
    )
    plain = generator.normal(size=SAMPLES - 6 * count) * 4
    with np.errstate(all="ignore"):
        values = np.concatenate([near.astype(np.float32), wide, powers.astype(np.float32), plain.astype(np.float32)])
    return values[np.isfinite(values) & (values != 0)]


def computed(operator: str, attributes: dict[str, Any], elements: Array) -> Array:
    desc = desc_of(attributes, elements)
    return dmlcheck.evaluate(f"DML_OPERATOR_{operator}", desc, {"InputTensor": elements})["OutputTensor"]


def desc_of(attributes: dict[str, Any], elements: Array) -> dict[str, Any]:
    tensor = {"DataType": elements.dtype.name.upper(), "Sizes": [elements.size]}
    desc = {"InputTensor": tensor, "OutputTensor": tensor, **attributes}
    if "MinMaxDataType" in desc:
        desc["MinMaxDataType"] = tensor["DataType"]
    return desc


def left_open(operator: str, attributes: dict[str, Any], elements: Array) -> Array:
    desc, findings = validation.validate(f"DML_OPERATOR_{operator}", desc_of(attributes, elements), NEWEST_LEVEL)
    assert desc is not None
    assert not findings
    with np.errstate(all="ignore"):
        [(_, wide)] = compute(desc, {"InputTensor": elements})["OutputTensor"].tiles()
    return np.broadcast_to(wide.unspecified if wide.unspecified is not None else np.array(False), elements.shape)


@pytest.mark.parametrize(("operator", "attributes", "function"), ROWS, ids=NAMES)
@pytest.mark.parametrize("elements", [every_float16, float32_around_edges])
def test_the_result_is_the_mathematical_one_rounded_once(
    operator: str, attributes: dict[str, Any], function: Callable[[Any], Any], elements: Callable[[], Array]
) -> None:
    given = elements()
    right, found = expected(function, given), computed(operator, attributes, given)
    wrong = ~((right == found) | (np.isnan(right) & np.isnan(found)))
    rows = zip(given[wrong].tolist(), right[wrong].tolist(), found[wrong].tolist(), strict=True)
    assert [(x.hex(), good, bad) for x, good, bad in rows] == []


@pytest.mark.parametrize(("operator", "attributes"), [row[:2] for row in ROWS], ids=NAMES)
def test_nan_stays_nan_whatever_its_bits_where_it_is_not_left_open(operator: str, attributes: dict[str, Any]) -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    given = values[np.isnan(values)]
    assert (np.isnan(computed(operator, attributes, given)) | left_open(operator, attributes, given)).all()


@pytest.mark.parametrize(
    ("operator", "attributes", "right"),
    [
        ("ACTIVATION_CELU", {"Alpha": INF}, [True] * 4),
        ("ACTIVATION_CELU", {"Alpha": -INF}, [True] * 4),
        ("ACTIVATION_HARD_SWISH", {"Alpha": INF, "Beta": 0}, [False, True, False, False]),
        ("ACTIVATION_HARD_SWISH", {"Alpha": math.nan, "Beta": 0}, [True, True, True, False]),
        ("ACTIVATION_ELU", {"Alpha": INF}, [False] * 4),
    ],
)
def test_what_attributes_that_are_no_numbers_leave_open(
    operator: str, attributes: dict[str, Any], right: list[bool]
) -> None:
    given = np.array([-1, 0, 2, math.nan if "HARD" in operator else 3], dtype=np.float32)
    assert left_open(operator, attributes, given).tolist() == right


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [("ACTIVATION_THRESHOLDED_RELU", {"Alpha": 0.3}), ("ACTIVATION_SHRINK", {"Bias": 0, "Threshold": 0.3})],
)
@pytest.mark.parametrize("elements", [np.float16, np.float32])
def test_a_threshold_that_float16_rounds_leaves_that_number_open(
    operator: str, attributes: dict[str, Any], elements: type
) -> None:
    near = float(np.float16(0.3))
    given = np.array([near, np.nextafter(np.float16(near), np.float16(1)), -near, 0.25], dtype=elements)
    is_short = elements is np.float16
    right = [is_short, False, is_short and "SHRINK" in operator, False]
    assert left_open(operator, attributes, given).tolist() == right
    assert not left_open(operator, dict.fromkeys(attributes, 0.25), given).any()


def test_a_large_power_counts_what_float64_cannot_hold_of_its_scaled_base() -> None:
    given = np.ldexp(np.float32(1), np.arange(-40, 1)).astype(np.float32)
    attributes = {**STEEP, "Exponent": 1e5}
    right = expected(lambda x: (x * mpf(E) + 1) ** 100_000, given)
    assert computed("ELEMENT_WISE_CONSTANT_POW", attributes, given).tolist() == right.tolist()


@pytest.mark.parametrize(
    ("operator", "attributes", "right"),
    [
        ("ACTIVATION_ELU", {"Alpha": math.inf}, [-INF, -INF, 0.0, 2.0]),
        ("ACTIVATION_SCALED_ELU", {"Alpha": math.inf, "Gamma": 1}, [-INF, -INF, math.nan, 2.0]),
        ("ACTIVATION_SCALED_TANH", {"Alpha": -INF, "Beta": 1}, [INF, INF, math.nan, -INF]),
    ],
)
def test_an_infinite_factor_makes_infinities_of_the_smallest_elements_too(
    operator: str, attributes: dict[str, Any], right: list[float]
) -> None:
    found = computed(operator, attributes, np.array([-1, -1e-30, 0, 2], dtype=np.float32))
    np.testing.assert_array_equal(found, np.array(right, dtype=np.float32))


@pytest.mark.parametrize("elements", [np.float16, np.float32])
def test_infinities_and_nan_are_found_by_their_bits(elements: type) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    if elements is np.float32:
        bits = np.concatenate([bits.astype(np.uint32) << 16, np.array([0x7F800001, 0xFF800001, 0x7F7FFFFF], np.uint32)])
    fraction = 10 if elements is np.float16 else 23
    magnitude = bits & bits.dtype.type((1 << (8 * bits.itemsize - 1)) - 1)
    top = ((1 << (8 * bits.itemsize - 1)) - 1) >> fraction << fraction
    is_negative = magnitude != bits
    given = bits.view(elements)
    tensor = {"DataType": given.dtype.name.upper(), "Sizes": [given.size]}
    desc = {"InputTensor": tensor, "OutputTensor": {**tensor, "DataType": "UINT8"}}
    rights = {
        "EITHER": magnitude == top,
        "POSITIVE": (magnitude == top) & ~is_negative,
        "NEGATIVE": (magnitude == top) & is_negative,
    }
    for mode, right in rights.items():
        full = {**desc, "InfinityMode": mode}
        found = dmlcheck.evaluate("ELEMENT_WISE_IS_INFINITY", full, {"InputTensor": given})["OutputTensor"]
        np.testing.assert_array_equal(found, right.astype(np.uint8))
    found = dmlcheck.evaluate("ELEMENT_WISE_IS_NAN", desc, {"InputTensor": given})["OutputTensor"]
    np.testing.assert_array_equal(found, (magnitude > top).astype(np.uint8))


def test_the_values_of_shipped_cases_are_those_of_the_reference_to_the_last_bit() -> None:
    folders = [
        folder
        for folder in (Path(__file__).parent.parent.parent / "cases").iterdir()
        if folder.name.startswith(("element_wise_", "activation_"))
    ]
    cases = [case for folder in folders for case in dmlcheck.load_cases(folder) if case.outputs and not case.tolerance]
    assert len(cases) > 500
    results = dmlcheck.run_cases(cases)
    assert [result.case.id for result in results if any(output.max_ulp for output in result.outputs.values())] == []
