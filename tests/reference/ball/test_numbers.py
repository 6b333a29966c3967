"""Ball numbers: whatever an implementation may make of a formula is within its bound, and little else is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference import special
from dmlcheck.reference.ball import numbers
from dmlcheck.reference.ball.numbers import (
    Arithmetic,
    Ball,
    Condition,
    centred,
    elementary,
    hull,
    product_of_parts,
    radius,
    raw,
    sum_of_products,
    total,
    total_of_parts,
)
from dmlcheck.reference.ball.roundings import rounding
from dmlcheck.values.number_formats import ulp

Array = np.ndarray[Any, Any]
INF, NAN = math.inf, math.nan
U = 2.0**-24

FLOAT32 = Arithmetic()
FLOAT16 = Arithmetic("FLOAT16", "FLOAT16", 2.0**-11, 2.0**-14)
TYPES = {"FLOAT32": np.float32, "FLOAT16": np.float16}
ARITHMETICS = pytest.mark.parametrize("arithmetic", [FLOAT32, FLOAT16], ids=["FLOAT32", "FLOAT16"])


@pytest.fixture(autouse=True)
def _as_in_the_engine() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def likely(arithmetic: Arithmetic) -> Arithmetic:
    return arithmetic._replace(is_likely=True)


def as_balls(*values: float, radius: Any = 0.0) -> Ball:
    return Ball(np.array(values, np.float64), radius)


def ends(x: Ball) -> list[tuple[float, float]]:
    """Return the least and the largest that an implementation may have."""
    return [(value - error, value + error) for value, error in zip(x.value.tolist(), x.radius.tolist(), strict=True)]


# ---- implementations: one that rounds as its numbers do, and one that is as wrong everywhere as it may be


class Rough(np.lib.mixins.NDArrayOperatorsMixin):
    """Numbers of an implementation whose every function is off by nearly all that its row in the table allows.

    By 99 % of it: how the limit itself changes within the errors of an operand is of second order, and not in bounds.
    """

    def __init__(self, value: Any, arithmetic: Arithmetic, direction: Callable[[Array], Array]) -> None:
        self.value = np.asarray(value, np.float64)
        self.arithmetic = arithmetic
        self.direction = direction

    def made(self, value: Any) -> Rough:
        """Return a result, rounded to the type as IEEE 754 has it, denormals flushed."""
        value = np.asarray(value, np.float64)
        nearest = value.astype(TYPES[self.arithmetic.data_type]).astype(np.float64)
        is_small = np.abs(nearest) < self.arithmetic.smallest
        return Rough(np.where(is_small, np.copysign(0.0, nearest), nearest), self.arithmetic, self.direction)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **_: Any) -> Any:
        operands = [x if isinstance(x, Rough) else self.made(x) for x in inputs]
        if ufunc.__name__.startswith(("less", "greater", "not_", "equal")):
            return ufunc(*(x.value for x in operands))
        return self.through(ufunc, ufunc.__name__, *operands)

    def through(self, function: Callable[..., Any], name: str, *operands: Rough) -> Rough:
        values = [x.value for x in operands]
        if name in NEAREST or name in EXACT:
            result = function(*values)
            return self.made(result) if name in NEAREST else Rough(result, self.arithmetic, self.direction)
        row, u = rounding(name, self.arithmetic.data_type), self.arithmetic.unit_roundoff
        if row.formula is not None:
            found: Rough = row.formula(*operands)
            if name in ("arcsinh", "power"):  # whose formulas are those of the magnitude
                found = Rough(np.copysign(found.value, function(*values)), self.arithmetic, self.direction)
            return found
        values[0] = values[0] * (1 + 0.99 * row.operand * 2 * u * self.direction(values[0]))
        result = np.asarray(function(*values))
        error = 0.99 * np.minimum(np.maximum(row.ulp * 2 * u * np.abs(result), row.absolute), row.at_most)
        if name in ("divide", "reciprocal"):  # which is exact where the divisor is a power of two
            error = np.where(np.abs(np.frexp(values[-1])[0]) == 0.5, 0.0, error)
        return Rough(result + error * self.direction(result), self.arithmetic, self.direction)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        values = [x.value if isinstance(x, Rough) else x for x in args]
        return Rough(function(*values, **kwargs), self.arithmetic, self.direction)


NEAREST = frozenset(["add", "subtract", "multiply", "square"])
EXACT = frozenset(
    ["negative", "positive", "absolute", "maximum", "minimum", "floor", "ceil", "rint", "trunc", "sign", "copysign"]
)
DIRECTIONS = {
    "up": np.ones_like,
    "down": lambda x: -np.ones_like(x),
    "apart": np.sign,
    "random": lambda x: np.random.default_rng(x.size).choice([-1.0, 1.0], x.shape),
}


def erf(x: Any) -> Any:
    return x.through(special.erf, "erf", x) if isinstance(x, Rough) else special.erf(x)


def softplus(x: Any) -> Any:
    return x.through(special.ln_1_exp, "ln_1_exp", x) if isinstance(x, Rough) else special.ln_1_exp(x)


# ---- random formulas

ONE: list[Callable[[Any], Any]] = [
    lambda x: np.exp(np.minimum(x, 6)),
    lambda x: np.expm1(np.minimum(x, 6)),
    lambda x: np.log(np.abs(x) + 0.125),
    lambda x: np.log1p(np.abs(x)),
    np.tanh,
    lambda x: np.sqrt(np.abs(x)),
    np.sin,
    np.cos,
    np.arctan,
    np.arcsinh,
    np.square,
    lambda x: np.sinh(np.maximum(np.minimum(x, 5), -5)),
    lambda x: 1 / (x * x + 0.5),
    lambda x: np.reciprocal(np.abs(x) + 0.75),
    np.negative,
    np.absolute,
    np.rint,
    np.floor,
    np.sign,
    erf,
    softplus,
    lambda x: np.where(x > 0.3, x, 0.1 * x),
    lambda x: x * 0.7 + 0.2,
]
TWO: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / (np.abs(y) + 0.3),
    np.maximum,
    np.minimum,
    lambda x, y: np.where(x < y, x - y, y),
    lambda x, y: np.power(np.abs(x) + 0.5, np.maximum(np.minimum(y, 3), -3)),
    lambda x, y: np.arctan2(x, y + 0.1),
]


def formula(seed: int) -> Callable[[Any, Any], Any]:
    """Return a random formula of some operations."""
    generator = np.random.default_rng(seed)
    steps = [(int(generator.integers(len(ONE) + len(TWO))), generator.integers(0, 99, 2)) for _ in range(6)]

    def computed(x: Any, y: Any) -> Any:
        parts = [x, y]
        for number, (first, second) in steps:
            a, b = parts[-1 - first % 2], parts[second % len(parts)]
            parts.append(ONE[number](a) if number < len(ONE) else TWO[number - len(ONE)](a, b))
        return parts[-1]

    return computed


def inputs(seed: int, arithmetic: Arithmetic, size: int = 200) -> list[Array]:
    generator = np.random.default_rng(seed)
    numbers = [generator.normal(size=size) * generator.choice([0.1, 1, 3]) for _ in range(2)]
    numbers[0][:9] = 0, 1, -1, 0.5, 2, 1.5, 2.5, -0.5, 0.3
    return [x.astype(TYPES[arithmetic.data_type]).astype(np.float64) for x in numbers]


def allowed(bound: Ball, data_type: str) -> Array:
    """Return the bound as a comparison applies it: with 1 ULP of the result."""
    value = np.where(np.isfinite(bound.value), bound.value, 0)
    return bound.radius + ulp(value, data_type)


@ARITHMETICS
@pytest.mark.parametrize("seed", range(150))
def test_what_numpy_computes_in_the_type_is_within_the_bound(seed: int, arithmetic: Arithmetic) -> None:
    computed, numbers = formula(seed), inputs(seed, arithmetic)
    value = computed(*numbers)
    bound = computed(*(Ball(x, 0.0, arithmetic) for x in numbers))
    if not isinstance(bound, Ball):
        return
    found = computed(*(x.astype(TYPES[arithmetic.data_type]) for x in numbers)).astype(np.float64)
    is_near = np.abs(bound.value - value) <= bound.radius + 1e-13 * np.abs(value)  # at a jump it is the middle
    assert (is_near | (bound.value == value) | (np.isnan(bound.value) & np.isnan(value))).all()
    assert not np.isnan(bound.radius).any()
    is_known = np.isfinite(found)  # beyond the largest number of the type a formula is another
    assert (np.abs(found - bound.value) <= allowed(bound, arithmetic.data_type))[is_known].all()


@ARITHMETICS
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(40))
def test_an_implementation_that_is_as_wrong_as_it_may_be_is_within_the_bound(
    seed: int, direction: str, arithmetic: Arithmetic
) -> None:
    computed, numbers = formula(seed), inputs(seed, arithmetic)
    bound = computed(*(Ball(x, 0.0, arithmetic) for x in numbers))
    found = computed(*(Rough(x, arithmetic, DIRECTIONS[direction]) for x in numbers))
    if not isinstance(bound, Ball) or not isinstance(found, Rough):
        return
    is_known = np.isfinite(found.value)
    assert (np.abs(found.value - bound.value) <= allowed(bound, arithmetic.data_type))[is_known].all()


def test_bounds_of_usual_formulas_are_a_few_ulp() -> None:
    x = np.random.default_rng(4).normal(size=4000).astype(np.float32).astype(np.float64)
    y = np.random.default_rng(5).normal(size=4000).astype(np.float32).astype(np.float64)
    formulas: dict[str, tuple[Callable[[Any], Any], float]] = {
        "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 11),
        "softplus": (softplus, 16),
        "difference of squares": (lambda x: (x - y) * (x + y), 3.1),
        "softsign": (lambda x: x / (1 + np.abs(x)), 8),
        "square root": (lambda x: np.sqrt(x * x + 1), 2.6),
        "product": (lambda x: x * y, 1.5),
    }
    for name, (computed, most) in formulas.items():
        bound = computed(Ball(x))
        units = np.median(allowed(bound, "FLOAT32") / ulp(bound.value, "FLOAT32"))
        assert most / 2 < units <= most, name


def test_a_bound_is_used_up_by_a_good_part_in_formulas_of_a_few_roundings() -> None:
    x, y = inputs(8, FLOAT32, size=20_000)
    bound = (Ball(x) * Ball(y) + 0.3) * Ball(x)
    found = (x.astype(np.float32) * y.astype(np.float32) + np.float32(0.3)) * x.astype(np.float32)
    share = np.abs(found - bound.value) / np.maximum(bound.radius, 1e-300)
    assert 0.5 < share.max() <= 1
    assert np.median(share) > 0.1


# ---- one operation


def test_exact_operands_leave_the_one_rounding_that_ieee_754_has() -> None:
    x, y = np.float32([0.1, 3, 1e30, 2.5, 16777216]), np.float32([0.2, 5, 1e-30, 2, 1])
    for operation in (np.add, np.subtract, np.multiply):
        bound = operation(Ball(x), Ball(y))
        found = operation(x, y)
        exact = [abs(operation(Fraction(a), Fraction(b)) - Fraction(c)) for a, b, c in
                 zip(x.tolist(), y.tolist(), found.tolist(), strict=True)]  # fmt: skip
        assert bound.radius.tolist() == pytest.approx([float(error) for error in exact], rel=1e-6)


def test_a_sum_that_float64_rounds_is_no_exact_one() -> None:
    tiny = as_balls(2.0**-60, -(2.0**-60), 0.0)
    sums, differences = as_balls(1.0, 1.0, 1.0) + tiny, as_balls(1.0, 1.0, 1.0) - tiny
    assert sums.radius.tolist() == differences.radius.tolist() == [2.0**-60, 2.0**-60, 0]
    assert (as_balls(1.0) + 2.0**-30).radius == [2.0**-30]  # to the nearest FLOAT32


def test_whole_numbers_have_no_error() -> None:
    x = Ball(np.arange(-50.0, 50.0))
    assert not radius(x * 3 - x + 1).any()
    assert not radius(x / 8).any()


def test_a_quotient_may_be_a_product_with_the_reciprocal() -> None:
    x = np.random.default_rng(1).normal(size=5000).astype(np.float32)
    y = np.random.default_rng(2).normal(size=5000).astype(np.float32)
    bound = Ball(x) / Ball(y)
    rcp = (1 / y.astype(np.float64) * (1 + 2.0**-21)).astype(np.float32)
    assert (np.abs((x * rcp).astype(np.float64) - bound.value) <= allowed(bound, "FLOAT32")).all()
    assert (bound.radius <= 4.51 * 2 * U * np.abs(bound.value)).all()


def test_a_quotient_by_a_power_of_two_is_exact() -> None:
    assert radius(as_balls(1, 3, 0.7, radius=0.0) / as_balls(0.5, 4, 1)).tolist() == [
        0, 0, abs(0.7 - float(np.float32(0.7)))
    ]  # fmt: skip
    assert ((as_balls(3.0) + 2.0**-22) / 4).radius == (as_balls(3.0) + 2.0**-22).radius / 4


def test_a_reciprocal_that_is_denormal_may_be_flushed() -> None:
    bound = as_balls(3e38, 3e37) / as_balls(2e38, 2e37)
    assert bound.radius[0] == bound.value[0]
    assert bound.radius[1] < 1e-6


def test_denormals_may_be_flushed_wherever_they_are() -> None:
    x = Ball(np.float32([1e-39, 1e-20, 1.0]))
    assert radius(x * 1e30).tolist()[0] >= 1e-9
    product = x * np.float32(1e-20)
    assert product.radius[1] == product.value[1]
    assert (x > 0).doubt.tolist() == [True, False, False]
    assert ends(np.ceil(x)) == [(0, 1), (1, 1), (1, 1)]


def test_moving_denormals_flushes_nothing() -> None:
    x = Ball(np.float32([1e-39, 1]))
    assert not radius(x[::-1]).any()
    assert not radius(np.concatenate([x, x])).any()


def test_constants_are_rounded_to_the_type_of_an_implementation() -> None:
    bound = as_balls(1, 1024) * math.sqrt(0.5)
    distance = abs(math.sqrt(0.5) - float(np.float32(math.sqrt(0.5))))
    assert (bound.radius >= distance * np.array([1, 1024])).all()
    weights = np.array([0.1, 0.5])
    assert (radius(as_balls(1, 1) * weights) > 0).tolist() == [True, False]


def test_whole_numbers_that_the_type_does_not_have_are_rounded_to_it() -> None:
    bound = as_balls(1, 1) * np.array([2**24 + 1, 2**24])
    assert bound.radius.tolist()[0] >= 1
    assert bound.radius.tolist()[1] == 0
    halves = Ball(np.ones(2), 0.0, FLOAT16) * np.array([2049, 2048])
    assert halves.radius.tolist()[0] >= 1
    assert halves.radius.tolist()[1] == 0


def test_both_errors_of_a_product_count_and_their_product() -> None:
    bound = as_balls(2, radius=1.0) * as_balls(3, radius=0.5)
    low, high = ends(bound)[0]
    assert low <= (2 - 1) * (3 - 0.5)
    assert pytest.approx(high) == (2 + 1) * (3 + 0.5)


def test_both_errors_of_a_quotient_count() -> None:
    assert ends(as_balls(2, radius=1.0) / as_balls(3, radius=0.5))[0][1] == pytest.approx(3 / 2.5)


@pytest.mark.parametrize("divisor", [as_balls(1e-7, radius=1e-7), as_balls(1e-7, radius=1.0), as_balls(0, radius=1e-9)])
def test_nothing_bounds_a_quotient_whose_divisor_may_be_0(divisor: Ball) -> None:
    assert radius(1 / divisor).tolist() == [INF]
    assert radius(np.reciprocal(divisor)).tolist() == [INF]
    assert radius(np.power(divisor, -2.0)).tolist() == [INF]


def test_nothing_bounds_functions_beside_their_poles() -> None:
    assert radius(np.log(as_balls(1e-8, radius=1e-7))).tolist() == [INF]
    assert radius(np.tan(as_balls(math.pi / 2 + 1e-3, radius=2e-3))).tolist() == [INF]
    assert radius(np.arctanh(as_balls(0.999, radius=1e-2))).tolist() == [INF]
    assert radius(np.arccos(as_balls(1, radius=1e-7))).tolist() == [INF]  # an implementation may have NaN there


def test_a_root_of_what_cancelled_is_no_root_of_a_negative_number() -> None:
    for root in (np.sqrt, lambda x: np.power(x, 0.5)):
        bound = root(as_balls(1e-8, 0, 4, radius=[1e-6, 1e-6, 1.0]))
        assert bound.radius[0] >= math.sqrt(1.01e-6) - 1e-4
        assert bound.radius[1] >= 1e-3
        assert 2 - math.sqrt(3) <= bound.radius[2] < 0.3


def test_a_function_with_a_turning_point_between_the_ends_is_bounded() -> None:
    for function in (np.cosh, np.square, np.absolute):
        low, high = ends(function(as_balls(0.3, radius=0.5)))[0]
        assert low <= function(0.0)
        assert high >= function(0.8)
    low, high = ends(np.cos(as_balls(0.3, radius=0.5)))[0]
    assert low <= math.cos(0.8)
    assert high >= 1
    assert radius(np.sin(as_balls(7, radius=1e9)))[0] <= 2.1


@pytest.mark.parametrize(
    ("function", "x", "error"),
    [
        (np.exp, 3.0, 0.5),
        (np.log, 3.0, 0.5),
        (np.tanh, 0.2, 0.5),
        (np.arctan, -1.0, 1.5),
        (np.sinh, -0.2, 0.7),
        (np.cosh, 2.0, 0.7),
        (np.arcsin, 0.4, 0.5),
        (np.arccos, -0.4, 0.5),
        (np.arccosh, 2.0, 0.5),
        (np.arctanh, 0.3, 0.5),
        (np.arcsinh, 0.1, 3.0),
        (np.expm1, -1.0, 2.0),
        (np.log1p, 0.5, 1.0),
        (np.exp2, 1.0, 1.0),
        (np.log2, 4.0, 3.0),
        (special.erf, 0.3, 0.9),
        (special.erfc, -0.3, 0.9),
        (special.ln_1_exp, 0.3, 0.9),
        (np.sqrt, 0.5, 2.0),
        (np.cbrt, 0.5, 2.0),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_functions_carry_an_error_as_far_as_they_reach(
    function: Callable[[Any], Any], x: float, error: float, sign: int
) -> None:
    x = sign * x if np.isfinite(function(np.array(sign * x))) else x
    bound = function(as_balls(x, radius=error))
    reach = np.linspace(x - error, x + error, 1001)
    moved = np.nanmax(np.abs(function(reach) - bound.value))
    assert moved <= bound.radius[0] <= moved * 1.01 + 1e-3


def test_two_operands_with_errors_reach_all_corners() -> None:
    bound = np.power(as_balls(2, radius=0.5), as_balls(-1, radius=2.5))
    corners = [x**y for x in (1.5, 2.5) for y in (-3.5, 1.5)]
    low, high = ends(bound)[0]
    assert low <= min(corners)
    assert high >= max(corners)
    assert radius(np.arctan2(as_balls(1e-3, radius=1e-2), as_balls(-1, radius=0.0)))[0] >= 2 * math.pi - 0.1
    assert radius(np.arctan2(as_balls(1e-3, radius=1e-2), as_balls(1e-3, radius=1e-2)))[0] == INF


# ---- jumps


def test_near_a_half_rounding_reaches_the_other_whole_number_and_no_further() -> None:
    near = np.rint(as_balls(2.4999999, 2.5, 2.5000001, 2.4, 3.5, radius=[1e-6, 1e-6, 1e-6, 1e-6, 0.0]))
    assert ends(near) == [(2, 3), (2, 3), (2, 3), (2, 2), (4, 4)]


@pytest.mark.parametrize(("function", "jump"), [(np.floor, 2.0), (np.ceil, 2.0), (np.trunc, 2.0), (np.sign, 0.0)])
def test_beside_a_jump_the_bound_reaches_its_other_side(function: Callable[[Any], Any], jump: float) -> None:
    both = {float(function(jump - 1e-6)), float(function(jump + 1e-6))}
    for x in (jump - 1e-7, jump + 1e-7):
        (low, high), = ends(function(as_balls(x, radius=1e-6)))  # fmt: skip
        assert (low, high) == (min(both), max(both))
    assert not radius(function(as_balls(jump + 0.4, radius=1e-6))).any()


def test_a_sign_that_is_in_doubt_reaches_the_other_side() -> None:
    assert radius(np.copysign(as_balls(3, 3), as_balls(1e-9, 1, radius=1e-8))).tolist() == [6, 0]
    assert np.signbit(as_balls(1e-9, -1, radius=1e-8)).doubt.tolist() == [True, False]


def test_a_remainder_jumps_where_the_quotient_is_nearly_whole() -> None:
    remainder = np.fmod(as_balls(3, 7, 7.5), as_balls(0.1, 7, 2))
    assert ends(remainder)[0] == pytest.approx((0, 0.1), abs=1e-6)
    assert remainder.radius[2] < 1e-5
    assert radius(np.remainder(as_balls(7.5), as_balls(2)))[0] < 1e-5


def test_a_choice_in_doubt_reaches_the_other_number_and_no_further() -> None:
    x = as_balls(1.0, 1.0, 5.0, radius=[1e-6, 0.0, 1e-6])
    chosen = np.where(x > 1.0, 10.0, as_balls(3, 3, 3, radius=0.5))
    assert chosen.value.tolist() == [6.25, 3, 10]  # from 2.5 to 10
    assert chosen.radius.tolist() == [3.75, 0.5, 0]


def test_a_choice_between_the_same_numbers_is_in_no_doubt() -> None:
    doubtful = Condition(np.array([True, True, False]), np.array([True, True, True]))
    same = np.array([1.0, INF, NAN])
    assert radius(np.where(doubtful, same, same)).tolist() == [0, 0, 0]
    assert radius(np.where(doubtful, np.array([1.0, INF, 2.0]), np.array([NAN, 1.0, 2.0]))).tolist() == [INF, INF, 0]


def test_comparisons_are_in_doubt_where_the_errors_meet() -> None:
    x, y = as_balls(1, 1, 2, radius=[1e-3, 0.0, 1e-3]), as_balls(1.0005, 1, 1)
    for compare in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal):
        found = compare(x, y)
        assert found.holds.tolist() == compare(x.value, y.value).tolist()
        assert found.doubt.tolist() == [True, False, False]
    assert not (as_balls(INF, radius=0.0) > as_balls(INF, radius=1.0)).doubt.any()


def test_claims_combine_like_what_they_may_be() -> None:
    yes, no, maybe = Condition(True), Condition(False), Condition(True, doubt=True)
    assert (yes & maybe).doubt
    assert not (no & maybe).doubt
    assert not (yes | maybe).doubt
    assert (no | maybe).doubt
    assert (maybe ^ maybe).doubt
    assert (~maybe).doubt
    assert not bool(~maybe)
    both = Condition(np.array([True, True]), np.array([True, True]))
    assert (np.array([True, False]) & both).doubt.tolist() == [True, False]
    row = Condition(np.array([False, True]), np.array([True, False]))
    assert not row.any().doubt
    assert row.all().doubt
    assert np.any(row, axis=0).holds


def test_a_claim_is_a_number_in_arithmetic() -> None:
    found = (as_balls(1, -1, 1e-9, radius=1e-8) > 0) * as_balls(5, 5, 5) + 1
    assert found.value.tolist() == [6, 1, 6]
    assert found.radius == pytest.approx([0, 0, 5])
    assert (as_balls(1, -1) > 0).astype(np.int8).tolist() == [1, 0]
    assert np.logical_not(as_balls(0, 2)).holds.tolist() == [True, False]


# ---- infinities and NaN


def test_infinities_and_nan_have_no_error() -> None:
    x = as_balls(INF, -INF, NAN, 1, radius=[0.0, 0.0, 0.0, 0.1])
    for function in (
        np.exp, np.log, np.sin, np.tanh, np.sqrt, np.square, np.rint, np.sign, np.expm1, np.arctan, np.tan, np.power,
        special.erf, special.erfc, special.ln_1_exp, np.arcsinh, np.cosh, np.log1p, np.reciprocal, np.absolute,
    ):  # fmt: skip
        found = function(x, 2.0) if function is np.power else function(x)
        assert not np.isnan(found.radius).any(), function
        assert not found.radius[~np.isfinite(found.value)].any(), function
    computed = [x + 1, x - x, x * 0, x * x, x / 3, 1 / x, x.sum(), np.maximum(x, 0), np.cumsum(x), x.max(), np.prod(x)]
    for found in computed:
        assert not np.isnan(found.radius).any()
        assert not found.radius[~np.isfinite(found.value)].any()
    matrix = Ball(np.array([[INF, 1.0], [0.3, 2.0]]))
    assert radius(matrix @ matrix)[0].tolist() == [0, 0]


def test_an_infinity_that_may_be_a_number_is_not_bounded() -> None:
    assert radius(1 / (as_balls(1, radius=1e-7) - 1)).tolist() == [INF]
    assert radius(np.log(as_balls(0, radius=1e-7))).tolist() == [INF]
    assert radius(0 / as_balls(0, radius=1e-7)).tolist() == [INF]


def test_what_is_not_bounded_stays_so() -> None:
    x = as_balls(1, radius=INF)
    for found in (x + 1, x * 0, x * 2, x / 2, np.exp(x), np.maximum(x, 0), x.sum(), np.where(x > 0, 1.0, 5.0) * x):
        assert radius(found).max() == INF
    assert radius(np.tanh(x)).tolist()[0] <= 2.1
    either = np.where(x > 0, 1.0, 5.0)
    assert (either.value.tolist(), either.radius.tolist()) == ([3], [2])


# ---- sums


def in_orders(x: Array) -> Iterator[Array]:
    """Yield the sums of rows in their own type, in the orders that implementations have."""
    one_by_one = np.cumsum(x, axis=-1, dtype=x.dtype)[..., -1]
    lanes = np.cumsum(x.reshape(*x.shape[:-1], -1, 8), axis=-2, dtype=x.dtype)[..., -1, :]
    yield from (one_by_one, np.cumsum(x[..., ::-1], axis=-1, dtype=x.dtype)[..., -1])
    yield np.cumsum(lanes, axis=-1, dtype=x.dtype)[..., -1]
    yield np.cumsum(x[..., np.random.default_rng(3).permutation(x.shape[-1])], axis=-1, dtype=x.dtype)[..., -1]
    while x.shape[-1] > 1:
        x = x[..., : x.shape[-1] // 2] + x[..., x.shape[-1] // 2 :]
    yield x[..., 0]


ROWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda generator, sizes: generator.normal(size=sizes),
    "around 100": lambda generator, sizes: generator.normal(size=sizes) + 100,
    "uniform": lambda generator, sizes: generator.uniform(size=sizes),
    "sorted": lambda generator, sizes: np.sort(generator.normal(size=sizes), axis=-1),
    "a wave": lambda generator, sizes: np.sin(np.linspace(0, 6.28, sizes[1])) + generator.normal(size=sizes) / 1000,
    "of all sizes": lambda generator, sizes: generator.lognormal(0, 3, sizes),
    "all the same": lambda generator, sizes: np.full(sizes, 0.1) + 0 * generator.normal(size=sizes),
    "of 256 values": lambda generator, sizes: generator.integers(0, 256, sizes) / 255,
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("count", [2, 16, 1024, 65536])
def test_sums_in_any_order_are_within_the_hard_and_the_likely_limit(rows: str, count: int) -> None:
    x = ROWS[rows](np.random.default_rng(count), (max(2, min(500, 100_000 // count)), count)).astype(np.float32)
    hard, walk = (Ball(x, 0.0, arithmetic).sum(-1) for arithmetic in (FLOAT32, likely(FLOAT32)))
    assert (walk.radius <= hard.radius).all()
    orders = in_orders(x) if count > 8 else [x.sum(axis=-1)]
    for found in orders:
        error = np.abs(found.astype(np.float64) - hard.value)
        assert (error <= hard.radius).all()
        assert (error <= walk.radius).all()


def test_the_likely_limit_is_much_tighter_for_long_sums() -> None:
    x = np.random.default_rng(1).uniform(size=65536).astype(np.float32)
    hard, walk = (Ball(x, 0.0, arithmetic).sum() for arithmetic in (FLOAT32, likely(FLOAT32)))
    assert 50 < hard.radius / walk.radius < 100
    assert hard.radius == pytest.approx(65536 * U * x.astype(np.float64).sum())


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 1)])
@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("is_likely", [True, False])
def test_sums_and_their_kin_are_numpys_in_shape_and_value(axis: Any, *, keepdims: bool, is_likely: bool) -> None:
    x = np.random.default_rng(2).normal(size=(3, 4, 5))
    t = Ball(x, 0.01, FLOAT32._replace(is_likely=is_likely))
    along = {"axis": axis, "keepdims": keepdims}
    for function in (np.sum, np.mean, np.max, np.min, np.prod, np.add.reduce, np.maximum.reduce, np.multiply.reduce):
        found, right = function(t, **along), function(x, **along)
        assert np.allclose(found.value, right, rtol=1e-13)
        assert found.shape == found.radius.shape == np.shape(right)
    assert np.allclose(t.sum(**along).value, x.sum(**along))


def test_errors_that_enter_a_sum_add_up_in_quadrature() -> None:
    x = Ball(np.zeros(10_000), 1e-3)
    assert x.sum().radius == pytest.approx(0.1, rel=0.1)
    matrix = Ball(np.ones((1, 10_000)), 1e-3) @ np.ones((10_000, 1))
    assert matrix.radius[0, 0] == pytest.approx(0.1 + 10_000**2 * U, rel=0.1)


def test_sums_in_parts_are_the_sum() -> None:
    x = np.random.default_rng(3).normal(size=(4, 90)).astype(np.float32)
    for arithmetic in (FLOAT32, likely(FLOAT32)):
        whole = Ball(x, 0.0, arithmetic).sum(1, keepdims=True)
        parts = total_of_parts([Ball(part, 0.0, arithmetic) for part in np.split(x, 3, axis=1)], (1,), keepdims=True)
        assert np.allclose(whole.value, parts.value, rtol=1e-13)
        assert np.allclose(whole.radius, parts.radius, rtol=1e-9)
        assert whole.terms == parts.terms == 90
    assert total(x, 1).tolist() == x.sum(1).tolist()


def test_tiny_terms_may_be_flushed_one_by_one() -> None:
    x = np.full(1000, 2.0**-13) * np.where(np.arange(1000) % 2, 1.0, -1.3)
    bound = Ball(x, 0.0, FLOAT16).sum()
    assert bound.radius >= 500 * 0.3 * 2.0**-13


@pytest.mark.parametrize(
    ("first", "second"),
    [((4, 5), (5, 3)), ((2, 4, 5), (5, 3)), ((2, 1, 4, 5), (3, 5, 2)), ((5,), (5, 3)), ((4, 5), (5,))],
)
def test_matrix_products_of_any_shape_are_within_their_bound(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    generator = np.random.default_rng(6)
    a, b = (generator.normal(size=sizes).astype(np.float32) for sizes in (first, second))
    for arithmetic in (FLOAT32, likely(FLOAT32)):
        bound = Ball(a, 0.0, arithmetic) @ Ball(b, 0.0, arithmetic)
        assert np.allclose(bound.value, a.astype(np.float64) @ b)
        assert (np.abs(a @ b - bound.value) <= allowed(bound, "FLOAT32")).all()
        assert bound.terms == 5
        assert np.array_equal(radius(a @ Ball(b, 0.0, arithmetic)), bound.radius)


def test_an_einsum_is_the_matrix_product() -> None:
    a, b = np.random.default_rng(7).normal(size=(2, 3, 4)), np.random.default_rng(8).normal(size=(2, 4, 5))
    x, y = Ball(a.astype(np.float32)), Ball(b.astype(np.float32), 1e-4)
    found, right = np.einsum("bij,bjk->bik", x, y), x @ y
    assert np.allclose(found.value, right.value)
    assert np.allclose(found.radius, right.radius)


def test_a_matrix_product_of_one_term_is_rounded_like_a_product() -> None:
    a, b = np.array([[0.1], [0.5]], np.float32), np.array([[0.3, 2]], np.float32)
    found = Ball(a) @ Ball(b)
    exact = a.astype(np.float64) * b
    assert np.array_equal(found.value, exact)
    assert np.array_equal(found.radius, np.abs(exact - exact.astype(np.float32)))
    assert found.radius[0, 0] > 0
    moved = Ball(a, 1e-3) @ Ball(b)
    assert (np.abs(moved.radius - 1e-3 * b) < 1e-6 * b).all()


@pytest.mark.parametrize("arithmetic", [FLOAT32, likely(FLOAT32)])
def test_a_matrix_product_in_parts_has_the_bound_of_the_whole(arithmetic: Arithmetic) -> None:
    generator = np.random.default_rng(12)
    a, b = (Ball(generator.normal(size=size).astype(np.float32), 1e-6, arithmetic) for size in ((3, 40), (40, 5)))
    whole, parts = a @ b, product_of_parts((a[:, at], b[at]) for at in (slice(7), slice(7, 8), slice(8, 40)))
    assert np.allclose(parts.value, whole.value, rtol=1e-13)
    assert np.allclose(parts.radius, whole.radius, rtol=1e-13)
    assert parts.terms == whole.terms == 40
    plain = [(a.value[:, :3], b.value[:3]), (a.value[:, 3:], b.value[3:])]
    assert np.allclose(product_of_parts(plain), a.value @ b.value, rtol=1e-5)


@pytest.mark.parametrize("arithmetic", [FLOAT32, likely(FLOAT32)])
def test_products_of_several_kinds_are_one_sum(arithmetic: Arithmetic) -> None:
    generator = np.random.default_rng(13)
    sizes = ((1, 9), (9, 1), (1, 1), (1, 1), (1, 1))
    a, b, c, d, e = (Ball(generator.normal(size=size).astype(np.float32), 1e-6, arithmetic) for size in sizes)
    found = sum_of_products([(np.matmul, a, b), (np.multiply, c, d), (np.multiply, 1.0, e)])
    row = np.concatenate([a, c, Ball(np.ones((1, 1)), 0.0, arithmetic)], axis=1)
    whole = row @ np.concatenate([b, d, e], axis=0)
    assert np.allclose(found.value, whole.value, rtol=1e-13)
    assert np.allclose(found.radius, whole.radius, rtol=1e-13)
    assert found.terms == whole.terms == 11
    plain = sum_of_products(
        [(np.multiply, 2.0, np.array([3.0, 4.0])), (np.matmul, np.array([5.0]), np.array([[6.0, 7.0]]))]
    )
    assert plain.tolist() == [36, 43]


def test_a_matrix_product_of_no_terms_is_0() -> None:
    found = Ball(np.zeros((2, 0), np.float32)) @ Ball(np.zeros((0, 3), np.float32))
    assert not found.value.any()
    assert not found.radius.any()


@pytest.mark.parametrize("arithmetic", [FLOAT32, likely(FLOAT32)])
def test_cumulative_sums_and_products_have_the_roundings_of_their_way(arithmetic: Arithmetic) -> None:
    x = np.random.default_rng(9).normal(size=(50, 200)).astype(np.float32)
    bound = np.cumsum(Ball(x, 0.0, arithmetic), axis=1)
    assert (np.abs(np.cumsum(x, axis=1, dtype=np.float32) - bound.value) <= bound.radius).all()
    assert radius(bound[:, 0]).tolist() == [0] * 50
    last, whole = bound[:, -1], Ball(x, 0.0, arithmetic).sum(1)
    assert np.allclose(last.radius, whole.radius, rtol=1e-6)
    bound = np.cumprod(Ball(np.abs(x[:, :30]) + 0.5, 0.0, arithmetic), axis=1)
    found = np.cumprod(np.abs(x[:, :30]) + np.float32(0.5), axis=1, dtype=np.float32)
    assert (np.abs(found - bound.value) <= bound.radius).all()
    assert np.array_equal(np.add.accumulate(Ball(x), axis=1).value, np.cumsum(x.astype(np.float64), axis=1))


def test_the_factors_of_a_product_bring_their_errors() -> None:
    bound = np.prod(as_balls(2, 3, 4, radius=[0.1, 0.1, 0.1]))
    assert bound.radius == pytest.approx(2.1 * 3.1 * 4.1 - 24, rel=1e-5)
    assert np.prod(as_balls(2, 0, 4, radius=[0.0, 0.1, 0.0])).radius == pytest.approx(0.8, rel=1e-5)


def test_the_largest_moves_with_what_may_be_the_largest() -> None:
    x = as_balls(1, 3, 2.9, radius=[0.1, 0.1, 0.5])
    assert x.max().radius == pytest.approx(0.4)
    assert x.min().radius == pytest.approx(0.1)
    assert np.maximum(as_balls(1, radius=0.1), as_balls(5, radius=0.2)).radius == pytest.approx([0.2])
    assert np.maximum(as_balls(-1, radius=0.1), 0).radius.tolist() == [0]
    assert np.fmax(as_balls(NAN, radius=0.0), as_balls(5, radius=0.2)).radius == pytest.approx([0.2])


# ---- the arithmetic


def test_float16_has_the_roundings_of_float16() -> None:
    bound = Ball(np.array([0.1, 1.0]), 0.0, FLOAT16) + Ball(np.array([1000.0, 1000.0]), 0.0, FLOAT16)
    assert bound.radius[0] == pytest.approx(0.1)
    assert bound.radius[1] == 0


def test_float32_elements_are_rounded_to_float16_where_it_computes() -> None:
    x = np.float32([0.1, 0.5, 70000])
    bound = Ball(x, 0.0, FLOAT16) * 1
    distance = abs(float(x[0]) - float(np.float16(x[0])))
    assert distance <= bound.radius[0] <= distance + 2.0**-11 * 0.1001
    assert bound.radius[1] == 0
    assert 0 < bound.radius[2] < 100
    assert not (Ball(x, 0.0, FLOAT32) * 1).radius.any()


def test_of_two_arithmetics_the_coarser_computes() -> None:
    x, y = Ball(np.ones(1), 0.0, FLOAT32), Ball(np.full(1, 0.1), 0.0, FLOAT16)
    assert (x + y).arithmetic is FLOAT16
    assert (y + x).arithmetic is FLOAT16


def test_float64_bounds_what_the_reference_itself_loses() -> None:
    arithmetic = Arithmetic("FLOAT64", "FLOAT64", 2.0**-53, 2.0**-1022)
    x = np.random.default_rng(3).normal(size=500).astype(np.float32)
    bound = Ball(x, 0.0, arithmetic).sum()
    right = sum(map(Fraction, x.tolist()))
    assert abs(float(Fraction(float(bound.value)) - right)) <= bound.radius
    assert 0 < bound.radius < 1e-10
    found = np.exp(Ball(np.array([1.0]), 0.0, arithmetic))
    assert abs(found.value[0] - math.e) <= found.radius[0] < 1e-14


def test_float32_values_are_computed_in_float64() -> None:
    x = Ball(np.float32([0.1]))
    assert (x * x).value[0] == float(np.float32(0.1)) ** 2
    assert raw(x).dtype == np.float64
    assert np.exp(x).value.dtype == np.float64
    wide = np.zeros(3)
    assert raw(wide) is wide
    assert raw(np.int32([1])).dtype == np.int32


def test_terms_are_those_of_the_longest_sum_on_the_way() -> None:
    x = Ball(np.ones((4, 7)))
    assert np.exp(x.sum(1) + 1).terms == 7
    assert (x.sum(1) * x.sum(1).sum()).terms == 7
    assert (x + 1).terms == 0


# ---- moving elements


def test_moving_elements_moves_their_errors() -> None:
    x = Ball(np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3) / 10)
    moves: list[Callable[[Any], Any]] = [
        lambda x: x[1],
        lambda x: x[:, ::-1],
        lambda x: x[..., None],
        lambda x: x[np.array([0, 1]), np.array([2, 0])],
        lambda x: x[np.array([[True, False, True], [False, False, True]])],
        lambda x: x.T,
        lambda x: x.reshape(3, 2),
        lambda x: x.reshape((6,)),
        lambda x: np.reshape(x, (3, -1)),
        lambda x: x.transpose(1, 0),
        lambda x: np.swapaxes(x, 0, 1),
        lambda x: np.moveaxis(x, 0, 1),
        lambda x: np.flip(x, 1),
        lambda x: np.take(x, [2, 0], axis=1),
        lambda x: np.take_along_axis(x, np.array([[0, 1, 1], [2, 2, 0]]), axis=1),
        lambda x: np.broadcast_to(x, (4, 2, 3)),
        lambda x: np.expand_dims(x, 0),
        lambda x: np.repeat(x, 2, axis=0),
        lambda x: np.tile(x, (2, 2)),
        lambda x: np.roll(x, 1, axis=1),
        lambda x: np.concatenate([x, x[:, :1]], axis=1),
        lambda x: np.stack([x, x], axis=-1),
        lambda x: np.split(x, 3, axis=1)[1],
        lambda x: np.array_split(x, 2, axis=1)[0],
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1),
        lambda x: np.pad(x, ((0, 0), (1, 2))),
        lambda x: list(x)[1],
    ]
    for number, move in enumerate(moves):
        found = move(x)
        assert np.array_equal(found.value, move(x.value)), number
        assert np.array_equal(found.radius, move(x.radius)), number


def test_what_is_put_beside_tracked_numbers_is_exact() -> None:
    x = as_balls(1, 2, radius=0.5)
    assert radius(np.concatenate([x, np.ones(1)])).tolist() == [0.5, 0.5, 0]
    padded = np.pad(x, (1, 0), constant_values=-INF)
    assert padded.value.tolist() == [-INF, 1, 2]
    assert padded.radius.tolist() == [0, 0.5, 0.5]


def test_claims_are_moved_like_numbers() -> None:
    claims = as_balls(1e-9, 1, radius=1e-8) > 0
    assert claims[::-1].doubt.tolist() == [False, True]
    assert np.flip(claims).doubt.tolist() == [False, True]
    assert as_balls(1, 2, radius=0.5)[as_balls(1, 2) > 1].value.tolist() == [2]


def test_places_and_tests_are_those_of_the_values() -> None:
    x = as_balls(3, 1, 2, radius=0.5)
    assert np.argmax(x) == 0
    assert np.argsort(x).tolist() == [1, 2, 0]
    assert np.isnan(x).tolist() == [False] * 3
    assert np.isposinf(x).tolist() == [False] * 3
    assert np.shape(x) == (3,)
    assert np.zeros_like(x).tolist() == [0, 0, 0]


def test_clip_and_select_are_choices() -> None:
    x = as_balls(-1, 0.5, 2, radius=0.1)
    assert np.clip(x, 0, 1).value.tolist() == [0, 0.5, 1]
    assert np.clip(x, 0, 1).radius == pytest.approx([0, 0.1, 0])
    assert np.clip(x, None, 1).value.tolist() == [-1, 0.5, 1]
    found = np.select([x < 0, x < 1], [0.0, x], 9.0)
    assert found.value.tolist() == [0, 0.5, 9]


def test_what_would_lose_the_errors_is_refused() -> None:
    x = as_balls(1)
    for use in (bool, np.asarray, lambda x: x.astype(np.float32), np.var, lambda x: np.add(x, 1, out=np.zeros(1))):
        with pytest.raises(TypeError):
            use(x)


def test_functions_of_plain_arrays_stay_plain() -> None:
    assert elementary(np.exp, "exp", np.zeros(2)).tolist() == [1, 1]


def test_a_ball_may_be_centred_around_other_numbers() -> None:
    found = centred(Ball([9.0, 9], [0.25, 0.75], terms=3), Ball([1.0, 2], [0.5, 0.1]))
    assert (found.value.tolist(), found.radius.tolist(), found.terms) == ([1, 2], [0.25, 0.75], 3)


def test_the_hull_of_two_ways_has_both_balls() -> None:
    """From 0.5 to 9.25, and from 1.875 to 9.75."""
    one, other = Ball([1.0, 2], [0.5, 0.125]), Ball([9.0, 9], [0.25, 0.75])
    found = hull(lambda: one, lambda: other)
    assert found.value.tolist() == [4.875, 5.8125]
    assert found.radius.tolist() == [4.375, 3.9375]
    assert hull(lambda: 3.0, lambda: pytest.fail("computed where there is no bound")) == 3


def either_of(one: Ball, other: Ball) -> Ball:
    found = hull(lambda: one, lambda: other)
    assert isinstance(found, Ball)
    return found


def test_the_bound_of_two_ways_reaches_from_the_least_to_the_largest() -> None:
    found = either_of(
        Ball([1.0, 5.0, -2.0], [0.5, 0.0, 0.25], terms=3), Ball([1.25, 5.0, -3.0], [0.5, 0.0, 0.5], terms=7)
    )
    assert (found.value - found.radius).tolist() == [0.5, 5, -3.5]
    assert (found.value + found.radius).tolist() == [1.75, 5, -1.75]
    assert found.terms == 7


def test_plain_numbers_need_no_other_way() -> None:
    assert hull(lambda: 3.0, lambda: pytest.fail("computed where there is no bound")) == 3


def test_where_nothing_bounds_one_of_two_ways_the_value_is_that_of_the_first() -> None:
    found = either_of(
        Ball([1.0, INF, NAN, 2.0], [0.5, 0.0, 0.0, INF]), Ball([3.0, INF, NAN, 9.0], [INF, 0.0, 0.0, 1.0])
    )
    assert str(found.value.tolist()) == "[1.0, inf, nan, 2.0]"
    assert found.radius.tolist() == [INF, 0, 0, INF]


@pytest.mark.parametrize(("start", "size"), [(1e5, 1.0), (-3e4, 1.0), (1e3, 1e-6)])
def test_a_sum_may_begin_with_what_is_added(start: float, size: float) -> None:
    count = 4096
    a, b = np.random.default_rng(2).normal(size=(2, 8, count)).astype(np.float32)
    a, b = np.abs(a) * np.float32(size), np.abs(b)
    first = np.full((8, 1), start, np.float32)
    found = np.cumsum(np.concatenate([first, a * b], axis=1), axis=1, dtype=np.float32)[:, -1]
    for is_likely in (False, True):
        arithmetic = Arithmetic(is_likely=is_likely)
        sums = numbers.product(Ball(a[:, None], 0.0, arithmetic), Ball(b[:, :, None], 0.0, arithmetic))
        later, begun = sums + first[:, :, None], numbers.plus_start(sums, first[:, :, None])
        off = np.abs(found - begun.value.reshape(-1))
        assert (off <= begun.radius.reshape(-1) + np.spacing(np.abs(found))).all()
        # What begins with its terms alone has an error of few units in the last place of the start.
        assert (begun.radius > later.radius).all()
        assert (begun.radius <= later.radius + count * 2.0**-24 * abs(start)).all()
