"""Dequantizing numbers, and quantizing results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import blockwise
from dmlcheck.reference.arrays.data_types import as_float, in_32_bits, limits, nearest, overflows, wrapped
from dmlcheck.reference.ball.numbers import hull, raw
from dmlcheck.reference.results import AsMeasured, PartlyUndefined


def difference(x: Any, zero_point: Any) -> Any:
    """X - ZeroPoint, exactly."""
    wide = blockwise(lambda part: part.astype(np.float64), x)
    return wide if zero_point is None else wide - zero_point


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


def quantized(quotient: Any, zero_point: Any, output_type: str) -> PartlyUndefined:
    """clamp(rint(quotient) + ZeroPoint, Min, Max), with the limits of an integer type; NaN is undefined."""
    return PartlyUndefined(*_quantized(quotient, zero_point, output_type))


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

    A sum that overflows INT32 wraps, as it does in DirectML. If a scale is 0 or not finite, the results are those of
    `of_extremes`, or else of quotients in 32 bits.
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
