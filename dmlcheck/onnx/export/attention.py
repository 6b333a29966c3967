"""MULTIHEAD_ATTENTION: onnxruntime's own MultiHeadAttention, with query, key and value each in a tensor of its own."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import as_float32

# The tensor that each part may be stacked in, and its place there.
_STACKED = {
    "QueryTensor": (("StackedQueryKeyTensor", 0), ("StackedQueryKeyValueTensor", 0)),
    "KeyTensor": (("StackedQueryKeyTensor", 1), ("StackedKeyValueTensor", 0), ("StackedQueryKeyValueTensor", 1)),
    "ValueTensor": (("StackedKeyValueTensor", 1), ("StackedQueryKeyValueTensor", 2)),
}


class _Pair(NamedTuple):
    """A key with its value; both are None if the desc has neither."""

    key: GraphValue | None
    value: GraphValue | None


def attention(g: Builder, desc: OperatorDesc) -> None:
    """MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1, with one number of heads for query, key and value."""
    heads = _head_count(g, desc)
    if as_float32(desc.values["Scale"]) == 0:
        raise Inexpressible("MultiHeadAttention takes a scale of 0 for none, and then has one of its own")
    query, own, past = _operands(g)
    bias = g.optional("BiasTensor")
    if own.key is None:  # the results of an earlier step take the place of key and value
        if bias is not None:
            raise Inexpressible("MultiHeadAttention has no bias with only a key of an earlier step")
        own, past = past, _Pair(None, None)
    _require_one_head_size(g, own, past, heads)
    products = (*g.tensor("OutputTensor").sizes[-3:-2], heads, g.tensor("OutputTensor").sizes[-2], _length(own, past))
    inputs = [
        query,
        *own,
        None if bias is None else g.reshape(bias, bias.sizes[-1:]),
        _mask(g, desc, products),
        _position(g, products),
        *past,
    ]
    labels = _output_labels(g, products[-1])
    made = g.nodes_of(
        "com.microsoft.MultiHeadAttention",
        inputs,
        _output_types(g, labels, past, products),
        num_heads=heads,
        scale=as_float32(desc.values["Scale"]),
        mask_filter_value=as_float32(desc.values["MaskFilterValue"]),
    )
    for label, result in zip(labels, made, strict=False):
        g.output(label, result)


def _head_count(g: Builder, desc: OperatorDesc) -> int:
    heads: int = desc.values.get("HeadCount", desc.values.get("QueryHeadCount"))
    if desc.values.get("KeyValueHeadCount", heads) != heads or g.has("PastSequenceLengthsTensor"):
        raise Inexpressible("MultiHeadAttention has one number of heads, and no PastSequenceLengthsTensor")
    return heads


# ---- inputs


def _operands(g: Builder) -> tuple[GraphValue | None, _Pair, _Pair]:
    """Return the query, the key and value of this step, and of earlier steps."""
    query, key, value = (_part(g, name) for name in _STACKED)
    past = [_four_dimensions(g, name) for name in ("PastKeyTensor", "PastValueTensor")]
    return query, _Pair(key, value), _Pair(*past)


def _part(g: Builder, name: str) -> GraphValue | None:
    """Return query, key or value with its heads side by side, out of the stacked tensor."""
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


def _four_dimensions(g: Builder, label: str) -> GraphValue | None:
    value = g.optional(label)
    return None if value is None else g.last_dimensions(value, 4)


def _require_one_head_size(g: Builder, own: _Pair, past: _Pair, heads: int) -> None:
    """Refuse a value of an earlier step whose heads have another size than in this step."""
    size = g.tensor("OutputTensor").sizes[-1] // heads
    held = past.value or own.value
    if held is not None and len(held.sizes) == 4 and held.sizes[-1] != size:
        raise Inexpressible("MultiHeadAttention has one head size for the values of this step and of earlier ones")


def _length(own: _Pair, past: _Pair) -> int:
    """Return how many keys there are; Inexpressible unless there are as many values."""
    if own.key is None or own.value is None or (past.key is None) != (past.value is None):
        raise Inexpressible("MultiHeadAttention has the past of both key and value, or of neither")
    if len(own.key.sizes) == 4 and own.key.sizes != own.value.sizes:
        raise Inexpressible("MultiHeadAttention has one head size with only a key and a value of an earlier step")
    return own.key.sizes[-2] + (0 if past.key is None else past.key.sizes[-2])


def _mask(g: Builder, desc: OperatorDesc, products: tuple[int, ...]) -> GraphValue | None:
    """Return a mask as lengths of keys, or as the keys that each query sees, for products of these sizes."""
    kind = desc.values["MaskType"]
    if (kind == "NONE") == g.has("MaskTensor"):
        raise Inexpressible("the page does not say what a mask without a type is, or a type without a mask")
    if kind == "NONE":
        return None
    mask = g.input("MaskTensor")
    if kind == "KEY_SEQUENCE_LENGTH":
        return g.last_dimensions(mask, 1)
    if kind != "BOOLEAN":
        raise Inexpressible(f"MultiHeadAttention has no mask like {kind}")
    if mask.sizes[-4:] != products:
        raise Inexpressible("the page does not say what a BOOLEAN mask of other sizes than the products' is")
    mask = g.last_dimensions(mask, 4)
    strides = g.tensor("MaskTensor").strides
    if mask.sizes[1] > 1 and (strides is None or strides[-3] != 0):
        raise Inexpressible("MultiHeadAttention has one mask for all heads")
    return _first_head(g, mask)


def _first_head(g: Builder, mask: GraphValue) -> GraphValue:
    batch, heads, queries, keys = mask.sizes
    if heads > 1:
        mask = g.node("Gather", [mask, g.constant([0])], (batch, 1, queries, keys), mask.data_type, axis=1)
    return g.reshape(mask, (batch, queries, keys))


def _position(g: Builder, products: tuple[int, ...]) -> GraphValue | None:
    """Return the relative position bias, of products of these sizes."""
    found = _four_dimensions(g, "RelativePositionBiasTensor")
    if found is not None and found.sizes != products:
        raise Inexpressible(
            "the page does not say what a RelativePositionBiasTensor of other sizes than the products' is"
        )
    return found


# ---- outputs


def _output_labels(g: Builder, count: int) -> list[str]:
    """Return the outputs that there are: the first, or all three."""
    labels = ["OutputTensor", "OutputPresentKeyTensor", "OutputPresentValueTensor"]
    if not any(map(g.has, labels[1:])):
        return labels[:1]
    if not all(map(g.has, labels)):
        raise Inexpressible("MultiHeadAttention gives both present key and value, or neither")
    if g.tensor(labels[1]).sizes[-2] != count:
        raise Inexpressible("MultiHeadAttention's present key and value also hold the earlier steps")
    return labels


def _output_types(
    g: Builder, labels: list[str], past: _Pair, products: tuple[int, ...]
) -> list[tuple[tuple[int, ...], str, None]]:
    """Return the sizes of the outputs without the dimensions that ONNX lacks, and their types.

    With a past there are always three: onnxruntime leaves the past out where nothing asks for key and value.
    """
    found = [
        (g.tensor(label).sizes[-3 if label == "OutputTensor" else -4 :], g.tensor(label).data_type, None)
        for label in labels
    ]
    if past.key is None or past.value is None or len(labels) > 1:
        return found
    batch, heads, _, count = products
    return [*found, *(((batch, heads, count, x.sizes[-1]), x.data_type, None) for x in (past.key, past.value))]


MAPPINGS: dict[str, Maker] = {"MULTIHEAD_ATTENTION": attention, "MULTIHEAD_ATTENTION1": attention}
