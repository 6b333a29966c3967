"""REDUCE, ARGMAX and ARGMIN as ONNX graphs: several axes, equal elements."""

from __future__ import annotations

import numpy as np
from onnx_models import desc_of, evaluate, of

from dmlcheck.onnx.export.mappings import build


def test_the_index_along_several_axes_counts_the_elements_of_all() -> None:
    x = np.zeros((2, 3, 4), np.float32)
    x[1, 0, 2] = x[1, 2, 1] = 5  # in column 0 of the middle axis: 1 * 4 + 2; in column 2: 1 * 4 + 1
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3, 4]},
        "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 3, 1]},
    }
    for axes in ([0, 2], [2, 0]):
        desc = desc_of("ARGMAX", tensors | {"Axes": axes, "AxisDirection": "INCREASING"})
        result = evaluate(desc, {"InputTensor": x})["OutputTensor"]
        assert result.dtype == np.uint32
        assert result.tolist() == [[[6], [0], [5]]]


def test_the_direction_says_which_of_equal_elements_counts() -> None:
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4]},
        "OutputTensor": {"DataType": "INT64", "Sizes": [1, 1]},
        "Axes": [1],
    }
    for direction, expected in (("INCREASING", 1), ("DECREASING", 2)):
        desc = desc_of("ARGMIN", tensors | {"AxisDirection": direction})
        assert [node.type for node in build(desc).nodes] == ["ArgMin"]
        assert evaluate(desc, {"InputTensor": of("FLOAT32", 1, 0, 0, 1)})["OutputTensor"].tolist() == [[expected]]


def test_without_axes_every_element_is_its_own_group() -> None:
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
    }
    x = np.array([[1, -2], [3, -4]], np.float32)
    desc = desc_of("REDUCE", tensors | {"Function": "SUM_SQUARE", "Axes": []})
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[1, 4], [9, 16]]
    tensors["OutputTensor"]["DataType"] = "UINT32"
    desc = desc_of("ARGMAX", tensors | {"Axes": [], "AxisDirection": "INCREASING"})
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[0, 0], [0, 0]]
