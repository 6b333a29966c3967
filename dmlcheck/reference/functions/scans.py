"""Scans along an axis: running sums, products and the like, which continue from block to block.

A parallel scan may associate its operations in any way. If only some ways overflow, only the result of DirectML is
known, which computes one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import Blocks, blockwise
from dmlcheck.reference.arrays.data_types import overflows
from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.ball.numbers import raw
from dmlcheck.reference.results import AsMeasured
from dmlcheck.values.number_formats import FORMATS


class Scan:
    """Scans along an axis by name; each continues where it ended in the block before."""

    def __init__(self, axis: int) -> None:
        self.axis = axis
        self._last: dict[str, Any] = {}

    def __call__(self, name: str, ufunc: np.ufunc, x: Any) -> Any:
        """Return the running results of a ufunc."""
        before = self._last.get(name)
        found = ufunc.accumulate(x if before is None else np.concatenate([before, x], self.axis), axis=self.axis)
        self._last[name] = self._along(found, -1, None)
        return found if before is None else self._along(found, 1, None)

    def shifted(self, name: str, x: Any, first: Any) -> Any:
        """Return the elements moved by one place, with `first` as the first element."""
        before = self._last.get(name)
        before = np.full_like(self._along(x, 0, 1), first) if before is None else before
        self._last[name] = self._along(x, -1, None)
        return np.concatenate([before, self._along(x, 0, -1)], self.axis)

    def _along(self, x: Any, start: int | None, stop: int | None) -> Any:
        return x[(*[slice(None)] * self.axis, slice(start, stop))]


def scanned(formula: Callable[[Any, Scan], Any], x: Any, axis: int, *, is_reversed: bool) -> Any:
    """Return the results of a formula that scans along an axis, from its start or its end.

    For Blocks they are Blocks, which can be computed once, in the order of the scan.
    """

    def turned(part: Any) -> Any:
        if isinstance(part, AsMeasured):
            return AsMeasured(*map(turned, part))
        return np.flip(part, axis) if is_reversed else part

    scan = Scan(axis)
    if not isinstance(x, Blocks):
        return turned(formula(turned(x), scan))
    cuts = sorted(x.cuts, key=lambda cut: cut[axis].start, reverse=is_reversed)
    ahead = iter(cuts)

    def block(index: Index) -> Any:
        for cut in ahead:
            found = turned(formula(turned(x.block(cut)), scan))
            if cut == index:
                return found
        raise IndexError(index)

    return Blocks(x.shape, cuts, block)


# ---- running sums and products


def sums_up_to_each(x: Any, axis: int, data_type: str, *, is_reversed: bool) -> Any:
    """Return the sum of each element and those before it; measured where only some associations overflow."""
    mark = no_marks
    if data_type in FORMATS:
        sizes = blockwise(lambda part: np.abs(raw(part)), x)
        is_safe = (np.add.reduce(sizes, axis=(axis,), keepdims=True) <= FORMATS[data_type].largest).all()
        mark = no_marks if is_safe else partial(undefined_sums, data_type)
    return scanned(partial(_up_to_each, np.add, mark, data_type), x, axis, is_reversed=is_reversed)


def products_up_to_each(x: Any, axis: int, data_type: str, *, is_reversed: bool) -> Any:
    """Return the product of each element and those before it; measured where only some associations overflow."""
    mark = partial(undefined_products, data_type) if data_type in FORMATS else no_marks
    return scanned(partial(_up_to_each, np.multiply, mark, data_type), x, axis, is_reversed=is_reversed)


def _up_to_each(ufunc: np.ufunc, mark: Callable[..., Any], data_type: str, x: Any, scan: Scan) -> AsMeasured:
    """Return running results; where the association decides, DirectML's, one after the other in FLOAT32."""
    found, where = scan("results", ufunc, x), mark(x, scan)
    if mark is no_marks:
        return AsMeasured(found, where)
    in_order = scan("in order", ufunc, raw(x).astype(np.float64 if data_type == "FLOAT64" else np.float32))
    return AsMeasured(np.where(where, in_order, found), where)


def before_each(results: Any, axis: int, first: float, *, is_reversed: bool) -> Any:
    """Return the result of the element before each, and `first` for the first element."""

    def shifted(part: AsMeasured, scan: Scan) -> AsMeasured:
        return AsMeasured(scan.shifted("values", part.value, first), scan.shifted("marks", part.where, 0))

    return scanned(shifted, results, axis, is_reversed=is_reversed)


# ---- results that depend on the association


def no_marks(x: Any, _: Scan) -> Any:
    """Return a mask of no element."""
    return np.zeros(x.shape, dtype=bool)


def undefined_sums(data_type: str, numbers: Any, scan: Scan) -> Any:
    """Return a mask of the running sums for which only some associations overflow."""
    x = raw(numbers)
    sums, most, least = of_runs(np.where(np.isfinite(x), x, 0), scan)
    above, below = overflows(data_type, most), overflows(data_type, least)
    is_nan, up, down = (
        held(name, at, scan) for name, at in (("nan", np.isnan(x)), ("up", x == np.inf), ("down", x == -np.inf))
    )
    is_either = ((above | up) & (below | down)) | ((above | below) & ~(overflows(data_type, sums) | up | down))
    return is_either & ~(is_nan | (up & down))


def undefined_products(data_type: str, numbers: Any, scan: Scan) -> Any:
    """Return a mask of the running products for which only some associations overflow or underflow."""
    x = raw(numbers)
    conditions = (("zero", x == 0), ("infinite", np.isinf(x)), ("nan", np.isnan(x)))
    is_zero, is_infinite, is_nan = (held(name, at, scan) for name, at in conditions)
    sums, most, least = of_runs(np.log2(np.where(np.isfinite(x) & (x != 0), np.abs(x), 1)), scan)
    of = FORMATS[data_type]
    high, low = np.log2(of.largest * (1 + of.unit_roundoff / 2)), of.least_exponent
    is_over, is_under = most > high, least < low
    is_either = (is_over & is_under) | (is_over & (sums <= high)) | (is_under & (sums >= low))
    return np.where(is_zero, is_over, np.where(is_infinite, is_under, is_either)) & ~is_nan


def held(name: str, at: Any, scan: Scan) -> Any:
    """Return a mask of the elements at which, or before which, a condition is true."""
    return scan(name, np.logical_or, at)


def of_runs(x: Any, scan: Scan) -> tuple[Any, Any, Any]:
    """Return the running sums, and the largest and least sum of any run of the elements so far, or 0."""
    sums = scan("sums", np.add, x)
    least, most = (scan(name, of, of(sums, 0)) for name, of in (("lowest", np.minimum), ("highest", np.maximum)))
    return sums, scan("most", np.maximum, sums - least), scan("least", np.minimum, sums - most)
