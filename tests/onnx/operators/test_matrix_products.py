"""ONNX's products of matrices as DirectML's."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import descs, fields, found, zeros

from dmlcheck.onnx.descs.node import Unmapped


def test_gemm_has_its_factors_and_repeats_the_summand() -> None:
    made = found("Gemm", [zeros(2, 3), zeros(4, 3), zeros(4)], zeros(2, 4), transB=1, alpha=0.5)
    assert made.operator == "GEMM"
    assert made.fields["CTensor"].strides == (0, 1)
    assert fields(made) == {"TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 0.5, "Beta": 1}
    assert "CTensor" not in found("Gemm", [zeros(2, 3), zeros(3, 4)], zeros(2, 4)).fields


def test_batches_of_matrices_repeat() -> None:
    made = found("MatMul", [zeros(2, 2, 3), zeros(3, 4)], zeros(2, 2, 4))
    assert made.fields["BTensor"].strides == (0, 4, 1)
    assert fields(made)["Beta"] == 0


@pytest.mark.parametrize(
    ("a", "b", "output", "expected"),
    [
        ((3,), (3, 4), (4,), ((1, 3), (3, 4), (1, 4))),
        ((2, 3), (3,), (2,), ((2, 3), (3, 1), (2, 1))),
        ((3,), (3,), (), ((1, 3), (3, 1), (1, 1))),
        ((5, 2, 3), (3,), (5, 2), ((5, 2, 3), (5, 3, 1), (5, 2, 1))),
        ((3,), (5, 3, 4), (5, 4), ((5, 1, 3), (5, 3, 4), (5, 1, 4))),
    ],
)
def test_a_vector_is_a_row_on_the_left_and_a_column_on_the_right(a: Any, b: Any, output: Any, expected: Any) -> None:
    made = found("MatMul", [zeros(*a), zeros(*b)], zeros(*output))
    tensors = [made.fields[f"{name}Tensor"] for name in ("A", "B", "Output")]
    assert tuple(getattr(tensor, "values", tensor).shape for tensor in tensors) == expected


# ---- onnxruntime's own


OWN = "com.microsoft."


def test_gemm_transposes_the_factors_of_a_fused_product() -> None:
    made = found(f"{OWN}FusedMatMul", [zeros(2, 3), zeros(2, 4)], zeros(3, 4), transA=1, alpha=0.5)
    assert (made.operator, made.fields["Alpha"]) == ("GEMM", 0.5)
    assert (made.fields["TransA"], made.fields["TransB"]) == ("TRANSPOSE", "NONE")
    assert (made.fields["ATensor"].shape, made.fields["BTensor"].shape) == ((2, 3), (2, 4))


def test_the_batches_of_a_transposed_factor_repeat() -> None:
    made = found(f"{OWN}FusedMatMul", [zeros(7, 2, 3), zeros(4, 3)], zeros(7, 2, 4), transB=1)
    assert (made.fields["BTensor"].values.shape, made.fields["BTensor"].strides) == ((7, 4, 3), (0, 3, 1))
    assert (made.fields["TransA"], made.fields["TransB"]) == ("NONE", "TRANSPOSE")


def test_batches_that_are_transposed_are_read_through_strides() -> None:
    """{2, 3, 4} with its batches transposed is {3, 2, 4} of the strides {4, 12, 1}."""
    (made,) = descs(f"{OWN}FusedMatMul", [zeros(2, 3, 4), zeros(3, 4, 5)], zeros(3, 2, 5), transBatchA=1)
    assert made.fields["ATensor"] == "FLOAT32 3 2 4 by 4 12 1"
    (made,) = descs(f"{OWN}FusedMatMul", [zeros(2, 3, 4), zeros(3, 2, 5)], zeros(3, 4, 5), transBatchA=1, transA=1)
    assert made.fields["ATensor"] == "FLOAT32 3 2 4 by 4 12 1"
    assert made.fields["TransA"] == "TRANSPOSE"


def test_a_vector_of_a_fused_product_is_a_row_on_the_left_and_a_column_on_the_right() -> None:
    (made,) = descs(f"{OWN}FusedMatMul", [zeros(3), zeros(7, 3, 5)], zeros(7, 5))
    assert (made.fields["ATensor"], made.fields["OutputTensor"]) == ("FLOAT32 7 1 3 by 0 0 1", "FLOAT32 7 1 5")
    (made,) = descs(f"{OWN}FusedMatMul", [zeros(2, 3), zeros(3)], zeros(2), transB=1)
    assert (made.fields["BTensor"], made.fields["OutputTensor"]) == ("FLOAT32 3 1", "FLOAT32 2 1")
    assert made.fields["TransB"] == "NONE"


def test_a_fused_product_keeps_its_dimensions() -> None:
    (made,) = descs(f"{OWN}FusedMatMul", [zeros(2, 3), zeros(3, 4)], zeros(2, 4))
    assert (made.fields["ATensor"], made.level) == ("FLOAT32 2 3", "4_0")


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
