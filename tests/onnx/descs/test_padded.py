"""Tensors of at least four dimensions, as ONNX Runtime's DirectML provider makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import fields, found, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart
from dmlcheck.onnx.descs.padded import padded

X = zeros(3, 4)


def test_dimensions_of_size_1_come_first() -> None:
    made = padded(found("Relu", [X], X))
    assert {name: value.shape for name, value in made.fields.items()} == {
        "InputTensor": (1, 1, 3, 4),
        "OutputTensor": (1, 1, 3, 4),
    }


def test_scalars_have_four_dimensions_too() -> None:
    assert padded(found("Neg", [zeros()], zeros())).fields["InputTensor"].shape == (1, 1, 1, 1)


def test_axes_move_with_their_dimensions() -> None:
    assert fields(padded(found("Softmax", [X], X, opset=13))) == {"Axes": [3]}
    made = padded(found("Concat", [X, X], zeros(3, 8), axis=1))
    assert made.fields["Axis"] == 3
    assert [each.shape for each in made.fields["InputTensors"]] == [(1, 1, 3, 4)] * 2


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


def test_each_tensor_has_four_dimensions() -> None:
    x, output = zeros(1, 2, 8, 8), zeros(5, 2, 4, 4)
    regions = [x, zeros(5, 4), zeros(5, dtype="int64")]
    made = padded(found("RoiAlign", regions, output, coordinate_transformation_mode="half_pixel"))
    shapes = {name: value.shape for name, value in made.fields.items() if isinstance(value, TensorRef)}
    assert (shapes["ROITensor"], shapes["BatchIndicesTensor"]) == ((1, 1, 5, 4), (1, 1, 1, 5))


def test_the_least_number_of_dimensions_may_be_another() -> None:
    transposed = padded(found("Transpose", [X], zeros(4, 3)))
    assert transposed.fields["OutputTensor"].shape == (4, 3)


def test_strides_of_new_dimensions_are_0() -> None:
    repeated = TensorRef("FLOAT32", (3, 4), (0, 1))
    made = padded(Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": repeated, "OutputTensor": TensorRef.of(X)}))
    assert made.fields["InputTensor"].strides == (0, 0, 0, 1)
    assert made.fields["InputTensor"].shape == (1, 1, 3, 4)


def test_reductions_keep_their_dimensions() -> None:
    made = padded(found("ReduceSum", [X, np.array([1])], zeros(3), opset=13, keepdims=0))
    assert (made.fields["InputTensor"].shape, made.fields["Axes"]) == ((3, 4), [1])


def test_four_dimensions_and_more_stay() -> None:
    five = zeros(1, 2, 3, 4, 5)
    given = found("Relu", [five], five)
    assert padded(given) is given
