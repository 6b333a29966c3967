"""GroupQueryAttention against its definition in NumPy: groups of heads, a cache, later keys hidden, rotation.

The provider's descs are those of its DmlOperatorGroupQueryAttention.cpp.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import Array

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped

NAME = "com.microsoft.GroupQueryAttention"
HEADS, KEY_HEADS, HEAD = 4, 2, 8
RANDOM = np.random.default_rng(7)


def drawn(*sizes: int) -> Array:
    return RANDOM.standard_normal(sizes).astype(np.float32)


def inputs(length: int, past: int, held: int | None = None) -> list[Array | None]:
    """Return query, key, value, a cache that holds more than it has, the last step, and the number of all steps."""
    held = past if held is None else held
    cache = [drawn(1, KEY_HEADS, held, HEAD) if held else None for _ in range(2)]
    last, total = np.array([past + length - 1], np.int32), np.array(past + length, np.int32)
    parts = [drawn(1, length, heads * HEAD) for heads in (HEADS, KEY_HEADS, KEY_HEADS)]
    return [*parts, *cache, last, total]


def apart(x: Array, heads: int) -> Array:
    return x.reshape(x.shape[1], heads, HEAD).swapaxes(0, 1).astype(np.float64)


def expected(given: list[Any], past: int, window: int = 0) -> tuple[Array, Array]:
    """Return the output and the present keys, head by head and query by query."""
    query = apart(given[0], HEADS)
    key, value = (apart(x, KEY_HEADS) for x in given[1:3])
    if past:
        key, value = (np.concatenate([c[0, :, :past], x], 1) for c, x in zip(given[3:5], (key, value), strict=True))
    made = np.zeros((query.shape[1], HEADS, HEAD))
    for head in range(HEADS):
        k, v = key[head // (HEADS // KEY_HEADS)], value[head // (HEADS // KEY_HEADS)]
        for step in range(query.shape[1]):
            first = max(0, past + step + 1 - window) if window else 0
            seen = slice(first, past + step + 1)
            weights = np.exp(k[seen] @ query[head, step] / np.sqrt(HEAD))
            made[step, head] = weights @ v[seen] / weights.sum()
    return made.reshape(1, -1, HEADS * HEAD), key


def outputs(length: int, held: int) -> list[TensorRef]:
    return [float32(1, length, HEADS * HEAD), *(float32(1, KEY_HEADS, held, HEAD) for _ in range(2))]


def rotated(x: Array, heads: int, cosines: Array, sines: Array, past: int) -> Array:
    parts = x.reshape(1, x.shape[1], heads, HEAD)
    a, b = parts[..., : HEAD // 2], parts[..., HEAD // 2 :]
    c, s = (table[past : past + x.shape[1]][None, :, None] for table in (cosines, sines))
    return np.concatenate([a * c - b * s, b * c + a * s], -1).reshape(x.shape)


def test_queries_and_keys_are_rotated_by_their_place_in_the_sequence() -> None:
    given: list[Any] = inputs(2, 3)
    cosines, sines = drawn(9, HEAD // 2), drawn(9, HEAD // 2)
    more = {"num_heads": HEADS, "kv_num_heads": KEY_HEADS, "do_rotary": 1}
    made = computed(node_of(NAME, [*given, cosines, sines], *outputs(2, 5), **more))
    turned = [rotated(x, heads, cosines, sines, 3) for x, heads in zip(given[:2], (HEADS, KEY_HEADS), strict=True)]
    assert np.abs(made[0] - expected([*turned, *given[2:]], 3)[0]).max() < 1e-5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"softcap": 50.0}, "softcap, which DirectML's attention does not have"),
        ({"smooth_softmax": 1}, "smooth_softmax, which"),
    ],
)
def test_what_directml_does_not_have_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(Unmapped, match=message):
        computed(node_of(NAME, inputs(1, 2), *outputs(1, 3), num_heads=HEADS, kv_num_heads=KEY_HEADS, **change))
