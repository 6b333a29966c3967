"""The parts of an attention's formula: keys of several steps, masks, and all orders that implementations compute in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.arrays.data_types import limits
from dmlcheck.reference.ball.numbers import hull, product_of_parts, raw
from dmlcheck.reference.functions.nested import stored
from dmlcheck.reference.functions.overflowing import infinite_beyond, infinite_or_nan, is_too_large
from dmlcheck.reference.functions.sums import total
from dmlcheck.reference.kernels.attention.tiles import STARTS
from dmlcheck.reference.results import AsMeasured, any_of

# ---- query, key and value


def of_all_heads(formula: Callable[..., Sequence[Any]], parts: Sequence[Any], data_type: str) -> AsMeasured:
    """Return the results of a formula for query, keys and values with their bias, with the heads next to each other.

    The formula returns alternatives, each with a mask of the rows that infinite scores make NaN. Where a bias
    takes a number beyond the data type, the results for infinity are alternatives too.
    """

    def found(*, is_cut: bool) -> Sequence[Any]:
        (query,), keys, values = (with_bias(part, data_type, is_cut=is_cut) for part in parts)
        return formula(query, keys, values)

    (result, is_infinite), *others = found(is_cut=False)
    results = [result, *(other for other, _ in others)]
    if any(overflows_with_bias(part, data_type) for part in parts):
        results += [each for other, _ in found(is_cut=True) for each in infinite_or_nan(other)]
    is_lost = merged_heads(np.broadcast_to(is_infinite, result.shape))
    return AsMeasured(any_of(*map(merged_heads, results)), is_lost)


def with_bias(part: Sequence[Any], data_type: str, *, is_cut: bool = False) -> list[Any]:
    """Return queries, keys or values: first of earlier steps, then of this step with their bias.

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


def merged_heads(x: Any) -> Any:
    """Return the results with the heads next to each other in the last dimension."""
    batch, groups, share, length, size = x.shape
    return x.transpose(0, 3, 1, 2, 4).reshape(batch, length, groups * share * size)


# ---- scores


def scaled_scores(q: Any, keys: list[Any], scale: Any, data_type: str) -> list[Any]:
    """Return scale * q @ k^T for keys in several parts, as a list of alternatives.

    The radius also contains the products of a scaled q, which may be rounded to the data type. A product that overflows
    the data type may stay as it is, or become infinite, before it is scaled or after.
    """
    dots = scores(q, keys)
    found = hull(lambda: scale * dots, lambda: scores(stored(scale * q, data_type), keys))
    sums, factor, most = raw(dots), raw(scale), limits(data_type)[1]
    if not np.fmax(np.fmax.reduce(sums, axis=None), -np.fmin.reduce(sums, axis=None)) * max(1, abs(factor)) > most:
        return [found]
    after = np.abs(factor * sums) > most
    before = after | (np.abs(sums) > most)
    ways = [before] if np.array_equal(before, after) or not after.any() else [before, after]
    return [found, *(np.where(beyond, np.copysign(np.inf, sums) * factor, found) for beyond in ways)]


def scores(q: Any, keys: list[Any]) -> Any:
    """Return q @ k^T for keys in several parts."""
    found = [q @ x.swapaxes(-1, -2) for x in parts_of(keys)]
    return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)


def plus_position(scores: Sequence[Any], position: Any, data_type: str) -> list[Any]:
    """Return alternatives of scores plus RelativePositionBias, if there is one."""
    return [stored(way if position is None else way + position, data_type) for way in scores]


def hidden_keys(masking: Any, mask_type: str, last: Any, count: int) -> Any:
    """Return a mask of the keys, `count` of them, that MaskTensor hides, or those after `last`; None without both."""
    keys = np.arange(count)
    if last is not None:
        return keys > last
    if masking is None:
        return None
    if mask_type in ("BOOLEAN", STARTS):
        return masking == 0
    ends, starts = masking[..., :1], masking[..., 1:]
    return (keys >= ends) | (keys < starts if starts.size else False)


def masked(scores: list[Any], hidden: Any, filter_value: Any, instead: Any, data_type: str) -> list[Any]:
    """Return alternatives of scores with a mask: those in which MaskFilterValue is added come first.

    Where hidden keys keep a weight, the others have a number `instead` of a score.
    """
    if hidden is None:
        return scores
    added = [np.where(hidden, stored(way + filter_value, data_type), way) for way in scores]
    if not keep_weight(hidden, raw(added[0]), raw(filter_value)):
        return added
    return added + [np.where(hidden, instead, way) for way in scores]


def keep_weight(hidden: Any, scores: Any, filter_value: Any) -> bool:
    """Whether a hidden key has a weight above 0, be MaskFilterValue added to its score or put in its place."""
    least = scores.max(axis=-1, keepdims=True) + LEAST_POWER
    return bool((hidden & ((scores > least) | (filter_value > least))).any())


LEAST_POWER = -746.0  # exp of this and of anything less is 0 in float64


# ---- means


def softmax_times(scores: Any, values: list[Any], data_type: str) -> tuple[Any, Any]:
    """Return softmax(scores) @ values, and a mask of the rows that are NaN, since their largest score is infinite."""
    top = np.maximum.reduce(scores, axis=-1, keepdims=True)
    is_lost = np.isinf(top)
    if not is_lost.any():
        return weighted_means(np.exp(scores - top), values, data_type), is_lost
    found, _ = softmax_times(np.where(is_lost, 0.0, scores), values, data_type)
    return np.where(is_lost, np.nan, found), is_lost


def weighted_means(weights: Any, values: list[Any], data_type: str) -> Any:
    """Return weights @ values / the sums of the weights, for values in several parts.

    The radius also contains the result for weights that are divided first, and rounded to the data type.
    """
    sums = total(weights, (-1,))
    return hull(
        lambda: weighted_sums(weights, values) / sums,
        lambda: weighted_sums(stored(weights / sums, data_type), values),
    )


def weighted_sums(weights: Any, values: list[Any]) -> Any:
    """Return weights @ values for values in several parts."""
    return product_of_parts(weighted_parts(weights, values))


def weighted_parts(weights: Any, values: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the weights and the values of each part."""
    start = 0
    for x in parts_of(values):
        stop = start + x.shape[-2]
        yield weights[..., start:stop], x
        start = stop


def parts_of(tensors: list[Any]) -> Iterator[Any]:
    """Yield several tensors, those that are Blocks block by block."""
    for x in tensors:
        yield from x.parts() if isinstance(x, Blocks) else (x,)
