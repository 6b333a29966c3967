"""Tiles of results that may be cut along some axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from grouped import blocks_of, built
from hypothesis import given, settings
from hypothesis import strategies as st
from installed import Install, described, floats, install
from long_groups import numbered, shapes_and_axes

from dmlcheck.reference import engine
from dmlcheck.reference.arrays.blocks import Blocks, widened
from dmlcheck.reference.arrays.needs import LINES, WHOLE
from dmlcheck.reference.arrays.places import Places, part_at
from dmlcheck.reference.results import UNDEFINED
from dmlcheck.reference.rows import UNCUT, Cut, EachOutput, Groups, Kernel, Section, SeparateOutputs
from dmlcheck.reference.tiling import cut
from dmlcheck.reference.tiling import cut as tiling
from dmlcheck.reference.tiling.cut import of_groups
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.reference.tiling.request import Tile

__all__ = ["install"]


def seen_by(declared: Cut, install: Install, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what tiles of two elements get of two tensors, and their places."""

    def add(a: Any, b: Any, *, places: Sequence[range]) -> Any:
        return a.tolist(), b.tolist(), list(map(list, places))

    monkeypatch.setattr(cut, "BLOCK", 2)
    install("ELEMENT_WISE_ADD", Kernel(add, declared))
    sizes = ("FLOAT32", 2, 3)
    desc = described("ELEMENT_WISE_ADD", ATensor=sizes, BTensor=sizes, OutputTensor=sizes)
    inputs = {"ATensor": floats(1, 2, 3, 4, 5, 6).reshape(2, 3), "BTensor": floats(7, 8, 9).reshape(1, 3)}
    return [(tile.where, *tile.formula(*tile.operands)) for tile in tiles_of(desc, inputs)]


