"""ONNX's fills and diagonals as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import fields, found, zeros


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
