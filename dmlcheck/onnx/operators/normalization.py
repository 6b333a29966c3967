"""Normalizations; `fused_normalization` has the ones of com.microsoft.

The provider's descs are from DmlOperatorLayerNormalization.cpp and the helpers of OperatorHelper.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, axes_of, axis_of, shortest
from dmlcheck.onnx.descs.padded import padded
from dmlcheck.onnx.descs.steps import pair, step, unary
from dmlcheck.onnx.descs.tensors import channels, ranked, repeated, sized
from dmlcheck.onnx.operators.row import Row, not_taken


def _batch_normalization(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    if node.get("training_mode", 0):
        raise Unmapped("BatchNormalization in training, with its running mean and variance")
    node.only_outputs(1)
    names = ("ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor")
    tensors = {name: _by_channel(node.input(index), x.ndim) for index, name in enumerate(names, start=1)}
    fields = {"InputTensor": x, **tensors, "OutputTensor": node.output(), "Spatial": node.get("spatial", 1)}
    return [Counterpart("BATCH_NORMALIZATION", {**fields, "Epsilon": shortest(node.get("epsilon", 1e-5))})]


def _by_channel(values: TensorRef, rank: int) -> TensorRef:
    """Return numbers of channels, or of the elements of an image, in as many dimensions as images have."""
    return channels(values, rank) if values.ndim == 1 else ranked(values, values.ndim + 1)


def _instances(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    tensors = {name: channels(node.input(index), x.ndim) for index, name in ((1, "ScaleTensor"), (2, "BiasTensor"))}
    return _mean_variance(node, x, tensors, list(range(2, x.ndim)))


def _layer(uses_mean: int, node: OnnxNode) -> list[Counterpart]:
    """MEAN_VARIANCE_NORMALIZATION2 along the last axes."""
    x = node.input(0)
    axes = list(range(axis_of(node.get("axis", -1), x.ndim), x.ndim))
    given = ((name, node.optional(index)) for index, name in ((1, "ScaleTensor"), (2, "BiasTensor")))
    tensors = {name: ranked(values, x.ndim) for name, values in given if values is not None}
    numbers = {"Axes": axes, "UseMean": uses_mean, "UseVariance": 1, "Epsilon": shortest(node.get("epsilon", 1e-5))}
    note = "Mean and InvStdDev are not compared." if len(node.outputs) > 1 else None
    fields = {"InputTensor": x, **tensors, "OutputTensor": node.output(), **numbers}
    return [Counterpart("MEAN_VARIANCE_NORMALIZATION2", fields, note)]


def _groups(node: OnnxNode) -> list[Counterpart]:
    """MEAN_VARIANCE_NORMALIZATION1, groups being a dimension; before opset 21 a group has one scale and one bias."""
    x, output, count = node.input(0), node.output(), node.get("num_groups")
    if x.ndim < 2 or count < 1 or x.shape[1] % count:
        raise Unmapped(f"GroupNormalization of {count} groups, which sizes {list(x.shape)} do not have")
    sizes = (x.shape[0], count, x.shape[1] // count, *x.shape[2:])
    own = (count, -1) if node.opset >= 21 else (count, 1)
    names = ((1, "ScaleTensor"), (2, "BiasTensor"))
    tensors = {name: sized(node.input(index), (1, *own, *(1 for _ in x.shape[2:]))) for index, name in names}
    split = node._replace(outputs=(sized(output, sizes),))
    return _mean_variance(split, sized(x, sizes), tensors, list(range(2, x.ndim + 1)))


def _mean_variance(
    node: OnnxNode, x: TensorRef, tensors: Mapping[str, TensorRef], axes: Sequence[int]
) -> list[Counterpart]:
    numbers = {"Axes": axes, "NormalizeVariance": 1, "Epsilon": shortest(node.get("epsilon", 1e-5))}
    fields = {"InputTensor": x, **tensors, "OutputTensor": node.output(), **numbers}
    return [Counterpart("MEAN_VARIANCE_NORMALIZATION1", fields)]


def _local_response(node: OnnxNode) -> list[Counterpart]:
    numbers = {name: shortest(node.get(name.lower())) for name in ("Alpha", "Beta", "Bias")}
    fields = {"CrossChannel": 1, "LocalSize": node.get("size"), **numbers}
    return [padded(Counterpart("LOCAL_RESPONSE_NORMALIZATION", {**node.tensors(), **fields}))]


def _norm(node: OnnxNode) -> list[Counterpart]:
    fields = {"Axis": axis_of(node.get("axis", -1), node.input(0).ndim), "Epsilon": 0, "P": node.get("p", 2)}
    return [Counterpart("LP_NORMALIZATION", {**node.tensors(), **fields})]


# ---- only as ONNX means them


def _batch_normalization_in_training(node: OnnxNode) -> list[Counterpart]:
    """BATCH_NORMALIZATION_TRAINING in training: it gives mean and variance of the batch, and ONNX running ones."""
    if not node.get("training_mode", 0):
        return _batch_normalization(node)
    x = node.input(0)
    scale, bias = (channels(node.input(index), x.ndim) for index in (1, 2))
    tensors = {"InputTensor": x, "ScaleTensor": scale, "BiasTensor": bias, "OutputTensor": node.output()}
    own = {name: scale.unknown() for name in ("OutputMeanTensor", "OutputVarianceTensor")}
    fields = {**tensors, **own, "Epsilon": shortest(node.get("epsilon", 1e-5))}
    note = "The running mean and variance are not compared."
    return [Counterpart("BATCH_NORMALIZATION_TRAINING", fields, note, frozenset(own))]


def _norm_of_meaning(node: OnnxNode) -> list[Counterpart]:
    """LP_NORMALIZATION, and 0 for what is 0 where a norm is: the quotient of both is none."""
    (made,) = _norm(node)
    x, output = node.input(0), node.output()
    values = x.values
    if values is None or values.any(axis=made.fields["Axis"]).all():
        return [made]
    quotients, is_zero = output.unknown(), TensorRef("UINT8", x.shape)
    zeros = repeated(TensorRef.of(np.zeros((), x.dtype)), x.shape)
    return [
        made.with_fields(OutputTensor=quotients),
        pair("LOGICAL_EQUALS", x, zeros, is_zero),
        step("ELEMENT_WISE_IF", ConditionTensor=is_zero, ATensor=zeros, BTensor=quotients, OutputTensor=output),
    ]


_ADDED = 1e-9  # to the deviation, by ONNX
_SMALL = 2.0**-26  # of a deviation: less than its rounding


def _mean_variance_of_meaning(node: OnnxNode) -> list[Counterpart]:
    """MEAN_VARIANCE_NORMALIZATION1, if ONNX's addition to the deviation is below its rounding."""
    x = node.input(0)
    axes = axes_of(node.get("axes") or [0, 2, 3], x.ndim)
    if (node.numbers_of(0).std(axis=tuple(axes), dtype=np.float64) * _SMALL < _ADDED).any():
        raise Unmapped("MeanVarianceNormalization of a deviation so small that 1e-9, which ONNX adds to it, counts")
    fields = {"Axes": axes, "NormalizeVariance": 1, "Epsilon": 0}
    return [Counterpart("MEAN_VARIANCE_NORMALIZATION1", {**node.tensors(), **fields})]


