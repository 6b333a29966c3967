"""Tiles of the rows `Cut`, `EachOutput`, `SeparateOutputs` and `Groups`: parts along some axes, with their tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import BLOCK, BLOCK_AS_IS, COLUMNS, Blocks, ranges, tiles_along
from dmlcheck.reference.arrays.needs import WHOLE
from dmlcheck.reference.arrays.places import Index, Places, part_at
from dmlcheck.reference.rows import Axes, Cut, EachOutput, Given, Groups, Need, SeparateOutputs
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
    axes: Sequence[int] = range(len(sizes))
    if declared.axes is not None:
        axes = declared.axes(given) if callable(declared.axes) else declared.axes
    asks = request.asks_for("places")
    usual: Need = (lambda x, places, _: part_at(x, places)) if axes else WHOLE
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
    return len(sizes) == len(others) and all(sizes[axis] == others[axis] for axis in axes)


def _needed(need: Need, name: str, places: Places, request: Request) -> Any:
    """Return the part of a tensor that a tile needs, None if it is left out; or the value made for a parameter."""
    x = request.tensors.get(name)
    return None if x is None and name in request.tensors else need(x, places, request.given)


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
    return of_cut(declared, request._replace(names=[name], formula=partial(_named, name, formula)))


def _named(name: str, formula: Callable[..., Any], *operands: Any, **more: Any) -> dict[str, Any]:
    return {name: formula(*operands, **more)}


# ---- groups


def of_groups(declared: Groups, request: Request) -> Iterator[Tile]:
    """Yield tiles with whole groups of the first tensor.

    Groups of more than a block are Blocks, unless they must be arrays; so are tensors with an element for each of their
    elements. Tensors with one element for each group are arrays.
    """
    axes = declared.axes(request.given)
    is_asked = request.asks_for("axes") and "axes" not in request.given  # and no field sets it
    formula = partial(request.formula, axes=axes) if is_asked else request.formula
    operands = tuple(request.tensors.values())
    for index, parts in _of_groups(axes, *operands, is_exact=request.is_exact, is_whole=declared.is_whole):
        yield Tile(request.everywhere(index), formula, parts, request.is_exact)


def _of_groups(
    axes: Axes, input: Any, *more: Any, is_exact: bool, is_whole: bool
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the indices of tiles, each with the parts of the tensors that it needs."""
    block = BLOCK_AS_IS if is_exact else BLOCK
    if input.size <= block:
        yield (), (input, *more)
        return
    length = math.prod(input.shape[axis] for axis in axes)
    others = [axis for axis in range(input.ndim) if axis not in axes]
    is_alone = input.ndim - 1 in axes or (is_whole and length > block)
    side_by_side = 1 if is_alone else COLUMNS
    for index in tiles_along(others, input.shape, max(2 * block // length, side_by_side)):
        parts = [_part(x, index) for x in (input, *more)]
        if length > block and not is_whole:
            sizes = input[index].shape
            cuts = list(tiles_along(axes, sizes, max(1, block * length // math.prod(sizes))))
            parts = [_in_blocks(x, sizes, cuts, axes) for x in parts]
        yield index, tuple(parts)


def _part(x: Any, index: Index) -> Any:
    """Return the part of a tensor that a tile needs: the same places, and all of an axis of size 1."""
    if x is None:
        return None
    return x[tuple(slice(None) if size == 1 else at for at, size in zip(index, x.shape, strict=True))]


def _in_blocks(x: Any, sizes: tuple[int, ...], cuts: list[Index], axes: Axes) -> Any:
    """Return an operand as Blocks; None, and a tensor with one element for each group, stay as they are."""
    if x is None or all(x.shape[axis] == 1 for axis in axes):
        return x
    return Blocks(sizes, cuts, np.broadcast_to(x, sizes).__getitem__)
