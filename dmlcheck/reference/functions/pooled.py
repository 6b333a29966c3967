"""Parts of pooling: the corners of regions, and the norms of windows in all ways that implementations compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import Blocks, blockwise
from dmlcheck.reference.arrays.data_types import in_32_bits, limits
from dmlcheck.reference.ball.numbers import Ball, hull, radius, raw
from dmlcheck.reference.functions.windows import View, over, windows
from dmlcheck.reference.results import Alternatives
from dmlcheck.values.number_formats import FORMATS

Corners = tuple[int, ...]  # x1, y1, x2, y2


def rows_and_columns(size: Any) -> tuple[int, int]:
    """Return the numbers of a SIZE_2D as counts, Height first."""
    return int(raw(size.Height)), int(raw(size.Width))


def corners(coordinates: Any, scale: Any) -> list[Corners]:
    """Return the right corners, the reference's first: coordinates times a scale, rounded to whole numbers.

    They differ in the rounding of halves, and where the error of a product decides its rounding. The list is empty if a
    product is not finite, or its error allows more than two whole numbers.
    """
    scale = raw(scale)
    with np.errstate(all="ignore"):
        products = coordinates.astype(float) * scale
        reach = _reach(coordinates, scale, products)
        if not np.isfinite(products).all() or reach.max() > 0.5:
            return []
        is_near_half = np.abs(products - np.floor(products) - 0.5) <= reach
        if not is_near_half.any():
            return [tuple(map(int, np.rint(products).tolist()))]
        found = [corner for rounding in ROUNDINGS for corner in _rounded(rounding, products, reach)]
    return list(dict.fromkeys(found))


def _reach(coordinates: Any, scale: Any, products: Any) -> Any:
    """Return the errors of products whose scale and results may be rounded to the type of the coordinates."""
    of, held = FORMATS[coordinates.dtype.name.upper()], float(np.asarray(scale).astype(coordinates.dtype))
    is_exact = (products.astype(coordinates.dtype) == products) & (held == scale)
    moved = np.abs(coordinates.astype(float)) * (abs(scale) * of.unit_roundoff + abs(held - scale))
    return np.where(is_exact, 0, moved)


def _rounded(rounding: Callable[[Any], Any], products: Any, reach: Any) -> Iterator[Corners]:
    """Yield the corners that products within their errors may be rounded to; equal products are rounded alike."""
    ways = {
        each: list(dict.fromkeys(map(int, rounding(np.array([each, each - own, each + own])))))
        for each, own in zip(products.tolist(), reach.tolist(), strict=True)
    }
    for chosen in product(*ways.values()):
        x1, y1, x2, y2 = map(dict(zip(ways, chosen, strict=True)).__getitem__, products.tolist())
        if x1 <= x2 and y1 <= y2:
            yield x1, y1, x2, y2


ROUNDINGS: tuple[Callable[[Any], Any], ...] = (  # the reference's first
    np.rint,
    lambda x: np.floor(x + 0.5),
    lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
)


def corners_in_32_bits(coordinates: Any, scale: Any) -> Corners:
    """Return the corners as DirectML has them: of FLOAT32 products, limited to INT32."""
    with np.errstate(all="ignore"):
        products = coordinates.astype(np.float32) * np.float32(raw(scale))
    x1, y1, x2, y2 = in_32_bits(np.rint(products), np.dtype(np.int32)).tolist()
    return x1, y1, x2, y2


Parts = Callable[[int, int, int, int], "list[slice]"]


def parts_of(first: int, last: int, count: int, size: int) -> list[slice]:
    """Return the `count` parts of the range from `first` to `last`, both included, clipped to a dimension of a size."""
    length = last - first + 1
    ends = ((first + at * length // count, first - -(at + 1) * length // count) for at in range(count))
    return [clipped(*each, size) for each in ends]


def parts_in_32_bits(first: int, last: int, count: int, size: int) -> list[slice]:
    """Return the same parts as DirectML computes them in integers of 32 bits, which wrap."""
    length = max(in_int32(last - first + 1), 1)
    starts = (at * length % 2**32 // count for at in range(count))
    stops = (((at + 1) * length + count - 1) % 2**32 // count for at in range(count))
    return [
        clipped(in_int32(first + start), in_int32(first + stop), size)
        for start, stop in zip(starts, stops, strict=True)
    ]


def in_int32(number: int) -> int:
    """Return a number modulo 2^32, with a sign."""
    return (number + 2**31) % 2**32 - 2**31


def clipped(start: int, stop: int, size: int) -> slice:
    """Return a part of a dimension of a size."""
    return slice(*(min(max(end, 0), size) for end in (start, stop)))


# ---- norms of windows


def alternatives_of_signs(found: Any, x: Any, seen: View, p: int) -> Any:
    """Return norms of an odd P; if an element is negative, the roots of the sums of x^P are alternatives."""
    if not np.any(over(np.logical_or, blockwise(lambda part: raw(part) < 0, x), seen)):
        return found
    return Alternatives((found, *signed_norms(x, seen, p)))


def absolute_norm(x: Any, seen: View, p: int) -> Any:
    """Return (the sum of |x|^P)^(1 / P)."""
    if p == 1:
        return over(np.add, np.abs(x), seen)
    if p == 2:
        return np.sqrt(over(np.add, np.square(x), seen))
    size = np.abs(x)
    if p <= MOST_PLAIN:
        return plain_norm(size, seen, p)
    low = partial(np.minimum, size, 2.0 ** (480 / p))  # so that powers and their squares are finite
    found = scaled_norm(size, seen, p)
    return hull(lambda: found, lambda: plain_norm(low(), seen, p).around(raw(found)))


MOST_PLAIN = 6  # the 6th powers of FLOAT32 numbers, and all sums of them, are finite in float64


def has_plain_powers(given: Mapping[str, Any]) -> bool:
    """Whether windows are only reduced for the order P of a desc: the elements of each are not divided first."""
    return bool(given["p"] <= MOST_PLAIN)


def plain_norm(size: Any, seen: View, p: int) -> Any:
    """Return the norm of elements with these absolute values by powers, sums and roots."""
    return np.power(over(np.add, np.power(size, p), seen), 1 / p)


def scaled_norm(size: Any, seen: View, p: int) -> Any:
    """Return the norm as m * (the sum of (|x| / m)^P)^(1 / P), m the largest |x|: no power overflows or vanishes."""
    unit, sums = scaled_sums(size, seen, p)
    found = unit * np.power(sums, 1 / p)
    return found.reshape(found.shape[: size.ndim])


def scaled_sums(x: Any, seen: View, p: int) -> tuple[Any, Any]:
    """Return m, the largest |x| of each window, and the sum of (x / m)^P."""
    under: Any = x if isinstance(x, Blocks) else windows(x, seen)
    axes = tuple(range(under.ndim - len(seen.places), under.ndim))
    most = raw(np.maximum.reduce(np.abs(under), axis=axes, keepdims=True))
    unit = np.clip(most, *_UNITS)
    parts = blockwise(partial(exactly, lambda part: part / unit), under)
    sums = np.add.reduce(np.power(parts, p), axis=axes, keepdims=True)
    return unit, sums if seen.repeats == 1 else sums * float(seen.repeats)


def signed_norms(x: Any, seen: View, p: int) -> list[Any]:
    """Return (the sum of x^P)^(1 / P) of an odd P, with a negative root for a negative sum, and with NaN."""
    if p == 1:
        return [over(np.add, x, seen)]
    unit, sums = scaled_sums(x, seen, p)
    shape = unit.shape[: x.ndim]
    unit, sums = unit.reshape(shape), sums.reshape(shape)
    root = unit * (np.sign(sums) * np.power(np.abs(sums), 1 / p))
    return [root, np.where(raw(sums) < radius(sums), np.nan, root)]


_UNITS = np.finfo(np.float32).smallest_subnormal, limits("FLOAT32")[1]  # a divisor for 0 and infinity


def exactly(change: Callable[[Any], Any], x: Any) -> Any:
    """Return a linear function of elements, without the roundings of an implementation."""
    return x.moved(change) if isinstance(x, Ball) else change(x)
