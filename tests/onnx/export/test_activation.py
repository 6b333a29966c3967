"""Activations as ONNX graphs: values by hand or with Python's math, and what has no exact words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from onnx_models import E, desc_of, evaluate, expect_of_one_input, of, simple

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible

# Operator, fields, values of InputTensor in FLOAT32, values of OutputTensor.
VALUES = [
    ("ACTIVATION_CELU", {"Alpha": 2}, [3, -2], [3, 2 * (1 / E - 1)]),
    ("ACTIVATION_ELU", {"Alpha": 2}, [3, -1], [3, 2 * (1 / E - 1)]),
    ("ACTIVATION_GELU", {}, [0, 1], [0, 0.5 * (1 + math.erf(math.sqrt(0.5)))]),
    ("ACTIVATION_HARD_SIGMOID", {"Alpha": 0.25, "Beta": 0.5}, [-4, 1, 4], [0, 0.75, 1]),
    ("ACTIVATION_HARD_SWISH", {"Alpha": 1 / 6, "Beta": 0.5}, [-4, 1, 4], [0, 2 / 3, 4]),
    ("ACTIVATION_IDENTITY", {}, [1, -2.5], [1, -2.5]),
    ("ACTIVATION_LEAKY_RELU", {"Alpha": 0.5}, [3, -3], [3, -1.5]),
    ("ACTIVATION_LINEAR", {"Alpha": 2, "Beta": 0.1}, [3, -3], [6.1, -5.9]),
    ("ACTIVATION_LINEAR", {"Alpha": 0.1, "Beta": 0}, [3, -3], [0.3, -0.3]),
    ("ACTIVATION_PARAMETRIC_SOFTPLUS", {"Alpha": 4, "Beta": 2}, [0, 1], [4 * math.log(2), 4 * math.log(1 + E**2)]),
    ("ACTIVATION_RELU", {}, [3, -3], [3, 0]),
    ("ACTIVATION_SCALED_ELU", {"Alpha": 3, "Gamma": 2}, [3, -1], [6, 2 * (3 / E - 3)]),
    ("ACTIVATION_SCALED_TANH", {"Alpha": 4, "Beta": 0.5}, [0, 2], [0, 4 * math.tanh(1)]),
    ("ACTIVATION_SHRINK", {"Bias": 0.5, "Threshold": 1}, [3, -3, 0.5, 1], [2.5, -2.5, 0, 0]),
    ("ACTIVATION_SIGMOID", {}, [0, 1], [0.5, 1 / (1 + 1 / E)]),
    ("ACTIVATION_SOFTPLUS", {"Steepness": 4}, [0, 1], [math.log(2) / 4, math.log(1 + E**4) / 4]),
    ("ACTIVATION_SOFTSIGN", {}, [1, -3], [0.5, -0.75]),
    ("ACTIVATION_SWISH", {"SigmoidInputScale": 2}, [0, 1], [0, 1 / (1 + E**-2)]),
    ("ACTIVATION_TANH", {}, [0, 1], [0, math.tanh(1)]),
    ("ACTIVATION_THRESHOLDED_RELU", {"Alpha": 1}, [1, 1.5, -3], [0, 1.5, 0]),
    ("ACTIVATION_SOFTMAX", {}, [0, math.log(3)], [0.25, 0.75]),
    ("ACTIVATION_LOG_SOFTMAX", {}, [0, math.log(3)], [math.log(0.25), math.log(0.75)]),
    ("ACTIVATION_HARDMAX", {}, [1, 3, 3, 2], [0, 1, 0, 0]),
    ("ACTIVATION_SOFTMAX1", {"Axes": []}, [5, -2], [1, 1]),
]


@pytest.mark.parametrize(
    ("operator", "fields", "input", "expected"), VALUES, ids=[f"{n}-{row[0]}" for n, row in enumerate(VALUES)]
)
def test_a_model_gives_the_values_of_the_formula(
    operator: str, fields: dict[str, Any], input: list[float], expected: Any
) -> None:
    expect_of_one_input(operator, fields, input, expected)


def test_slopes_are_taken_element_by_element() -> None:
    inputs = {"InputTensor": of("FLOAT32", 2, -3, -2), "SlopeTensor": of("FLOAT32", 9, 0.5, 2)}
    assert evaluate(simple("ACTIVATION_PARAMETERIZED_RELU", inputs), inputs)["OutputTensor"].tolist() == [[2, -1.5, -4]]


INEXPRESSIBLE = [
    ("ACTIVATION_HARD_SWISH", {"Alpha": 0.25, "Beta": 0.5}, "Alpha 1/6"),
    ("ACTIVATION_LINEAR", {"Alpha": 0.1, "Beta": 1}, "rounded twice"),
    ("ACTIVATION_SCALED_TANH", {"Alpha": 1.7, "Beta": 0.5}, "Alpha 1.7"),
    ("ACTIVATION_SOFTPLUS", {"Steepness": 3}, "Steepness 3"),
    ("ACTIVATION_SOFTPLUS", {"Steepness": 0}, "divides by 0"),
]


@pytest.mark.parametrize(("operator", "fields", "reason"), INEXPRESSIBLE)
def test_what_onnx_has_no_exact_words_for_is_refused_with_the_reason(
    operator: str, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Inexpressible, match=reason):
        build(simple(operator, {"InputTensor": of("FLOAT32", 1, 2)}, **fields))


def test_a_group_over_several_axes_comes_back_in_its_own_order() -> None:
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    tensor = {"DataType": "FLOAT32", "Sizes": [2, 3, 2]}
    tensors = {"InputTensor": tensor, "OutputTensor": tensor}
    result = evaluate(desc_of("ACTIVATION_HARDMAX1", tensors | {"Axes": [2, 0]}), {"InputTensor": x})["OutputTensor"]
    expected = np.zeros((2, 3, 2))
    expected[1, :, 1] = 1  # the largest of every [:, j, :]
    assert (result == expected).all()
    result = evaluate(desc_of("ACTIVATION_SOFTMAX1", tensors | {"Axes": [0, 1]}), {"InputTensor": x})["OutputTensor"]
    terms = np.exp(x - 11)
    assert result == pytest.approx(terms / terms.sum(axis=(0, 1)), rel=1e-5)
