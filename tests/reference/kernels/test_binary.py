"""The element-wise operators of two tensors against fractions and mpmath, with pairs around the edges of every type.

Each oracle gives the result of one pair, or None where it is undefined. DMLCHECK_SAMPLES sets how many
random pairs there are of each type, about.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from elements import FLOATS, INF, NAN, SAMPLES, Array, bound, built, computed, marks, refused, results

from dmlcheck.reference.bounds import bounds
from dmlcheck.values.number_formats import FORMATS, round_exact

Number = float | int
Oracle = Callable[[Any, Any, str], "Number | None"]

INTEGERS = {f"{sign}INT{bits}": (sign == "", bits) for sign in ("", "U") for bits in (8, 16, 32, 64)}


def nearest(value: Fraction, name: str, sign: float = 1.0) -> float:
    """Return the number of a type that is nearest to a fraction, of two the even one; `sign` is that of a zero."""
    return math.copysign(round_exact(value, name), sign if value == 0 else value)


def nearest_real(value: Any, name: str, sign: float = 1.0) -> float:
    """Round a number of mpmath's."""
    is_negative, mantissa, exponent, bits = value._mpf_
    if mantissa and bits + exponent > 200:
        return -INF if is_negative else INF
    if not mantissa or bits + exponent < -400:
        return math.copysign(0.0, -1.0 if is_negative else sign)
    return nearest((-1) ** is_negative * Fraction(int(mantissa)) * Fraction(2) ** exponent, name)


def limits(name: str) -> tuple[int, int]:
    is_signed, bits = INTEGERS[name]
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)


def wrapped(value: int, name: str) -> int:
    low, high = limits(name)
    return (value - low) % (high - low + 1) + low


def fits(value: int, name: str) -> bool:
    return wrapped(value, name) == value


# ---- what is right, pair by pair


def is_special(*numbers: float) -> bool:
    return not all(map(math.isfinite, numbers))


def sign_of(a: float, b: float) -> float:
    return math.copysign(1, a) * math.copysign(1, b)


def arithmetic(exactly: Callable[[Any, Any], Any]) -> Oracle:
    """Return the oracle of +, - or *, of which Python's own gives special values and the signs of zeros."""

    def oracle(a: Any, b: Any, name: str) -> Number | None:
        if name in INTEGERS:
            value = exactly(a, b)
            return None if INTEGERS[name][1] < 32 and not fits(value, name) else wrapped(value, name)
        if is_special(a, b):
            return float(exactly(a, b))
        return nearest(exactly(Fraction(a), Fraction(b)), name, math.copysign(1, exactly(a, b)))

    return oracle


def divided(a: Any, b: Any, name: str) -> Number | None:
    if name in INTEGERS:
        return None if b == 0 or not fits(math.trunc(Fraction(a, b)), name) else math.trunc(Fraction(a, b))
    if math.isnan(a) or math.isnan(b) or (a == 0 == b) or (math.isinf(a) and math.isinf(b)):
        return NAN
    if b == 0 or math.isinf(a):
        return math.copysign(INF, sign_of(a, b))
    return math.copysign(0, sign_of(a, b)) if math.isinf(b) else nearest(Fraction(a) / Fraction(b), name, sign_of(a, b))


def squared_difference(a: Any, b: Any, name: str) -> Number | None:
    if name in INTEGERS:
        return wrapped((a - b) ** 2, name)
    return abs(a - b) if is_special(a, b) else nearest((Fraction(a) - Fraction(b)) ** 2, name)


def mean(a: Any, b: Any, name: str) -> Number | None:
    if name in INTEGERS:
        return math.trunc(Fraction(wrapped(a + b, name), 2))
    if is_special(a, b):
        return float(a + b)
    total = Fraction(a) + Fraction(b)
    if name == "FLOAT32" and math.isinf(nearest(total, name)):
        return math.copysign(INF, total)
    return nearest(total / 2, name, math.copysign(1, a + b))


def modulus(whole: Callable[[Any], int]) -> Oracle:
    def oracle(a: Any, b: Any, name: str) -> Number | None:
        if name in INTEGERS:
            return None if b == 0 else a - b * whole(Fraction(a, b))
        if math.isinf(b):
            return None
        if is_special(a, b) or b == 0:
            return NAN
        quotient = Fraction(a) / Fraction(b)
        is_undefined = math.isinf(nearest(quotient, name))
        return None if is_undefined else nearest(Fraction(a) - Fraction(b) * whole(quotient), name)

    return oracle


