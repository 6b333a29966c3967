"""Attention of com.microsoft against its definition in NumPy: earlier steps, masks, hidden later keys, biases.

What the provider refuses, or does not read, is from DmlOperatorMultiHeadAttention.cpp, DmlOperatorAttention.cpp and
DmlOperatorGroupQueryAttention.cpp.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import Array, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import deviation_of, exact_steps, row_of
from dmlcheck.validation.deviations import of_provider

ATTENTION, MULTI_HEAD, GROUPED = (
    f"com.microsoft.{name}" for name in ("Attention", "MultiHeadAttention", "GroupQueryAttention")
)
BATCH, LENGTH, HEADS, HEAD, PAST = 2, 3, 2, 4, 2
HIDDEN, TOTAL = HEADS * HEAD, PAST + LENGTH
RANDOM = np.random.default_rng(3)
LENGTHS = np.array([4, 3], np.int32)
MARKS = np.array([[1, 1, 1, 1, 0], [0, 1, 1, 1, 1]], np.int32)  # of keys with the earlier ones


def drawn(*sizes: int) -> Array:
    return RANDOM.standard_normal(sizes).astype(np.float32)


def apart(x: Array) -> Array:
    """Return batch, heads, steps and elements."""
    return x.reshape(*x.shape[:2], HEADS, -1).swapaxes(1, 2).astype(np.float64)


def right(query: Array, key: Array, value: Array, hidden: Array, bias: Array | float = 0.0) -> Array:
    scores = query @ key.swapaxes(2, 3) / np.sqrt(HEAD) + bias
    weights = np.exp(np.where(hidden, -np.inf, scores))
    made: Array = (weights / weights.sum(-1, keepdims=True) @ value).swapaxes(1, 2)
    return made.reshape(BATCH, LENGTH, -1)


def hidden_keys(mask: Array | None, earlier: int, *, is_causal: bool) -> Array:
    """Return which keys are hidden: those that a mask hides, and those after a query."""
    keys = np.arange(earlier + LENGTH)
    later = keys > np.arange(earlier, earlier + LENGTH)[:, None] if is_causal else keys < 0
    if mask is None:
        return np.broadcast_to(later, (1, 1, LENGTH, len(keys)))
    seen = keys < mask[:, None] if mask.ndim == 1 else mask
    seen = seen.reshape(BATCH, 1, -1, len(keys)) > 0
    return ~seen | later


CASES = [
    (mask, causal, earlier)
    for earlier in (0, PAST)
    for causal in (0, 1)
    for mask in (
        None,
        LENGTHS - PAST + earlier,
        MARKS[:, PAST - earlier :],
        np.broadcast_to(MARKS[:, None, PAST - earlier :], (BATCH, LENGTH, earlier + LENGTH)).copy(),
    )
]


@pytest.mark.parametrize(("mask", "causal", "earlier"), CASES)
def test_attention_has_earlier_steps_and_hides_keys(mask: Array | None, causal: int, earlier: int) -> None:
    x, weights, bias = drawn(BATCH, LENGTH, 6), drawn(6, 3 * HIDDEN), drawn(3 * HIDDEN)
    past = drawn(2, BATCH, HEADS, earlier, HEAD) if earlier else None
    added = drawn(1, HEADS, LENGTH, earlier + LENGTH)
    outputs = float32(BATCH, LENGTH, HIDDEN), float32(2, BATCH, HEADS, earlier + LENGTH, HEAD)
    inputs = [x, weights, bias, mask, past, added]
    found, present = computed(node_of(ATTENTION, inputs, *outputs, num_heads=HEADS, unidirectional=causal))
    query, key, value = map(apart, np.split(x.astype(np.float64) @ weights + bias, 3, axis=2))
    if past is not None:
        key, value = (np.concatenate([old, new], axis=2) for old, new in zip(past, (key, value), strict=True))
    hidden = hidden_keys(mask, earlier, is_causal=bool(causal))
    assert found == pytest.approx(right(query, key, value, hidden, added), rel=1e-4, abs=1e-5)
    assert present == pytest.approx(np.stack([key, value]), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("mask", [None, LENGTHS, MARKS])
def test_attention_of_three_tensors_may_hide_later_keys(mask: Array | None) -> None:
    query, key, value = (drawn(BATCH, LENGTH, HIDDEN) for _ in range(3))
    past = [drawn(BATCH, HEADS, PAST, HEAD) for _ in range(2)]
    added = drawn(BATCH, 1, LENGTH, TOTAL)
    inputs = [query, key, value, None, mask, added, *past]
    outputs = float32(BATCH, LENGTH, HIDDEN), *[float32(BATCH, HEADS, TOTAL, HEAD)] * 2
    found, *_ = computed(node_of(MULTI_HEAD, inputs, *outputs, num_heads=HEADS, unidirectional=1))
    keys, values = (np.concatenate([old, apart(x)], axis=2) for old, x in zip(past, (key, value), strict=True))
    hidden = hidden_keys(mask, PAST, is_causal=True)
    assert found == pytest.approx(right(apart(query), keys, values, hidden, added), rel=1e-4, abs=1e-5)


def test_keys_with_their_heads_apart_are_those_side_by_side() -> None:
    query, key, value = (drawn(BATCH, LENGTH, HIDDEN) for _ in range(3))
    inputs = [query, *(apart(x).astype(np.float32) for x in (key, value))]
    (found,) = computed(node_of(MULTI_HEAD, inputs, float32(BATCH, LENGTH, HIDDEN), num_heads=HEADS))
    hidden = hidden_keys(None, 0, is_causal=False)
    assert found == pytest.approx(right(apart(query), apart(key), apart(value), hidden), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("more", "mask", "said"),
    [
        ({"do_rotary": 1}, None, "of do_rotary 1"),
        ({"past_present_share_buffer": 1}, None, "of past_present_share_buffer 1"),
        ({"unidirectional": 1}, zeros(1, 1, 9, 9, dtype="int32"), r"with a mask of the sizes \[1, 1, 9, 9\]"),
    ],
)
def test_what_is_not_computed_says_why(more: dict[str, Any], mask: Array | None, said: str) -> None:
    inputs = [drawn(BATCH, LENGTH, 6), drawn(6, 3 * HIDDEN), None, mask]
    with pytest.raises(Unmapped, match=said):
        exact_steps(node_of(ATTENTION, inputs, float32(BATCH, LENGTH, HIDDEN), num_heads=HEADS, **more))


def test_queries_keys_and_values_in_one_tensor_are_cut_apart() -> None:
    parts = [drawn(1, LENGTH, heads * HEAD) for heads in (HEADS, 1, 1)]
    rest = [None, None, np.array([LENGTH - 1], np.int32), np.array(LENGTH, np.int32)]
    outputs = float32(1, LENGTH, HIDDEN), *[float32(1, 1, LENGTH, HEAD)] * 2
    counts = {"num_heads": HEADS, "kv_num_heads": 1}
    one = np.concatenate(parts, axis=2)
    made, other = (
        computed(node_of(GROUPED, [*given, *rest], *outputs, **counts)) for given in (parts, [one, None, None])
    )
    assert [x.tolist() for x in made] == [x.tolist() for x in other]


# ---- the provider


def said_of(type: str, index: int, *sizes: int, key: tuple[int, ...] = (BATCH, 4, HIDDEN)) -> str:
    """Return why the provider refuses a node with an input of some sizes, "" if it does not."""
    query = TensorRef("FLOAT32", (BATCH, LENGTH, HIDDEN))
    inputs: list[Any] = [query, *[TensorRef("FLOAT32", key)] * 2, None, None, None]
    inputs[index] = TensorRef("FLOAT32" if index == 5 else "INT32", sizes)
    refusal = row_of(type).refusal
    assert refusal is not None
    found = refusal(node_of(type, inputs, query, num_heads=HEADS))
    return "" if found is None else str(found)


@pytest.mark.parametrize(
    ("sizes", "key", "is_refused"),
    [
        ((2,), (2, 4, 8), False),
        ((8,), (2, 4, 8), True),
        ((2, 4), (2, 4, 8), False),
        ((2, 4), (2, 2, 4, 4), False),
        ((2, 6), (2, 4, 8), True),
        ((2, 3, 4), (2, 4, 8), True),
    ],
)
def test_a_mask_of_three_tensors_is_of_the_new_keys(
    sizes: tuple[int, ...], key: tuple[int, ...], is_refused: bool
) -> None:
    assert ("with a key_padding_mask" in said_of(MULTI_HEAD, 4, *sizes, key=key)) == is_refused


@pytest.mark.parametrize("type", [ATTENTION, MULTI_HEAD])
def test_a_bias_that_repeats_is_refused(type: str) -> None:
    assert said_of(type, 5, BATCH, HEADS, LENGTH, LENGTH) == ""
    for sizes in ((1, HEADS, LENGTH, LENGTH), (BATCH, 1, LENGTH, LENGTH)):
        assert "is not of 2 batches and 2 heads" in said_of(type, 5, *sizes)


def grouped(inputs: list[Any], **attributes: Any) -> Any:
    query, cache = TensorRef("FLOAT32", (1, 1, HIDDEN)), TensorRef("FLOAT32", (1, 1, 9, HEAD))
    counts = {"num_heads": HEADS, "kv_num_heads": 1}
    return node_of(GROUPED, [query, *inputs], query, cache, cache, **counts, **attributes)


PAIR = [TensorRef("FLOAT32", (1, 1, HEAD))] * 2


def test_one_tensor_of_all_three_is_refused() -> None:
    refusal = row_of(GROUPED).refusal
    assert refusal is not None
    assert refusal(grouped(PAIR)) is None
    assert "in one tensor" in str(refusal(grouped([None, None])))


@pytest.mark.parametrize(
    ("attributes", "more", "said"),
    [
        ({"do_rotary": 0, "local_window_size": 9, "softcap": 0.0}, [], None),
        ({"do_rotary": 1, "softcap": 5.0}, [], "it does not read do_rotary and softcap of"),
        ({"local_window_size": 8}, [], "it does not read local_window_size of"),
        ({}, [zeros(1, 1, 1, 9)], "it does not read attention_bias of"),
    ],
)
def test_what_the_provider_does_not_read_is_known(
    attributes: dict[str, Any], more: list[Any], said: str | None
) -> None:
    inputs = [*PAIR, *[None] * 7, *more] if more else PAIR
    found = deviation_of(grouped(inputs, **attributes))
    assert found == (None if said is None else f"{said} {GROUPED}")


@pytest.mark.parametrize(("length", "causal", "is_known"), [(3, 1, True), (1, 1, False), (3, 0, False)])
def test_later_keys_are_not_hidden_by_the_provider(length: int, causal: int, *, is_known: bool) -> None:
    x = TensorRef("FLOAT32", (1, length, HIDDEN))
    found = deviation_of(node_of(MULTI_HEAD, [x, x, x], x, num_heads=HEADS, unidirectional=causal))
    assert (found is not None) == is_known
    assert found is None or of_provider(found).source == "by its source; this was not run"
