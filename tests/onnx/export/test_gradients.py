"""Gradients as ONNX graphs: they pass between bounds, which are no places inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_models import INF, expect, f32, made

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible

X = f32([[-1, 0, 0.5, 1, 2, INF]])
GRADIENT = f32([[1, 2, 3, 4, 5, -6]])


@pytest.mark.parametrize(
    ("operator", "fields", "right"),
    [
        ("ACTIVATION_RELU_GRAD", {}, [0, 0, 3, 4, 5, -6]),
        ("ELEMENT_WISE_CLIP_GRAD", {"Min": 0, "Max": 2}, [0, 0, 3, 4, 0, 0]),
        ("ELEMENT_WISE_CLIP_GRAD1", {"MinMaxDataType": "FLOAT32", "Min": -1, "Max": 0.5}, [0, 2, 0, 0, 0, 0]),
        ("ELEMENT_WISE_CLIP_GRAD", {"Min": 2, "Max": 0}, [0] * 6),
    ],
)
def test_a_gradient_passes_between_the_bounds(operator: str, fields: dict[str, Any], right: list[float]) -> None:
    inputs = {"InputTensor": X, "InputGradientTensor": GRADIENT}
    expect(operator, inputs, {"OutputGradientTensor": f32([right])}, **fields)


def test_integers_are_compared_as_such() -> None:
    x = np.array([[-(2**31), 2**24, 2**24 + 1, 2**31 - 1]], np.int32)
    inputs = {"InputTensor": x, "InputGradientTensor": np.array([[1, 2, 3, 4]], np.int32)}
    fields = {"MinMaxDataType": "INT32", "Min": 2**24, "Max": 2**31 - 1}
    expect("ELEMENT_WISE_CLIP_GRAD1", inputs, {"OutputGradientTensor": np.array([[0, 0, 3, 0]], np.int32)}, **fields)


def test_a_bound_that_is_no_number_of_the_type_is_refused() -> None:
    x = np.array([[1, 2]], np.float16)
    inputs = {"InputTensor": x, "InputGradientTensor": x}
    desc = made("ELEMENT_WISE_CLIP_GRAD", inputs, {"OutputGradientTensor": x}, Min=0.1, Max=2)
    with pytest.raises(Inexpressible, match="Min or Max is not a number of FLOAT16"):
        build(desc)
