"""Types and sizes of outputs that onnx does not infer: of onnxruntime's own operators, and of a few of ONNX's.

Of STFT the package onnx infers all frequencies where the attribute for half of them has its default.
From contrib_defs.cc, bert_defs.cc and quantization_defs.cc of ONNX Runtime. Needs the package onnx.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

from dmlcheck.onnx.descs.node import Unmapped, axis_of
from dmlcheck.onnx.model.values import Value
from dmlcheck.onnx.reading import attributes_of

Size = int | str
_FLOAT, _UINT8, _INT32, _BOOL = 1, 2, 6, 9


class _Call(NamedTuple):
    """A node: its attributes and its inputs, or None if one is left out."""

    attributes: Mapping[str, Any]
    inputs: tuple[Value | None, ...]

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def value(self, index: int) -> Value | None:
        return self.inputs[index] if index < len(self.inputs) else None

    def sizes(self, index: int) -> tuple[Size, ...]:
        """Return the sizes of an input, some of which may be names; LookupError if it has none."""
        value = self.value(index)
        if value is None or value.sizes is None:
            raise LookupError(index)
        return value.sizes

    def known(self, index: int) -> tuple[int, ...] | None:
        """Return the sizes of an input where all are known."""
        value = self.value(index)
        sizes = () if value is None or value.sizes is None else value.sizes
        known = tuple(size for size in sizes if isinstance(size, int))
        return known if known and len(known) == len(sizes) else None

    def whole(self, index: int) -> tuple[int, ...]:
        """Return the sizes of an input; LookupError if not all are known."""
        known = self.known(index)
        if known is None:
            raise LookupError(index)
        return known

    def number(self, index: int) -> int:
        """Return an input that is one whole number; LookupError if it is not known."""
        value = self.value(index)
        if value is None or value.numbers is None:
            raise LookupError(index)
        return int(value.numbers.reshape(-1)[0])

    def kind(self, *indices: int) -> int:
        """Return the type of the elements of the first of several inputs that is there."""
        kinds = (value.type.tensor_type.elem_type for index in indices if (value := self.value(index)) is not None)
        return int(next(kinds))


class _Output(NamedTuple):
    """The type of an output: the type of its elements, and its sizes."""

    kind: int
    sizes: Sequence[Size]


_Shapes = Callable[[_Call], "Sequence[_Output | None]"]


def own_types(operator: str, node: Any, inputs: Sequence[Value | None], opset: int) -> dict[str, Any]:
    """Return the types of a node's outputs by their names, where they follow from its inputs.

    The inputs of ConcatFromSequence are the tensors of the sequence.
    """
    make = _SHAPES.get(operator)
    if make is None:
        return {}
    try:
        made = zip(node.output, make(_Call(attributes_of(node, opset), tuple(inputs))), strict=False)
        return {name: _proto(output) for name, output in made if name and output is not None}
    except (ArithmeticError, LookupError, StopIteration, TypeError, ValueError, AttributeError, Unmapped):
        return {}  # the mapping of the node reports the mistake


def _proto(output: _Output) -> Any:
    from onnx import helper

    return helper.make_tensor_type_proto(output.kind, [None if size == "" else size for size in output.sizes])


# ---- element by element


def _like_first(call: _Call, count: int = 1, kind: int = 0) -> list[_Output | None]:
    """Return the first of some outputs and the last, with the sizes of the first input and the type of input `kind`."""
    first = _Output(call.kind(kind, 0), call.sizes(0))
    return [first, *(None for _ in range(count - 2)), *([first] if count > 1 else [])]


def _half(call: _Call) -> list[_Output]:
    *outer, last = call.sizes(0)
    return [_Output(call.kind(0), (*outer, last // 2 if isinstance(last, int) else ""))]


def _broadcast(a: Sequence[Size], b: Sequence[Size]) -> list[Size]:
    """Return the broadcast sizes of two tensors; in place of an unknown size, the other tensor's."""
    longer, shorter = (list(a), list(b)) if len(a) >= len(b) else (list(b), list(a))
    padded = [*(1 for _ in longer[len(shorter) :]), *shorter]
    return list(map(_common, longer, padded))


