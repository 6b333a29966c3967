"""The kernels of two operands, bit for bit, against fractions and mpmath, with pairs around the edges of every type.

Each oracle gives the result of one pair, or None where the specification leaves it open; the kernels' marks must agree.
DMLCHECK_SAMPLES sets how many random pairs there are of each type, about.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest

import dmlcheck
from dmlcheck import validation
from dmlcheck.reference.kernels import compute
from dmlcheck.specs.names import NEWEST_LEVEL

Number = float | int
Oracle = Callable[[Any, Any, str], "Number | None"]

PAIRS = int(os.environ.get("DMLCHECK_SAMPLES", "2000"))
FLOATS = {"FLOAT16": (11, -14, 65504.0), "FLOAT32": (24, -126, float(np.finfo(np.float32).max))}
INTEGERS = {f"{sign}INT{bits}": (sign == "", bits) for sign in ("", "U") for bits in (8, 16, 32, 64)}
DTYPES = {name: np.dtype(name.lower()) for name in (*FLOATS, *INTEGERS)}


# ---- rounding, slowly


def nearest(value: Fraction, name: str, sign: float = 1.0) -> float:
    """Return the number of a type that is nearest to a fraction, of two the even one; `sign` is that of a zero."""
    precision, least, largest = FLOATS[name]
    if value == 0:
        return math.copysign(0.0, sign)
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, least) - precision + 1)
    count = round(magnitude / unit) * unit  # round() takes a half to the even number
    return math.copysign(math.inf if count > largest else float(count), value)


def nearest_real(value: Any, name: str, sign: float = 1.0) -> float:
    """Round a number of mpmath's."""
    is_negative, mantissa, exponent, bits = value._mpf_
    if mantissa and bits + exponent > 200:
        return -math.inf if is_negative else math.inf
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
        return None if b == 0 or not fits(toward_zero(a, b), name) else toward_zero(a, b)
    if math.isnan(a) or math.isnan(b) or (a == 0 == b) or (math.isinf(a) and math.isinf(b)):
        return math.nan
    if b == 0 or math.isinf(a):
        return math.copysign(math.inf, sign_of(a, b))
    return math.copysign(0, sign_of(a, b)) if math.isinf(b) else nearest(Fraction(a) / Fraction(b), name, sign_of(a, b))


def toward_zero(a: int, b: int) -> int:
    return math.trunc(Fraction(a, b))


def squared_difference(a: Any, b: Any, name: str) -> Number | None:
    if name in INTEGERS:
        return wrapped((a - b) ** 2, name)
    return abs(a - b) if is_special(a, b) else nearest((Fraction(a) - Fraction(b)) ** 2, name)


def mean(a: Any, b: Any, name: str) -> Number | None:
    if name in INTEGERS:
        return None if (a + b) % 2 or not fits(a + b, name) else (a + b) // 2
    if is_special(a, b):
        return float(a + b)
    total = Fraction(a) + Fraction(b)
    return None if math.isinf(nearest(total, name)) else nearest(total / 2, name, math.copysign(1, a + b))


def modulus(whole: Callable[[Any], int]) -> Oracle:
    def oracle(a: Any, b: Any, name: str) -> Number | None:
        if name in INTEGERS:
            return None if b == 0 else a - b * whole(Fraction(a, b))
        if math.isinf(b):
            return None
        if is_special(a, b) or b == 0:
            return math.nan
        quotient = Fraction(a) / Fraction(b)
        short = nearest(quotient, name)
        if math.isinf(short) or whole(short) != whole(quotient):
            return None
        return nearest(Fraction(a) - Fraction(b) * whole(quotient), name)

    return oracle


def power(a: Any, b: Any, name: str) -> Number | None:
    if (a == 0 and b <= 0) or (is_special(a) and b == 0) or (a == 1 and is_special(b)) or (a < 0 and math.isinf(b)):
        return None
    if name in INTEGERS:
        value = Fraction(a) ** b if abs(a) < 2 or -2 <= b <= 64 else Fraction(1, 3)
        return int(value) if value.denominator == 1 and fits(int(value), name) else None
    if is_special(a, b):
        return None if a == -math.inf and math.isfinite(b) and b % 1 else math.pow(a, b)
    if a < 0 and not float(b).is_integer():
        return math.nan
    sign = -1.0 if math.copysign(1, a) < 0 and b % 2 == 1 else 1.0
    if a == 0:
        return math.copysign(0.0, sign)
    with mpmath.workprec(600):
        return math.copysign(nearest_real(mpmath.power(abs(mpmath.mpf(a)), mpmath.mpf(b)), name), sign)


