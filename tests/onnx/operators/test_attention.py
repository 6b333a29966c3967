"""Attention, with the formula of ONNX's documentation written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import agrees, node, only

from dmlcheck.onnx.descs.node import Counterpart, Unmapped

HEADS, GROUPS, LENGTH, COUNT = 4, 2, 3, 5
DIM, WIDTH = 2, 3  # of a head of query and key, and of one of the value


def numbers(*sizes: int) -> Any:
    return np.random.default_rng(sum(sizes)).uniform(-1, 1, sizes).astype(np.float32)


Q, K, V = numbers(2, HEADS, LENGTH, DIM), numbers(2, HEADS, COUNT, DIM), numbers(2, HEADS, COUNT, WIDTH)
SHARED = numbers(2, GROUPS, COUNT, DIM), numbers(2, GROUPS, COUNT, WIDTH)
QUERY, KEY = np.arange(LENGTH)[:, None], np.arange(COUNT)
FLOATS = numbers(HEADS, LENGTH, COUNT)
TRUE = np.array([[1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 1, 0, 1]], bool)
LENGTHS = np.array([4, 5])


def attended(q: Any, k: Any, v: Any, bias: Any = 0.0, scale: float = DIM**-0.5) -> Any:
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    with np.errstate(divide="ignore"):
        powers = np.exp(scale * (q @ k.swapaxes(2, 3)) + bias)
    return ((powers / powers.sum(axis=-1, keepdims=True)) @ v).astype(np.float32)


def beside(x: Any) -> Any:
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def hidden(marks: Any) -> Any:
    return np.where(marks, -np.inf, 0.0)


def attention(*inputs: Any, outputs: Any, **attributes: Any) -> Counterpart:
    return only(node("Attention", inputs, *outputs, opset=25, **attributes))


def test_heads_that_share_keys_are_counted_apart() -> None:
    y = attended(Q, *SHARED)
    four = attention(Q, *SHARED, outputs=[y])
    inputs = map(beside, (Q, *SHARED))
    three = attention(*inputs, outputs=[beside(y)], q_num_heads=HEADS, kv_num_heads=GROUPS)
    for made in (four, three):
        assert made.operator == "MULTIHEAD_ATTENTION1"
        assert (made.fields["QueryHeadCount"], made.fields["KeyValueHeadCount"]) == (HEADS, GROUPS)
        assert agrees(made)


@pytest.mark.parametrize(
    ("attributes", "marks"),
    [
        ({"is_causal": 1}, KEY > QUERY),
        ({"left_window_size": 0}, KEY < QUERY),
        ({"right_window_size": 1}, KEY > QUERY + 1),
        ({"left_window_size": 1, "right_window_size": 0}, (KEY < QUERY - 1) | (KEY > QUERY)),
    ],
)
def test_places_hide_keys(attributes: Any, marks: Any) -> None:
    made = attention(Q, K, V, outputs=[attended(Q, K, V, hidden(marks))], **attributes)
    assert agrees(made)
    assert np.isneginf(made.fields["RelativePositionBiasTensor"].values[1, 2]).tolist() == marks.tolist()
    assert made.fields["RelativePositionBiasTensor"].strides[:2] == (0, 0)
    masked = attention(Q, K, V, FLOATS, outputs=[attended(Q, K, V, hidden(marks) + FLOATS)], **attributes)
    assert agrees(masked)


def test_keys_beyond_a_length_are_hidden() -> None:
    y = attended(Q, K, V, hidden(LENGTHS[:, None, None, None] <= KEY))
    assert agrees(attention(Q, K, V, None, None, None, LENGTHS, outputs=[y]))


def test_marks_that_would_take_all_memory_are_not_made() -> None:
    q, k = np.zeros((1, 1, 2**20, 1), np.float32), np.zeros((1, 1, 2**7, 1), np.float32)
    with pytest.raises(Unmapped, match="Attention of 1048576 queries and 128 keys"):
        attention(q, k, k, outputs=[q], is_causal=1)
    assert "RelativePositionBiasTensor" not in attention(q, k, k, outputs=[q]).fields


def test_attention_that_is_to_be_changed_by_graphs_is_refused() -> None:
    name, y = "ai.onnx.preview.FlexAttention", attended(Q, *SHARED, scale=0.5)
    made = only(node(name, [Q, *SHARED], y, scale=0.5))
    assert made.operator == "MULTIHEAD_ATTENTION1"
    assert agrees(made)
    with pytest.raises(Unmapped, match="FlexAttention with a graph of its own for prob_mod"):
        only(node(name, [Q, *SHARED], y, prob_mod="graph"))


def test_the_products_are_not_compared() -> None:
    y = attended(Q, K, V)
    assert attention(Q, K, V, outputs=[y]).note is None
    assert attention(Q, K, V, outputs=[y, K, V, FLOATS]).note == "qk_matmul_output is not compared."


def test_what_directml_does_not_have_is_refused() -> None:
    with pytest.raises(Unmapped, match="softcap, which DirectML's attention does not have"):
        attention(Q, K, V, outputs=[Q], softcap=2.0)
    with pytest.raises(Unmapped, match="a query that has no key left"):
        attention(Q, K, V, TRUE & (QUERY > 0), outputs=[Q])
