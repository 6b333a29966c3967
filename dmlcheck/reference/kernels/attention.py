"""MULTIHEAD_ATTENTION: for each query a mean of the values, weighted by the softmax of its products with the keys.

Query, key and value are taken as {batch, heads, length, size}. Where there are fewer heads of key and value, several
heads of the query in a row share one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.numbers import product_of_parts, raw
from dmlcheck.reference.nested import stored, unchanged
from dmlcheck.reference.pieces import Open, limits
from dmlcheck.reference.places import Index
from dmlcheck.reference.rows import Kernel
from dmlcheck.reference.sums import total
from dmlcheck.reference.tiling.blocks import BLOCK_AS_IS, Blocks, hull, tiles_along
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.reference.tiling.products import LONG, boxes
from dmlcheck.values.number_formats import FORMATS

Sizes = tuple[int, ...]


# ---- query, key and value


class Part(NamedTuple):
    """Query, key or value: what this step has, what is added to that, and what is before it of earlier steps."""

    own: Any
    bias: Any = None
    past: Any = None

    @property
    def length(self) -> int:
        """How many there are."""
        return sum(x.shape[2] for x in (self.past, self.own) if x is not None)


class Given(NamedTuple):
    """The tensors that hold query, key and value; None where a desc does not have one."""

    query: Any
    key: Any
    value: Any
    query_key: Any
    key_value: Any
    query_key_value: Any
    bias: Any
    past_key: Any
    past_value: Any


def parts_of(given: Given, heads: int, groups: int, output: Sizes) -> tuple[Part, Part, Part] | None:
    """Return query, key and value for an output of these sizes; None where sizes do not agree."""
    *_, batch, length, hidden = output
    beside = ((given.query, heads), (given.key, groups), (given.value, groups))
    if hidden % heads or heads % groups or any(x is not None and x.shape[-1] % count for x, count in beside):
        return None
    with_rank = (*((x, 3) for x, _ in beside), (given.past_key, 4), (given.past_value, 4))
    if not all(is_alone(*each) for each in with_rank):
        return None
    q = first(side_by_side(given.query, heads), stacked(given.query_key, 0), stacked(given.query_key_value, 0))
    stacks = (stacked(given.query_key, 1), stacked(given.key_value, 0), stacked(given.query_key_value, 1))
    k = first(side_by_side(given.key, groups), *stacks)
    v = first(side_by_side(given.value, groups), stacked(given.key_value, 1), stacked(given.query_key_value, 2))
    size, width = q.shape[3], hidden // heads
    counts, widths = (heads, groups, groups), (size, size, width)
    if given.bias is not None and given.bias.size != sum(map(mul, counts, widths)):
        return None
    bias = biases(given.bias, counts, widths)
    key, value = Part(k, bias[1], last_four(given.past_key)), Part(v, bias[2], last_four(given.past_value))
    agree = (
        *(fits(x, batch, groups, size) for x in (key.own, key.past)),
        *(fits(x, batch, groups, width) for x in (value.own, value.past)),
        fits(q, batch, heads, size) and q.shape[2] == length and key.length == value.length,
    )
    return (Part(q, bias[0]), key, value) if all(agree) else None


def first(*given: Any) -> Any:
    """Return the first tensor that there is."""
    return next((x for x in given if x is not None), None)


def side_by_side(x: Any, heads: int) -> Any:
    """Return the heads of an optional tensor that has them side by side in its last dimension."""
    if x is None:
        return None
    batch, length, hidden = x.shape[-3:]
    return x.reshape(batch, length, heads, hidden // heads).swapaxes(1, 2)


def stacked(x: Any, place: int) -> Any:
    """Return the heads of a part of a tensor whose fourth dimension has several parts."""
    return None if x is None else x[:, :, :, place].swapaxes(1, 2)


def last_four(x: Any) -> Any:
    """Return an optional tensor without the dimensions before its last four; as it is if they are not of size 1."""
    return x if x is None or not is_alone(x, 4) else x.reshape(x.shape[-4:])


def is_alone(x: Any, count: int) -> bool:
    """Say whether an optional tensor has nothing but dimensions of size 1 before its last ones."""
    return x is None or math.prod(x.shape[:-count]) == 1


def biases(x: Any, heads: Sequence[int], sizes: Sequence[int]) -> list[Any]:
    """Return what is added to query, key and value, a row for each head; None where nothing is."""
    if x is None:
        return [None] * len(heads)
    parts = np.split(x.ravel(), list(accumulate(map(mul, heads, sizes)))[:-1])
    return [part.reshape(count, 1, size) for part, count, size in zip(parts, heads, sizes, strict=True)]


def fits(x: Any, batch: int, heads: int, size: int) -> bool:
    """Say whether an optional tensor has these sizes and any length."""
    return x is None or (*x.shape[:2], x.shape[3]) == (batch, heads, size)


def begins(lengths: Any, query: Part, key: Part, value: Part) -> bool:
    """Say whether nothing is before this step, and each query has a key of its own."""
    is_new = key.past is None and value.past is None and not np.any(lengths)
    return is_new and key.length == query.length


# ---- masks


def is_known(mask: Any, mask_type: str, sizes: Sizes) -> bool:
    """Say whether the documentation tells what a mask hides of products of these sizes."""
    if mask is None or mask_type == "NONE":
        return mask is None and mask_type == "NONE"
    if mask_type == "BOOLEAN":
        return bool(mask.shape[-4:] == sizes) and is_alone(mask, 4)
    return mask_type != "KEY_QUERY_SEQUENCE_LENGTH_START_END"


def masked(mask: Any, mask_type: str, index: Index, count: int) -> Any:
    """Return which of so many keys are hidden in a part of the products, None where there is no mask."""
    if mask is None:
        return None
    if mask_type == "BOOLEAN":
        return last_four(mask)[index] == 0
    keys, batch = np.arange(count), index[0]
    ends, *starts = mask.reshape(-1, mask.shape[-1])[:, batch, None, None, None]
    return (keys >= ends) | (keys < starts[0] if starts else False)


# ---- the formula


def attended(
    q: Any,
    q_bias: Any,
    past_key: Any,
    key: Any,
    key_bias: Any,
    past_value: Any,
    value: Any,
    value_bias: Any,
    position: Any,
    *,
    hidden: Any,
    later: Any,
    scale: Any,
    filter_value: Any,
    data_type: str,
) -> Open:
    """The mean of the values for some queries, which is left open where the page does not say what a mask does."""
    hold = partial(stored, data_type=data_type)
    q, keys = added(q, q_bias, hold), joined(past_key, key, key_bias, hold)
    values = joined(past_value, value, value_bias, hold)
    dots = products(q, keys)
    scores = hull(lambda: scale * dots, lambda: products(hold(scale * q), keys))
    scores = hold(scores if position is None else scores + position)
    scores = scores if hidden is None else np.where(hidden, scores + filter_value, scores)
    scores = scores if later is None else np.where(later, -np.inf, scores)
    top = np.maximum.reduce(scores, axis=-1, keepdims=True)
    powers = np.exp(scores - top)
    sums = total(powers, (-1,))
    result = hull(lambda: means(powers, values) / sums, lambda: means(hold(powers / sums), values))
    is_open = np.isinf(top) | overflows(raw(dots), raw(scale), data_type)
    if hidden is not None:
        is_open = is_open | weighs(raw(powers), hidden, np.exp(raw(filter_value) - raw(top)), data_type)
    return Open(heads_beside(result), heads_beside(np.broadcast_to(is_open, result.shape)))


def added(x: Any, bias: Any, hold: Any = unchanged) -> Any:
    """Return a part of a tensor with its bias, of which there may be none."""
    return x if bias is None else hold(x + bias)


def joined(past: Any, own: Any, bias: Any, hold: Any) -> list[Any]:
    """Return keys or values of earlier steps, and those of this one with their bias, in blocks."""
    return [*in_blocks(past), *(added(x, bias, hold) for x in in_blocks(own))]


def in_blocks(x: Any) -> list[Any]:
    """Return the blocks of an operand, of which there may be none."""
    return [] if x is None else list(x.parts())


def products(q: Any, keys: list[Any]) -> Any:
    """Return the products of queries and keys."""
    found = [by_group(q, x) @ x[:, :, None].swapaxes(-1, -2) for x in keys]
    whole = found[0] if len(found) == 1 else np.concatenate(found, axis=-1)
    return whole.reshape(*q.shape[:3], whole.shape[-1])


def means(weights: Any, values: list[Any]) -> Any:
    """Return the sums of values times weights."""
    ends = pairwise(accumulate((x.shape[2] for x in values), initial=0))
    pairs = [(by_group(weights[..., slice(*at)], x), x[:, :, None]) for at, x in zip(ends, values, strict=True)]
    return product_of_parts(pairs).reshape(*weights.shape[:3], values[0].shape[-1])


def by_group(x: Any, of: Any) -> Any:
    """Return queries by the heads of key or value that they share."""
    (batch, heads, length, size), groups = x.shape, of.shape[1]
    return x.reshape(batch, groups, heads // groups, length, size)


def heads_beside(x: Any) -> Any:
    """Return results with the heads side by side."""
    batch, heads, length, size = x.shape
    return x.swapaxes(1, 2).reshape(batch, length, heads * size)


def overflows(dots: Any, scale: Any, data_type: str) -> Any:
    """Say for which queries a product with a key is beyond the data type, before or after it is scaled."""
    peak = np.maximum(dots.max(axis=-1, keepdims=True), -dots.min(axis=-1, keepdims=True))
    return peak * np.maximum(1, np.abs(scale)) > limits(data_type)[1]


def weighs(powers: Any, hidden: Any, hidden_power: Any, data_type: str) -> Any:
    """Say for which queries hidden keys have a weight, whether the mask adds MaskFilterValue or sets it."""
    others = np.where(hidden, 0, powers).sum(axis=-1, keepdims=True)
    by_adding = np.where(hidden, powers, 0).sum(axis=-1, keepdims=True)
    by_setting = np.broadcast_to(hidden, powers.shape).sum(axis=-1, keepdims=True) * hidden_power
    return np.maximum(by_adding, by_setting) > FORMATS[data_type].unit_roundoff * others


# ---- the pieces


class Field(NamedTuple):
    """An output: the name of its parameter, and its tensor."""

    name: str
    tensor: Any

    def piece(self, where: Any, formula: Any, operands: Any = (), *, is_exact: bool = False) -> Piece:
        """Return a piece of it, at an index of its last dimensions."""
        lead = (0,) * (len(self.tensor.sizes) - len(where))
        return Piece({self.name: (*lead, *where)}, partial(named, self.name, formula), tuple(operands), is_exact)

    def unknown(self, start: int = 0) -> Piece:
        """Return a piece of which the documentation says nothing: the second to last dimension from a start on."""
        *outer, length, last = self.tensor.sizes
        where = (*map(slice, outer), slice(start, length), slice(last))
        anything = np.broadcast_to(np.zeros(()), (*outer, length - start, last))
        return self.piece(where, partial(Open, anything, where=True))


def named(name: str, formula: Any, *operands: Any) -> dict[str, Any]:
    """Return what a formula gives by the name of an output."""
    return {name: formula(*operands)}


def of_queries(
    field: Field,
    parts: tuple[Part, Part, Part],
    mask: Any,
    mask_type: str,
    position: Any,
    *,
    is_causal: bool,
    **options: Any,
) -> Iterator[Piece]:
    """Yield the pieces of OutputTensor: some queries of a head, or of several heads."""
    q, key, value = parts
    batch, heads, length, size = q.own.shape
    count, groups = key.length, first(key.own, key.past).shape[1]
    sizes = (batch, heads, length, count)
    if not is_known(mask, mask_type, sizes) or (position is not None and position.shape != sizes):
        yield field.unknown()
        return
    step, width = heads // groups, field.tensor.sizes[-1] // heads
    for b, g, share, s, _ in boxes((batch, groups, step, length, count), size, whole=(-1,)):
        n = slice(g.start * step + share.start, (g.stop - 1) * step + share.stop)
        operands = [q.own[b, n, s], picked(q.bias, n)]
        for part in (key, value):
            operands += [cut(part.past, b, g), cut(part.own, b, g), picked(part.bias, g)]
        later = np.arange(count) > np.arange(s.start, s.stop)[:, None] if is_causal else None
        hidden = masked(mask, mask_type, (b, n, s), count)
        formula = partial(attended, hidden=hidden, later=later, **options)
        where = (b, s, slice(n.start * width, n.stop * width))
        yield field.piece(where, formula, (*operands, picked(position, (b, n, s))))


def picked(x: Any, index: Any) -> Any:
    """Return a part of an optional tensor."""
    return x if x is None else x[index]


def cut(x: Any, batch: slice, heads: slice) -> Any:
    """Return some heads of an optional tensor, in blocks of their length."""
    some = picked(x, (batch, heads))
    return some if some is None else Blocks(some.shape, list(tiles_along((2,), some.shape, LONG)), some.__getitem__)


def present(field: Field, part: Part, *, is_cache: bool) -> Iterator[Piece]:
    """Yield the pieces of OutputPresentKeyTensor or OutputPresentValueTensor, which may have room for more."""
    batch, heads, _, size = first(part.own, part.past).shape
    sizes = field.tensor.sizes[-4:]
    room = sizes[2] - part.length
    if sizes != (batch, heads, sizes[2], size) or room < 0 or (room and not is_cache):
        yield field.unknown()
        return
    begin = 0
    for x, bias in ((part.past, None), (part.own, part.bias)):
        if x is None:
            continue
        for b, h, row, column in tiles_along(range(x.ndim), x.shape, BLOCK_AS_IS):
            start, stop, _ = row.indices(x.shape[2])
            where, own = (b, h, slice(begin + start, begin + stop), column), picked(bias, (h, slice(None), column))
            yield field.piece(where, added, (x[b, h, row, column], own), is_exact=bias is None)
        begin += x.shape[2]
    if room:
        yield field.unknown(part.length)


# ---- the operators


def multihead_attention1(
    query: Any,
    key: Any,
    value: Any,
    stacked_query_key: Any,
    stacked_key_value: Any,
    stacked_query_key_value: Any,
    bias: Any,
    mask: Any,
    relative_position_bias: Any,
    past_key: Any,
    past_value: Any,
    past_sequence_lengths: Any,
    *,
    scale: Any,
    mask_filter_value: Any,
    query_head_count: int,
    key_value_head_count: int,
    mask_type: str,
    output: TensorDesc,
    output_present_key: TensorDesc | None,
    output_present_value: TensorDesc | None,
) -> Iterator[Piece]:
    """softmax(Scale * q @ k^T + RelativePositionBias + Mask) @ v of each head, the softmax over the keys; and k and v.

    q, k and v are Query, Key and Value with their bias; PastKey and PastValue precede k and v. Mask is MaskFilterValue
    for masked keys. Query head h uses head h // (QueryHeadCount / KeyValueHeadCount) of key and value. With
    PastSequenceLengths of 0, query s uses the keys up to s.
    """
    stacks = (stacked_query_key, stacked_key_value, stacked_query_key_value)
    given = Given(query, key, value, *stacks, bias, past_key, past_value)
    found = parts_of(given, query_head_count, key_value_head_count, output.sizes)
    lengths = past_sequence_lengths
    if lengths is not None and found and not begins(lengths, *found):
        found = None
    result, *others = map(Field, OUTPUTS, (output, output_present_key, output_present_value))
    if found is None:
        yield from (field.unknown() for field in (result, *others) if field.tensor)
        return
    _, *parts = found
    for part, field in zip(parts, others, strict=True):
        yield from present(field, part, is_cache=lengths is not None) if field.tensor else ()
    options = {"scale": scale, "filter_value": mask_filter_value, "data_type": output.data_type}
    position = last_four(relative_position_bias)
    yield from of_queries(result, found, mask, mask_type, position, is_causal=lengths is not None, **options)


OUTPUTS = ("output", "output_present_key", "output_present_value")


def multihead_attention(
    query: Any,
    key: Any,
    value: Any,
    stacked_query_key: Any,
    stacked_key_value: Any,
    stacked_query_key_value: Any,
    bias: Any,
    mask: Any,
    relative_position_bias: Any,
    past_key: Any,
    past_value: Any,
    *,
    scale: Any,
    mask_filter_value: Any,
    head_count: int,
    mask_type: str,
    output: TensorDesc,
    output_present_key: TensorDesc | None,
    output_present_value: TensorDesc | None,
) -> Iterator[Piece]:
    """softmax(Scale * q @ k^T + RelativePositionBias + Mask) @ v of each head, the softmax over the keys; and k and v.

    q, k and v are Query, Key and Value with their bias; PastKey and PastValue precede k and v. Mask is MaskFilterValue
    for masked keys.
    """
    return multihead_attention1(
        query,
        key,
        value,
        stacked_query_key,
        stacked_key_value,
        stacked_query_key_value,
        bias,
        mask,
        relative_position_bias,
        past_key,
        past_value,
        None,
        scale=scale,
        mask_filter_value=mask_filter_value,
        query_head_count=head_count,
        key_value_head_count=head_count,
        mask_type=mask_type,
        output=output,
        output_present_key=output_present_key,
        output_present_value=output_present_value,
    )


KERNELS: dict[str, Kernel] = {
    "MULTIHEAD_ATTENTION": Kernel(multihead_attention),
    "MULTIHEAD_ATTENTION1": Kernel(multihead_attention1),
}
