"""ELEMENT_WISE operators of one tensor: a row and a formula each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.fields import ScaleBias
from dmlcheck.reference.kernels._blocks import Array, Result, Wide
from dmlcheck.reference.kernels._pointwise import pointwise, through, widened
from dmlcheck.reference.kernels._special import cos, erf, sin
from dmlcheck.values.number_formats import two_sum

Formula = Callable[[Array], "Array | Wide"]


def unary(formula: Formula) -> Callable[..., Result]:
    """Return the kernel of f(x * Scale + Bias) for floats, whose formula takes float64."""

    def kernel(input: Array, *, scale_bias: ScaleBias | None) -> Result:
        return pointwise(lambda block: through(formula, block, scale_bias), input)

    return kernel


class OfSum(NamedTuple):
    """How to tell where a function shows the roundoff of a sum, and what to do there.

    `is_calm` says of x and f(x) whether |x f'(x)|, at most, is within 16 |f(x)|; `of_sum` takes high + low.
    """

    is_calm: Callable[[Array, Array], Array]
    of_sum: Callable[[Array, Array], Array]


def steep(formula: Formula, of_sum: OfSum) -> Callable[..., Result]:
    """Return the kernel of f(x * Scale + Bias) where float64's roundoff of the sum would show in the result.

    So it does about multiples of pi, and where f is 0 or infinitely steep.
    """

    def kernel(input: Array, *, scale_bias: ScaleBias | None) -> Result:
        return pointwise(lambda block: _through_sum(formula, of_sum, block, scale_bias), input)

    return kernel


def _through_sum(formula: Formula, of_sum: OfSum, block: Array, scale_bias: ScaleBias | None) -> Wide:
    def mend(x: Array, value: Array) -> None:
        scale, bias = scale_bias  # type: ignore[misc]
        at = np.flatnonzero(~of_sum.is_calm(x, value))  # which is so where it is NaN
        if at.size:
            high, low = two_sum(widened(block.reshape(-1)[at]) * scale, np.float64(bias))
            is_inexact = np.isfinite(low) & (low != 0)
            value.flat[at[is_inexact]] = of_sum.of_sum(high[is_inexact], low[is_inexact])

    return through(formula, block, scale_bias, mend)


def sine_of_sum(high: Array, low: Array) -> Array:
    """Return sin(high + low)."""
    sine: Array = np.sin(high) * np.cos(low) + np.cos(high) * np.sin(low)
    return sine


def cosine_of_sum(high: Array, low: Array) -> Array:
    """Return cos(high + low)."""
    cosine: Array = np.cos(high) * np.cos(low) - np.sin(high) * np.sin(low)
    return cosine


def tangent_of_sum(high: Array, low: Array) -> Array:
    """Return tan(high + low)."""
    tangent: Array = sine_of_sum(high, low) / cosine_of_sum(high, low)
    return tangent


def log_of_sum(high: Array, low: Array) -> Array:
    """Return log(high + low)."""
    logarithm: Array = np.log(high) + np.log1p(low / high)
    return logarithm


def arccosine_of_sum(high: Array, low: Array) -> Array:
    """Return acos(high + low)."""
    angle: Array = 2 * np.arctan2(np.sqrt((1 - high) - low), np.sqrt((1 + high) + low))
    return angle


def arcsine_of_sum(high: Array, low: Array) -> Array:
    """Return asin(high + low)."""
    angle: Array = np.arctan2(high, np.sqrt(((1 - high) - low) * ((1 + high) + low)))
    return angle


def arccosh_of_sum(high: Array, low: Array) -> Array:
    """Return acosh(high + low)."""
    above = (high - 1) + low
    area: Array = np.log1p(above + np.sqrt(above) * np.sqrt(above + 2))
    return area


def arctanh_of_sum(high: Array, low: Array) -> Array:
    """Return atanh(high + low)."""
    size, rest = np.abs(high), np.copysign(low, low * high)
    area: Array = np.copysign(np.log1p(2 * size / ((1 - size) - rest)) / 2, high)
    return area


def plain(formula: Formula) -> Callable[..., Result]:
    """Return the kernel of f(x) for an operator without ScaleBias, whose formula takes the elements as they are."""

    def kernel(input: Array) -> Result:
        return pointwise(formula, input)

    return kernel


def unrounded(formula: Formula, input: Array, scale_bias: ScaleBias | None) -> Result:
    """Return the result of f(x * Scale + Bias) for a formula that rounds nothing, so that it takes any type."""
    if scale_bias is None:
        return pointwise(formula, input)
    return pointwise(lambda block: through(formula, block, scale_bias), input)


def whole(ufunc: np.ufunc) -> Callable[..., Result]:
    """Return the kernel of CEIL or FLOOR."""

    def kernel(input: Array, *, scale_bias: ScaleBias | None) -> Result:
        return unrounded(ufunc, input, scale_bias)

    return kernel


def identity(input: Array, *, scale_bias: ScaleBias | None) -> Result:
    """Copy elements; the documentation does not say that denormals stay."""

    def formula(x: Array) -> Wide:
        if input.dtype.kind != "f":
            return Wide(x)
        small = np.abs(x) < np.finfo(input.dtype).smallest_normal
        return Wide(x, unspecified=small & (x != 0) if small.any() else None)

    return unrounded(formula, input, scale_bias)


def absolute(input: Array, *, scale_bias: ScaleBias | None) -> Result:
    """Take the absolute value; that of the least number of a signed integer type is left open."""

    def formula(x: Array) -> Wide:
        return Wide(np.abs(x), unspecified=x == np.iinfo(input.dtype).min if input.dtype.kind == "i" else None)

    return unrounded(formula, input, scale_bias)


def negate(block: Array) -> Wide:
    """Negate; the negation of the least number of 8 and 16 bits is left open."""
    x = widened(block)
    is_open = block.dtype.kind == "i" and block.dtype.itemsize <= 2
    return Wide(-x, unspecified=x == np.iinfo(block.dtype).min if is_open else None)


def sign(block: Array) -> Wide:
    """Return -1, 0 or 1 with the sign of each element; that of NaN is left open."""
    value = (block > 0).astype(np.int8) - (block < 0).astype(np.int8)
    return Wide(value, unspecified=np.isnan(block) if block.dtype.kind == "f" else None)


def log(x: Array) -> Wide:
    """Return the natural logarithm; that of a negative number is left open."""
    return Wide(np.log(x), unspecified=x < 0)


def bit_not(block: Array) -> Array:
    """Invert the bits of each element, whatever its type."""
    bits = block.view(f"u{block.dtype.itemsize}")
    inverted: Array = np.invert(bits).view(block.dtype)
    return inverted


def bit_count(block: Array) -> Array:
    """Count the bits of each element that are 1, whatever its type."""
    parts = np.ascontiguousarray(block).view(np.uint8).reshape(*block.shape, block.dtype.itemsize)
    count: Array = _BITS[parts].sum(axis=-1, dtype=np.uint8)
    return count


_BITS = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


def round_(input: Array, *, rounding_mode: str) -> Result:
    """Round to a whole number by a DML_ROUNDING_MODE."""
    return pointwise(ROUNDING[rounding_mode], input)


def _half_away(block: Array) -> Array:
    whole = np.trunc(block)
    return np.where(np.abs(block - whole) >= 0.5, whole + np.copysign(1, block), whole)


ROUNDING: dict[str, Callable[[Array], Array]] = {
    "HALVES_TO_NEAREST_EVEN": np.rint,
    "TOWARD_ZERO": np.trunc,
    "TOWARD_INFINITY": _half_away,
}


def is_infinity(input: Array, *, infinity_mode: str) -> Result:
    """Mark the infinities of a DML_IS_INFINITY_MODE with 1, everything else with 0."""
    return pointwise(INFINITIES[infinity_mode], input)


INFINITIES: dict[str, Callable[[Array], Array]] = {
    "EITHER": np.isinf,
    "POSITIVE": np.isposinf,
    "NEGATIVE": np.isneginf,
}


def clip(input: Array, *, scale_bias: ScaleBias | None, min: float, max: float) -> Result:
    """Limit to `min` and `max`, first cast to the type of the elements; `max` holds where `min` is above it."""
    (low, fits_low), (high, fits_high) = (_cast(bound, input.dtype) for bound in (min, max))

    def formula(x: Array) -> Wide:
        value = np.minimum(high, np.maximum(low, x))
        return Wide(value, unspecified=np.isnan(value) | (not (fits_low and fits_high)))

    return unrounded(formula, input, scale_bias)


def _cast(bound: float, dtype: np.dtype) -> tuple[Any, bool]:
    """Return a FLOAT as a type, integers without its fraction, and whether it fits."""
    if dtype.kind == "f":
        return np.float32(bound).astype(dtype), True
    limits = np.iinfo(dtype)
    fits = bool(np.isfinite(bound)) and limits.min <= int(bound) <= limits.max
    return dtype.type(int(bound) if fits else 0), fits


def clip1(input: Array, *, scale_bias: ScaleBias | None, min: float, max: float) -> Result:
    """Limit to `min` and `max`, which are of the type of the elements; `min` holds where it is above `max`."""
    low, high = (input.dtype.type(bound) for bound in (min, max))

    def formula(x: Array) -> Wide:
        value = np.maximum(low, np.minimum(x, high))
        return Wide(value, unspecified=np.isnan(value))

    return unrounded(formula, input, scale_bias)


def threshold(input: Array, *, scale_bias: ScaleBias | None, min: float) -> Result:
    """Return the greater of each element and `min`; left open for integers if `min` is none that fits."""
    low, fits = (np.float64(min), True) if input.dtype.kind == "f" else _cast(min, input.dtype)
    is_open = not fits or (input.dtype.kind != "f" and not float(min).is_integer())

    def formula(x: Array) -> Wide:
        value = np.maximum(x, low)
        return Wide(value, unspecified=np.isnan(value) | is_open)

    return pointwise(lambda block: through(formula, block, scale_bias), input)


def constant_pow(input: Array, *, scale_bias: ScaleBias | None, exponent: float) -> Result:
    """Raise to a power that is the same for all: NaN for a negative base, unless the power is whole.

    Left open are 0 to the power of 0 or less, what is not finite to the power of 0, -infinity to one that is not whole,
    and a power that is not finite.
    """
    is_whole, is_finite = float(exponent).is_integer(), math.isfinite(exponent)

    def formula(x: Array) -> Wide:
        left_open = ((x == 0) & (exponent <= 0)) | ((exponent == 0) & ~np.isfinite(x)) | (not is_finite)
        return Wide(np.power(x, exponent), unspecified=left_open | ((x == -np.inf) & (not is_whole)))

    def of_sum(high: Array, low: Array) -> Array:
        power: Array = np.power(high, exponent) * np.exp(exponent * np.log1p(low / high))
        return power

    of_sums = OfSum(lambda x, _: np.full(x.shape, abs(exponent) <= _CALM), of_sum)
    return pointwise(lambda block: _through_sum(formula, of_sums, block, scale_bias), input)


_CALM = 16.0
_SINE = OfSum(lambda x, f: np.abs(x) <= _CALM * np.abs(f), sine_of_sum)
_COSINE = OfSum(_SINE.is_calm, cosine_of_sum)
_TANGENT = OfSum(lambda x, f: np.abs(x) * (1 + f * f) <= _CALM * np.abs(f), tangent_of_sum)
_LOG = OfSum(lambda _, f: np.abs(f) >= 1 / _CALM, log_of_sum)
_ARCSINE = OfSum(lambda x, f: x * x <= np.square(_CALM * f) * (1 - x * x), arcsine_of_sum)
_ARCCOSINE = OfSum(_ARCSINE.is_calm, arccosine_of_sum)
_ARCCOSH = OfSum(lambda x, f: x * x <= np.square(_CALM * f) * (x * x - 1), arccosh_of_sum)
_ARCTANH = OfSum(lambda x, f: np.abs(x) <= _CALM * np.abs(f) * (1 - x * x), arctanh_of_sum)

KERNELS: dict[str, Callable[..., Result]] = {
    "ELEMENT_WISE_ABS": absolute,
    "ELEMENT_WISE_ACOS": steep(np.arccos, _ARCCOSINE),
    "ELEMENT_WISE_ACOSH": steep(np.arccosh, _ARCCOSH),
    "ELEMENT_WISE_ASIN": steep(np.arcsin, _ARCSINE),
    "ELEMENT_WISE_ASINH": unary(np.arcsinh),
    "ELEMENT_WISE_ATAN": unary(np.arctan),
    "ELEMENT_WISE_ATANH": steep(np.arctanh, _ARCTANH),
    "ELEMENT_WISE_BIT_COUNT": plain(bit_count),
    "ELEMENT_WISE_BIT_NOT": plain(bit_not),
    "ELEMENT_WISE_CEIL": whole(np.ceil),
    "ELEMENT_WISE_CLIP": clip,
    "ELEMENT_WISE_CLIP1": clip1,
    "ELEMENT_WISE_CONSTANT_POW": constant_pow,
    "ELEMENT_WISE_COS": steep(cos, _COSINE),
    "ELEMENT_WISE_COSH": unary(np.cosh),
    "ELEMENT_WISE_ERF": unary(erf),
    "ELEMENT_WISE_EXP": unary(np.exp),
    "ELEMENT_WISE_FLOOR": whole(np.floor),
    "ELEMENT_WISE_IDENTITY": identity,
    "ELEMENT_WISE_IS_INFINITY": is_infinity,
    "ELEMENT_WISE_IS_NAN": plain(np.isnan),
    "ELEMENT_WISE_LOG": steep(log, _LOG),
    "ELEMENT_WISE_LOGICAL_NOT": plain(np.logical_not),
    "ELEMENT_WISE_NEGATE": plain(negate),
    "ELEMENT_WISE_RECIP": unary(np.reciprocal),
    "ELEMENT_WISE_ROUND": round_,
    "ELEMENT_WISE_SIGN": plain(sign),
    "ELEMENT_WISE_SIN": steep(sin, _SINE),
    "ELEMENT_WISE_SINH": unary(np.sinh),
    "ELEMENT_WISE_SQRT": unary(np.sqrt),
    "ELEMENT_WISE_TAN": steep(np.tan, _TANGENT),
    "ELEMENT_WISE_TANH": unary(np.tanh),
    "ELEMENT_WISE_THRESHOLD": threshold,
}
