"""Operators of quantized tensors as ONNX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx_models import expect, whole
from windows import pooled

from dmlcheck.values.number_formats import NUMPY_TYPES

Array = np.ndarray[Any, Any]


def ones(value: float, kind: str, rank: int = 4) -> Array:
    return np.full((1,) * rank, value, NUMPY_TYPES[kind])


def requantized(value: Any, scale: Any, point: float, kind: str) -> Array:
    limits = np.iinfo(NUMPY_TYPES[kind])
    return np.clip(np.rint(value / scale) + point, limits.min, limits.max).astype(NUMPY_TYPES[kind])


def test_a_quantized_average_is_taken_of_what_the_numbers_stand_for() -> None:
    x = (whole(1, 2, 4, 4) * 8 + 100).astype(np.uint8)
    mean = pooled((x.astype(np.float64) - 90) * 0.5, lambda part: part.mean(2), [2, 2], [2, 2], [0, 0], [0, 0])
    wanted = requantized(mean, 0.25, 3, "UINT8")
    inputs = {
        "InputTensor": x,
        "InputScaleTensor": ones(0.5, "FLOAT32"),
        "InputZeroPointTensor": ones(90, "UINT8"),
        "OutputScaleTensor": ones(0.25, "FLOAT32"),
        "OutputZeroPointTensor": ones(3, "UINT8"),
    }
    shape = {"WindowSize": [2, 2], "Strides": [2, 2], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    expect(
        "QUANTIZED_LINEAR_AVERAGE_POOLING",
        inputs,
        {"OutputTensor": wanted},
        by=("onnxruntime",),
        IncludePadding=False,
        **shape,
    )
