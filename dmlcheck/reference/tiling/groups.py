"""Tiles of the row `Groups`: each has whole groups of elements along some axes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import BLOCK, BLOCK_AS_IS, COLUMNS, Blocks, tiles_along
from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.rows import Axes, Groups
from dmlcheck.reference.tiling.request import Request, Tile


def of_groups(declared: Groups, request: Request) -> Iterator[Tile]:
    """Yield tiles with whole groups of the first tensor.

    Groups of more than a block are Blocks, unless they must be arrays; so are tensors with an element for each of their
    elements. Tensors with one element for each group are arrays.
    """
    axes = declared.axes(request.given)
    formula, operands = _with_axes(request, axes), tuple(request.tensors.values())
    for index, parts in _tiles(axes, *operands, is_exact=request.is_exact, is_whole=declared.is_whole):
        yield Tile(request.everywhere(index), formula, parts, request.is_exact)


def _tiles(axes: Axes, input: Any, *more: Any, is_exact: bool, is_whole: bool) -> Iterator[tuple[Any, tuple[Any, ...]]]:
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


def _with_axes(request: Request, axes: Axes) -> Any:
    """Return the formula with the axes of its groups, if it has a parameter for them and no field sets it."""
    is_asked = request.asks_for("axes") and "axes" not in request.given
    return partial(request.formula, axes=axes) if is_asked else request.formula


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
