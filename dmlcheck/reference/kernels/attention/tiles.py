"""Query, key and value of an attention by head, from all layouts of the tensors, and their tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import blocks_along
from dmlcheck.reference.arrays.places import Index, Places, part_at, slices
from dmlcheck.reference.limits.work import BLOCKS_OF_SCORES, ELEMENTS_OF_BLOCK
from dmlcheck.reference.results import UNDEFINED, PartlyUndefined
from dmlcheck.reference.rows import UNCUT, Cut, Given, Need, Section, SeparateOutputs

# ---- query, key and value by head


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
    with_counts = ((given.get(name), count) for name, count in zip(LAYOUTS, (heads, groups, groups), strict=True))
    is_divided = all(x is None or (x.shape[-1] % count == 0 and has_only_ones_before(x, 3)) for x, count in with_counts)
    pasts_have_four = all(has_only_ones_before(given.get(name), 4) for name in ("past_key", "past_value"))
    return is_divided and pasts_have_four and given["output"].sizes[-1] % heads == 0 and heads % groups == 0


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
    return x if x is None or not has_only_ones_before(x, 4) else x.reshape(x.shape[-4:])


def has_only_ones_before(x: Any, count: int) -> bool:
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


Sizes = tuple[int, ...]

# ---- the tiles of a desc


def attention(given: Given) -> SeparateOutputs:
    """Return the tiles of OutputTensor, and the sections of OutputPresentKey and OutputPresentValue."""
    found = parts(given)
    _, k, v = found or (None, None, None)
    of_steps = {"output_present_key": k, "output_present_value": v}
    outputs = {name: sections(given, name, part) for name, part in of_steps.items() if given.get(name) is not None}
    if found is not None and are_steps_known(given, found) and are_known(given, found.sizes_of_scores):
        return SeparateOutputs(queries(given, found), outputs)
    return SeparateOutputs(None, {"output": [Section(undefined, UNCUT)], **outputs})


def parts(given: Given) -> AttentionInputs | None:
    """Return query, key and value, or None if their sizes do not agree."""
    heads = given.get("query_head_count", given.get("head_count"))
    return parts_of(given, heads, given.get("key_value_head_count", heads))


def are_steps_known(given: Given, found: AttentionInputs) -> bool:
    """Whether all keys that the queries see are known: with PastSequenceLengths, only in the first step."""
    lengths = given.get("past_sequence_lengths")
    return lengths is None or not (np.any(lengths) or found.q.length > found.k.length)


def are_known(given: Given, sizes: Sizes) -> bool:
    """Whether the documentation defines mask and position for scores of {batch, heads, queries, keys}."""
    mask, mask_type, position = given.get("mask"), given["mask_type"], last_four(given.get("relative_position_bias"))
    if position is not None and position.shape != sizes:
        return False
    if mask is None:
        return True
    return mask_type != "BOOLEAN" or (bool(mask.shape[-4:] == sizes) and has_only_ones_before(mask, 4))


# ---- queries


STARTS = "KEY_QUERY_SEQUENCE_LENGTH_START_END"


def queries(given: Given, found: AttentionInputs) -> Cut:
    """Return the tiles of OutputTensor: some queries of one or more heads, with all of their keys and values.

    Memory is that of the tensors and 256 MiB, unless a query has more than 2^20 keys or elements: then it is also up to
    50 bytes for each of them, in each thread.
    """
    q, k, v = found
    batch, groups, share, length, _ = q.own.shape
    position, mask = given.get("relative_position_bias"), given.get("mask")
    sizes, of_scores = (batch, groups, share, length, k.length), 1 + (position is not None) + (mask is not None)
    ends = np.arange(length).reshape(1, 1, 1, length, 1) if given.get("past_sequence_lengths") is not None else None
    needs = {
        "q": lambda _, places, __: [part_at(q.own, places), part_at(q.bias, places)],
        "k": of_heads(k),
        "v": of_heads(v),
        "position": at(None if position is None else position.reshape(sizes)),
        "masking": of_mask(mask, given["mask_type"], sizes),
        "last": at(ends),
    }
    depth = found.depth(of_scores)
    return Cut(None, needs, BLOCKS_OF_SCORES, lambda _: depth, lambda _: sizes[:4], partial(side_by_side, share))


def side_by_side(share: int, places: Places, given: Given) -> Index:
    """Return the index of some queries in the output, which has the heads next to each other in its last dimension."""
    batch, groups, heads, rows = places
    *lead, _, _, hidden = given["output"].sizes
    width = hidden // given.get("query_head_count", given.get("head_count"))
    columns = (groups.start * share + heads.start) * width, ((groups.stop - 1) * share + heads.stop) * width
    return (*(0 for _ in lead), *(slice(own.start, own.stop) for own in (batch, rows)), slice(*columns))


def at(x: Any) -> Need:
    """Return the `need` of a tile: the same places of an optional tensor."""
    return lambda _, places, __: part_at(x, places)


def of_heads(part: AttentionInput) -> Need:
    """Return the `need` of a tile: the keys or values of its heads, also of earlier steps, and their bias."""

    def need(_: Any, places: Places, __: Given) -> list[Any]:
        own, bias, past = (part_at(x, places[:2]) for x in part)
        return [in_blocks(own), bias, in_blocks(past)]

    return need


def in_blocks(x: Any) -> Any:
    """Return optional keys or values as Blocks of half a tile, if they do not fit into a tile."""
    if x is None or x.size <= ELEMENTS_OF_TILE:
        return x
    return blocks_along(x, -2, max(1, ELEMENTS_OF_TILE // 2 * x.shape[-2] // x.size))


def of_mask(mask: Any, mask_type: str, sizes: Sizes) -> Need:
    """Return the `need` of a tile: its part of an optional mask."""
    return of_starts(mask, sizes) if mask_type == STARTS else at(as_scores(mask, mask_type, sizes))


def as_scores(mask: Any, mask_type: str, sizes: Sizes) -> Any:
    """Return an optional mask in dimensions that broadcast to the scores; masks of lengths have some for each batch."""
    if mask is None or mask_type == "BOOLEAN":
        return mask if mask is None else mask.reshape(sizes)
    return mask.reshape(-1, sizes[0]).T.reshape(sizes[0], 1, 1, 1, -1)


def of_starts(mask: Any, sizes: Sizes) -> Need:
    """Return the `need` of a tile: the keys that its queries see by lengths of keys, starts of queries and of keys.

    Starts count the queries, or keys, of all batches. A batch's queries go from its start to that of the next batch,
    its keys as far as its length. The last number, the end of all keys, is not used.
    """
    batch, _, _, length, keys = sizes
    lengths, queries, starts = np.split(mask.ravel().astype(np.int64), [batch, 2 * batch + 1])

    def need(_: Any, places: Places, __: Given) -> Any:
        own, _, _, rows = places
        at = np.array(own).reshape(-1, 1, 1, 1, 1)
        query, key = at * length + np.array(rows)[:, None], at * keys + np.arange(keys)
        sees = (query >= queries[at]) & (query < queries[at + 1])
        return sees & (key >= starts[at]) & (key < starts[at] + lengths[at])

    return need


# ---- keys and values of all steps


def present(own: Any, bias: Any) -> Any:
    """PresentKey = PastKey, then Key + its bias; PresentValue = PastValue, then Value + its bias."""
    return own if bias is None else own + bias


def undefined() -> PartlyUndefined:
    """Return undefined results."""
    return UNDEFINED


def sections(given: Given, name: str, part: AttentionInput | None) -> list[Section]:
    """Return the sections of an output of keys or values: earlier steps, this step, and the undefined rest."""
    sizes = given[name].sizes
    lengths = given.get("past_sequence_lengths")
    past, own, bias = tensors_for(sizes[-4:], part, has_room=lengths is not None)
    if lengths is not None and np.any(lengths) and own is not None:
        steps = (later_step(sizes, number, start, own, bias) for number, start in enumerate(lengths.ravel().tolist()))
        return [section for step in steps for section in step]
    middle, end = accumulate(0 if x is None else x.shape[2] for x in (past, own))
    every = range(sizes[-4])
    return [
        Section(present, rows(sizes, every, range(middle), own=past, bias=None), is_exact=True),
        Section(present, rows(sizes, every, range(middle, end), own=own, bias=bias), is_exact=bias is None),
        Section(undefined, rows(sizes, every, range(end, sizes[-2]))),
    ]


def later_step(sizes: Sizes, number: int, start: int, own: Any, bias: Any) -> list[Section]:
    """Return the sections of a batch of an output that has room for all steps: the keys or values of this step.

    They stand behind the `start` ones of earlier steps. The rest of the output stays as it was, and is unknown.
    """
    one, length, stop = range(number, number + 1), sizes[-2], start + own.shape[2]
    if not 0 <= start <= stop <= length:
        return [Section(undefined, rows(sizes, one, range(length)))]
    here = rows(sizes, one, range(start, stop), own=own[number : number + 1], bias=bias)
    return [
        Section(undefined, rows(sizes, one, range(start))),
        Section(present, here, is_exact=bias is None),
        Section(undefined, rows(sizes, one, range(stop, length))),
    ]


def rows(sizes: Sizes, batches: range, lengths: range, **tensors: Any) -> Cut:
    """Return the tiles of some batches and lengths of an output of keys or values, which need the same of tensors."""
    *lead, _, heads, _, size = sizes

    def where(places: Places, _: Given) -> Index:
        b, h, own, columns = slices(places)
        ranges = ((b, batches), (h, range(heads)), (own, lengths))
        return (*(0 for _ in lead), *(slice(x.start + of.start, x.stop + of.start) for x, of in ranges), columns)

    needs = {to: at(x) for to, x in tensors.items()}
    return Cut(needs=needs, sizes=lambda _: (len(batches), heads, len(lengths), size), where=where)


def tensors_for(sizes: Sizes, part: AttentionInput | None, *, has_room: bool) -> tuple[Any, Any, Any]:
    """Return the keys or values of earlier steps and of this step, and their bias, for an output of these sizes.

    All are None if the sizes do not agree. The output is as long as both together; if it `has_room`, it may be longer.
    """
    if part is None:
        return None, None, None
    own, bias, past = (None if x is None else x[:, :, 0] for x in part)
    batch, heads, _, size = next(x for x in (own, past) if x is not None).shape
    room = sizes[2] - part.length
    agree = sizes == (batch, heads, sizes[2], size) and (room >= 0 if has_room else room == 0)
    return (past, own, bias) if agree else (None, None, None)
