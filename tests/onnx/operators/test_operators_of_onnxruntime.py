"""Operators of onnxruntime's own that one of DirectML's computes, by the formulas of its documentation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from onnx_nodes import Array, agrees, found

RNG = np.random.default_rng(7)


def values(*sizes: int) -> Array:
    return RNG.normal(size=sizes).astype(np.float32)


def gelu(x: Array) -> Array:
    return np.vectorize(lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2))))(x).astype(np.float32)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def convolved(image: Array, filters: Array) -> Array:
    """Return what filters of images, channels last, give where they lie inside."""
    height, width = filters.shape[1:3]
    places = np.lib.stride_tricks.sliding_window_view(image, (height, width), (1, 2))
    return np.einsum("nxychw,fhwc->nxyf", places, filters)


def spread(image: Array, filters: Array, step: int) -> Array:
    """Return a transposed convolution without padding: each element adds a filter to where it lies."""
    count, _, height, width = image.shape
    _, channels, rows, columns = filters.shape
    made = np.zeros((count, channels, (height - 1) * step + rows, (width - 1) * step + columns), np.float32)
    for y in range(height):
        for x in range(width):
            part = np.einsum("nc,cfhw->nfhw", image[:, :, y, x], filters)
            made[:, :, y * step : y * step + rows, x * step : x * step + columns] += part
    return made


X3, BIAS = values(2, 3, 4), values(4)
LEFT, RIGHT, MANY = values(2, 3, 4), values(3, 5, 2), values(3, 4, 5)
IMAGE, FILTERS, TERMS = values(1, 5, 6, 3), values(4, 3, 2, 3), values(4)
SMALL, WIDE, PICTURE = values(1, 2, 3, 3), values(2, 4, 3, 3), values(1, 3, 2, 2)
PADS = np.array([1, 0, 1, 2], np.int64)
BYTES = np.array([[[[4, 8], [6, 10]]]], np.uint8)
ONE, TWO = np.array(1, np.uint8), np.array(2, np.uint8)
OWN = "com.microsoft."


@pytest.mark.parametrize(
    ("type", "inputs", "output", "attributes"),
    [
        ("Affine", [X3], 2 * X3 + 3, {"alpha": 2.0, "beta": 3.0}),
        ("ParametricSoftplus", [X3], 2 * np.log1p(np.exp(0.5 * X3)), {"alpha": 2.0, "beta": 0.5}),
        ("ScaledTanh", [X3], 2 * np.tanh(0.5 * X3), {"alpha": 2.0, "beta": 0.5}),
        (
            "ImageScaler",
            [PICTURE],
            2 * PICTURE + np.array([1, 3, 5], np.float32).reshape(1, 3, 1, 1),
            {"scale": 2.0, "bias": [1.0, 3.0, 5.0]},
        ),
        ("Crop", [SMALL], SMALL[:, :, 1:, :2], {"border": [0, 1, 1, 0]}),
        ("Crop", [SMALL], SMALL[:, :, 1:2, :2], {"border": [0, 1, 0, 0], "scale": [1, 2]}),
        (
            "SimplifiedLayerNormalization",
            [X3, BIAS],
            X3 / np.sqrt((X3**2).mean(-1, keepdims=True) + 1e-5) * BIAS,
            {"epsilon": 1e-5},
        ),
        (f"{OWN}BiasGelu", [X3, BIAS], gelu(X3 + BIAS), {}),
        (
            f"{OWN}FusedMatMul",
            [LEFT, RIGHT],
            0.5 * np.einsum("kbm,bnk->bmn", LEFT, RIGHT),
            {"transBatchA": 1, "transA": 1, "transB": 1, "alpha": 0.5},
        ),
        (
            f"{OWN}FusedMatMulActivation",
            [LEFT, MANY],
            softmax(np.einsum("mbk,bkn->bmn", LEFT, MANY)),
            {"transBatchA": 1, "activation": "Softmax", "activation_axis": -1},
        ),
        (f"{OWN}NhwcConv", [IMAGE, FILTERS, TERMS], convolved(IMAGE, FILTERS) + TERMS, {}),
        (
            f"{OWN}ConvTransposeWithDynamicPads",
            [SMALL, WIDE, PADS, TERMS],
            spread(SMALL, WIDE, 2)[:, :, 1:-1, :-2] + TERMS.reshape(1, 4, 1, 1),
            {"strides": [2, 2]},
        ),
        (
            f"{OWN}QLinearGlobalAveragePool",
            [BYTES, np.float32([0.5]), TWO, np.float32([0.25]), ONE],
            np.array([[[[11]]]], np.uint8),
            {},
        ),
    ],
)
def test_operators_of_onnxruntime_compute_what_it_documents(
    type: str, inputs: list[Any], output: Any, attributes: dict[str, Any]
) -> None:
    assert agrees(found(type, inputs, output, **attributes))
