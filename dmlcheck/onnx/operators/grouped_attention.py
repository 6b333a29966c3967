"""GroupQueryAttention, onnxruntime's own: rotated where it says so, after the steps of a cache, causal.

Its meaning is from its schema in ONNX Runtime's bert_defs.cc, and group_query_attention_helper.h; the provider's descs
are from DmlOperatorGroupQueryAttention.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped, shortest
from dmlcheck.onnx.descs.steps import identity, join, pair, step, unary
from dmlcheck.onnx.descs.tensors import ranked, repeated, sized, vector
from dmlcheck.onnx.operators.fused_attention import numbers
from dmlcheck.onnx.operators.row import Row, unread

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
    node, before = _apart(node)
    sizes = _sizes(node)
    query, key = node.input(0), node.input(1)
    if node.whole("do_rotary", 0):
        (query, of_query), (key, of_key) = (
            _rotated(node, x, heads, sizes) for x, heads in ((query, sizes.heads), (key, sizes.key_heads))
        )
        before += [*of_query, *of_key]
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


def _apart(node: OnnxNode) -> tuple[OnnxNode, list[Counterpart]]:
    """Return a node with query, key and value apart, and the SPLIT that makes them if they are in one tensor."""
    given, parts = node.input(0), (node.positive("num_heads"), *[node.positive("kv_num_heads")] * 2)
    if not node.has(1) and not node.has(2) and given.ndim == 3 and given.shape[2] % sum(parts) == 0:
        head = given.shape[2] // sum(parts)
        made = [given.like((*given.shape[:2], heads * head)) for heads in parts]
        return node._replace(inputs=(*made, *node.inputs[3:])), [
            step("SPLIT", InputTensor=given, OutputTensors=made, Axis=2)
        ]
    if any(node.input(index).ndim != 3 for index in range(3)):
        raise Unmapped(f"{node.type} whose query, key and value are not of three dimensions each")
    return node, []


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


def _refusal(node: OnnxNode) -> RefusedNode | None:
    """Return why DmlOperatorGroupQueryAttention refuses a node: it asks for three dimensions of each tensor."""
    if node.optional(0) is None or (node.has(1) and node.has(2)):
        return None
    return RefusedNode(
        f"the DirectML provider refuses {node.type} of query, key and value in one tensor",
        "split them: query, key and value are inputs of their own",
    )


def _deviation(node: OnnxNode) -> str | None:
    """Return the known mistake of the provider: what it does not read, though it matters."""
    is_on = {
        "do_rotary": bool(node.get("do_rotary", 0)),
        "local_window_size": 0 <= node.get("local_window_size", -1) < node.output(1).shape[2],
        "softcap": node.get("softcap", 0) > 0,
        "smooth_softmax": bool(node.get("smooth_softmax", 0)),
        "attention_bias": node.has(10),
        "head_sink": node.has(11),
    }
    return unread(node, *(name for name, matters in is_on.items() if matters))


# ---- RotaryEmbedding: pairs of elements turned by angles that are looked up by position

# onnxruntime's own is from DmlOperatorRotaryEmbedding.cpp of its DirectML provider. ONNX's, of opset 23, has the same
# formulas; its angles may be given for each step, and then nothing is looked up.


class _RotarySizes(NamedTuple):
    """Batch, steps and heads, the elements of a head, and how many of these are rotated."""

    batch: int
    length: int
    heads: int
    head: int
    turned: int
    are_heads_first: bool

    def whole(self, last: int) -> tuple[int, int, int, int]:
        """Return the sizes of a part of the input as the model has it."""
        inner = (self.heads, self.length) if self.are_heads_first else (self.length, self.heads)
        return (self.batch, *inner, last)


def rotary(node: OnnxNode) -> list[Counterpart]:
    """Cut off the rotated part, exchange its halves, multiply both by cosines and sines, and add them up."""
    x, output, sizes = node.input(0), node.output(), _rotary_sizes(node)
    if sizes.head == sizes.turned:
        return _turned(node, sizes, x, output)
    part, made = (x.like(sizes.whole(sizes.turned)) for _ in range(2))
    rest = x.like(sizes.whole(sizes.head - sizes.turned))
    whole, target = x.reshape(sizes.whole(sizes.head)), output.reshape(sizes.whole(sizes.head))
    cut = step("SPLIT", InputTensor=whole, OutputTensors=[part, rest], Axis=3)
    return [cut, *_turned(node, sizes, part, made), join([made, rest], target, 3)]


def _of_onnx(node: OnnxNode) -> list[Counterpart]:
    """Turn pairs as onnxruntime does: positions are the last input, and the heads of four dimensions are the second.

    Angles without positions belong to the steps: they become a table, and the positions count its rows.
    """
    x, tables = node.input(0), [node.input(1), node.input(2)]
    sizes = tables[0].shape
    if len(sizes) != (2 if node.has(3) else 3) or tables[1].shape != sizes:
        raise Unmapped(f"{node.type} whose cosines have the sizes {list(sizes)}, and its sines {list(tables[1].shape)}")
    rows = TensorRef.of(np.arange(np.prod(sizes[:-1])).reshape(sizes[:-1]))
    positions = node.input(3) if node.has(3) else rows
    flat = [table.reshape((-1, sizes[-1])) for table in tables]
    own = node.with_attributes(num_heads=x.shape[1]) if x.ndim == 4 else node
    return rotary(own._replace(inputs=(x, positions, *flat)))


def _rotary_sizes(node: OnnxNode) -> _RotarySizes:
    x, cosines = node.input(0), node.input(2)
    if x.ndim not in (3, 4) or cosines.ndim != 2 or node.input(3).shape != cosines.shape:
        raise Unmapped(f"{node.type} whose input has {x.ndim} dimensions, and its cosines {cosines.ndim}")
    hidden = x.shape[1] * x.shape[3] if x.ndim == 4 else x.shape[2]
    heads = node.whole("num_heads", 0)
    head = hidden // heads if heads > 0 else 2 * cosines.shape[1]
    turned = node.whole("rotary_embedding_dim", 0) or head
    length = x.shape[2] if x.ndim == 4 else x.shape[1]
    if head < 1 or hidden % head or turned != 2 * cosines.shape[1] or turned > head:
        raise Unmapped(f"{node.type} of {hidden} elements in heads of {head}, of which {turned} are turned")
    if length > cosines.shape[0] and not node.whole("is_packed_batching", 0):
        raise Unmapped(f"{node.type} of {length} steps, where cosines are for {cosines.shape[0]}")
    return _RotarySizes(x.shape[0], length, hidden // head, head, turned, x.ndim == 4)


def _turned(node: OnnxNode, sizes: _RotarySizes, x: TensorRef, output: TensorRef) -> list[Counterpart]:
    half, outer = sizes.turned // 2, (sizes.batch, sizes.length, sizes.heads)
    is_mixed = bool(node.whole("interleaved", 0))
    pairs, single, axis = ((half, 2), (half, 1), 4) if is_mixed else ((2, half), (1, half), 3)
    shape = (*outer, *pairs)
    plain = x.like((*outer, sizes.turned))
    swapped, by_cosines, by_sines, signed = (x.like(shape) for _ in range(4))
    first, second = (x.like((*outer, *single)) for _ in range(2))
    cosines, sines = (x.like((1, sizes.batch, sizes.length, half)) for _ in range(2))
    signs = x.like((2,))
    of_pairs = [repeated(sized(angles, (sizes.batch, sizes.length, 1, *single)), shape) for angles in (cosines, sines)]
    of_halves = repeated(signs.reshape((2,) if is_mixed else (2, 1)), shape)
    start = {"ValueDataType": x.data_type, "ValueStart": -1, "ValueDelta": 2}
    return [
        identity(_as_steps(x, sizes), plain, ScaleBias={"Scale": 1, "Bias": 0}),
        step("SPLIT", InputTensor=plain.reshape(shape), OutputTensors=[first, second], Axis=axis),
        *_looked_up(node, sizes, cosines, sines),
        step("FILL_VALUE_SEQUENCE", OutputTensor=signs, **start),
        join([second, first], swapped, axis),
        pair("MULTIPLY", plain.reshape(shape), of_pairs[0], by_cosines),
        pair("MULTIPLY", swapped, of_pairs[1], by_sines),
        pair("MULTIPLY", by_sines, of_halves, signed),
        pair("ADD", by_cosines.reshape(plain.shape), signed.reshape(plain.shape), _as_steps(output, sizes)),
    ]


def _as_steps(x: TensorRef, sizes: _RotarySizes) -> TensorRef:
    """Return the rotated tensor with the heads after the steps; if they are before them, through strides."""
    shape = (sizes.batch, sizes.length, sizes.heads, sizes.turned)
    row = sizes.length * sizes.turned
    return x.view(shape, (sizes.heads * row, sizes.turned, row, 1) if sizes.are_heads_first else None)


def _looked_up(node: OnnxNode, sizes: _RotarySizes, cosines: TensorRef, sines: TensorRef) -> list[Counterpart]:
    """Return the GATHERs of cosines and sines; one position is the first of a sequence that is made before."""
    positions = node.input(1)
    made: list[Counterpart] = []
    indices: TensorRef = ranked(positions, 4)
    if positions.ndim == 1:
        steps = positions.like((1, 1, 1, sizes.length))
        every = positions.like((1, 1, sizes.batch, sizes.length))
        sequence: dict[str, Any] = {"ValueDataType": "INT64", "ValueStart": 0, "ValueDelta": 1}
        made = [
            step("FILL_VALUE_SEQUENCE", OutputTensor=steps, **sequence),
            pair("ADD", steps, vector(positions), every),
        ]
        indices = every
    gather = {"IndicesTensor": indices, "Axis": 2, "IndexDimensions": 2}
    tables = [(ranked(node.input(index), 4), made) for index, made in ((2, cosines), (3, sines))]
    return [*made, *(step("GATHER", InputTensor=table, OutputTensor=angles, **gather) for table, angles in tables)]


OPERATORS: dict[str, Row] = {
    "com.microsoft.GroupQueryAttention": Row(
        exact=_grouped,
        provider=_grouped_by_provider,
        refusal=_refusal,
        deviation=_deviation,
        outputs=None,
        leaves_out_empty=True,
    ),
    "RotaryEmbedding": Row(exact=_of_onnx),
    "com.microsoft.RotaryEmbedding": Row(rotary),
}
