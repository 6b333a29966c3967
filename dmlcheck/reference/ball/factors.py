"""Factors of sums of products as matrix units read them: FLOAT32 numbers, rounded to TF32 or BFLOAT16.

Some units round to the nearest number, and some cut off the bits that do not fit. Both are right, and so is a factor
that is not rounded. All functions are on plain float64 arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BITS = {"TF32": 11, "BFLOAT16": 8}  # of the significand, with the one that is not stored


class Moved(NamedTuple):
    """How far the roundings of both factors may move sums of products.

    `most` is the largest effect of all roundings. `nearest` and `cut` are the effects of rounding all factors to the
    nearest number, and of cutting all; `squares` is the sum of the squared effects of each factor.
    """

    most: Any = 0.0
    nearest: Any = 0.0
    cut: Any = 0.0
    squares: Any = 0.0

    def and_of(self, other: Moved) -> Moved:
        """Return the effect of the roundings of these terms and of others."""
        return Moved(*map(np.add, self, other))

    def likely(self, is_even: Any) -> Any:
        """Return the likely effect: the larger systematic effect, and six standard deviations of independent roundings.

        The systematic effects depend on the factors' values, so that equal factors move a sum together. If `is_even`
        says that all terms of a sum are equal, its effect is the largest possible.
        """
        likely = np.maximum(np.abs(self.nearest), np.abs(self.cut)) + 6 * np.sqrt(self.squares)
        return np.where(is_even, self.most, np.fmin(self.most, likely))


def nearest(x: Array, data_type: str) -> Array:
    """Return numbers rounded to a type with the exponents of FLOAT32: to the nearest, halves away from 0."""
    bits = BITS[data_type]
    wide = np.asarray(x, np.float64)
    half = np.int64(1) << np.int64(52 - bits)
    rounded = ((wide.view(np.int64) + half) & _kept(bits)).view(np.float64)
    return np.where(np.isfinite(wide), np.where(np.abs(rounded) >= _BEYOND, np.copysign(np.inf, wide), rounded), wide)


def cut(x: Array, data_type: str) -> Array:
    """Return numbers with the bits cut off that a type does not have."""
    wide = np.asarray(x, np.float64)
    return np.where(np.isfinite(wide), (wide.view(np.int64) & _kept(BITS[data_type])).view(np.float64), wide)


def _kept(bits: int) -> np.int64:
    return np.int64(-1) << np.int64(53 - bits)


_BEYOND = 2.0**128


def moved(
    function: Callable[..., Any], values: list[Array], errors: list[Array | None], data_type: str, *, is_likely: bool
) -> Moved:
    """Return how far roundings of two factors to a type move the sums of products that a function computes."""
    (x, y), (s, t) = values, errors
    p, q = (
        np.abs(value) if error is None else np.abs(value) + error for value, error in zip(values, errors, strict=True)
    )
    (room_x, room_y) = _rooms(x, s, data_type), _rooms(y, t, data_type)
    most = function(room_x, q) + function(p + room_x, room_y)
    if not is_likely:
        return Moved(most)
    right = function(x, y)
    near, less = (function(way(x, data_type), way(y, data_type)) - right for way in (nearest, cut))
    u, v = _deviations(x, s, data_type), _deviations(y, t, data_type)
    return Moved(most, near, less, function(u * u, q * q) + function(p * p, v * v))


UNITS = {"nearest": nearest, "cut": cut}


def _rooms(x: Array, error: Array | None, data_type: str) -> Array:
    """Return how far a rounding may move each factor: 0 if the type has the number, infinity if it overflows."""
    size = np.abs(x)
    room = np.where(np.isfinite(x), size - cut(size, data_type), 0.0)
    room = np.where(np.isfinite(x) & np.isinf(nearest(size, data_type)), np.inf, room)
    if error is None:
        return room
    return np.where(error == 0, room, np.fmax(room, 2.0 ** (1 - BITS[data_type]) * (size + error)))


def _deviations(x: Array, error: Array | None, data_type: str) -> Array:
    """Return the standard deviations of the roundings; for exact factors, the distance to the nearest number."""
    known = np.where(np.isfinite(x), np.abs(nearest(x, data_type) - x), 0.0)
    if error is None:
        return known
    return np.where(error == 0, known, 2.0 ** -BITS[data_type] / np.sqrt(3) * (np.abs(x) + error))
