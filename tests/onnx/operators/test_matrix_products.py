"""ONNX's products of matrices as DirectML's."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import descs, zeros

from dmlcheck.onnx.descs.node import Unmapped

# ---- onnxruntime's own


OWN = "com.microsoft."


@pytest.mark.parametrize(
    ("inputs", "attributes", "said"),
    [
        ([zeros(2, 3), zeros(2, 4)], {"transBatchA": 1}, "factor A has no batches"),
        ([zeros(), zeros(2, 4)], {}, "of a scalar"),
        ([zeros(5, 2, 3), zeros(7, 3, 4)], {}, r"do not repeat to \[5, 3, 4\]"),
        ([zeros(2, 3), zeros(3, 4)], {"transA": "yes"}, "is 'yes', not a whole number"),
    ],
)
def test_factors_that_do_not_go_together_are_refused(inputs: list[Any], attributes: dict[str, Any], said: str) -> None:
    with pytest.raises(Unmapped, match=said):
        descs(f"{OWN}FusedMatMul", inputs, zeros(5, 2, 4), **attributes)


def test_a_softmax_after_a_product_is_fused() -> None:
    name = f"{OWN}FusedMatMulActivation"
    (made,) = descs(name, [zeros(7, 2, 3), zeros(7, 3, 4)], zeros(7, 2, 4), activation="Softmax", activation_axis=-1)
    fused = {"Type": "ACTIVATION_SOFTMAX1", "Axes": [2]}
    assert (made.fields["FusedActivation"], made.level) == (fused, "6_1")
    with pytest.raises(Unmapped, match="activation Relu"):
        descs(name, [zeros(7, 2, 3), zeros(7, 3, 4)], zeros(7, 2, 4), activation="Relu")
