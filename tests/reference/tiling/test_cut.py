"""Tiles of results that may be cut along some axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from installed import Install, described, floats, install

from dmlcheck.reference.rows import LINES, UNCUT, WHOLE, Cut, Kernel
from dmlcheck.reference.tiling import cut
from dmlcheck.reference.tiling.plan import pieces

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
    return [(piece.where, *piece.formula(*piece.operands)) for piece in pieces(desc, inputs)]


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

    assert seen_by(Cut(lambda _: (0,), {"a": row_of, "b": WHOLE}), install, monkeypatch) == [
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
    found = [piece.formula(*piece.operands) for piece in pieces(desc, {"ATensor": floats(1, 2, 3).reshape(1, 3)})]
    assert found == [([[1, 2]], (None, [1, 2], (1, 3))), ([[3]], (None, [1, 1], (1, 3)))]


def test_a_tile_may_need_whole_lines(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "BLOCK", 2)
    install("GATHER_ELEMENTS", Kernel(lambda input: input.tolist(), Cut(needs={"input": LINES})))
    fields = {"InputTensor": ("FLOAT32", 3, 2), "IndicesTensor": ("INT32", 1, 2), "OutputTensor": ("FLOAT32", 1, 2)}
    desc = described("GATHER_ELEMENTS", **fields, Axis=0)
    (tile,) = pieces(desc, {"InputTensor": floats(1, 2, 3, 4, 5, 6).reshape(3, 2)})
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
        found = pieces(desc, {"InputTensor": floats(1, 2, 3, 4).reshape(2, 2)})
        assert [(piece.where, piece.formula(*piece.operands)) for piece in found] == expected
