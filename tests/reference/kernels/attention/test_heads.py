"""Query, key and value of an attention from each layout of the tensors that have them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.kernels.attention.tiles import AttentionInput, AttentionInputs, parts_of

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
