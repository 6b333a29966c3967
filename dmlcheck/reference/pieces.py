"""What kernels are made of: their rows in the tables, the pieces of a result, and marks of what is left open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, wraps
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, raw
from dmlcheck.reference.tiling.blocks import blockwise
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES


class Open(NamedTuple):
    """Results of which the documentation leaves some open: those where `where` is true."""

    value: Any
    where: Any


UNDEFINED = Open(np.zeros(()), where=True)  # results of which the documentation says nothing


def opened(result: Any) -> tuple[Any, Any]:
    """Return a formula's result and what of it is left open."""
    if isinstance(result, Open):
        value, more = opened(result.value)
        return value, _or(result.where, more)
    if isinstance(result, Alternatives):
        values, marks = zip(*map(opened, result.ways), strict=True)
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


class InDoubt(NamedTuple):
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
    return Ball(flushed, x.error, x.arithmetic, x.terms) if isinstance(x, Ball) else flushed


# ---- what formulas ask of data types


def cast(number: Any, elements: Any) -> Any:
    """Return a FLOAT in the type of elements: the nearest one, of integers the next toward 0, or 0 if none is there."""
    value, dtype = float(raw(number)), elements.dtype
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        value = int(value) if np.isfinite(value) and limits.min <= int(value) <= limits.max else 0
    return dtype.type(value)


def is_float(elements: Any) -> bool:
    """Return whether elements are floating-point numbers."""
    return bool(elements.dtype.kind == "f")


def width(elements: Any) -> int:
    """Return how many bits an element has."""
    return 8 * int(elements.dtype.itemsize)


def as_bits(elements: Any) -> Any:
    """Return the bits of elements of any type as unsigned integers of as many bits."""
    return elements.view(f"u{elements.dtype.itemsize}")


def number(value: float, arithmetic: Arithmetic | None) -> Any:
    """Return a FLOAT, which an implementation that computes in FLOAT16 may have rounded to it, but not to infinity."""
    if arithmetic is None or not np.isfinite(value):
        return value
    rounded = float(np.clip(value, *limits(arithmetic.attributes)).astype(NUMPY_TYPES[arithmetic.attributes]))
    return value if rounded == value else Ball(value, abs(rounded - value), arithmetic)


def numbers_for(values: Any, x: Any) -> Any:
    """Return an array of FLOATs to compute with x; an implementation may have rounded them as other FLOATs."""
    value = raw(values)
    if not isinstance(x, Ball):
        return value
    of = x.arithmetic.attributes
    error = np.where(np.isfinite(value), np.abs(np.clip(value, *limits(of)).astype(NUMPY_TYPES[of]) - value), 0.0)
    return Ball(value, error, x.arithmetic) if error.any() else value


def limits(data_type: str) -> tuple[float, float]:
    """Return the least and the largest number of a data type."""
    if data_type in FORMATS:
        return -FORMATS[data_type].largest, FORMATS[data_type].largest
    kind, bits = DATA_TYPES[data_type]
    return (0, 2**bits - 1) if kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def overflows(data_type: str, x: Any) -> Any:
    """Say which numbers are out of the range of a data type, floats once they are rounded to it."""
    numbers, (least, most) = raw(x), limits(data_type)
    if data_type in FORMATS:
        return np.isinf(numbers.astype(NUMPY_TYPES[data_type])) & np.isfinite(numbers)
    return (numbers < least) | (numbers > most)


def holds(data_type: str, x: Any) -> Any:
    """Say which numbers an integer type has."""
    least, most = limits(data_type)
    return (np.rint(x) == x) & (x >= least) & (x <= most)


def truncated(data_type: str, x: Any) -> Any:
    """Return floats as numbers of a type: integers without the fraction, and open where the type lacks them."""
    if data_type in FORMATS:
        return x
    (least, most), whole = limits(data_type), np.trunc(raw(x))
    fits = (whole >= least) & (whole < most + 1)  # unlike the largest 64-bit integers, what follows them is a float64
    return Open(np.where(fits, whole, 0), ~fits)


def narrowed(data_type: str, x: Any) -> Any:
    """Return integers as results of a type: in 32 and 64 bits they wrap, in fewer those that do not fit are open."""
    if data_type in FORMATS or DATA_TYPES[data_type].bits >= 32:
        return x
    return Open(x, overflows(data_type, x))


