"""QUANTIZE_LINEAR, DEQUANTIZE_LINEAR and QUANTIZED_LINEAR_ADD."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.kernels._blocks import Array, Result, Wide
from dmlcheck.reference.kernels._pointwise import pointwise, widened
from dmlcheck.values.number_formats import NUMPY_TYPES


def quantize(input: Array, scale: Array, zero_point: Array | None, *, output: TensorDesc) -> Result:
    """Return clamp(round(x / Scale) + ZeroPoint, Min, Max), with the limits of the output's type."""
    zero = _zeros(input) if zero_point is None else zero_point

    def formula(x: Array, scales: Array, zeros: Array) -> Wide:
        quotient, short = widened(x) / widened(scales), x.astype(scales.dtype) / scales
        left_open = (scales == 0) | _is_half(quotient) | _is_half(short.astype(np.float32, copy=False))
        return quantized(quotient, widened(zeros), output, left_open)

    return pointwise(formula, input, scale, zero)


def dequantize(input: Array, scale: Array, zero_point: Array | None) -> Result:
    """Return (x - ZeroPoint) * Scale; left open where 32 bits, or the scale's type, do not hold the difference."""
    zero = _zeros(input) if zero_point is None else zero_point

    def formula(x: Array, scales: Array, zeros: Array) -> Wide:
        difference = x.astype(np.float64) - zeros
        left_open = scales == 0
        if x.dtype.itemsize > 1:
            limits = np.iinfo(x.dtype) if x.dtype.itemsize == 4 else np.iinfo(np.int32)
            left_open |= (difference < limits.min) | (difference > limits.max)
            left_open |= difference.astype(scales.dtype) != difference
        return Wide(difference * widened(scales), unspecified=left_open)

    return pointwise(formula, input, scale, zero)


def quantized_linear_add(
    a: Array,
    a_scale: Array,
    a_zero_point: Array | None,
    b: Array,
    b_scale: Array,
    b_zero_point: Array | None,
    output_scale: Array,
    output_zero_point: Array | None,
    *,
    output: TensorDesc,
) -> Result:
    """Dequantize two tensors, add them, and quantize the sums; scales and zero points have one element each.

    Left open are halves, and quotients so near one that FLOAT32's roundings on the way decide the result.
    """
    scales = [part.astype(np.float64).item() for part in (a_scale, b_scale, output_scale)]
    zeros = [0 if part is None else int(part.item()) for part in (a_zero_point, b_zero_point, output_zero_point)]
    zero, left_open = np.asarray(zeros[2]), np.asarray(scales[2] == 0)

    def formula(x: Array, y: Array) -> Wide:
        first, second = (x.astype(np.int64) - zeros[0]) * scales[0], (y.astype(np.int64) - zeros[1]) * scales[1]
        quotient = (first + second) / np.float64(scales[2])
        size = (np.abs(first) + np.abs(second)) / abs(np.float64(scales[2]))
        slack = np.where(np.isfinite(size), size, 0) * _FOUR_ROUNDINGS
        ends = [quantized(quotient + sign * slack, zero, output, left_open).value for sign in (-1, 1)]
        return quantized(quotient, zero, output, left_open | _is_half(quotient) | (ends[0] != ends[1]))

    return pointwise(formula, a, b)


_FOUR_ROUNDINGS = 2.0**-22  # of FLOAT32: a product, the sum, and a quotient within one unit in the last place


def quantized(quotient: Array, zero: Array, output: TensorDesc, is_open: Array) -> Wide:
    """Return whole quotients moved by a zero point within the limits of an integer type; NaN is left open."""
    limits = np.iinfo(NUMPY_TYPES[output.data_type])
    moved = np.clip(np.rint(quotient) + zero, limits.min, limits.max)
    return Wide(np.where(np.isnan(quotient), 0, moved).astype(np.int64), unspecified=is_open | np.isnan(quotient))


def _is_half(x: Array) -> Array:
    is_half: Array = np.abs(x - np.trunc(x)) == 0.5
    return is_half


def _zeros(input: Array) -> Array:
    return np.broadcast_to(np.int8(0), input.shape)


KERNELS: dict[str, Callable[..., Result]] = {
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": dequantize,
    "ELEMENT_WISE_QUANTIZE_LINEAR": quantize,
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": quantized_linear_add,
}
