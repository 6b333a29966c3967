"""MULTIHEAD_ATTENTION: for each query a mean of the values, weighted by the softmax of its products with the keys.

Query, key and value are {batch, key heads, query heads for each key head, length, size}: if key and value have fewer
heads, consecutive heads of the query share one. The scores have a row for each query and a column for each key; they
are computed tile by tile, never as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.functions.nested import stored
from dmlcheck.reference.functions.overflowing import infinite_beyond, infinite_or_nan, is_too_large
from dmlcheck.reference.functions.products import keep_weight, parts_of, scaled_scores, weighted_means
from dmlcheck.reference.functions.several_ways import of_values
from dmlcheck.reference.kernels.attention.heads import AttentionInputs, is_alone, last_four
from dmlcheck.reference.kernels.attention.heads import parts_of as parts_in
from dmlcheck.reference.kernels.attention.tiles import ALL_UNDEFINED, queries, sections
from dmlcheck.reference.results import UNDEFINED, PartlyUndefined, any_of
from dmlcheck.reference.rows import PRODUCTS, Given, Kernel, SeparateOutputs, same_parameters

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
    masked = partial(masked_ways, position, masking, last, mask_filter_value, mask_type, output_type)

    def found(*, is_cut: bool) -> list[tuple[Any, Any]]:
        (query,), keys, values = (with_bias(part, output_type, is_cut=is_cut) for part in (q, k, v))
        ways = masked(scaled_scores(query, keys, scale, output_type))
        return [means(scores, values, output_type) for scores in ways]

    (result, is_undefined), *others = found(is_cut=False)
    results = [result, *(other for other, _ in others)]
    if any(overflows_with_bias(part, output_type) for part in (q, k, v)):
        results += [each for other, _ in found(is_cut=True) for each in infinite_or_nan(other)]
    undefined = heads_beside(np.broadcast_to(is_undefined, result.shape))
    return PartlyUndefined(any_of(*map(heads_beside, results)), undefined)


@same_parameters(multihead_attention)
def multihead_attention1(*tensors: Any, **fields: Any) -> PartlyUndefined:
    """softmax(Scale * q @ k^T + RelativePositionBias + Mask) @ v of each head, the softmax over the keys; and k and v.

    q, k and v are Query, Key and Value with their bias; PastKey and PastValue precede k and v. Mask is MaskFilterValue
    for masked keys. Query head h uses head h // (QueryHeadCount / KeyValueHeadCount) of key and value. With
    PastSequenceLengths of 0, the keys after s are masked for query s.
    """
    return multihead_attention(*tensors, **fields)


def with_bias(part: Sequence[Any], data_type: str, *, is_cut: bool = False) -> list[Any]:
    """Return queries, keys or values: those of earlier steps, then those of this step with their bias.

    If it `is_cut`, a sum beyond the data type is infinite.
    """
    own, bias, *past = part
    here = own if own is None or bias is None else stored(own + bias, data_type)
    if is_cut and here is not own:
        here = infinite_beyond(here, data_type)
    return [x for x in (*past, here) if x is not None]


def overflows_with_bias(part: Sequence[Any], data_type: str) -> bool:
    """Whether a query, key or value with its bias is beyond the data type, also if it would be rounded to a number."""
    own, bias, *_ = part
    if own is None or bias is None:
        return False
    return any(bool(is_too_large(x, data_type).any()) for x in parts_of([own + bias]))


def masked_ways(
    position: Any, masking: Any, last: Any, filter_value: float, mask_type: str, data_type: str, scores: list[Any]
) -> list[Any]:
    """Return alternatives of scores with position and mask: those in which MaskFilterValue is added come first.

    Where hidden keys keep a weight, the others have MaskFilterValue in place of a score, or no later keys at all.
    """
    count = scores[0].shape[-1]
    hidden, instead = hidden_keys(masking, mask_type, count), filter_value
    if last is not None:
        hidden, instead = np.arange(count) > last, -np.inf
    added = [masked_scores(position, hidden, filter_value, data_type, way) for way in scores]
    if hidden is None or not of_values(partial(keep_weight, hidden), added[0], filter_value):
        return added
    return added + [masked_scores(position, hidden, filter_value, data_type, way, instead) for way in scores]


def hidden_keys(masking: Any, mask_type: str, count: int) -> Any:
    """Return a mask of the keys, `count` of them, that MaskTensor hides; None without MaskTensor."""
    if masking is None:
        return None
    if mask_type == "BOOLEAN":
        return masking == 0
    keys, ends, starts = np.arange(count), masking[..., :1], masking[..., 1:]
    return (keys >= ends) | (keys < starts if starts.size else False)


def masked_scores(
    position: Any, hidden: Any, filter_value: float, data_type: str, scores: Any, instead: float | None = None
) -> Any:
    """Return the scores with position and mask: MaskFilterValue is added for hidden keys, or they have a number."""
    scores = stored(scores if position is None else scores + position, data_type)
    if hidden is None:
        return scores
    return np.where(hidden, stored(scores + filter_value, data_type) if instead is None else instead, scores)


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
    found = parts_in(given, heads, given.get("key_value_head_count", heads))
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
    if mask is None:
        return True
    if mask_type == "BOOLEAN":
        return bool(mask.shape[-4:] == sizes) and is_alone(mask, 4)
    return bool(mask_type != "KEY_QUERY_SEQUENCE_LENGTH_START_END")


# ---- the row


def attention(given: Given) -> SeparateOutputs:
    """Return the tiles of OutputTensor, and the sections of OutputPresentKey and OutputPresentValue."""
    found = parts(given)
    _, k, v = found or (None, None, None)
    of_steps = {"output_present_key": k, "output_present_value": v}
    there = {name: part for name, part in of_steps.items() if given.get(name) is not None}
    first = ALL_UNDEFINED
    if found is not None and are_known(given, found.sizes_of_scores):
        first = queries(given, found)
    return SeparateOutputs(first, {name: sections(given, name, x, of_step=present) for name, x in there.items()})


def present(own: Any, bias: Any) -> Any:
    """PresentKey = PastKey, then Key + its bias; PresentValue = PastValue, then Value + its bias."""
    return own if bias is None else own + bias


KERNELS: dict[str, Kernel] = {
    "MULTIHEAD_ATTENTION": Kernel(multihead_attention, attention, sums=PRODUCTS),
    "MULTIHEAD_ATTENTION1": Kernel(multihead_attention1, attention, sums=PRODUCTS),
}
