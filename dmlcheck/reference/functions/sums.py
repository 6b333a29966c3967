"""Sums, means, variances and products of groups of elements, in float64 or correctly rounded, and for balls."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import Axes, Blocks, blockwise, hull, in_rows
from dmlcheck.reference.ball.numbers import Array, Ball, raw, summing_error, unmoved
from dmlcheck.reference.results import Approximate
from dmlcheck.values.number_formats import round_fraction_to_odd, round_to_odd, two_sum


def total(x: Any, axes: Axes) -> Any:
    """Return the sums along `axes`, which become size 1."""
    return np.add.reduce(x, axis=axes, keepdims=True)


def fsum(x: Any, axes: Axes) -> Any:
    """Return the sums along `axes`; sums of arrays can be correctly rounded, as by math.fsum."""
    return _rounded(total(x, axes), x, axes, 1)


def ftotal(x: Any, axes: Axes) -> Any:
    """Return the sums along `axes` in float64, correctly rounded where their terms cancel."""
    found = fsum(x, axes)
    if not isinstance(found, Approximate):
        return found
    cancelled = np.flatnonzero(found.error > _CANCELLED * np.abs(found.value))
    if cancelled.size:
        found.value.flat[cancelled] = found.exact(cancelled)
    return found.value


_CANCELLED = 2.0**-40  # relative error of a sum; a larger one may show in a function of the sum


def mean(x: Any, axes: Axes) -> Any:
    """Return the sums along `axes` divided by their number of terms."""
    sums = total(x, axes)
    return sums / (x.size // sums.size)


def variance(x: Any, centre: Any, axes: Axes) -> Any:
    """Return the means of (x - centre)^2 along `axes`, where `centre` has the means of x.

    The radius also contains the means of squares less the squared means, which many implementations compute. The likely
    radius does not: where the means are large, they cancel.
    """
    if not isinstance(centre, Ball):
        return mean(np.square(x - centre), axes)
    around = _around_the_mean(x, centre, axes)
    if centre.arithmetic.is_likely:
        return around
    return hull(lambda: around, lambda: mean(np.square(x), axes) - np.square(centre))


def _around_the_mean(x: Any, centre: Ball, axes: Axes) -> Ball:
    """Return the means of squared differences from means that have errors.

    The differences of x from its mean add up to 0, so an error d of the mean adds only d^2. The error of a running
    mean, as in Welford's algorithm, changes from term to term: for n terms it adds about 2 d / sqrt(n) standard
    deviations. Implementations that subtract another element than the mean lose some more digits (`_SHIFTED`).
    """
    found: Ball = mean(np.square(x - unmoved(centre)), axes)
    own = mean(np.square(blockwise(unmoved, x) - unmoved(centre)), axes) if _has_errors(x) else found
    count, off = x.size // found.size, np.square(centre.radius)
    relative = (count + 4) * centre.arithmetic.unit_roundoff
    running = 2 * centre.radius * np.sqrt(raw(found) / count)
    error = found.radius + (_SHIFTED - 1) * own.radius + off * (1 + relative) + running
    return Ball(found.value, error, found.arithmetic, found.terms)


def _has_errors(x: Any) -> bool:
    first = next(x.parts()) if isinstance(x, Blocks) else x
    return isinstance(first, Ball) and not first.is_exact


_SHIFTED = 4.0  # (1 + s^2 / 3) for a shift of up to three spreads


def shifted(centre: Any, spread: Any, count: int) -> Any:
    """Return means of `count` elements with a radius that also contains means by shifted elements.

    An implementation may subtract one element from all others, and add it to the mean of these differences, which are
    as large as the standard deviation even if the mean is 0.
    """
    if not isinstance(centre, Ball):
        return centre
    roundings = np.sqrt(count) if centre.arithmetic.is_likely else count
    error = 4 * np.sqrt(raw(spread)) * roundings * centre.arithmetic.unit_roundoff
    return Ball(centre.value, centre.radius + error, centre.arithmetic, centre.terms)


def mean_and_variance(x: Any, axes: Axes) -> tuple[Any, Any]:
    """Return the means and the variances along `axes`."""
    centre = mean(x, axes)
    spread = variance(x, centre, axes)
    return shifted(centre, spread, x.size // spread.size), spread


def fmean(x: Any, axes: Axes) -> Any:
    """Return the means along `axes`; means of arrays can be correctly rounded."""
    value = mean(x, axes)
    return _rounded(value, x, axes, x.size // value.size)


def _rounded(value: Any, terms: Any, axes: Axes, divisor: int) -> Any:
    if isinstance(value, Ball) or isinstance(terms, Blocks):
        return value
    count = terms.size // value.size
    error = total(np.abs(terms), axes) * ((count + 2) * 2.0**-53 / divisor)
    return Approximate(value, error, partial(_exact, terms, axes, divisor))


def _exact(terms: Array, axes: Axes, divisor: int, at: Array) -> Array:
    """Return the sums at some positions, divided by `divisor`, as float64 rounded to odd."""
    rows = in_rows(terms, axes)[at]
    sums, is_rounded = rows, np.zeros(len(rows), dtype=bool)
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        pairs, errors = two_sum(sums[:, :half], sums[:, half : 2 * half])
        is_rounded |= errors.any(axis=1)
        sums = np.concatenate([pairs, sums[:, 2 * half :]], axis=1)
    quotient = sums[:, 0] / divisor
    result = round_to_odd(quotient, _remainder(sums[:, 0], quotient, divisor))
    for place in np.flatnonzero(is_rounded):
        row = rows[place].tolist()
        most = math.fsum(row)
        rest = math.fsum([*row, -most])  # the rounding error of the sum
        result[place] = round_fraction_to_odd((Fraction(most) + Fraction(rest)) / divisor)
    return result


def _remainder(dividend: Array, quotient: Array, divisor: int) -> Array:
    """Return dividend - quotient * divisor exactly, for divisors of up to 26 bits (Dekker's splitting)."""
    scaled = quotient * 134217729.0
    upper = scaled - (scaled - quotient)
    return (dividend - upper * divisor) - (quotient - upper) * divisor


def total_less_1(powers: Any, axes: Axes) -> Any:
    """Return the sums along `axes` minus 1, where the largest term is 1, with all digits of the other terms."""
    sums = total(powers, axes)
    others = raw(sums) - 1
    if (others < _LITTLE).any():
        terms = blockwise(raw, powers)
        is_one = blockwise(np.equal, terms, 1)
        others = total(blockwise(np.where, is_one, 0.0, terms), axes) + (total(is_one, axes) - 1)
    return Ball(others, sums.radius, sums.arithmetic, sums.terms) if isinstance(sums, Ball) else others


_LITTLE = 2.0**-6  # below it the difference sums - 1 has too few digits


def progression(i: Any, start: float, delta: float) -> Any:
    """Return start + i * delta, with a radius that also contains the result of adding `delta` i times."""

    def added() -> Any:
        arithmetic = i.arithmetic._replace(is_likely=False)  # the roundings of equal terms are not independent
        count, steps = raw(i), raw(i) * delta
        error = summing_error(count, start + steps, np.abs(start) + np.abs(steps), 0.0, arithmetic)
        return Ball(start + steps, np.where(count > 0, error, 0.0), arithmetic)

    return hull(lambda: start + i * delta, added)


def product(x: Any, axes: Axes) -> Any:
    """Return the products of elements along `axes`; intermediate products neither overflow nor underflow.

    The radii of the elements move a product by no more than if all grew in absolute value.
    """
    parts = x.parts if isinstance(x, Blocks) else lambda: iter((x,))
    value, first = _product(map(raw, parts()), axes), next(parts())
    if not isinstance(first, Ball):
        return value
    arithmetic, roundings, size = first.arithmetic, x.size // value.size - 1, np.abs(value)
    relative = math.expm1(min(roundings * math.log1p(arithmetic.unit_roundoff), 700.0))
    if arithmetic.is_likely:
        relative = min(relative, 6 * math.sqrt(roundings) * arithmetic.unit_roundoff)
    error = np.where(np.isfinite(value), relative * size, 0.0)
    if not first.is_exact:
        most = _product((np.abs(part.value) + part.radius for part in parts()), axes)
        error = np.where(np.isfinite(value), error + (1 + relative) * (most - size), 0.0)
        size = most
    if roundings:
        error = np.where((size > 0) & (size < arithmetic.smallest), error + arithmetic.smallest, error)
    return Ball(value, error, arithmetic, first.terms + roundings + 1)


def _product(parts: Iterable[Array], axes: Axes) -> Array:
    """Return the products of all elements of the parts along `axes`."""
    mantissa: Any = 1.0
    exponent: Any = 0
    for part in parts:
        scaled, power = _scaled_product(part, axes)
        mantissa, more = np.frexp(mantissa * scaled)
        exponent = exponent + power + more
    # Beyond 2^5000 either way the result is infinite or 0 in every format.
    return np.asarray(np.ldexp(mantissa, np.clip(exponent, -5000, 5000).astype(np.int32)))


def _scaled_product(x: Array, axes: Axes) -> tuple[Array, Array]:
    """Return the mantissas and the exponents of products: 500 mantissas in [0.5, 1) at a time do not underflow."""
    mantissa, exponent = np.frexp(x)
    exponent = np.add.reduce(exponent, axis=axes, dtype=np.int64, keepdims=True)
    for axis in axes:
        while mantissa.shape[axis] > 1:
            starts = np.arange(0, mantissa.shape[axis], 500)
            mantissa, more = np.frexp(np.multiply.reduceat(mantissa, starts, axis))
            exponent = exponent + np.add.reduce(more, axis=axes, dtype=np.int64, keepdims=True)
    return mantissa, exponent
