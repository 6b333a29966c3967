"""Sums of products with the sums of absolute values and of squares that their errors depend on, on plain arrays.

Errors need few digits: for large factors the latter two are computed in FLOAT32, which takes half the time. The sums of
absolute values are rounded up by the possible error of FLOAT32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.reference.ball.errors import largest, least

Array = NDArray[Any]

LARGE = 1 << 22  # multiplications: fewer of them are done in float64
_U = 2.0**-24
_SCALED = 24  # the exponent of the largest of scaled factors
_LEAST_TERM = 2.0**-110  # the least of the terms as a share of the largest, whose square does not underflow
_LEAST_FACTOR = 2.0**-86  # the same of the numbers of a factor
_EVEN = 1e-2  # the variance of the terms as a share of their squared mean: with less it needs float64


class ProductSums:
    """The sums of products of two factors, of their absolute values and of their squares, each computed once.

    `function` gives sums of products: np.matmul, np.multiply or the like.
    """

    def __init__(self, function: Callable[..., Any], x: Array, y: Array) -> None:
        self.function, self.x, self.y = function, x, y
        self._known: list[_Scaled] = []

    def of(self, x: Array, y: Array) -> ProductSums:
        """Return the sums for two other factors; the same record if they are the same arrays.

        A factor of both is scaled once.
        """
        if x is self.x and y is self.y:
            return self
        other = ProductSums(self.function, x, y)
        other._known = self._known
        return other

    @cached_property
    def value(self) -> Array:
        """The sums of products."""
        return np.asarray(self.function(self.x, self.y))

    @cached_property
    def sizes(self) -> tuple[Array, Array]:
        """The absolute values of the factors."""
        return np.abs(self.x), np.abs(self.y)

    @cached_property
    def absolute(self) -> Array:
        """The sums of the absolute values of the products, rounded up."""
        if self._scaled is None:
            return np.asarray(self.function(*self.sizes))
        p, q, unit = self._scaled
        lost = (self.x.shape[-1] + 4) * _U
        found: Array = np.multiply(self.function(p, q), unit * (1 + lost), dtype=np.float64)
        return found

    @cached_property
    def carried(self) -> Array:
        """The sums of the squares of the products, rounded up."""
        if self._scaled is None:
            return np.asarray(self.function(self.x * self.x, self.y * self.y))
        p, q, unit = self._scaled
        lost = (self.x.shape[-1] + 6) * _U
        found: Array = np.multiply(self.function(p * p, q * q), unit * unit * (1 + lost), dtype=np.float64)
        return found

    @cached_property
    def squares(self) -> Array:
        """The sums of the squares of the products; in float64 where terms are nearly equal, for their variance."""
        if self._scaled is not None:
            p, q, unit = self._scaled
            found: Array = np.multiply(self.function(p * p, q * q), unit * unit, dtype=np.float64)
            if not self._is_even(found):
                return found
        return np.asarray(self.function(self.x * self.x, self.y * self.y))

    def _is_even(self, squares: Array) -> bool:
        """Whether the terms of a sum may be nearly equal, without being 0."""
        count = self.x.shape[-1]
        if count * least(squares) > (1 + _EVEN) * largest(np.abs(self.value)) ** 2:
            return False
        mean = self.value * self.value
        return bool(np.any(count * squares - mean < _EVEN * mean))

    @cached_property
    def _scaled(self) -> tuple[Array, Array, float] | None:
        """The sizes as FLOAT32, scaled so that nothing overflows or underflows, and the unit of their products."""
        if self.function is not np.matmul or self.x.size * self.y.shape[-1] < LARGE or not self.y.size:
            return None
        first = self._scaled_once(self.x)
        second = None if first is None else self._scaled_once(self.y)
        if first is None or second is None or first.span * second.span < _LEAST_TERM:
            return None
        if min(first.span, second.span) < _LEAST_FACTOR:
            return None
        return first.sizes, second.sizes, first.unit * second.unit

    def _scaled_once(self, x: Array) -> _Scaled | None:
        found = next((one for one in self._known if one.of is x), None)
        if found is None and (found := _scaled(x)) is not None:
            self._known.append(found)
        return found


class _Scaled(NamedTuple):
    """The sizes `of` numbers as FLOAT32 in some unit, and the least that is not 0 as a share of the largest."""

    of: Array
    sizes: Array
    unit: float
    span: float


def _scaled(x: Array) -> _Scaled | None:
    most = float(max(largest(x), -least(x)))
    if not 0 < most < _MOST:
        return None
    unit = 2.0 ** (int(np.frexp(most)[1]) - _SCALED)
    scaled = np.multiply(x, 1 / unit, out=np.empty(x.shape, np.float32), dtype=np.float64, casting="same_kind")
    np.abs(scaled, out=scaled)
    low = float(least(scaled))
    if low == 0:
        if np.count_nonzero(scaled) < np.count_nonzero(x):
            return None
        low = float(np.min(scaled, where=scaled > 0, initial=np.inf))
    return _Scaled(x, scaled, unit, low * unit / most)


_MOST = 2.0**200
