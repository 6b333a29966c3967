"""How much there is to compute: for windows, products and neighbours from the sizes, for others as their row says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from dmlcheck.reference.functions.neighbours import has_everything, region
from dmlcheck.reference.functions.phases import most_places
from dmlcheck.reference.limits.work import Work, multiplications, terms
from dmlcheck.reference.rows import Correlations, Cut, EachOutput, Given, InWindows, Neighbours, Tiles, Windows
from dmlcheck.reference.tiling.extents import terms_of


def work_of(declared: Tiles, given: Given) -> Work | None:
    """Return the work of a desc; None where it is about as much as its tensors have elements."""
    if isinstance(declared, (Cut, EachOutput)):
        return declared.work
    amount = _AMOUNTS.get(type(declared))
    return None if amount is None else amount(declared, given)


def may_be_much(tiles: Tiles | Callable[[Given], Tiles]) -> bool:
    """Whether the tiles of a row may be much more work than its tensors have elements."""
    return callable(tiles) or type(tiles) in _AMOUNTS


def of_windows(declared: Windows, given: Given) -> Work:
    """Return the terms of all windows: each on its own, unless windows are only reduced."""
    sizes, is_reduced = given["output"].sizes, declared.is_reduced(given)
    return terms(terms_of(sizes, declared.window(given), given["input"].shape[2:], is_reduced=is_reduced))


def of_in_windows(declared: InWindows, given: Given) -> Work:
    """Return the terms of the windows that contain each element, and of those that are reduced first."""
    counts, sizes = given["input_gradient"].shape, given["output_gradient"].sizes
    back = math.prod(map(most_places, sizes[2:], counts[2:], *declared.window))
    first = sum(terms_of(counts, of.window, sizes[2:]) for of in declared.first.values())
    return terms(math.prod(sizes) * back + first)


def of_correlations(declared: Correlations, given: Given) -> Work:
    """Return the products of all sums; each pass of a transposed convolution counts as many of them."""
    taps, sizes = declared.taps(given).shape, given["output"].sizes
    if not declared.is_backward(given):
        return multiplications(math.prod(sizes) * math.prod(taps[2:]))
    passes = math.prod(map(min, declared.window(given).strides, sizes[2:]))
    return multiplications(given["input"].size * taps[1] * math.prod(taps[3:]) + passes * _PASS)


_PASS = 1 << 22  # multiplications that take as long as the rest of a pass


def of_neighbours(declared: Neighbours, given: Given) -> Work:
    """Return the terms of the sums over all regions, and for gradients over those that contain each element."""
    (axes, reach), sizes = declared.of(given), given["input"].shape
    if has_everything(sizes, axes, reach):
        return terms(math.prod(sizes))
    reach, passes = ((sum(reach),) * 2, 2) if declared.is_twice else (reach, 1)
    return terms(passes * terms_of(sizes, region(sizes, axes, reach).window, sizes, is_reduced=True))


_AMOUNTS: Mapping[type, Callable[[Any, Given], Work]] = {
    Correlations: of_correlations,
    InWindows: of_in_windows,
    Neighbours: of_neighbours,
    Windows: of_windows,
}
