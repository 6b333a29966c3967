"""Quantization by element, by blocks and by the range of a tensor, and the addition of quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.data_types import as_float, infinite, limits, nearest
from dmlcheck.reference.arrays.needs import repeated
from dmlcheck.reference.functions.conversions import as_floats, difference, differences, quantized_nan
from dmlcheck.reference.results import AsMeasured, alternatives
from dmlcheck.reference.rows import EVERYTHING, Axes, Cut, Kernel, elementwise


def quantize_linear(input: Any, scale: Any, zero_point: Any, *, output_type: str) -> AsMeasured:
    """clamp(rint(x / Scale) + ZeroPoint, Min, Max), Min and Max being the limits of OutputTensor's type."""
    return quantized_nan(as_float(input, scale) / scale, zero_point, output_type, of_nan=0)


def dequantize_linear(input: Any, scale: Any, zero_point: Any, *, input_type: str, output_type: str) -> Any:
    """(x - ZeroPoint) * Scale, of numbers in FLOAT32 or exact, where the difference may be infinite in FLOAT16."""
    ways = differences(input, zero_point, input_type)
    beyond = (infinite(output_type, x) for x in ways)
    return alternatives(*ways, *beyond, of=lambda x: as_float(x, scale) * scale)


# ---- blocks


def quantize(input: Any, quantizations: Sequence[Any], *, output_type: str) -> AsMeasured:
    """clamp(rint(x / Scale) + ZeroPoint, Min, Max), with the Scale and ZeroPoint of the block that x is in.

    Along each dimension, block size = InputTensor size / scale size. Min and Max are the limits of OutputTensor's type.
    With SCALE, ZeroPoint is 0 for a signed type, and (Max + 1) / 2 for an unsigned one.
    """
    scale, zero_point = (*quantizations, middle(output_type))[:2]
    least, _ = limits(output_type)
    found = quantized_nan(as_float(input, scale) / scale, zero_point, output_type, of_nan=least)
    return AsMeasured(found, scale == 0)


def dequantize(input: Any, quantizations: Sequence[Any], *, input_type: str, output_type: str) -> Any:
    """(x - ZeroPoint) * Scale, with the Scale and ZeroPoint of the block that x is in.

    Along each dimension, block size = InputTensor size / scale size. With SCALE, ZeroPoint is 0 for a signed type, and
    the middle of an unsigned one: 128 for UINT8, 8 for UINT4.
    """
    scale, zero_point = (*quantizations, middle(input_type))[:2]
    return dequantize_linear(input, scale, zero_point, input_type=input_type, output_type=output_type)


def middle(data_type: str) -> float:
    """Return the zero point of a type where none is given: 0 if it is signed, else the middle of its range."""
    least, most = limits(data_type)
    return 0 if least else most // 2 + 1


BLOCKS = Cut(needs={"quantizations": repeated})


# ---- ranges


def dynamic_quantize_linear(input: Any, *, axes: Axes, output_type: str) -> dict[str, Any]:
    """clamp(rint(x / Scale) + ZeroPoint, Min, Max).

    Scale = (high - low) / (Max - Min) and ZeroPoint = rint(Min - low / Scale). low and high are the least and the
    largest element, or 0 if that is less or larger. Min and Max are the limits of OutputTensor's type.
    """
    x, (least, most) = as_floats(input), limits(output_type)
    low = np.minimum(np.fmin.reduce(x, axis=axes), 0)
    high = np.maximum(np.fmax.reduce(x, axis=axes), 0)
    low, high = (np.where(np.isnan(end), 0.0, end) for end in (low, high))
    scale = (high - low) / (most - least)
    shift = least - low / scale
    zero_point = nearest(np.clip(np.where(np.isnan(shift), least, shift), least, most))
    found = {"output": quantized_nan(x / scale, zero_point, output_type, of_nan=least), "output_scale": scale}
    is_undefined = (scale == 0) | ~np.isfinite(scale) | np.logical_or.reduce(np.isnan(x), axis=axes)
    return {
        name: AsMeasured(value, is_undefined) for name, value in (found | {"output_zero_point": zero_point}).items()
    }


# ---- sums


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
) -> AsMeasured:
    """(A - AZeroPoint) * AScale + (B - BZeroPoint) * BScale, quantized by OutputScale and OutputZeroPoint."""
    sums = difference(a, a_zero_point) * a_scale + difference(b, b_zero_point) * b_scale
    least, _ = limits(output_type)
    return AsMeasured(
        quantized_nan(sums / output_scale, output_zero_point, output_type, of_nan=least), output_scale == 0
    )


KERNELS: dict[str, Kernel] = {
    "DEQUANTIZE": Kernel(dequantize, BLOCKS),
    "DYNAMIC_QUANTIZE_LINEAR": Kernel(dynamic_quantize_linear, EVERYTHING),
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": elementwise(dequantize_linear),
    "ELEMENT_WISE_QUANTIZE_LINEAR": elementwise(quantize_linear),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": elementwise(quantized_linear_add),
    "QUANTIZE": Kernel(quantize, BLOCKS),
}
