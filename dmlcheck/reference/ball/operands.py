"""The operands of an operation on balls as arrays, the balls of its results, and the hulls of several results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import numpy as np

from dmlcheck.reference.ball import errors as of
from dmlcheck.reference.ball.ball import FLOAT32, Ball, Condition, as_condition
from dmlcheck.reference.ball.errors import Arithmetic, Array
from dmlcheck.specs.records import NAMED
from dmlcheck.values.number_formats import FORMATS


def raw(x: Any) -> Array:
    """Return the values of balls or anything else as an array; floats as float64."""
    if isinstance(x, Ball) and x.value.dtype.kind == "f":
        return x.operand()[0]
    value = np.asarray(x.value if isinstance(x, (Ball, Condition)) else x)
    return value.astype(np.float64, copy=False) if value.dtype.kind == "f" else value


def radius(x: Any) -> Array:
    """Return the radii of balls; zeros for anything else."""
    if isinstance(x, Condition):
        return x.number().radius
    return x.radius if isinstance(x, Ball) else np.zeros(np.shape(x))


def of_array(x: Array, arithmetic: Arithmetic) -> Ball:
    """Return the elements of an array as exact balls; with `has_overflows`, infinity and NaN as any number."""
    if not arithmetic.has_overflows or (is_finite := np.isfinite(x)).all():
        return Ball(x, 0.0, arithmetic)
    return Ball(np.where(is_finite, x, x.dtype.type(0)), np.where(is_finite, 0.0, np.inf), arithmetic)


def unmoved(x: Ball) -> Ball:
    """Return balls with the least radius above 0: results of operations on them count as rounded, not as exact."""
    return Ball.result(raw(x), np.full(x.shape, LEAST), x.arithmetic, x.terms)


LEAST = 5e-324  # the radius of a number that is not exact, but has no error to carry


def kept_in_half(x: Any) -> Any:
    """Return numbers that DirectML keeps in FLOAT16, with the error of that; as they are for other implementations."""
    if not isinstance(x, Ball) or x.arithmetic.stored != NAMED:
        return x
    value, half = raw(x), FORMATS["FLOAT16"]
    size = np.abs(value) + x.radius
    error = np.where(size < 2.0**half.least_exponent, size, 2 * half.unit_roundoff * size)  # denormals may be flushed
    error = np.where(size > half.largest, np.inf, error)
    return Ball.result(value, x.radius + error, x.arithmetic, x.terms)


def operands(inputs: Iterable[Any]) -> tuple[Arithmetic, int, list[Array], list[Array | None]]:
    """Return the operands' coarsest arithmetic, their largest `terms`, their values, and their radii or None."""
    inputs = [x.number() if isinstance(x, Condition) else x for x in inputs]
    balls = [x for x in inputs if isinstance(x, Ball)]
    arithmetic, terms = balls[0].arithmetic, balls[0].terms
    for x in balls[1:]:
        terms = max(terms, x.terms)
        if x.arithmetic.unit_roundoff > arithmetic.unit_roundoff:
            arithmetic = x.arithmetic
    pairs = [x.operand() if isinstance(x, Ball) else of.of_a_constant(x, arithmetic) for x in inputs]
    return arithmetic, terms, [value for value, _ in pairs], [error for _, error in pairs]


def rounded(
    value: Any, error: Any, arithmetic: Arithmetic, terms: int, is_certain: Callable[[Array], Any], size: Any = None
) -> Ball:
    """Return the ball of a result; it contains 0 if the result may be flushed.

    The radius of infinity or NaN is 0 where `is_certain`: all numbers of the operands' balls have this result.
    Elsewhere it is infinite.
    """
    if error is not None:
        error = np.asarray(error if np.shape(error) == np.shape(value) else error + np.zeros(np.shape(value)))
        error = of.flushed(np.abs(value) if size is None else size, error, arithmetic)
        if not of.largest(error) < np.inf:
            is_finite = np.isfinite(value)
            error = np.where(is_finite, np.where(np.isnan(error), np.inf, error), 0.0)
            if not is_finite.all():
                error = np.where(is_finite | is_certain(np.asarray(value)), error, np.inf)
    return Ball.result(value, of.unbounded(np.abs(value), error, arithmetic), arithmetic, terms)


# ---- hulls


def where(condition: Any, x: Any, y: Any) -> Any:
    """Return elements of x or y; where the condition is in doubt, the hull of both."""
    chosen = as_condition(condition)
    in_doubt = chosen.doubt.any()
    balls = [part for part in (x, y) if isinstance(part, Ball)]
    if not balls and not in_doubt:
        return np.where(chosen.value, x, y)
    a, b = raw(x), raw(y)
    is_y = not chosen.value.any() and b.shape == np.broadcast_shapes(chosen.value.shape, a.shape, b.shape)
    value = b if is_y else np.where(chosen.value, a, b)
    error: Any = None
    if in_doubt or not all(part.is_exact for part in balls):
        error = radius(y) if is_y else np.where(chosen.value, radius(x), radius(y))
    if in_doubt:
        midpoint, reach = enclosing(np.minimum(a - radius(x), b - radius(y)), np.maximum(a + radius(x), b + radius(y)))
        is_bounded = np.isfinite(reach)
        is_same = (value == np.where(chosen.value, b, a)) | (np.isnan(a) & np.isnan(b))
        value = np.where(chosen.doubt & is_bounded, midpoint, value)
        error = np.where(chosen.doubt, np.where(is_bounded, reach, np.where(is_same, error, np.inf)), error)
    arithmetic = balls[0].arithmetic if balls else FLOAT32
    return Ball(value, error, arithmetic, max((part.terms for part in balls), default=0))


def enclosing(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the midpoint and the radius of the smallest ball that contains two numbers."""
    reach = (high - low) / 2
    return low + reach, reach


def hull(*ways: Callable[[], Any], is_first_likely: bool = False) -> Any:
    """Return the hull of the results of several ways to compute something; of plain arrays, the first way's result.

    If `is_first_likely`, the likely radius is that of only the first way.
    """
    first = ways[0]()
    if not isinstance(first, Ball) or (is_first_likely and first.arithmetic.is_likely):
        return first
    return reduce(_both, (way() for way in ways[1:]), first)


def with_roundings_of(way: Callable[..., Any], result: Any, *operands: Any) -> Any:
    """Return a result whose radius also has the roundings of another way to compute it; plain arrays as they are.

    These are the roundings for exact operands: the result has the radii of the operands already.
    """
    if not isinstance(result, Ball):
        return result
    other = way(*(Ball(raw(x), None, result.arithmetic) for x in operands))
    return Ball(result.value, result.radius + other.radius, result.arithmetic, result.terms)


def _both(x: Ball, y: Any) -> Ball:
    """Return the hull of two balls; x, with the larger radius, where the hull is infinite."""
    other, own = raw(y), radius(y)
    midpoint, reach = enclosing(np.fmin(raw(x) - x.radius, other - own), np.fmax(raw(x) + x.radius, other + own))
    is_bounded = np.isfinite(reach)
    value, error = np.where(is_bounded, midpoint, raw(x)), np.where(is_bounded, reach, np.fmax(x.radius, own))
    return Ball(value, error, x.arithmetic, max(x.terms, getattr(y, "terms", 0)))
