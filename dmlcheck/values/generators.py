"""Generated values: sequences and random numbers, the same on every platform and NumPy version."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values.number_formats import NUMPY_TYPES, round_exact, round_to_odd, two_sum

_BLOCK = 1 << 20
MOST_BINADES = 2047


def sequence(data_type: str, count: int, start: Any, step: Any) -> NDArray[Any]:
    """Return start + i * step: integers exactly, floats as the mathematical result rounded once."""
    if DATA_TYPES[data_type].kind == "float":
        return _float_sequence(data_type, count, Fraction(start), Fraction(step))
    values = np.empty(count, dtype=NUMPY_TYPES[data_type])
    for begin in range(0, count, _BLOCK):
        index = np.arange(begin, min(count, begin + _BLOCK), dtype=np.uint64)
        wide = np.uint64(start % 2**64) + index * np.uint64(step % 2**64)
        values[begin : begin + _BLOCK] = wide.astype(values.dtype)
    return values


def _float_sequence(data_type: str, count: int, start: Fraction, step: Fraction) -> NDArray[Any]:
    dtype = NUMPY_TYPES[data_type]

    def exactly(index: int) -> float:
        return round_exact(start + index * step, data_type)

    ends = (start, step, start + (count - 1) * step)
    if not all(end == 0 or 2.0**-900 < abs(end) < 2.0**900 for end in ends):
        return np.fromiter(map(exactly, range(count)), dtype=dtype, count=count)
    unit = max(start.denominator, step.denominator)
    is_exact = unit & (unit - 1) == 0 and unit * max(map(abs, ends)) <= 2**52
    values = np.empty(count, dtype=dtype)
    for begin in range(0, count, _BLOCK):
        index = np.arange(begin, min(count, begin + _BLOCK), dtype=np.float64)
        with np.errstate(over="ignore"):
            if is_exact:
                values[begin : begin + _BLOCK] = float(start) + index * float(step)
                continue
            least, most = _bounds(index, start, step, dtype)
        for open_at in np.flatnonzero(least != most):
            least[open_at] = exactly(begin + int(open_at))
        values[begin : begin + _BLOCK] = least
    return values


def _bounds(
    index: NDArray[np.float64], start: Fraction, step: Fraction, dtype: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the least and the largest that start + index * step may round to, if float64 is enough to decide it."""
    high, low, doubt = _multiples(index, _parts(start), _parts(step))
    least = np.where(doubt > 0, np.nextafter(low - doubt, -np.inf), low)
    most = np.where(doubt > 0, np.nextafter(low + doubt, np.inf), low)
    return _rounded(high, least, dtype), _rounded(high, most, dtype)


def _parts(value: Fraction) -> tuple[float, float, float]:
    """Return a number as the sum of two floats, and a bound on the rest."""
    high = float(value)
    low = float(value - Fraction(high))
    rest = abs(value - Fraction(high) - Fraction(low))
    return high, low, math.nextafter(float(rest), math.inf) if rest else 0.0


def _multiples(
    index: NDArray[np.float64], start: tuple[float, float, float], step: tuple[float, float, float]
) -> tuple[Any, Any, Any]:
    """Return start + index * step as two floats each, the first of them their rounded sum, and a bound on the error."""
    product, product_rest = _two_product(index, step[0])
    high, rest = two_sum(np.float64(start[0]), product)
    small = index * step[1]
    doubt = 2.0**-52 * np.abs(small) + start[2] + index * step[2]
    low: Any = 0.0
    for part in (rest, product_rest, np.float64(start[1]), small):
        low, left_out = two_sum(low, part)
        doubt = doubt + 2 * np.abs(left_out)
    return (*two_sum(high, low), doubt)


def _two_product(a: NDArray[np.float64], b: float) -> tuple[Any, Any]:
    """Return a * b rounded, and its rounding error, which is exact (Dekker)."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(np.float64(b))
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _split(value: Any) -> tuple[Any, Any]:
    scaled = value * 134217729.0
    high = scaled - (scaled - value)
    return high, value - high


def _rounded(high: NDArray[np.float64], low: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    return high + low if dtype == np.float64 else round_to_odd(high, low).astype(dtype)


def random(data_type: str, count: int, seed: int, low: Any, high: Any, binades: int = 0) -> NDArray[Any]:
    """Return random numbers: floats evenly from low to high, integers from low to high inclusive.

    With `binades`, up to 2047, each float is then divided by a power of two from 2^0 to 2^binades, all equally likely.
    """
    dtype = NUMPY_TYPES[data_type]
    values = np.empty(count, dtype=dtype)
    for begin in range(0, count, _BLOCK):
        bits = random_bits(seed, begin, min(count, begin + _BLOCK))
        if DATA_TYPES[data_type].kind == "float":
            unit = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
            wide = _between(unit, float(low), float(high))
            if binades:
                wide = np.ldexp(wide, -((bits & _UNUSED) % np.uint64(binades + 1)).astype(np.int32))
            values[begin : begin + _BLOCK] = wide.astype(dtype)
        else:
            span = int(high) - int(low) + 1
            offset = bits % np.uint64(span) if span < 2**64 else bits
            values[begin : begin + _BLOCK] = (offset + np.uint64(int(low) % 2**64)).astype(dtype)
    return values


_UNUSED = np.uint64(MOST_BINADES)  # the bits of a number of the stream that make no digits


def _between(unit: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    if math.isfinite(high - low):
        return np.clip(low + unit * (high - low), low, high)
    return np.clip(low / 2 + unit * (high / 2 - low / 2), low / 2, high / 2) * 2


def random_bits(seed: int, begin: int, end: int) -> NDArray[np.uint64]:
    """Return numbers `begin` to `end` of the stream of 64-bit numbers that a seed stands for: SplitMix64, by position.

    Only integer arithmetic modulo 2^64 goes into it.
    Source: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
    """
    index = np.arange(begin + 1, end + 1, dtype=np.uint64)
    state = np.uint64(seed % 2**64) + index * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
