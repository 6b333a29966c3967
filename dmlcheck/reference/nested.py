"""Operators inside others, such as FusedActivation, as functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Ball, raw, with_twin
from dmlcheck.reference.pieces import any_of, overflows
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
