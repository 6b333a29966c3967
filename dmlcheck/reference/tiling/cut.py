"""Tiles of results that may be cut along some axes, with what their row says that they need of each tensor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from dmlcheck.reference.places import Places, part_at
from dmlcheck.reference.rows import WHOLE, Cut, Given, Need
from dmlcheck.reference.tiling.blocks import BLOCK, ranges, tiles_along
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.reference.tiling.request import Request


def of_cut(declared: Cut, request: Request) -> Iterator[Piece]:
    """Yield tiles of at most as many elements as the row says; none of results that have no elements."""
    given = request.given
    outputs = request.outputs if declared.sizes is None else {}
    sizes = next(iter(outputs.values())) if declared.sizes is None else declared.sizes(given)
    if 0 in sizes:
        return
    axes = range(len(sizes)) if declared.axes is None else declared.axes(given)
    asks = request.asks_for("places")
    usual = _same if axes else WHOLE
    needs = {**dict.fromkeys(request.tensors, usual), **declared.needs}
    cut = [name for name, own in outputs.items() if _agree(own, sizes, axes)]
    whole = math.prod(size for axis, size in enumerate(sizes) if axis not in axes)
    for index in tiles_along(axes, sizes, max(1, declared.blocks * BLOCK // max(1, whole * declared.depth(given)))):
        places = ranges(index, sizes)
        operands = tuple(_needed(need, name, places, request) for name, need in needs.items())
        formula = partial(request.formula, places=places) if asks else request.formula
        where = {name: index if name in cut else () for name in outputs}
        if declared.sizes is not None:
            where = dict.fromkeys(request.names or request.outputs, declared.where(places, given))
        yield Piece(request.where(where), formula, operands, request.is_exact)


def _agree(sizes: Sequence[int], others: Sequence[int], axes: Iterable[int]) -> bool:
    """Whether two tensors have the same sizes along some axes."""
    return len(sizes) == len(others) and all(sizes[axis] == others[axis] for axis in axes)


def _needed(need: Need, name: str, places: Places, request: Request) -> Any:
    """Return what a tile needs of a tensor, None of one that is not given; or what is made for it."""
    x = request.tensors.get(name)
    return None if x is None and name in request.tensors else need(x, places, request.given)


def _same(x: Any, places: Places, _: Given) -> Any:
    """Return the same places of a tensor, and all of it along axes on which it has size 1."""
    return part_at(x, places)
