"""Tiles of the rows `Cut`, `EachOutput` and `SeparateOutputs`: parts along some axes, with the tensors they need."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from dmlcheck.reference.arrays.blocks import BLOCK, BLOCK_AS_IS, ranges, tiles_along
from dmlcheck.reference.arrays.needs import WHOLE
from dmlcheck.reference.arrays.places import Index, Places, part_at
from dmlcheck.reference.rows import Cut, EachOutput, Given, Need, SeparateOutputs
from dmlcheck.reference.tiling.request import Request, Tile

Sizes = tuple[int, ...]


def of_cut(declared: Cut, request: Request) -> Iterator[Tile]:
    """Yield tiles of at most the declared number of elements; none if the results have no elements."""
    return _tiles(declared, request, request.outputs if declared.sizes is None else {})


def of_each(declared: EachOutput, request: Request) -> Iterator[Tile]:
    """Yield the tiles of one output after another."""
    outputs = request.outputs
    for name in filter(outputs.__contains__, declared.cuts):
        others = {other: None for other in outputs if other != name and request.asks_for(other)}
        own = request._replace(formula=partial(request.formula, **others))
        yield from _tiles(declared.cuts[name], own, {name: outputs[name]})


def _tiles(declared: Cut, request: Request, outputs: Mapping[str, Sizes]) -> Iterator[Tile]:
    given = request.given
    sizes = next(iter(outputs.values())) if declared.sizes is None else declared.sizes(given)
    if 0 in sizes:
        return
    axes = range(len(sizes)) if declared.axes is None else declared.axes(given)
    asks = request.asks_for("places")
    usual = _same if axes else WHOLE
    needs = {**dict.fromkeys(request.tensors, usual), **declared.needs}
    cut = [name for name, own in outputs.items() if _agree(own, sizes, axes)]
    most = BLOCK * declared.blocks if declared.blocks else BLOCK_AS_IS if request.is_exact else BLOCK
    for index in _indices(declared, sizes, axes, given, most):
        places = ranges(index, sizes)
        operands = {name: _needed(need, name, places, request) for name, need in needs.items()}
        formula = partial(request.formula, places=places) if asks else request.formula
        if declared.as_is:
            formula = partial(formula, **{name: operands.pop(name) for name in declared.as_is})
            formula = partial(_by_name, formula, tuple(operands))
        where = {name: index if name in cut else () for name in outputs}
        if declared.sizes is not None:
            where = dict.fromkeys(request.names or request.outputs, declared.where(places, given))
        yield Tile(request.where(where), formula, tuple(operands.values()), request.is_exact)


def _indices(declared: Cut, sizes: Sizes, axes: Sequence[int], given: Given, elements: int) -> Iterator[Index]:
    """Yield the indices of the tiles in the results, of at most a given number of elements."""
    depth = declared.depth(given)
    whole = math.prod(size for axis, size in enumerate(sizes) if axis not in axes)
    if not isinstance(depth, Sequence):
        yield from tiles_along(axes, sizes, max(1, int(elements // max(1, whole * depth))))
        return
    rest = [axis - 1 for axis in axes if axis]
    for place, own in enumerate(depth):
        for index in tiles_along(rest, sizes[1:], max(1, int(elements // max(1, whole * own)))):
            yield (slice(place, place + 1), *index)


def _by_name(formula: Callable[..., Any], names: Sequence[str], *operands: Any) -> Any:
    return formula(**dict(zip(names, operands, strict=True)))


def _agree(sizes: Sequence[int], others: Sequence[int], axes: Iterable[int]) -> bool:
    """Whether two tensors have the same sizes along some axes."""
    return len(sizes) == len(others) and all(sizes[axis] == others[axis] for axis in axes)


def _needed(need: Need, name: str, places: Places, request: Request) -> Any:
    """Return the part of a tensor that a tile needs, None if it is left out; or the value made for a parameter."""
    x = request.tensors.get(name)
    return None if x is None and name in request.tensors else need(x, places, request.given)


def _same(x: Any, places: Places, _: Given) -> Any:
    """Return the same places of a tensor, and all of it along axes on which it has size 1."""
    return part_at(x, places)


# ---- outputs in sections


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
