"""Functions in formulas that an implementation may compute in several ways."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.data_types import infinite, limits
from dmlcheck.reference.ball.errors import largest
from dmlcheck.reference.ball.numbers import Ball, hull, radius, raw, unmoved, with_roundings_of
from dmlcheck.reference.functions.overflowing import NONE, norm, terms_depend_on_order
from dmlcheck.reference.functions.sums import progression
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives, or_nan
from dmlcheck.values.number_formats import ulp


def of_values(condition: Callable[..., Any], *numbers: Any) -> Any:
    """Return a condition of only the values, without the doubt that their radii would cause."""
    return condition(*map(raw, numbers))


def sequence(i: Any, start: float, delta: float, output_type: str) -> Any:
    """Return start + i * delta, with a radius that also contains the running sum.

    In an implementation that multiplies, as DirectML does in FLOAT32, i * delta may be infinite where the sum is not,
    and 0 * delta is NaN for an infinite delta.
    """
    value, steps = progression(i, start, delta), infinite(output_type, raw(i) * delta)
    if not np.isfinite(delta):
        return alternatives(value, np.where(raw(i) == 0, start, value))
    if not np.isinf(steps).any():
        return value
    ways = np.where(np.isinf(steps), start + steps, value), value
    return alternatives(*(ways if output_type == "FLOAT32" else ways[::-1]))


def powers(x: Any, y: Any) -> Any:
    """Return x^y, which may also be NaN where IEEE 754's pow is a number and exp(y * log(x)) is NaN."""
    return or_nan(np.power(x, y), of_values(_has_two_powers, x, y))


def _has_two_powers(x: Any, y: Any) -> Any:
    of_infinity = (x == -np.inf) & (np.floor(y) < y) | (y == 0) & ~np.isfinite(x)
    return of_infinity | np.isinf(y) & (x < 0) | (x == 1) & ~np.isfinite(y)


def as_measured_powers(found: Any, where: Any, of_0: Any, output_type: str) -> PartlyUndefined:
    """Return powers that the documentation leaves undefined in places, as measured, except powers of 0 in FLOAT16."""
    return PartlyUndefined(AsMeasured(found, where), where & of_0 & (output_type == "FLOAT16"))


def remainders_beyond(found: AsMeasured, a: Any, is_beyond: Any, output_type: str) -> Any:
    """Return remainders of a, where the quotient is beyond the type: in FLOAT32 infinite, else undefined."""
    if output_type != "FLOAT32":
        return PartlyUndefined(found, is_beyond)
    return AsMeasured(np.where(is_beyond, np.copysign(np.inf, -raw(a)), found.value), found.where | is_beyond)


def sums_or_infinity(total: Any, output_type: str) -> tuple[Any, Any]:
    """Return sums, and the same where those beyond the type are infinite; first the ones that DirectML computes with.

    It adds FLOAT16 numbers in FLOAT32, and the others in their own type.
    """
    overflowed = infinite(output_type, total)
    return (total, overflowed) if output_type == "FLOAT16" else (overflowed, total)


def moving_mean(mean: Any, x: Any, weight: Any) -> Any:
    """Return weight * mean + (1 - weight) * x, which others compute as mean + (1 - weight) * (x - mean)."""
    return hull(lambda: weight * mean + (1 - weight) * x, lambda: mean + (1 - weight) * (x - mean))


def blended(share: Any, new: Any, old: Any, data_type: str) -> PartlyUndefined:
    """Return (1 - share) . new + share . old, which others compute as new + share . (old - new).

    It is undefined where a number on the way overflows the data type, and the result depends on that.
    """

    def added(share: Any, new: Any, old: Any) -> Any:
        return new + share * (old - new)

    result = (1 - share) * new + share * old
    found = with_roundings_of(added, result, share, new, old)
    most = 2 * (1 + norm(share)) * max(norm(new), norm(old))
    if most <= limits(data_type)[1]:
        return PartlyUndefined(found, NONE)
    mark = terms_depend_on_order(data_type, result, (1 - share) * new, share * old)
    moved = raw(share) * infinite(data_type, raw(old - new))
    mark = mark | terms_depend_on_order(data_type, result, new, moved)
    return PartlyUndefined(found, mark | (np.isnan(raw(new) + moved) != np.isnan(raw(result))))


def summed_in_type(data_type: str, *terms: Any) -> PartlyUndefined:
    """Return a sum of a few terms; undefined where it overflows the data type in only one order, or to both sides."""
    total = reduce(np.add, terms)
    return PartlyUndefined(total, terms_depend_on_order(data_type, total, *terms))


def growing(function: Callable[[Any], Any], x: Any) -> Any:
    """Return a function that does not decrease; between the ends of wide balls, with the larger roundings of both.

    The formula of a function may be infinite there, where the function is not.
    """
    if not isinstance(x, Ball) or x.is_exact or not largest(x.radius) > _WIDE:
        return function(x)
    value, ends = function(raw(x)), [function(unmoved(x.around(end))) for end in (raw(x) - x.radius, raw(x) + x.radius)]
    moved, own = (np.maximum(*each) for each in ([np.abs(raw(end) - value) for end in ends], map(radius, ends)))
    error = np.where(np.isfinite(x.radius) | (moved == 0), moved + own, np.inf)
    return Ball.result(value, np.where(np.isnan(error), np.inf, error), x.arithmetic, x.terms)


_WIDE = 0.125  # a radius above which the formula carries more than the function moves


KNOWN_ERRORS = frozenset({"sigmoid"})  # functions of which an implementation may be known to be less accurate


def with_known_error(x: Any, function: str) -> Any:
    """Return results of a function whose error in this arithmetic is at least a known one, regardless of their size."""
    most = dict(x.arithmetic.errors).get(function, 0.0) if isinstance(x, Ball) else 0.0
    return Ball(x.value, np.fmax(x.radius, most), x.arithmetic, x.terms) if most else x


def with_published_error(x: Any, ulp_count: float) -> Any:
    """Return results whose error is at least a published one in ULP; 1 ULP of it is for the rounding of the result."""
    if not isinstance(x, Ball) or x.arithmetic.data_type != "FLOAT32":
        return x
    least = (ulp_count - 1) * ulp(np.abs(raw(x)), "FLOAT32")
    return Ball(x.value, np.fmax(x.radius, least), x.arithmetic, x.terms)
