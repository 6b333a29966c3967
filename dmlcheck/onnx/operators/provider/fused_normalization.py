"""Normalizations of transformers and of diffusion models, with what comes before and after them.

From DmlOperatorSkipLayerNormalization.cpp, DmlOperatorEmbedLayerNormalization.cpp and DmlOperatorGroupNorm.cpp of
ONNX Runtime's DirectML provider.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dmlcheck.onnx.descs.node import Array, Counterpart, Makers, Node, Refused, number
from dmlcheck.onnx.descs.steps import Tensor, identity, pair, step, unary
from dmlcheck.onnx.descs.tensors import Strided, empty, empty_like, ranked, repeated, sized, type_name

_FACTORS = ((2, "ScaleTensor"), (3, "BiasTensor"))

# ---- layers


def _skip_layer(node: Node, *, use_mean: bool = True) -> list[Counterpart]:
    """Sum input, skip and bias, and normalize that; the hidden size is dimension 2."""
    x = node.input(0)
    if x.ndim not in (2, 3):
        raise Refused(f"{node.type} of {x.ndim} dimensions")
    shape = (x.shape[0], x.shape[1] if x.ndim == 3 else 1, x.shape[-1], 1)
    vector = (1, 1, x.shape[-1], 1)
    wide = x.reshape(shape)
    summed = [pair("ADD", wide, sized(node.input(1), shape), wide)]
    if node.has(4):
        summed.append(pair("ADD", wide, sized(node.input(4), vector), wide))
    factors = {name: sized(node.input(index), vector) for index, name in _FACTORS if node.has(index)}
    tensors = {"InputTensor": wide, **factors, "OutputTensor": node.output().reshape(shape)}
    fields = {"Axes": [2, 3], "UseMean": int(use_mean), "UseVariance": 1, "Epsilon": number(node.get("epsilon", 1e-12))}
    return [*summed, step("MEAN_VARIANCE_NORMALIZATION2", **tensors, **fields)]


# ---- embeddings


def _embeddings(node: Node) -> list[Counterpart]:
    """GATHER of words, positions and segments, their sum, normalized; the mask's ones are counted."""
    ids, words = node.input(0), node.input(2)
    if (ids.ndim, words.ndim) != (2, 2):
        raise Refused(f"{node.type} whose indices have {ids.ndim} dimensions, and whose table has {words.ndim}")
    made = empty_like(words, (1, *ids.shape, words.shape[1]))
    added = pair("ADD", made, made, made)
    positions, of_positions = _positions(node, ids)
    segments = [_gathered(node.input(4), ranked(node.input(1), 4), made)] if node.has(4) else []
    before, after = _mask_index(node, ids)
    return [
        *before,
        *of_positions,
        _gathered(words, ranked(ids, 4), made),
        _gathered(node.input(3), positions, made),
        *segments,
        added,
        *(added for _ in segments),
        _normalized(node, made),
        *after,
    ]


def _gathered(table: Array, indices: Tensor, made: Array) -> Counterpart:
    tensors = {"InputTensor": ranked(table, 4), "IndicesTensor": indices, "OutputTensor": made}
    return step("GATHER", **tensors, Axis=2, IndexDimensions=2)


def _positions(node: Node, ids: Array) -> tuple[Tensor, list[Counterpart]]:
    """Return the positions, which repeat where only one batch element has them, and what makes those not given."""
    full = (1, 1, *ids.shape)
    given = node.optional(8)
    if given is not None:
        return repeated(ranked(given, 4), full), []
    steps = empty_like(ids, (1, 1, 1, ids.shape[1]))
    fields = {"ValueDataType": type_name(ids), "ValueStart": 0, "ValueDelta": 1}
    return repeated(steps, full), [step("FILL_VALUE_SEQUENCE", OutputTensor=steps, **fields)]


