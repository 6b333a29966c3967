"""Results of formulas: those with undefined elements, with alternatives, or with errors that matter in rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, wraps
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Ball, raw
from dmlcheck.reference.tiling.blocks import blockwise


class PartlyUndefined(NamedTuple):
    """Results of which some are undefined: those where `where` is true."""

    value: Any
    where: Any


UNDEFINED = PartlyUndefined(np.zeros(()), where=True)  # results of which the documentation says nothing


def all_undefined(sizes: Sequence[int]) -> PartlyUndefined:
    """Return results that are all undefined."""
    return PartlyUndefined(np.zeros(sizes), np.ones(sizes, bool))


def separated(result: Any) -> tuple[Any, Any]:
    """Return a formula's result and which of its elements are undefined."""
    if isinstance(result, PartlyUndefined):
        value, more = separated(result.value)
        return value, _or(result.where, more)
    if isinstance(result, Alternatives):
        values, marks = zip(*map(separated, result.ways), strict=True)
        return Alternatives(tuple(way for value in values for way in ways_of(value))), reduce(_or, marks)
    return result, False


def _or(mark: Any, other: Any) -> Any:
    return mark if other is False else other if mark is False else np.logical_or(mark, other)


class Alternatives(NamedTuple):
    """Results that may be computed in several ways, because the documentation does not say in which type.

    The first way is the reference's; an implementation's result must be within the bound of one of them.
    """

    ways: tuple[Any, ...]


def ways_of(result: Any) -> tuple[Any, ...]:
    """Return the ways in which results may be computed: one, where they are not Alternatives several."""
    return result.ways if isinstance(result, Alternatives) else (result,)


def alternatives(first: Any, *others: Any, of: Callable[[Any], Any] = lambda x: x) -> Any:
    """Return results that may be any of several, or what a formula gives for any of several operands."""
    ways = [first, *(x for x in others if x is not first and not np.array_equal(raw(x), raw(first), equal_nan=True))]
    return Alternatives(tuple(map(of, ways))) if len(ways) > 1 else of(first)


def any_of(*results: Any) -> Any:
    """Return results that are right as any reading of the documentation has them, the reference's first.

    A result is undefined where it is so in one of the readings.
    """
    values, marks = zip(*map(separated, results), strict=True)
    found = blockwise(alternatives, *(way for value in values for way in ways_of(value)))
    mark = reduce(_or, marks)
    return found if mark is False else PartlyUndefined(found, mark)


def or_nan(x: Any, where: Any) -> Any:
    """Return results that may be NaN as well in some places."""
    return alternatives(x, np.where(where, np.nan, x)) if where.any() else x


def stacked(parts: Sequence[Any]) -> Any:
    """Return results of several parts as one; those of a part that may be fewer are repeated."""
    values, marks = zip(*map(separated, parts), strict=True)
    ways = [ways_of(value) for value in values]
    found = [np.stack([own[min(at, len(own) - 1)] for own in ways]) for at in range(max(map(len, ways)))]
    whole = np.stack([np.broadcast_to(mark, own[0].shape) for mark, own in zip(marks, ways, strict=True)])
    return PartlyUndefined(alternatives(*found), whole)


class Approximate(NamedTuple):
    """Float64 results that are within `error` of the mathematical ones, and what computes these where that matters.

    `exact` takes positions in the flattened results, and returns the results there as float64 rounded to odd, which
    round to any shorter format as the mathematical results do.
    """

    value: Any
    error: Any
    exact: Callable[[Any], Any]


def flushing(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a formula of elements that jumps at 0, of which also the results of operands that were flushed are right.

    Direct3D flushes FLOAT32 denormals; it keeps those of FLOAT16.
    """

    @wraps(formula)
    def of_either(*operands: Any, **options: Any) -> Any:
        found = formula(*operands, **options)
        if not any(map(_has_denormals, operands)):
            return found
        return Alternatives((found, formula(*map(_flushed, operands), **options)))

    return of_either


def _has_denormals(x: Any) -> bool:
    return bool(_is_denormal(x).any()) if getattr(x, "dtype", None) == np.float32 else False


def _is_denormal(x: Any) -> Any:
    size = np.abs(x.value if isinstance(x, Ball) else x)
    return (size > 0) & (size < _LEAST_NORMAL)


_LEAST_NORMAL = np.float32(2.0**-126)


def _flushed(x: Any) -> Any:
    if getattr(x, "dtype", None) != np.float32:
        return x
    value = x.value if isinstance(x, Ball) else x
    flushed = np.where(_is_denormal(x), np.copysign(np.float32(0), value), value)
    return x.around(flushed) if isinstance(x, Ball) else flushed
