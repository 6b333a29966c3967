"""MULTIHEAD_ATTENTION: for each query a mean of the values, weighted by the softmax of its products with the keys.

Query, key and value are {batch, key heads, query heads for each key head, length, size}: if key and value have fewer
heads, consecutive heads of the query share one. The scores have a row for each query and a column for each key; they
are computed tile by tile, never as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from dmlcheck.reference.functions import of_values
from dmlcheck.reference.heads import BLOCKS_OF_SCORES, AttentionInput, AttentionInputs, is_alone, last_four, parts_of
from dmlcheck.reference.nested import stored
from dmlcheck.reference.places import Index, Places, part_at, slices
from dmlcheck.reference.products import keep_weight, scaled_scores, weighted_means
from dmlcheck.reference.results import UNDEFINED, PartlyUndefined, any_of
from dmlcheck.reference.rows import Cut, Given, Kernel, Need, Section, SeparateOutputs, same_parameters

Sizes = tuple[int, ...]


# ---- the formula


def multihead_attention(
    q: Any,
    k: Any,
    v: Any,
    position: Any,
    masking: Any,
    last: Any,
    *,
    scale: Any,
    mask_filter_value: Any,
    mask_type: str,
    output_type: str,
) -> PartlyUndefined:
    """softmax(Scale * q @ k^T + RelativePositionBias + Mask) @ v of each head, the softmax over the keys; and k and v.

    q, k and v are Query, Key and Value with their bias; PastKey and PastValue precede k and v. Mask is MaskFilterValue
    for masked keys.
    """
    if q is None:
        return UNDEFINED
    (q,), keys, values = (with_bias(part, output_type) for part in (q, k, v))
    ways = scaled_scores(q, keys, scale, output_type)
    count = ways[0].shape[-1]
    hidden, later = hidden_keys(masking, mask_type, count), None if last is None else np.arange(count) > last
    masked = partial(masked_scores, position, hidden, later, mask_filter_value, output_type)
    scores = [masked(way) for way in ways]
    if hidden is not None and of_values(partial(keep_weight, hidden), scores[0], mask_filter_value):
        scores += [masked(way, is_set=True) for way in ways]
    (result, is_undefined), *others = (means(each, values, output_type) for each in scores)
    found = any_of(*map(heads_beside, (result, *(other for other, _ in others))))
    return PartlyUndefined(found, heads_beside(np.broadcast_to(is_undefined, result.shape)))


@same_parameters(multihead_attention)
def multihead_attention1(*tensors: Any, **fields: Any) -> PartlyUndefined:
    """softmax(Scale * q @ k^T + RelativePositionBias + Mask) @ v of each head, the softmax over the keys; and k and v.

    q, k and v are Query, Key and Value with their bias; PastKey and PastValue precede k and v. Mask is MaskFilterValue
    for masked keys. Query head h uses head h // (QueryHeadCount / KeyValueHeadCount) of key and value. With
    PastSequenceLengths of 0, query s uses the keys up to s.
    """
    return multihead_attention(*tensors, **fields)


def with_bias(part: Sequence[Any], data_type: str) -> list[Any]:
    """Return queries, keys or values: those of earlier steps, then those of this step with their bias."""
    own, bias, *past = part
    here = own if own is None or bias is None else stored(own + bias, data_type)
    return [x for x in (*past, here) if x is not None]


def hidden_keys(masking: Any, mask_type: str, count: int) -> Any:
    """Return a mask of the keys, `count` of them, that MaskTensor hides; None without MaskTensor."""
    if masking is None:
        return None
    if mask_type == "BOOLEAN":
        return masking == 0
    keys, ends, starts = np.arange(count), masking[..., :1], masking[..., 1:]
    return (keys >= ends) | (keys < starts if starts.size else False)


def masked_scores(
    position: Any, hidden: Any, later: Any, filter_value: Any, data_type: str, scores: Any, *, is_set: bool = False
) -> Any:
    """Return the scores with position and mask: MaskFilterValue is added for hidden keys, or replaces them."""
    scores = stored(scores if position is None else scores + position, data_type)
    if hidden is not None:
        scores = np.where(hidden, filter_value if is_set else stored(scores + filter_value, data_type), scores)
    return scores if later is None else np.where(later, -np.inf, scores)


def means(scores: Any, values: list[Any], data_type: str) -> tuple[Any, Any]:
    """Return softmax(scores) @ values, and a mask of the rows that are NaN, since their largest score is infinite."""
    top = np.maximum.reduce(scores, axis=-1, keepdims=True)
    is_lost = np.isinf(top)
    if not is_lost.any():
        return weighted_means(np.exp(scores - top), values, data_type), is_lost
    found, _ = means(np.where(is_lost, 0.0, scores), values, data_type)
    return np.where(is_lost, np.nan, found), is_lost


def heads_beside(x: Any) -> Any:
    """Return the results with the heads next to each other in the last dimension."""
    batch, groups, share, length, size = x.shape
    return x.transpose(0, 3, 1, 2, 4).reshape(batch, length, groups * share * size)


# ---- which descs are defined


def parts(given: Given) -> AttentionInputs | None:
    """Return query, key and value, or None where the documentation does not define their use together.

    PastSequenceLengths is defined only if there are no earlier steps, and as many keys as queries.
    """
    heads = given.get("query_head_count", given.get("head_count"))
    found = parts_of(given, heads, given.get("key_value_head_count", heads))
    lengths = given.get("past_sequence_lengths")
    if found is None or lengths is None:
        return found
    is_first = found.k.past is None and found.v.past is None and not np.any(lengths)
    return found if is_first and found.k.length == found.q.length else None


def are_known(given: Given, sizes: Sizes) -> bool:
    """Whether the documentation defines mask and position for scores of {batch, heads, queries, keys}."""
    mask, mask_type, position = given.get("mask"), given["mask_type"], last_four(given.get("relative_position_bias"))
    if position is not None and position.shape != sizes:
        return False
    if mask is None or mask_type == "NONE":
        return mask is None and mask_type == "NONE"
    if mask_type == "BOOLEAN":
        return bool(mask.shape[-4:] == sizes) and is_alone(mask, 4)
    return bool(mask_type != "KEY_QUERY_SEQUENCE_LENGTH_START_END")


# ---- the tiles of the output


def attention(given: Given) -> SeparateOutputs:
    """Return the tiles of OutputTensor, and the sections of OutputPresentKey and OutputPresentValue."""
    found = parts(given)
    _, k, v = found or (None, None, None)
    present = {"output_present_key": k, "output_present_value": v}
    there = {name: sections(given, name, part) for name, part in present.items() if given.get(name) is not None}
    return SeparateOutputs(queries(given, found), there)


def queries(given: Given, found: AttentionInputs | None) -> Cut:
    """Return the tiles of OutputTensor: some queries of one or more heads, with all of their keys and values."""
    if found is None or not are_known(given, found.sizes_of_scores):
        return ALL_UNDEFINED
    q, k, v = found
    batch, groups, share, length, _ = q.own.shape
    position, sizes = given.get("relative_position_bias"), (batch, groups, share, length, k.length)
    ends = np.arange(length).reshape(1, 1, 1, length, 1) if given.get("past_sequence_lengths") is not None else None
    needs = {
        "q": each((q.own, 4), (q.bias, 4)),
        "k": each((k.own, 2), (k.bias, 2), (k.past, 2)),
        "v": each((v.own, 2), (v.bias, 2), (v.past, 2)),
        "position": at(None if position is None else position.reshape(sizes)),
        "masking": at(as_scores(given.get("mask"), given["mask_type"], sizes)),
        "last": at(ends),
    }
    return Cut(None, needs, BLOCKS_OF_SCORES, lambda _: found.depth, lambda _: sizes[:4], partial(side_by_side, share))


ALL_UNDEFINED = Cut(lambda _: (), dict.fromkeys(("q", "k", "v", "position", "masking", "last"), lambda *_: None))


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


def each(*tensors: tuple[Any, int]) -> Need:
    """Return the `need` of a tile: a list with its places of several optional tensors, along so many of its axes."""
    return lambda _, places, __: [part_at(x, places[:axes]) for x, axes in tensors]


def as_scores(mask: Any, mask_type: str, sizes: Sizes) -> Any:
    """Return an optional mask in dimensions that broadcast to the scores; those of lengths have some for each batch."""
    if mask is None or mask_type == "BOOLEAN":
        return mask if mask is None else mask.reshape(sizes)
    return mask.reshape(-1, sizes[0]).T.reshape(sizes[0], 1, 1, 1, -1)


# ---- keys and values of all steps


def present(own: Any, bias: Any) -> Any:
    """PresentKey = PastKey, then Key + its bias; PresentValue = PastValue, then Value + its bias."""
    return own if bias is None else own + bias


def undefined() -> PartlyUndefined:
    """Return undefined results."""
    return UNDEFINED


def sections(given: Given, name: str, part: AttentionInput | None) -> list[Section]:
    """Return the sections of an output of keys or values: earlier steps, this step, and the undefined rest."""
    *lead, batch, heads, length, size = given[name].sizes
    has_room = given.get("past_sequence_lengths") is not None
    past, own, bias = tensors_for((batch, heads, length, size), part, has_room=has_room)
    middle, end = accumulate(0 if x is None else x.shape[2] for x in (past, own))

    def tiles(start: int, stop: int, **tensors: Any) -> Cut:
        def where(places: Places, _: Given) -> Index:
            b, h, rows, columns = slices(places)
            return (*(0 for _ in lead), b, h, slice(rows.start + start, rows.stop + start), columns)

        needs = {to: at(x) for to, x in tensors.items()}
        return Cut(needs=needs, sizes=lambda _: (batch, heads, stop - start, size), where=where)

    return [
        Section(present, tiles(0, middle, own=past, bias=None), is_exact=True),
        Section(present, tiles(middle, end, own=own, bias=bias), is_exact=bias is None),
        Section(undefined, tiles(end, length)),
    ]


def tensors_for(sizes: Sizes, part: AttentionInput | None, *, has_room: bool) -> tuple[Any, Any, Any]:
    """Return the keys or values of earlier steps, those of this step, and their bias, for an output of these sizes.

    All are None if the sizes do not agree. The output is as long as both together; if it `has_room`, it may be longer.
    """
    if part is None:
        return None, None, None
    own, bias, past = (None if x is None else x[:, :, 0] for x in part)
    batch, heads, _, size = next(x for x in (own, past) if x is not None).shape
    room = sizes[2] - part.length
    agree = sizes == (batch, heads, sizes[2], size) and (room >= 0 if has_room else room == 0)
    return (past, own, bias) if agree else (None, None, None)


KERNELS: dict[str, Kernel] = {
    "MULTIHEAD_ATTENTION": Kernel(multihead_attention, attention),
    "MULTIHEAD_ATTENTION1": Kernel(multihead_attention1, attention),
}