# ---- as the provider makes them


def _query_batch_normalization(node: OnnxNode) -> str | None:
    """DmlOperatorBatchNormalization.cpp, QueryBatchNormalization."""
    if node.get("training_mode", 0):
        return not_taken(node, "in training")
    types = {value.dtype for value in node.inputs[:5] if value is not None}
    return not_taken(node, "of inputs of several types") if len(types) > 1 else None


def _mean_variance_of_provider(node: OnnxNode) -> list[Counterpart]:
    """Normalize along axes, all but the channels where none are given, with a small number that ONNX does not have."""
    x = node.input(0)
    given = node.get("axes") or ([0, 1, 2, 3] if node.get("across_channels", 0) else [0, 2, 3])
    fields = {"Axes": axes_of(given, x.ndim), "NormalizeVariance": node.get("normalize_variance", 1)}
    return [Counterpart("MEAN_VARIANCE_NORMALIZATION1", {**node.tensors(), **fields, "Epsilon": shortest(1e-5)})]


def _norm_of_provider(node: OnnxNode) -> list[Counterpart]:
    """LP_NORMALIZATION with a small number that ONNX does not have."""
    return [made.with_fields(Epsilon=shortest(1e-5)) for made in _norm(node)]


def _instances_of_provider(node: OnnxNode) -> list[Counterpart]:
    return [_ending_in_ones(made) for made in _instances(node)]


