"""Operators of quantized tensors as ONNX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_models import expect, f32, is_before, whole
from windows import GAPS, STEPS, convolved, pooled

from dmlcheck.values.number_formats import NUMPY_TYPES

Array = np.ndarray[Any, Any]


def test_integers_are_convolved_after_their_zero_points() -> None:
    if is_before("1.24"):
        pytest.skip("before 1.24 onnxruntime has no ConvInteger of UINT8 and INT8")
    x = (whole(1, 2, 4, 5) + 10).astype(np.uint8)
    kernel = whole(3, 2, 2, 3, step=3).astype(np.int8)
    points = {
        "InputZeroPointTensor": np.full((1, 1, 1, 1), 9, np.uint8),
        "FilterZeroPointTensor": np.full((1, 1, 1, 1), -2, np.int8),
    }
    wanted = convolved(x.astype(np.int32) - 9, kernel.astype(np.int32) + 2, *GAPS)
    inputs = {"InputTensor": x, "FilterTensor": kernel, **points}
    expect("CONVOLUTION_INTEGER", inputs, {"OutputTensor": wanted}, **STEPS, GroupCount=1, by=("onnxruntime",))


def ones(value: float, kind: str, rank: int = 4) -> Array:
    return np.full((1,) * rank, value, NUMPY_TYPES[kind])


def requantized(value: Any, scale: Any, point: float, kind: str) -> Array:
    limits = np.iinfo(NUMPY_TYPES[kind])
    return np.clip(np.rint(value / scale) + point, limits.min, limits.max).astype(NUMPY_TYPES[kind])


def test_a_quantized_convolution_scales_each_output_channel() -> None:
    x = (whole(1, 2, 4, 5) + 10).astype(np.uint8)
    kernel = whole(3, 2, 2, 3, step=3).astype(np.int8)
    scales = f32([0.5, 0.25, 1]).reshape(1, 3, 1, 1)
    bias = np.array([4, -8, 16], np.int32).reshape(1, 3, 1, 1)
    total = convolved(x.astype(np.int32) - 9, kernel.astype(np.int32), *GAPS) + bias
    wanted = requantized(total * (0.5 * scales), 4.5, 100, "UINT8")
    inputs = {
        "InputTensor": x,
        "InputScaleTensor": ones(0.5, "FLOAT32"),
        "InputZeroPointTensor": ones(9, "UINT8"),
        "FilterTensor": kernel,
        "FilterScaleTensor": scales,
        "FilterZeroPointTensor": np.zeros((1, 3, 1, 1), np.int8),
        "BiasTensor": bias,
        "OutputScaleTensor": ones(4.5, "FLOAT32"),
        "OutputZeroPointTensor": ones(100, "UINT8"),
    }
    expect("QUANTIZED_LINEAR_CONVOLUTION", inputs, {"OutputTensor": wanted}, **STEPS, GroupCount=1, by=("onnxruntime",))


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


def bytes_of(values: Any, kind: str) -> Array:
    return values.astype(NUMPY_TYPES[kind])


@pytest.mark.parametrize("per_row", [False, True])
def test_integer_products_take_zero_points_of_rows_and_columns(per_row: bool) -> None:
    a, b = bytes_of(whole(1, 1, 2, 3) + 5, "UINT8"), bytes_of(whole(1, 1, 3, 4, step=3), "INT8")
    of_a = np.array([4, 6], np.uint8).reshape(1, 1, 2, 1) if per_row else ones(4, "UINT8")
    of_b = np.array([1, 0, -1, 2], np.int8).reshape(1, 1, 1, 4) if per_row else ones(1, "INT8")
    wanted = (a.astype(np.int32) - of_a) @ (b.astype(np.int32) - of_b)
    inputs = {"ATensor": a, "AZeroPointTensor": of_a, "BTensor": b, "BZeroPointTensor": of_b}
    by = ("onnx",) if per_row else ("onnx", "onnxruntime")  # onnxruntime has one zero point for A
    expect("MATRIX_MULTIPLY_INTEGER", inputs, {"OutputTensor": wanted.astype(np.int32)}, by=by)


def quantized_inputs(a: Array, b: Array, scale: Any) -> dict[str, Array]:
    return {
        "ATensor": a,
        "AScaleTensor": ones(0.5, "FLOAT32"),
        "AZeroPointTensor": ones(4, "UINT8"),
        "BTensor": b,
        "BScaleTensor": scale,
        "BZeroPointTensor": np.ones(scale.shape, np.uint8),
    }


def test_a_quantized_product_is_scaled_by_column() -> None:
    a, b = bytes_of(whole(1, 1, 2, 3) + 5, "UINT8"), bytes_of(whole(1, 1, 3, 4, step=3) + 3, "UINT8")
    scale = f32([0.5, 0.25, 1, 2]).reshape(1, 1, 1, 4)
    exact = ((a.astype(np.int32) - 4) @ (b.astype(np.int32) - 1)) * (0.5 * scale)
    inputs = {
        **quantized_inputs(a, b, scale),
        "OutputScaleTensor": ones(0.75, "FLOAT32"),
        "OutputZeroPointTensor": ones(30, "UINT8"),
    }
    wanted = requantized(exact, 0.75, 30, "UINT8")
    by = ("onnxruntime",)
    expect("QUANTIZED_LINEAR_MATRIX_MULTIPLY", inputs, {"OutputTensor": wanted}, by=by)
    bias = whole(1, 1, 1, 4)
    row = {**quantized_inputs(a[:, :, :1].copy(), b, scale), "BiasTensor": bias}
    expect("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", row, {"OutputTensor": f32(exact[:, :, :1] + bias)}, by=by)
    expect("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", quantized_inputs(a, b, scale), {"OutputTensor": f32(exact)}, by=by)
    a, b = bytes_of(whole(1, 2, 2, 3) + 5, "UINT8"), bytes_of(whole(1, 2, 3, 4, step=3) + 3, "UINT8")
    exact = ((a.astype(np.int32) - 4) @ (b.astype(np.int32) - 1)) * 0.125
    batches = quantized_inputs(a, b, ones(0.25, "FLOAT32"))
    expect("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", batches, {"OutputTensor": f32(exact)}, by=by)
