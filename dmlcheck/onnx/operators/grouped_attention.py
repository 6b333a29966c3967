"""GroupQueryAttention, onnxruntime's own: rotated where it says so, after the steps of a cache, causal.

Its meaning is from its schema in ONNX Runtime's bert_defs.cc, and group_query_attention_helper.h; the provider's descs
are from DmlOperatorGroupQueryAttention.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, shortest
from dmlcheck.onnx.descs.steps import step, unary
from dmlcheck.onnx.descs.tensors import repeated
from dmlcheck.onnx.operators.fused_attention import numbers
from dmlcheck.onnx.operators.rotary import rotary
from dmlcheck.onnx.operators.row import Row

_ROTARY = "com.microsoft.RotaryEmbedding"
_MOST_MARKS = 2**26  # of keys that a query sees, or does not


class _Sizes(NamedTuple):
    """Batch, steps, the heads of queries and of keys, the elements of a head, and how many steps are in the cache."""

    batch: int
    length: int
    heads: int
    key_heads: int
    head: int
    past: int

    @property
    def total(self) -> int:
        """The steps that keys have."""
        return self.past + self.length


def _grouped(node: OnnxNode) -> list[Counterpart]:
    """Rotate queries and keys, then MULTIHEAD_ATTENTION1 with a bias that hides later keys."""
    _refuse(node)
    sizes = _sizes(node)
    query, key, before = node.input(0), node.input(1), []
    if node.whole("do_rotary", 0):
        (query, of_query), (key, of_key) = (
            _rotated(node, x, heads, sizes) for x, heads in ((query, sizes.heads), (key, sizes.key_heads))
        )
        before = [*of_query, *of_key]
    tensors = {"QueryTensor": query, "KeyTensor": key, "ValueTensor": node.input(2)}
    if sizes.past:
        tensors |= {name: _steps(node.input(3 + i), sizes, sizes.past) for i, name in enumerate(_PAST)}
    present = {name: _steps(node.output(1 + i), sizes, sizes.total) for i, name in enumerate(_PRESENT)}
    scale = node.get("scale") or 1 / sqrt(sizes.head)
    fields = {
        "Scale": shortest(scale),
        "MaskFilterValue": -10000,
        "QueryHeadCount": sizes.heads,
        "KeyValueHeadCount": sizes.key_heads,
        "MaskType": "NONE",
    }
    bias = {"RelativePositionBiasTensor": _bias(node, sizes)}
    outputs = {"OutputTensor": node.output(), **present}
    return [*before, step("MULTIHEAD_ATTENTION1", **tensors, **bias, **outputs, **fields)]


_PAST = ("PastKeyTensor", "PastValueTensor")
_PRESENT = ("OutputPresentKeyTensor", "OutputPresentValueTensor")
_NEWER = 9  # inputs from here on: positions, a bias, a sink


def _refuse(node: OnnxNode) -> None:
    """Refuse attributes and inputs that DirectML's attention lacks."""
    given = next((name for name in ("softcap", "smooth_softmax", "qk_output") if node.get(name, 0)), None)
    if given is not None:
        raise Unmapped(f"{node.type} with {given}, which DirectML's attention does not have")
    if any(node.has(index) for index in range(_NEWER, len(node.inputs))):
        raise Unmapped(f"{node.type} with an input after the caches of cosines and sines")
    if not node.has(1) or any(node.input(index).ndim != 3 for index in range(3)):
        raise Unmapped(f"{node.type} of query, key and value in one tensor")


