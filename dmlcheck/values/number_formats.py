"""The floating-point formats of DirectML: rounding once, exactly, and units in the last place."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.specs.names import DATA_TYPES

NUMPY_TYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(f"{kind}{max(8, bits)}") for name, (kind, bits) in DATA_TYPES.items() if bits
}


class FloatFormat(NamedTuple):
    """An IEEE 754 format: significand bits, the exponent of its least normal number, and its largest finite one."""

    precision: int
    least_exponent: int
    largest: float

    @property
    def unit_roundoff(self) -> float:
        """The largest relative error of one rounding to nearest, in the normal range."""
        return math.ldexp(1.0, -self.precision)


FORMATS: dict[str, FloatFormat] = {
    "FLOAT16": FloatFormat(11, -14, 65504.0),
    "FLOAT32": FloatFormat(24, -126, float(np.finfo(np.float32).max)),
    "FLOAT64": FloatFormat(53, -1022, float(np.finfo(np.float64).max)),
}


def round_exact(value: Fraction, data_type: str) -> float:
    """Round a rational number to nearest even in a float format; beyond its range the result is infinite."""
    precision, least_exponent, largest = FORMATS[data_type]
    above, below = abs(value.numerator), value.denominator
    if above == 0:
        return 0.0
    exponent = above.bit_length() - below.bit_length()
    if above << max(0, -exponent) < below << max(0, exponent):
        exponent -= 1
    unit = max(exponent, least_exponent) - precision + 1
    above, below = (above, below << unit) if unit >= 0 else (above << -unit, below)
    units, rest = divmod(above, below)
    if 2 * rest > below or (2 * rest == below and units & 1):
        units += 1
    if exponent > 1100:
        magnitude = math.inf
    else:
        magnitude = math.ldexp(units, unit) if units.bit_length() + unit <= 1024 else math.inf
    if magnitude > largest:
        magnitude = math.inf
    return -magnitude if value < 0 else magnitude


_EXPONENT = np.int64(0x7FF << 52)


def ulp(value: NDArray[Any], data_type: str) -> NDArray[np.float64]:
    """Return the unit in the last place of a format at each value, as float64; for 0 the unit of the denormals.

    Infinity and NaN count as 1/2.
    """
    precision, least_exponent, _ = FORMATS[data_type]
    wide = np.asarray(value, dtype=np.float64)
    power = (wide.view(np.int64) & _EXPONENT).view(np.float64)  # the largest power of 2 that is no larger
    if not np.max(power, initial=0.0) < np.inf:
        power = np.where(np.isinf(power), 0.5, power)
    unit: NDArray[np.float64] = np.maximum(power, 2.0**least_exponent) * 2.0 ** (1 - precision)
    return unit


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a + b rounded, and its rounding error, which is exact (Knuth)."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


def round_to_odd(value: NDArray[Any], rest: NDArray[Any]) -> NDArray[Any]:
    """Round value + rest to odd: to the neighbour whose last bit is 1, unless the sum is a float64.

    A number rounded to odd rounds once more, to any shorter format, as the number itself does (Boldo and Melquiond).
    """
    bits = value.view(np.int64)
    step = ((rest > 0) == (value > 0)).view(np.int8) * np.int8(2) - np.int8(1)
    step *= (bits & 1 == 0) & (rest != 0) & (value != 0)
    odd: NDArray[Any] = (bits + step).view(np.float64)
    return odd


def round_fraction_to_odd(value: Fraction | float) -> float:
    """Return a rational number as a float64 rounded to odd; an infinity or NaN as it is."""
    if isinstance(value, float):
        return value
    near = float(value)
    rest = value - Fraction(near)
    return float(round_to_odd(np.array([near]), np.array([float((rest > 0) - (rest < 0))]))[0])


def is_halfway(wide: NDArray[np.float64], rounded: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which float64 values lie exactly halfway between the values they were rounded to and the next ones."""
    near = rounded.astype(np.float64)
    toward = np.where(wide > near, np.inf, -np.inf).astype(rounded.dtype)
    beyond = np.nextafter(rounded, toward).astype(np.float64)
    halfway: NDArray[np.bool_] = (wide != near) & (wide - near == beyond - wide)
    return halfway


def spell(value: float, data_type: str) -> str:
    """Return the shortest decimal that reads back as the value in its data type, as YAML 1.1 and 1.2 both read it."""
    if isinstance(value, int) or DATA_TYPES[data_type].kind != "float":
        return str(int(value))
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    if float(value).is_integer() and 0 < abs(value) < 1e16:
        return str(int(value))
    with np.errstate(over="ignore"):
        held = NUMPY_TYPES[data_type].type(value)
    text = str(held) if np.isfinite(held) else repr(float(value))  # of a number outside the data type
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return "0" if mantissa == "0.0" else mantissa
    mantissa = mantissa if "." in mantissa else mantissa + ".0"
    return f"{mantissa}e{int(exponent):+03d}"
