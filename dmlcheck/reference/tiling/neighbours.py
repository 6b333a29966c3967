"""Tiles of the row `Neighbours`: each result depends on the region around its element."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import BLOCK, tiles_along
from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.functions.neighbours import Everything, Region, has_everything, region
from dmlcheck.reference.functions.windows import Window, part, places_at, run_at
from dmlcheck.reference.rows import Groups, Neighbours
from dmlcheck.reference.tiling.extents import places_at_once
from dmlcheck.reference.tiling.groups import of_groups
from dmlcheck.reference.tiling.request import Request
from dmlcheck.reference.tiling.tile import Tile


def of_neighbours(declared: Neighbours, request: Request) -> Iterator[Tile]:
    """Yield tiles with their neighbours; whole groups, if each region contains all elements along the axes."""
    sizes, axes, reach = (next(iter(request.outputs.values())), *declared.of(request.given))
    asks = request.asks_for("inside")
    if has_everything(sizes, axes, reach):
        more = {"inside": True} if asks else {}
        formula = partial(request.formula, region=Everything(axes), **more)
        yield from of_groups(Groups(lambda _: axes), request._replace(formula=formula))
        return
    own = region(sizes, axes, reach)
    window = own.twice.window if declared.is_twice else own.window
    formula = partial(request.formula, region=own)
    for index in _tiles(sizes, axes, window):
        places = places_at(index, sizes)
        operands = tuple(part(x, run_at(places, window)) for x in request.tensors.values())
        yield Tile(index, partial(formula, inside=_inside(sizes, places, own)) if asks else formula, operands)


def _inside(sizes: Sequence[int], places: Sequence[slice], own: Region) -> Any:
    """Return a mask of the elements around some places: true where they are inside the tensor, not beyond its edges."""
    return part(np.broadcast_to(np.True_, tuple(sizes)), run_at(places, own.window))


def _tiles(sizes: tuple[int, ...], axes: Sequence[int], window: Window) -> Iterator[Index]:
    """Yield the indices of tiles: with whole axes, so that no neighbour is read twice, unless these are long."""
    whole = math.prod(sizes[axis] for axis in axes)
    if whole <= BLOCK:
        return tiles_along([axis for axis in range(len(sizes)) if axis not in axes], sizes, max(1, BLOCK // whole))
    return tiles_along(range(len(sizes)), sizes, places_at_once(sizes, window, sizes, is_reduced=True))
