"""Screening: sums of products that are surely within their likely errors, found without computing their bounds.

The bound of a sum follows from the sum of the magnitudes of its terms, which a product of FLOAT32 matrices gives in
half the time. It shows for nearly all elements that they are within the smallest possible bound. The other elements get
their bounds, and so do candidates for the largest error, in units or as a share of the bound: reports name these.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.comparison.tolerances import Limit
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.ball.errors import Arithmetic
from dmlcheck.reference.bounds import FEW, arithmetic_of
from dmlcheck.reference.functions.products import Magnitudes
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reference.results import separated
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES

Array = NDArray[Any]


class Settled(NamedTuple):
    """An output of which some elements need no bounds.

    `asked` marks the differing elements that need bounds. The others are within their likely errors, and none of them
    is at more than the share `most` of its bound. `squares` is the sum of their squared errors, `terms` the length of
    the longest sum.
    """

    asked: Array
    most: float
    squares: float
    terms: int


class _Part(NamedTuple):
    """The screening of a tile: elements that need bounds, and others, by their row-major positions in the output."""

    where: Any
    asked: Array
    leading: Array  # the elements that may have the largest share of their bounds
    shares: Array  # the most that these may be
    rest: float  # the most that others may have
    worst: Array  # the element with the largest error in units
    worst_units: float
    held: Array  # all of these
    held_squares: Array
    squares: float
    likely: float  # the sum of the squares of the errors in units of the likely ones, at most
    terms: int = 0


class Screen:
    """The screening of an operator's outputs while the reference computes them."""

    def __init__(self, desc: OperatorDesc, actual: Mapping[str, Any], limit: Limit) -> None:
        self.arithmetic = arithmetic_of(desc, Precision(limit.precision.accumulate))
        outputs = desc.tensors(OUTPUT)
        self.parts: list[_Part] = []
        self._lock = threading.Lock()
        self.is_used = False
        if not outputs:  # all of them are optional, and none is asked for
            return
        part = outputs[0]
        self.label, self.tensor, self.actual = part.label, part.tensor, actual.get(part.label)
        dtype = NUMPY_TYPES[self.tensor.data_type]
        types = {tensor.tensor.data_type for tensor in desc.tensors()}
        self.is_used = (
            limit.tolerance is None
            and len(outputs) == 1
            and types <= {"FLOAT16", "FLOAT32"}
            and getattr(self.actual, "shape", None) == tuple(self.tensor.sizes)
            and getattr(self.actual, "dtype", None) == dtype
            and math.prod(self.tensor.sizes) >= _MANY
        )

    def see(self, where: Any, found: Any, magnitudes: Callable[[], Magnitudes]) -> None:
        """Take the results at an index of the output, and the function that returns the magnitudes of their sums."""
        value, is_undefined = separated(found)
        if self.actual is None or np.any(is_undefined) or not isinstance(value, np.ndarray):
            return
        part = self._part(where, value, magnitudes)
        if part is not None:
            with self._lock:
                self.parts.append(part)

    def _part(self, where: Any, value: Array, estimated: Callable[[], Magnitudes]) -> _Part | None:
        """Return the screening of results, or None if some of them are infinite or NaN."""
        actual = np.asarray(self.actual)[where]
        found = np.ascontiguousarray(actual).reshape(-1)
        flat = np.ascontiguousarray(value).reshape(-1)
        wanted = flat.astype(found.dtype)
        none = np.zeros(0, np.int64)
        if np.array_equal(wanted[:_RUN], found[:_RUN]) and np.array_equal(wanted, found):
            return _Part(where, none, none, np.zeros(0), 0.0, none, 0.0, none, np.zeros(0), 0.0, 0.0)
        magnitudes = estimated()
        if magnitudes.products < _LEAST_TERMS or not float(magnitudes.sums.max(initial=0)) < _LARGEST:
            return None
        own = _screened(flat, wanted, found, magnitudes, self.arithmetic, self.tensor.data_type)
        if own is None:
            return None
        return own._replace(where=where, terms=magnitudes.terms, **self._in_output(where, own))

    def _in_output(self, where: Any, own: _Part) -> dict[str, Any]:
        """Return the numbers of elements in a tile as their places in the output."""
        sizes = self.tensor.sizes
        ranges = [range(size)[at] for size, at in zip(sizes, (*where, *[slice(None)] * len(sizes)), strict=False)]
        inner = tuple(map(len, ranges))

        def in_output(at: Any) -> Any:
            numbers = np.unravel_index(at, inner)
            return np.ravel_multi_index(
                tuple(own.start + number * own.step for own, number in zip(ranges, numbers, strict=True)), sizes
            )

        return {name: in_output(getattr(own, name)) for name in ("asked", "leading", "worst", "held")}

    def settled(self) -> list[dict[str, Settled]]:
        """Return the screened outputs, by name: first with as many elements as possible, then with fewer if needed.

        An output is left out if too many elements need bounds, or too many roundings go in one direction.
        """
        off = sum(part.likely for part in self.parts)
        if not self.parts or off > _SYSTEMATIC * math.prod(self.tensor.sizes):
            return []
        return [{self.label: self._settled(count)} for count in (_FIRST, FEW)]

    def _settled(self, count: int) -> Settled:
        """Return the screened output, with a number of candidates for the largest share."""
        asked = np.ones(self.tensor.sizes, dtype=bool)
        for part in self.parts:
            asked[part.where] = False
        flat = asked.reshape(-1)
        leading, shares = (np.concatenate([part[field] for part in self.parts]) for field in _LEADING)
        order = np.argsort(-shares)
        rest = max(part.rest for part in self.parts)
        if order.size > count:
            rest = max(rest, float(shares[order[count]]))
        flat[leading[order[:count]]] = True
        flat[max(self.parts, key=lambda part: part.worst_units).worst] = True
        for part in self.parts:
            flat[part.asked] = True
        squares = sum(part.squares - float(part.held_squares[flat[part.held]].sum()) for part in self.parts)
        return Settled(asked, rest, max(0.0, squares), max(part.terms for part in self.parts))


