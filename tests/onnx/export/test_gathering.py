"""Operators that follow indices, as ONNX graphs."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import evaluate, expect, f32, made

from dmlcheck.onnx.export.builder import build
from dmlcheck.onnx.export.records import Inexpressible


def test_one_hot_of_one_index_is_a_vector() -> None:
    inputs = {"IndicesTensor": np.array([2], np.uint32), "ValuesTensor": f32([5, 7])}
    expect("ONE_HOT", inputs, {"OutputTensor": f32([5, 5, 7, 5])}, Axis=0)


def test_ignored_dimensions_of_indices_have_one_place() -> None:
    x, indices = f32([[1, 2], [3, 4], [5, 6]]), np.array([[2, 0]], np.uint32)
    expect(
        "GATHER", {"InputTensor": x, "IndicesTensor": indices}, {"OutputTensor": x[[2, 0]]}, Axis=0, IndexDimensions=1
    )
    inputs = {"InputTensor": x, "IndicesTensor": indices.repeat(3, 0)}
    desc = made("GATHER", inputs, {"OutputTensor": x}, Axis=1, IndexDimensions=1)  # 3, as before the axis
    with pytest.raises(Inexpressible, match="dimensions of IndicesTensor that are ignored are not all of size 1"):
        build(desc)


def test_max_unpooling_puts_elements_where_the_indices_say() -> None:
    x = f32([[[[5, 6], [7, 8]]]])
    wanted = np.zeros((1, 1, 4, 4), np.float32)
    wanted.flat[[0, 15, 6, 9]] = [5, 6, 7, 8]
    indices = np.array([[[[0, 15], [6, 9]]]], np.uint32)
    expect("MAX_UNPOOLING", {"InputTensor": x, "IndicesTensor": indices}, {"OutputTensor": wanted}, by=("onnxruntime",))


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
