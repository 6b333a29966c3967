"""The corners of regions: coordinates in an image, scaled and rounded to whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import raw
from dmlcheck.values.number_formats import FORMATS

Corners = tuple[int, ...]  # x1, y1, x2, y2


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
        beside = np.abs(products - np.floor(products) - 0.5) <= reach
        if not beside.any():
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


def _half_up(x: Any) -> Any:
    return np.floor(x + 0.5)


def _half_away_from_0(x: Any) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


ROUNDINGS: tuple[Callable[[Any], Any], ...] = (np.rint, _half_up, _half_away_from_0)  # the reference's first
