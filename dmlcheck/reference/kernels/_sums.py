"""Sums and products of rows: accurate in float64, with a bound on their error and the exact value where it decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dmlcheck.reference.kernels._blocks import Array, Rows
from dmlcheck.values.number_formats import odd_float, to_odd, two_sum

U = 2.0**-53  # unit roundoff of float64
MAX_EXACT_TERMS = 65_536

Term = Callable[[Array], Array]
_CONTEXT = Context(prec=120)


def identity(x: Array) -> Array:
    """Return the elements as they are."""
    return x


def square(x: Array) -> Array:
    """Return x * x, which is exact in float64 for FLOAT32 and FLOAT16 elements."""
    return x * x


def tree_sum(terms: Array) -> Array:
    """Add up each row of a float64 array, which is overwritten, in a balanced tree: ceil(log2 n) roundings deep."""
    length = terms.shape[1]
    while length > 1:
        half = length // 2
        terms[:, :half] += terms[:, length - half : length]
        length -= half
    return terms[:, 0]


def add_up(rows: Rows, term: Term) -> Array:
    """Return the sum of term(x) over each row; chunks of a long row are added with their rounding errors kept."""
    total: Array | None = None
    rest: Array | float = 0.0
    for _, chunk in rows.chunks():
        part = tree_sum(term(chunk.astype(np.float64)))
        if total is None:
            total = part
            continue
        total, error = two_sum(total, part)
        rest = rest + np.where(np.isfinite(error), error, 0.0)
    assert total is not None
    return total + rest


def sum_error(rows: Rows, term: Term) -> Array:
    """Bound the error of add_up by n times the largest term; 0 where an infinity or NaN makes the sum what it is."""
    largest = term(np.abs(_block(rows)).max(axis=1).astype(np.float64))
    roundings = (rows.length - 1).bit_length() + 2 if rows.length > 1 else 0
    return np.where(np.isfinite(largest), roundings * rows.length * U * largest, 0.0)


def exact_mean(rows: Rows, term: Term, divisor: int, indices: Array) -> Array:
    """Return sum(term(x)) / divisor for some of the rows, as float64 rounded to odd.

    Where the rounding errors of the sum, which are added up as well, leave its last bit open, Python's integers
    settle it.
    """
    terms = term(_block(rows)[indices].astype(np.float64))
    high, low, doubt = _sum_with_errors(terms.copy())
    quotient = high / divisor
    rest = _remainder(high, quotient, divisor) + low
    mean = to_odd(quotient, rest)
    for index in np.flatnonzero((doubt > 0) & (np.abs(rest) <= doubt)):
        mean[index] = odd_float(exact_sum(terms[index].tolist()) / divisor)
    return mean


def _sum_with_errors(terms: Array) -> tuple[Array, Array, Array]:
    """Return each row's sum as a float64 and what it leaves out, and a bound on the error of the latter."""
    length = terms.shape[1]
    low = np.zeros(len(terms))
    left_out = np.zeros(len(terms))
    steps = 0
    while length > 1:
        half = length // 2
        total, error = two_sum(terms[:, :half], terms[:, length - half : length])
        low += error.sum(axis=1)
        left_out += np.abs(error).sum(axis=1)
        terms[:, :half] = total
        steps += half
        length -= half
    high, low = two_sum(terms[:, 0], low)
    return high, low, 2 * U * steps * left_out


def _remainder(dividend: Array, quotient: Array, divisor: int) -> Array:
    """Return dividend - quotient * divisor exactly, for divisors of up to 26 bits (Dekker's splitting)."""
    scaled = quotient * 134217729.0
    upper = scaled - (scaled - quotient)
    return (dividend - upper * divisor) - (quotient - upper) * divisor


def exactly(rows: Rows, function: Callable[[list[float]], Fraction | float]) -> Callable[[Array], Array]:
    """Return what computes a function of some of the rows in Python's own numbers, rounded to odd."""
    return lambda indices: np.array([odd_float(function(row)) for row in _block(rows)[indices].tolist()])


