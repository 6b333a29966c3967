"""GEMM as ONNX graphs."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import desc_of, evaluate, expect, whole


@pytest.mark.parametrize("turns", ["NONE NONE", "TRANSPOSE NONE", "NONE TRANSPOSE"])
@pytest.mark.parametrize("batches", [(1, 1), (2, 2)])
@pytest.mark.parametrize(("alpha", "beta"), [(2, 0), (3, -2)])
def test_gemm_multiplies_every_batch(turns: str, batches: tuple[int, int], alpha: float, beta: float) -> None:
    of_a, of_b = turns.split()
    a, b, c = whole(*batches, 2, 3), whole(*batches, 3, 4, step=3), whole(*batches, 2, 4)
    wanted = alpha * (a @ b) + beta * c
    inputs = {
        "ATensor": a if of_a == "NONE" else a.swapaxes(-1, -2).copy(),
        "BTensor": b if of_b == "NONE" else b.swapaxes(-1, -2).copy(),
        "CTensor": c,
    }
    if not beta:
        del inputs["CTensor"]
    expect("GEMM", inputs, {"OutputTensor": wanted}, TransA=of_a, TransB=of_b, Alpha=alpha, Beta=beta)


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
