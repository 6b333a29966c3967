"""Tensors of at least four dimensions, as ONNX Runtime's DirectML provider makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import found, zeros

from dmlcheck.onnx.operators.table import padded

X = zeros(3, 4)


@pytest.mark.parametrize(
    ("name", "inputs", "output", "expected"),
    [
        ("Tile", [X, np.array([2, 5])], zeros(6, 20), {"Repeats": [1, 1, 2, 5]}),
        ("Pad", [X, np.array([1, 0, 2, 3])], zeros(6, 7), {"StartPadding": [0, 0, 1, 0], "EndPadding": [0, 0, 2, 3]}),
    ],
)
def test_lists_by_dimension_begin_with_what_changes_nothing(
    name: str, inputs: Any, output: Any, expected: dict[str, Any]
) -> None:
    made = padded(found(name, inputs, output))
    assert {field: made.fields[field] for field in expected} == expected


def test_new_dimensions_of_images_come_after_the_channels() -> None:
    made = padded(found("Conv", [zeros(1, 2, 9), zeros(4, 2, 3)], zeros(1, 4, 7), dilations=[1]))
    assert made.fields["InputTensor"].shape == (1, 2, 1, 9)
    assert made.fields["FilterTensor"].shape == (4, 2, 1, 3)
    assert (made.fields["Strides"], made.fields["StartPadding"]) == ([1, 1], [0, 0])


def test_new_dimensions_of_a_normalization_by_channels_come_last() -> None:
    made = padded(found("BatchNormalization", [zeros(1, 2, 9), *[zeros(2)] * 4], zeros(1, 2, 9)))
    assert made.fields["InputTensor"].shape == (1, 2, 9, 1)
    assert made.fields["MeanTensor"].shape == (1, 2, 1, 1)


def test_a_window_of_a_pool_has_new_dimensions_first() -> None:
    made = padded(found("MaxPool", [zeros(5, 2, 9)], zeros(5, 2, 7), kernel_shape=[3]))
    assert made.fields["InputTensor"].shape == (1, 5, 2, 9)
    assert (made.fields["WindowSize"], made.fields["Strides"], made.fields["EndPadding"]) == ([1, 3], [1, 1], [0, 0])


def test_four_dimensions_and_more_stay() -> None:
    five = zeros(1, 2, 3, 4, 5)
    given = found("Relu", [five], five)
    assert padded(given) is given
