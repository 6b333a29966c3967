"""Tensors made from fields alone, as ONNX graphs."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import expect


def test_integers_of_a_sequence_wrap() -> None:
    fields = {"ValueDataType": "UINT8", "ValueStart": 250, "ValueDelta": 4}
    expect("FILL_VALUE_SEQUENCE", {}, {"OutputTensor": np.array([[250, 254, 2, 6]], np.uint8)}, **fields)


def test_a_constant_is_cast_to_the_type() -> None:
    outputs = {"OutputTensor": np.array([[7, 7]], np.int8)}
    expect("FILL_VALUE_CONSTANT", {}, outputs, ValueDataType="INT8", Value=7)


def test_one_diagonal_is_filled_and_the_rest_is_0() -> None:
    wanted = np.array([[0, 2, 0], [0, 0, 2]], np.float32).reshape(1, 1, 2, 3)
    expect("DIAGONAL_MATRIX", {}, {"OutputTensor": wanted}, Offset=1, Value=2)


@pytest.mark.parametrize(
    ("begin", "end", "wanted"),
    [
        (0, 2, [[9, 9, 3], [4, 9, 9]]),
        (-1, 0, [[1, 2, 3], [9, 5, 6]]),
        (1, 0, [[1, 9, 9], [9, 5, 9]]),
    ],
)
def test_a_span_of_diagonals_is_filled_or_all_but_a_span(begin: int, end: int, wanted: list[list[int]]) -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    fields = {"ValueDataType": "FLOAT32", "Value": 9, "DiagonalFillBegin": begin, "DiagonalFillEnd": end}
    expect("DIAGONAL_MATRIX1", {"InputTensor": x}, {"OutputTensor": np.array(wanted, np.float32)}, **fields)