_LEAST = 4  # dimensions


def _ending_in_ones(made: Counterpart) -> Counterpart:
    """Return a normalization of the last axes with four dimensions: new ones come last, and are among the axes."""
    axes = made.fields["Axes"]
    given = {name: value for name, value in made.fields.items() if isinstance(value, TensorRef)}
    wider = {name: value.reshape(*value.shape, *(1,) * (_LEAST - value.ndim)) for name, value in given.items()}
    return made.with_fields(**wider, Axes=list(range(axes[0], wider["InputTensor"].ndim)))


def _layer_of_provider(uses_mean: int, node: OnnxNode) -> list[Counterpart]:
    return _in_one_type(_ending_in_ones(*_layer(uses_mean, node)))


def _layer_of_any_types(uses_mean: int, node: OnnxNode) -> list[Counterpart]:
    return _in_one_type(*_layer(uses_mean, node))


def _in_one_type(made: Counterpart) -> list[Counterpart]:
    """Return a normalization, in FLOAT32 where the input and its factors have different types."""
    names = [name for name in ("InputTensor", "ScaleTensor", "BiasTensor") if name in made.fields]
    given: Mapping[str, TensorRef] = {name: made.fields[name] for name in (*names, "OutputTensor")}
    if len({given[name].dtype for name in names}) == 1:
        return [made]
    wide = {name: x if x.element == "FLOAT32" else x.like(x.shape, "FLOAT32") for name, x in given.items()}
    casts = {
        name: unary("CAST", *((given[name], wide[name]) if name in names else (wide[name], given[name])))
        for name in given
        if given[name] is not wide[name]
    }
    last = [casts.pop("OutputTensor")] if "OutputTensor" in casts else []
    return [*casts.values(), made.with_fields(**wide), *last]


def _query_layer_normalization(node: OnnxNode) -> str | None:
    """DmlOperatorLayerNormalization.cpp, QueryLayerNormalization."""
    return None if len(node.outputs) == 1 else not_taken(node, "of more than one output")


def _row_of_layer(uses_mean: int, outputs: int = 1) -> Row:
    exact, provider = (partial(make, uses_mean) for make in (_layer_of_any_types, _layer_of_provider))
    return Row(exact=exact, provider=provider, query=_query_layer_normalization, outputs=outputs)


OPERATORS: dict[str, Row] = {
    "BatchNormalization": Row(
        _batch_normalization,
        exact=_batch_normalization_in_training,
        query=_query_batch_normalization,
        outputs=None,
    ),
    "GroupNormalization": Row(_groups),
    "InstanceNormalization": Row(_instances, provider=_instances_of_provider),
    "LRN": Row(_local_response),
    "LayerNormalization": _row_of_layer(1, outputs=3),
    "LpNormalization": Row(exact=_norm_of_meaning, provider=_norm_of_provider),
    "MeanVarianceNormalization": Row(exact=_mean_variance_of_meaning, provider=_mean_variance_of_provider),
    "RMSNormalization": Row(partial(_layer, 0)),
    "SimplifiedLayerNormalization": _row_of_layer(0),
}