_FIRST = 2
_LEADING = tuple(map(_Part._fields.index, ("leading", "shares")))
_MANY = 1 << 14  # elements of an output: the bounds of fewer take no time
_LEAST_TERMS = 8
_LARGEST = 2.0**60
_SYSTEMATIC = 0.98
_NEAR = 0.9  # of the largest share: candidates for the largest one once the bounds are known
_RUN = 1 << 14  # elements that stay in the cache
_LOST = 2.0**-22  # the share that FLOAT32 may lose of the sums, for each term


def _screened(
    value: Array, wanted: Array, found: Array, magnitudes: Magnitudes, arithmetic: Arithmetic, data_type: str
) -> _Part | None:
    """Return the screening of some elements of a tile by the smallest possible bounds.

    An element within the hard bound divided by the ratio of hard and likely bounds needs no look at the likely one.
    """
    radii = _of_products(magnitudes, arithmetic)
    shares = np.empty(value.size, np.float32)
    squares = of_likely = 0.0
    worst_units, worst, asked = 0.0, 0, []
    for start in range(0, value.size, _RUN):
        run = slice(start, start + _RUN)
        off = value[run] - found[run]
        off *= wanted[run] != found[run]
        squares += float(off @ off)
        unit = _units(value[run], data_type)
        error = off.astype(np.float32)
        np.abs(error, out=error)
        share = shares[run]
        np.divide(error, radii.hard(value[run], run) + unit, out=share)
        probable = float(share @ share) * radii.ratio**2
        if not float(share.max()) * radii.ratio <= _SURELY or probable > _FAIR * share.size:
            likely = error / (radii.likely(value[run], run) + unit)
            probable = float(likely @ likely)
            asked.append(start + np.flatnonzero(~(likely <= _SURELY)))
            if sum(map(len, asked)) > FEW:
                return None
        of_likely += probable
        units = np.divide(error, unit, out=error)
        at = int(units.argmax())
        if units[at] > worst_units:
            worst_units, worst = float(units[at]), start + at
    if not math.isfinite(squares):
        return None
    near = _NEAR * float(shares.max())
    leading = np.flatnonzero(shares >= near)
    own = np.concatenate(asked) if asked else np.zeros(0, np.int64)
    held = np.array(sorted({*own.tolist(), *leading.tolist(), worst}))
    squared = np.square(np.where(wanted[held] != found[held], value[held] - found[held], 0.0))
    return _Part(
        (), own, leading, shares[leading], near, np.array([worst]), worst_units, held, squared, squares, of_likely
    )


class _Slacks(NamedTuple):
    """Functions that return the smallest possible radii of results, hard and likely, and the ratio of both."""

    hard: Callable[[Array, slice], Array]
    likely: Callable[[Array, slice], Array]
    ratio: float


def _of_products(magnitudes: Magnitudes, arithmetic: Arithmetic) -> _Slacks:
    """Return the smallest possible radii of sums of products.

    Both are at least a multiple of the sum of the magnitudes of the terms: the errors of n roundings are n * u times as
    large, and the likely ones at least 6 / sqrt(3) * u times, as the squares of n terms are at least the square of
    their sum divided by n.
    """
    sums, terms = magnitudes.sums.reshape(-1), magnitudes.products
    kept = (1 - min(0.5, terms * _LOST)) * arithmetic.unit_roundoff
    hard = np.float32(terms * kept)
    likely = np.float32(min(terms, 6 / math.sqrt(3) * math.sqrt(1 - 1 / terms)) * kept)

    def most(value: Array, run: slice) -> Array:
        return np.asarray(np.maximum(likely * sums[run], _likely(value, sums[run], magnitudes, kept)))

    return _Slacks(lambda _, run: hard * sums[run], most, float(hard / likely))


def _likely(value: Array, sums: Array, magnitudes: Magnitudes, kept: float) -> Array:
    """Return the smallest possible likely errors; for large sums they exceed the likely errors of only the terms."""
    size = np.abs(value).astype(np.float32)
    added, count = np.float32(magnitudes.added or 0.0), magnitudes.products
    size, sums = np.maximum(size - added, 0), np.maximum(sums - added, 0)
    walked = np.sqrt((count - 1) * (size * size + sums * sums / np.float32(count)))
    return np.asarray(np.minimum(6 / math.sqrt(3) * walked, count * sums) * np.float32(kept))


_FAIR = 0.5


def _units(value: Array, data_type: str) -> Array:
    """Return the units in the last place of numbers as FLOAT32, which has them all exactly."""
    of = FORMATS[data_type]
    powers: Array = (value.view(np.int64) & _EXPONENT).view(np.float64).astype(np.float32)
    np.maximum(powers, np.float32(2.0**of.least_exponent), out=powers)
    powers *= np.float32(2.0 ** (1 - of.precision))
    return powers


_EXPONENT = np.int64(0x7FF << 52)
_SURELY = 1 - 2.0**-20