def power(a: Any, b: Any, name: str) -> Number | None:
    if a == 0 and b <= 0:
        return None
    if name in INTEGERS:
        value = Fraction(a) ** b if abs(a) < 2 or -2 <= b <= 64 else Fraction(1, 3)
        return int(value) if value.denominator == 1 and fits(int(value), name) else None
    if is_special(a, b):
        is_nan = (a == 1, b == 0, a < 0 and math.isinf(b), a == -INF and not float(b).is_integer())  # of powr
        return NAN if any(is_nan) else math.pow(a, b)
    if a < 0 and not float(b).is_integer():
        return NAN
    sign = -1.0 if math.copysign(1, a) < 0 and b % 2 == 1 else 1.0
    if a == 0:
        return math.copysign(0.0, sign)
    with mpmath.workprec(600):
        return math.copysign(nearest_real(mpmath.power(abs(mpmath.mpf(a)), mpmath.mpf(b)), name), sign)


def angle(a: float, b: float, name: str) -> Number | None:
    if a == 0 == b:
        return None
    if is_special(a, b) or a == 0:
        return float(np.array(math.atan2(a, b)).astype(name.lower()))
    with mpmath.workprec(800):  # the angle of (1.5 * 2^-148, 1) is less than its tangent by 2^-296 of it
        return nearest_real(mpmath.atan2(mpmath.mpf(a), mpmath.mpf(b)), name, a)


ORACLES: dict[str, Oracle] = {
    "ADD": arithmetic(lambda a, b: a + b),
    "SUBTRACT": arithmetic(lambda a, b: a - b),
    "MULTIPLY": arithmetic(lambda a, b: a * b),
    "DIVIDE": divided,
    "DIFFERENCE_SQUARE": squared_difference,
    "MEAN": mean,
    "MODULUS_FLOOR": modulus(math.floor),
    "MODULUS_TRUNCATE": modulus(math.trunc),
    "POW": power,
    "ATAN_YX": angle,
}
OPEN_ZEROS = ("MODULUS_FLOOR", "MODULUS_TRUNCATE")  # the sign of a zero is undefined
OF_32_BITS = ("DIFFERENCE_SQUARE", "MEAN")
ROWS = [
    (operator, name)
    for operator in ORACLES
    for name in (*FLOATS, *INTEGERS)
    if name in FLOATS
    or (
        (operator != "ATAN_YX" and (operator not in OF_32_BITS or name.endswith("32")))
        and not (operator == "POW" and name.endswith("64"))
    )
]


# ---- pairs


@cache
def pairs(name: str) -> list[tuple[Any, Any]]:
    return list((float_pairs if name in FLOATS else integer_pairs)(name, random.Random(name)))  # noqa: S311