def test_a_tile_has_the_same_places_of_all_tensors_and_all_of_what_is_there_once(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seen_by(Cut(), install, monkeypatch) == [
        ((slice(0, 1), slice(0, 2)), [[1, 2]], [[7, 8]], [[0], [0, 1]]),
        ((slice(0, 1), slice(2, 4)), [[3]], [[9]], [[0], [2]]),
        ((slice(1, 2), slice(0, 2)), [[4, 5]], [[7, 8]], [[1], [0, 1]]),
        ((slice(1, 2), slice(2, 4)), [[6]], [[9]], [[1], [2]]),
    ]


def test_a_row_says_which_axes_may_be_cut_and_what_a_tile_needs(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    def row_of(x: Any, places: Sequence[range], _: Any) -> Any:
        return x[places[0].start, :1]

    assert seen_by(Cut((0,), {"a": row_of, "b": WHOLE}), install, monkeypatch) == [
        ((slice(0, 1), slice(None)), [1], [[7, 8, 9]], [[0], [0, 1, 2]]),
        ((slice(1, 2), slice(None)), [4], [[7, 8, 9]], [[1], [0, 1, 2]]),
    ]


def test_what_is_not_cut_is_one_tile(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    (tile,) = seen_by(UNCUT, install, monkeypatch)
    assert tile[3] == [[0, 1], [0, 1, 2]]


def test_a_tile_may_have_what_is_made_for_it(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    def total(x: Any, places: Sequence[range], given: Any) -> Any:
        return x, [*map(len, places)], given["output"].sizes

    monkeypatch.setattr(cut, "BLOCK", 2)
    install("ELEMENT_WISE_ADD", Kernel(lambda a, made: (a.tolist(), made), Cut(needs={"made": total})))
    sizes = ("FLOAT32", 1, 3)
    desc = described("ELEMENT_WISE_ADD", ATensor=sizes, BTensor=sizes, OutputTensor=sizes)
    found = [tile.formula(*tile.operands) for tile in tiles_of(desc, {"ATensor": floats(1, 2, 3).reshape(1, 3)})]
    assert found == [([[1, 2]], (None, [1, 2], (1, 3))), ([[3]], (None, [1, 1], (1, 3)))]


def test_a_tile_may_need_whole_lines(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "BLOCK", 2)
    install("GATHER_ELEMENTS", Kernel(lambda input: input.tolist(), Cut(needs={"input": LINES})))
    fields = {"InputTensor": ("FLOAT32", 3, 2), "IndicesTensor": ("INT32", 1, 2), "OutputTensor": ("FLOAT32", 1, 2)}
    desc = described("GATHER_ELEMENTS", **fields, Axis=0)
    (tile,) = tiles_of(desc, {"InputTensor": floats(1, 2, 3, 4, 5, 6).reshape(3, 2)})
    assert tile.formula(*tile.operands) == [[1, 2], [3, 4], [5, 6]]


def test_results_may_be_cut_in_another_order_and_be_a_part_of_the_output(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    def turned(places: Sequence[range], _: Any) -> Any:
        return places[1].start, slice(places[0].start + 1, places[0].stop + 1)

    def one(x: Any, places: Sequence[range], _: Any) -> Any:
        return x[places[1].start, places[0].start + 1]

    monkeypatch.setattr(cut, "BLOCK", 1)
    declared = Cut(needs={"input": one}, sizes=lambda _: (1, 2), where=turned)
    install("ELEMENT_WISE_NEGATE", Kernel(lambda input: input, declared))
    install("ELEMENT_WISE_IDENTITY", Kernel(lambda input: input, declared._replace(sizes=lambda _: (0, 2))))
    sizes = ("FLOAT32", 2, 2)
    for operator, expected in (
        ("ELEMENT_WISE_NEGATE", [((0, slice(1, 2)), 2.0), ((1, slice(1, 2)), 4.0)]),
        ("ELEMENT_WISE_IDENTITY", []),
    ):
        desc = described(operator, InputTensor=sizes, OutputTensor=sizes)
        found = tiles_of(desc, {"InputTensor": floats(1, 2, 3, 4).reshape(2, 2)})
        assert [(tile.where, tile.formula(*tile.operands)) for tile in found] == expected


def test_a_tile_has_one_place_of_the_first_axis_where_each_takes_another_number_of_elements(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = seen_by(Cut(blocks=3, depth=lambda _: [1, 2.5]), install, monkeypatch)
    assert [where for where, *_ in found] == [
        (slice(0, 1), slice(None)),
        (slice(1, 2), slice(0, 2)),
        (slice(1, 2), slice(2, 4)),
    ]


def test_some_tensors_come_as_they_are_and_the_others_as_numbers(install: Install) -> None:
    def formula(a: Any, b: Any, *, places: Sequence[range]) -> Any:
        return str(a.dtype), str(b.dtype), len(places)

    install("ELEMENT_WISE_ADD", Kernel(formula, Cut(as_is=("a",))))
    desc = described("ELEMENT_WISE_ADD", **dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), ("FLOAT32", 2)))
    inputs = {"ATensor": floats(1, 2), "BTensor": floats(3, 4)}
    (tile,) = tiles_of(desc, inputs)
    assert tile.formula(*map(widened, tile.operands)) == ("float32", "float64", 1)


def test_outputs_may_be_cut_apart(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    def largest(input: Any, *, output_value: Any, places: Sequence[range]) -> Any:
        return input.tolist(), output_value is None, [*map(len, places)]

    monkeypatch.setattr(cut, "BLOCK", 2)
    cuts = {"output_index": Cut((0,), {"input": WHOLE}), "output_value": Cut()}
    install("TOP_K", Kernel(largest, EachOutput(cuts)))
    names = {"InputTensor": "FLOAT32", "OutputValueTensor": "FLOAT32", "OutputIndexTensor": "UINT32"}
    desc = described("TOP_K", **{name: (of, 1, 3) for name, of in names.items()}, Axis=1, K=3)
    found = tiles_of(desc, {"InputTensor": floats(1, 2, 3).reshape(1, 3)})
    assert [(tile.where, tile.formula(*tile.operands)) for tile in found] == [
        ({"output_index": (slice(None), slice(None))}, ([[1, 2, 3]], True, [1, 3])),
        ({"output_value": (slice(0, 1), slice(0, 2))}, ([[1, 2]], False, [1, 2])),
        ({"output_value": (slice(0, 1), slice(2, 4))}, ([[3]], False, [1, 1])),
    ]


# ---- groups
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
        for place in cuts:
            part = output[tile.where][place]
            assert (part == -1).all()
            part[...] = result.block(place) if isinstance(result, Blocks) else result
    return output


@pytest.mark.slow
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


@pytest.mark.slow
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
        for place, part in zip(found.cuts, found.parts(), strict=True):
            assert part.tolist() == (tensor * 10 + other)[tile.where][place].tolist()
        assert isinstance(tile.operands[1], Blocks) == (sizes[1:] != (1, 1))
    assert len(tiles) == 3


def test_the_row_says_along_which_axes_groups_are() -> None:
    with blocks_of(4):
        softmax = tiles_of(*built("ACTIVATION_SOFTMAX", np.ones((6, 2), np.float32)))
        assert [tile.where for tile in softmax] == [(slice(start, start + 4), slice(None)) for start in (0, 4)]
        reduce = tiles_of(*built("REDUCE", np.ones((6, 2), np.float32), Function="SUM", Axes=[0]))
        assert [tile.operands[0].shape for tile in reduce] == [(6, 2)]


# ---- separate outputs
def section(formula: Any, start: int, stop: int, **tensors: Any) -> Section:
    """Return a section of a row, from one place to before another."""

    def where(places: Places, _: Any) -> Any:
        return 0, slice(places[1].start + start, places[1].stop + start)

    needs = {name: lambda _, places, __, x=x: part_at(x, places) for name, x in tensors.items()}
    return Section(formula, Cut(None, needs, sizes=lambda _: (1, stop - start), where=where), is_exact=True)


def test_the_other_outputs_have_sections_with_formulas_of_their_own(install: Install, monkeypatch: Any) -> None:
    """Here the indices are two of the input, twice one, and an undefined one."""

    def tiles(given: Any) -> SeparateOutputs:
        x = given["input"].astype(np.uint32)
        parts = [
            section(lambda x: x, 0, 2, x=x),
            section(lambda x: 2 * x, 2, 3, x=x[:, 2:]),
            section(lambda: UNDEFINED, 3, 4),
            section(lambda: UNDEFINED, 4, 4),
        ]
        return SeparateOutputs(Cut(), {"output_index": parts})

    monkeypatch.setattr(cut, "BLOCK", 1)
    install("TOP_K", Kernel(lambda input: -input, tiles))
    sizes = ("FLOAT32", 1, 4)
    fields = {"InputTensor": sizes, "OutputValueTensor": sizes, "OutputIndexTensor": ("UINT32", 1, 4)}
    desc = described("TOP_K", **fields, Axis=1, K=4)
    found = engine.evaluate(desc, {"InputTensor": floats(3, 1, 4, 1).reshape(1, 4)})
    assert found["OutputValueTensor"].values.tolist() == [[-3, -1, -4, -1]]
    index = found["OutputIndexTensor"]
    assert index.values[0, :3].tolist() == [3, 1, 8]
    assert index.undefined is not None
    assert index.undefined.tolist() == [[False, False, False, True]]
