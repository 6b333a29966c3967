"""ELEMENT_WISE operators of one tensor, and VALUE_SCALE_2D."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.data_types import as_bits, cast, fits, limited, numbers_for, stored, width
from dmlcheck.reference.arrays.places import Places, numbers_of, with_ones_after
from dmlcheck.reference.functions.several_ways import as_measured_powers, of_values
from dmlcheck.reference.functions.special import erf
from dmlcheck.reference.limits.work import BLOCKS_OF_CHANNELS
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, flushing, or_nan
from dmlcheck.reference.rows import WHOLE_STEPS, Cut, Kernel, elementwise, exact


def absolute(input: Any) -> Any:
    """|x| of integers, for the least number of the type as `stored` has it."""
    value = np.abs(input)
    return with_stored_least(value, value < 0)


def negative(input: Any) -> Any:
    """-x of integers, for the least number of a type of 8 or 16 bits as `stored` has it."""
    value = np.negative(input)
    return with_stored_least(value, (value == input) & (value != 0) & (width(input) < 32))


def with_stored_least(value: Any, is_least: Any) -> AsMeasured:
    """Return integers whose least number, where it wrapped, has its opposite as `stored` has it."""
    opposite = stored(-value.astype(np.int64), value.dtype.name.upper())
    return AsMeasured(np.where(is_least, opposite, value), is_least)


def identity(input: Any) -> Any:
    """x."""
    return input


def log(input: Any) -> Any:
    """The natural logarithm of x."""
    return AsMeasured(np.log(input), input < 0)


def constant_pow(input: Any, *, exponent: Any, output_type: str) -> Any:
    """x^Exponent; NaN for a negative x unless Exponent is a whole number.

    Of NaN and infinities powers may be NaN where IEEE 754's pow gives numbers.
    """
    is_0 = of_values(lambda x: x == 0, input)
    if of_values(np.isnan, exponent):
        return as_measured_powers(np.full(is_0.shape, np.nan), np.ones_like(is_0), is_0, output_type)
    of_infinity = of_values(lambda x, y: (np.floor(y) < y) & (x == -np.inf), input, exponent)
    value = np.power(np.where(of_infinity, np.inf, input), exponent) if of_infinity.any() else np.power(input, exponent)
    may_be_nan = of_values(lambda x, y: (y == 0) & ~np.isfinite(x), input, exponent) | of_infinity
    value = np.where(of_values(lambda x, y: (x == 0) & (y < 0), input, exponent), np.inf, value)
    is_nan = of_values(lambda x, y: (y == 0) & (x == 0) | np.isinf(y) & ((x < 0) | (x == 1)), input, exponent)
    is_undefined = of_values(lambda x, y: (y <= 0) & (x == 0) | ~np.isfinite(y), input, exponent)
    found = or_nan(np.where(is_nan, np.nan, value), may_be_nan)
    return as_measured_powers(found, is_undefined, is_0, output_type)


def ceil(input: Any) -> Any:
    """The least whole number that is not below x."""
    return np.ceil(input)


def floor(input: Any) -> Any:
    """The largest whole number that is not above x."""
    return np.floor(input)


def sqrt(input: Any) -> Any:
    """The square root of x."""
    return np.sqrt(input)


def sign(input: Any) -> Any:
    """-1 where x < 0, 1 where x > 0, 0 where x = 0."""
    return AsMeasured((input > 0) - (input < 0).astype(np.int8), np.isnan(input))


def round_(input: Any, *, rounding_mode: str) -> Any:
    """x rounded to a whole number by RoundingMode.

    HALVES_TO_NEAREST_EVEN: the nearest one, halves to the even one. TOWARD_INFINITY: the nearest one, halves away from
    0. TOWARD_ZERO: x without its fraction.
    """
    return ROUNDING[rounding_mode](input)


def _half_away(x: Any) -> Any:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole)


ROUNDING: dict[str, Callable[[Any], Any]] = {
    "HALVES_TO_NEAREST_EVEN": np.rint,
    "TOWARD_ZERO": np.trunc,
    "TOWARD_INFINITY": _half_away,
}


def is_infinity(input: Any, *, infinity_mode: str) -> Any:
    """1 for the infinities that InfinityMode names, else 0."""
    return INFINITIES[infinity_mode](input)


INFINITIES: dict[str, Callable[[Any], Any]] = {
    "EITHER": np.isinf,
    "POSITIVE": lambda x: x == np.inf,
    "NEGATIVE": lambda x: x == -np.inf,
}


def clip(input: Any, *, min: Any, max: Any) -> Any:
    """min(Max, max(Min, x)), where Min and Max are first cast to the type of x."""
    low, high = cast(min, input), cast(max, input)
    return without_nan(np.minimum(high, np.maximum(low, input)), np.fmax(low, np.fmin(input, high)))


def clip_integers(input: Any, *, min: Any, max: Any) -> Any:
    """As `clip`, where Min and Max lose their fractions, and are limited to the type; NaN is 0."""
    value = np.minimum(limited(max, input), np.maximum(limited(min, input), input))
    is_lost = input.dtype == np.uint64 and any(of_values(np.isnan, end) for end in (min, max))
    return PartlyUndefined(AsMeasured(value, not (fits(min, input) and fits(max, input))), is_lost)


def clip1(input: Any, *, min: Any, max: Any) -> Any:
    """max(Min, min(x, Max)), where Min and Max are of the type of x."""
    return without_nan(np.maximum(min, np.minimum(input, max)), np.fmax(min, np.fmin(input, max)))


def threshold(input: Any, *, min: Any) -> Any:
    """max(x, Min)."""
    low = cast(min, input)
    return without_nan(np.maximum(input, low), np.fmax(input, low))


def without_nan(value: Any, other: Any) -> AsMeasured:
    """Return results, and where they are NaN those that leave out NaN, which is undefined, as DirectML does."""
    is_nan = np.isnan(value)
    return AsMeasured(np.where(is_nan, other, value), is_nan)


def threshold_integers(input: Any, *, min: Any) -> Any:
    """max(x, Min), where Min loses its fraction, and is limited to the type; NaN is 0. INT16 has no limits measured."""
    found = AsMeasured(np.maximum(input, limited(min, input)), cast(min, input) != min)
    is_lost = input.dtype == np.int16 and not fits(min, input) and not of_values(np.isnan, min)
    return PartlyUndefined(found, is_lost)


def bit_not(input: Any) -> Any:
    """The bits of x inverted, for any type."""
    return np.invert(as_bits(input)).view(input.dtype)


def bit_count(input: Any) -> Any:
    """The number of bits of x that are 1, for any type."""
    of_bytes = np.ascontiguousarray(input).view(np.uint8).reshape(*input.shape, width(input) // 8)
    return _BITS[of_bytes].sum(axis=-1, dtype=np.uint8)


_BITS = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


def value_scale_2d(input: Any, *, scale: Any, bias: Sequence[float], places: Places) -> Any:
    """Scale * Input[n, c, y, x] + Bias[c]."""
    of_channels = numbers_for(bias[numbers_of(places[1])], input)
    return input * scale + with_ones_after(of_channels, 2)


KERNELS: dict[str, Kernel] = {
    "ELEMENT_WISE_ABS": exact(np.abs, integers=absolute),
    "ELEMENT_WISE_ACOS": elementwise(np.arccos),
    "ELEMENT_WISE_ACOSH": elementwise(np.arccosh),
    "ELEMENT_WISE_ASIN": elementwise(np.arcsin),
    "ELEMENT_WISE_ASINH": elementwise(np.arcsinh),
    "ELEMENT_WISE_ATAN": elementwise(np.arctan),
    "ELEMENT_WISE_ATANH": elementwise(np.arctanh),
    "ELEMENT_WISE_BIT_COUNT": exact(bit_count),
    "ELEMENT_WISE_BIT_NOT": exact(bit_not),
    "ELEMENT_WISE_CEIL": exact(flushing(ceil), jumps=WHOLE_STEPS),
    "ELEMENT_WISE_CLIP": exact(flushing(clip), integers=clip_integers),
    "ELEMENT_WISE_CLIP1": exact(flushing(clip1)),
    "ELEMENT_WISE_CONSTANT_POW": elementwise(flushing(constant_pow)),
    "ELEMENT_WISE_COS": elementwise(np.cos),
    "ELEMENT_WISE_COSH": elementwise(np.cosh),
    "ELEMENT_WISE_ERF": elementwise(erf),
    "ELEMENT_WISE_EXP": elementwise(np.exp),
    "ELEMENT_WISE_FLOOR": exact(flushing(floor), jumps=WHOLE_STEPS),
    "ELEMENT_WISE_IDENTITY": exact(identity),
    "ELEMENT_WISE_IS_INFINITY": exact(is_infinity),
    "ELEMENT_WISE_IS_NAN": exact(np.isnan),
    "ELEMENT_WISE_LOG": elementwise(log),
    "ELEMENT_WISE_LOGICAL_NOT": exact(np.logical_not),
    "ELEMENT_WISE_NEGATE": exact(np.negative, integers=negative),
    "ELEMENT_WISE_RECIP": elementwise(np.reciprocal),
    "ELEMENT_WISE_ROUND": exact(round_, jumps=WHOLE_STEPS),
    "ELEMENT_WISE_SIGN": exact(flushing(sign), jumps=WHOLE_STEPS),
    "ELEMENT_WISE_SIN": elementwise(np.sin),
    "ELEMENT_WISE_SINH": elementwise(np.sinh),
    "ELEMENT_WISE_SQRT": elementwise(flushing(sqrt)),
    "ELEMENT_WISE_TAN": elementwise(np.tan),
    "ELEMENT_WISE_TANH": elementwise(np.tanh),
    "ELEMENT_WISE_THRESHOLD": exact(threshold, integers=threshold_integers),
    "VALUE_SCALE_2D": Kernel(value_scale_2d, Cut(blocks=BLOCKS_OF_CHANNELS)),
}
