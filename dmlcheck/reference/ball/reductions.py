"""Reductions: sums, products, largest and smallest elements; cumulative sums and products."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.ball import errors as of
from dmlcheck.reference.ball.ball import Ball
from dmlcheck.reference.ball.elementwise import sum_of_two
from dmlcheck.reference.ball.errors import Arithmetic, Array, plus, summing_error
from dmlcheck.reference.ball.operands import radius, raw, rounded


def total(x: Any, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Any:
    """Return sums: n roundings for n terms, and the root of the sum of the squared radii of the terms."""
    if isinstance(x, Ball):
        return total_of_parts([x], axis, keepdims=keepdims)
    return np.sum(x, axis=axis, keepdims=keepdims)


def total_of_parts(parts: Iterable[Ball], axis: Any, *, keepdims: bool) -> Ball:
    """Return sums of balls whose terms come in several parts."""
    sums: Any = 0.0
    absolute: Any = 0.0
    likely: tuple[Any, ...] = (0.0, 0.0, 0.0)
    alike: Any = 0.0
    carried: Any = None
    count = terms = 0
    for x in parts:
        arithmetic, (value, error) = x.arithmetic, x.operand()
        if arithmetic.is_likely:
            way = of.on_the_way(value, axis, sums, arithmetic.unit_roundoff)
            likely = tuple(map(np.add, likely, (_added(value * value, axis), *way)))
            alike = np.maximum(alike, of.alike(value, axis))
        part = _added(value, axis)
        sums, absolute = sums + part, absolute + _added(plus(np.abs(value), error), axis)
        carried = carried if error is None else plus(carried, _added(of.to_add(error, arithmetic), axis))
        count, terms = count + value.size // max(1, part.size), max(terms, x.terms)
    error = summing_error(count - 1, sums, absolute, likely[0], arithmetic, likely[1], likely[2], alike)
    error = error if carried is None else error + of.added(carried, arithmetic)
    terms = max(terms, count) if count > 1 else terms
    found = rounded(sums, error, arithmetic, terms, partial(is_bounded, carried))
    return found if keepdims else found.moved(lambda values: np.squeeze(values, axis=axis))


def plus_start(sums: Any, start: Any) -> Any:
    """Return sums + start, where `start` may also be the first term of the sums.

    As the first term it is in every partial sum, and terms that are too small compared with it may be lost one by one.
    """
    if not isinstance(sums, Ball) or sums.terms < 2:
        return sums + start
    found = sum_of_two(np.add, sums, start)
    arithmetic, count, size = sums.arithmetic, sums.terms, np.abs(raw(start)) + radius(start)
    most = count * arithmetic.unit_roundoff * size
    if arithmetic.is_likely:
        total = np.abs(raw(sums))
        absorbed = np.where(total < count * arithmetic.unit_roundoff * size, total, 0.0)
        most = np.fmin(most, 6 / np.sqrt(3) * np.sqrt(count) * arithmetic.unit_roundoff * size + absorbed)
    is_finite = np.isfinite(found.value) & np.isfinite(most)
    error = found.radius + (most if is_finite.all() else np.where(is_finite, most, 0.0))
    return Ball(found.value, error, found.arithmetic, max(found.terms, count + 1))


def total_of_shared(x: Ball, add: Callable[[Array], Array], count: int) -> Ball:
    """Return sums of `count` balls each, which share terms; `add` returns the sums of an array.

    An implementation adds up each sum on its own. For likely errors each partial sum counts as the sum of the terms'
    absolute values.
    """
    arithmetic, (value, error) = x.arithmetic, x.operand()
    size, sums = np.abs(value), add(value)
    absolute = add(np.broadcast_to(plus(size, error), value.shape))
    likely: tuple[Any, ...] = (0.0,)
    if arithmetic.is_likely:
        is_small = size < arithmetic.unit_roundoff * of.largest(absolute)
        small = add(np.where(is_small, size, 0.0))
        likely = add(value * value), float(count) * absolute * absolute, small, of.alike(value)
    own = summing_error(float(count - 1), sums, absolute, likely[0], arithmetic, *likely[1:])
    carried = None if error is None else add(np.broadcast_to(of.to_add(error, arithmetic), value.shape))
    moved = own if carried is None else own + of.added(carried, arithmetic)
    return rounded(sums, moved, arithmetic, max(x.terms, count), partial(is_bounded, carried))


def _added(x: Array, axis: Any) -> Array:
    return np.asarray(x.sum(axis=axis, keepdims=True))


def is_bounded(carried: Any, value: Array) -> Any:
    """Return a mask of the sums in which the radii of all terms are finite."""
    return np.isfinite(np.broadcast_to(0.0 if carried is None else carried, value.shape))


def _sums_on_the_way(x: Ball, axis: int = 0, **_: Any) -> Ball:
    """Return cumulative sums: the k-th has k - 1 roundings."""
    (value, error), along = x.operand(), partial(np.cumsum, axis=axis)
    sums, size = along(value), np.abs(value)
    likely: list[Any] = [0.0] * 4
    if x.arithmetic.is_likely:
        absorbed = np.where(size < x.arithmetic.unit_roundoff * np.abs(sums), value, 0.0)
        likely = [along(value * value), along(sums * sums), along(absorbed), of.alike(value, axis)]
    own = summing_error(_places(x, axis), sums, along(plus(size, error)), likely[0], x.arithmetic, *likely[1:])
    carried = None if error is None else of.added(along(of.to_add(error, x.arithmetic)), x.arithmetic)
    terms = max(x.terms, value.shape[axis])
    return rounded(sums, plus(own, carried), x.arithmetic, terms, partial(is_bounded, carried))


def product_of_all(x: Ball, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Ball:
    """Return products, each with n - 1 roundings."""
    count = x.size // max(1, np.multiply.reduce(np.ones(x.shape), axis=axis).size) - 1
    return _multiplied(partial(np.multiply.reduce, axis=axis, keepdims=keepdims), x, count)


def _products_on_the_way(x: Ball, axis: int = 0, **_: Any) -> Ball:
    """Return cumulative products: the k-th has k - 1 roundings."""
    return _multiplied(partial(np.multiply.accumulate, axis=axis), x, _places(x, axis))


def _multiplied(multiply: Callable[[Array], Array], x: Ball, count: Any) -> Ball:
    """Return products; the radii of the factors move them by no more than if all grew in absolute value."""
    value, error = x.operand()
    result = multiply(value)
    size = np.abs(result)
    moved = None if error is None else multiply(np.abs(value) + error) - size
    own = np.expm1(count * np.log1p(x.arithmetic.unit_roundoff)) * plus(size, moved)
    least = multiply(np.minimum(np.abs(value), 1.0))
    if not of.least(least) >= x.arithmetic.smallest:  # also where one is NaN
        own = own + _lost_on_the_way(least, size, count, x.arithmetic)
    most = None if error is None else of.largest(error)
    terms = max(x.terms, int(np.max(count, initial=0)) + 1)
    return rounded(result, plus(own, moved), x.arithmetic, terms, partial(is_bounded, most))


def _lost_on_the_way(least: Array, size: Array, count: Any, arithmetic: Arithmetic) -> Array:
    """Return the error of products whose intermediate products are denormal; `least` are the smallest of these.

    Each is rounded by at most half of the smallest denormal number, and by at most its own magnitude.
    """
    half = arithmetic.smallest * arithmetic.unit_roundoff
    share = np.where(least < arithmetic.smallest, half / np.maximum(least, half), 0.0)
    growth = np.maximum(count - 1, 0) * np.log1p(share)  # the last rounding is that of the result
    moved: Array = np.expm1(np.minimum(growth, _MOST_GROWTH)) * size
    return moved


def _places(x: Ball, axis: int) -> Array:
    return np.arange(x.shape[axis]).reshape([-1 if other == axis % x.ndim else 1 for other in range(x.ndim)])


def _extreme(ufunc: np.ufunc, x: Ball, axis: Any = None, *, keepdims: bool = False, **options: Any) -> Ball:
    """Return the largest or smallest elements, with the extremes of the lower and of the upper ends in their balls."""
    along = partial(ufunc.reduce, axis=axis, keepdims=keepdims, **options)
    value, error = x.operand()
    best = along(value)
    if error is None:
        return Ball.result(best, None, x.arithmetic, x.terms)
    moved = np.maximum(np.abs(along(value - error) - best), np.abs(along(value + error) - best))
    return rounded(best, moved, x.arithmetic, x.terms, partial(is_bounded, None))


_MOST_GROWTH = 700.0  # whose exponential is finite

RULES: dict[tuple[np.ufunc, str], Callable[..., Any]] = {
    (np.add, "reduce"): total,
    (np.multiply, "reduce"): product_of_all,
    (np.add, "accumulate"): _sums_on_the_way,
    (np.multiply, "accumulate"): _products_on_the_way,
    **{(ufunc, "reduce"): partial(_extreme, ufunc) for ufunc in (np.maximum, np.minimum, np.fmax, np.fmin)},
}
