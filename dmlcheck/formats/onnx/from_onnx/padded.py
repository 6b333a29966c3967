"""Descs as ONNX Runtime's DirectML provider makes them: its tensors have at least four dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.formats.onnx.from_onnx.node import Array, Counterpart
from dmlcheck.formats.onnx.from_onnx.tensors import Strided

_LEAST = 4
# Operators whose tensors keep the dimensions that they have.
_OWN_RANK = frozenset(
    [
        "ARGMAX",
        "ARGMIN",
        "DIAGONAL_MATRIX1",
        "FOLD",
        "GRU",
        "LSTM",
        "MULTIHEAD_ATTENTION",
        "NONZERO_COORDINATES",
        "REDUCE",
        "RNN",
    ]
)

# Operators whose first two dimensions are the batch and the channels: new ones come after those.
_CHANNELS_SECOND = [
    "AVERAGE_POOLING",
    "AVERAGE_POOLING1",
    "BATCH_NORMALIZATION",
    "CONVOLUTION",
    "CONVOLUTION_INTEGER",
    "LOCAL_RESPONSE_NORMALIZATION",
    "LP_POOLING",
    "LP_POOLING1",
    "MAX_POOLING",
    "MAX_POOLING2",
    "MAX_UNPOOLING",
    "QUANTIZED_LINEAR_AVERAGE_POOLING",
    "QUANTIZED_LINEAR_CONVOLUTION",
]
# What the lists with a number for each dimension have for a new one.
_NEW = {
    "Dilations": 1,
    "EndPadding": 0,
    "InputPixelOffsets": 0.5,
    "InputWindowOffsets": 0,
    "InputWindowSizes": 1,
    "InputWindowStrides": 1,
    "OutputPadding": 0,
    "OutputPixelOffsets": -0.5,
    "Repeats": 1,
    "Scales": 1,
    "StartPadding": 0,
    "Strides": 1,
    "WindowSize": 1,
}


def padded(given: Counterpart) -> Counterpart:
    """Return an operator whose tensors have four dimensions where they had less, and whose axes count in those."""
    ranks = [_rank(value) for value in given.fields.values() if _rank(value)]
    more = _LEAST - max(ranks, default=_LEAST)
    if more <= 0 or given.operator in _OWN_RANK:
        return given
    at = 2 if given.operator in _CHANNELS_SECOND else 0
    return given._replace(fields={name: _field(name, value, more, at) for name, value in given.fields.items()})


def _rank(value: Any) -> int:
    first = value[0] if isinstance(value, list) and value else value
    array = first.values if isinstance(first, Strided) else first
    return array.ndim or 1 if isinstance(array, np.ndarray) else 0


def _field(name: str, value: Any, more: int, at: int) -> Any:
    if _rank(value):
        return [_tensor(each, more, at) for each in value] if isinstance(value, list) else _tensor(value, more, at)
    if name == "Axis":
        return value + more
    if name == "Axes":
        return [axis + more for axis in value]
    return [_NEW[name]] * more + list(value) if name in _NEW else value


def _tensor(value: Array | Strided, more: int, at: int) -> Array | Strided:
    ones = (1,) * more
    array = value.values if isinstance(value, Strided) else np.atleast_1d(value)
    wider = array.reshape(*array.shape[:at], *ones, *array.shape[at:])
    return (
        Strided(wider, (*value.strides[:at], *(0 for _ in ones), *value.strides[at:]))
        if isinstance(value, Strided)
        else wider
    )
