"""Conversions between data types with their roundings, and quantization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import blockwise
from dmlcheck.reference.arrays.data_types import (
    as_float,
    as_processor_converts,
    cast,
    element,
    in_32_bits,
    is_float,
    limits,
    nearest,
    overflows,
    stored,
    wrapped,
)
from dmlcheck.reference.ball.numbers import Ball, NoBound, hull, raw
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES


def as_directml_converts(x: Any, input_type: str, output_type: str) -> Any:
    """Return numbers in another data type: in integers without their fraction, and what does not fit as measured."""
    if output_type in FORMATS:
        return to_floats(x, input_type, output_type)
    if isinstance(x, Ball) and not x.is_exact:
        if input_type not in FORMATS:
            raise NoBound("whole numbers with errors wrap in one direction or the other")
        return _cut(x, output_type)
    if input_type in FORMATS:
        return _limited(x, output_type)
    is_narrow = limits(output_type)[1] < 2**16
    return AsMeasured(_in_integers(x, input_type, output_type), is_narrow & overflows(output_type, x))


def _in_integers(x: Any, input_type: str, output_type: str) -> Any:
    """Return integers in a type of integers: a device without 16-bit operations limits them, as all limit 8 bits."""
    limited = stored(x, output_type, is_limited=True)
    return limited if input_type in ("INT8", "UINT8") else alternatives(stored(x, output_type), limited)


def _cut(x: Ball, data_type: str) -> Ball:
    """Return floats with errors without their fractions; nothing bounds those that the type may not hold."""
    least, most = limits(data_type)
    found: Any = np.trunc(x)
    fits = (x.value - x.radius >= least) & (x.value + x.radius < most + 1)
    value = np.nan_to_num(np.clip(found.value, least, most))
    return Ball(value, np.where(fits, found.radius, np.inf), x.arithmetic, x.terms)


def _limited(x: Any, data_type: str) -> AsMeasured:
    """Return floats without their fraction, limited to an integer type; NaN is 0."""
    x = raw(x)
    (least, most), found = limits(data_type), np.trunc(x)
    fits = (found >= least) & (found < most + 1)  # the limit + 1 is a float64, also for 64-bit integers
    dtype = np.uint64 if least == 0 else np.int64
    ends = np.where(found > 0, dtype(most), dtype(least))
    return AsMeasured(
        np.where(fits, np.where(fits, found, 0).astype(dtype), np.where(np.isnan(x), dtype(0), ends)), ~fits
    )


def float_as(number: Any, output_type: str) -> Any:
    """Return a FLOAT as an element of a data type, of integers as `in_type_of`."""
    if output_type in FORMATS:
        return to_floats(number, "FLOAT32", output_type)
    return in_type_of(number, element(0, output_type))


def to_floats(x: Any, input_type: str, output_type: str) -> Any:
    """Return floats or 64-bit integers in a type of floats: the nearest number, or its neighbour beyond x.

    A denormal FLOAT32 may also be 0. The neighbour of the largest number is infinity.
    """
    numbers = raw(x)
    nearest = numbers.astype(NUMPY_TYPES[output_type])
    if _is_certain(x, output_type):
        return nearest
    beyond = _beyond(nearest.astype(np.float64), numbers)
    other = np.where(beyond > 0, np.nextafter(nearest, -np.inf, dtype=nearest.dtype), nearest)
    other = np.where(beyond < 0, np.nextafter(nearest, np.inf, dtype=nearest.dtype), other)
    is_denormal = (numbers > -_SMALLEST) & (numbers < _SMALLEST) & ("FLOAT32" in (input_type, output_type))
    return alternatives(nearest, other, np.where(is_denormal, np.copysign(0, nearest), nearest))


def in_type_of(number: Any, elements: Any) -> Any:
    """Return a FLOAT in the data type of elements.

    In a type of floats it is the nearest number, or, if that is farther from 0 than the FLOAT, its neighbour toward 0.
    In a type of integers it is the number without its fraction; if the type does not hold that, what a processor makes
    of it, which is measured except for UINT64.
    """
    exact, value = float(raw(number)), cast(number, elements)
    if not is_float(elements):
        is_beyond = bool(float(value) != np.trunc(exact))
        found = as_processor_converts(exact, elements) if is_beyond else value
        return PartlyUndefined(AsMeasured(found, is_beyond), elements.dtype == np.uint64 and exact >= 2.0**64)
    is_larger = abs(float(value)) > abs(exact)
    return alternatives(value, np.nextafter(value, value.dtype.type(0))) if is_larger else value


def _is_certain(x: Any, output_type: str) -> bool:
    """Return whether the result has one right value: for plain floats, and integers that the type holds exactly."""
    if is_float(raw(x)):
        return not isinstance(x, Ball)
    most = 2 ** FORMATS[output_type].precision
    return bool(-most <= x.min() and x.max() <= most)


def _beyond(nearest: Any, x: Any) -> Any:
    """Return nearest - x; its sign is right for 64-bit integers too, whose float64 values are rounded."""
    if x.dtype.kind == "f":
        return nearest - x
    lower = x & x.dtype.type(_LOW)
    return (nearest - (x - lower).astype(np.float64)) - lower.astype(np.float64)


_LOW = 2**32 - 1
_SMALLEST = 2.0 ** FORMATS["FLOAT32"].least_exponent


# ---- quantization


def difference(x: Any, zero_point: Any) -> Any:
    """X - ZeroPoint, exactly."""
    wide = blockwise(lambda part: part.astype(np.float64), x)
    return wide if zero_point is None else wide - zero_point


def whole(sums: Any) -> Any:
    """Return sums of whole numbers in 64 bits, or with their errors; nothing bounds those that INT32 may not hold."""
    if not isinstance(sums, Ball):
        return sums.astype(np.int64)
    fits = np.abs(sums.value) + sums.radius <= limits("INT32")[1]
    return Ball(sums.value, np.where(fits, sums.radius, np.inf), sums.arithmetic, sums.terms)


def differences(x: Any, zero_point: Any, input_type: str) -> list[Any]:
    """X - ZeroPoint, exactly; first of all, for integers of 32 bits, as DirectML subtracts them, in FLOAT32."""
    ways = [difference(x, zero_point)]
    if zero_point is None or input_type not in ("INT32", "UINT32"):
        return ways
    return [difference(x.astype(np.float32), zero_point.astype(np.float32)), *ways]


def as_floats(x: Any) -> Any:
    """Return elements as floats."""
    return blockwise(lambda part: as_float(part, part), x)


def overflows_int32(sums: Any) -> Any:
    """Say which sums of products of 8-bit integers INT32 does not hold, the type in which they are added up."""
    return overflows("INT32", sums)


def quantized_nan(quotient: Any, zero_point: Any, output_type: str, of_nan: float) -> AsMeasured:
    """`quantized`, where DirectML gives the number `of_nan` for NaN."""
    found, is_nan = _quantized(quotient, zero_point, output_type)
    return AsMeasured(np.where(is_nan, of_nan, found), is_nan)


def _quantized(quotient: Any, zero_point: Any, output_type: str) -> tuple[Any, Any]:
    is_nan = np.isnan(quotient)
    whole = nearest(np.where(is_nan, 0.0, quotient))
    moved = whole if zero_point is None else whole + zero_point
    return np.clip(moved, *limits(output_type)), is_nan


def quantized_in_32_bits(quotient: Any, zero_point: Any, output_type: str) -> Any:
    """Return quotients as integers of 32 bits, where NaN is 0, and to which the zero point is added modulo 2^32."""
    whole = in_32_bits(np.rint(raw(quotient)), np.dtype(np.int32)).astype(np.int64)
    moved = whole if zero_point is None else whole + raw(zero_point).astype(np.int64)
    return np.clip(wrapped("INT32", moved), *limits(output_type))


def requantized(
    sums: Any,
    in_floats: Callable[[], Any],
    factor: Any,
    scale: Any,
    zero_point: Any,
    output_type: str,
    of_extremes: Callable[[], Any] | None = None,
) -> AsMeasured:
    """Return sums of integers * factor / scale, quantized; implementations may compute `in_floats`() / scale.

    A sum that overflows INT32 wraps, as it does in DirectML. If a scale is 0 or not finite, `of_extremes`
    gives the results, or else quotients in 32 bits.
    """
    ratio, is_wrapped, sums = factor / scale, overflows_int32(sums), wrapped("INT32", sums)
    quotient = hull(
        lambda: sums * factor / scale,
        lambda: sums * ratio,
        lambda: np.where(is_wrapped, sums * factor, in_floats()) / scale,
    )
    found, _ = _quantized(quotient, zero_point, output_type)
    is_extreme = ~np.isfinite(raw(ratio)) | (raw(ratio) == 0)
    if not is_extreme.any():
        return AsMeasured(found, is_wrapped)
    quotient = raw(sums) * raw(factor) / raw(scale)
    extreme = of_extremes() if of_extremes else quantized_in_32_bits(quotient, zero_point, output_type)
    return AsMeasured(np.where(is_extreme, extreme, found), is_wrapped | is_extreme)
