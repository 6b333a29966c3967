"""ELEMENT_WISE operators of two and three tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.data_types import (
    as_bits,
    as_processor_converts,
    bits,
    is_float,
    limited,
    limits,
    overflows,
    stored,
    width,
    wrapped,
)
from dmlcheck.reference.functions.several_ways import (
    as_measured_powers,
    of_values,
    powers,
    remainders_beyond,
    sums_or_infinity,
)
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives, flushing
from dmlcheck.reference.rows import CHOICES, REMAINDERS, Kernel, elementwise, exact


def quotient(a: Any, b: Any, *, output_type: str) -> Any:
    """A / B of integers, rounded toward 0; undefined for signed B = 0. The least number / -1 wraps."""
    found = (a - np.fmod(a, b)) // b
    if a.dtype.kind == "u":
        return by_0(found, b, output_type)
    is_wrapped = (a == limits(output_type)[0]) & (b == -1)
    return PartlyUndefined(AsMeasured(np.where(is_wrapped, a, found), is_wrapped), b == 0)


def by_0(found: Any, divisor: Any, data_type: str) -> AsMeasured:
    """Return unsigned results of a division, which have all bits set where the divisor is 0."""
    return AsMeasured(np.where(divisor == 0, np.uint64(limits(data_type)[1]), found), divisor == 0)


def difference_square(a: Any, b: Any) -> Any:
    """(A - B)^2."""
    return np.square(a - b)


def mean(a: Any, b: Any, *, output_type: str) -> Any:
    """(A + B) / 2, where the sum may become infinite if it does not fit the type."""
    return alternatives(*sums_or_infinity(a + b, output_type), of=lambda x: x / 2)


def mean_of_integers(a: Any, b: Any, *, output_type: str) -> Any:
    """(A + B) / 2, rounded toward 0, down or up, where the sum may wrap."""
    total = a + b
    sums = (wrapped(output_type, total), total)
    return alternatives(*(x // 2 + up for x in sums for up in (x % 2 * (x < 0), 0, x % 2)))


def chosen(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return the formula of MIN or MAX of floats; NaN is undefined, and DirectML leaves it out."""

    def formula(a: Any, b: Any) -> Any:
        return AsMeasured(ufunc(a, b), np.isnan(a) | np.isnan(b))

    return formula


def modulus(ufunc: np.ufunc) -> Kernel:
    """Return the row of A - B * whole(A / B).

    Undefined are signed integers where B is 0, and floats where A / B is beyond FLOAT16. Beyond FLOAT32 it is infinite.
    """

    def formula(a: Any, b: Any, *, output_type: str) -> Any:
        found = AsMeasured(np.where(np.isinf(b), np.nan, ufunc(a, b)), np.isinf(b))
        return remainders_beyond(found, a, overflows(output_type, a / b), output_type)

    def integers(a: Any, b: Any, *, output_type: str) -> Any:
        found = ufunc(a, b)
        return by_0(found, b, output_type) if a.dtype.kind == "u" else PartlyUndefined(found, b == 0)

    return elementwise(formula, integers=integers, jumps=REMAINDERS)


def power(input: Any, exponent: Any, *, exponent_type: str, output_type: str) -> Any:
    """x^y; NaN for a negative x unless y is a whole number.

    Of NaN and infinities powers may be NaN where IEEE 754's pow gives numbers.
    """
    of_0 = of_values(lambda x, y: (x == 0) & (y <= 0), input, exponent)
    if not of_0.any():
        return powers(input, exponent)
    if bits(exponent_type) == 16:
        found = powers(input, np.where(of_0, 1.0, exponent))  # DirectML gives 0
    else:
        is_nan = of_values(lambda x, y: (x == 0) & (y == 0), input, exponent)
        found = powers(np.where(of_0, np.where(is_nan, np.nan, 0.0), input), exponent)
    return as_measured_powers(found, of_0, of_0, output_type)


def power_of_integers(input: Any, exponent: Any, *, exponent_type: str, output_type: str) -> Any:
    """x^y without its fraction, in 32 bits; undefined for 0 to the power of a number below 0.

    For y of 8 bits, and for floats y, it is limited to the range of the type; for floats it is undefined where rounding
    decides the whole number.
    """
    if is_float(exponent):
        return _power_of_floats(input, exponent, output_type)
    x, y = input.astype(np.int64), exponent.astype(np.int64)
    inverse = np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y % 2), 0))
    whole = np.where(y < 0, inverse, np.power(x, np.maximum(y, 0)))
    is_measured = overflows(output_type, np.rint(np.float_power(x, np.maximum(y, 0))))
    is_measured = is_measured | (y < 0) & (np.abs(x) > 1) | (x == 0) & (y == 0)
    found = stored(whole, output_type)
    if bits(exponent_type) == 8:
        found = np.clip(whole.astype(np.int32 if limits(output_type)[0] else np.uint32), *limits(output_type))
    return PartlyUndefined(AsMeasured(found, is_measured), (x == 0) & (y < 0))


