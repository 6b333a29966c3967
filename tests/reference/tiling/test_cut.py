"""Tiles of results that may be cut along some axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from installed import Install, described, floats, install

from dmlcheck.reference.arrays.blocks import widened
from dmlcheck.reference.arrays.needs import LINES, WHOLE
from dmlcheck.reference.rows import UNCUT, Cut, EachOutput, Kernel
from dmlcheck.reference.tiling import cut
from dmlcheck.reference.tiling.plan import tiles_of

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
