"""Operators inside others, such as FusedActivation, as functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import blockwise
from dmlcheck.reference.ball.numbers import Ball, Condition, raw, with_twin
from dmlcheck.reference.functions.overflowing import infinite_beyond, is_beyond, may_overflow
from dmlcheck.reference.results import any_of, separated, unmeasured, ways_of
from dmlcheck.values.number_formats import NUMPY_TYPES, ulp


class Nested(NamedTuple):
    """A nested operator: its formula, and the data type of its operand.

    `axes` are the axes that it reduces, which may not be cut; none for an element-wise operator. An implementation may
    round the operand to the data type first. The radius covers both; where the rounding overflows, the results for the
    number and for infinity are alternatives. `is_last` says that its results become an output of the data type.
    """

    formula: Callable[..., Any]
    data_type: str
    axes: tuple[int, ...] = ()
    is_last: bool = True

    def __call__(self, x: Any) -> Any:
        """Return the operator's results for x, which has all elements along `axes`."""
        return x if self.formula is unchanged else blockwise(self._of_numbers, x)

    def _of_numbers(self, x: Any) -> Any:
        found = unmeasured(self.formula(stored(x, self.data_type)))
        beyond = is_beyond(self.data_type, x)
        if not beyond.any():
            return found
        infinite = np.where(beyond, np.copysign(np.inf, raw(x)), stored(x, self.data_type))
        return any_of(found, unmeasured(self.formula(infinite)))


def unchanged(x: Any) -> Any:
    """Return x, as without a nested operator."""
    return x


NONE = Nested(unchanged, "FLOAT64")


def stored(x: Any, data_type: str) -> Any:
    """Return numbers that an implementation may have rounded to a data type."""
    return blockwise(_stored, x, data_type=data_type)


def _stored(x: Any, data_type: str) -> Any:
    if not isinstance(x, Ball):
        return x
    value, dtype = raw(x), NUMPY_TYPES[data_type]
    exact = np.abs(value - value.astype(dtype))
    rounding = np.where(x.radius > 0, ulp(np.abs(value) + x.radius, data_type) / 2, exact)
    radius = x.radius + np.where(np.isfinite(rounding), rounding, 0.0)
    return with_twin(Ball(value, radius, x.arithmetic, x.terms), (x,), partial(_stored, data_type=data_type))


# ---- activations within a step of a recurrent network


def activation(nested: Nested, limit: Any = None, *, is_last: bool = False) -> Callable[[Any], tuple[Any, Any]]:
    """Return an activation as a function of numbers, clipped to a limit, to its results and a mask of undefined ones.

    Unless it `is_last`, its results are not rounded to the data type.
    """
    return partial(_activated, nested._replace(is_last=is_last), limit=limit)


def _activated(nested: Nested, x: Any, limit: Any = None) -> tuple[Any, Any]:
    """Return the results of an activation, and a mask of the undefined ones.

    Undefined are results for numbers that are undefined and for NaN that is clipped, all for a limit that is NaN or
    negative, and those that differ if a number is rounded to infinity first. Unless the activation `is_last`, so are
    results that overflow.
    """
    x, is_lost = separated(x)
    if limit is not None:
        value, mark = _activated(nested, np.clip(x, -limit, limit))
        return value, mark | np.isnan(raw(x)) | ~(raw(limit) >= 0) | is_lost
    found, mark = separated(nested(x))
    value, *others = ways_of(found)
    dtype = NUMPY_TYPES[nested.data_type if nested.is_last else "FLOAT64"]
    for other in others:
        mark = mark | _differ(raw(other).astype(dtype), raw(value).astype(dtype))
    if not nested.is_last:
        mark = mark | may_overflow(nested.data_type, value)
    return value, (mark.value if isinstance(mark, Condition) else mark) | is_lost


def of_either(function: Callable[[Any], tuple[Any, Any]], x: Any, data_type: str) -> tuple[Any, Any]:
    """Return results of numbers with a mask: undefined are those that are others for numbers beyond the data type.

    These may be infinite instead.
    """
    found, mark = function(x)
    if not is_beyond(data_type, x).any():
        return found, mark
    other, _ = function(infinite_beyond(x, data_type))
    return found, mark | _differ(raw(other), raw(found))


def _differ(x: Any, y: Any) -> Any:
    """Return a mask of the numbers that differ; NaN equals NaN."""
    return (x != y) & ~(np.isnan(x) & np.isnan(y))
