"""Attention of transformers in com.microsoft: MULTIHEAD_ATTENTION, and the operators before and after it.

From DmlOperatorMultiHeadAttention.cpp, DmlOperatorAttention.cpp and DmlOperatorQAttention.cpp of ONNX Runtime's
DirectML provider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped, shortest
from dmlcheck.onnx.descs.steps import identity, join, product, step, window
from dmlcheck.onnx.descs.tensors import ranked, repeated, vector
from dmlcheck.onnx.operators.row import Row, is_given, is_set, not_taken, unread

_FIRST_DIAGONAL = -(2**31)


class _Mask(NamedTuple):
    """MaskTensor, the meaning of its elements, and the operators that make it."""

    tensor: TensorRef | None = None
    kind: str = "NONE"
    steps: tuple[Counterpart, ...] = ()


def numbers(node: OnnxNode, size: int) -> dict[str, Any]:
    """Return the fields that are numbers, for heads of a size."""
    scale = node.get("scale")
    return {
        "Scale": shortest(1 / sqrt(size) if scale is None else scale),
        "MaskFilterValue": shortest(node.get("mask_filter_value", -10000.0)),
    }


# ---- query, key and value, already multiplied


def _multi_head(node: OnnxNode) -> list[Counterpart]:
    """MULTIHEAD_ATTENTION of queries, keys and values; five dimensions are stacked, keys of four are earlier ones."""
    query, heads = node.input(0), node.positive("num_heads")
    if query.ndim not in (3, 5):
        raise Unmapped(f"{node.type} of a query of {query.ndim} dimensions")
    size = query.shape[4] if query.ndim == 5 else query.shape[2] // heads
    if size < 1:
        raise Unmapped(f"{node.type} of {heads} heads, which a query of the sizes {list(query.shape)} does not have")
    tensors: dict[str, Any] = dict(_given(node))
    mask, kind = _mask(node, heads)
    if mask is not None:
        tensors["MaskTensor"] = mask
    outputs = {"OutputTensor": 0, "OutputPresentKeyTensor": 1, "OutputPresentValueTensor": 2}
    made = {name: node.output(index) for name, index in outputs.items() if node.gives(index)}
    fields = {**numbers(node, size), "HeadCount": heads, "MaskType": kind}
    return [Counterpart("MULTIHEAD_ATTENTION", {**tensors, **made, **fields})]


def _multi_head_of_onnx(node: OnnxNode) -> list[Counterpart]:
    """As `_multi_head`, with a bias that repeats, hidden keys after a query, and keys with their heads apart."""
    key, value, bias = (node.optional(index) for index in (1, 2, 5))
    if key is not None and value is not None and key.ndim == 4:
        inputs = list(node.inputs)
        inputs[1:3] = (_merged_heads(x) for x in (key, value))
        return _multi_head_of_onnx(node._replace(inputs=tuple(inputs)))
    (made,) = _multi_head(node)
    batch, length = node.input(0).shape[:2]
    past = node.input(6).shape[2] if node.has(6) else 0
    keys = past + (length if key is None else key.shape[1])
    sizes = (batch, node.positive("num_heads"), length, keys)
    fields = dict(made.fields)
    if bias is not None:
        fields["RelativePositionBiasTensor"] = repeated(bias, sizes)
    if node.whole("unidirectional", 0):
        seen = _seen(node, 4, batch, keys) if node.has(4) else np.ones((1, 1, 1, keys), bool)
        fields |= {"MaskTensor": _up_to_query(seen, sizes), "MaskType": "BOOLEAN"}
    return [made._replace(fields=fields)]


def _merged_heads(x: TensorRef) -> TensorRef:
    """Return values of heads, steps and elements with the heads side by side in the last dimension."""
    batch, heads, length, size = x.shape
    return x.transpose((0, 2, 1, 3)).packed().reshape(batch, length, heads * size)


def _refusal_of_multi_head(node: OnnxNode) -> RefusedNode | None:
    """Return why DmlOperatorMultiHeadAttention refuses a node that it takes, or None."""
    mask, query, key = node.optional(4), node.optional(0), node.optional(1)
    if mask is None or query is None:
        return _refusal_of_bias(node)
    keys = query.shape[1] if key is None else key.shape[2 if key.ndim == 4 else 1]
    if mask.shape in ((query.shape[0],), (query.shape[0], keys)):
        return _refusal_of_bias(node)
    return RefusedNode(
        f"the DirectML provider refuses {node.type} with a key_padding_mask {list(mask.shape)}, which is neither a"
        f" number for each of {query.shape[0]} batches nor one for each of their {keys} new keys",
        "give it as attention_bias: 0 for the keys that are seen, -10000 for the others",
    )


def _refusal_of_bias(node: OnnxNode) -> RefusedNode | None:
    """Return why the provider refuses a bias that repeats for batches or heads, or None."""
    query, bias, heads = node.optional(0), node.optional(5), node.get("num_heads")
    if query is None or bias is None or bias.ndim != 4 or bias.shape[:2] == (query.shape[0], heads):
        return None
    return RefusedNode(
        f"the DirectML provider refuses {node.type} whose attention_bias {list(bias.shape)} is not of"
        f" {query.shape[0]} batches and {heads} heads",
        "expand it to all batches and heads",
    )


def _deviation_of_multi_head(node: OnnxNode) -> str | None:
    """Return the known mistake of the provider for queries that may not see later keys, or None."""
    is_causal = node.whole("unidirectional", 0) and node.input(0).shape[1] > 1
    return unread(node, "unidirectional") if is_causal else None


def _given(node: OnnxNode) -> dict[str, TensorRef]:
    """Return the inputs by their fields, without the mask and without a past of no steps."""
    key = node.optional(1)
    is_past = key is not None and key.ndim == 4
    names = {
        0: "StackedQueryKeyValueTensor" if node.input(0).ndim == 5 else "QueryTensor",
        3: "BiasTensor",
        5: "RelativePositionBiasTensor",
        6: "PastKeyTensor",
        7: "PastValueTensor",
        1: "PastKeyTensor"
        if is_past
        else "StackedKeyValueTensor"
        if key is not None and key.ndim == 5
        else "KeyTensor",
        2: "PastValueTensor" if is_past else "ValueTensor",
    }
    return {name: node.input(index) for index, name in names.items() if node.has(index) and node.input(index).size}


def _mask(node: OnnxNode, heads: int) -> tuple[TensorRef | None, str]:
    """Return the mask and the name of its form: lengths of keys, their bounds, or a mark for each."""
    mask, query = node.optional(4), node.input(0)
    if mask is None:
        return None, "NONE"
    if mask.ndim == 1:
        is_length = mask.shape[0] == query.shape[0]
        return (ranked(mask, 2), "KEY_SEQUENCE_LENGTH") if is_length else (mask, "KEY_QUERY_SEQUENCE_LENGTH_START_END")
    return repeated(_marks(node, mask), (query.shape[0], heads, query.shape[1], mask.shape[-1])), "BOOLEAN"


def _marks(node: OnnxNode, mask: TensorRef) -> TensorRef:
    """Return a mask of keys in four dimensions: batch, heads, queries, keys."""
    if mask.ndim not in (2, 3, 4):
        raise Unmapped(f"{node.type} with a mask of {mask.ndim} dimensions, not of 1 to 4")
    return mask.reshape((mask.shape[0], *(1,) * (4 - mask.ndim), *mask.shape[1:]))


# ---- with the product that makes query, key and value


class _Sizes(NamedTuple):
    """The sizes of an attention: batch, steps, heads, and the elements of all heads in keys and in values."""

    batch: int
    length: int
    heads: int
    keys: int
    values: int

    @property
    def all(self) -> tuple[int, int, int]:
        """The sizes of query, key and value side by side."""
        return self.batch, self.length, 2 * self.keys + self.values


def _sizes(node: OnnxNode, *, own: Sequence[int] | None = None) -> _Sizes:
    """Return the sizes that input and weights say; `own` are the sizes of query, key and value where they differ."""
    x, weights, heads = node.input(0), node.input(1), node.positive("num_heads")
    if (x.ndim, weights.ndim) != (3, 2):
        raise Unmapped(f"{node.type} whose input has {x.ndim} dimensions and whose weights have {weights.ndim}")
    given = list(own or [weights.shape[1] // 3] * 3)
    are_of_heads = len(given) == 3 and all(size > 0 and size % heads == 0 for size in given)
    if not are_of_heads or given[0] != given[1] or sum(given) != weights.shape[1]:
        raise Unmapped(f"{node.type} of {heads} heads, whose weights of {weights.shape[1]} columns are {given}")
    return _Sizes(x.shape[0], x.shape[1], heads, given[0], given[2])


def _attention(node: OnnxNode) -> list[Counterpart]:
    """GEMM of all three, their heads put side by side, MULTIHEAD_ATTENTION; values of another size are cut off."""
    sizes, made, multiply = _multiplied(node)
    apart, tensors = _heads_apart(made, sizes)
    mask = _mask_of_product(node, 3, sizes)
    attend = _attend(node, sizes, mask, {**tensors, "RelativePositionBiasTensor": node.optional(5)})
    return [multiply, *apart, *mask.steps, attend]


def _attention_of_onnx(node: OnnxNode) -> list[Counterpart]:
    """As `_attention`, after earlier steps, with a bias that repeats, and with hidden keys after a query."""
    _refuse_shared_cache(node, 6)
    sizes, made, multiply = _multiplied(node)
    apart, tensors = _heads_apart(made, sizes)
    past, bias = node.optional(4), node.optional(5)
    steps = 0 if past is None else _steps_of(node, past, sizes)
    mask = _visible(node, 3, sizes, steps)
    if bias is not None:
        full = (sizes.batch, sizes.heads, sizes.length, steps + sizes.length)
        tensors["RelativePositionBiasTensor"] = repeated(bias, full)
    cut, earlier, joined = _earlier(node, past, sizes, steps)
    return [multiply, *apart, *mask.steps, *cut, _attend(node, sizes, mask, {**tensors, **earlier}), *joined]


def _refuse_shared_cache(node: OnnxNode, length: int) -> None:
    """Refuse a cache with room for later steps, whose number an input has, and angles that no input has."""
    odd = next((name for name in ("do_rotary", "past_present_share_buffer") if node.get(name, 0)), None)
    if odd is not None or node.has(length):
        raise Unmapped(f"{node.type} {f'of {odd} 1' if odd else 'with past_sequence_length'}")


def _multiplied(node: OnnxNode) -> tuple[_Sizes, TensorRef, Counterpart]:
    """Return the sizes, and query, key and value side by side with the GEMM that makes them."""
    x, weights, bias = node.input(0), node.input(1), node.optional(2)
    sizes = _sizes(node, own=node.get("qkv_hidden_sizes"))
    made = x.like(sizes.all)
    more = {} if bias is None else {"CTensor": repeated(bias, sizes.all)}
    return sizes, made, product(x, repeated(weights, (sizes.batch, *weights.shape)), made, **more, Beta=1)


def _attend(node: OnnxNode, sizes: _Sizes, mask: _Mask, tensors: Mapping[str, Any]) -> Counterpart:
    fields = {**numbers(node, sizes.keys // sizes.heads), "HeadCount": sizes.heads, "MaskType": mask.kind}
    output = node.output()
    return step("MULTIHEAD_ATTENTION", **tensors, MaskTensor=mask.tensor, OutputTensor=output, **fields)


def _heads_apart(made: TensorRef, sizes: _Sizes) -> tuple[list[Counterpart], dict[str, TensorRef]]:
    """Return the steps that put the heads of query, key and value side by side, and their tensors."""
    if sizes.keys == sizes.values:
        stacked = _stacked(made, sizes, 3)
        return [stacked], {"StackedQueryKeyValueTensor": stacked.fields["OutputTensor"]}
    query_key = made.like((sizes.batch, sizes.length, 2 * sizes.keys))
    value = made.like((sizes.batch, sizes.length, sizes.values))
    stacked = _stacked(query_key, sizes, 2)
    cut = [window(made, query_key, (0, 0, 0)), window(made, value, (0, 0, 2 * sizes.keys))]
    return [*cut, stacked], {"ValueTensor": value, "StackedQueryKeyTensor": stacked.fields["OutputTensor"]}


def _stacked(x: TensorRef, sizes: _Sizes, count: int) -> Counterpart:
    """Return a copy of tensors that lie one after the other, grouped by head."""
    size = sizes.keys // sizes.heads
    made = x.like((sizes.batch, sizes.length, sizes.heads, count, size))
    row = sizes.heads * count * size
    return identity(x.view(made.shape, (sizes.length * row, row, size, sizes.heads * size, 1)), made)


def _mask_of_product(node: OnnxNode, index: int, sizes: _Sizes, earlier: int = 0) -> _Mask:
    """Return the mask: lengths, ends and starts, or a mark for each pair, of which a larger square is cut."""
    mask = node.optional(index)
    if mask is None:
        return _Mask()
    if mask.ndim == 1:
        groups = mask.shape[0] // sizes.batch
        if groups not in (1, 2) or mask.shape[0] % sizes.batch:
            raise Unmapped(f"{node.type} with a mask of {mask.shape[0]} numbers for a batch of {sizes.batch}")
        kind = "KEY_SEQUENCE_LENGTH" if groups == 1 else "KEY_SEQUENCE_END_START"
        return _Mask(mask.reshape(groups, sizes.batch), kind)
    marks = _marks(node, mask)
    outer = (sizes.batch, sizes.heads)
    pairs = (*outer, sizes.length, earlier + sizes.length)
    if mask.ndim == 4 and mask.shape[2] != sizes.length:
        cut = mask.like(pairs)
        whole = repeated(marks, (*outer, *mask.shape[2:]))
        return _Mask(cut, "BOOLEAN", (window(whole, cut, (0, 0, earlier, 0)),))
    return _Mask(repeated(marks, pairs), "BOOLEAN")


def _visible(node: OnnxNode, index: int, sizes: _Sizes, earlier: int) -> _Mask:
    """Return the mask of a node whose queries may see no later key."""
    if not node.whole("unidirectional", 0):
        return _mask_of_product(node, index, sizes, earlier)
    if not node.has(index):
        total = earlier + sizes.length
        marks = TensorRef("INT32", (1, 1, sizes.length, total))  # ones: the keys up to the step of the query
        diagonals = {"DiagonalFillBegin": _FIRST_DIAGONAL, "DiagonalFillEnd": earlier + 1}
        fill = step("DIAGONAL_MATRIX1", OutputTensor=marks, ValueDataType="INT32", Value=1, **diagonals)
        return _Mask(repeated(marks, (sizes.batch, sizes.heads, sizes.length, total)), "BOOLEAN", (fill,))
    seen = _seen(node, index, sizes.batch, earlier + sizes.length)
    return _Mask(_up_to_query(seen, (sizes.batch, sizes.heads, sizes.length, earlier + sizes.length)), "BOOLEAN")


def _seen(node: OnnxNode, index: int, batch: int, keys: int) -> Array:
    """Return which keys a mask of known numbers shows, in four dimensions: its lengths, or its marks."""
    mask = np.asarray(node.numbers_of(index))
    if mask.shape == (batch,):
        return np.arange(keys) < mask.reshape(batch, 1, 1, 1)
    if mask.ndim not in (2, 3) or mask.shape[-1] != keys:
        raise Unmapped(f"{node.type} of unidirectional 1 with a mask of the sizes {list(mask.shape)}")
    return mask.reshape((mask.shape[0], *(1,) * (4 - mask.ndim), *mask.shape[1:])) > 0


def _up_to_query(seen: Array, sizes: tuple[int, int, int, int]) -> TensorRef:
    """Return the marks of the keys that are seen and not after their query, the last of which is the last key."""
    length, keys = sizes[2:]
    is_before = np.arange(keys) <= np.arange(keys - length, keys)[:, None]
    return repeated(TensorRef.of((seen & is_before).astype(np.int32)), sizes)


def _query_attention(node: OnnxNode) -> str | None:
    """DmlOperatorAttention.cpp, QueryAttention."""
    kept = next((name for index, name in ((4, "past"), (6, "past_sequence_length")) if node.has(index)), None)
    if kept is not None:
        return not_taken(node, f"with the input {kept}")
    if is_given(node, 1):
        return not_taken(node, "with the output present")
    return is_set(node, "unidirectional", "do_rotary", "past_present_share_buffer")


# ---- quantized


def _quantized_attention(node: OnnxNode) -> list[Counterpart]:
    """MATRIX_MULTIPLY_INTEGER_TO_FLOAT, then as Attention; earlier steps are cut apart, and joined again."""
    _refuse_shared_cache(node, 9)
    sizes, past = _sizes(node), node.optional(8)
    steps = 0 if past is None else _steps_of(node, past, sizes)
    made = node.output().like(sizes.all)
    stacked = _stacked(made, sizes, 3)
    mask = _visible(node, 5, sizes, steps)
    cut, tensors, joined = _earlier(node, past, sizes, steps)
    attend = _attend(node, sizes, mask, {"StackedQueryKeyValueTensor": stacked.fields["OutputTensor"], **tensors})
    return [_quantized_product(node, sizes, made), stacked, *mask.steps, *cut, attend, *joined]


def _quantized_product(node: OnnxNode, sizes: _Sizes, made: TensorRef) -> Counterpart:
    weights, bias = node.input(1), node.optional(2)
    return step(
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
        ATensor=node.input(0),
        AScaleTensor=vector(node.input(3)),
        AZeroPointTensor=_vector(node.optional(6)),
        BTensor=repeated(weights, (sizes.batch, *weights.shape)),
        BScaleTensor=vector(node.input(4)),
        BZeroPointTensor=_vector(node.optional(7)),
        BiasTensor=None if bias is None else repeated(bias, sizes.all),
        OutputTensor=made,
    )


def _vector(values: TensorRef | None) -> TensorRef | None:
    return None if values is None else vector(values)


def _steps_of(node: OnnxNode, past: TensorRef, sizes: _Sizes) -> int:
    head = sizes.keys // sizes.heads
    if past.ndim != 5 or (*past.shape[:3], past.shape[4]) != (2, sizes.batch, sizes.heads, head):
        raise Unmapped(f"{node.type} whose earlier steps have the sizes {list(past.shape)}")
    return int(past.shape[3])


def _earlier(
    node: OnnxNode, past: TensorRef | None, sizes: _Sizes, steps: int
) -> tuple[list[Counterpart], dict[str, TensorRef], list[Counterpart]]:
    """Return the steps that split earlier keys and values, their tensors, and the steps that join the present ones."""
    outer, head = (1, sizes.batch, sizes.heads), sizes.keys // sizes.heads
    parts, cut = {}, []
    if past is not None and past.size:
        parts = {name: past.like((*outer, steps, head)) for name in ("PastKeyTensor", "PastValueTensor")}
        cut = [window(past, part, (which, 0, 0, 0, 0)) for which, part in enumerate(parts.values())]
    if not node.gives(1):
        return cut, parts, []
    output = node.output(1)
    names = ("OutputPresentKeyTensor", "OutputPresentValueTensor")
    present = {name: output.like((*outer, steps + sizes.length, head)) for name in names}
    return cut, {**parts, **present}, [join([*present.values()], output, 0)]


def _query_q_attention(node: OnnxNode) -> str | None:
    """DmlOperatorQAttention.cpp, QueryQAttention."""
    if node.get("unidirectional", 0) and node.has(5):
        return not_taken(node, "of unidirectional 1 with a mask")
    return is_set(node, "do_rotary", "past_present_share_buffer")


OPERATORS: dict[str, Row] = {
    "com.microsoft.Attention": Row(
        exact=_attention_of_onnx,
        provider=_attention,
        query=_query_attention,
        refusal=_refusal_of_bias,
        outputs=None,
        leaves_out_empty=True,
    ),
    "com.microsoft.MultiHeadAttention": Row(
        exact=_multi_head_of_onnx,
        provider=_multi_head,
        refusal=_refusal_of_multi_head,
        deviation=_deviation_of_multi_head,
        outputs=None,
        leaves_out_empty=True,
    ),
    "com.microsoft.QAttention": Row(_quantized_attention, query=_query_q_attention, outputs=None),
}
