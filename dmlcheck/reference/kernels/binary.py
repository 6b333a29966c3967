"""ELEMENT_WISE operators of two and three tensors: arithmetic, remainders, powers, bits, comparisons and choices.

The sum, difference, product and quotient of two FLOAT32 or FLOAT16 numbers are right after one rounding to float64 and
another to their own type (Figueroa, 1995: 53 bits are at least 2 * 24 + 2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.descs.fields import ScaleBias
from dmlcheck.reference.kernels._blocks import Array, Result, Wide
from dmlcheck.reference.kernels._pointwise import joined, odd, pointwise, scaled, settled, through, two_product, widened
from dmlcheck.values.number_formats import two_sum

Formula = Callable[[Array, Array], "Array | Wide"]


def binary(formula: Formula) -> Callable[..., Result]:
    """Return the kernel of a formula for the elements of two tensors as they are."""

    def kernel(a: Array, b: Array) -> Result:
        return pointwise(formula, a, b)

    return kernel


def arithmetic(ufunc: np.ufunc) -> Callable[..., Result]:
    """Return the kernel of +, - or *: 32- and 64-bit integers wrap, shorter ones that do not fit are left open."""

    def formula(a: Array, b: Array) -> Array | Wide:
        value = ufunc(widened(a), widened(b))
        if a.dtype.kind == "f" or a.dtype.itemsize > 2:
            return value  # type: ignore[no-any-return]
        value = value.view(np.int64)  # a negative difference of unsigned numbers
        return Wide(value, unspecified=value != value.astype(a.dtype))

    return binary(formula)


def divide(a: Array, b: Array) -> Wide:
    """Divide; integers toward zero, left open where they cannot be."""
    if a.dtype.kind == "f":
        return Wide(widened(a) / widened(b))
    x, y = widened(a), widened(b)
    left_open = y == 0
    if a.dtype.kind == "i":
        left_open |= (y == -1) & (x == np.iinfo(a.dtype).min)
    y = np.where(left_open, 1, y).astype(y.dtype)
    return Wide((x - np.fmod(x, y)) // y, unspecified=left_open)


def difference_square(a: Array, b: Array) -> Array:
    """Return (a - b)^2; integers wrap."""
    x, y = widened(a), widened(b)
    square: Array = np.square(x - y)
    if a.dtype.kind != "f":
        return square

    def exact(at: Array) -> tuple[Array, Array]:
        difference, lost = two_sum(x.reshape(-1)[at], -y.reshape(-1)[at])
        high, rest = two_product(difference, difference)
        low = rest + (2 * difference * lost + lost * lost)
        return two_sum(high, np.where(np.isfinite(low), low, 0))

    return settled(square, exact)


def mean(a: Array, b: Array) -> Wide:
    """Return (a + b) / 2; left open for an odd sum of integers, and for a sum that its type does not hold."""
    x, y = widened(a), widened(b)
    total = x + y
    if a.dtype.kind == "f":
        overflows = np.isinf(total.astype(a.dtype)) & np.isfinite(x) & np.isfinite(y)
        return Wide(total / 2, unspecified=overflows)
    return Wide(total // 2, unspecified=(total % 2 != 0) | (total != total.astype(a.dtype)))


def chosen(ufunc: np.ufunc) -> Callable[..., Result]:
    """Return the kernel of MIN or MAX, which leave NaN open."""

    def formula(a: Array, b: Array) -> Wide:
        value = ufunc(a, b)
        return Wide(value, unspecified=np.isnan(a) | np.isnan(b) if a.dtype.kind == "f" else None)

    return binary(formula)


def modulus(remainder: np.ufunc, whole: np.ufunc) -> Callable[..., Result]:
    """Return the kernel of a remainder, rounded once, whose quotient is cut to a whole number by `whole`.

    Left open are a divisor of 0 of integers, an infinite one of floats, and quotients that are cut to another number if
    they are rounded to the type first.
    """

    def formula(a: Array, b: Array) -> Wide:
        x, y = widened(a), widened(b)
        if a.dtype.kind != "f":
            return Wide(remainder(x, np.where(y == 0, 1, y).astype(y.dtype)), unspecified=y == 0)
        first = np.fmod(x, y)
        quotient = whole((x / y).astype(a.dtype).astype(np.float64))
        beyond = whole is np.floor and (first != 0) & ((first < 0) != (y < 0))
        multiple = two_sum(x, -first)
        product = quotient * y + np.where(beyond, y, 0)
        is_same = (multiple[0] == product) & (multiple[1] == 0)
        is_number = np.isfinite(x) & np.isfinite(y) & (y != 0)
        value = np.where(beyond, first + y, first)
        left_open = (is_number & ~is_same) | np.isinf(y)
        return Wide(value, unspecified=left_open, magnitude=lambda: np.abs(x), terms=2)

    return binary(formula)


def power(input: Array, exponent: Array, *, scale_bias: ScaleBias | None) -> Result:
    """Raise each element to its own power; the specification lists what is left open of zeros and integers."""

    def formula(base: Array, exponents: Array) -> Wide:
        y = exponents.astype(np.float64)
        if base.dtype.kind == "f":
            return through(_powers(base, y, scale_bias), base, scale_bias)
        x, limits = base.astype(np.float64), np.iinfo(base.dtype)
        value = np.rint(np.power(x, y))  # which is not exact everywhere, but near enough for 32 bits
        fits = (value >= limits.min) & (value <= limits.max) & ((y >= 0) | (np.abs(x) <= 1))
        is_open = exponents.dtype.kind == "f" or scale_bias is not None
        whole = np.where(fits, value, 0).astype(np.int64)
        return Wide(whole, unspecified=((base == 0) & (y <= 0)) | ~fits | is_open)

    return pointwise(formula, input, exponent)


def _powers(base: Array, y: Array, scale_bias: ScaleBias | None) -> Callable[[Array], Wide]:
    """Return the formula x^y; for the scaled base it counts what float64 cannot hold of it, which a large y shows.

    Left open are powers of zeros, those to which pow and powr of IEEE 754 give 1 and NaN, and those of -infinity that
    are not whole.
    """
    first, _ = scaled(base, scale_bias)
    near, missing = first, None
    if scale_bias is not None:
        near, rest = two_sum(widened(base) * scale_bias.Scale, np.float64(scale_bias.Bias))
        missing = y * (rest / near)

    def formula(x: Array) -> Wide:
        value = np.power(np.where(x == first, near, x), y)
        if missing is not None:
            is_changed = np.isfinite(value) & (value != 0) & (np.abs(missing) > 0)
            value = np.where(is_changed, value * np.exp(missing), value)
        disputed = np.isinf(y) & ((x < 0) | (x == 1)) | np.isnan(y) & (x == 1) | ~np.isfinite(x) & (y == 0)
        disputed |= np.isneginf(x) & np.isfinite(y) & (y != np.rint(y))
        return Wide(value, unspecified=(x == 0) & (y <= 0) | disputed)

    return formula


def atan_yx(a: Array, b: Array) -> Wide:
    """Return the angle of the point (b, a); that of the origin is left open.

    A tiny angle is a little less than a / b, which is halfway between two denormal numbers now and then.
    """
    y, x = widened(a), widened(b)
    angle = np.arctan2(y, x)
    is_tiny = (x > 0) & (np.abs(angle) < _TINY)
    if is_tiny.any():
        angle[is_tiny] = _less_than_ratio(y[is_tiny], x[is_tiny])
    return Wide(angle, unspecified=(a == 0) & (b == 0))


def _less_than_ratio(y: Array, x: Array) -> Array:
    ratio = y / x
    product, low = two_product(ratio, x)
    rest = (y - product) - low
    return odd(ratio, np.where(rest == 0, -y, rest))


_TINY = 2.0**-30  # below, atan(q) and q are one float64


def bitwise(ufunc: np.ufunc) -> Callable[..., Result]:
    """Return the kernel of an operation on the bits of elements, whatever their type."""

    def formula(a: Array, b: Array) -> Array:
        bits = np.dtype(f"u{a.dtype.itemsize}")
        return ufunc(a.view(bits), b.view(bits)).view(a.dtype)  # type: ignore[no-any-return]

    return binary(formula)


def shifted(ufunc: np.ufunc) -> Callable[..., Result]:
    """Return the kernel of a shift of bits; by the width of the type and more it is left open."""

    def formula(a: Array, b: Array) -> Wide:
        width = a.dtype.itemsize * 8
        return Wide(ufunc(a, (b % width).astype(a.dtype)), unspecified=b >= width)

    return binary(formula)


def if_(condition: Array, a: Array, b: Array) -> Result:
    """Take an element of `a` where the condition is not 0, of `b` where it is."""
    return pointwise(np.where, condition, a, b)


def clip_grad(input: Array, input_gradient: Array, *, min: float, max: float) -> Result:
    """Let the gradients of elements between `min` and `max` through; left open if the type does not hold these."""
    if all(_holds(input.dtype, bound) for bound in (min, max)):
        low, high = (np.array(bound).astype(input.dtype) for bound in (min, max))
        return _clip_grad(input, input_gradient, low, high, is_open=False)
    return _clip_grad(input, input_gradient, np.asarray(min), np.asarray(max), is_open=True)


def _holds(dtype: np.dtype[Any], number: float) -> bool:
    if dtype.kind != "f":
        return number.is_integer() and int(np.iinfo(dtype).min) <= number <= int(np.iinfo(dtype).max)
    with np.errstate(all="ignore"):
        return float(np.array(number).astype(dtype)) == number


def clip_grad1(input: Array, input_gradient: Array, *, min: float, max: float) -> Result:
    """Let the gradients of elements between `min` and `max` through, which are of the type of the elements."""
    low, high = (np.array(bound, input.dtype) for bound in (min, max))
    return _clip_grad(input, input_gradient, low, high, is_open=bool(np.isnan([low, high]).any()))


def _clip_grad(input: Array, gradients: Array, low: Array, high: Array, *, is_open: bool) -> Result:
    def formula(x: Array, gradient: Array) -> Wide:
        passed = np.where((x > low) & (x < high), gradient, gradient.dtype.type(0))
        nan = np.isnan(x) if x.dtype.kind == "f" else None
        return Wide(passed, unspecified=joined(nan, np.array(is_open)))

    return pointwise(formula, input, gradients)


KERNELS: dict[str, Callable[..., Result]] = {
    "ELEMENT_WISE_ADD": arithmetic(np.add),
    "ELEMENT_WISE_ATAN_YX": binary(atan_yx),
    "ELEMENT_WISE_BIT_AND": bitwise(np.bitwise_and),
    "ELEMENT_WISE_BIT_OR": bitwise(np.bitwise_or),
    "ELEMENT_WISE_BIT_SHIFT_LEFT": shifted(np.left_shift),
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": shifted(np.right_shift),
    "ELEMENT_WISE_BIT_XOR": bitwise(np.bitwise_xor),
    "ELEMENT_WISE_CLIP_GRAD": clip_grad,
    "ELEMENT_WISE_CLIP_GRAD1": clip_grad1,
    "ELEMENT_WISE_DIFFERENCE_SQUARE": binary(difference_square),
    "ELEMENT_WISE_DIVIDE": binary(divide),
    "ELEMENT_WISE_IF": if_,
    "ELEMENT_WISE_LOGICAL_AND": binary(np.logical_and),
    "ELEMENT_WISE_LOGICAL_EQUALS": binary(np.equal),
    "ELEMENT_WISE_LOGICAL_GREATER_THAN": binary(np.greater),
    "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL": binary(np.greater_equal),
    "ELEMENT_WISE_LOGICAL_LESS_THAN": binary(np.less),
    "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL": binary(np.less_equal),
    "ELEMENT_WISE_LOGICAL_OR": binary(np.logical_or),
    "ELEMENT_WISE_LOGICAL_XOR": binary(np.logical_xor),
    "ELEMENT_WISE_MAX": chosen(np.fmax),
    "ELEMENT_WISE_MEAN": binary(mean),
    "ELEMENT_WISE_MIN": chosen(np.fmin),
    "ELEMENT_WISE_MODULUS_FLOOR": modulus(np.remainder, np.floor),
    "ELEMENT_WISE_MODULUS_TRUNCATE": modulus(np.fmod, np.trunc),
    "ELEMENT_WISE_MULTIPLY": arithmetic(np.multiply),
    "ELEMENT_WISE_POW": power,
    "ELEMENT_WISE_SUBTRACT": arithmetic(np.subtract),
}
