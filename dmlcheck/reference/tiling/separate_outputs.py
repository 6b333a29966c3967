"""Tiles of the row `SeparateOutputs`: the first output by the formula, the others in sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from dmlcheck.reference.rows import Cut, SeparateOutputs
from dmlcheck.reference.tiling.cut import of_cut
from dmlcheck.reference.tiling.request import Request
from dmlcheck.reference.tiling.tile import Tile


def of_separate_outputs(declared: SeparateOutputs, request: Request) -> Iterator[Tile]:
    """Yield the tiles of the first output, then of the sections of the other outputs that the desc has."""
    names, tiles = iter(request.outputs), []
    if declared.first is not None:
        tiles.append(_of_output(next(names), declared.first, request, request.formula))
    for name in names:
        for part in declared.others[name]:
            own = request._replace(tensors={}, is_exact=part.is_exact)
            tiles.append(_of_output(name, part.tiles, own, part.formula))
    return chain.from_iterable(tiles)


def _of_output(name: str, declared: Cut, request: Request, formula: Callable[..., Any]) -> Iterator[Tile]:
    """Yield the tiles of one output, whose formula returns a dict with its name."""
    return of_cut(declared, request._replace(names=[name], formula=partial(_named, name, formula)))


def _named(name: str, formula: Callable[..., Any], *operands: Any, **more: Any) -> dict[str, Any]:
    return {name: formula(*operands, **more)}
