"""The number of elements that windows cover: how many places fit into a block, and how many terms reductions have."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmlcheck.reference.arrays.blocks import BLOCK, tiles_along
from dmlcheck.reference.functions.windows import Window, is_long_run, most_seen, places_at


def places_at_once(
    counts: Sequence[int], window: Window, sizes: Sequence[int], *, is_whole: bool = False, is_reduced: bool = False
) -> int:
    """Return how many places, in row-major order, fit into a block; `counts` may have dimensions before the spatial."""
    most = _most(window, sizes, is_whole=is_whole)
    at_once = max(1, BLOCK // max(1, math.prod(most)))
    if is_reduced:
        rest = _rest(counts, window, most)
        while at_once < BLOCK // rest and _takes(2 * at_once, counts, window, most) <= LARGE:
            at_once *= 2
    return at_once


def terms_of(
    counts: Sequence[int], window: Window, sizes: Sequence[int], *, is_whole: bool = False, is_reduced: bool = False
) -> int:
    """Return about how many terms the reductions of all windows have, and a block for each part of them."""
    at_once = places_at_once(counts, window, sizes, is_whole=is_whole, is_reduced=is_reduced)
    most = _most(window, sizes, is_whole=is_whole)
    parts = -(-math.prod(counts) // at_once)
    of_part = at_once * math.prod(most)
    if is_reduced and at_once > 1:
        of_part = min(of_part, 16 * _takes(at_once, counts, window, most) + at_once * _rest(counts, window, most))
    return parts * (of_part + BLOCK)


def _most(window: Window, sizes: Sequence[int], *, is_whole: bool) -> list[int]:
    """Return the most elements that the window covers along each dimension."""
    own = zip(sizes, window.size, window.dilations, strict=True)
    return [size if is_whole else most_seen(total, size, gap) for total, size, gap in own]


def _rest(counts: Sequence[int], window: Window, most: Sequence[int]) -> int:
    """Return how many elements a window covers, without the dimensions that are reduced as long runs."""
    own = counts[len(counts) - len(most) :]
    return math.prod(1 if is_long_run(axis, own, window) else size for axis, size in enumerate(most))


def _takes(at_once: int, counts: Sequence[int], window: Window, most: Sequence[int]) -> int:
    """Return how many elements of the tensor the windows of `at_once` places need in memory."""
    lead = len(counts) - len(most)
    first = next(tiles_along(range(len(counts)), tuple(counts), at_once))
    found = [at.stop - at.start for at in places_at(first, counts)]
    elements: int = math.prod(found[:lead])
    for count, own, size, stride, gap in zip(found[lead:], most, *window[:3], strict=True):
        elements *= min(count * own, (count - 1) * stride + (size - 1) * gap + 1)
    return elements


LARGE = 1 << 20  # elements: 8 megabytes of float64
