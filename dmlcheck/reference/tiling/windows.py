"""Tiles of the row `Windows`: each result depends on the elements of a tensor in a window."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import BLOCK, Blocks, ranges, tiles_along
from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.functions.windows import View, Window, part, places_at, view
from dmlcheck.reference.rows import Windows
from dmlcheck.reference.tiling.extents import LARGE, places_at_once
from dmlcheck.reference.tiling.request import Request
from dmlcheck.reference.tiling.tile import Tile


def of_windows(declared: Windows, request: Request) -> Iterator[Tile]:
    """Yield tiles with the elements that their windows cover."""
    given, outputs = request.given, request.outputs
    x, *others = request.tensors.values()
    sizes = next(iter(outputs.values()))
    window, is_reduced = declared.window(given), declared.is_reduced(given)
    fill = of_channels(declared.fill(given), x.ndim)
    numbers = [of_channels(other, x.ndim) for other in others]
    asks = request.asks_for("places")
    for index, seen, under in views(x, window, sizes, fill, is_reduced=is_reduced):
        more = {"places": ranges(index, sizes)} if asks else {}
        own = (each if np.size(each) <= 1 else each[:, index[1]] for each in numbers)
        formula = partial(request.formula, seen=seen, **more)
        operands = (in_blocks(under, seen) if is_reduced and not request.is_exact else under, *own)
        yield Tile(request.where(dict.fromkeys(outputs, index)), formula, operands, request.is_exact)


def of_channels(x: Any, rank: int) -> Any:
    """Return a tensor of one element, or of one for each channel, in `rank` dimensions; None stays None."""
    return x.reshape(1, x.size, *[1] * (rank - 2)) if isinstance(x, (np.ndarray, Ball)) else x


def views(
    input: Any,
    window: Window,
    sizes: tuple[int, ...],
    fill: Any = 0,
    *,
    is_whole: bool = False,
    is_reduced: bool = False,
) -> Iterator[tuple[Index, View, Any]]:
    """Yield parts of an output of these sizes: the index, the view of the input, and the elements of the view.

    Elements beyond the edges are `fill`: a number, or one for each channel in the input's number of dimensions. Parts
    are so small that the elements of all their windows fit into a block; if these are only reduced, the input's
    elements.
    """
    lead = input.ndim - len(window.size)
    spatial = input.shape[lead:]
    at_once = places_at_once(sizes, window, spatial, is_whole=is_whole, is_reduced=is_reduced)
    for index in tiles_along(range(input.ndim), sizes, at_once):
        seen = view(places_at(index[lead:], sizes[lead:]), window, spatial, is_whole=is_whole)
        own = fill if np.size(fill) == 1 else fill[:, index[1]]
        yield index, seen, part(input[index[:lead]], seen, own)


def in_blocks(x: Any, seen: View) -> Any:
    """Return the elements of a view as Blocks, if they are one large window; else as they are."""
    window = seen.slid
    if x.size <= LARGE or 0 in window.dilations or any(count > 1 for count in seen.counts):
        return x
    under = x[(..., *(slice(None, None, step) for step in window.dilations))]
    spatial = range(under.ndim - len(seen.places), under.ndim)
    return Blocks(under.shape, list(tiles_along(spatial, under.shape, BLOCK)), under.__getitem__)