def float_pairs(name: str, source: random.Random) -> Iterator[tuple[float, float]]:
    """Yield pairs of all magnitudes, of neighbours, of small wholes, and those whose results are halfway."""
    precision, least, largest = FORMATS[name]
    tiny, width = math.ldexp(1, least - precision + 1), precision - least
    edges = [0.0, 1.0, largest, tiny, 2 * tiny, 3 * tiny, math.ldexp(1, least), math.ldexp(1, least) - tiny, INF]
    edges += [2.0, 3.0, 0.5, 1.5, 1 + math.ldexp(1, 1 - precision), 1 - math.ldexp(1, -precision), largest / 2]
    signed = [*edges, *(-edge for edge in edges), NAN]
    yield from ((a, b) for a in signed for b in signed)

    def number(low: int, high: int, bits: int = precision) -> float:
        whole = source.randrange(1 << (bits - 1), 1 << bits)
        return short(source.choice((-1, 1)) * math.ldexp(whole, source.randint(low, high) - bits + 1))

    def short(value: float) -> float:
        return nearest(Fraction(value), name)

    for _ in range(SAMPLES // 5):
        a, halves = number(least - precision, -least), number(-3, 3, source.randint(1, precision))
        yield a, number(least - precision, -least)
        yield a, short(a * source.choice((1, -1)) * (1 + source.randint(-4, 4) * math.ldexp(1, -precision)))
        yield a, short(math.ldexp(a, -precision) * source.choice((1, 1.5, 0.5, -1)))  # sums that are halfway
        yield halves, number(-2, 2, precision + 1 - source.randint(1, precision))  # products that may be
        yield number(-width, 0, source.randint(1, 4)), number(least, 2, source.randint(1, 4))  # denormal results
        yield float(source.randint(-300, 300)), float(source.randint(-20, 20))


def integer_pairs(name: str, source: random.Random) -> Iterator[tuple[int, int]]:
    low, high = limits(name)
    edges = [low, low + 1, high, high - 1, high // 2, high // 2 + 1, math.isqrt(high), math.isqrt(high) + 1, 0, 1, 2, 3]
    edges += [-1, -2, -3, 5] if low < 0 else [7, 10]
    yield from ((a, b) for a in edges for b in edges)
    for _ in range(SAMPLES // 4):
        yield source.randint(low, high), source.randint(low, high)
        yield source.randint(low, high), source.randint(max(low, -20), 20)
        yield source.randint(max(low, -30), 30), source.randint(max(low, -9), 9)
        yield source.choice(edges), source.randint(low, high)


def columns(rows: Sequence[tuple[Any, ...]], *names: str) -> list[Array]:
    return [np.array(column, dtype=name.lower()) for column, name in zip(zip(*rows, strict=True), names, strict=True)]


def is_wrong(good: Number | None, found: Number | None, operator: str) -> bool:
    if good is None or found is None:
        return good is not found
    if math.isnan(good):
        return not math.isnan(found)
    if operator == "ATAN_YX" and abs(good) < 1e-38:  # float64 does not see what a tiny angle is less than its tangent
        return abs(found - good) > 2.0**-149
    return found != good or not (operator in OPEN_ZEROS or math.copysign(1, found) == math.copysign(1, good))


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "name"), ROWS)
def test_a_result_is_the_exact_one_rounded_once_or_wrapped(operator: str, name: str) -> None:
    rows = pairs(name)
    found = results(operator, {}, *columns(rows, name, name))
    wanted = [ORACLES[operator](a, b, name) for a, b in rows]
    judged = zip(rows, wanted, found, strict=True)
    assert [row for row in judged if is_wrong(*row[1:], operator)] == []


@pytest.mark.parametrize("toward", [0.0, INF])
@pytest.mark.parametrize("name", ["UINT16", "INT32", "UINT32"])
def test_powers_of_integers_are_exact_where_the_machines_are_not(
    name: str, toward: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_the_machine = np.float_power
    monkeypatch.setattr(np, "float_power", lambda x, y: np.nextafter(of_the_machine(x, y), toward))
    test_a_result_is_the_exact_one_rounded_once_or_wrapped("POW", name)


@pytest.mark.parametrize(
    ("bases", "exponents", "right"),
    [
        (np.array([2, 3, -2], np.int32), np.array([3, 2, 3], np.uint8), [8, 9, -8]),
        (np.array([2, 3], np.int32), np.array([3, 2], np.float32), [None, None]),
        (np.array([2, 3], np.uint8), np.array([7, 8], np.int16), [128, None]),
        (np.array([2.5, -2, 4], np.float32), np.array([2, 3, -1], np.int32), [6.25, -8, 0.25]),
        (np.array([2.5, -2, 4], np.float32), np.array([2, 3, -0.5], np.float16), [6.25, -8, 0.5]),
    ],
)
def test_bases_and_exponents_may_be_of_different_types(bases: Array, exponents: Array, right: list[Any]) -> None:
    assert results("POW", {}, bases, exponents) == right


def test_scale_and_bias_come_before_the_power_for_bases_and_exponents() -> None:
    fields = {"ScaleBias": {"Scale": 2, "Bias": 1}}
    assert results("POW", fields, *columns([(1, 0.5), (-1, 1)], "FLOAT32", "FLOAT32")) == [9, -1]
    assert math.isnan(computed("POW", fields, *columns([(-1, 0.25)], "FLOAT32", "FLOAT32"))[0])
    assert results("POW", fields, *columns([(1, 2)], "INT32", "INT32")) == [243]
    fields = {"ScaleBias": {"Scale": 0.5, "Bias": 1}}
    assert results("POW", fields, *columns([(1, 2)], "INT32", "INT32")) == [None]


# ---- bounds

EXACT = [
    ("BIT_AND", "FLOAT32"),
    ("IF", "FLOAT32"),
    ("LOGICAL_EQUALS", "FLOAT32"),
    ("LOGICAL_LESS_THAN", "FLOAT16"),
    ("MAX", "FLOAT32"),
    ("MIN", "FLOAT16"),
    ("ADD", "INT32"),
    ("DIVIDE", "INT64"),
    ("MEAN", "UINT32"),
    ("MODULUS_FLOOR", "INT8"),
    ("MULTIPLY", "UINT64"),
    ("POW", "INT32"),
]


@pytest.mark.parametrize(("operator", "name"), EXACT)
def test_operators_that_round_nothing_allow_nothing(operator: str, name: str) -> None:
    given = columns(pairs(name), name, name)
    if operator == "IF":
        given = [given[0] > 0, *given]  # type: ignore[list-item]
        given[0] = given[0].astype(np.uint8)
    found = bound(operator, {}, *given)
    assert not found.radius[~found.undefined].any()


PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": np.add,
    "ATAN_YX": np.arctan2,
    "DIFFERENCE_SQUARE": lambda a, b: (a - b) * (a - b),
    "DIVIDE": lambda a, b: a * (a.dtype.type(1) / b),
    "MAX": np.maximum,
    "MEAN": lambda a, b: (a + b) / a.dtype.type(2),
    "MODULUS_FLOOR": lambda a, b: a - b * np.floor(a / b),
    "MODULUS_TRUNCATE": lambda a, b: a - b * np.trunc(a / b),
    "MULTIPLY": np.multiply,
    "POW": lambda a, b: np.exp2(b * np.log2(a)),
    "SUBTRACT": np.subtract,
}


@pytest.mark.parametrize("operator", PLAIN)
def test_a_plain_implementation_in_float32_is_within_the_bound(operator: str) -> None:
    # of numbers whose reciprocals, quotients and differences do not overflow
    rows = [(a, b) for a, b in pairs("FLOAT32") if all(1e-10 < abs(x) < 1e10 for x in (a, b))]
    rows = [(abs(a), b) for a, b in rows] if operator == "POW" else rows
    a, b = columns(rows, "FLOAT32", "FLOAT32")
    with np.errstate(all="ignore"):
        found = PLAIN[operator](a, b)
    limit = bound(operator, {}, a, b)
    wrong = refused(found, limit)
    judged = zip(a[wrong].tolist(), b[wrong].tolist(), found[wrong].tolist(), limit.value[wrong].tolist(), strict=True)
    assert [(x.hex(), y.hex(), bad, good) for x, y, bad, good in judged] == []


@pytest.mark.parametrize("operator", ["MODULUS_FLOOR", "MODULUS_TRUNCATE"])
def test_a_quotient_that_rounds_to_a_whole_number_allows_the_remainder_of_either_and_no_others(operator: str) -> None:
    tenth = float(np.float32(0.1))
    a, b = columns([(1, 0.1), (1, 0.3)], "FLOAT32", "FLOAT32")  # 9.9999999 and 3.3333332
    found = bound(operator, {}, a, b)
    low, high = found.value - found.radius, found.value + found.radius
    assert np.isclose(computed(operator, {}, a, b)[0], 1 - 9 * tenth, rtol=1e-7)
    assert -1e-6 <= low[0] <= 0  # cut to 10
    assert tenth - 1e-6 <= high[0] <= tenth + 1e-6  # cut to 9
    assert np.isclose(computed(operator, {}, a, b)[1], 0.1, rtol=1e-6)
    assert high[1] - low[1] < 2e-6


@pytest.mark.parametrize("sign", [1, -1])
def test_beside_a_bound_that_is_no_float16_number_a_gradient_may_pass_or_not(sign: int) -> None:
    near = np.float16(0.3)
    others = [np.nextafter(near, np.float16(toward)) for toward in (0, 1)]
    x = np.array([near, *others], np.float16) * sign
    fields = {"Min": -0.3, "Max": 0.3}
    found = bound("CLIP_GRAD", fields, x, np.full(3, 5, np.float16))
    ends = np.stack([found.value - found.radius, found.value + found.radius], axis=1).tolist()
    assert ends == [[0, 5], [5, 5], [0, 0]]
    assert not bound("CLIP_GRAD", fields, x.astype(np.float32), np.full(3, 5, np.float32)).radius.any()


def test_a_difference_that_cancels_has_the_error_of_its_rounding_squared() -> None:
    a, b = columns([(1, 2.0**-25)], "FLOAT32", "FLOAT32")
    radius = bound("DIFFERENCE_SQUARE", {}, a, b).radius[0]
    assert 2.0**-24 <= radius <= 2.0**-22


@pytest.mark.parametrize(
    ("operator", "name"), [("ADD", "INT8"), ("SUBTRACT", "UINT16"), ("DIVIDE", "INT32"), ("ADD", "INT32")]
)
def test_a_bound_is_undefined_where_the_results_are(operator: str, name: str) -> None:
    given = columns(pairs(name), name, name)
    assert bound(operator, {}, *given).undefined.tolist() == marks(operator, {}, *given)


@pytest.mark.parametrize(
    ("dtype", "a", "b", "right"),
    [
        (np.int32, 1, 3, {2}),
        (np.int32, 1, 2, {1, 2}),
        (np.int32, -1, -2, {-2, -1}),
        (np.int32, 2**31 - 1, 2**31 - 1, {2**31 - 1, -1}),
        (np.int32, 2**31 - 1, 2**31 - 2, {2**31 - 2, 2**31 - 1, -2, -1}),
        (np.uint32, 2**32 - 1, 2, {2**31, 2**31 + 1, 0, 1}),
        (np.float32, 2.0**127, 2.0**127, {2.0**127, INF}),
        (np.float32, 1.5, 2, {1.75}),
    ],
)
def test_the_mean_is_one_of_those_that_the_page_leaves_room_for(dtype: Any, a: Any, b: Any, right: set[float]) -> None:
    desc, inputs = built("MEAN", {}, np.array([a], dtype), np.array([b], dtype))
    ((_, _, first),) = bounds(desc, inputs, {"OutputTensor": np.ones(1, bool)})
    assert {float(side.value[0]) for side in (first, *first.others)} == right