def _block(rows: Rows) -> Array:
    ((_, block),) = rows.chunks()
    return block


def exact_sum(terms: list[float]) -> Fraction:
    """Return the sum of float64 numbers: what is left out of each rounded sum is added up in the next."""
    total = Fraction(0)
    rest = list(terms)
    while part := math.fsum(rest):
        total += Fraction(part)
        rest.append(-part)
    return total


def exact_sqrt(value: Fraction) -> Fraction:
    """Return a number on the same side of every shorter binary fraction as the square root of `value`, at least 0."""
    under = value.numerator * value.denominator
    shift = max(0, 256 - under.bit_length()) // 2 + 1
    root = math.isqrt(under << (2 * shift))
    if root * root == under << (2 * shift):
        return Fraction(root, value.denominator << shift)
    return Fraction(2 * root + 1, value.denominator << (shift + 1))


def exact_log(value: Fraction) -> Fraction | float:
    """Return the natural logarithm to 120 digits."""
    if value <= 0:
        return -math.inf if value == 0 else math.nan
    if value == 1:
        return 0.0
    return Fraction(_CONTEXT.ln(_decimal(value)))


def exact_log_sum_exp(terms: list[float]) -> Fraction | float:
    """Return log(sum(exp(x))) to some 100 digits."""
    largest = max(terms)
    top = Decimal(largest)
    total = Decimal(0)
    for term in terms:
        total = _CONTEXT.add(total, _CONTEXT.exp(_CONTEXT.subtract(Decimal(term), top)))
    return Fraction(largest) + Fraction(_CONTEXT.ln(total))


def exact_product(terms: list[float]) -> Fraction:
    """Return the product of float64 numbers."""
    ratios = [term.as_integer_ratio() for term in terms]
    return Fraction(_product([above for above, _ in ratios]), _product([below for _, below in ratios]))


def _product(factors: list[int]) -> int:
    while len(factors) > 1:
        pairs = [a * b for a, b in zip(factors[::2], factors[1::2], strict=False)]
        factors = pairs + factors[len(pairs) * 2 :]
    return factors[0]


def _decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def multiply_up(rows: Rows) -> Array:
    """Return the product of each row, with its exponent kept apart so that no intermediate overflows or underflows."""
    mantissa: Any = 0.5
    exponent: Any = 1
    for _, chunk in rows.chunks():
        parts, powers = np.frexp(chunk.astype(np.float64))
        powers = powers.astype(np.int64).sum(axis=1)
        for part in _shrink(parts):
            mantissa, power = np.frexp(mantissa * part)
            exponent = exponent + power
        exponent = exponent + powers
    # Beyond 2^5000 either way the result is infinite or 0 in every format.
    return np.asarray(np.ldexp(mantissa, np.clip(exponent, -5000, 5000).astype(np.int32)))


def _shrink(mantissas: Array) -> Iterator[Array]:
    """Multiply mantissas in [0.5, 1) in columns, at most 500 at a time, which cannot underflow."""
    width = min(mantissas.shape[1], 500)
    columns = mantissas.shape[1] // width
    whole = mantissas[:, : columns * width].reshape(-1, columns, width)
    yield from np.multiply.reduce(whole, axis=2).T
    if columns * width < mantissas.shape[1]:
        yield np.multiply.reduce(mantissas[:, columns * width :], axis=1)


def wrap_sum(rows: Rows, term: Term) -> Array:
    """Return the sum of term(x) over rows of integers, modulo 2^64."""
    total: Any = 0
    for _, chunk in rows.chunks():
        wide = chunk.astype(np.int64 if chunk.dtype.kind == "i" else np.uint64)
        total = total + term(wide).sum(axis=1)
    return np.asarray(total)


def wrap_product(rows: Rows) -> Array:
    """Return the product of rows of integers, modulo 2^64."""
    total: Any = 1
    for _, chunk in rows.chunks():
        wide = chunk.astype(np.int64 if chunk.dtype.kind == "i" else np.uint64)
        total = total * wide.prod(axis=1)
    return np.asarray(total)
