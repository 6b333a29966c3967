"""Sums that depend on the order of their terms, since terms or partial sums overflow a data type on the way.

An infinity stays in a sum that comes back from beyond the largest number, and two of both signs give NaN. In another
order, or fused into one operation, the same sum is a number, or an infinity of the other sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import blockwise
from dmlcheck.reference.arrays.data_types import limits, overflows
from dmlcheck.reference.ball.numbers import Ball, radius, raw

Product = tuple[np.ufunc, Any, Any]  # np.matmul or np.multiply, and its two factors

NONE = np.False_  # the mask of no element, of any shape


def may_overflow(data_type: str, x: Any) -> Any:
    """Return a mask of the numbers that are beyond a float type, or that errors may take beyond it; NONE if none is."""
    return NONE if norm(x) <= limits(data_type)[1] else overflows(data_type, np.abs(raw(x)) + _errors(x))


def is_beyond(data_type: str, x: Any) -> Any:
    """Return a mask of the numbers that overflow when they are rounded to a float type; NONE if none does."""
    return NONE if norm(x) <= limits(data_type)[1] else overflows(data_type, x)


def depends_on_order(data_type: str, total: Any, above: Any, below: Any) -> Any:
    """Return a mask of sums that overflow a type in only one order of their terms, or to both sides.

    `above` is the sum of the terms above 0, `below` the sum of the magnitudes of the terms below 0. A sum of NaN has no
    order.
    """
    value, error, most = raw(total), _errors(total), limits(data_type)[1]
    is_above, is_below = above + error > most, below + error > most
    comes_back = is_above & (value + error <= most) | is_below & (value - error >= -most)
    return comes_back | is_above & is_below & ~np.isnan(value)


def terms_depend_on_order(data_type: str, total: Any, *terms: Any) -> Any:
    """Return a mask of sums of a few terms that depend on their order, NONE if none does; infinities overflow."""
    if sum(map(norm, terms)) + norm(total) <= limits(data_type)[1]:
        return NONE
    values = list(map(raw, terms))
    above, below = (reduce(np.add, (np.fmax(sign * x, 0.0) for x in values)) for sign in (1, -1))
    return depends_on_order(data_type, total, above, below)


def products_depend_on_order(total: Any, products: Sequence[Product], most: float) -> Any:
    """Return a mask of sums of products that depend on the order, in the type of the additions; NONE if none does.

    The sizes of the products of one sum add up to `most`, or to less.
    """
    data_type = total.arithmetic.data_type if isinstance(total, Ball) else "FLOAT32"
    if most <= limits(data_type)[1]:
        return NONE
    absolute, value = _finite(products, np.abs), _finite(products, np.asarray)
    above, below = (np.where(np.isinf(absolute), np.inf, (absolute + sign * value) / 2) for sign in (1, -1))
    return depends_on_order(data_type, total, above, below)


def norm(x: Any) -> float:
    """Return a number that no element exceeds, errors included; NaN or infinity if there is one."""
    if isinstance(x, float):
        return abs(x)
    values = raw(x).reshape(-1)
    error = float(_errors(x).max(initial=0.0)) if isinstance(x, Ball) and not x.is_exact else 0.0
    if values.size < MANY:
        return math.sqrt(values.dot(values)) + error
    return max(float(values.max()), -float(values.min())) + error


MANY = 8192  # elements: BLAS computes longer scalar products in threads, which wait busily for more work


def _finite(products: Sequence[Product], change: Any) -> Any:
    """Return the sum of products, without the terms of infinities and NaN, after a change of their factors."""
    return reduce(np.add, (function(*(change(_finite_part(x)) for x in factors)) for function, *factors in products))


def _finite_part(x: Any) -> Any:
    return np.where(np.isfinite(raw(x)), raw(x), 0.0)


def _errors(x: Any) -> Any:
    """Return the radii, and 0 for those without a limit, which allow all numbers anyway."""
    error = radius(x)
    return np.where(np.isfinite(error), error, 0.0)


# ---- what an overflow may leave


def is_too_large(x: Any, data_type: str) -> Any:
    """Return a mask of the finite numbers that are beyond a data type before they are rounded to it."""
    return (np.abs(raw(x)) > limits(data_type)[1]) & np.isfinite(raw(x))


def infinite_beyond(x: Any, data_type: str) -> Any:
    """Return numbers, infinite where they are beyond a data type."""

    def cut(part: Any) -> Any:
        return np.where(is_too_large(part, data_type), np.copysign(np.inf, raw(part)), part)

    return blockwise(cut, x)


def infinite_or_nan(x: Any) -> list[Any]:
    """Return results without a radius where they are not finite, and those that are NaN there: a weight may be 0."""
    is_finite = np.isfinite(raw(x))
    return [np.where(is_finite, x, raw(x)), np.where(is_finite, x, np.nan)]
