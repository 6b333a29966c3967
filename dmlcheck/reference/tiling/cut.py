"""Tiles of results that may be cut along some axes, with what their row says that they need of each tensor."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from dmlcheck.reference.rows import Cut, Places
from dmlcheck.reference.tiling.blocks import BLOCK, Index, ranges, tiles_along
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.reference.tiling.request import Request


def of_cut(declared: Cut, request: Request) -> Iterator[Piece]:
    """Yield tiles of at most as many elements as the row says."""
    outputs = request.outputs
    sizes = next(iter(outputs.values()))
    axes = range(len(sizes)) if declared.axes is None else declared.axes(request.given)
    asks = "places" in inspect.signature(request.formula).parameters
    whole = math.prod(size for axis, size in enumerate(sizes) if axis not in axes)
    for index in tiles_along(axes, sizes, max(1, declared.blocks * BLOCK // max(1, whole))):
        places = ranges(index, sizes)
        operands = tuple(_needed(declared, name, x, places, request) for name, x in request.tensors.items())
        where = {name: index if own == sizes else () for name, own in outputs.items()}
        formula = partial(request.formula, places=places) if asks else request.formula
        yield Piece(request.where(where), formula, operands, request.is_exact)


def _needed(declared: Cut, name: str, x: Any, places: Places, request: Request) -> Any:
    if x is None:
        return None
    need = declared.needs.get(name)
    return _same(x, places) if need is None else need(x, places, request.given)


def _same(x: Any, places: Places) -> Any:
    """Return the same places of a tensor, and all of it along axes on which it has size 1."""
    index: Index = tuple(
        slice(None) if size == 1 else slice(at.start, at.stop) for at, size in zip(places, x.shape, strict=True)
    )
    return x[index]
