"""The table of roundings: it allows what its sources grant, as Direct3D's shaders compute it, and prints them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball import elementwise, errors
from dmlcheck.reference.ball.ball import LOGIC, OPERATIONS
from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.ball.roundings import ROUNDINGS, Rounding, limits_and_sources, rounding, words
from dmlcheck.reference.functions import special

Array = np.ndarray[Any, Any]
F = np.float32
GRANTED = 2.0**-21 * 7 / 8  # of which the rounding of the result to FLOAT32 makes 2^-21
FLOAT16 = Arithmetic("FLOAT16", "FLOAT16", 2.0**-11, 2.0**-14)
ROWS = [(name, data_type) for name, rows in ROUNDINGS.items() for data_type in rows]


def between(low: float, high: float, count: int = 20_001) -> Array:
    return np.linspace(low, high, count).astype(F)


def largest_share(found: Array, bound: Ball) -> float:
    """Return the largest share of the bound that an implementation uses."""
    return float(np.max(np.abs(found.astype(np.float64) - bound.value) / bound.radius))


# ---- the rows


@pytest.mark.parametrize(("name", "data_type"), ROWS)
def test_every_row_prints_its_limit_and_its_source(name: str, data_type: str) -> None:
    row = ROUNDINGS[name][data_type]
    text = words(row)
    assert row.source in text
    assert len(row.source) > 10
    assert (row.formula is None) != (text == row.source)
    assert row.formula is not None or row.ulp or row.absolute


def test_a_row_is_said_in_words() -> None:
    assert words(Rounding("A book", ulp=4, operand=1)) == "4 ULP, and 1 ULP of the operand (A book)"
    assert words(Rounding("A book", ulp=5, absolute=4.2e-7)) == "5 ULP or 4.2e-07, whichever is larger (A book)"
    assert words(Rounding("A book", absolute=8e-4, at_most=2)) == "0.0008, at most 2 (A book)"
    assert words(Rounding("as exp(x) - 1", formula=np.expm1)) == "as exp(x) - 1"
    two = Rounding("A book", ulp=4, likely=Rounding("A test", ulp=1, at_most=2))
    assert words(two) == "4 ULP (A book); likely 1 ULP, at most 2 (A test)"
    assert limits_and_sources(two) == [("4 ULP", "A book"), ("1 ULP, at most 2", "A test")]


def test_a_function_without_a_row_has_that_of_most_functions() -> None:
    assert rounding("cbrt", "FLOAT32").ulp == 4
    assert rounding("cbrt", "FLOAT16").ulp == 2
    assert rounding("exp", "FLOAT64").ulp == 4


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
def test_every_function_that_a_kernel_calls_has_a_row_or_rounds_nothing(data_type: str) -> None:
    kernels = Path(errors.__file__).parent.parent / "kernels"
    text = "".join(path.read_text(encoding="utf-8") for path in kernels.glob("*.py"))
    called = {name for name in re.findall(r"np\.(\w+)", text) if isinstance(getattr(np, name, None), np.ufunc)}
    called |= {name for name in ("erf", "erfc", "ln_1_exp") if hasattr(special, name)}
    assert {"exp", "tanh", "sqrt"} <= called
    for name in called:
        ufunc = getattr(np, name, None)
        has_a_rule = OPERATIONS.get(ufunc, elementwise._function) is not elementwise._function
        is_known = has_a_rule or ufunc in LOGIC or name in errors.EXACT
        is_of_bits = name.startswith(("left_", "right_"))
        is_exact = name in ("bitwise_count", "float_power", "frexp", "ldexp", "nextafter")
        assert is_known or is_of_bits or is_exact or data_type in ROUNDINGS.get(name, {}), name


# ---- what Direct3D grants its instructions


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    ("function", "low", "high", "limit"),
    [
        (np.exp2, -20, 20, 2.0**-21),  # exp (sm4 - asm)
        (np.reciprocal, 0.01, 3, 2.0**-21),  # rcp (sm5 - asm)
        (np.sqrt, 0.01, 9, 2.0**-24),  # sqrt (sm4 - asm): 1 ULP, which is at least that
    ],
)
def test_a_relative_error_that_direct3d_grants_is_allowed(
    function: Callable[[Any], Any], low: float, high: float, limit: float, sign: int
) -> None:
    x = between(low, high)
    assert largest_share(function(x.astype(np.float64)) * (1 + sign * limit), function(Ball(x))) <= 1 + 1e-9


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_logarithm_as_direct3d_has_it_is_allowed(sign: int) -> None:
    def log2(x: Array) -> Array:
        right = np.log2(x.astype(np.float64))
        return np.asarray((right + sign * GRANTED * np.where((x >= 0.5) & (x <= 2), 1, np.abs(right))).astype(F))

    x = np.concatenate([between(0.01, 4), between(4, 1e6), F([1])])
    assert 0.9 < largest_share(log2(x), np.log2(Ball(x))) <= 1
    assert 0.8 < largest_share(log2(x) * F(math.log(2)), np.log(Ball(x))) <= 1
    lower = np.concatenate([between(-0.99, 3), between(-1e-3, 1e-3)])
    assert 0.8 < largest_share(log2(F(1) + lower) * F(math.log(2)), np.log1p(Ball(lower))) <= 1


@pytest.mark.parametrize("sign", [-1, 1])
def test_exponentials_by_way_of_exp2_are_allowed(sign: int) -> None:
    x = between(-80, 80)

    def exp(x: Array) -> Array:
        wide = np.exp2((x * F(math.log2(math.e))).astype(np.float64)) * (1 + sign * GRANTED)
        return np.asarray(wide.astype(F))

    share = largest_share(exp(x), np.exp(Ball(x)))
    assert 0.5 < share <= 1
    small = between(-5, 5)
    for found, bound in (
        (exp(small) - F(1), np.expm1(Ball(small))),
        ((exp(small) - exp(-small)) * F(0.5), np.sinh(Ball(small))),
        ((exp(small) + exp(-small)) * F(0.5), np.cosh(Ball(small))),
        ((exp(small) - exp(-small)) / (exp(small) + exp(-small)), np.tanh(Ball(small))),
        (np.log(F(1) + exp(x)), special.ln_1_exp(Ball(x))),
    ):
        assert largest_share(found, bound) <= 1


def test_what_directml_was_seen_to_compute_is_allowed() -> None:
    # webmachinelearning/webnn#288: x, and exp(x) by DirectML
    for x, found in (
        (-22.99204874532912, 1.0343804979218163e-10), (20.0467240946249, 508371712), (22.620644348144452, 6668381184),
        (24.878306448588418, 63754645504), (24.46251196998665, 42066206720), (10.04045060355589, 22935.72265625),
    ):  # fmt: skip
        assert largest_share(np.array(found), np.exp(Ball(F(x)))) <= 1


@pytest.mark.parametrize("sign", [-1, 1])
def test_angles_as_direct3d_has_them_are_allowed(sign: int) -> None:
    x = between(-314, 314)
    for function in (np.sin, np.cos):
        assert largest_share(function(x.astype(np.float64)) + sign * 8e-4, function(Ball(x))) <= 1 + 1e-9
    x = between(-1.5, 1.5)
    sine, cosine = np.sin(x.astype(np.float64)) + sign * 8e-4, np.cos(x.astype(np.float64)) - sign * 8e-4
    assert largest_share(sine / cosine, np.tan(Ball(x))) <= 1


def test_powers_by_way_of_the_binary_logarithm_are_allowed() -> None:
    x, y = np.meshgrid(between(0.01, 20, 300), between(-8, 8, 300))
    binary = np.log2(x.astype(np.float64))
    binary = (binary + GRANTED * np.where((x >= 0.5) & (x <= 2), 1, np.abs(binary))).astype(F)
    found = np.exp2((y * binary).astype(np.float64)) * (1 + 2.0**-21)
    assert 0.3 < largest_share(found, np.power(Ball(x), Ball(y))) <= 1


def test_the_polynomials_of_the_hlsl_compiler_are_allowed() -> None:
    # Abramowitz and Stegun, 4.4.45 and 4.4.49, in FLOAT32
    x = between(0, 1)
    psi = ((F(-0.0187293) * x + F(0.0742610)) * x + F(-0.2121144)) * x + F(1.5707288)
    arccosine = np.sqrt(F(1) - x) * psi
    assert 0.9 < largest_share(arccosine, np.arccos(Ball(x))) <= 1
    assert largest_share(F(math.pi / 2) - arccosine, np.arcsin(Ball(x))) <= 1

    def arctan(x: Array) -> Array:
        size = np.where(np.abs(x) > 1, F(1) / np.abs(x), np.abs(x))
        square, found = size * size, np.zeros_like(x)
        for factor in (0.0208351, -0.0851330, 0.1801410, -0.3302995, 0.9998660):
            found = found * square + F(factor)
        found = np.where(np.abs(x) > 1, F(math.pi / 2) - found * size, found * size)
        return np.copysign(found, x)

    x = np.concatenate([between(-3, 3), np.geomspace(1e-10, 1e10, 2000, dtype=F)])
    assert 0.9 < largest_share(arctan(x), np.arctan(Ball(x))) <= 1
    y = x[::-1].copy()
    assert largest_share(arctan(y / np.abs(x)), np.arctan2(Ball(y), Ball(np.abs(x)))) <= 1


def test_small_angles_are_not_as_wrong_as_large_ones() -> None:
    assert np.arctan(Ball(F([1e-6]))).radius[0] < 1.4e-10


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_error_function_of_shaders_is_allowed(sign: int) -> None:
    # Abramowitz and Stegun, 7.1.26, in FLOAT32, with exp(-x * x) within 2^-21
    x = between(0, 4)
    t = F(1) / (F(1) + F(0.3275911) * x)
    polynomial = np.zeros_like(x)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        polynomial = (polynomial + F(factor)) * t
    power = (np.exp(-(x.astype(np.float64) ** 2)) * (1 + sign * 2.0**-21)).astype(F)
    found = F(1) - polynomial * power
    assert 0.5 < largest_share(found, special.erf(Ball(x))) <= 1
    assert largest_share(F(1) - found, special.erfc(Ball(x))) <= 1


def test_a_hyperbolic_tangent_as_nvidia_has_it_is_allowed() -> None:
    x = between(-9, 9)
    tangent = np.tanh(x.astype(np.float64))
    assert largest_share(tangent + np.copysign(1e-5, x), np.tanh(Ball(x))) <= 1.0001
    assert largest_share(tangent + 117 * 2.0**-24, np.tanh(Ball(x))) < 1  # microsoft/hlsl-specs#601


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [(np.arcsinh, -50, 50), (np.arccosh, 1.0001, 50), (np.arctanh, -0.999, 0.999)],
)
def test_areas_by_way_of_the_logarithm_are_allowed(function: Callable[[Any], Any], low: float, high: float) -> None:
    x = between(low, high)
    found = {
        "arcsinh": lambda: np.copysign(np.log(np.abs(x) + np.sqrt(x * x + F(1))), x),
        "arccosh": lambda: np.log(x + np.sqrt(x * x - F(1))),
        "arctanh": lambda: np.log((F(1) + x) / (F(1) - x)) * F(0.5),
    }[function.__name__]()
    assert 0.02 < largest_share(found, function(Ball(x))) <= 1


# ---- NumPy, in either type


@pytest.mark.parametrize("arithmetic", [Arithmetic(), FLOAT16], ids=["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (np.exp, -9, 9), (np.exp2, -9, 9), (np.expm1, -9, 9), (np.log, 0.01, 50), (np.log2, 0.01, 50),
        (np.log1p, -0.9, 50), (np.tanh, -5, 5), (np.sinh, -9, 9), (np.cosh, -9, 9), (np.sin, -9, 9), (np.cos, -9, 9),
        (np.tan, -1.4, 1.4), (np.arcsin, -1, 1), (np.arccos, -1, 1), (np.arctan, -9, 9), (np.arcsinh, -9, 9),
        (np.arccosh, 1, 9), (np.arctanh, -0.99, 0.99), (np.sqrt, 0, 9), (np.reciprocal, 0.1, 9), (np.cbrt, 0.1, 9),
        (np.square, -9, 9),
    ],
)  # fmt: skip
def test_numpys_functions_of_the_type_are_within_their_rows(
    function: Callable[[Any], Any], low: float, high: float, arithmetic: Arithmetic
) -> None:
    dtype = {"FLOAT32": np.float32, "FLOAT16": np.float16}[arithmetic.data_type]
    x = np.linspace(low, high, 5001).astype(dtype)
    bound = function(Ball(x, 0.0, arithmetic))
    spacing = np.spacing(np.abs(bound.value).astype(dtype)).astype(np.float64)
    assert (np.abs(function(x).astype(np.float64) - bound.value) <= bound.radius + spacing / 2).all()
