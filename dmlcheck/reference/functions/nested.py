"""Operators inside others, such as FusedActivation, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import blockwise
from dmlcheck.reference.ball.numbers import Ball, raw
from dmlcheck.reference.functions.overflowing import is_beyond
from dmlcheck.reference.results import any_of, unmeasured
from dmlcheck.values.number_formats import NUMPY_TYPES, ulp


class Nested(NamedTuple):
    """A nested operator: its formula, and the data type of its operand.

    `axes` are the axes that it reduces, which may not be cut; none for an element-wise operator. An implementation may
    round the operand to the data type first. The radius covers both; where the rounding overflows, the results for
    infinity, which DirectML gives, and for the number are alternatives. `is_step` says that the operator is in a step
    of a recurrent network, where the number comes first and measured results are undefined.
    """

    formula: Callable[..., Any]
    data_type: str
    axes: tuple[int, ...] = ()
    is_step: bool = False

    def __call__(self, x: Any) -> Any:
        """Return the operator's results for x, which has all elements along `axes`."""
        return x if self.formula is unchanged else blockwise(self._of_numbers, x)

    def _of_numbers(self, x: Any) -> Any:
        found = self._of_held(stored(x, self.data_type))
        if isinstance(x, Ball) and x.arithmetic.has_overflows:
            return unmeasured(found)  # nothing bounds what is made of an overflow, or of what follows from one
        beyond = is_beyond(self.data_type, x)
        if not beyond.any():
            return found
        infinite = np.where(beyond, np.copysign(np.inf, raw(x)), stored(x, self.data_type))
        ways = found, self._of_held(infinite)
        return any_of(*(ways if self.is_step else ways[::-1]))

    def _of_held(self, x: Any) -> Any:
        found = self.formula(x)
        return unmeasured(found) if self.is_step else found


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
    return Ball(value, radius, x.arithmetic, x.terms)
