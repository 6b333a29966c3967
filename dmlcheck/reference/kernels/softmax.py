"""SOFTMAX, SOFTMAX1, LOG_SOFTMAX and LOG_SOFTMAX1, with the largest element taken out so that nothing overflows.

The magnitudes are what a relative error of the sum of exp becomes in the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dmlcheck.reference.kernels._blocks import ALL, BLOCK, Array, Index, Result, Rows, Share, Wide, grouped, rows, tiles
from dmlcheck.reference.kernels._pointwise import odd
from dmlcheck.reference.kernels._sums import MAX_EXACT_TERMS, U
from dmlcheck.values.number_formats import odd_float, two_sum

_DIGITS = Context(prec=40)
_MANY_DIGITS = Context(prec=120)  # of which a sum next to 1 leaves its logarithm few
_ULPS = 4  # more than NumPy's exp and log1p are off by, in units of float64
_LEAST = 2.0**-1000  # stands for powers that float64 cannot hold


class _Powers(NamedTuple):
    """A column for each of: the largest elements of rows, and sums over the other elements b below them.

    `others` is the sum of exp(b), to which one of the largest elements adds exactly 1, and `spread` of |b| exp(b),
    which is what the rounding errors of b become in it. `each` is exp(b) of all elements where rows come in one chunk.
    """

    largest: Array
    others: Array
    spread: Array
    each: Array | None


def _softmax(below: Array, powers: _Powers, roundings: int) -> Wide:
    total = 1 + powers.others
    value = (np.exp(below) if powers.each is None else powers.each) / total
    error = U * value * (np.abs(below) + powers.spread / total + roundings)
    return Wide(value, error, magnitude=lambda: value)


def _log_softmax(below: Array, powers: _Powers, roundings: int) -> Wide:
    less = np.log1p(powers.others)
    total, rest = two_sum(below, -less)
    value = odd(total, rest)
    lost = (powers.spread + roundings * powers.others) / (1 + powers.others) + _ULPS * less
    return Wide(value, U * (lost + np.abs(below) + 4 * np.abs(value)), magnitude=lambda: np.ones(below.shape))


def _exact_softmax(row: list[float], at: int, total: Decimal) -> Fraction:
    return Fraction(_DIGITS.divide(_power(row[at], max(row), _DIGITS), total))


def _exact_log_softmax(row: list[float], at: int, total: Decimal) -> Fraction:
    less = Fraction(_MANY_DIGITS.ln(total)) or Fraction(_LEAST)  # a sum of one power alone leaves nothing in doubt
    return Fraction(row[at]) - Fraction(max(row)) - less


def _power(x: float, largest: float, context: Context) -> Decimal:
    return context.exp(context.subtract(Decimal(x), Decimal(largest)))


class _Function(NamedTuple):
    """A function of elements and the powers of their rows, and the same exactly, but for what decimals leave out."""

    formula: Callable[[Array, _Powers, int], Wide]
    exact: Callable[[list[float], int, Decimal], Fraction]
    context: Context


SOFTMAX = _Function(_softmax, _exact_softmax, _DIGITS)
LOG_SOFTMAX = _Function(_log_softmax, _exact_log_softmax, _MANY_DIGITS)


def along_last(function: _Function) -> Callable[..., Result]:
    """Return the kernel for the rows of the last dimension."""
    return lambda input: _by_group(input, (input.ndim - 1,), function)


def along_axes(function: _Function) -> Callable[..., Result]:
    """Return the kernel for the groups along `axes`."""
    return lambda input, axes: _by_group(input, axes, function)


def _by_group(input: Array, axes: tuple[int, ...], function: _Function) -> Result:
    order, view = grouped(input, axes)
    inner = view.shape[view.ndim - len(axes) :]

    def blocks(share: Share = ALL) -> Iterator[tuple[Index, Wide]]:
        for index, group in rows(view, len(axes), share):
            powers = _powers(group)
            is_open = np.isinf(powers.largest)
            for part, (_, chunk) in zip(tiles(inner, BLOCK), group.chunks(), strict=True):
                wide = function.formula(chunk - powers.largest, powers, _roundings(group.length))
                left_open = np.broadcast_to(is_open, wide.value.shape)
                wide = wide._replace(terms=group.length, unspecified=left_open)
                yield (*index, *part), _settled(wide, group, chunk, function)

    return Result(order, blocks)


def _settled(wide: Wide, group: Rows, chunk: Array, function: _Function) -> Wide:
    """Return results with what settles those that float64 leaves in doubt; none for rows too long for it."""
    if wide.error is None or group.length > MAX_EXACT_TERMS:
        return wide._replace(error=None)

    def exact(positions: Array) -> Array:
        totals: dict[int, Decimal] = {}
        results = []
        for position in positions.tolist():
            number, at = divmod(position, group.length)
            row = chunk[number].tolist()
            if number not in totals:
                totals[number] = _total(row, function.context)
            results.append(odd_float(function.exact(row, at, totals[number])))
        return np.array(results)

    return wide._replace(error=np.where(np.isfinite(wide.error), wide.error, 0.0), exact=exact)


def _total(row: list[float], context: Context) -> Decimal:
    """Return the sum of exp(x - largest) over a row."""
    largest, total = max(row), Decimal(0)
    for x in row:
        total = context.add(total, _power(x, largest, context))
    return total


def _roundings(length: int) -> int:
    """Bound the roundings that a term goes through when it is computed, summed pairwise and divided by the sum."""
    return 2 * _ULPS + length.bit_length() + 25


def _powers(group: Rows) -> _Powers:
    tops: Array = np.max([chunk.max(axis=1, keepdims=True) for _, chunk in group.chunks()], axis=0)
    largest = tops.astype(np.float64)
    ones, rest, spread = np.full(largest.shape, -1.0), np.zeros(largest.shape), np.zeros(largest.shape)
    each = None
    for _, chunk in group.chunks():
        below = chunk - largest
        power = np.exp(below)
        each = power.copy() if chunk.shape[1] == group.length else None
        is_largest = below == 0
        power[is_largest] = 0
        ones += is_largest.sum(axis=1, keepdims=True)
        rest += power.sum(axis=1, keepdims=True)
        below[power == 0] = 0
        spread -= (below * power).sum(axis=1, keepdims=True)
    others = ones + rest
    lonely = others == 0
    if group.length > 1 and lonely.any():
        finite = sum((chunk > -math.inf).sum(axis=1, keepdims=True) for _, chunk in group.chunks())
        others[lonely & (finite > 1)] = _LEAST
    return _Powers(largest, others, spread, each)


KERNELS: dict[str, Callable[..., Result]] = {
    "ACTIVATION_LOG_SOFTMAX": along_last(LOG_SOFTMAX),
    "ACTIVATION_LOG_SOFTMAX1": along_axes(LOG_SOFTMAX),
    "ACTIVATION_SOFTMAX": along_last(SOFTMAX),
    "ACTIVATION_SOFTMAX1": along_axes(SOFTMAX),
}
