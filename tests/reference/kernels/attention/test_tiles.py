"""The tiles of an attention: where they are in the outputs, and what they need, picked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.kernels.attention import tiles
from dmlcheck.reference.kernels.attention.tiles import AttentionInput, AttentionInputs

PLACES = [range(1, 2), range(1, 3), range(1), range(5, 7)]  # batch, key heads, own heads of each, queries
KEY = np.arange(12, dtype=np.float32).reshape(1, 2, 1, 3, 2)  # 2 heads, 3 keys of 2 elements
PAST = -np.arange(8, dtype=np.float32).reshape(1, 2, 1, 2, 2)


def test_heads_are_beside_each_other_in_the_output() -> None:
    """4 heads of width 3, two for each key head: tiles of key head 1 have columns from 6 on."""
    given = {"output": TensorDesc("FLOAT32", (1, 2, 9, 12)), "head_count": 4}
    index = tiles.side_by_side(2, [range(1, 2), range(1, 2), range(1), range(5, 7)], given)
    assert index == (0, slice(1, 2), slice(5, 7), slice(6, 9))


def test_keys_are_those_of_the_heads_of_a_tile() -> None:
    x = np.arange(24).reshape(2, 3, 1, 2, 2)
    assert tiles.at(None)(None, PLACES, {}) is None
    (own, bias, past) = tiles.of_heads(AttentionInput(x, x[:1], None))(None, PLACES, {})
    assert own.tolist() == x[1:2, 1:3].tolist()
    assert bias.tolist() == x[:1, 1:3].tolist()
    assert past is None


@pytest.mark.parametrize(("most", "lengths"), [(10, None), (9, [2, 2, 1]), (7, [1] * 5), (1, [1] * 5)])
def test_keys_that_do_not_fit_into_a_tile_come_in_blocks_of_half_a_tile(
    most: int, lengths: list[int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """5 keys of 2 elements: half of 9 elements is for 2 keys."""
    monkeypatch.setattr(tiles, "ELEMENTS_OF_TILE", most)
    keys = np.arange(10).reshape(1, 1, 1, 5, 2)
    found = tiles.in_blocks(keys)
    parts = list(found.parts()) if isinstance(found, Blocks) else None
    assert (None if parts is None else [part.shape[3] for part in parts]) == lengths
    assert parts is None or np.array_equal(np.concatenate(parts, axis=3), keys)
    assert tiles.in_blocks(None) is None


def test_lengths_of_each_batch_are_in_its_scores() -> None:
    """Two starts and two ends for 2 batches; a mask of the scores has the heads in two dimensions."""
    found = tiles.as_scores(np.array([[1, 2], [3, 4]]), "KEY_SEQUENCE_LENGTH", (2, 1, 1, 1, 5))
    assert found[:, 0, 0, 0].tolist() == [[1, 3], [2, 4]]
    assert tiles.as_scores(np.zeros((2, 6, 4, 5)), "BOOLEAN", (2, 3, 2, 4, 5)).shape == (2, 3, 2, 4, 5)
    assert tiles.as_scores(None, "NONE", (2, 3, 2, 4, 5)) is None


def test_queries_may_be_cut_along_all_axes_but_their_elements() -> None:
    query = AttentionInput(np.zeros((1, 2, 1, 7, 2), np.float32))
    found = AttentionInputs(query, AttentionInput(KEY), AttentionInput(KEY))
    cut = tiles.queries({"mask_type": "NONE", "past_sequence_lengths": np.zeros(1)}, found)
    assert cut.sizes is not None
    assert cut.sizes({}) == (1, 2, 1, 7)
    last = cut.needs["last"](None, [range(1), range(2), range(1), range(5, 7)], {})
    assert last.ravel().tolist() == [5, 6]
    (keys, bias, past) = cut.needs["k"](None, [range(1), range(1, 2), range(1), range(5, 7)], {})
    assert keys.tolist() == KEY[:, 1:].tolist()
    assert bias is None
    assert past is None


def sections(sizes: tuple[int, ...], part: AttentionInput | None, **given: Any) -> list[tuple[int, ...]]:
    """Return the sizes of the sections of an output."""
    fields = {"output_present_key": TensorDesc("FLOAT32", sizes), **given}
    found = tiles.sections(fields, "output_present_key", part)
    return [section.tiles.sizes(fields) for section in found if section.tiles.sizes is not None]


@pytest.mark.parametrize(
    ("length", "room", "lengths"),
    [(5, {}, [2, 3, 0]), (6, {}, [0, 0, 6]), (6, {"past_sequence_lengths": KEY}, [2, 3, 1]), (4, {}, [0, 0, 4])],
)
def test_present_keys_are_those_of_earlier_steps_then_those_of_this_step_and_the_rest_is_undefined(
    length: int, room: dict[str, Any], lengths: list[int]
) -> None:
    """If the sizes do not agree, all are undefined; with PastSequenceLengths there may be room for more."""
    found = sections((1, 2, length, 2), AttentionInput(KEY, None, PAST), **room)
    assert found == [(1, 2, own, 2) for own in lengths]
    assert sections((1, 2, length, 2), None, **room) == [(1, 2, own, 2) for own in (0, 0, length)]


def test_a_section_has_its_place_behind_those_before() -> None:
    given = {"output_present_key": TensorDesc("FLOAT32", (1, 1, 2, 5, 2))}
    _, own, _ = tiles.sections(given, "output_present_key", AttentionInput(KEY, None, PAST))
    places = [range(1), range(1, 2), range(1, 3), range(2)]
    assert own.tiles.where(places, given) == (0, slice(0, 1, 1), slice(1, 2, 1), slice(3, 5), slice(0, 2, 1))
    assert own.tiles.needs["own"](None, places, {}).tolist() == KEY[:, 1:2, 0, 1:3].tolist()
    assert own.tiles.needs["bias"](None, places, {}) is None
