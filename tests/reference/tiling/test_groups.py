"""Tiles in which groups along some axes are whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from grouped import blocks_of, built
from hypothesis import given, settings
from hypothesis import strategies as st
from long_groups import numbered, shapes_and_axes

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.rows import Groups
from dmlcheck.reference.tiling import cut as tiling
from dmlcheck.reference.tiling.cut import of_groups
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.reference.tiling.request import Tile

Array = np.ndarray[Any, Any]

anytime = settings(deadline=None)


def groups(formula: Any, axes: tuple[int, ...], *operands: Any, is_exact: bool = False) -> Iterator[Tile]:
    """Yield the tiles of a formula of these operands, with groups along axes of the first."""
    request: Any = SimpleNamespace(
        given={},
        formula=formula,
        tensors=dict(enumerate(operands)),
        is_exact=is_exact,
        asks_for=lambda _: False,
        everywhere=lambda index: index,
    )
    return of_groups(Groups(lambda _: axes), request)


def itself(x: Any) -> Any:
    return x


def filled(tensor: Array, axes: tuple[int, ...], formula: Any, reduced: bool, is_exact: bool) -> Array:
    """Return what a formula makes of all groups, each element written once."""
    sizes = [1 if axis in axes and reduced else size for axis, size in enumerate(tensor.shape)]
    output = np.full(sizes, -1)
    for tile in groups(formula, axes, tensor, is_exact=is_exact):
        result = tile.formula(*tile.operands)
        cuts = result.cuts if isinstance(result, Blocks) else [()]
        for cut in cuts:
            part = output[tile.where][cut]
            assert (part == -1).all()
            part[...] = result.block(cut) if isinstance(result, Blocks) else result
    return output


@anytime
@given(shapes_and_axes(), st.integers(1, 40), st.booleans())
def test_groups_hold_every_element_once_whether_they_come_whole_or_in_blocks(
    drawn: tuple[tuple[int, ...], tuple[int, ...]], block: int, is_exact: bool
) -> None:
    sizes, axes = drawn
    tensor = numbered(sizes)
    with blocks_of(block):
        same = filled(tensor, axes, itself, False, is_exact)
        sums = filled(tensor, axes, lambda x: np.add.reduce(x, axis=axes, keepdims=True), True, is_exact)
    assert same.tolist() == tensor.tolist()
    assert sums.tolist() == tensor.sum(axis=axes, keepdims=True).tolist()


@anytime
@given(shapes_and_axes(), st.integers(1, 40), st.integers(1, 4))
def test_a_group_of_up_to_a_block_is_whole_and_longer_ones_come_in_blocks_of_their_elements(
    drawn: tuple[tuple[int, ...], tuple[int, ...]], block: int, columns: int
) -> None:
    sizes, axes = drawn
    length = math.prod(sizes[axis] for axis in axes)
    with blocks_of(block), pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiling, "COLUMNS", columns)
        for tile in groups(itself, axes, numbered(sizes)):
            (x,) = tile.operands
            assert isinstance(x, Blocks) == (length > block)
            side_by_side = x.size // length
            most = max(2 * block, columns * length)
            assert x.size <= most or side_by_side == 1
            for part in x.parts() if isinstance(x, Blocks) else ():
                assert part.size <= max(block, side_by_side)


def test_other_operands_come_in_the_same_parts_and_those_that_are_left_out_do_not() -> None:
    x, y = numbered((4, 6)), numbered((4, 6)) * 100
    for block in (1, 6, 12, 100):
        with blocks_of(block):
            for tile in groups(itself, (1,), x, y, None):
                one, hundred, none = tile.operands
                assert none is None
                found = one + hundred
                cuts = found.cuts if isinstance(found, Blocks) else [()]
                for cut in cuts:
                    part = found.block(cut) if isinstance(found, Blocks) else found
                    assert part.tolist() == (101 * x[tile.where][cut]).tolist()


def test_a_column_that_is_read_alone_would_read_its_neighbours_too() -> None:
    tensor = np.broadcast_to(np.float32(1), (70_000, 40))
    assert [tile.operands[0].shape for tile in groups(min, (0,), tensor)] == [(70_000, 16), (70_000, 16), (70_000, 8)]
    assert [tile.operands[0].shape for tile in groups(min, (1,), tensor.T)] == [(1, 70_000)] * 40


@pytest.mark.parametrize("sizes", [(3, 1, 1), (3, 2, 1), (3, 1, 5), (3, 2, 5)])
def test_operands_with_size_1_along_the_axes_come_with_every_block(sizes: tuple[int, ...]) -> None:
    tensor, other = numbered((3, 2, 5)), numbered(sizes) + 1000
    with blocks_of(2):
        tiles = list(groups(lambda x, y: x * 10 + y, (2, 1), tensor, other))
    for tile in tiles:
        found = tile.formula(*tile.operands)
        for cut, part in zip(found.cuts, found.parts(), strict=True):
            assert part.tolist() == (tensor * 10 + other)[tile.where][cut].tolist()
        assert isinstance(tile.operands[1], Blocks) == (sizes[1:] != (1, 1))
    assert len(tiles) == 3


def test_the_row_says_along_which_axes_groups_are() -> None:
    with blocks_of(4):
        softmax = tiles_of(*built("ACTIVATION_SOFTMAX", np.ones((6, 2), np.float32)))
        assert [tile.where for tile in softmax] == [(slice(start, start + 4), slice(None)) for start in (0, 4)]
        reduce = tiles_of(*built("REDUCE", np.ones((6, 2), np.float32), Function="SUM", Axes=[0]))
        assert [tile.operands[0].shape for tile in reduce] == [(6, 2)]
