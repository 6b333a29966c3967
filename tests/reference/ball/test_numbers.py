"""Formulas in ball arithmetic: any result that an implementation may have is in the ball, and little else is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from balls import FLOAT16, FLOAT32, TYPES, allowed, as_balls

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, Condition, hull, radius, with_roundings_of
from dmlcheck.reference.ball.roundings import rounding
from dmlcheck.reference.functions import special
from dmlcheck.values.number_formats import ulp

Array = np.ndarray[Any, Any]

ARITHMETICS = pytest.mark.parametrize("arithmetic", [FLOAT32, FLOAT16], ids=["FLOAT32", "FLOAT16"])


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


@pytest.mark.slow
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


@pytest.mark.slow
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


# ---- hulls
INF, NAN = math.inf, math.nan


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


def test_a_result_gets_the_roundings_of_another_way_but_not_the_radii_of_its_operands() -> None:
    """The product of 3 and 1 + 2^-12 is exact, and its sum with 2^-23 is halfway between two FLOAT32 numbers."""
    x, result = Ball([1 + 2.0**-12], [0.5]), Ball([7.0], [0.25], terms=3)
    found = with_roundings_of(lambda x: x * 3 + 2.0**-23, result, x)
    assert (found.value.tolist(), found.radius.tolist(), found.terms) == ([7], [0.25 + 2.0**-23], 3)
    assert with_roundings_of(lambda _: pytest.fail("computed without a radius"), 7.0, x) == 7


def test_plain_numbers_need_no_other_way() -> None:
    assert hull(lambda: 3.0, lambda: pytest.fail("computed where there is no bound")) == 3


def test_where_nothing_bounds_one_of_two_ways_the_value_is_that_of_the_first() -> None:
    found = either_of(
        Ball([1.0, INF, NAN, 2.0], [0.5, 0.0, 0.0, INF]), Ball([3.0, INF, NAN, 9.0], [INF, 0.0, 0.0, 1.0])
    )
    assert str(found.value.tolist()) == "[1.0, inf, nan, 2.0]"
    assert found.radius.tolist() == [INF, 0, 0, INF]
