"""Operators that only move elements, as ONNX graphs."""

from __future__ import annotations

import pytest
from onnx_models import expect, f32


@pytest.mark.parametrize(
    ("mode", "low", "high", "expected"),
    [
        ("EDGE", 2, 1, [1, 1, 1, 2, 3, 3]),
        ("REFLECTION", 2, 1, [3, 2, 1, 2, 3, 2]),
        ("REFLECTION", 3, 4, [2, 3, 2, 1, 2, 3, 2, 1, 2, 3]),
        ("SYMMETRIC", 2, 4, [2, 1, 1, 2, 3, 3, 2, 1, 1]),
        ("WRAP", 1, 2, [3, 1, 2, 3, 1, 2]),
    ],
)
def test_padding_repeats_the_axis_in_every_mode(mode: str, low: int, high: int, expected: list[int]) -> None:
    fields = {"PaddingMode": mode, "PaddingValue": 0, "StartPadding": [0, low], "EndPadding": [0, high]}
    expect("PADDING", {"InputTensor": f32([[1, 2, 3]])}, {"OutputTensor": f32([expected])}, **fields)
