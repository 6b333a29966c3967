"""The activations: values against mpmath, what is undefined, and bounds against plain FLOAT32 implementations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from bounds_of import gathered
from elements import (
    INF,
    NAN,
    SAMPLES,
    Array,
    bound,
    computed,
    every_float16,
    float32_around_edges,
    marks,
    misrounded,
    refused,
    results,
)
from mpmath import mpf

from dmlcheck import validation
from dmlcheck.specs.names import NEWEST_LEVEL


def floats(*values: float, dtype: Any = np.float32) -> Array:
    return np.array(values, dtype)


# ---- values against mpmath


def logistic(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def softplus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x)) if x < 80 else x + mpmath.exp(-x)


def expm1(x: Any) -> Any:
    return mpmath.expm1(x) if x > -200 else mpf(-1)


def clipped(x: Any) -> Any:
    return min(max(x, mpf(0)), mpf(1))


# FLOAT fields are FLOAT32: the numbers that these decimals become.
A, B, C, D = (float(np.float32(decimal)) for decimal in (0.1, 0.3, 1.1, 1.6732))

# An operator, its fields as a case has them, and its formula for finite elements.
ROWS: list[tuple[str, dict[str, Any], Callable[[Any], Any]]] = [
    ("CELU", {"Alpha": 1.1}, lambda x: x if x > 0 else mpf(C) * expm1(x / mpf(C))),
    ("CELU", {"Alpha": -1.1}, lambda x: x if x > 0 else -mpf(C) * (mpmath.expm1(-x / mpf(C)) if x > -500 else INF)),
    ("ELU", {"Alpha": 1.1}, lambda x: x if x > 0 else mpf(C) * expm1(x)),
    ("GELU", {}, lambda x: x / 2 * mpmath.erfc(-x / mpmath.sqrt(2))),
    ("HARD_SIGMOID", {"Alpha": 0.1, "Beta": 0.3}, lambda x: clipped(mpf(A) * x + mpf(B))),
    ("HARD_SWISH", {"Alpha": 0.1, "Beta": 0.3}, lambda x: x * clipped(mpf(A) * x + mpf(B))),
    ("IDENTITY", {}, lambda x: x),
    ("LEAKY_RELU", {"Alpha": 0.1}, lambda x: x if x > 0 else mpf(A) * x),
    ("LINEAR", {"Alpha": 1.1, "Beta": 0.3}, lambda x: mpf(C) * x + mpf(B)),
    ("PARAMETRIC_SOFTPLUS", {"Alpha": 1.1, "Beta": 0.3}, lambda x: mpf(C) * softplus(mpf(B) * x)),
    ("RELU", {}, lambda x: max(x, mpf(0))),
    ("SCALED_ELU", {"Alpha": 1.6732, "Gamma": 1.1}, lambda x: mpf(C) * (x if x > 0 else mpf(D) * expm1(x))),
    ("SCALED_TANH", {"Alpha": 1.1, "Beta": 0.3}, lambda x: mpf(C) * mpmath.tanh(mpf(B) * x)),
    ("SHRINK", {"Bias": 0.1, "Threshold": 0.3}, lambda x: x - mpmath.sign(x) * mpf(A) if abs(x) > mpf(B) else mpf(0)),
    ("SIGMOID", {}, logistic),
    ("SOFTPLUS", {"Steepness": 1.1}, lambda x: softplus(mpf(C) * x) / mpf(C)),
    ("SOFTSIGN", {}, lambda x: x / (1 + abs(x))),
    ("SWISH", {"SigmoidInputScale": 1.1}, lambda x: x * logistic(mpf(C) * x)),
    ("TANH", {}, mpmath.tanh),
    ("THRESHOLDED_RELU", {"Alpha": 0.3}, lambda x: x if x > mpf(B) else mpf(0)),
]
NAMES = ["-".join(map(str, (name, *fields.values()))) for name, fields, _ in ROWS]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fields", "function"), ROWS, ids=NAMES)
@pytest.mark.parametrize("elements", [every_float16, float32_around_edges])
def test_the_result_is_the_mathematical_one_rounded_once(
    name: str, fields: dict[str, Any], function: Callable[[Any], Any], elements: Callable[[], Array]
) -> None:
    given = elements()
    given = given[np.isfinite(given) & (given != 0)][:: max(1, given.size // SAMPLES)]
    with mpmath.workprec(120):
        right = np.array([float(function(mpf(x))) for x in given.tolist()])
    found = computed(f"ACTIVATION_{name}", fields, given)
    wrong = misrounded(found, right)
    rows = zip(given[wrong].tolist(), right[wrong].tolist(), found[wrong].tolist(), strict=True)
    assert [(x.hex(), good, bad) for x, good, bad in rows] == []


@pytest.mark.parametrize(
    ("operator", "fields", "elements", "right"),
    [
        ("ELU", {"Alpha": INF}, [-1, -1e-30, 0, 2], [-INF, -INF, 0, 2]),
        ("SCALED_ELU", {"Alpha": INF, "Gamma": 1}, [-1, -1e-30, 0, 2], [-INF, -INF, NAN, 2]),
        ("SCALED_TANH", {"Alpha": -INF, "Beta": 1}, [-1, -1e-30, 0, 2], [INF, INF, NAN, -INF]),
        ("PARAMETRIC_SOFTPLUS", {"Alpha": INF, "Beta": 1}, [-1, 50, INF], [INF, INF, INF]),
        ("SIGMOID", {}, [-INF, -1000, 0, 1000, INF], [0, 0, 0.5, 1, 1]),
        ("TANH", {}, [-INF, -1000, 1000, INF], [-1, -1, 1, 1]),
        ("SOFTPLUS", {"Steepness": 1}, [-INF, -1000, 1000, INF], [0, 0, 1000, INF]),
        ("SOFTPLUS", {"Steepness": -2}, [-INF, 1000], [-INF, 0]),
        ("SWISH", {"SigmoidInputScale": 1}, [-1000, 1000, INF], [0, 1000, INF]),
        ("HARD_SWISH", {"Alpha": 1, "Beta": 0}, [-2, 0.5, 2, INF], [0, 0.25, 2, INF]),
        ("GELU", {}, [-1000, 1000, INF], [0, 1000, INF]),
        ("LEAKY_RELU", {"Alpha": -2}, [-3, -INF, INF], [6, INF, INF]),
        ("LEAKY_RELU", {"Alpha": INF}, [-3, 0, 3], [-INF, 0, 3]),
        ("CELU", {"Alpha": 2}, [-INF, 3e38], [-2, 3e38]),
        ("HARD_SIGMOID", {"Alpha": 1, "Beta": 0}, [-INF, INF], [0, 1]),
        ("SHRINK", {"Bias": 1, "Threshold": 2}, [2, -2, 2.5, -2.5, INF, -INF], [0, 0, 1.5, -1.5, INF, -INF]),
        ("THRESHOLDED_RELU", {"Alpha": -1}, [-1, -0.5, -INF, INF], [0, -0.5, 0, INF]),
    ],
)
def test_extreme_elements_and_attributes_give_what_the_formula_says(
    operator: str, fields: dict[str, Any], elements: list[float], right: list[float]
) -> None:
    for dtype in (np.float32,) if 3e38 in elements or 1e-30 in np.abs(elements) else (np.float32, np.float16):
        given = floats(*elements, dtype=dtype)
        np.testing.assert_array_equal(computed(f"ACTIVATION_{operator}", fields, given), floats(*right, dtype=dtype))
        assert not any(marks(f"ACTIVATION_{operator}", fields, given))


# ---- what is undefined


@pytest.mark.parametrize(("name", "fields"), [row[:2] for row in ROWS], ids=NAMES)
def test_nan_stays_nan_whatever_its_bits_where_it_is_not_marks(name: str, fields: dict[str, Any]) -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    given = values[np.isnan(values)]
    is_undefined = name in ("CELU", "HARD_SIGMOID", "RELU", "SHRINK", "THRESHOLDED_RELU")
    assert marks(f"ACTIVATION_{name}", fields, given) == [is_undefined] * given.size
    assert is_undefined or np.isnan(computed(f"ACTIVATION_{name}", fields, given)).all()


@pytest.mark.parametrize(
    ("dtype", "bias", "threshold", "elements", "right"),
    [
        (np.int8, 3, 2, [-128, -3, -2, 0, 2, 3, 127], [-125, 0, 0, 0, 0, 0, 124]),
        (np.int8, -3, 2, [-127, -125, 124, 126], [None, -128, 127, None]),
        (np.int8, 2.5, 2, [0, 5], [None, None]),
        (np.int8, 3, 0.5, [0, 5], [None, None]),
        (np.int8, 200, 2, [0, 5], [None, None]),
        (np.int8, INF, 2, [0, 5], [None, None]),
        (np.int8, NAN, 2, [0, 5], [None, None]),
        (np.int8, 1, -2, [-3, -2, -1, 1, 2, 3], [-2, -1, None, None, 1, 2]),
        (np.uint8, 3, 0, [0, 2, 3, 255], [0, None, 0, 252]),
        (np.uint8, 3, 10, [0, 10, 11], [None, None, 8]),
        (np.int32, 1, 1, [2**24, 2**24 + 1, -(2**24), -(2**24) - 1], [2**24 - 1, 2**24, 1 - 2**24, -(2**24)]),
        (np.int32, -1, 1, [2**24 - 1, 2**24], [2**24, 2**24 + 1]),
        (np.int32, 1, 1, [2**31 - 128, 2**31 - 1], [2**31 - 129, None]),
    ],
)
def test_integers_shrink_where_their_type_holds_them_exactly_and_in_float32(
    dtype: Any, bias: float, threshold: float, elements: list[int], right: list[int | None]
) -> None:
    fields = {"Bias": bias, "Threshold": threshold}
    assert results("ACTIVATION_SHRINK", fields, np.array(elements, dtype)) == right


# ---- sums and the activation that is fused to them


def fused(name: str, **fields: Any) -> dict[str, Any]:
    return {"FusedActivation": {"Type": f"ACTIVATION_{name}", "Desc": fields}}


def test_sums_are_not_rounded_before_the_activation() -> None:
    # 1 + 2^-20 + 2^-40, times 2^20, less 2^20: 1 + 2^-20, of which a sum in FLOAT32 has lost the last part.
    linear = fused("LINEAR", Alpha=2.0**20, Beta=-(2.0**20))
    found = computed("ADD1", linear, floats(1 + 2.0**-20), floats(2.0**-40))
    assert found.tolist() == [1 + 2.0**-20]


def test_the_rounding_of_the_sum_goes_through_the_activation() -> None:
    linear = fused("LINEAR", Alpha=2.0**20, Beta=-(2.0**20))
    radius = bound("ADD1", linear, floats(1 + 2.0**-20), floats(2.0**-40)).radius
    assert 2.0**-4 <= radius[0] <= 2.0**-4 * 3.1  # of the sum 2^-24 * 2^20, and as much for the product and for Beta


def test_a_threshold_within_the_rounding_of_the_sum_lets_through_both() -> None:
    relu = fused("THRESHOLDED_RELU", Alpha=1)
    found = bound("ADD1", relu, floats(1, 1, 1), floats(2.0**-26, 2.0**-20, -(2.0**-20)))
    low, high = found.value - found.radius, found.value + found.radius
    assert ((low <= 0) & (high >= 0)).tolist() == [True, False, True]
    assert ((low <= 1) & (high >= 1)).tolist() == [True, False, False]


# ---- bounds


@pytest.mark.parametrize("name", ["IDENTITY", "RELU"])
def test_moved_elements_have_no_rounding(name: str) -> None:
    assert not bound(f"ACTIVATION_{name}", {}, floats(-1, 1e-40, 0.3, 3e38)).radius.any()


def test_a_gradient_that_passes_has_no_rounding() -> None:
    assert not bound("ACTIVATION_RELU_GRAD", {}, floats(-1, 1e-40, 0.3), floats(0.1, 1e-40, 3)).radius.any()


def test_elements_on_one_side_of_a_threshold_have_no_rounding() -> None:
    assert not bound("ACTIVATION_THRESHOLDED_RELU", {"Alpha": 0.3}, floats(-1, 0.2, 0.3, 0.4, 7)).radius.any()
    assert not bound("ACTIVATION_SHRINK", {"Bias": 0, "Threshold": 1}, floats(0.5, -0.5)).radius.any()


def test_integers_have_no_rounding() -> None:
    elements = np.array([-5, 0, 5, 127], np.int8)
    assert not bound("ACTIVATION_RELU", {}, elements).radius.any()
    assert not bound("ACTIVATION_SHRINK", {"Bias": 1, "Threshold": 1}, elements).radius.any()
    assert not bound("ACTIVATION_PARAMETERIZED_RELU", {}, elements, elements).radius.any()


@pytest.mark.parametrize(
    ("name", "fields"), [("THRESHOLDED_RELU", {"Alpha": 0.3}), ("SHRINK", {"Bias": 0, "Threshold": 0.3})]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_beside_a_threshold_that_is_no_float16_number_either_result_is_right(
    name: str, fields: dict[str, Any], sign: int
) -> None:
    if name == "THRESHOLDED_RELU":
        fields = {"Alpha": 0.3 * sign}
    near = np.float16(0.3)
    given = floats(near, np.nextafter(near, np.float16(1)), np.nextafter(near, np.float16(0)), dtype=np.float16) * sign
    found = bound(f"ACTIVATION_{name}", fields, given)
    assert (np.abs(given.astype(np.float64) - found.value) <= found.radius).tolist()[0]
    assert (np.abs(0 - found.value) <= found.radius).tolist()[0]
    assert not found.radius[1:].any()
    assert not found.undefined.any()
    assert not bound(f"ACTIVATION_{name}", fields, given.astype(np.float32)).radius.any()


def softplus_as_it_stands(x: Array) -> Array:
    one = x.dtype.type(1)
    return np.where(x > np.log(np.finfo(x.dtype).max) - 1, x, np.log(one + np.exp(x)))


def tanh_as_it_stands(x: Array) -> Array:
    power = np.exp(-2 * np.abs(x))
    return np.copysign((1 - power) / (1 + power), x)


# An activation, its fields, and what a plain implementation in the type of its elements makes of these fields.
PLAIN: list[tuple[str, dict[str, float], Callable[..., Array]]] = [
    ("CELU", {"Alpha": 1.5}, lambda x, a: np.maximum(x, 0) + np.minimum(a * (np.exp(x / a) - 1), 0)),
    ("CELU", {"Alpha": 0.3}, lambda x, a: np.where(x > 0, x, a * np.expm1(x / a))),
    ("ELU", {"Alpha": 1.1}, lambda x, a: np.where(x >= 0, x, a * (np.exp(x) - 1))),
    ("ELU", {"Alpha": 1000}, lambda x, a: np.where(x >= 0, x, a * np.exp(x) - a)),
    ("GELU", {}, lambda x: x / 2 * (1 + np.array([math.erf(y / math.sqrt(2)) for y in x.tolist()], x.dtype))),
    ("HARD_SIGMOID", {"Alpha": 0.1, "Beta": 1e-5}, lambda x, a, b: np.clip(a * x + b, 0, 1)),
    ("HARD_SWISH", {"Alpha": 1 / 6, "Beta": 0.5}, lambda x, a, b: x * np.clip(a * x + b, 0, 1)),
    ("LEAKY_RELU", {"Alpha": 0.01}, lambda x, a: np.where(x >= 0, x, a * x)),
    ("LINEAR", {"Alpha": -3, "Beta": 1000}, lambda x, a, b: a * x + b),
    ("PARAMETRIC_SOFTPLUS", {"Alpha": -2, "Beta": 0.3}, lambda x, a, b: a * softplus_as_it_stands(b * x)),
    ("SCALED_ELU", {"Alpha": 1.67, "Gamma": 1.05}, lambda x, a, c: c * np.where(x > 0, x, a * np.exp(x) - a)),
    ("SCALED_TANH", {"Alpha": 1.7159, "Beta": 0.6667}, lambda x, a, b: a * tanh_as_it_stands(b * x)),
    ("SHRINK", {"Bias": 0.1, "Threshold": 0.3}, lambda x, b, t: np.where(x > t, x - b, np.where(x < -t, x + b, 0))),
    ("SIGMOID", {}, lambda x: 1 / (1 + np.exp(-x))),
    ("SOFTPLUS", {"Steepness": 1.1}, lambda x, s: softplus_as_it_stands(s * x) / s),
    ("SOFTSIGN", {}, lambda x: x / (1 + np.abs(x))),
    ("SWISH", {"SigmoidInputScale": 1.702}, lambda x, s: x * (1 / (1 + np.exp(-(s * x))))),
    ("SWISH", {"SigmoidInputScale": 1}, lambda x, s: x / (1 + np.exp(-(s * x)))),
    ("TANH", {}, tanh_as_it_stands),
    ("THRESHOLDED_RELU", {"Alpha": 0.3}, lambda x, a: np.where(x > a, x, 0)),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fields", "plain"), PLAIN, ids=["-".join(map(str, (row[0], *row[1].values()))) for row in PLAIN]
)
@pytest.mark.parametrize(
    ("elements", "computes_in"),
    [(every_float16, np.float16), (every_float16, np.float32), (float32_around_edges, np.float32)],
)
def test_a_plain_implementation_is_within_the_bound(
    name: str, fields: dict[str, float], plain: Callable[..., Array], elements: Callable[[], Array], computes_in: Any
) -> None:
    given = elements()
    given = given[np.abs(given) < 2e4]  # beyond, products overflow FLOAT16
    with np.errstate(all="ignore"):
        found = plain(given.astype(computes_in), *map(computes_in, fields.values())).astype(given.dtype)
    limits = bound(f"ACTIVATION_{name}", fields, given, accumulate=np.dtype(computes_in).name.upper())
    wrong = refused(found, limits)
    rows = zip(given[wrong].tolist(), limits.value[wrong].tolist(), found[wrong].tolist(), strict=True)
    assert [(x.hex(), good, bad) for x, good, bad in rows] == []


@pytest.mark.parametrize(
    ("name", "fields", "element", "units"),
    [
        ("CELU", {"Alpha": 1.5}, -1, 20),
        ("ELU", {"Alpha": 1.1}, -1, 15),
        ("ELU", {"Alpha": 1.1}, -100, 2),
        ("GELU", {}, 2, 12),
        ("HARD_SIGMOID", {"Alpha": 0.3, "Beta": 0.3}, 0.7, 1),
        ("HARD_SWISH", {"Alpha": 0.3, "Beta": 0.3}, 0.7, 2.5),
        ("HARD_SWISH", {"Alpha": 0.3, "Beta": 0.3}, 70, 0),
        ("LEAKY_RELU", {"Alpha": 0.3}, -0.7, 0.5),
        ("LEAKY_RELU", {"Alpha": 0.3}, 0.7, 0),
        ("LINEAR", {"Alpha": 0.3, "Beta": 0.3}, 0.7, 1),
        ("PARAMETRIC_SOFTPLUS", {"Alpha": 0.3, "Beta": 0.3}, 1, 20),
        ("SCALED_ELU", {"Alpha": 0.3, "Gamma": 0.3}, -1, 20),
        ("SCALED_ELU", {"Alpha": 0.3, "Gamma": 0.3}, 0.7, 0.5),
        ("SHRINK", {"Bias": 0.3, "Threshold": 0.3}, 0.7, 0.5),
        ("SIGMOID", {}, 0, 33),
        ("SIGMOID", {}, -20, 40),
        ("SOFTPLUS", {"Steepness": 1}, 1, 15),
        ("SOFTPLUS", {"Steepness": 1}, 10000, 2),
        ("SOFTSIGN", {}, 1, 1),
        ("SOFTSIGN", {}, 2, 8),
        ("SWISH", {"SigmoidInputScale": 1}, 1, 36),
    ],
)
def test_the_bound_is_no_larger_than_the_roundings_of_the_formula(
    name: str, fields: dict[str, float], element: float, units: float
) -> None:
    found = bound(f"ACTIVATION_{name}", fields, floats(element))
    assert found.radius[0] <= units * float(np.spacing(np.abs(floats(found.value[0]))[0]))


@pytest.mark.parametrize(("off", "is_right"), [(30, True), (-30, True), (80, False)])
def test_swish_and_fused_sigmoids_may_be_as_far_off_as_sigmoid(off: int, is_right: bool) -> None:
    """SIGMOID may be 34 ULP off, of 0.75 34 * 2^-24."""
    x = np.array([math.log(3)], np.float32)
    sigmoid = 0.75 + off * 2.0**-24
    one = {"DataType": "FLOAT32", "Sizes": [1]}
    for name, inputs, fields, found in (
        ("ACTIVATION_SWISH", ["Input"], {"SigmoidInputScale": 1}, math.log(3) * sigmoid),
        ("ELEMENT_WISE_ADD1", ["A", "B"], {"FusedActivation": {"Type": "ACTIVATION_SIGMOID"}}, sigmoid),
    ):
        given = {f"{part}Tensor": x if part != "B" else x * 0 for part in inputs}
        desc = {**dict.fromkeys([*given, "OutputTensor"], one), **fields}
        legal, problems = validation.validate(f"DML_OPERATOR_{name}", desc, NEWEST_LEVEL)
        assert legal is not None, problems
        bound = gathered(legal, given, {"OutputTensor": np.ones(1, bool)})["OutputTensor"]
        reach = bound.radius[0] + np.spacing(np.float32(found))
        assert (abs(found - bound.value[0]) <= reach) == is_right
