"""The cases of the acceptance suite: random FLOAT32 descs with values of several kinds, and long sums.

Values are N(0, 1), beside 10, 100 and 1,000, of many magnitudes, and such that sums cancel. Sizes are small ones, ones
past workgroups, and long rows. The cases of an operator are always the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import drawn_descs
import numpy as np

from dmlcheck import validation
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.drawing.values import drawn_values
from dmlcheck.reference import engine
from dmlcheck.specs.names import NEWEST_LEVEL

Made = tuple[OperatorDesc, dict[str, Any]]
STYLES = ("normal", "10", "cancelling", "wide", "100", "1000")
PROFILES = (drawn_descs.SMALL, drawn_descs.LARGE, drawn_descs.LONG)
LONG = 65_536  # terms of a sum
LONG_STYLES = ("normal", "100", "cancelling")
OF_FUNCTIONS = ("normal", "10", "wide")
OF_MEANS = ("normal", "10", "100", "1000")  # of normalizations, which take the mean off
_TRIES = 60
_MILD = ("GRU", "LSTM", "RNN", "MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")  # whose errors grow with steps


@cache
def cases(short: str, seed: int = 0) -> tuple[Case, ...]:
    """Return the cases of an operator; the suite is those of seed 0."""
    return (*_drawn_cases(short, seed), *_given_cases(short, seed))


def _drawn_cases(short: str, seed: int) -> Iterator[Case]:
    for number, style in enumerate(STYLES):
        made = _made(short, number, style, seed)
        if made is not None:
            yield _case(short, f"{style}-{number}", *made)


def _case(short: str, name: str, desc: OperatorDesc, inputs: dict[str, Any]) -> Case:
    return Case(
        f"acceptance::{short.lower()}-{name}", name, "acceptance", desc.spec.operator, None, notation(desc), inputs
    )


def _generator(short: str, name: str, seed: int) -> np.random.Generator:
    text = f"{short} {name}" + f" {seed}" * (seed > 0)
    return np.random.default_rng(random.Random(text).getrandbits(64))  # noqa: S311 - a seed of a text


def _made(short: str, number: int, style: str, seed: int) -> Made | None:
    """Return a desc of FLOAT32 with values of a style; some operators have small ones."""
    generator = _generator(short, style, seed)
    for attempt in range(_TRIES):
        profile = drawn_descs.SMALL if short in _MILD else PROFILES[(number + attempt // 20) % 3]
        raw = drawn_descs.drawn_raw(f"DML_OPERATOR_{short}", generator, profile)
        desc = None if raw is None else of_float32(short, raw)
        if desc is None or not is_of_float32(desc):
            continue
        inputs = _values(desc, generator, "small" if short in _MILD else style)
        if inputs is not None and says_something(desc, inputs):
            return desc, inputs
    return None


def of_float32(short: str, raw: dict[str, Any]) -> OperatorDesc | None:
    """Return a desc with FLOAT32 in the place of all types, or of those of floats; None where neither is valid."""
    for others in (set(), {"FLOAT16", "FLOAT64", "FLOAT32"}):
        changed = {name: _retyped(value, others) for name, value in raw.items()}
        desc, findings = validation.validate(f"DML_OPERATOR_{short}", changed, NEWEST_LEVEL)
        if desc is not None and not findings:
            return desc
    return None


def _retyped(value: Any, types: set[str]) -> Any:
    if isinstance(value, dict) and "DataType" in value and (not types or value["DataType"] in types):
        return {**value, "DataType": "FLOAT32"}
    return [_retyped(each, types) for each in value] if isinstance(value, list) else value


def is_of_float32(desc: OperatorDesc) -> bool:
    """Whether there are floats, and all are FLOAT32."""
    return {part.tensor.data_type for part in desc.tensors() if "FLOAT" in part.tensor.data_type} == {"FLOAT32"}


def _values(desc: OperatorDesc, generator: np.random.Generator, style: str) -> dict[str, Any] | None:
    """Return values of a style; means and variances given as inputs are near those of the values."""
    found = drawn_values(desc, generator, "normal" if style == "small" else style)
    if found is not None and style == "small":
        found = {name: x * x.dtype.type(0.7) if x.dtype.kind == "f" else x for name, x in found.items()}
    if found is not None and desc.spec.short.startswith("BATCH_NORMALIZATION") and "MeanTensor" in found:
        x = found["InputTensor"].astype(np.float64)
        for name, function in (("MeanTensor", np.mean), ("VarianceTensor", np.var)):
            axes = tuple(axis for axis, size in enumerate(found[name].shape) if size == 1)
            found[name] = (function(x, axis=axes, keepdims=True) + (name[0] == "V") * 1e-3).astype(np.float32)
    return found


def says_something(desc: OperatorDesc, inputs: dict[str, Any]) -> bool:
    """Whether less than half of each output is undefined."""
    found = engine.evaluate(desc, inputs).values()
    return all(output.undefined is None or np.mean(output.undefined) < 0.5 for output in found)


# ---- descs that are not drawn: long sums, and what random descs seldom have


def _given_cases(short: str, seed: int) -> Iterator[Case]:
    for name, raw in DESCS.get(short, {}).items():
        desc = of_float32(short, raw)
        if desc is None:
            raise ValueError(f"{short} {name} is not valid")
        for style in _styles(short):
            inputs = _values(desc, _generator(short, f"{name} {style}", seed), style)
            if inputs is not None:
                yield _case(short, f"{style}-{name}", desc, inputs)


def _styles(short: str) -> tuple[str, ...]:
    if "plain" in DESCS[short]:
        return OF_FUNCTIONS
    if "NORMALIZATION" in short:
        return OF_MEANS
    return (*LONG_STYLES, "wide") if "SOFTMAX" in short else LONG_STYLES


def _sized(**sizes: list[int]) -> dict[str, Any]:
    return {f"{name}Tensor": {"DataType": "FLOAT32", "Sizes": of} for name, of in sizes.items()}


def _row(count: int, **fields: Any) -> dict[str, Any]:
    return {**_sized(Input=[1, 1, 3, count], Output=[1, 1, 3, count]), **fields}


def _reduced(function: str, count: int) -> dict[str, Any]:
    return {**_sized(Input=[1, 1, 3, count], Output=[1, 1, 3, 1]), "Function": function, "Axes": [3]}


def _gemm(count: int, **more: Any) -> dict[str, Any]:
    tensors = _sized(A=[1, 1, 4, count], B=[1, 1, count, 5], Output=[1, 1, 4, 5], **more)
    return {**tensors, "TransA": "NONE", "TransB": "NONE", "Alpha": 0.3, "Beta": 1.5}


def _convolution(channels: int, size: int, **more: Any) -> dict[str, Any]:
    tensors = _sized(Input=[1, channels, 6, 6], Filter=[3, channels, size, size], Output=[1, 3, 7 - size, 7 - size])
    pairs = {
        "Strides": [1, 1],
        "Dilations": [1, 1],
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        "OutputPadding": [0, 0],
    }
    return {**tensors, **_sized(**more), **pairs, "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "GroupCount": 1}


def _layer(**fields: Any) -> dict[str, Any]:
    tensors = _sized(Input=[2, 1, 256, 256], Scale=[1, 1, 256, 256], Bias=[1, 1, 256, 256], Output=[2, 1, 256, 256])
    return {**tensors, "Epsilon": 1e-5, **fields}


def _instance(size: int = 224, **fields: Any) -> dict[str, Any]:
    tensors = _sized(Input=[1, 2, size, size], Scale=[1, 2, 1, 1], Bias=[1, 2, 1, 1], Output=[1, 2, size, size])
    return {**tensors, "Epsilon": 1e-5, **fields}


def _batch(size: int, *names: str, **fields: Any) -> dict[str, Any]:
    whole, own = [2, 2, size, size], [1, 2, 1, 1]
    is_whole = ("Input", "Output", "InputGradient", "OutputGradient")
    return {**_sized(**{name: whole if name in is_whole else own for name in names}), "Epsilon": 1e-5, **fields}


def _pooled(**fields: Any) -> dict[str, Any]:
    pairs = {"Strides": [1, 1], "WindowSize": [256, 256], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    return {**_sized(Input=[1, 2, 256, 257], Output=[1, 2, 1, 2]), **pairs, **fields}


def _enlarged(**fields: Any) -> dict[str, Any]:
    """Return resampling of images by 1.7 and 0.6, with places that are between pixels."""
    pair = _sized(Input=[1, 3, 33, 65], Output=[1, 3, 56, 39])
    return {**pair, "InterpolationMode": "LINEAR", "Scales": [1, 1, 1.7, 0.6], **fields}


def _returned(**fields: Any) -> dict[str, Any]:
    pair = _sized(InputGradient=[1, 3, 56, 39], OutputGradient=[1, 3, 33, 65])
    return {**pair, "InterpolationMode": "LINEAR", "Scales": [1, 1, 1.7, 0.6], **fields}


def _offsets(**fields: Any) -> dict[str, Any]:
    return {"InputPixelOffsets": [0.5] * 4, "OutputPixelOffsets": [-0.5] * 4, **fields}


_TURNED = {"InputPixelOffsets": [-0.5] * 4, "OutputPixelOffsets": [0.5] * 4}
_FUNCTIONS = ("AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "SUM", "SUM_SQUARE")
_GRADIENTS = ("OutputGradient", "OutputScaleGradient", "OutputBiasGradient")
_GIVEN = ("Input", "InputGradient", "Mean", "Variance", "Scale")


def _network(*functions: str, gates: int, **fields: Any) -> dict[str, Any]:
    """Return a network whose sums are large enough for what is at the ends of its activations."""
    own = _sized(Input=[1, 5, 3, 33], Weight=[1, 1, gates * 9, 33], Recurrence=[1, 1, gates * 9, 9])
    outputs = _sized(OutputSequence=[5, 1, 3, 9], OutputSingle=[1, 1, 3, 9])
    activations = [{"Type": f"ACTIVATION_{name}"} for name in functions]
    return {**own, **outputs, "ActivationDescs": activations, "Direction": "FORWARD", **fields}


_OF_ONE = (
    *("ACOS", "ACOSH", "ASIN", "ASINH", "ATAN", "ATANH", "COS", "COSH", "ERF", "EXP", "LOG", "RECIP", "SIN", "SINH"),
    *("SQRT", "TAN", "TANH"),
)
_ACTIVATIONS = ("GELU", "SIGMOID", "SOFTSIGN", "TANH")
DESCS: dict[str, dict[str, dict[str, Any]]] = {
    **{f"ELEMENT_WISE_{name}": {"plain": _row(701)} for name in _OF_ONE},
    **{f"ACTIVATION_{name}": {"plain": _row(701)} for name in _ACTIVATIONS},
    "RNN": {"33-inputs": _network("TANH", gates=1)},
    "GRU": {"33-inputs": _network("SIGMOID", "TANH", gates=3, LinearBeforeReset=0)},
    "LSTM": {
        "33-inputs": _network(
            *("SIGMOID", "TANH", "TANH"), gates=4, ClipThreshold=1, UseClipThreshold=0, CoupleInputForget=0
        )
    },
    "RESAMPLE": {"linear": _enlarged()},
    "RESAMPLE1": {"linear": _enlarged(**_offsets())},
    "RESAMPLE2": {"linear": _enlarged(**_offsets(RoundingDirection="DECREASING"))},
    "RESAMPLE3": {"linear": _enlarged(**_offsets(RoundingDirection="DECREASING", Antialiased=0))},
    "RESAMPLE_GRAD": {"linear": _returned(**_TURNED)},
    "RESAMPLE_GRAD1": {"linear": _returned(**_TURNED, RoundingDirection="DECREASING")},
    "REDUCE": {
        f"{function.lower()}-of-{count}": _reduced(function, count) for function in _FUNCTIONS for count in (1031, LONG)
    },
    "ACTIVATION_SOFTMAX": {"long": _row(LONG)},
    "ACTIVATION_SOFTMAX1": {"long": _row(LONG, Axes=[3])},
    "ACTIVATION_LOG_SOFTMAX": {"long": _row(LONG)},
    "ACTIVATION_LOG_SOFTMAX1": {"long": _row(LONG, Axes=[3])},
    "CUMULATIVE_SUMMATION": {"long": _row(LONG, Axis=3, AxisDirection="INCREASING", HasExclusiveSum=0)},
    "LP_NORMALIZATION": {f"l{p}-long": _row(LONG, Axis=3, Epsilon=0.0, P=p) for p in (1, 2)},
    "GEMM": {
        "long": _gemm(LONG),
        "1024": _gemm(1024, C=[1, 1, 4, 5]),
        "4096-with-c": _gemm(4096, C=[1, 1, 4, 5]),
    },
    "CONVOLUTION": {
        "long": _convolution(LONG // 16, 4),
        "512-channels": _convolution(512, 3, Bias=[1, 3, 1, 1]),
        "64-channels": _convolution(64, 3, Bias=[1, 3, 1, 1]),
    },
    "MEAN_VARIANCE_NORMALIZATION": {
        "image": _instance(CrossChannel=0, NormalizeVariance=1),
        "small": _instance(7, CrossChannel=0, NormalizeVariance=1),
    },
    "MEAN_VARIANCE_NORMALIZATION1": {
        "layer": _layer(Axes=[1, 2, 3], NormalizeVariance=1),
        "image": _instance(Axes=[2, 3], NormalizeVariance=1),
        "768": {
            **_sized(Input=[1, 1, 33, 768], Scale=[1, 1, 1, 768], Bias=[1, 1, 1, 768], Output=[1, 1, 33, 768]),
            "Axes": [3],
            "NormalizeVariance": 1,
            "Epsilon": 1e-5,
        },
    },
    "MEAN_VARIANCE_NORMALIZATION2": {"layer": _layer(Axes=[1, 2, 3], UseMean=1, UseVariance=1)},
    "BATCH_NORMALIZATION": {
        "image": _batch(128, "Input", "Mean", "Variance", "Scale", "Bias", "Output", Spatial=1),
    },
    "BATCH_NORMALIZATION_TRAINING": {
        f"of-{size}": _batch(size, "Input", "Scale", "Bias", "Output", "OutputMean", "OutputVariance")
        for size in (5, 181)
    },
    **{
        name: {f"of-{size}": _batch(size, *_GIVEN, *_GRADIENTS) for size in (5, 181)}
        for name in ("BATCH_NORMALIZATION_GRAD", "BATCH_NORMALIZATION_TRAINING_GRAD")
    },
    "AVERAGE_POOLING": {"long": _pooled(IncludePadding=0)},
    "AVERAGE_POOLING1": {"long": _pooled(IncludePadding=0, Dilations=[1, 1])},
    "LP_POOLING": {"long": _pooled(P=2)},
    "LP_POOLING1": {"long": _pooled(P=2, Dilations=[1, 1])},
}
