"""Query, key and value of an attention by head, from all layouts of the tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.limits.work import BLOCKS_OF_SCORES, ELEMENTS_OF_BLOCK
from dmlcheck.reference.rows import Given


class AttentionInput(NamedTuple):
    """Query, key or value: the tensor of this step, its bias, and the tensor of earlier steps; None for those left out.

    `own` and `past` are {batch, key heads, own heads for each key head, length, size}; `bias` has the same dimensions,
    with one batch and length 1. Key and value have one head for each key head.
    """

    own: Any
    bias: Any = None
    past: Any = None

    @property
    def length(self) -> int:
        """The number of queries, keys or values, including earlier steps."""
        return sum(x.shape[3] for x in (self.past, self.own) if x is not None)


class AttentionInputs(NamedTuple):
    """Query, key and value of an attention."""

    q: AttentionInput
    k: AttentionInput
    v: AttentionInput

    @property
    def sizes_of_scores(self) -> tuple[int, int, int, int]:
        """The numbers of batches, heads, queries and keys."""
        batch, groups, share, length, _ = self.q.own.shape
        return batch, groups * share, length, self.k.length

    def depth(self, of_scores: int = 1) -> float:
        """Return the elements that a row of the scores stands for in a tile: its own, or its share of its head's keys.

        `of_scores` is the number of arrays with an element for each score. Keys of one head that do not fit into a tile
        come in blocks, and no other head is in their tile.
        """
        _, _, share, length, size = self.q.own.shape
        of_key = size if self.v.own is None else max(size, self.v.own.shape[-1])
        of_row, keys, rows = max(of_scores * self.k.length, of_key), self.k.length * of_key, share * length
        return float(max(of_row, min(keys, ELEMENTS_OF_TILE) / rows))


ELEMENTS_OF_TILE = BLOCKS_OF_SCORES * ELEMENTS_OF_BLOCK

# The tensors that may contain each of the three, with its index if several are stacked in the tensor.
LAYOUTS: dict[str, Sequence[tuple[str, int | None]]] = {
    "query": (("query", None), ("stacked_query_key", 0), ("stacked_query_key_value", 0)),
    "key": (("key", None), ("stacked_query_key", 1), ("stacked_key_value", 0), ("stacked_query_key_value", 1)),
    "value": (("value", None), ("stacked_key_value", 1), ("stacked_query_key_value", 2)),
}


def parts_of(given: Given, heads: int, groups: int) -> AttentionInputs | None:
    """Return query, key and value; the query has `heads` heads, key and value have `groups`.

    None if the sizes of the tensors do not agree with each other and with the numbers of heads.
    """
    if not are_divided(given, heads, groups):
        return None
    *_, batch, length, hidden = given["output"].sizes
    q, k, v = (in_heads(given, name, count) for name, count in zip(LAYOUTS, (heads, groups, groups), strict=True))
    past_k, past_v = (last_four(given.get(name)) for name in ("past_key", "past_value"))
    size, width, bias = q.shape[3], hidden // heads, given.get("bias")
    agree = (
        q.shape == (batch, heads, length, size),
        all(has_heads(x, batch, groups, size) for x in (k, past_k)),
        all(has_heads(x, batch, groups, width) for x in (v, past_v)),
        count_of(k, past_k) == count_of(v, past_v),
        bias is None or bias.size == heads * size + groups * (size + width),
    )
    if not all(agree):
        return None
    share = heads // groups
    of_q, of_k, of_v = split(bias, (1, groups, share, 1, size), (1, groups, 1, 1, size), (1, groups, 1, 1, width))
    query = q.reshape(batch, groups, share, length, size)
    key, value = (
        AttentionInput(one_each(k), of_k, one_each(past_k)),
        AttentionInput(one_each(v), of_v, one_each(past_v)),
    )
    return AttentionInputs(AttentionInput(query, of_q), key, value)


def are_divided(given: Given, heads: int, groups: int) -> bool:
    """Whether the numbers of heads divide the sizes of the tensors, and surplus dimensions have size 1."""
    beside = ((given.get(name), count) for name, count in zip(LAYOUTS, (heads, groups, groups), strict=True))
    is_divided = all(x is None or (x.shape[-1] % count == 0 and is_alone(x, 3)) for x, count in beside)
    pasts_are_alone = all(is_alone(given.get(name), 4) for name in ("past_key", "past_value"))
    return is_divided and pasts_are_alone and given["output"].sizes[-1] % heads == 0 and heads % groups == 0


def in_heads(given: Given, part: str, heads: int) -> Any:
    """Return query, key or value as {batch, heads, length, size}, or None if no tensor contains it."""
    for name, place in LAYOUTS[part]:
        x = given.get(name)
        if x is not None and place is None:
            batch, length, hidden = x.shape[-3:]
            return x.reshape(batch, length, heads, hidden // heads).swapaxes(1, 2)
        if x is not None:
            return x[:, :, :, place].swapaxes(1, 2)
    return None


def last_four(x: Any) -> Any:
    """Return an optional tensor without the dimensions of size 1 before its last four."""
    return x if x is None or not is_alone(x, 4) else x.reshape(x.shape[-4:])


def is_alone(x: Any, count: int) -> bool:
    """Whether all dimensions of an optional tensor before its last `count` have size 1."""
    return x is None or math.prod(x.shape[:-count]) == 1


def has_heads(x: Any, batch: int, heads: int, size: int) -> bool:
    """Whether an optional tensor is {batch, heads, any length, size}."""
    return x is None or (*x.shape[:2], x.shape[3]) == (batch, heads, size)


def count_of(own: Any, past: Any) -> int:
    """Return the number of keys or values in two optional tensors."""
    return sum(x.shape[2] for x in (own, past) if x is not None)


def one_each(x: Any) -> Any:
    """Return an optional tensor of keys or values with a dimension of size 1 for its heads for each key head."""
    return None if x is None else x[:, :, None]


def split(x: Any, *sizes: Sequence[int]) -> list[Any]:
    """Return the elements of an optional tensor, in order, as tensors of these sizes; None for each without it."""
    if x is None:
        return [None] * len(sizes)
    parts = np.split(x.ravel(), list(accumulate(map(math.prod, sizes)))[:-1])
    return [part.reshape(own) for part, own in zip(parts, sizes, strict=True)]