def _common(size: Size, other: Size) -> Size:
    if other in (size, 1):
        return size
    if size == 1 or isinstance(other, int):
        return other
    return size if isinstance(size, int) else ""


def _together(call: _Call, *indices: int, kind: int = 0, element: int = 0) -> list[_Output]:
    """Return the sizes that some inputs have together, with the type of input `kind`, or with a type of its own."""
    first, *others = map(call.sizes, indices)
    return [_Output(element or call.kind(kind), reduce(_broadcast, others, first))]


def _sum(call: _Call) -> list[_Output]:
    return _together(call, 0, 3)


def _comparison(call: _Call) -> list[_Output]:
    return _together(call, 0, 1, element=_BOOL)


def _mean(call: _Call) -> list[_Output]:
    sizes = call.sizes(0)
    axes = {axis_of(axis, len(sizes)) for axis in call.get("axes") or range(len(sizes))}
    left = [1 if axis in axes else size for axis, size in enumerate(sizes)]
    kept = left if call.get("keepdims", 1) else [size for axis, size in enumerate(sizes) if axis not in axes]
    return [_Output(call.kind(0), kept)]


# ---- products


def _product(call: _Call, *kinds: int) -> list[_Output]:
    """Return the product of batches, whose factors may be transposed; a vector has no dimension in it."""
    a, b = (_turned(call.sizes(index), call, side) for index, side in enumerate("AB"))
    rows, columns = a[-2:-1], b[-1:] if len(b) > 1 else ()
    return [_Output(call.kind(*kinds or (0,)), (*_broadcast(a[:-2], b[:-2]), *rows, *columns))]


def _turned(sizes: tuple[Size, ...], call: _Call, side: str) -> tuple[Size, ...]:
    if len(sizes) > 2 and call.get(f"transBatch{side}", 0):
        sizes = (*sizes[1:-1], sizes[0], sizes[-1])
    return (*sizes[:-2], sizes[-1], sizes[-2]) if len(sizes) > 1 and call.get(f"trans{side}", 0) else sizes


def _product_to_float(call: _Call) -> list[_Output]:
    return _product(call._replace(attributes={}), 2)


def _product_of_blocks(call: _Call) -> list[_Output]:
    return [_Output(call.kind(0), (*call.sizes(0)[:-1], call.attributes["N"]))]


def _gemm(call: _Call, factor: int = 1, zero: int | None = None) -> list[_Output]:
    """Return the product of two matrices; one of integers that has no zero point `zero` for the result is FLOAT."""
    a, b = (_turned(call.sizes(index), call, side) for index, side in ((0, "A"), (factor, "B")))
    if zero is None:
        return [_Output(call.kind(0), (a[0], b[1]))]
    return [_Output(_FLOAT if call.value(zero) is None else call.kind(zero), (a[0], b[1]))]


# ---- attention


def _attention(call: _Call) -> list[_Output]:
    own = call.get("qkv_hidden_sizes")
    hidden = own[2] if own else call.whole(1)[1] // 3
    return [_Output(call.kind(0), (*call.sizes(0)[:2], hidden))]


