"""QUANTIZE_LINEAR, DEQUANTIZE_LINEAR and QUANTIZED_LINEAR_ADD."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.reference.numbers import either, raw
from dmlcheck.reference.pieces import (
    Kernel,
    Open,
    as_float,
    elementwise,
    infinite,
    limits,
    nearest,
    one_of,
    overflows,
    wrapped,
)


def quantize_linear(input: Any, scale: Any, zero_point: Any, *, output_type: str) -> Open:
    """clamp(rint(x / Scale) + ZeroPoint, Min, Max)."""
    return quantized(as_float(input, scale) / scale, zero_point, output_type)


def quantized(quotient: Any, zero_point: Any, output_type: str) -> Open:
    """clamp(rint(quotient) + ZeroPoint, Min, Max), with the limits of an integer type; NaN is left open."""
    is_nan = np.isnan(quotient)
    whole = nearest(np.where(is_nan, 0.0, quotient))
    moved = whole if zero_point is None else whole + zero_point
    return Open(np.clip(moved, *limits(output_type)), is_nan)


def dequantize_linear(input: Any, scale: Any, zero_point: Any, *, input_type: str, output_type: str) -> Any:
    """(x - ZeroPoint) * Scale, where the difference may wrap in 32 bits, and be infinite in FLOAT16."""
    whole = difference(input, zero_point)
    ways = (whole, wrapped(input_type, whole))
    beyond = (infinite(output_type, x) for x in ways)
    return one_of(*ways, *beyond, of=lambda x: as_float(x, scale) * scale)


def difference(x: Any, zero_point: Any) -> Any:
    """x - ZeroPoint, exactly."""
    wide = x.astype(np.float64)
    return wide if zero_point is None else wide - zero_point


def quantized_linear_add(
    a: Any,
    a_scale: Any,
    a_zero_point: Any,
    b: Any,
    b_scale: Any,
    b_zero_point: Any,
    output_scale: Any,
    output_zero_point: Any,
    *,
    output_type: str,
) -> Open:
    """(A - AZeroPoint) * AScale + (B - BZeroPoint) * BScale, quantized; left open for an OutputScale of 0."""
    sums = difference(a, a_zero_point) * a_scale + difference(b, b_zero_point) * b_scale
    return Open(quantized(sums / output_scale, output_zero_point, output_type), output_scale == 0)


def requantized(
    sums: Any, in_floats: Callable[[], Any], factor: Any, scale: Any, zero_point: Any, output_type: str
) -> Open:
    """Return sums of integers * factor / scale, quantized, or what they are `in_floats` / scale.

    Left open where a scale is 0 or not finite, and where INT32 has no such sum.
    """
    ratio = factor / scale
    quotient = either(lambda: sums * factor / scale, lambda: sums * ratio, lambda: in_floats() / scale)
    is_open = ~np.isfinite(ratio) | (raw(ratio) == 0) | overflows("INT32", sums)
    return Open(quantized(quotient, zero_point, output_type), is_open)


KERNELS: dict[str, Kernel] = {
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": elementwise(dequantize_linear),
    "ELEMENT_WISE_QUANTIZE_LINEAR": elementwise(quantize_linear),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": elementwise(quantized_linear_add),
}