def _sizes(node: OnnxNode) -> _Sizes:
    heads, key_heads = node.positive("num_heads"), node.positive("kv_num_heads")
    batch, length, hidden = node.input(0).shape
    ends = {int(end) for end in node.numbers_of(5).reshape(-1)}
    if len(ends) != 1 or hidden % heads:
        raise Unmapped(f"{node.type} of sequences that end at {sorted(ends)}, or of {heads} heads in {hidden} elements")
    past = ends.pop() + 1 - length
    cached = node.input(3).shape[2] if node.has(3) else 0
    if not 0 <= past <= cached or node.input(1).shape[1] != length or node.output(1).shape[2] < past + length:
        raise Unmapped(f"{node.type} of {length} steps after {past}, with a cache of {cached}")
    return _Sizes(batch, length, heads, key_heads, hidden // heads, past)


def _steps(cache: TensorRef, sizes: _Sizes, count: int) -> TensorRef:
    """Return the first steps of a cache, read through strides where it has more."""
    held = cache.shape[2]
    shape = (sizes.batch, sizes.key_heads, count, sizes.head)
    row = held * sizes.head
    return cache.view(shape, None if held == count else (sizes.key_heads * row, row, sizes.head, 1))


def _rotated(node: OnnxNode, x: TensorRef, heads: int, sizes: _Sizes) -> tuple[TensorRef, list[Counterpart]]:
    places = np.broadcast_to(np.arange(sizes.past, sizes.total, dtype=np.int64), (sizes.batch, sizes.length))
    made = x.unknown()
    attributes = {"num_heads": heads, "interleaved": node.whole("rotary_interleaved", 0)}
    turned = 2 * node.input(7).shape[1]
    if turned != sizes.head:
        attributes["rotary_embedding_dim"] = turned
    inputs = (x, TensorRef.of(places), node.input(7), node.input(8))
    return made, rotary(OnnxNode(_ROTARY, node.opset, attributes, inputs, (made,)))


def _bias(node: OnnxNode, sizes: _Sizes) -> TensorRef | None:
    """Return the bias that hides the keys after a query and before its window, or None if all keys are visible."""
    window = node.whole("local_window_size", -1)
    if sizes.length == 1 and (window < 0 or window >= sizes.total):
        return None
    if sizes.length * sizes.total > _MOST_MARKS:
        raise Unmapped(f"{node.type} of {sizes.length} queries and {sizes.total} keys, whose mask would be too large")
    query, key = np.arange(sizes.past, sizes.total)[:, None], np.arange(sizes.total)
    hidden = (key > query) | ((key <= query - window) if window >= 0 else False)
    dtype = node.input(0).dtype
    bias = np.where(hidden, dtype.type(-np.inf), dtype.type(0)).reshape(1, 1, sizes.length, sizes.total)
    return repeated(TensorRef.of(bias), (sizes.batch, sizes.heads, sizes.length, sizes.total))


# ---- as the provider makes it


def _grouped_by_provider(node: OnnxNode) -> list[Counterpart]:
    """MULTIHEAD_ATTENTION1 in FLOAT32; for one step, input 5 gives the number of past steps, for several it is 0."""
    inputs = [node.input(index) for index in range(3)]
    outputs = [node.output(index) for index in range(3)]
    if any(x.ndim != 3 for x in inputs):
        raise Unmapped(f"{node.type} whose query, key and value have {[x.ndim for x in inputs]} dimensions, not 3 each")
    wide = [x if x.dtype == np.float32 else TensorRef("FLOAT32", x.shape) for x in (*inputs, *outputs)]
    before = [unary("CAST", x, y) for x, y in zip(inputs, wide[:3], strict=True) if x is not y]
    after = [unary("CAST", y, x) for x, y in zip(outputs, wide[3:], strict=True) if x is not y]
    batch, length, _ = inputs[0].shape
    past = TensorRef("INT32", (batch,)) if length > 1 or not node.has(5) else node.input(5).reshape(batch)
    none = step("FILL_VALUE_CONSTANT", OutputTensor=past, ValueDataType="INT32", Value=0)
    return [*before, *([] if length == 1 else [none]), _attend(node, wide, past), *after]


def _attend(node: OnnxNode, wide: Sequence[TensorRef], past: TensorRef) -> Counterpart:
    names = ("QueryTensor", "KeyTensor", "ValueTensor", "OutputTensor", "OutputPresentKeyTensor",
             "OutputPresentValueTensor")  # fmt: skip
    hidden, heads = wide[0].shape[2], node.positive("num_heads")
    if hidden < heads:
        raise Unmapped(f"{node.type} of {heads} heads in {hidden} elements")
    counts = {"QueryHeadCount": heads, "KeyValueHeadCount": node.positive("kv_num_heads")}
    fields = {**numbers(node, hidden // heads), **counts, "MaskType": "NONE"}
    tensors = dict(zip(names, wide, strict=True))
    return step("MULTIHEAD_ATTENTION1", **tensors, PastSequenceLengthsTensor=past, **fields)


OPERATORS: dict[str, Row] = {
    "com.microsoft.GroupQueryAttention": Row(
        exact=_grouped, provider=_grouped_by_provider, outputs=None, leaves_out_empty=True
    ),
}