def _quantized_attention(call: _Call) -> list[_Output]:
    batch, length, _ = call.sizes(0)
    kind, past = call.kind(3), call.known(8)
    made = [_Output(kind, (batch, length, call.whole(1)[1] // 3))]
    if past is None or not isinstance(length, int):
        return made
    return [*made, _Output(kind, (*past[:3], past[3] + length, past[4]))]


def _multi_head(call: _Call) -> list[_Output]:
    """Return the result, of the width of the values, and keys and values after the ones of earlier steps."""
    query, heads = call.sizes(0), call.get("num_heads")
    hidden = query[2] if len(query) == 3 else heads * query[4] if isinstance(query[4], int) else ""
    values = call.sizes(2) if call.value(2) is not None else ()
    made = [_Output(call.kind(0), (*query[:2], values[2] if len(values) == 3 else hidden))]
    keys, earlier = call.known(1), call.known(6)
    if keys is None or not isinstance(hidden, int) or (earlier is None and call.value(6) is not None):
        return made
    steps = (keys[2] if len(keys) == 4 else keys[1]) + (0 if earlier is None else earlier[2])
    return [*made, *[_Output(call.kind(0), (keys[0], heads, steps, hidden // heads))] * 2]


def _grouped(call: _Call) -> list[_Output | None]:
    """Return the result, and present keys and values: of all steps, or of as many as the earlier ones have room for."""
    query, total, keys = call.sizes(0), call.value(6), call.known(1)
    made: list[_Output | None] = [_Output(call.kind(0), query)]
    room = call.known(3)
    if total is None or total.numbers is None or keys is None or (room is None and call.value(3) is not None):
        return made
    steps, heads = int(total.numbers.reshape(-1)[0]), call.get("kv_num_heads")
    present = (keys[0], heads, max(steps, 0 if room is None else room[2]), keys[2] // heads)
    return [*made, *[_Output(call.kind(0), present)] * 2]


def _quantized_embeddings(call: _Call) -> list[_Output]:
    batch, length = call.sizes(0)
    return [_Output(call.kind(8), (batch, length, call.sizes(2)[1])), _Output(_INT32, (batch,))]


def _positions(call: _Call) -> list[_Output]:
    """Return a bias of attention by positions, for as many as inputs 1 and 2 say."""
    lengths = [call.value(index) for index in (1, 2)]
    known = [int(value.numbers.reshape(-1)[0]) for value in lengths if value is not None and value.numbers is not None]
    query, key = known
    return [_Output(call.kind(0), (1, call.sizes(0)[1], query, key))]


def _embeddings(call: _Call) -> list[_Output]:
    batch, length = call.sizes(0)
    sums = _Output(call.kind(2), (batch, length, call.sizes(2)[1]))
    return [sums, _Output(_INT32, (batch,)), sums]


# ---- windows


def _places(call: _Call, sizes: Sequence[int], window: Sequence[int]) -> list[int]:
    count = len(sizes)
    steps, gaps = call.get("strides") or [1] * count, call.get("dilations") or [1] * count
    pads, auto = call.get("pads") or [0] * (2 * count), call.get("auto_pad", "NOTSET")
    if auto.startswith("SAME"):
        return [-(-size // step) for size, step in zip(sizes, steps, strict=True)]
    sums = [0] * count if auto == "VALID" else [pads[axis] + pads[axis + count] for axis in range(count)]
    free = [
        size + more - (gap * (reach - 1) + 1) for size, more, gap, reach in zip(sizes, sums, gaps, window, strict=True)
    ]
    up = call.get("ceil_mode", 0)
    return [(-(-rest // step) if up else rest // step) + 1 for rest, step in zip(free, steps, strict=True)]


def _convolution(call: _Call, filters: int = 1, zero: int = 0, *, is_last: bool = False) -> list[_Output]:
    """Return a convolution; channels are last if the attribute says so, except in filters."""
    batch, *sizes = call.whole(0)
    channels, _, *window = call.whole(filters)
    inner = _places(call, sizes[:-1] if is_last else sizes[1:], window)
    full = (batch, *inner, channels) if is_last else (batch, channels, *inner)
    return [_Output(call.kind(zero, 0), full)]


def _convolution_of_last(call: _Call) -> list[_Output]:
    """Return a convolution with channels last, also in filters."""
    batch, *sizes, _ = call.whole(0)
    channels, *window, _ = call.whole(1)
    return [_Output(call.kind(0), (batch, *_places(call, sizes, window), channels))]


def _backward(call: _Call) -> list[_Output]:
    """Return a transposed convolution whose padding is input 2."""
    batch, _, *sizes = call.whole(0)
    _, channels, *window = call.whole(1)
    given = call.value(2)
    pads = [] if given is None or given.numbers is None else given.numbers.reshape(-1).tolist()
    count = len(sizes)
    ones = [1] * count
    steps, gaps = call.get("strides") or ones, call.get("dilations") or ones
    more = call.get("output_padding") or [0] * count
    ends = zip(pads[:count], pads[count:], strict=True)
    places = zip(sizes, window, steps, gaps, more, ends, strict=True)
    made = [
        (size - 1) * step + gap * (reach - 1) + 1 + extra - sum(end) for size, reach, step, gap, extra, end in places
    ]
    return [_Output(call.kind(0), (batch, channels * call.get("group", 1), *made))]


def _pool(call: _Call, *, is_global: bool = False) -> list[_Output]:
    sizes = call.whole(0)
    inner = sizes[1:-1] if call.get("channels_last", 0) else sizes[2:]
    made = [1] * len(inner) if is_global else _places(call, inner, call.get("kernel_shape"))
    full = (sizes[0], *made, sizes[-1]) if call.get("channels_last", 0) else (*sizes[:2], *made)
    return [_Output(call.kind(0), full)]


def _pool_of_last(call: _Call) -> list[_Output]:
    """Return pools of channels that are last, which no attribute says."""
    return _pool(call._replace(attributes={**call.attributes, "channels_last": 1}))


def _spectra(call: _Call) -> list[_Output]:
    """Return the frequencies of frames of a signal: by default half of them, since the others mirror these."""
    batch, length, *_ = call.sizes(0)
    step = call.number(1)
    frame = call.whole(2)[0] if call.value(2) is not None else call.number(3)
    frames = (length - frame) // step + 1 if isinstance(length, int) else ""
    return [_Output(call.kind(0), (batch, frames, frame // 2 + 1 if call.get("onesided", 1) else frame, 2))]


# ---- parts and wholes


def _concat(call: _Call) -> list[_Output]:
    """Return tensors side by side; each has a scale and a zero point after it."""
    return [_Output(call.kind(1), _side_by_side(call, range(2, len(call.inputs), 3)))]


def _concat_of_sequence(call: _Call) -> list[_Output]:
    """Return tensors side by side, or one behind the other along a new axis."""
    if not call.get("new_axis", 0):
        return [_Output(call.kind(0), _side_by_side(call, range(len(call.inputs))))]
    first = call.whole(0)
    axis = axis_of(call.get("axis"), len(first) + 1)
    return [_Output(call.kind(0), (*first[:axis], len(call.inputs), *first[axis:]))]


def _side_by_side(call: _Call, indices: Sequence[int]) -> tuple[int, ...]:
    sizes = [call.whole(index) for index in indices]
    axis = axis_of(call.get("axis"), len(sizes[0]))
    return (*sizes[0][:axis], sum(each[axis] for each in sizes), *sizes[0][axis + 1 :])


def _crop(call: _Call) -> list[_Output]:
    left, top, right, bottom = call.get("border")
    batch, channels, height, width = call.whole(0)
    inner = call.get("scale") or (height - top - bottom, width - left - right)
    return [_Output(call.kind(0), (batch, channels, *inner))]


def _gathered_blocks(call: _Call) -> list[_Output]:
    """Return rows that indices name; of values of 4 bits two are in a byte."""
    data, indices = call.sizes(0), call.sizes(1)
    axis, last = axis_of(call.get("gather_axis", 0), len(data)), data[-1]
    if call.kind(0) == _UINT8 and call.get("bits", 4) < 8 and isinstance(last, int):
        data = (*data[:-1], last * (8 // call.get("bits", 4)))
    return [_Output(call.kind(2), (*data[:axis], *indices, *data[axis + 1 :]))]


_LIKE_FIRST = ("Affine", "ImageScaler", "ParametricSoftplus", "ScaledTanh")
_OWN_LIKE_FIRST = [
    "BiasAdd",
    "BiasDropout",
    "BiasGelu",
    "BiasSoftmax",
    "FastGelu",
    "Gelu",
    "GroupNorm",
    "Inverse",
    "LongformerAttention",
    "MoE",
    "QLinearLeakyRelu",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QMoE",
    "QOrderedGelu",
    "QOrderedLayerNormalization",
    "QuickGelu",
    "RotaryEmbedding",
    "Trilu",
]
_SHAPES: dict[str, _Shapes] = {
    **dict.fromkeys(_LIKE_FIRST, _like_first),
    **{f"com.microsoft.{name}": _like_first for name in _OWN_LIKE_FIRST},
    "ConcatFromSequence": _concat_of_sequence,
    "Crop": _crop,
    "GreaterOrEqual": _comparison,
    "GroupNormalization": _like_first,
    "LayerNormalization": partial(_like_first, kind=1),
    "LessOrEqual": _comparison,
    "MeanVarianceNormalization": _like_first,
    "STFT": _spectra,
    "SimplifiedLayerNormalization": partial(_like_first, kind=1),
    "com.microsoft.Attention": _attention,
    "com.microsoft.BiasSplitGelu": _half,
    "com.microsoft.ConvTransposeWithDynamicPads": _backward,
    "com.microsoft.DequantizeLinear": partial(_like_first, kind=1),
    "com.microsoft.DynamicQuantizeMatMul": _product_to_float,
    "com.microsoft.EmbedLayerNormalization": _embeddings,
    "com.microsoft.FusedConv": _convolution,
    "com.microsoft.FusedGemm": _gemm,
    "com.microsoft.FusedMatMul": _product,
    "com.microsoft.FusedMatMulActivation": _product,
    "com.microsoft.GatherBlockQuantized": _gathered_blocks,
    "com.microsoft.GemmFastGelu": _product,
    "com.microsoft.GroupQueryAttention": _grouped,
    "com.microsoft.MatMulBnb4": _product_of_blocks,
    "com.microsoft.MatMulIntegerToFloat": _product_to_float,
    "com.microsoft.MatMulNBits": _product_of_blocks,
    "com.microsoft.MultiHeadAttention": _multi_head,
    "com.microsoft.NhwcConv": _convolution_of_last,
    "com.microsoft.NhwcFusedConv": partial(_convolution, is_last=True),
    "com.microsoft.NhwcMaxPool": _pool_of_last,
    "com.microsoft.QAttention": _quantized_attention,
    "com.microsoft.QEmbedLayerNormalization": _quantized_embeddings,
    "com.microsoft.QGemm": partial(_gemm, factor=3, zero=8),
    "com.microsoft.QLinearAdd": _sum,
    "com.microsoft.QLinearAveragePool": _pool,
    "com.microsoft.QLinearConcat": _concat,
    "com.microsoft.QLinearConv": lambda call: _convolution(call, 3, 7, is_last=bool(call.get("channels_last", 0))),
    "com.microsoft.QLinearGlobalAveragePool": partial(_pool, is_global=True),
    "com.microsoft.QLinearMul": _sum,
    "com.microsoft.QLinearReduceMean": _mean,
    "com.microsoft.QLinearWhere": lambda call: _together(call, 0, 1, 4, kind=1),
    "com.microsoft.QuantizeLinear": partial(_like_first, kind=2),
    "com.microsoft.RelativePositionBias": _positions,
    "com.microsoft.SkipGroupNorm": partial(_like_first, count=2),
    "com.microsoft.SkipLayerNormalization": partial(_like_first, count=4),
    "com.microsoft.SkipSimplifiedLayerNormalization": partial(_like_first, count=4),
    "com.microsoft.TorchEmbedding": lambda call: [_Output(call.kind(0), (*call.sizes(1), *call.sizes(0)[1:]))],
    "com.microsoft.TransposeMatMul": _product,
}
