"""Results of formulas: with undefined elements, with alternatives, or approximations with exact values on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, wraps
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import blockwise
from dmlcheck.reference.ball.numbers import Ball, raw


class PartlyUndefined(NamedTuple):
    """Results that are undefined where the mask `where` is true."""

    value: Any
    where: Any


class AsMeasured(NamedTuple):
    """Results that the documentation leaves undefined where the mask `where` is true, and that DirectML gives so.

    DirectML is judged by them; for other implementations they are undefined.
    """

    value: Any
    where: Any


UNDEFINED = PartlyUndefined(np.zeros(()), where=True)


def all_undefined(sizes: Sequence[int]) -> PartlyUndefined:
    """Return undefined results of these sizes."""
    return PartlyUndefined(np.zeros(sizes), np.ones(sizes, bool))


def separated(result: Any) -> tuple[Any, Any]:
    """Return the values of a formula's result, and the mask of its undefined elements, measured or not."""
    value, is_undefined, is_measured = with_measured(result)
    return value, union(is_undefined, is_measured)


def with_measured(result: Any) -> tuple[Any, Any, Any]:
    """Return the values of a formula's result, the mask of elements that nothing gives, and of those measured."""
    if isinstance(result, PartlyUndefined):
        value, is_undefined, is_measured = with_measured(result.value)
        return value, union(result.where, is_undefined), is_measured
    if isinstance(result, AsMeasured):
        value, is_undefined, is_measured = with_measured(result.value)
        return value, is_undefined, union(result.where, is_measured)
    if isinstance(result, Alternatives):
        values, *marks = zip(*map(with_measured, result.ways), strict=True)
        ways = Alternatives(tuple(way for value in values for way in ways_of(value)))
        return ways, *(reduce(union, mark) for mark in marks)
    return result, False, False


def unmeasured(result: Any) -> Any:
    """Return results whose measured elements are undefined: an operator in a step of a network may give other ones."""
    value, is_undefined, is_measured = with_measured(result)
    return result if is_measured is False else PartlyUndefined(value, union(is_undefined, is_measured))


def union(mark: Any, other: Any) -> Any:
    """Return the union of two masks, each False if it has no element."""
    return mark if other is False else other if mark is False else np.logical_or(mark, other)


class Alternatives(NamedTuple):
    """Several right results, because the documentation has several readings, or names no type to compute in.

    The first is the reference's; an implementation's result must be within the tolerance of one of them.
    """

    ways: tuple[Any, ...]


def ways_of(result: Any) -> tuple[Any, ...]:
    """Return all alternatives of a result: one, unless it is of Alternatives."""
    return result.ways if isinstance(result, Alternatives) else (result,)


def alternatives(first: Any, *others: Any, of: Callable[[Any], Any] = lambda x: x) -> Any:
    """Return alternatives without repeats; with a formula `of`, its results for each of several operands."""
    ways = [first, *(x for x in others if x is not first and not np.array_equal(raw(x), raw(first), equal_nan=True))]
    return Alternatives(tuple(map(of, ways))) if len(ways) > 1 else of(first)


def any_of(*results: Any) -> Any:
    """Return the results of several readings of the documentation as alternatives, the reference's first.

    An element is undefined, or measured, if it is so in one of the readings.
    """
    values, *masks = zip(*map(with_measured, results), strict=True)
    found = blockwise(alternatives, *(way for value in values for way in ways_of(value)))
    mark, measured = (reduce(union, each) for each in masks)
    found = found if measured is False else AsMeasured(found, measured)
    return found if mark is False else PartlyUndefined(found, mark)


def without_alternatives(result: PartlyUndefined) -> PartlyUndefined:
    """Return results that are undefined where they have alternatives."""
    first, *others = ways_of(result.value)
    marks = ((raw(other) != raw(first)) & ~(np.isnan(raw(other)) & np.isnan(raw(first))) for other in others)
    return PartlyUndefined(first, reduce(union, marks, result.where))


def or_nan(x: Any, where: Any) -> Any:
    """Return results that are NaN where a mask is true, as DirectML gives them, and may also be numbers there."""
    return alternatives(np.where(where, np.nan, x), x) if where.any() else x


def stacked(parts: Sequence[Any]) -> Any:
    """Return the results of several parts as one stack; the last alternative of a part with fewer is repeated."""
    values, *masks = zip(*map(with_measured, parts), strict=True)
    ways = [ways_of(value) for value in values]
    found = [np.stack([own[min(at, len(own) - 1)] for own in ways]) for at in range(max(map(len, ways)))]
    whole, measured = (
        np.stack([np.broadcast_to(mark, own[0].shape) for mark, own in zip(marks, ways, strict=True)])
        for marks in masks
    )
    return PartlyUndefined(AsMeasured(alternatives(*found), measured), whole)


class Approximate(NamedTuple):
    """Float64 results that are within `error` of the exact ones, and a function for the exact ones.

    `exact` takes positions in the flattened results and returns the exact results there as float64, rounded to odd: a
    second rounding, to a shorter format, then gives the correctly rounded result.
    """

    value: Any
    error: Any
    exact: Callable[[Any], Any]


def flushing(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a formula that jumps at 0 as one whose results for flushed operands are alternatives.

    Direct3D flushes FLOAT32 denormals to 0; it keeps FLOAT16 denormals.
    """

    @wraps(formula)
    def of_both(*operands: Any, **options: Any) -> Any:
        found = formula(*operands, **options)
        if not any(_is_denormal(x).any() for x in operands if getattr(x, "dtype", None) == np.float32):
            return found
        return Alternatives((found, formula(*map(_flushed, operands), **options)))

    return of_both


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
