"""ONNX's fills and diagonals as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
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


def test_triangles_of_five_dimensions_are_those_of_their_matrices() -> None:
    x = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    made = node_of("Trilu", [x], float32(1, 1, 2, 2, 2), upper=0)
    assert computed(made)[0].reshape(-1).tolist() == [1, 0, 3, 4, 5, 0, 7, 8]
