"""MULTIHEAD_ATTENTION: onnxruntime's own MultiHeadAttention, with query, key and value each in a tensor of its own."""

from __future__ import annotations

from collections.abc import Sequence

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.formats.onnx.models._graph_parts import last_dimensions, optional
from dmlcheck.formats.onnx.models._numbers import field
from dmlcheck.formats.onnx.models.graph import Builder, Inexpressible, Mapping, Value

# The tensor that each part may be stacked in, and its place there.
_STACKED = {
    "QueryTensor": (("StackedQueryKeyTensor", 0), ("StackedQueryKeyValueTensor", 0)),
    "KeyTensor": (("StackedQueryKeyTensor", 1), ("StackedKeyValueTensor", 0), ("StackedQueryKeyValueTensor", 1)),
    "ValueTensor": (("StackedKeyValueTensor", 1), ("StackedQueryKeyValueTensor", 2)),
}


def attention(g: Builder, desc: OperatorDesc) -> None:
    """MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1, with one number of heads for query, key and value."""
    heads = desc.values.get("HeadCount", desc.values.get("QueryHeadCount"))
    if desc.values.get("KeyValueHeadCount", heads) != heads or g.has("PastSequenceLengthsTensor"):
        raise Inexpressible("MultiHeadAttention has one number of heads, and no PastSequenceLengthsTensor")
    query, key, value = (_part(g, name) for name in _STACKED)
    past = [_last(g, optional(g, f"Past{name}Tensor"), 4) for name in ("Key", "Value")]
    bias = optional(g, "BiasTensor")
    if key is None:  # what an earlier step computed takes the place of key and value
        if bias is not None:
            raise Inexpressible("MultiHeadAttention has no bias beside a key of an earlier step alone")
        (key, value), past = past, [None, None]
    _check_heads(desc, value, past[1], heads)
    inputs = [
        query,
        key,
        value,
        None if bias is None else g.reshape(bias, bias.sizes[-1:]),
        _mask(g, desc),
        _last(g, optional(g, "RelativePositionBiasTensor"), 4),
        *past,
    ]
    labels = ["OutputTensor", "OutputPresentKeyTensor", "OutputPresentValueTensor"]
    if not any(map(g.has, labels[1:])):
        labels = labels[:1]
    elif not all(map(g.has, labels)):
        raise Inexpressible("MultiHeadAttention gives both present key and value, or neither")
    outputs = [desc.parts[label][0].tensor for label in labels]
    if past[0] is not None and len(outputs) > 1 and outputs[1].sizes[-2] <= past[0].sizes[-2]:
        raise Inexpressible("MultiHeadAttention's present key and value hold those of earlier steps too")
    made = g.nodes_of(
        "com.microsoft.MultiHeadAttention",
        inputs,
        [
            (tensor.sizes[len(tensor.sizes) - (4 if index else 3) :], tensor.data_type, None)
            for index, tensor in enumerate(outputs)
        ],
        num_heads=heads,
        scale=field(desc.values["Scale"]),
        mask_filter_value=field(desc.values["MaskFilterValue"]),
    )
    for label, result in zip(labels, made, strict=True):
        g.output(label, result)


def _part(g: Builder, name: str) -> Value | None:
    """Return query, key or value with its heads side by side, out of what it is stacked in."""
    if g.has(name):
        return last_dimensions(g, g.input(name), 3)
    for stacked, place in _STACKED[name]:
        if g.has(stacked):
            whole = g.input(stacked)
            batch, length, heads, _, size = whole.sizes
            sizes = (batch, length, heads, 1, size)
            taken = g.node("Gather", [whole, g.constant([place])], sizes, whole.data_type, axis=3)
            return g.reshape(taken, (batch, length, heads * size))
    return None


def _last(g: Builder, value: Value | None, count: int) -> Value | None:
    return None if value is None else last_dimensions(g, value, count)


def _check_heads(desc: OperatorDesc, value: Value | None, past: Value | None, heads: int) -> None:
    """Raise Inexpressible for a value of an earlier step whose heads have another size than those of this one."""
    size = desc.parts["OutputTensor"][0].tensor.sizes[-1] // heads
    held = past if past is not None else value if value is not None and len(value.sizes) == 4 else None
    if held is not None and held.sizes[-1] != size:
        raise Inexpressible("MultiHeadAttention has one head size for the values of this step and of earlier ones")


def _mask(g: Builder, desc: OperatorDesc) -> Value | None:
    """Return a mask as lengths of keys, or as which keys each query sees."""
    kind = desc.values["MaskType"]
    if kind == "NONE":
        return None
    mask = g.input("MaskTensor")
    if kind == "KEY_SEQUENCE_LENGTH":
        return last_dimensions(g, mask, 1)
    if kind != "BOOLEAN":
        raise Inexpressible(f"MultiHeadAttention has no mask like {kind}")
    if len(mask.sizes) < 4:
        raise Inexpressible("the page does not say what a BOOLEAN mask of fewer than four dimensions is")
    mask = last_dimensions(g, mask, 4)
    strides = desc.parts["MaskTensor"][0].tensor.strides
    if mask.sizes[1] > 1 and (strides is None or strides[-3] != 0):
        raise Inexpressible("MultiHeadAttention has one mask for all heads")
    return _first_head(g, mask)


def _first_head(g: Builder, mask: Value) -> Value:
    batch, heads, queries, keys = mask.sizes
    kept: Sequence[int] = (batch, 1, queries, keys)
    if heads > 1:
        mask = g.node("Gather", [mask, g.constant([0])], kept, mask.data_type, axis=1)
    return g.reshape(mask, (batch, queries, keys))


MAPPINGS: dict[str, Mapping] = {"MULTIHEAD_ATTENTION": attention, "MULTIHEAD_ATTENTION1": attention}
