"""GEMM as ONNX graphs."""

from __future__ import annotations

import pytest
from onnx_models import expect, whole


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
