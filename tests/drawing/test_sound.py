"""Indices, batches and lengths are of places that are there, or the inputs are not sound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from valid_descs import valid

from dmlcheck.drawing.sound import is_sound

F32 = "FLOAT32"


def of(*sizes: int, data_type: str = F32) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes)}


def gather(indices: list[int], data_type: str) -> bool:
    desc = valid(
        "DML_OPERATOR_GATHER",
        InputTensor=of(4, 5),
        IndicesTensor=of(1, len(indices), data_type=data_type),
        OutputTensor=of(len(indices), 5),
        Axis=0,
        IndexDimensions=1,
    )
    return is_sound(desc, {"IndicesTensor": np.array([indices], data_type.lower())})


@pytest.mark.parametrize(
    ("indices", "data_type", "expected"),
    [
        ([0, 3], "UINT32", True),
        ([0, 4], "UINT32", False),
        ([-4, 3], "INT32", True),
        ([-5, 3], "INT32", False),
    ],
)
def test_indices_are_from_the_start_or_the_end_of_the_axis(indices: list[int], data_type: str, expected: bool) -> None:
    assert gather(indices, data_type) is expected


@pytest.mark.parametrize(("index", "expected"), [(-3, True), (-4, False), (3, True), (2**31 - 1, True)])
def test_a_number_beyond_those_of_one_hot_is_none_of_them(index: int, expected: bool) -> None:
    desc = valid(
        "DML_OPERATOR_ONE_HOT",
        IndicesTensor=of(1, 1, data_type="INT32"),
        ValuesTensor=of(1, 2),
        OutputTensor=of(1, 3),
        Axis=1,
    )
    assert is_sound(desc, {"IndicesTensor": np.array([[index]], np.int32)}) is expected


@pytest.mark.parametrize(("length", "expected"), [(0, False), (1, True), (4, True), (2**32 - 1, True)])
def test_a_sequence_to_reverse_may_have_any_length(length: int, expected: bool) -> None:
    desc = valid(
        "DML_OPERATOR_REVERSE_SUBSEQUENCES",
        InputTensor=of(1, 3),
        SequenceLengthsTensor=of(1, 1, data_type="UINT32"),
        OutputTensor=of(1, 3),
        Axis=1,
    )
    assert is_sound(desc, {"SequenceLengthsTensor": np.array([[length]], np.uint32)}) is expected


def test_tuples_have_a_limit_for_each_coordinate() -> None:
    desc = valid(
        "DML_OPERATOR_GATHER_ND",
        InputTensor=of(2, 5),
        IndicesTensor=of(1, 2, data_type="UINT32"),
        OutputTensor=of(1, 1),
        InputDimensionCount=2,
        IndicesDimensionCount=2,
    )
    assert is_sound(desc, {"IndicesTensor": np.array([[1, 4]], np.uint32)})
    assert not is_sound(desc, {"IndicesTensor": np.array([[4, 1]], np.uint32)})


def test_what_names_no_places_is_sound() -> None:
    desc = valid("DML_OPERATOR_ACTIVATION_RELU", InputTensor=of(2), OutputTensor=of(2))
    assert is_sound(desc, {"InputTensor": np.array([np.nan, 1e30], np.float32)})
