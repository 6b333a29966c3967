"""ONNX's activations as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import agrees, fields, floats, found, zeros

X = zeros(2, 3)


@pytest.mark.parametrize(
    ("type", "attributes", "operator", "expected"),
    [
        ("LeakyRelu", {"alpha": 0.01}, "ACTIVATION_LEAKY_RELU", {"Alpha": 0.01}),
        ("Shrink", {"bias": 1.0, "lambd": 0.5}, "ACTIVATION_SHRINK", {"Bias": 1, "Threshold": 0.5}),
        ("HardSwish", {}, "ACTIVATION_HARD_SWISH", {"Alpha": float(str(np.float32(1 / 6))), "Beta": 0.5}),
        ("Softplus", {}, "ACTIVATION_SOFTPLUS", {"Steepness": 1}),
    ],
)
def test_attributes_become_fields(type: str, attributes: Any, operator: str, expected: Any) -> None:
    made = found(type, [X], X, **attributes)
    assert (made.operator, fields(made)) == (operator, expected)


def test_most_have_no_field_but_their_tensors() -> None:
    assert list(found("Relu", [X], X).fields) == ["InputTensor", "OutputTensor"]
    assert list(found("PRelu", [X, X], X).fields) == ["InputTensor", "SlopeTensor", "OutputTensor"]


def test_before_opset_7_slopes_are_those_of_channels() -> None:
    x, slope = -np.arange(18, dtype=np.float32).reshape(2, 3, 3), floats(1, 2, 3)
    assert agrees(found("PRelu", [x, slope], x * slope[:, None], opset=6))
    assert agrees(found("PRelu", [x, slope[1:2]], x * 2, opset=6))
    assert agrees(found("PRelu", [x, slope], x * slope, opset=7))
