"""Operators that only move elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import agrees, fields, node, zeros

from dmlcheck.onnx.descs.node import Counterpart, Refused
from dmlcheck.onnx.operators.exact.mapping import imported

X = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
RATIO, TRUE, FALSE = np.array(0.5, np.float32), np.array(True), np.array(False)


def made(type: str, inputs: list[Any], *outputs: Any, opset: int = 24, **attributes: Any) -> Counterpart:
    return imported(node(type, inputs, *outputs, opset=opset, **attributes))


def integers(*values: Any) -> Any:
    return np.array(values, np.int64)


@pytest.mark.parametrize("type", ["Max", "Mean", "Min", "OptionalGetElement", "Sum"])
def test_a_single_input_is_copied(type: str) -> None:
    found = made(type, [X], X)
    assert found.operator == "ELEMENT_WISE_IDENTITY"
    assert agrees(found)


def test_two_inputs_are_combined_and_three_are_refused() -> None:
    assert made("Max", [X, X], X).operator == "ELEMENT_WISE_MAX"
    with pytest.raises(Refused, match="Max of 3 inputs, where DirectML's has 2"):
        made("Max", [X, X, X], X)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.array([1.0, -2.5], np.float32), np.array([0x3F800000, -0x3FE00000], np.int32)),
        (np.array([True, False]), np.array([1, 0], np.uint8)),
        (np.array(-1, np.int16), np.array(65535, np.uint16)),
    ],
)
def test_bits_are_copied_as_the_type_that_they_become(x: Any, y: Any) -> None:
    found = made("BitCast", [x], y)
    assert found.operator == "ELEMENT_WISE_IDENTITY"
    assert found.fields["InputTensor"].dtype == y.dtype
    assert agrees(found)


@pytest.mark.parametrize(
    ("opset", "inputs", "attributes"),
    [
        (22, [X], {}),
        (22, [X, RATIO], {}),
        (13, [X, RATIO, FALSE], {}),
        (13, [X, np.array(0, np.float32), TRUE], {}),
        (7, [X], {"ratio": 0.5}),
        (6, [X], {"is_test": 1}),
    ],
)
def test_dropout_is_a_copy_where_nothing_is_dropped(opset: int, inputs: list[Any], attributes: Any) -> None:
    found = made("Dropout", inputs, X, opset=opset, **attributes)
    assert (found.operator, found.note) == ("ELEMENT_WISE_IDENTITY", None)
    assert agrees(found)
    mask = np.ones(X.shape, bool)
    assert made("Dropout", inputs, X, mask, opset=opset, **attributes).note == "The mask is not compared."


@pytest.mark.parametrize(
    ("opset", "inputs", "attributes"),
    [(22, [X, RATIO, TRUE], {}), (22, [X, None, TRUE], {}), (6, [X], {"is_test": 0, "ratio": 0.5})],
)
def test_dropout_in_training_is_refused(opset: int, inputs: list[Any], attributes: Any) -> None:
    with pytest.raises(Refused, match="Dropout in training, which draws random numbers"):
        made("Dropout", inputs, X, opset=opset, **attributes)


def test_a_centre_is_cut_from_the_rounded_down_start() -> None:
    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    found = made("CenterCropPad", [x, integers(2, 7)], x[1:3])
    assert found.operator == "SLICE1"
    assert fields(found)["InputWindowOffsets"] == [1, 0]
    assert agrees(found)


def test_a_centre_is_padded_with_zeros_more_at_the_end() -> None:
    found = made("CenterCropPad", [X, integers(2, 6)], np.pad(X, [(0, 0), (1, 2)]))
    assert found.operator == "PADDING1"
    assert agrees(found)
    with pytest.raises(Refused, match="which are two operators of DirectML"):
        made("CenterCropPad", [X, integers(1, 6)], zeros(1, 6))


def test_features_are_columns() -> None:
    found = made("ai.onnx.ml.ArrayFeatureExtractor", [X, integers([2, 0])], X[:, [2, 0]])
    assert (found.operator, found.fields["Axis"]) == ("GATHER", 1)
    assert agrees(found)


@pytest.mark.parametrize(
    ("axis", "condition", "y"),
    [
        (0, [False, True], X[1:]),
        (-1, [True, False, True], X[:, ::2]),
        (None, [False, True, False, True], X.flat[[1, 3]]),
    ],
)
def test_what_is_true_is_gathered(axis: int | None, condition: list[bool], y: Any) -> None:
    more = {} if axis is None else {"axis": axis}
    found = made("Compress", [X, np.array(condition)], y, **more)
    assert found.operator == "GATHER"
    assert agrees(found)


def test_updates_follow_each_other_from_the_first_of_each_batch() -> None:
    cache, updates = np.zeros((2, 4, 1), np.float32), np.array([[[1], [2]], [[3], [4]]], np.float32)

    def rows(*values: Any) -> Any:
        return np.array(values, np.float32)[:, :, None]

    found = made("TensorScatter", [cache, updates, integers(1, 2)], rows([0, 1, 2, 0], [0, 0, 3, 4]))
    assert (found.operator, found.fields["Axis"]) == ("SCATTER", 1)
    assert agrees(found)
    assert agrees(made("TensorScatter", [cache, updates], rows([1, 2, 0, 0], [3, 4, 0, 0])))
    around = made("TensorScatter", [cache, updates, integers(3, 0)], rows([2, 0, 0, 1], [3, 4, 0, 0]), mode="circular")
    assert agrees(around)
