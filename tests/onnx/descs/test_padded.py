"""Tensors of at least four dimensions, as ONNX Runtime's DirectML provider makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import found, zeros

from dmlcheck.onnx.descs.padded import padded

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
