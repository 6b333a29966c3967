"""Operators of onnxruntime's own that transformers are fused to: products, Gelu, attention."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np

from dmlcheck.formats.onnx.from_onnx.node import Array, Counterpart, Maker, Node, Refused, number
from dmlcheck.formats.onnx.from_onnx.tensors import Strided, repeated


def _fused_product(node: Node) -> Counterpart:
    """GEMM of batches; a transposed factor is one whose last two strides are exchanged."""
    a, b, output = node.input(0), node.input(1), node.output()
    if min(a.ndim, b.ndim) < 2 or node.get("transBatchA", 0) or node.get("transBatchB", 0):
        raise Refused(f"{node.type} of vectors, or of batches that are transposed")
    tensors = {
        f"{side}Tensor": _factor(x, output.shape[:-2], bool(node.get(f"trans{side}", 0)))
        for side, x in (("A", a), ("B", b))
    }
    fields = {"TransA": "NONE", "TransB": "NONE", "Alpha": number(node.get("alpha", 1.0)), "Beta": 0}
    return Counterpart("GEMM", {**tensors, "OutputTensor": output, **fields})


def _factor(x: Array, batch: tuple[int, ...], is_transposed: bool) -> Array | Strided:  # noqa: FBT001
    full = repeated(x, (*batch, *x.shape[-2:]))
    if not is_transposed:
        return full
    if not isinstance(full, Strided):
        full = Strided(full, tuple(prod(full.shape[axis + 1 :]) for axis in range(full.ndim)))
    *outer, rows, columns = full.strides
    return Strided(np.swapaxes(full.values, -1, -2), (*outer, columns, rows))


def _gelu(node: Node) -> Counterpart:
    return Counterpart("ACTIVATION_GELU", node.tensors())


def _attention(node: Node) -> Counterpart:
    """MULTIHEAD_ATTENTION of queries, keys and values; five dimensions are stacked, keys of four are earlier ones."""
    query, heads = node.input(0), node.get("num_heads")
    size = query.shape[4] if query.ndim == 5 else query.shape[2] // heads
    tensors: dict[str, Any] = dict(_given(node))
    mask, kind = _mask(node, heads)
    if mask is not None:
        tensors["MaskTensor"] = mask
    outputs = {"OutputTensor": 0, "OutputPresentKeyTensor": 1, "OutputPresentValueTensor": 2}
    made = {
        name: node.output(index)
        for name, index in outputs.items()
        if index < len(node.outputs) and node.outputs[index] is not None
    }
    fields = {
        "Scale": number(node.get("scale") or 1 / sqrt(size)),
        "MaskFilterValue": number(node.get("mask_filter_value", -10000.0)),
        "HeadCount": heads,
        "MaskType": kind,
    }
    return Counterpart("MULTIHEAD_ATTENTION", {**tensors, **made, **fields})


def _given(node: Node) -> dict[str, Array]:
    """Return the inputs by the fields that they are, but for the mask."""
    key = node.optional(1)
    is_past = key is not None and key.ndim == 4
    names = {
        0: "StackedQueryKeyValueTensor" if node.input(0).ndim == 5 else "QueryTensor",
        1: "PastKeyTensor"
        if is_past
        else "StackedKeyValueTensor"
        if key is not None and key.ndim == 5
        else "KeyTensor",
        2: "PastValueTensor" if is_past else "ValueTensor",
        3: "BiasTensor",
        5: "RelativePositionBiasTensor",
        6: "PastKeyTensor",
        7: "PastValueTensor",
    }
    return {name: node.input(index) for index, name in names.items() if node.has(index)}


def _mask(node: Node, heads: int) -> tuple[Array | Strided | None, str]:
    """Return the mask in its form, and the name of that: lengths of keys, their bounds, or a mark for each."""
    mask, query = node.optional(4), node.input(0)
    if mask is None:
        return None, "NONE"
    if mask.ndim == 1:
        is_length = mask.shape[0] == query.shape[0]
        return (mask[None], "KEY_SEQUENCE_LENGTH") if is_length else (mask, "KEY_QUERY_SEQUENCE_LENGTH_START_END")
    if mask.ndim != 2:
        raise Refused(f"{node.type} with a mask of {mask.ndim} dimensions")
    full = (query.shape[0], heads, query.shape[1], mask.shape[1])
    return repeated(mask[:, None, None, :], full), "BOOLEAN"


OPERATORS: dict[str, Maker] = {
    "com.microsoft.FusedMatMul": _fused_product,
    "com.microsoft.Gelu": _gelu,
    "com.microsoft.MultiHeadAttention": _attention,
}
