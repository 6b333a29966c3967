"""ONNX's fills and diagonals as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import fields, found, zeros


def test_a_constant_is_what_the_output_has() -> None:
    made = found("ConstantOfShape", [np.array([2, 3])], np.full((2, 3), 1.5, np.float32))
    assert made.operator == "FILL_VALUE_CONSTANT"
    assert fields(made) == {"ValueDataType": "FLOAT32", "Value": 1.5}


def test_a_range_has_a_start_and_a_step() -> None:
    numbers = [np.array(number, np.int32) for number in (10, 4, -3)]
    made = found("Range", numbers, np.array([10, 7], np.int32))
    assert made.operator == "FILL_VALUE_SEQUENCE"
    assert fields(made) == {"ValueDataType": "INT32", "ValueStart": 10, "ValueDelta": -3}


@pytest.mark.parametrize(
    ("attributes", "k", "span"),
    [
        ({}, None, (-(2**31), 0)),
        ({"upper": 1}, 1, (-(2**31), 1)),
        ({"upper": 1}, -9, (-(2**31), -9)),
        ({"upper": 0}, None, (1, 2**31 - 1)),
        ({"upper": 0}, -1, (0, 2**31 - 1)),
    ],
)
def test_a_triangle_is_what_is_not_filled_with_0(attributes: Any, k: int | None, span: tuple[int, int]) -> None:
    """A span ends before its end; the provider has the least or the largest INT32 where it has no other."""
    x = zeros(3, 4, dtype="int64")
    inputs = [x] if k is None else [x, np.array(k)]
    made = found("Trilu", inputs, x, **attributes)
    assert made.operator == "DIAGONAL_MATRIX1"
    expected = {"ValueDataType": "INT64", "Value": 0, "DiagonalFillBegin": span[0], "DiagonalFillEnd": span[1]}
    assert fields(made) == expected


def test_ones_on_a_diagonal_need_no_input() -> None:
    made = found("EyeLike", [zeros(3, 4)], zeros(3, 4, dtype="float16"), k=-1)
    assert "InputTensor" not in made.fields
    assert (made.operator, fields(made)) == ("DIAGONAL_MATRIX", {"Offset": -1, "Value": 1})
