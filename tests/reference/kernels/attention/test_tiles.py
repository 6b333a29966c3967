"""The tiles of an attention: where they are in the outputs, and what they need, picked by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.kernels.attention import tiles
from dmlcheck.reference.kernels.attention.tiles import AttentionInput, AttentionInputs, parts_of

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


def test_starts_count_the_queries_and_keys_of_all_batches() -> None:
    """Two batches of 4 queries and 5 keys: queries from 0, 3 and 8, keys from 0 and 3, 3 and 4 of them.

    The last query of the first batch sees no key. The keys of the second are 5 to 6, and its queries 4 to 7.
    """
    need = tiles.of_mask(np.array([[3, 4, 0, 3, 8, 0, 3, 10]], np.int32), tiles.STARTS, (2, 3, 1, 4, 5))
    seen = need(None, [range(2), range(1), range(1), range(4)], {})
    assert seen.shape == (2, 1, 1, 4, 5)
    assert seen[0, 0, 0].astype(int).tolist() == [[1, 1, 1, 0, 0]] * 3 + [[0] * 5]
    assert seen[1, 0, 0].astype(int).tolist() == [[1, 1, 0, 0, 0]] * 4
    of_tile = need(None, [range(1, 2), range(1, 2), range(1), range(2, 4)], {})
    assert of_tile.tolist() == seen[1:, :, :, 2:].tolist()


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
    [
        (5, {}, [2, 3, 0]),
        (6, {}, [0, 0, 6]),
        (6, {"past_sequence_lengths": np.zeros(1)}, [2, 3, 1]),
        (4, {}, [0, 0, 4]),
    ],
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
    assert own.tiles.where(places, given) == (0, slice(0, 1), slice(1, 2), slice(3, 5), slice(0, 2, 1))
    assert own.tiles.needs["own"](None, places, {}).tolist() == KEY[:, 1:2, 0, 1:3].tolist()
    assert own.tiles.needs["bias"](None, places, {}) is None


def test_a_later_step_is_behind_the_earlier_ones_of_its_batch() -> None:
    """Two batches of 3 keys, of which 1 and 4 are known, in an output for 6: the second has no room."""
    key = np.arange(12, dtype=np.float32).reshape(2, 1, 1, 3, 2)
    given = {
        "output_present_key": TensorDesc("FLOAT32", (2, 1, 6, 2)),
        "past_sequence_lengths": np.array([1, 4], np.int32),
    }
    before, own, rest, other = tiles.sections(given, "output_present_key", AttentionInput(key))
    assert [each.tiles.sizes(given) for each in (before, own, rest, other) if each.tiles.sizes is not None] == [
        (1, 1, 1, 2),
        (1, 1, 3, 2),
        (1, 1, 2, 2),
        (1, 1, 6, 2),
    ]
    assert (before.formula, rest.formula, other.formula) == (tiles.undefined,) * 3
    places = [range(1), range(1), range(1, 3), range(2)]
    assert own.tiles.where is not None
    assert own.tiles.where(places, given) == (slice(0, 1), slice(0, 1), slice(2, 4), slice(0, 2, 1))
    found = own.formula(**{name: need(None, places, given) for name, need in own.tiles.needs.items()})
    assert found.tolist() == key[:1, :, 0, 1:3].tolist()


# ---- query, key and value from each layout
Array = np.ndarray[Any, Any]
BATCH, HEADS, QUERIES, KEYS, SIZE, WIDTH = 2, 3, 4, 5, 6, 7


def numbered(*sizes: int) -> Array:
    return np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)


def found(groups: int = HEADS, width: int = WIDTH, **tensors: Array) -> AttentionInputs | None:
    output = SimpleNamespace(sizes=(BATCH, QUERIES, HEADS * width))
    return parts_of({"output": output, **tensors}, HEADS, groups)


def separate(groups: int = HEADS) -> dict[str, Array]:
    return {
        "query": numbered(BATCH, QUERIES, HEADS * SIZE),
        "key": numbered(BATCH, KEYS, groups * SIZE),
        "value": numbered(BATCH, KEYS, groups * WIDTH),
    }


def test_heads_that_are_side_by_side_are_taken_apart() -> None:
    parts = found(**separate())
    assert parts is not None
    assert [part.own.shape for part in parts] == [(2, 3, 1, 4, 6), (2, 3, 1, 5, 6), (2, 3, 1, 5, 7)]
    b, h, t, d = 1, 2, 3, 4
    assert parts.k.own[b, h, 0, t, d] == separate()["key"][b, t, h * SIZE + d]
    assert parts.sizes_of_scores == (BATCH, HEADS, QUERIES, KEYS)


def test_several_heads_of_the_query_in_a_row_share_a_key_head() -> None:
    parts = found(1, **separate(1))
    assert parts is not None
    assert parts.q.own.shape == (2, 1, 3, 4, 6)
    assert parts.q.own[1, 0, 2, 3, 4] == separate()["query"][1, 3, 2 * SIZE + 4]


@pytest.mark.parametrize(
    ("name", "places", "others"),
    [
        ("stacked_query_key", {"q": 0, "k": 1}, ("value",)),
        ("stacked_key_value", {"k": 0, "v": 1}, ("query",)),
        ("stacked_query_key_value", {"q": 0, "k": 1, "v": 2}, ()),
    ],
)
def test_parts_that_are_stacked_are_taken_by_their_place(
    name: str, places: dict[str, int], others: tuple[str, ...]
) -> None:
    stack = numbered(BATCH, QUERIES, HEADS, len(places), SIZE)
    own = {"query": numbered(BATCH, QUERIES, HEADS * SIZE), "value": numbered(BATCH, QUERIES, HEADS * SIZE)}
    parts = found(width=SIZE, **{name: stack}, **{other: own[other] for other in others})
    assert parts is not None
    for part, place in places.items():
        assert np.array_equal(getattr(parts, part).own[:, :, 0], stack[:, :, :, place].transpose(0, 2, 1, 3))


def test_a_bias_has_query_key_and_value_one_after_another() -> None:
    bias = numbered(HEADS * (SIZE + SIZE + WIDTH))
    parts = found(**separate(), bias=bias)
    assert parts is not None
    assert parts.q.bias[0, 2, 0, 0, 1] == 2 * SIZE + 1
    assert parts.k.bias[0, 2, 0, 0, 1] == HEADS * SIZE + 2 * SIZE + 1
    assert parts.v.bias[0, 2, 0, 0, 1] == 2 * HEADS * SIZE + 2 * WIDTH + 1


def test_earlier_steps_count_and_may_have_leading_dimensions_of_size_1() -> None:
    past = {"past_key": numbered(1, BATCH, HEADS, 8, SIZE), "past_value": numbered(BATCH, HEADS, 8, WIDTH)}
    parts = found(**separate(), **past)
    assert parts is not None
    assert parts.k.past.shape == (2, 3, 1, 8, 6)
    assert (parts.k.length, parts.q.length) == (KEYS + 8, QUERIES)


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": numbered(BATCH, QUERIES, HEADS * SIZE + 1)},
        {"query": numbered(BATCH, QUERIES + 1, HEADS * SIZE)},
        {"query": numbered(2, BATCH, QUERIES, HEADS * SIZE)},
        {"key": numbered(BATCH, KEYS + 1, HEADS * SIZE)},
        {"key": numbered(BATCH, KEYS, HEADS * (SIZE + 1))},
        {"value": numbered(BATCH, KEYS, HEADS * (WIDTH + 1))},
        {"value": numbered(BATCH + 1, KEYS, HEADS * WIDTH)},
        {"bias": numbered(1)},
        {"past_key": numbered(BATCH, HEADS, 8, SIZE)},
    ],
)
def test_sizes_that_do_not_agree_are_none(wrong: dict[str, Array]) -> None:
    assert found(**{**separate(), **wrong}) is None


def test_key_heads_divide_the_heads_of_the_query() -> None:
    assert found(2, **separate(2)) is None


def test_a_part_without_tensors_has_no_length() -> None:
    assert AttentionInput(None).length == 0


@pytest.mark.parametrize(
    ("queries", "keys", "size", "depth"),
    [
        (100, 10, 8, 10.0),  # a row has the scores of 10 keys
        (100, 10, 50, 50.0),  # or 50 elements of its query
        (1, 64, 50, 3200.0),  # the only row needs all keys
        (64, 64, 1 << 16, 2.0**16),  # 64 keys of 2^16 elements are more than a tile, and come in blocks
        (8, 64, 1 << 16, 2.0**20 / 8),  # all 8 rows of a head, and no other head
    ],
)
def test_rows_share_the_keys_of_their_head(queries: int, keys: int, size: int, depth: float) -> None:
    key = AttentionInput(np.broadcast_to(np.float32(0), (1, 2, 1, keys, size)))
    query = AttentionInput(np.broadcast_to(np.float32(0), (1, 2, 1, queries, size)))
    assert AttentionInputs(query, key, key).depth() == depth


def test_wide_values_count_as_wide_keys_do() -> None:
    query, key, value = (AttentionInput(np.broadcast_to(np.float32(0), (1, 1, 1, 9, size))) for size in (4, 4, 70))
    assert AttentionInputs(query, key, value).depth() == 70


def test_a_row_has_its_part_of_mask_and_position() -> None:
    query, key = (AttentionInput(np.zeros((1, 1, 1, length, 4), np.float32)) for length in (100, 30))
    assert [AttentionInputs(query, key, key).depth(of_scores) for of_scores in (1, 2, 3)] == [30, 60, 90]
