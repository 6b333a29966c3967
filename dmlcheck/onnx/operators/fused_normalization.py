"""Normalizations of transformers and of diffusion models, with the operators before and after them.

From DmlOperatorSkipLayerNormalization.cpp, DmlOperatorEmbedLayerNormalization.cpp and DmlOperatorGroupNorm.cpp of ONNX
Runtime's DirectML provider.
"""

from __future__ import annotations

from functools import partial

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, shortest
from dmlcheck.onnx.descs.steps import dequantized, identity, pair, step, unary, zero_of
from dmlcheck.onnx.descs.tensors import ranked, repeated, sized
from dmlcheck.onnx.operators.row import Row, is_given, not_taken

_FACTORS = ((2, "ScaleTensor"), (3, "BiasTensor"))

# ---- layers


def _skip_layer(node: OnnxNode, *, use_mean: bool = True) -> list[Counterpart]:
    """Sum input, skip and bias, and normalize that; the hidden size is dimension 2, and a skip repeats for batches."""
    x = node.input(0)
    if x.ndim not in (2, 3):
        raise Unmapped(f"{node.type} of {x.ndim} dimensions")
    shape = (x.shape[0], x.shape[1] if x.ndim == 3 else 1, x.shape[-1], 1)
    vector = (1, 1, x.shape[-1], 1)
    added = [_skip(node, shape), *(sized(node.input(4), vector) for _ in range(node.has(4)))]
    sums = [x.reshape(shape), *(x.like(shape) for _ in added)]
    if node.gives(3):
        sums[-1] = node.output(3).reshape(shape)
    summed = [pair("ADD", before, more, after) for before, more, after in zip(sums, added, sums[1:], strict=False)]
    factors = {name: sized(node.input(index), vector) for index, name in _FACTORS if node.has(index)}
    tensors = {"InputTensor": sums[-1], **factors, "OutputTensor": node.output().reshape(shape)}
    fields = {
        "Axes": [2, 3],
        "UseMean": int(use_mean),
        "UseVariance": 1,
        "Epsilon": shortest(node.get("epsilon", 1e-12)),
    }
    return [*summed, step("MEAN_VARIANCE_NORMALIZATION2", **tensors, **fields)]


def _skip(node: OnnxNode, shape: tuple[int, ...]) -> TensorRef:
    x, skip = node.input(0), node.input(1)
    if skip.size == x.size or not 1 < skip.ndim <= x.ndim == 3:
        return sized(skip, shape)
    return skip.reshape((*(1,) * (3 - skip.ndim), *skip.shape, 1))


def _skip_layer_of_provider(node: OnnxNode, *, use_mean: bool) -> list[Counterpart]:
    x, skip = node.input(0), node.input(1)
    if skip.size != x.size:
        raise Unmapped(
            f"the provider takes the skip {list(skip.shape)} of {node.type} as if it had all elements of the input"
            f" {list(x.shape)}: expand it to these sizes"
        )
    return _skip_layer(node, use_mean=use_mean)


def _query_skip_layer_normalization(node: OnnxNode) -> str | None:
    """DmlOperatorSkipLayerNormalization.cpp, QuerySkipLayerNormalization."""
    given = next((name for index, name in ((1, "mean"), (2, "inv_std_var")) if is_given(node, index)), None)
    return None if given is None else not_taken(node, f"with the output {given}")


# ---- embeddings


def _embeddings(node: OnnxNode) -> list[Counterpart]:
    """GATHER of words, positions and segments, their sum, normalized; the mask's ones are counted."""
    ids, words = node.input(0), node.input(2)
    if (ids.ndim, words.ndim) != (2, 2):
        raise Unmapped(f"{node.type} whose indices have {ids.ndim} dimensions, and whose table has {words.ndim}")
    sizes = (1, *ids.shape, words.shape[1])
    positions, of_positions = _positions(node, ids)
    looked_up = [(words, ranked(ids, 4)), (node.input(3), positions)]
    if node.has(4):
        looked_up.append((node.input(4), ranked(node.input(1), 4)))
    parts = [words.like(sizes) for _ in looked_up]
    gathered = [_gathered(*each, made) for each, made in zip(looked_up, parts, strict=True)]
    sums = [parts[0], *(words.like(sizes) for _ in parts[1:])]
    if node.gives(2):
        sums[-1] = node.output(2).reshape(sizes)
    added = [pair("ADD", *each) for each in zip(sums, parts[1:], sums[1:], strict=False)]
    before, after = _mask_index(node, ids)
    return [*before, *of_positions, *gathered, *added, _normalized(node, sums[-1]), *after]