def angle(a: float, b: float, name: str) -> Number | None:
    if a == 0 == b:
        return None
    if is_special(a, b) or a == 0:
        return float(np.array(math.atan2(a, b)).astype(DTYPES[name]))
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
OPEN_ZEROS = ("MODULUS_FLOOR", "MODULUS_TRUNCATE")  # the sign of a zero is left open
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
    precision, least, largest = FLOATS[name]
    tiny, width = math.ldexp(1, least - precision + 1), precision - least
    edges = [0.0, 1.0, largest, tiny, 2 * tiny, 3 * tiny, math.ldexp(1, least), math.ldexp(1, least) - tiny, math.inf]
    edges += [2.0, 3.0, 0.5, 1.5, 1 + math.ldexp(1, 1 - precision), 1 - math.ldexp(1, -precision), largest / 2]
    signed = [*edges, *(-edge for edge in edges), math.nan]
    yield from ((a, b) for a in signed for b in signed)

    def number(low: int, high: int, bits: int = precision) -> float:
        whole = source.randrange(1 << (bits - 1), 1 << bits)
        return short(source.choice((-1, 1)) * math.ldexp(whole, source.randint(low, high) - bits + 1))

    def short(value: float) -> float:
        return nearest(Fraction(value), name)

    for _ in range(PAIRS // 5):
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
    for _ in range(PAIRS // 4):
        yield source.randint(low, high), source.randint(low, high)
        yield source.randint(low, high), source.randint(max(low, -20), 20)
        yield source.randint(max(low, -30), 30), source.randint(max(low, -9), 9)
        yield source.choice(edges), source.randint(low, high)


# ---- comparing


def check(
    operator: str, desc: dict[str, Any], inputs: dict[str, Any], wanted: Sequence[Number | None], free: bool = False
) -> None:
    """Compare an operator's results with those of an oracle, and what it leaves open; `free` are zeros' signs."""
    full = f"DML_OPERATOR_ELEMENT_WISE_{operator}"
    found = dmlcheck.evaluate(full, desc, inputs)["OutputTensor"].tolist()
    marks = left_open(full, desc, inputs, len(wanted))
    rows = list(zip(*(np.broadcast_to(values, len(wanted)).tolist() for values in inputs.values()), strict=True))
    judged = zip(rows, wanted, found, marks, strict=True)
    assert [row for row in judged if is_wrong(*row[1:], free=free)] == []


def is_wrong(good: Number | None, found: Number, mark: bool, free: bool) -> bool:
    if good is None or mark:
        return (good is None) != mark
    if math.isnan(good):
        return not math.isnan(found)
    return found != good or not (free or math.copysign(1, found) == math.copysign(1, good))


def left_open(operator: str, desc: dict[str, Any], inputs: dict[str, Any], count: int) -> list[bool]:
    checked, findings = validation.validate(operator, desc, NEWEST_LEVEL)
    assert checked is not None
    assert not findings
    marks = np.zeros(count, bool)
    with np.errstate(all="ignore"):
        for index, wide in compute(checked, inputs)["OutputTensor"].tiles():
            if wide.unspecified is not None:
                marks[index] = wide.unspecified
    return list(map(bool, marks))


def columns(rows: Sequence[tuple[Any, ...]], *names: str) -> list[np.ndarray[Any, Any]]:
    return [np.array(column, dtype=DTYPES[name]) for column, name in zip(zip(*rows, strict=True), names, strict=True)]


@pytest.mark.parametrize(("operator", "name"), ROWS)
def test_a_result_is_the_exact_one_rounded_once_or_wrapped(operator: str, name: str) -> None:
    rows = pairs(name)
    first, second = ("InputTensor", "ExponentTensor") if operator == "POW" else ("ATensor", "BTensor")
    tensor = {"DataType": name, "Sizes": [len(rows)]}
    desc = {first: tensor, second: tensor, "OutputTensor": tensor}
    wanted = [ORACLES[operator](a, b, name) for a, b in rows]
    inputs = dict(zip((first, second), columns(rows, name, name), strict=True))
    check(operator, desc, inputs, wanted, free=operator in OPEN_ZEROS)


@pytest.mark.parametrize("toward", [0.0, math.inf])
@pytest.mark.parametrize("name", ["UINT16", "INT32", "UINT32"])
def test_powers_of_integers_are_exact_where_the_machines_are_not(
    name: str, toward: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_the_machine = np.power
    monkeypatch.setattr(np, "power", lambda x, y: np.nextafter(of_the_machine(x, y), toward))
    test_a_result_is_the_exact_one_rounded_once_or_wrapped("POW", name)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(("scale", "bias"), [(1.1, 0.3), (-2.0, 1.0), (0.5, 0.0)])
def test_a_power_is_that_of_the_scaled_base(name: str, scale: float, bias: float) -> None:
    rows = [(a, b) for a, b in pairs(name) if not is_special(a, b)]
    tensor = {"DataType": name, "Sizes": [len(rows)]}
    desc = {"InputTensor": tensor, "ExponentTensor": tensor, "OutputTensor": tensor}
    single = [Fraction(float(np.float32(part))) for part in (scale, bias)]
    wanted = [scaled_power(Fraction(a) * single[0] + single[1], b, name) for a, b in rows]
    inputs = dict(zip(("InputTensor", "ExponentTensor"), columns(rows, name, name), strict=True))
    check("POW", {**desc, "ScaleBias": {"Scale": scale, "Bias": bias}}, inputs, wanted, free=True)


def scaled_power(base: Fraction, exponent: float, name: str) -> float | None:
    if base == 0:
        return None if exponent <= 0 else 0.0
    if base < 0 and not exponent.is_integer():
        return math.nan
    with mpmath.workprec(600):
        value = mpmath.power(mpmath.mpf(abs(base.numerator)) / base.denominator, mpmath.mpf(exponent))
        return math.copysign(nearest_real(value, name), -1 if base < 0 and exponent % 2 else 1)


# ---- quantization


def is_half(value: Fraction | float) -> bool:
    return math.isfinite(value) and Fraction(value) % 1 == Fraction(1, 2)


def quantized(quotient: Fraction, short: float, zero: int, name: str) -> int | None:
    low, high = limits(name)
    if is_half(quotient) or is_half(short):
        return None
    return min(max(round(quotient) + zero, low), high)


@pytest.mark.parametrize(("name", "scale_type"), [("FLOAT32", "FLOAT32"), ("FLOAT16", "FLOAT16"), ("INT32", "FLOAT32")])
@pytest.mark.parametrize("output", ["INT8", "UINT8"])
def test_quantized_numbers_are_the_nearest_and_halves_left_open(name: str, scale_type: str, output: str) -> None:
    source = random.Random(f"{name} {output}")  # noqa: S311
    rows: list[tuple[Any, float, int]] = []
    while len(rows) < PAIRS:
        scale = nearest(Fraction(source.choice((0.1, 0.5, 3, 7.3, source.uniform(1e-3, 6e4)))), scale_type)
        half = source.choice((source.randint(-300, 300), source.randint(-300, 300) + 0.5, source.uniform(-300, 300)))
        near = half * scale + source.choice((0, 0, 1, -1, scale / 1e4))
        number = round(near) if name == "INT32" else nearest(Fraction(near), name)
        if abs(number) < 2**31:
            rows.append((number, scale, source.randint(*limits(output))))
    if name == "INT32":
        rows += [(16777219, 33554440.0, 0), (2**31 - 1, 1e-30, 0), (-(2**31), 0.25, 3)]
    else:
        largest = FLOATS[name][2]
        rows += [(largest, 2.0**-20, 0), (-largest, 2.0**-20, 0), (2.0**-20, largest, 5)]
    wanted = []
    for x, scale, zero in rows:
        short = nearest(Fraction(nearest(Fraction(x), scale_type)) / Fraction(scale), scale_type)
        wanted.append(quantized(Fraction(x) / Fraction(scale), short, zero, output))
    assert None in wanted
    sizes = [len(rows)]
    types = {"InputTensor": name, "ScaleTensor": scale_type, "ZeroPointTensor": output, "OutputTensor": output}
    desc = {field: {"DataType": kind, "Sizes": sizes} for field, kind in types.items()}
    given = columns(rows, name, scale_type, output)
    check("QUANTIZE_LINEAR", desc, dict(zip(types, given, strict=False)), wanted)


@pytest.mark.parametrize("scale_type", FLOATS)
@pytest.mark.parametrize("name", [name for name in INTEGERS if not name.endswith("64")])
def test_dequantized_numbers_are_the_exact_products_rounded_once(name: str, scale_type: str) -> None:
    source = random.Random(f"{name} {scale_type}")  # noqa: S311
    low, high = limits(name)
    edges = [low, low + 1, high, high - 1, 0, 1, 5, 65 % high, 4097 % high, 2049 % high]
    ends = [(source.choice(edges), source.choice(edges)) for _ in range(PAIRS // 4)]
    near = [(x, min(max(x + source.randint(-3000, 3000), low), high)) for x, _ in ends]
    anywhere = [(source.randint(low, high), source.randint(low, high)) for _ in range(PAIRS // 2)]
    largest = FLOATS[scale_type][2]
    scales = [0.1, 0.5, 3, 65, 4097, -7.3, largest, -largest, math.ldexp(1, -24), 1e-7, 1.5, 5e-6]
    rows = [(x, nearest(Fraction(source.choice(scales)), scale_type), zero) for x, zero in ends + near + anywhere]
    rows = [(x, scale if scale and math.isfinite(scale) else 1.0, zero) for x, scale, zero in rows]
    wanted = []
    for x, scale, zero in rows:
        difference = x - zero
        is_open = nearest(Fraction(difference), scale_type) != difference
        is_open |= INTEGERS[name][1] == 32 and not fits(difference, name)
        sign = math.copysign(1, scale)
        wanted.append(None if is_open else nearest(difference * Fraction(scale), scale_type, sign))
    sizes = [len(rows)]
    types = {"InputTensor": name, "ScaleTensor": scale_type, "ZeroPointTensor": name, "OutputTensor": scale_type}
    desc = {field: {"DataType": kind, "Sizes": sizes} for field, kind in types.items()}
    check("DEQUANTIZE_LINEAR", desc, dict(zip(types, columns(rows, name, scale_type, name), strict=False)), wanted)


@pytest.mark.parametrize("seed", range(24))
def test_sums_of_quantized_numbers_are_the_nearest_and_halves_left_open(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    kinds = [source.choice(("INT8", "UINT8")) for _ in range(3)]
    choices = (0.5, 0.25, 1.0, 2.0, -1.5, 0.1, 0.01, source.uniform(0.01, 3))
    scales = [nearest(Fraction(source.choice(choices)), "FLOAT32") for _ in range(3)]
    zeros = [source.choice((None, source.randint(*limits(kind)))) for kind in kinds]
    rows = [(source.randint(*limits(kinds[0])), source.randint(*limits(kinds[1]))) for _ in range(PAIRS // 8)]
    wanted = []
    for row in rows:
        parts = [(x - (zero or 0)) * Fraction(scale) for x, zero, scale in zip(row, zeros, scales, strict=False)]
        quotient = sum(parts, Fraction(0)) / Fraction(scales[2])
        slack = sum(map(abs, parts)) / abs(Fraction(scales[2])) / 2**22
        ends = {quantized(quotient + sign * slack, 0.0, zeros[2] or 0, kinds[2]) for sign in (-1, 1)}
        wanted.append(quantized(quotient, 0.0, zeros[2] or 0, kinds[2]) if len(ends) == 1 else None)
    desc: dict[str, Any] = {}
    inputs: dict[str, Any] = {}
    for part, kind, scale, zero, values in zip("AB", kinds, scales, zeros, columns(rows, *kinds[:2]), strict=False):
        desc[f"{part}Tensor"], inputs[f"{part}Tensor"] = {"DataType": kind, "Sizes": [len(rows)]}, values
        declare(desc, inputs, part, kind, scale, zero)
    declare(desc, inputs, "Output", kinds[2], scales[2], zeros[2])
    desc["OutputTensor"] = {"DataType": kinds[2], "Sizes": [len(rows)]}
    check("QUANTIZED_LINEAR_ADD", desc, inputs, wanted)


@pytest.mark.parametrize("scales", [(0.1, 0.3, 0.2), (0.6, 0.1, 0.4), (0.09, 0.07, 0.08), (0.0157, 0.0678, 0.0868)])
def test_sums_of_quantized_numbers_in_float32_are_no_fault(scales: tuple[float, float, float]) -> None:
    a, b = (x.ravel().astype(np.uint8) for x in np.indices((256, 256)))
    single, zero = [np.float32(scale) for scale in scales], np.float32(128)
    quotient = ((a.astype(np.float32) - zero) * single[0] + (b.astype(np.float32) - zero) * single[1]) / single[2]
    given = np.clip(np.rint(quotient) + 128, 0, 255).astype(np.uint8)
    desc: dict[str, Any] = {}
    inputs: dict[str, Any] = {}
    for part, scale, values in zip(("A", "B", "Output"), single, (a, b, given), strict=True):
        desc[f"{part}Tensor"], inputs[f"{part}Tensor"] = {"DataType": "UINT8", "Sizes": [a.size]}, values
        declare(desc, inputs, part, "UINT8", float(scale), 128)
    measured = inputs.pop("OutputTensor")
    full = "DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD"
    differ = dmlcheck.evaluate(full, desc, inputs)["OutputTensor"] != measured
    is_open = np.array(left_open(full, desc, inputs, a.size))
    assert differ.any()
    assert not (differ & ~is_open).any()
    assert is_open.mean() <= 0.5  # by the first scales every other quotient is a half


def declare(desc: dict[str, Any], inputs: dict[str, Any], part: str, kind: str, scale: float, zero: int | None) -> None:
    """Add a scale and a zero point of one element to a desc and its inputs."""
    desc[f"{part}ScaleTensor"] = {"DataType": "FLOAT32", "Sizes": [1]}
    inputs[f"{part}ScaleTensor"] = np.array([scale], dtype=np.float32)
    if zero is not None:
        desc[f"{part}ZeroPointTensor"] = {"DataType": kind, "Sizes": [1]}
        inputs[f"{part}ZeroPointTensor"] = np.array([zero], dtype=DTYPES[kind])
