"""ONNX's products of matrices as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import descs, zeros

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import exact_steps, provider_steps

# ---- batches of more dimensions than a GEMM takes


@pytest.mark.parametrize(
    ("left", "right", "operators"),
    [
        ((2, 3, 4, 5, 6), (2, 3, 4, 6, 7), ["GEMM"]),
        ((2, 3, 4, 5, 6), (6, 7), ["GEMM"]),
        ((2, 3, 4, 5, 6), (4, 6, 7), ["GEMM"]),
        ((2, 1, 1, 3, 5, 6), (1, 4, 1, 1, 6, 7), ["ELEMENT_WISE_IDENTITY", "ELEMENT_WISE_IDENTITY", "GEMM"]),
        ((1, 2, 1, 3, 1, 6), (2, 1, 3, 6, 1), ["GEMM"]),
        ((2, 2, 3, 5, 6), (6,), ["GEMM"]),
    ],
)
def test_batches_of_many_dimensions_become_few(left: Any, right: Any, operators: list[str]) -> None:
    random = np.random.default_rng(5)
    a, b = (random.integers(-9, 9, sizes).astype(np.float32) for sizes in (left, right))
    expected = np.matmul(a, b)
    node = node_of("MatMul", [a, b], float32(*expected.shape))
    assert [step.operator for step in exact_steps(node)] == operators
    assert (computed(node)[0] == expected).all()
    assert [step.operator for step in provider_steps(node)] == ["GEMM"]


def test_an_einsum_of_many_labels_is_a_product_of_few_dimensions() -> None:
    random = np.random.default_rng(5)
    a, b = (random.integers(-9, 9, sizes).astype(np.float32) for sizes in ((2, 3, 4, 5, 6), (2, 3, 7, 5, 6)))
    expected = np.einsum("...qhd,...khd->...hqk", a, b)
    node = node_of("Einsum", [a, b], float32(*expected.shape), equation="...qhd,...khd->...hqk")
    assert (computed(node)[0] == expected).all()


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
