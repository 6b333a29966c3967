"""Attention of ONNX as MULTIHEAD_ATTENTION, or as MULTIHEAD_ATTENTION1 if several heads of the query share a key.

DirectML has the heads side by side, and adds one tensor to the products: hidden keys have -infinity in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped
from dmlcheck.onnx.descs.tensors import repeated
from dmlcheck.onnx.operators.fused_attention import numbers
from dmlcheck.onnx.operators.row import Row

_INPUTS = {0: "QueryTensor", 1: "KeyTensor", 2: "ValueTensor", 4: "PastKeyTensor", 5: "PastValueTensor"}
_OUTPUTS = {0: "OutputTensor", 1: "OutputPresentKeyTensor", 2: "OutputPresentValueTensor"}
_PRODUCTS = 3
_MOST_MARKS = 2**26  # of keys that a query has, or has not


def _attention(node: OnnxNode) -> list[Counterpart]:
    if node.get("softcap", 0):
        raise Unmapped("Attention with a softcap, which DirectML's attention does not have")
    query, key = _heads_apart(node, 0, "q_num_heads"), _heads_apart(node, 1, "kv_num_heads")
    tensors: dict[str, Any] = {
        name: values if "Past" in name else _merged_heads(values)
        for index, name in _INPUTS.items()
        if (values := node.optional(index)) is not None and values.size
    }
    past = node.input(4).shape[2] if node.has(4) else 0
    bias = _bias(node, query.shape[2], past, past + key.shape[2])
    if bias is not None:
        full = (*query.shape[:3], past + key.shape[2])
        tensors["RelativePositionBiasTensor"] = repeated(bias, full)
    fields = {**numbers(node, query.shape[3]), "MaskType": "NONE"}
    operator, counts = _of_heads(query.shape[1], key.shape[1])
    return [Counterpart(operator, {**tensors, **dict(_outputs(node)), **fields, **counts}, _note(node))]


def _flexible(node: OnnxNode) -> list[Counterpart]:
    graph = next((name for name in ("score_mod", "prob_mod") if node.get(name) is not None), None)
    if graph is not None:
        raise Unmapped(f"FlexAttention with a graph of its own for {graph}")
    return _attention(node)


def _heads_apart(node: OnnxNode, index: int, attribute: str) -> TensorRef:
    """Return an input as ONNX has it in four dimensions: heads before elements."""
    x = node.input(index)
    if x.ndim == 4:
        return x
    batch, length, hidden = x.shape
    heads = node.get(attribute)
    return x.reshape(batch, length, heads, hidden // heads).transpose((0, 2, 1, 3))


def _merged_heads(x: TensorRef) -> TensorRef:
    """Return values with the heads side by side in the last dimension."""
    if x.ndim != 4:
        return x
    batch, heads, length, size = x.shape
    return x.transpose((0, 2, 1, 3)).packed().reshape(batch, length, heads * size)


def _of_heads(query: int, key: int) -> tuple[str, dict[str, int]]:
    if query == key:
        return "MULTIHEAD_ATTENTION", {"HeadCount": query}
    return "MULTIHEAD_ATTENTION1", {"QueryHeadCount": query, "KeyValueHeadCount": key}


def _outputs(node: OnnxNode) -> Iterator[tuple[str, TensorRef]]:
    for index, name in _OUTPUTS.items():
        if node.gives(index):
            yield name, node.output(index) if "Present" in name else _merged_heads(node.output(index))


def _note(node: OnnxNode) -> str | None:
    return "qk_matmul_output is not compared." if node.gives(_PRODUCTS) else None


# ---- what is added to the products


def _bias(node: OnnxNode, queries: int, past: int, keys: int) -> TensorRef | None:
    """Return the tensor added to the products of queries and keys, or None."""
    dtype, mask, lengths = node.input(0).dtype, node.known(3), node.known(6)
    left = node.get("left_window_size", -1)
    right = 0 if node.get("is_causal", 0) else node.get("right_window_size", -1)
    if mask is None and lengths is None and max(left, right) < 0:
        return None
    if node.input(0).shape[0] * queries * keys > _MOST_MARKS:
        raise Unmapped(f"Attention of {queries} queries and {keys} keys, whose mask would be too large")
    hidden, place = np.zeros((1, 1, queries, keys), bool), np.arange(queries)[:, None] + past
    key = np.arange(keys)
    if lengths is not None:
        lengths = lengths.reshape(-1, 1, 1, 1)
        hidden, place = hidden | (key >= lengths), place + lengths - queries
    if left >= 0:
        hidden = hidden | (key < place - left)
    if right >= 0:
        hidden = hidden | (key > place + right)
    bias = np.where(hidden, dtype.type(-np.inf), _added(mask, keys, dtype))
    if np.isneginf(bias).all(axis=-1).any():
        raise Unmapped("Attention with a query that has no key left: DirectML does not say what it gives there")
    return TensorRef.of(bias)


def _added(mask: Array | None, keys: int, dtype: Any) -> Array:
    """Return a mask as numbers for a number of keys: false and missing elements hide their keys."""
    if mask is None:
        return np.zeros((1,) * 4, dtype)
    if mask.dtype == bool:
        mask = np.where(mask, dtype.type(0), dtype.type(-np.inf))
    room = [(0, 0)] * 3 + [(0, max(0, keys - mask.shape[-1]))]
    return np.pad(mask.reshape((1,) * (4 - mask.ndim) + mask.shape), room, constant_values=-np.inf)


OPERATORS: dict[str, Row] = {
    "Attention": Row(exact=_attention, outputs=None, leaves_out_empty=True),
    "ai.onnx.preview.FlexAttention": Row(exact=_flexible, outputs=None),
}