def _gathered(table: TensorRef, indices: TensorRef, made: TensorRef) -> Counterpart:
    tensors = {"InputTensor": ranked(table, 4), "IndicesTensor": indices, "OutputTensor": made}
    return step("GATHER", **tensors, Axis=2, IndexDimensions=2)


def _positions(node: OnnxNode, ids: TensorRef) -> tuple[TensorRef, list[Counterpart]]:
    """Return the positions, repeated for all batch elements, and the step that makes them if they are not given."""
    full = (1, 1, *ids.shape)
    given = node.optional(8)
    if given is not None:
        return repeated(ranked(given, 4), full), []
    steps = ids.like((1, 1, 1, ids.shape[1]))
    fields = {"ValueDataType": ids.data_type, "ValueStart": 0, "ValueDelta": 1}
    return repeated(steps, full), [step("FILL_VALUE_SEQUENCE", OutputTensor=steps, **fields)]


def _normalized(node: OnnxNode, made: TensorRef) -> Counterpart:
    factors = {name: ranked(node.input(index), 4) for index, name in ((5, "ScaleTensor"), (6, "BiasTensor"))}
    fields = {"Axes": [3], "NormalizeVariance": 1, "Epsilon": shortest(node.get("epsilon", 1e-12))}
    output = ranked(node.output(), 4)
    return step("MEAN_VARIANCE_NORMALIZATION1", InputTensor=made, **factors, OutputTensor=output, **fields)


def _mask_index(node: OnnxNode, ids: TensorRef) -> tuple[list[Counterpart], list[Counterpart]]:
    """Return the steps of the mask's lengths: zeros, before all other steps, or the number of ones, after them."""
    kind = ids.data_type
    sizes = (1, 1, ids.shape[0], 1)
    lengths = node.output(1).reshape(sizes) if node.gives(1) else ids.like(sizes)
    mask = node.optional(7)
    if mask is None:
        zeros = lengths.view((1, 1, 1, 1)) if lengths.size == 1 else ids.like((1, 1, 1, 1))
        return [step("FILL_VALUE_CONSTANT", OutputTensor=zeros, ValueDataType=kind, Value=0)], []
    one, wide = ids.like((1, 1, 1, 1)), ranked(mask, 4)
    marks = wide.like(wide.shape, "UINT32")
    equal = step("ELEMENT_WISE_LOGICAL_EQUALS", ATensor=wide, BTensor=repeated(one, wide.shape), OutputTensor=marks)
    count = step("REDUCE", Function="SUM", InputTensor=marks.bits(kind), OutputTensor=lengths, Axes=[3])
    return [], [step("FILL_VALUE_CONSTANT", OutputTensor=one, ValueDataType=kind, Value=1), equal, count]


def _quantized_embeddings(node: OnnxNode) -> list[Counterpart]:
    """DEQUANTIZE_LINEAR of the tables and of both factors, and the steps of EmbedLayerNormalization."""
    inputs = [node.optional(index) for index in range(8)]
    before = []
    for index in _TABLES:
        x = inputs[index]
        if x is not None:
            made, inputs[index] = dequantized(x, node.input(index + _TO_SCALE), zero_of(node, index + _TO_ZERO, x))
            before.append(made)
    plain = node._replace(type="com.microsoft.EmbedLayerNormalization", inputs=tuple(inputs))
    return [*before, *_embeddings(plain)]


_TABLES = range(2, 7)  # words, positions, segments, gamma and beta
_TO_SCALE, _TO_ZERO = 6, 11  # how many inputs later each has its scale and its zero point


# ---- groups


