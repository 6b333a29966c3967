"""Functions of numbers that formulas call where an implementation may compute the same in other ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import Ball, hull, raw
from dmlcheck.reference.data_types import infinite
from dmlcheck.reference.results import alternatives
from dmlcheck.reference.sums import progression
from dmlcheck.values.number_formats import ulp


def of_values(condition: Callable[..., Any], *numbers: Any) -> Any:
    """Return a condition of the values of numbers, whatever their radii leave in doubt."""
    return condition(*map(raw, numbers))


def sequence(i: Any, start: float, delta: float, output_type: str) -> Any:
    """Return start + i * delta, within a bound that has also the running sum.

    Others multiply: their steps may be infinite if the sum is not, and no step of infinity or NaN is NaN.
    """
    value, steps = progression(i, start, delta), infinite(output_type, raw(i) * delta)
    if not np.isfinite(delta):
        return alternatives(value, np.where(raw(i) == 0, start, value))
    return alternatives(value, np.where(np.isinf(steps), start + steps, value)) if np.isinf(steps).any() else value


def moving_mean(mean: Any, x: Any, weight: Any) -> Any:
    """Return weight * mean + (1 - weight) * x, which others compute as mean + (1 - weight) * (x - mean)."""
    return hull(lambda: weight * mean + (1 - weight) * x, lambda: mean + (1 - weight) * (x - mean))


def blended(share: Any, new: Any, old: Any) -> Any:
    """Return (1 - share) . new + share . old; the bound has the roundings of new + share . (old - new), too."""
    value = (1 - share) * new + share * old
    if not isinstance(value, Ball):
        return value
    share, new, old = (Ball(raw(x), None, value.arithmetic) for x in (share, new, old))
    return Ball(value.value, value.radius + (new + share * (old - new)).radius, value.arithmetic, value.terms)


def with_published(x: Any, units: float) -> Any:
    """Return results with a bound that is no less than so many ULP, which a spec has, 1 of them the result's."""
    if not isinstance(x, Ball) or x.arithmetic.data_type != "FLOAT32":
        return x
    least = (units - 1) * ulp(np.abs(raw(x)), "FLOAT32")
    return Ball(x.value, np.fmax(x.radius, least), x.arithmetic, x.terms)
