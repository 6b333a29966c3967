"""The bounds of a tensor of a graph: its values, how far roundings may take them, and which errors are correlated."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.errors import largest, plus
from dmlcheck.reference.bounds import Bound
from dmlcheck.values.layouts import Array, viewed
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES


class Carried(NamedTuple):
    """The elements of a buffer with the errors that right implementations may have.

    `value` are the results without roundings, flat; `radius` how far roundings may take each of them from there, and
    `likely` how far they probably do: None where all elements are exact. `terms` is the length of the longest sum on
    the way. `shared` and `likely_shared` are the parts of both that are fully correlated between the elements, None for
    none: they add up in a sum, while of the other errors the squares add up.
    """

    data_type: str
    value: Array
    radius: Array | None = None
    likely: Array | None = None
    terms: int = 0
    shared: Array | None = None
    likely_shared: Array | None = None


def off_by(data_type: str, values: Array, errors: Array, *, are_shared: bool = True) -> Carried:
    """Return numbers that an implementation may be off by these errors: all to one side, if they are shared."""
    radius = errors.reshape(-1)
    return Carried(data_type, values, radius, radius * _LIKELY, shared=radius if are_shared else None)


_LIKELY = 6 / math.sqrt(3)  # of the largest rounding: six standard deviations of evenly spread ones


class TensorBounds:
    """The bounds of a tensor as they come in, piece by piece."""

    def __init__(
        self,
        tensor: TensorDesc,
        limits: tuple[float, float],
        *,
        has_jumps: bool = False,
        is_whole: bool = False,
        is_chosen: bool = False,
    ) -> None:
        self.is_whole = is_whole  # no fractions, which only a rounding to the type could make
        self.is_chosen = is_chosen  # elements of operands as they are
        self.tensor = tensor
        self.limits = limits
        self.has_jumps = has_jumps
        count = math.prod(tensor.sizes)
        self.value: Array | None = None
        self.radius = np.zeros(count)
        self.shared: Array | None = None
        self.apart: Array | None = None  # how far the readings of the documentation are from their middle
        self.terms = 0

    def put(self, at: Array, bound: Bound) -> None:
        """Put the bounds of some elements in their places."""
        value, reach = _hull(bound, self.tensor.data_type)
        if bound.others:
            own = np.maximum.reduce([one.radius for one in (bound, *bound.others)])
            self._put_apart(at, np.where(np.isfinite(reach), reach - np.fmin(reach, own), 0.0))
        value, radius = _within(value, reach, *self.limits)
        if self.has_jumps:
            radius = np.where(radius > np.abs(value) / 2, np.inf, radius)
        if bound.is_rounded and self.tensor.data_type in FORMATS:
            radius = radius + self._rounding(value, radius)
        if bound.undefined.any():
            radius = np.where(bound.undefined, np.inf, radius)
        self._put(_run(at), value, radius)
        self.terms = max(self.terms, bound.terms)

    def _put_apart(self, at: Array, reach: Array) -> None:
        """Put how far several readings are apart: an implementation takes the same one for all elements."""
        if reach.any():
            self.apart = np.zeros(self.radius.size) if self.apart is None else self.apart
            self.apart[at] = reach

    def _rounding(self, value: Array, radius: Array) -> Array:
        """Return how far results are rounded: whole numbers only where the type does not hold all of their size.

        Nor are exact results that the type holds; of denormals, chosen elements only.
        """
        found = rounding(value, radius, self.tensor.data_type)
        most, least = 2.0 ** FORMATS[self.tensor.data_type].precision, _smallest(self.tensor.data_type)
        if self.is_whole:
            return np.where(np.abs(value) + radius <= most, 0.0, found)
        is_exact = radius == 0
        if not is_exact.any():
            return found
        is_exact &= value == value.astype(NUMPY_TYPES[self.tensor.data_type])
        return np.where(is_exact & ((np.abs(value) >= least) | self.is_chosen), 0.0, found)

    def _put(self, places: Any, value: Array, radius: Array) -> None:
        if isinstance(places, slice) and places.stop - places.start == self.radius.size:
            self.value, self.radius = _of_its_own(value), _of_its_own(radius)
            return
        if self.value is None:
            self.value = np.zeros(self.radius.size, value.dtype)
        elif self.value.dtype != value.dtype:
            self.value = self.value.astype(np.float64)
        self.value[places] = value
        self.radius[places] = radius

    def widen(self, radius: Array) -> None:
        """Make radii as large as others, within the range of the function."""
        if self.value is not None:
            _, radius = _within(self.value, radius, *self.limits)
        self.radius = np.fmax(self.radius, radius)

    def carried(self, likely: TensorBounds) -> Carried:
        """Return the tensor in its buffer."""
        value = np.zeros(self.radius.size) if self.value is None else self.value
        if not self.radius.any():
            return Carried(self.tensor.data_type, self._laid_out(value), terms=self.terms)
        probable = np.minimum(likely.radius + self._away_from(likely), self.radius)
        shared = self._laid_out_shared(self.radius), likely._laid_out_shared(probable)
        radius, probable = self._laid_out(self.radius), self._laid_out(probable)
        return Carried(self.tensor.data_type, self._laid_out(value), radius, probable, self.terms, *shared)

    def _away_from(self, likely: TensorBounds) -> Array | float:
        """Return how far the middle of the bounds is from that of the likely ones: they may be of fewer ways."""
        if self.value is likely.value or self.value is None or likely.value is None:
            return 0.0
        with np.errstate(invalid="ignore"):
            distance = np.abs(self.value - likely.value)
        return np.where(np.isfinite(distance), distance, 0.0)

    def _laid_out_shared(self, most: Array) -> Array | None:
        found = plus(self.shared, self.apart)
        shared = None if found is None else np.fmin(found, most)
        return None if shared is None or not shared.any() else self._laid_out(shared)

    def _laid_out(self, elements: Array) -> Array:
        if self.tensor.strides is None:
            return elements
        buffer = np.zeros(self.tensor.extent, elements.dtype)
        viewed(self.tensor, buffer)[...] = elements.reshape(self.tensor.sizes)
        return buffer


def _of_its_own(x: Array) -> Array:
    """Return an array, copied if it is a part of a larger one, or repeats the elements of another."""
    is_whole = x.flags.c_contiguous and (x.base is None or getattr(x.base, "nbytes", 0) == x.nbytes)
    return x if is_whole else x.copy()


def _run(at: Array) -> Any:
    """Return places as a slice if they are a run: they come in their order."""
    is_run = at.size > 0 and at[-1] - at[0] == at.size - 1
    return slice(int(at[0]), int(at[0]) + at.size) if is_run else at


def _hull(bound: Bound, data_type: str) -> tuple[Array, Array]:
    """Return the midpoint of several right results, and the distance to the ends.

    If one of them is NaN or infinite and others are not, it is the first, and nothing bounds it. Nor is there a bound
    where they are far apart: an implementation takes the same way for all elements.
    """
    if not bound.others:
        return bound.value, bound.radius
    sides = [(side.value.astype(np.float64), side.radius) for side in (bound, *bound.others)]
    low = np.minimum.reduce([value - radius for value, radius in sides])
    high = np.maximum.reduce([value + radius for value, radius in sides])
    first, is_nan = sides[0][0], np.logical_and.reduce([np.isnan(value) for value, _ in sides])
    with np.errstate(invalid="ignore"):
        is_one, reach = (low == high) | is_nan, (high - low) / 2
        is_near = reach <= np.maximum(np.abs(first) / 8, _smallest(data_type))
        middle = np.where(is_near, low + reach, first)
    return np.where(is_one, first, middle), np.where(is_one, 0.0, np.where(is_near, reach, np.inf))


def _smallest(data_type: str) -> float:
    """Return the smallest normal number of a float, or 1 of whole numbers."""
    return float(2.0 ** FORMATS[data_type].least_exponent) if data_type in FORMATS else 1.0


def _within(value: Array, radius: Array, low: float, high: float) -> tuple[Array, Array]:
    """Return results whose errors do not exceed the range of a function; without a bound they may be NaN."""
    if math.isinf(low):
        return value, radius
    return value, np.where(np.isinf(radius), radius, np.fmin(radius, np.fmax(value - low, high - value)))


def rounding(value: Array, radius: Array, data_type: str) -> Array:
    """Return how far the rounding of results to their type may take them: infinity and NaN have none.

    Denormals may be flushed.
    """
    size = np.abs(value) + radius
    if not largest(size) < np.inf:
        size = np.where(np.isfinite(value), size, 0.0)
    most: Array = size * FORMATS[data_type].unit_roundoff
    smallest = _smallest(data_type)
    is_small = (size < smallest) & (size > 0)
    return np.where(is_small, size, most) if is_small.any() else most
