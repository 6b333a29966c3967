"""MULTIHEAD_ATTENTION: onnxruntime's own MultiHeadAttention, with query, key and value each in a tensor of its own."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.formats.onnx.to_onnx.builder import Builder, Maker
from dmlcheck.formats.onnx.to_onnx.records import Inexpressible, Value
from dmlcheck.formats.onnx.to_onnx.representable import as_float32

# The tensor that each part may be stacked in, and its place there.
_STACKED = {
    "QueryTensor": (("StackedQueryKeyTensor", 0), ("StackedQueryKeyValueTensor", 0)),
    "KeyTensor": (("StackedQueryKeyTensor", 1), ("StackedKeyValueTensor", 0), ("StackedQueryKeyValueTensor", 1)),
    "ValueTensor": (("StackedKeyValueTensor", 1), ("StackedQueryKeyValueTensor", 2)),
}


class _Pair(NamedTuple):
    """A key with its value; both None where there is neither."""

    key: Value | None
    value: Value | None


def attention(g: Builder, desc: OperatorDesc) -> None:
    """MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1, with one number of heads for query, key and value."""
    heads = _head_count(g, desc)
    query, own, past = _operands(g)
    bias = g.optional("BiasTensor")
    if own.key is None:  # what an earlier step computed takes the place of key and value
        if bias is not None:
            raise Inexpressible("MultiHeadAttention has no bias beside a key of an earlier step alone")
        own, past = past, _Pair(None, None)
    _require_one_head_size(g, own, past, heads)
    inputs = [
        query,
        *own,
        None if bias is None else g.reshape(bias, bias.sizes[-1:]),
        _mask(g, desc),
        _four_dimensions(g, "RelativePositionBiasTensor"),
        *past,
    ]
    labels = _output_labels(g, past)
    made = g.nodes_of(
        "com.microsoft.MultiHeadAttention",
        inputs,
        [_output_type(g, label) for label in labels],
        num_heads=heads,
        scale=as_float32(desc.values["Scale"]),
        mask_filter_value=as_float32(desc.values["MaskFilterValue"]),
    )
    for label, result in zip(labels, made, strict=True):
        g.output(label, result)


def _head_count(g: Builder, desc: OperatorDesc) -> int:
    heads: int = desc.values.get("HeadCount", desc.values.get("QueryHeadCount"))
    if desc.values.get("KeyValueHeadCount", heads) != heads or g.has("PastSequenceLengthsTensor"):
        raise Inexpressible("MultiHeadAttention has one number of heads, and no PastSequenceLengthsTensor")
    return heads


# ---- inputs


def _operands(g: Builder) -> tuple[Value | None, _Pair, _Pair]:
    """Return the query, the key and value of this step, and those of the steps before it."""
    query, key, value = (_part(g, name) for name in _STACKED)
    past = [_four_dimensions(g, name) for name in ("PastKeyTensor", "PastValueTensor")]
    return query, _Pair(key, value), _Pair(*past)


def _part(g: Builder, name: str) -> Value | None:
    """Return query, key or value with its heads side by side, out of what it is stacked in."""
    if g.has(name):
        return g.last_dimensions(g.input(name), 3)
    for stacked, place in _STACKED[name]:
        if g.has(stacked):
            whole = g.input(stacked)
            batch, length, heads, _, size = whole.sizes
            sizes = (batch, length, heads, 1, size)
            taken = g.node("Gather", [whole, g.constant([place])], sizes, whole.data_type, axis=3)
            return g.reshape(taken, (batch, length, heads * size))
    return None


def _four_dimensions(g: Builder, label: str) -> Value | None:
    value = g.optional(label)
    return None if value is None else g.last_dimensions(value, 4)


def _require_one_head_size(g: Builder, own: _Pair, past: _Pair, heads: int) -> None:
    """Refuse a value of an earlier step whose heads have another size than those of this one."""
    size = g.tensor("OutputTensor").sizes[-1] // heads
    held = past.value or own.value
    if held is not None and len(held.sizes) == 4 and held.sizes[-1] != size:
        raise Inexpressible("MultiHeadAttention has one head size for the values of this step and of earlier ones")


def _mask(g: Builder, desc: OperatorDesc) -> Value | None:
    """Return a mask as lengths of keys, or as which keys each query sees."""
    kind = desc.values["MaskType"]
    if kind == "NONE":
        return None
    mask = g.input("MaskTensor")
    if kind == "KEY_SEQUENCE_LENGTH":
        return g.last_dimensions(mask, 1)
    if kind != "BOOLEAN":
        raise Inexpressible(f"MultiHeadAttention has no mask like {kind}")
    if len(mask.sizes) < 4:
        raise Inexpressible("the page does not say what a BOOLEAN mask of fewer than four dimensions is")
    mask = g.last_dimensions(mask, 4)
    strides = g.tensor("MaskTensor").strides
    if mask.sizes[1] > 1 and (strides is None or strides[-3] != 0):
        raise Inexpressible("MultiHeadAttention has one mask for all heads")
    return _first_head(g, mask)


def _first_head(g: Builder, mask: Value) -> Value:
    batch, heads, queries, keys = mask.sizes
    if heads > 1:
        mask = g.node("Gather", [mask, g.constant([0])], (batch, 1, queries, keys), mask.data_type, axis=1)
    return g.reshape(mask, (batch, queries, keys))


# ---- outputs


def _output_labels(g: Builder, past: _Pair) -> list[str]:
    """Return the outputs that there are: the first, or all three."""
    labels = ["OutputTensor", "OutputPresentKeyTensor", "OutputPresentValueTensor"]
    if not any(map(g.has, labels[1:])):
        return labels[:1]
    if not all(map(g.has, labels)):
        raise Inexpressible("MultiHeadAttention gives both present key and value, or neither")
    if past.key is not None and g.tensor(labels[1]).sizes[-2] <= past.key.sizes[-2]:
        raise Inexpressible("MultiHeadAttention's present key and value hold those of earlier steps too")
    return labels


def _output_type(g: Builder, label: str) -> tuple[tuple[int, ...], str, None]:
    """Return the sizes of an output without the dimensions that ONNX lacks, and its type."""
    tensor = g.tensor(label)
    rank = 3 if label == "OutputTensor" else 4
    return tensor.sizes[len(tensor.sizes) - rank :], tensor.data_type, None


MAPPINGS: dict[str, Maker] = {"MULTIHEAD_ATTENTION": attention, "MULTIHEAD_ATTENTION1": attention}
