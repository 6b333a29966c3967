"""Data types of numbers: limits, overflow, and the conversion of FLOATs, elements and results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, raw
from dmlcheck.reference.results import AsMeasured
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES


def cast(number: Any, elements: Any) -> Any:
    """Return a FLOAT in the type of elements: rounded to nearest, or for integers toward 0; 0 if it does not fit."""
    value, dtype = float(raw(number)), elements.dtype
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        value = int(value) if np.isfinite(value) and limits.min <= int(value) <= limits.max else 0
    return dtype.type(value)


def limited(number: Any, elements: Any) -> Any:
    """Return a FLOAT in the integer type of elements: without its fraction, and limited to the type; NaN is 0."""
    value, ends = float(raw(number)), np.iinfo(elements.dtype)
    whole = 0 if np.isnan(value) else ends.max if value >= ends.max else ends.min if value <= ends.min else int(value)
    return elements.dtype.type(whole)


def as_processor_converts(number: Any, elements: Any) -> Any:
    """Return a FLOAT as an x64 processor converts it to the integer type of elements.

    It loses its fraction and becomes a signed integer of 32 bits, or of 64 for types that need more, whose low bits
    are kept; the least such integer stands for all others.
    """
    value, dtype = float(raw(number)), elements.dtype
    most = 2 ** (31 if dtype.itemsize < 4 or dtype == np.int32 else 63)
    whole = int(value) if -most <= value < most else int(value) if dtype == np.uint64 and 0 < value < 2.0**64 else -most
    return np.array(whole % 2**64, np.uint64).astype(dtype)[()]


def in_32_bits(x: Any, dtype: Any) -> Any:
    """Return floats as integers of 32 bits, as DirectML computes: NaN is 0, others are limited to the type."""
    wide = np.dtype(np.uint32 if dtype.kind == "u" else np.int32)
    ends = np.iinfo(wide)
    whole = np.trunc(np.where(np.isnan(x), 0, x)).astype(np.float64)  # FLOAT32 does not hold the ends
    return np.clip(whole, ends.min, ends.max).astype(wide)


def stored(whole: Any, data_type: str, *, is_limited: bool = False) -> Any:
    """Return integers as DirectML stores them after 32 bits: 16 bits wrap or are limited to their range, 8 bits are."""
    least, most = limits(data_type)
    if most > 2**31:
        return whole
    found = whole.astype(np.uint32 if least == 0 else np.int32)
    return np.clip(found, least, most) if is_limited or most <= 255 else found


def fits(number: Any, elements: Any) -> bool:
    """Whether a FLOAT without its fraction is in the range of the integer type of elements."""
    return bool(cast(number, elements) == np.trunc(float(raw(number))))


def element(number: Any, data_type: str) -> Any:
    """Return a number that a data type represents as an element of it."""
    return NUMPY_TYPES[data_type].type(number)


def unit_roundoff(data_type: str) -> float:
    """Return the unit roundoff of a type of floats: half of the distance from 1 to the next number."""
    return FORMATS[data_type].unit_roundoff


def is_float(elements: Any) -> bool:
    """Return whether elements are floating-point numbers."""
    return bool(elements.dtype.kind == "f")


def width(elements: Any) -> int:
    """Return the number of bits of an element."""
    return 8 * int(elements.dtype.itemsize)


def bits(data_type: str) -> int:
    """Return the number of bits of an element of a type."""
    return DATA_TYPES[data_type].bits


def as_bits(elements: Any) -> Any:
    """Return the bits of elements as unsigned integers of the same size."""
    return elements.view(f"u{elements.dtype.itemsize}")


def number(value: float, arithmetic: Arithmetic | None) -> Any:
    """Return a FLOAT; a ball if an implementation may round it to FLOAT16, which never makes it infinite."""
    if arithmetic is None or not np.isfinite(value):
        return value
    rounded = float(np.clip(value, *limits(arithmetic.attributes)).astype(NUMPY_TYPES[arithmetic.attributes]))
    return value if rounded == value else Ball(value, abs(rounded - value), arithmetic)


def numbers_for(values: Any, x: Any) -> Any:
    """Return an array of FLOATs to compute with x; in balls they may be rounded as in `number`."""
    value = raw(values)
    if not isinstance(x, Ball):
        return value
    of = x.arithmetic.attributes
    error = np.where(np.isfinite(value), np.abs(np.clip(value, *limits(of)).astype(NUMPY_TYPES[of]) - value), 0.0)
    return Ball(value, error, x.arithmetic) if error.any() else value


def limits(data_type: str) -> tuple[float, float]:
    """Return the least and the largest number of a data type."""
    if data_type in FORMATS:
        return -FORMATS[data_type].largest, FORMATS[data_type].largest
    kind, bits = DATA_TYPES[data_type]
    return (0, 2**bits - 1) if kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def beginning(data_type: str) -> Any:
    """Return the number that DirectML's maxima begin with: the least one, of FLOAT16 and FLOAT64 -infinity.

    Of INT16 it is the lower half of the least INT32, which is 0.
    """
    if data_type == "INT16":
        return element(0, data_type)
    is_finite = data_type == "FLOAT32" or data_type not in FORMATS
    return element(limits(data_type)[0] if is_finite else -np.inf, data_type)


def overflows(data_type: str, x: Any) -> Any:
    """Return a mask of the numbers that are beyond a data type; floats, after they are rounded to it."""
    numbers, (least, most) = raw(x), limits(data_type)
    if data_type in FORMATS:
        return np.isinf(numbers.astype(NUMPY_TYPES[data_type])) & np.isfinite(numbers)
    return (numbers < least) | (numbers > most)


def represents(data_type: str, x: Any) -> Any:
    """Return a mask of the numbers that an integer type can represent."""
    least, most = limits(data_type)
    return (np.rint(x) == x) & (x >= least) & (x <= most)


def sum_of_terms(terms: Sequence[Any], data_type: str) -> Any:
    """Return the sum of several tensors, integers as DirectML stores them; balls as one sum in any order."""
    if isinstance(terms[0], Ball):
        return np.stack(terms).sum(axis=0)
    total = reduce(np.add, terms)
    if data_type in FORMATS or DATA_TYPES[data_type].bits >= 32:
        return total
    return AsMeasured(stored(total, data_type), overflows(data_type, total))


def wrapped(data_type: str, x: Any) -> Any:
    """Return whole numbers wrapped to 32 bits if they overflow, else the same array.

    Smaller types are computed in 32 bits, and do not overflow.
    """
    least, most = limits(data_type)
    if DATA_TYPES[data_type].bits < 32 or not overflows(data_type, x).any():
        return x
    return (x - least) % (most - least + 1) + least


def infinite(data_type: str, x: Any) -> Any:
    """Return floats, infinite where they overflow a float type; the same array if none does."""
    least, most = limits(data_type)
    numbers = raw(x)
    if numbers.min(initial=most) >= least and numbers.max(initial=least) <= most:
        return x
    beyond = overflows(data_type, x)
    return np.where(beyond, np.copysign(np.inf, raw(x)), x) if beyond.any() else x


def nearest(x: Any) -> Any:
    """Return the nearest whole numbers, of halves the even one.

    For a ball it is the ball from the least to the largest whole number that its numbers may be rounded to.
    """
    if not isinstance(x, Ball):
        return np.rint(x)
    low, high = np.rint(raw(x) - x.radius), np.rint(raw(x) + x.radius)
    reach = (high - low) / 2
    is_bounded = np.isfinite(reach)
    value, error = np.where(is_bounded, low + reach, np.rint(raw(x))), np.where(is_bounded, reach, x.radius)
    return Ball(value, error, x.arithmetic, x.terms)


def as_float(x: Any, other: Any) -> Any:
    """Return x as floats to compute with `other`: an implementation may round whole numbers to the type of `other`.

    If a tensor is FLOAT16, an implementation may compute in FLOAT16 from here on.
    """
    value = np.asarray(x.value if isinstance(x, Ball) else x).astype(np.float64, copy=False)
    if not isinstance(other, Ball):
        return value
    arithmetic = other.arithmetic
    if arithmetic.attributes == "FLOAT16" != arithmetic.data_type:
        of = FORMATS["FLOAT16"]
        arithmetic = arithmetic._replace(
            data_type="FLOAT16", unit_roundoff=of.unit_roundoff, smallest=2.0**of.least_exponent
        )
    if isinstance(x, Ball):
        return Ball(value, x.radius, arithmetic, x.terms)
    rounding = np.abs(value) * arithmetic.unit_roundoff
    return Ball(value, np.where(rounding > 1, rounding, 0.0), arithmetic)