def sum_of_terms(terms: Sequence[Any], data_type: str) -> Any:
    """Return the sum of several tensors, of integers as results of a type; balls may be added in any order."""
    if isinstance(terms[0], Ball):
        return np.stack(terms).sum(axis=0)
    return narrowed(data_type, reduce(np.add, terms))


def wrapped(data_type: str, x: Any) -> Any:
    """Return whole numbers as 32-bit integers have them after an overflow; smaller types are computed in 32 bits.

    It is the same array where nothing overflows.
    """
    least, most = limits(data_type)
    if DATA_TYPES[data_type].bits < 32 or not overflows(data_type, x).any():
        return x
    return (x - least) % (most - least + 1) + least


def infinite(data_type: str, x: Any) -> Any:
    """Return floats, infinite where a float type overflows; the same array where nothing does."""
    beyond = overflows(data_type, x)
    return np.where(beyond, np.copysign(np.inf, raw(x)), x) if beyond.any() else x


def alternatives(first: Any, *others: Any, of: Callable[[Any], Any] = lambda x: x) -> Any:
    """Return results that may be any of several, or what a formula gives for any of several operands."""
    ways = [first, *(x for x in others if x is not first and not np.array_equal(raw(x), raw(first), equal_nan=True))]
    return Alternatives(tuple(map(of, ways))) if len(ways) > 1 else of(first)


def any_of(*results: Any) -> Any:
    """Return results that are right as any reading of the documentation has them, the reference's first.

    Left open is what one of the readings leaves open.
    """
    values, marks = zip(*map(opened, results), strict=True)
    found = blockwise(alternatives, *(way for value in values for way in ways_of(value)))
    mark = reduce(_or, marks)
    return found if mark is False else Open(found, mark)


def left_open(sizes: Sequence[int]) -> Open:
    """Return results that are left open, all of them."""
    return Open(np.zeros(sizes), np.ones(sizes, bool))


def stacked(parts: Sequence[Any]) -> Any:
    """Return results of several parts as one; those of a part that may be fewer are repeated."""
    values, marks = zip(*map(opened, parts), strict=True)
    ways = [ways_of(value) for value in values]
    found = [np.stack([own[min(at, len(own) - 1)] for own in ways]) for at in range(max(map(len, ways)))]
    whole = np.stack([np.broadcast_to(mark, own[0].shape) for mark, own in zip(marks, ways, strict=True)])
    return Open(alternatives(*found), whole)


def or_nan(x: Any, where: Any) -> Any:
    """Return results that may be NaN as well in some places."""
    return alternatives(x, np.where(where, np.nan, x)) if where.any() else x


def nearest(x: Any) -> Any:
    """Return the nearest whole numbers, of halves the even one.

    Of a ball it is the middle of those that it may be rounded to, so that the bound has these and no others.
    """
    if not isinstance(x, Ball):
        return np.rint(x)
    low, high = np.rint(raw(x) - x.radius), np.rint(raw(x) + x.radius)
    reach = (high - low) / 2
    is_bounded = np.isfinite(reach)
    value, error = np.where(is_bounded, low + reach, np.rint(raw(x))), np.where(is_bounded, reach, x.radius)
    return Ball(value, error, x.arithmetic, x.terms)


def as_float(x: Any, other: Any) -> Any:
    """Return x as floats, to compute with others: an implementation may round whole numbers to the type of these.

    Where a tensor is FLOAT16, an implementation may compute in FLOAT16 what follows.
    """
    value = np.asarray(x.value if isinstance(x, Ball) else x).astype(np.float64, copy=False)
    if not isinstance(other, Ball):
        return value
    arithmetic = other.arithmetic
    if arithmetic.attributes == "FLOAT16":
        of = FORMATS["FLOAT16"]
        arithmetic = arithmetic._replace(
            data_type="FLOAT16", unit_roundoff=of.unit_roundoff, smallest=2.0**of.least_exponent
        )
    if isinstance(x, Ball):
        return Ball(value, x.radius, arithmetic, x.terms)
    rounding = np.abs(value) * arithmetic.unit_roundoff
    return Ball(value, np.where(rounding > 1, rounding, 0.0), arithmetic)