def _power_of_floats(x: Any, y: Any, output_type: str) -> Any:
    found = np.float_power(x, y)
    low, value, high = (np.trunc(np.clip(found * by, *limits(output_type))) for by in (1 - _DOUBT, 1, 1 + _DOUBT))
    in_doubt = (low != high) & ~np.isnan(found) | (x == 0) & (y < 0) | ~np.isfinite(y)
    return PartlyUndefined(AsMeasured(np.where(np.isnan(found), 0, value), where=True), in_doubt)


_DOUBT = 2.0**-16  # of a power in FLOAT32: it is exp2(y * log2(x))


def atan_yx(a: Any, b: Any) -> Any:
    """The angle of the point (B, A)."""
    return AsMeasured(np.arctan2(a, b), (a == 0) & (b == 0))


def bitwise(ufunc: np.ufunc) -> Kernel:
    """Return the row of an operation on the bits of elements of any type."""
    return exact(lambda a, b: ufunc(as_bits(a), as_bits(b)).view(a.dtype))


def shift(ufunc: np.ufunc) -> Kernel:
    """Return the row of a shift of bits; DirectML shifts by the number modulo 32, and 64 bits by 32 more from 64 on."""

    def formula(a: Any, b: Any) -> Any:
        bits = width(b)
        near = b % 32 if bits < 64 else np.where(b < 64, b, b % 32 + 32)
        wide = np.uint32 if bits < 64 else np.uint64
        return AsMeasured(ufunc(a.astype(wide), near.astype(wide)).astype(a.dtype), b >= bits)

    return exact(formula)


def if_(condition: Any, a: Any, b: Any) -> Any:
    """A where the condition is not 0, B where it is 0."""
    return np.where(condition != 0, a, b)


def clip_grad(input: Any, input_gradient: Any, *, min: Any, max: Any) -> Any:
    """InputGradient where Min < x < Max, else 0."""
    passed = np.where((input > min) & (input < max), input_gradient, 0)
    return AsMeasured(passed, np.isnan(input) | np.isnan(min) | np.isnan(max))


def clip_grad_of_integers(input: Any, input_gradient: Any, *, min: Any, max: Any) -> Any:
    """The gradient where Min < x < Max, else 0; Min and Max lose their fractions, and are limited to the type."""
    ends = [as_processor_converts(end, input) if np.isnan(end) else limited(end, input) for end in (min, max)]
    passed = AsMeasured(np.where((input > ends[0]) & (input < ends[1]), input_gradient, 0), ends != [min, max])
    return PartlyUndefined(passed, input.dtype == np.uint64 and bool(np.isnan([min, max]).any()))


KERNELS: dict[str, Kernel] = {
    "ELEMENT_WISE_ADD": elementwise(np.add, overflow="narrow"),
    "ELEMENT_WISE_ATAN_YX": elementwise(atan_yx),
    "ELEMENT_WISE_BIT_AND": bitwise(np.bitwise_and),
    "ELEMENT_WISE_BIT_OR": bitwise(np.bitwise_or),
    "ELEMENT_WISE_BIT_SHIFT_LEFT": shift(np.left_shift),
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": shift(np.right_shift),
    "ELEMENT_WISE_BIT_XOR": bitwise(np.bitwise_xor),
    "ELEMENT_WISE_CLIP_GRAD": exact(clip_grad, integers=clip_grad_of_integers),
    "ELEMENT_WISE_CLIP_GRAD1": exact(clip_grad),
    "ELEMENT_WISE_DIFFERENCE_SQUARE": elementwise(difference_square),
    "ELEMENT_WISE_DIVIDE": elementwise(np.divide, integers=quotient, overflow="all"),
    "ELEMENT_WISE_IF": exact(if_, jumps=CHOICES),
    "ELEMENT_WISE_LOGICAL_AND": exact(np.logical_and),
    "ELEMENT_WISE_LOGICAL_EQUALS": exact(np.equal),
    "ELEMENT_WISE_LOGICAL_GREATER_THAN": exact(np.greater),
    "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL": exact(np.greater_equal),
    "ELEMENT_WISE_LOGICAL_LESS_THAN": exact(np.less),
    "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL": exact(np.less_equal),
    "ELEMENT_WISE_LOGICAL_OR": exact(np.logical_or),
    "ELEMENT_WISE_LOGICAL_XOR": exact(np.logical_xor),
    "ELEMENT_WISE_MAX": exact(flushing(chosen(np.fmax)), integers=np.maximum),
    "ELEMENT_WISE_MEAN": elementwise(mean, integers=mean_of_integers),
    "ELEMENT_WISE_MIN": exact(flushing(chosen(np.fmin)), integers=np.minimum),
    "ELEMENT_WISE_MODULUS_FLOOR": modulus(np.remainder),
    "ELEMENT_WISE_MODULUS_TRUNCATE": modulus(np.fmod),
    "ELEMENT_WISE_MULTIPLY": elementwise(np.multiply, overflow="narrow"),
    "ELEMENT_WISE_POW": elementwise(power, integers=power_of_integers),
    "ELEMENT_WISE_SUBTRACT": elementwise(np.subtract, overflow="narrow"),
}
