"""ONNX's operators that only move elements, as DirectML's; slices are tested with the importer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import agrees, fields, found, node, zeros

from dmlcheck.onnx.descs.node import RefusedNode, Unmapped
from dmlcheck.onnx.operators.table import provider_steps

X = zeros(2, 3)


def numbers(*values: int) -> Any:
    return np.array(values, np.int64)


def test_a_slice_walks_a_window_up_or_down() -> None:
    made = found("Slice", [zeros(5, 4), numbers(4), numbers(0), numbers(0), numbers(-2)], zeros(2, 4))
    assert made.operator == "SLICE1"
    assert fields(made) == {"InputWindowOffsets": [1, 0], "InputWindowSizes": [4, 4], "InputWindowStrides": [-2, 1]}
    made = found("Slice", [zeros(12), numbers(1), numbers(2**63 - 1), numbers(-1), numbers(5)], zeros(3))
    assert fields(made) == {"InputWindowOffsets": [1], "InputWindowSizes": [11], "InputWindowStrides": [5]}
    with pytest.raises(Unmapped, match="takes no element"):
        found("Slice", [zeros(5), numbers(3), numbers(1)], zeros(0))
    with pytest.raises(Unmapped, match="do not go together"):
        found("Slice", [zeros(5), numbers(3), numbers(1, 2)], zeros(1))


def test_the_tensors_of_a_sequence_are_joined_without_empty_ones() -> None:
    """DmlOperatorConcatFromSequence.cpp: a new axis is put into each of them first."""
    made = found("ConcatFromSequence", [X, zeros(2, 0), zeros(2, 4)], zeros(2, 7), axis=-1)
    assert [part.shape for part in made.fields["InputTensors"]] == [(2, 3), (2, 4)]
    assert (made.operator, made.fields["Axis"]) == ("JOIN", 1)
    made = found("ConcatFromSequence", [X, X], zeros(2, 2, 3), axis=1, new_axis=1)
    assert [part.shape for part in made.fields["InputTensors"]] == [(2, 1, 3), (2, 1, 3)]
    with pytest.raises(Unmapped, match="of 0 tensors"):
        found("ConcatFromSequence", [], X, axis=0)
    with pytest.raises(Unmapped, match="the same number of dimensions"):
        found("ConcatFromSequence", [X, zeros(3)], X, axis=0)


SIX = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
RATIO, TRUE, FALSE = np.array(0.5, np.float32), np.array(True), np.array(False)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.array([1.0, -2.5], np.float32), np.array([0x3F800000, -0x3FE00000], np.int32)),
        (np.array([True, False]), np.array([1, 0], np.uint8)),
        (np.array(-1, np.int16), np.array(65535, np.uint16)),
    ],
)
def test_bits_are_copied_as_the_type_that_they_become(x: Any, y: Any) -> None:
    made = found("BitCast", [x], y)
    assert made.operator == "ELEMENT_WISE_IDENTITY"
    assert made.fields["InputTensor"].dtype == y.dtype
    assert agrees(made)


@pytest.mark.parametrize(
    ("opset", "inputs", "attributes"),
    [
        (22, [SIX], {}),
        (22, [SIX, RATIO], {}),
        (13, [SIX, RATIO, FALSE], {}),
        (13, [SIX, np.array(0, np.float32), TRUE], {}),
        (7, [SIX], {"ratio": 0.5}),
        (6, [SIX], {"is_test": 1}),
    ],
)
def test_dropout_is_a_copy_where_nothing_is_dropped(opset: int, inputs: list[Any], attributes: Any) -> None:
    made = found("Dropout", inputs, SIX, opset=opset, **attributes)
    assert (made.operator, made.note) == ("ELEMENT_WISE_IDENTITY", None)
    assert agrees(made)
    mask = np.ones(SIX.shape, bool)
    assert found("Dropout", inputs, SIX, mask, opset=opset, **attributes).note == "The mask is not compared."


# ---- as the provider makes them


def test_steps_of_a_slice_need_their_axes() -> None:
    one = node("Slice", [zeros(3, 4), numbers(0, 0), numbers(3, 4), None, numbers(1, 2)], zeros(3, 2))
    with pytest.raises(RefusedNode, match=r"^the DirectML provider refuses Slice with steps and without axes$"):
        provider_steps(one)
