"""CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.blocks import BLOCK, tiles_along
from dmlcheck.reference.numbers import raw
from dmlcheck.reference.pieces import Kernel, Open, Piece, is_float, overflows
from dmlcheck.values.number_formats import FORMATS

Marks = Callable[[Any, int], Any]


def cumulative_summation(
    input: Any, *, axis: int, axis_direction: str, has_exclusive_sum: bool, input_type: str
) -> Iterator[Piece]:
    """x1 + ... + xi, without xi where HasExclusiveSum; DECREASING begins at the end of Axis.

    Integers wrap. Left open are floats for which the order of the additions decides whether they overflow.
    """
    scanned = partial(scan, ufunc=np.add, is_exclusive=has_exclusive_sum, mark=partial(open_sums, input_type))
    return lines(scanned, input, axis, is_reversed=axis_direction == "DECREASING")


def cumulative_product(
    input: Any, *, axis: int, axis_direction: str, has_exclusive_product: bool, input_type: str
) -> Iterator[Piece]:
    """x1 * ... * xi, without xi where HasExclusiveProduct; DECREASING begins at the end of Axis.

    Integers wrap. Left open are floats for which the order of the multiplications decides whether they overflow or
    underflow.
    """
    scanned = partial(
        scan, ufunc=np.multiply, is_exclusive=has_exclusive_product, mark=partial(open_products, input_type)
    )
    return lines(scanned, input, axis, is_reversed=axis_direction == "DECREASING")


def lines(formula: Callable[..., Any], input: Any, axis: int, *, is_reversed: bool) -> Iterator[Piece]:
    """Yield the pieces of an operator that goes along an axis, from its start or its end."""
    others = [other for other in range(input.ndim) if other != axis]
    for index in tiles_along(others, input.shape, max(1, BLOCK // input.shape[axis])):
        yield Piece(index, partial(formula, axis=axis, is_reversed=is_reversed), (input[index],))


def scan(x: Any, *, ufunc: np.ufunc, is_exclusive: bool, mark: Marks, axis: int, is_reversed: bool) -> Open:
    """Return what a ufunc makes of the elements up to each, and which of these results are left open."""
    x = np.flip(x, axis) if is_reversed else x
    results = ufunc.accumulate(x, axis=axis)
    is_open = mark(raw(x), axis) if is_float(x) else np.zeros(x.shape, dtype=bool)
    if is_exclusive:
        results, is_open = shifted(results, ufunc.identity, axis), shifted(is_open, 0, axis)
    return Open(*((np.flip(part, axis) for part in (results, is_open)) if is_reversed else (results, is_open)))


def shifted(x: Any, first: Any, axis: int) -> Any:
    """Return the elements one place later along an axis, where another one is the first."""
    lead = (slice(None),) * axis
    return np.concatenate([np.full_like(x[(*lead, slice(0, 1))], first), x[(*lead, slice(0, -1))]], axis)


def of_runs(sums: Any, axis: int) -> tuple[Any, Any]:
    """Return the largest and the least sum of any run of terms up to each place; 0 is that of no term."""
    most = sums - np.minimum(np.minimum.accumulate(sums, axis), 0)
    least = sums - np.maximum(np.maximum.accumulate(sums, axis), 0)
    return np.maximum.accumulate(most, axis), np.minimum.accumulate(least, axis)


def open_sums(data_type: str, x: Any, axis: int) -> Any:
    """Say for which sums the order of the additions decides whether a sum on the way overflows."""
    sums = np.add.accumulate(np.where(np.isfinite(x), x, 0), axis)
    above, below = (overflows(data_type, run) for run in of_runs(sums, axis))
    is_nan, up, down = (np.logical_or.accumulate(at, axis) for at in (np.isnan(x), x == np.inf, x == -np.inf))
    is_either = ((above | up) & (below | down)) | ((above | below) & ~(overflows(data_type, sums) | up | down))
    return is_either & ~(is_nan | (up & down))


def open_products(data_type: str, x: Any, axis: int) -> Any:
    """Say for which products the order of the multiplications decides whether one on the way over- or underflows."""
    is_zero, is_infinite, is_nan = (np.logical_or.accumulate(at, axis) for at in (x == 0, np.isinf(x), np.isnan(x)))
    sums = np.add.accumulate(np.log2(np.where(np.isfinite(x) & (x != 0), np.abs(x), 1)), axis)
    of = FORMATS[data_type]
    high, low = np.log2(of.largest * (1 + of.unit_roundoff / 2)), of.least_exponent
    most, least = of_runs(sums, axis)
    is_over, is_under = most > high, least < low
    is_either = (is_over & is_under) | (is_over & (sums <= high)) | (is_under & (sums >= low))
    return np.where(is_zero, is_over, np.where(is_infinite, is_under, is_either)) & ~is_nan


KERNELS: dict[str, Kernel] = {
    "CUMULATIVE_PRODUCT": Kernel(cumulative_product),
    "CUMULATIVE_SUMMATION": Kernel(cumulative_summation),
}
