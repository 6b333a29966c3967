"""Operators that several of DirectML's compute, against their formulas in NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from node_graphs import computed, float32, node_of

from dmlcheck.graphs.tensors import TensorRef

X = np.array([[-3.0, -0.5, 0.0, -0.0, 0.25, 7.0]], np.float32)


def test_a_number_that_is_not_0_is_true() -> None:
    """NaN too; the provider's CAST and CLIP1 would make 0.25 false."""
    x = np.array([0.25, 0, -0.0, np.nan, -4, np.inf], np.float32)
    (made,) = computed(node_of("Cast", [x], TensorRef("BOOL", (6,))))
    assert made.tolist() == [1, 0, 0, 1, 1, 1]
    (made,) = computed(node_of("Cast", [np.array([0, 3], np.int64)], TensorRef("BOOL", (2,))))
    assert made.tolist() == [0, 1]


def by_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def test_gelu_may_be_that_of_a_tanh() -> None:
    expected = [by_tanh(x) for x in X.reshape(-1).tolist()]
    for made in (
        computed(node_of("Gelu", [X], float32(1, 6), opset=20, approximate="tanh")),
        computed(node_of("com.microsoft.FastGelu", [X], float32(1, 6))),
    ):
        assert made[0].reshape(-1) == pytest.approx(expected, rel=3e-6, abs=1e-7)
    exact = computed(node_of("Gelu", [X], float32(1, 6), opset=20))[0].reshape(-1)
    assert exact == pytest.approx([0.5 * x * math.erfc(-x / math.sqrt(2)) for x in X.reshape(-1).tolist()], abs=1e-7)


def test_a_bias_is_added_before_a_fast_gelu() -> None:
    bias = np.array([1, 0, 0, 0, 0, -7], np.float32)
    (made,) = computed(node_of("com.microsoft.FastGelu", [X, bias], float32(1, 6)))
    assert made.reshape(-1)[[0, 5]] == pytest.approx([by_tanh(-2), 0], rel=3e-6)


@pytest.mark.parametrize(("type", "expected"), [("Max", [4, 5, 3]), ("Min", [0, -5, -3]), ("Sum", [6, 0, 0])])
def test_inputs_are_combined_one_after_the_other(type: str, expected: list[float]) -> None:
    inputs = [np.array(row, np.float32) for row in ([0, 5, 3], [2, -5, -3], [4, 0, 0])]
    (made,) = computed(node_of(type, inputs, float32(3)))
    assert made.tolist() == expected
    (alone,) = computed(node_of(type, inputs[:1], float32(3)))
    assert alone.tolist() == [0, 5, 3]