def _groups(node: OnnxNode) -> list[Counterpart]:
    """MEAN_VARIANCE_NORMALIZATION with the groups as channels; channels that are last are brought there and back."""
    x, scale = node.input(0), node.input(1)
    count, is_last = node.positive("groups"), bool(node.whole("channels_last", 1))
    channels = x.shape[-1 if is_last else 1] if x.ndim == 4 else 0
    if not channels or channels % count or scale.shape != (channels,) or node.input(2).shape != (channels,):
        raise Unmapped(f"{node.type} of {count} groups in the sizes {list(x.shape)}")
    each = channels // count
    pixels = x.shape[1] * x.shape[2] if is_last else x.shape[2] * x.shape[3]
    sizes = (x.shape[0], count, each, pixels)
    own = (channels * pixels, each, 1, channels) if is_last else None
    source, target = x.view(sizes, own), node.output().view(sizes, own)
    factors = [node.input(index).view(sizes, (0, each, 1, 0)) for index in (1, 2)]
    wide = factors if scale.dtype == x.dtype else [x.like(sizes).view(sizes, own) for _ in factors]
    casts = [unary("CAST", *both) for both in zip(factors, wide, strict=True) if both[0] is not both[1]]
    fields = {"CrossChannel": 0, "NormalizeVariance": 1, "Epsilon": shortest(node.get("epsilon", 1e-5))}
    has_activation = bool(node.whole("activation", 0))
    plain = x.like(sizes) if is_last else source
    made = x.like(sizes) if is_last or has_activation else target
    tensors = {"InputTensor": plain, "ScaleTensor": wide[0], "BiasTensor": wide[1], "OutputTensor": made}
    before = [identity(source, plain)] if is_last else []
    normalize = step("MEAN_VARIANCE_NORMALIZATION", **tensors, **fields)
    return [*before, *casts, normalize, *_after_groups(made, target, has_activation=has_activation, is_last=is_last)]


def _after_groups(made: TensorRef, target: TensorRef, *, has_activation: bool, is_last: bool) -> list[Counterpart]:
    """Return the steps after normalization: x * sigmoid(x) if it is asked for, then channels last again."""
    if has_activation:
        gates = (
            target.unknown() if target.strides is None else target.like(target.shape).view(target.shape, target.steps)
        )
        return [unary("ACTIVATION_SIGMOID", made, gates), pair("MULTIPLY", made, gates, target)]
    return [identity(made, target)] if is_last else []


def _skip_groups(node: OnnxNode) -> list[Counterpart]:
    """ADD of input, skip and bias, which is output 1, and the steps of GroupNorm for the sum; channels are last."""
    x, skip = node.input(0), node.input(3)
    if not node.whole("channels_last", 1) or x.ndim != 4:
        raise Unmapped(f"{node.type} whose channels are not the last of four dimensions")
    added = [skip.reshape((skip.shape[0], 1, 1, skip.shape[-1])) if skip.ndim == 2 else skip]
    added += [node.input(4)] if node.has(4) else []
    total = node.output(1) if node.gives(1) else x.unknown()
    sums = [x, *(x.unknown() for _ in added[1:]), total]
    summed = [pair("ADD", before, more, after) for before, more, after in zip(sums, added, sums[1:], strict=False)]
    plain = node._replace(type="com.microsoft.GroupNorm", inputs=(total, *node.inputs[1:3]), outputs=node.outputs[:1])
    return [*summed, *_groups(plain)]


_SKIPPED = {"com.microsoft.SkipLayerNormalization": True, "com.microsoft.SkipSimplifiedLayerNormalization": False}
OPERATORS: dict[str, Row] = {
    **{
        name: Row(
            exact=partial(_skip_layer, use_mean=use_mean),
            provider=partial(_skip_layer_of_provider, use_mean=use_mean),
            query=_query_skip_layer_normalization,
            outputs=None,
        )
        for name, use_mean in _SKIPPED.items()
    },
    "com.microsoft.EmbedLayerNormalization": Row(_embeddings, outputs=None),
    "com.microsoft.GroupNorm": Row(_groups),
    "com.microsoft.QEmbedLayerNormalization": Row(exact=_quantized_embeddings, outputs=None),
    "com.microsoft.SkipGroupNorm": Row(exact=_skip_groups, outputs=None),
}
