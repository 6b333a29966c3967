"""REDUCE, ARGMAX and ARGMIN as ONNX graphs: several axes, equal elements."""

from __future__ import annotations

import numpy as np
from onnx_models import desc_of, evaluate


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
