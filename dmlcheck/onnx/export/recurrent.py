"""Networks: RNN, LSTM and GRU are ONNX's of the same names, with the gates in the same order.

MULTIHEAD_ATTENTION is onnxruntime's own MultiHeadAttention, with query, key and value each in a tensor of its own.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

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


# ONNX's function for each activation, the fields that are its alpha and its beta, and the fields that must be 1.
_FUNCTIONS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "CELU": ("Elu", ("Alpha",), ("Alpha",)),
    "ELU": ("Elu", ("Alpha",), ()),
    "HARD_SIGMOID": ("HardSigmoid", ("Alpha", "Beta"), ()),
    "LEAKY_RELU": ("LeakyRelu", ("Alpha",), ()),
    "LINEAR": ("Affine", ("Alpha", "Beta"), ()),
    "PARAMETRIC_SOFTPLUS": ("Softplus", (), ("Alpha", "Beta")),
    "RELU": ("Relu", (), ()),
    "SCALED_ELU": ("Elu", ("Alpha",), ("Gamma",)),
    "SCALED_TANH": ("ScaledTanh", ("Alpha", "Beta"), ()),
    "SIGMOID": ("Sigmoid", (), ()),
    "SOFTPLUS": ("Softplus", (), ("Steepness",)),
    "SOFTSIGN": ("Softsign", (), ()),
    "TANH": ("Tanh", (), ()),
    "THRESHOLDED_RELU": ("ThresholdedRelu", ("Alpha",), ()),
}


def recurrent(type: str, g: Builder, desc: OperatorDesc) -> None:
    """Run a network without the dimensions of size 1 that ONNX's tensors lack."""
    x, weights, recurrence = (_cut(g, name, 3) for name in ("InputTensor", "WeightTensor", "RecurrenceTensor"))
    inputs = [x, weights, recurrence, *_optional_inputs(type, g)]
    state = (weights.sizes[0], x.sizes[1], recurrence.sizes[2])
    labels = ["OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor"][: 3 if type == "LSTM" else 2]
    if not any(map(g.has, labels)):
        raise Inexpressible("the desc has no outputs")
    shapes = [(x.sizes[0], *state), state, state][: len(labels)]
    made = g.nodes_of(
        type,
        inputs,
        [(sizes, x.data_type, None) for sizes in shapes],
        direction={"BACKWARD": "reverse"}.get(desc.values["Direction"], desc.values["Direction"].lower()),
        hidden_size=recurrence.sizes[2],
        **_activations(desc),
        **_own(type, desc),
    )
    for label, value in zip(labels, made, strict=True):
        if g.has(label):
            g.output(label, value)


def _optional_inputs(type: str, g: Builder) -> list[GraphValue | None]:
    """Return the inputs that may be left out, in ONNX's order."""
    lengths = _in(g, "SequenceLengthsTensor", 1)
    inputs = [
        _in(g, "BiasTensor", 2),
        None if lengths is None else g.cast(lengths, "INT32"),
        _in(g, "HiddenInitTensor", 3),
    ]
    return [*inputs, _in(g, "CellMemInitTensor", 3), _in(g, "PeepholeTensor", 2)] if type == "LSTM" else inputs


def _in(g: Builder, label: str, rank: int) -> GraphValue | None:
    """Return a tensor that may be left out, in its last dimensions."""
    return _cut(g, label, rank) if g.has(label) else None


def _cut(g: Builder, label: str, rank: int) -> GraphValue:
    """Return a tensor in its last dimensions; all before them are 1."""
    x = g.input(label)
    return g.reshape(x, x.sizes[len(x.sizes) - rank :])


def _own(type: str, desc: OperatorDesc) -> dict[str, Any]:
    if type == "GRU":
        return {"linear_before_reset": int(bool(desc.values["LinearBeforeReset"]))}
    if type == "RNN":
        return {}
    limit = as_float32(desc.values["ClipThreshold"]) if desc.values["UseClipThreshold"] else None
    if limit is not None and not limit > 0:  # or NaN
        raise Inexpressible(f"ClipThreshold {limit:g} leaves nothing between its limits")
    return {"clip": limit, "input_forget": int(bool(desc.values["CoupleInputForget"]))}


def _activations(desc: OperatorDesc) -> dict[str, Any]:
    """Return the activations as names, and two lists of their numbers, with entries only for those that have some."""
    names: list[str] = []
    numbers: tuple[list[float], list[float]] = [], []
    for activation in desc.values["ActivationDescs"]:
        name, values = _function(activation)
        names.append(name)
        for value, into in zip(values, numbers, strict=False):
            into.append(value)
    alpha, beta = numbers
    return {"activations": names, "activation_alpha": alpha or None, "activation_beta": beta or None}


def _function(activation: OperatorDesc) -> tuple[str, list[float]]:
    """Return an activation's name and its numbers."""
    short = activation.spec.short.removeprefix("ACTIVATION_")
    if short == "IDENTITY":
        return "Affine", [1.0, 0.0]
    name, fields, ones = _FUNCTIONS.get(short, ("", (), ()))
    if not name or any(as_float32(activation.values[each]) != 1 for each in ones):
        raise Inexpressible(f"ONNX's recurrent networks have no {activation.spec.short} with its parameters")
    return name, [as_float32(activation.values[each]) for each in fields]


MAPPINGS: dict[str, Maker] = {
    **{name: partial(recurrent, name) for name in ("GRU", "LSTM", "RNN")},
    "MULTIHEAD_ATTENTION": attention,
    "MULTIHEAD_ATTENTION1": attention,
}
