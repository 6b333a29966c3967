"""ONNX's operators that only move elements, as DirectML's; slices are tested with the importer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import fields, found, zeros

from dmlcheck.onnx.descs.node import Refused

X = zeros(2, 3)


def numbers(*values: int) -> Any:
    return np.array(values, np.int64)


def test_repeated_and_permuted_values_are_read_through_strides() -> None:
    made = found("Expand", [zeros(1, 3), numbers(2, 3)], X)
    assert made.operator == "ELEMENT_WISE_IDENTITY"
    assert made.fields["InputTensor"].strides == (0, 1)
    assert found("Transpose", [X], zeros(3, 2)).fields["InputTensor"].strides == (1, 3)
    assert found("Transpose", [X], X, perm=[0, 1]).fields["InputTensor"].strides is None


@pytest.mark.parametrize("type", ["Flatten", "Reshape", "Squeeze", "Unsqueeze"])
def test_another_shape_is_that_of_the_output(type: str) -> None:
    x = np.arange(6).reshape(2, 3)
    made = found(type, [x, numbers(6)], zeros(1, 6))
    assert (made.operator, made.fields["InputTensor"].values.tolist()) == (
        "ELEMENT_WISE_IDENTITY",
        [[0, 1, 2, 3, 4, 5]],
    )


def test_columns_are_folded_into_an_image() -> None:
    made = found("Col2Im", [zeros(1, 6, 4), numbers(3, 4), numbers(2, 3)], zeros(1, 1, 3, 4), pads=[1, 0, 0, 2])
    assert made.operator == "FOLD"
    assert fields(made) == {
        "WindowSizes": [2, 3], "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [1, 0], "EndPadding": [0, 2],
    }  # fmt: skip
    made = found("Col2Im", [zeros(1, 6, 4), numbers(3, 4), numbers(2, 3)], zeros(1, 1, 3, 4), strides=[2, 1])
    assert (made.fields["Strides"], made.fields["StartPadding"]) == ([2, 1], [0, 0])


def test_parts_are_joined_and_split_along_an_axis() -> None:
    made = found("Concat", [X, X], zeros(2, 6), axis=-1)
    assert (made.operator, made.fields["Axis"]) == ("JOIN", 1)
    assert [part.shape for part in made.fields["InputTensors"]] == [(2, 3), (2, 3)]
    made = found("Split", [X], zeros(2, 1), zeros(2, 2), axis=1)
    assert (made.operator, made.fields["Axis"]) == ("SPLIT", 1)
    assert [part.shape for part in made.fields["OutputTensors"]] == [(2, 1), (2, 2)]


def test_a_slice_walks_a_window_up_or_down() -> None:
    made = found("Slice", [zeros(5, 4), numbers(4), numbers(0), numbers(0), numbers(-2)], zeros(2, 4))
    assert made.operator == "SLICE1"
    assert fields(made) == {"InputWindowOffsets": [1, 0], "InputWindowSizes": [4, 4], "InputWindowStrides": [-2, 1]}
    made = found("Slice", [zeros(12), numbers(1), numbers(2**63 - 1), numbers(-1), numbers(5)], zeros(3))
    assert fields(made) == {"InputWindowOffsets": [1], "InputWindowSizes": [11], "InputWindowStrides": [5]}
    with pytest.raises(Refused, match="takes no element"):
        found("Slice", [zeros(5), numbers(3), numbers(1)], zeros(0))
    with pytest.raises(Refused, match="do not go together"):
        found("Slice", [zeros(5), numbers(3), numbers(1, 2)], zeros(1))


def test_padding_is_by_axis_and_has_a_mode_and_a_value() -> None:
    made = found("Pad", [X, numbers(1, 0, 0, 2), np.array(7, "f4")], zeros(3, 5), mode="constant")
    assert made.operator == "PADDING1"
    assert fields(made) == {
        "PaddingMode": "CONSTANT",
        "PaddingValueDataType": "FLOAT32",
        "PaddingValue": 7,
        "StartPadding": [1, 0],
        "EndPadding": [0, 2],
    }
    made = found("Pad", [X, numbers(1, 2), None, numbers(-1)], zeros(2, 6), mode="reflect")
    assert (made.fields["StartPadding"], made.fields["EndPadding"]) == ([0, 1], [0, 2])
    assert made.fields["PaddingMode"] == "REFLECTION"


def test_blocks_have_an_order() -> None:
    x, y = zeros(1, 4, 2, 2), zeros(1, 1, 4, 4)
    made = found("DepthToSpace", [x], y, blocksize=2, mode="CRD")
    assert (made.operator, fields(made)) == ("DEPTH_TO_SPACE1", {"BlockSize": 2, "Order": "COLUMN_ROW_DEPTH"})
    made = found("SpaceToDepth", [y], x, blocksize=2)
    assert (made.operator, fields(made)) == ("SPACE_TO_DEPTH", {"BlockSize": 2})
    made = found("SpaceToDepth", [y], x, blocksize=2, mode="CRD")
    assert (made.operator, fields(made)) == ("SPACE_TO_DEPTH1", {"BlockSize": 2, "Order": "COLUMN_ROW_DEPTH"})


def test_a_tile_repeats_each_dimension() -> None:
    made = found("Tile", [X, numbers(1, 2)], zeros(2, 6))
    assert (made.operator, fields(made)) == ("TILE", {"Repeats": [1, 2]})


def test_the_tensors_of_a_sequence_are_joined_without_empty_ones() -> None:
    """DmlOperatorConcatFromSequence.cpp: a new axis is put into each of them first."""
    made = found("ConcatFromSequence", [X, zeros(2, 0), zeros(2, 4)], zeros(2, 7), axis=-1)
    assert [part.shape for part in made.fields["InputTensors"]] == [(2, 3), (2, 4)]
    assert (made.operator, made.fields["Axis"]) == ("JOIN", 1)
    made = found("ConcatFromSequence", [X, X], zeros(2, 2, 3), axis=1, new_axis=1)
    assert [part.shape for part in made.fields["InputTensors"]] == [(2, 1, 3), (2, 1, 3)]
    with pytest.raises(Refused, match="of 0 tensors"):
        found("ConcatFromSequence", [], X, axis=0)
    with pytest.raises(Refused, match="the same number of dimensions"):
        found("ConcatFromSequence", [X, zeros(3)], X, axis=0)