def _normalized(node: Node, made: Array) -> Counterpart:
    factors = {name: ranked(node.input(index), 4) for index, name in ((5, "ScaleTensor"), (6, "BiasTensor"))}
    fields = {"Axes": [3], "NormalizeVariance": 1, "Epsilon": number(node.get("epsilon", 1e-12))}
    output = ranked(node.output(), 4)
    return step("MEAN_VARIANCE_NORMALIZATION1", InputTensor=made, **factors, OutputTensor=output, **fields)


def _mask_index(node: Node, ids: Array) -> tuple[list[Counterpart], list[Counterpart]]:
    """Return what makes the lengths of the mask: zeros before all others, or after them the number of ones."""
    kind = type_name(ids)
    one = empty_like(ids, (1, 1, 1, 1))
    filled: dict[str, Any] = {"OutputTensor": one, "ValueDataType": kind}
    mask = node.optional(7)
    if mask is None:
        return [step("FILL_VALUE_CONSTANT", **filled, Value=0)], []
    wide, lengths = ranked(mask, 4), empty_like(ids, (1, 1, ids.shape[0], 1))
    marks = empty(wide.shape, np.uint32)
    equal = step("ELEMENT_WISE_LOGICAL_EQUALS", ATensor=wide, BTensor=repeated(one, wide.shape), OutputTensor=marks)
    count = step("REDUCE", Function="SUM", InputTensor=wide, OutputTensor=lengths, Axes=[3])
    return [], [step("FILL_VALUE_CONSTANT", **filled, Value=1), equal, count]


# ---- groups


def _groups(node: Node) -> list[Counterpart]:
    """MEAN_VARIANCE_NORMALIZATION with the groups as channels; channels that are last are brought there and back."""
    x, scale = node.input(0), node.input(1)
    count, is_last = node.positive("groups"), bool(node.whole("channels_last", 1))
    channels = x.shape[-1 if is_last else 1] if x.ndim == 4 else 0
    if not channels or channels % count or scale.shape != (channels,) or node.input(2).shape != (channels,):
        raise Refused(f"{node.type} of {count} groups in the sizes {list(x.shape)}")
    each = channels // count
    pixels = x.shape[1] * x.shape[2] if is_last else x.shape[2] * x.shape[3]
    plain = empty_like(x, (x.shape[0], count, each, pixels))
    own = (channels * pixels, each, 1, channels) if is_last else (channels * pixels, each * pixels, pixels, 1)
    strided = Strided(plain, own)
    factor: Tensor = Strided(empty_like(scale, plain.shape), (0, each, 1, 0))
    casts = [unary("CAST", factor, strided)] * 2 if scale.dtype != x.dtype else []
    fields = {"CrossChannel": 0, "NormalizeVariance": 1, "Epsilon": number(node.get("epsilon", 1e-5))}
    factor = strided if casts else factor
    tensors = {"InputTensor": plain, "ScaleTensor": factor, "BiasTensor": factor, "OutputTensor": plain}
    before = [identity(strided, plain)] if is_last else []
    normalize = step("MEAN_VARIANCE_NORMALIZATION", **tensors, **fields)
    return [*before, *casts, normalize, *_after_groups(node, plain, strided, is_last=is_last)]


def _after_groups(node: Node, plain: Array, strided: Strided, *, is_last: bool) -> list[Counterpart]:
    """Return what follows: x * sigmoid(x) where it is asked for, else the way back to channels that are last."""
    if node.whole("activation", 0):
        return [unary("ACTIVATION_SIGMOID", plain, strided), pair("MULTIPLY", plain, strided, strided)]
    return [identity(plain, strided)] if is_last else []


SEVERAL: dict[str, Makers] = {
    "com.microsoft.EmbedLayerNormalization": _embeddings,
    "com.microsoft.GroupNorm": _groups,
    "com.microsoft.SkipLayerNormalization": _skip_layer,
    "com.microsoft.SkipSimplifiedLayerNormalization": partial(_skip_layer, use_mean=False),
}
