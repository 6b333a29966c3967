"""Tiles of the row `Neighbours`: each result depends on the region around its element."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.blocks import BLOCK, tiles_along
from dmlcheck.reference.extents import places_at_once
from dmlcheck.reference.neighbours import Everything, Region, has_everything, region
from dmlcheck.reference.places import Index
from dmlcheck.reference.results import any_of
from dmlcheck.reference.rows import Groups, Neighbours
from dmlcheck.reference.tiling.groups import of_groups
from dmlcheck.reference.tiling.request import Request
from dmlcheck.reference.tiling.tile import Tile
from dmlcheck.reference.windows import Window, part, places_at, run_at


def of_neighbours(declared: Neighbours, request: Request) -> Iterator[Tile]:
    """Yield tiles with their neighbours; whole groups, if each region contains all elements along the axes."""
    sizes, axes, reaches = (next(iter(request.outputs.values())), *declared.of(request.given))
    asks = request.asks_for("inside")
    if has_everything(sizes, axes, reaches):
        more = {"inside": True} if asks else {}
        formula = partial(request.formula, region=Everything(axes), **more)
        yield from of_groups(Groups(lambda _: axes), request._replace(formula=formula))
        return
    regions = [region(sizes, axes, reach) for reach in reaches]
    margins = [own.and_of(own.back) if declared.is_twice else own for own in regions]
    for index in _tiles(sizes, axes, margins[0].window):
        places = places_at(index, sizes)
        operands = [part(x, run_at(places, margin.window)) for margin in margins for x in request.tensors.values()]
        ways = [_way(request.formula, own, _inside(sizes, places, own) if asks else None) for own in regions]
        yield Tile(index, partial(_of_readings, ways), tuple(operands))


def _way(formula: Callable[..., Any], own: Region, inside: Any) -> Callable[..., Any]:
    """Return the formula for one reading of the documentation."""
    return partial(formula, region=own) if inside is None else partial(formula, region=own, inside=inside)


def _inside(sizes: Sequence[int], places: Sequence[slice], own: Region) -> Any:
    """Return a mask of the elements around some places: true where they are inside the tensor, not beyond its edges."""
    return part(np.broadcast_to(np.True_, tuple(sizes)), run_at(places, own.back.window))


def _of_readings(ways: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Return the results of all readings; the operands are those of each reading, one after another."""
    count = len(operands) // len(ways)
    return any_of(*(way(*operands[count * at : count * (at + 1)]) for at, way in enumerate(ways)))


def _tiles(sizes: tuple[int, ...], axes: Sequence[int], window: Window) -> Iterator[Index]:
    """Yield the indices of tiles: with whole axes, so that no neighbour is read twice, unless these are long."""
    whole = math.prod(sizes[axis] for axis in axes)
    if whole <= BLOCK:
        return tiles_along([axis for axis in range(len(sizes)) if axis not in axes], sizes, max(1, BLOCK // whole))
    return tiles_along(range(len(sizes)), sizes, places_at_once(sizes, window, sizes, is_reduced=True))
