"""Operators that follow indices, as ONNX graphs."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import evaluate, f32, made


@pytest.mark.parametrize("index", [2**63, 2**64 - 2])
def test_an_index_that_int64_cannot_hold_stays_outside(index: int) -> None:
    """As INT64, the second would be -2, which is a row."""
    inputs = {
        "InputTensor": f32([[1], [2], [3]]),
        "IndicesTensor": np.array([[index]], np.uint64),
        "UpdatesTensor": f32([[9]]),
    }
    counts = {"InputDimensionCount": 2, "IndicesDimensionCount": 2}
    desc = made("SCATTER_ND", inputs, {"OutputTensor": inputs["InputTensor"]}, **counts)
    with pytest.raises(IndexError, match="9223372036854775807 is out of bounds"):
        evaluate(desc, inputs)
