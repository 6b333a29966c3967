"""Operators inside others, such as FusedActivation, as functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Ball, Condition, raw, with_twin
from dmlcheck.reference.data_types import overflows
from dmlcheck.reference.results import any_of, separated, ways_of
from dmlcheck.reference.tiling.blocks import blockwise
from dmlcheck.values.number_formats import NUMPY_TYPES, ulp


class Nested(NamedTuple):
    """A nested operator: its formula, and the data type of the tensor that it is applied to.

    `axes` are those along which its groups must be whole, none for an element-wise operator. An implementation may
    round the numbers to the data type first: the bound allows both, and where that makes an infinity of a number, the
    results of both are right. `is_last` says that its results are an output's, which is of the data type.
    """

    formula: Callable[..., Any]
    data_type: str
    axes: tuple[int, ...] = ()
    is_last: bool = True

    def __call__(self, x: Any) -> Any:
        """Return the operator's results for elements, or parts of a tensor in which its groups are whole."""
        return x if self.formula is unchanged else blockwise(self._of_numbers, x)

    def _of_numbers(self, x: Any) -> Any:
        found = self.formula(stored(x, self.data_type))
        beyond = overflows(self.data_type, x)
        if not beyond.any():
            return found
        infinite = np.where(beyond, np.copysign(np.inf, raw(x)), stored(x, self.data_type))
        return any_of(found, self.formula(infinite))


def unchanged(x: Any) -> Any:
    """Return x: if there is no operator inside."""
    return x


NONE = Nested(unchanged, "FLOAT64")


def stored(x: Any, data_type: str) -> Any:
    """Return numbers that an implementation may have rounded to a data type."""
    if not isinstance(x, Ball):
        return x
    value, dtype = raw(x), NUMPY_TYPES[data_type]
    exact = np.abs(value - value.astype(dtype))
    rounding = np.where(x.radius > 0, ulp(np.abs(value) + x.radius, data_type) / 2, exact)
    radius = x.radius + np.where(np.isfinite(rounding), rounding, 0.0)
    return with_twin(Ball(value, radius, x.arithmetic, x.terms), (x,), partial(stored, data_type=data_type))


# ---- activations within a step of a recurrent network


def activation(nested: Nested, limit: Any = None, *, is_last: bool = False) -> Callable[[Any], tuple[Any, Any]]:
    """Return an activation of numbers, clipped where there is a limit: its results, and which of them are undefined.

    Unless it `is_last`, its results are not rounded to the data type.
    """
    return partial(_activated, nested._replace(is_last=is_last), limit=limit)


def _activated(nested: Nested, x: Any, limit: Any = None) -> tuple[Any, Any]:
    """Return the results of an activation, and which of them are undefined.

    All are undefined where it reduces, here along the hidden state, and where NaN is clipped or the limit is NaN or
    negative; also those that depend on whether a number is rounded to infinity before it, as all later states would.
    """
    if limit is not None:
        value, mark = _activated(nested, np.clip(x, -limit, limit))
        return value, mark | np.isnan(raw(x)) | ~(raw(limit) >= 0)
    if nested.axes:
        value, _ = separated(nested.formula(raw(x), axes=(1,)))
        return value.astype(np.float64), True
    found, mark = separated(nested(x))
    value, *others = ways_of(found)
    dtype = NUMPY_TYPES[nested.data_type if nested.is_last else "FLOAT64"]
    for other in others:
        mark = mark | _differ(raw(other).astype(dtype), raw(value).astype(dtype))
    return value, mark.holds if isinstance(mark, Condition) else mark


def _differ(x: Any, y: Any) -> Any:
    """Say where numbers differ; NaN is like NaN."""
    return (x != y) & ~(np.isnan(x) & np.isnan(y))
