"""Operators of onnxruntime's own: products, Gelu, sums."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import Desc, descs, found, zeros

from dmlcheck.onnx.descs.node import Refused

OWN = "com.microsoft."
QUERY = zeros(2, 5, 32)


def test_gelu_is_the_operator_of_that_name() -> None:
    assert found(f"{OWN}Gelu", [QUERY], QUERY).operator == "ACTIVATION_GELU"


def test_quantization_is_that_of_onnx() -> None:
    x, scale, zero = zeros(2, 4), zeros(), zeros(dtype="uint8")
    made = found(f"{OWN}QuantizeLinear", [x, scale, zero], zeros(2, 4, dtype="uint8"))
    assert (made.operator, made.fields["ScaleTensor"].strides) == ("ELEMENT_WISE_QUANTIZE_LINEAR", (0, 0))
    made = found(f"{OWN}DequantizeLinear", [zeros(2, 4, dtype="uint8"), scale, zero], x)
    assert made.operator == "ELEMENT_WISE_DEQUANTIZE_LINEAR"


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


def test_a_vector_is_a_row_on_the_left_and_a_column_on_the_right() -> None:
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
    with pytest.raises(Refused, match=said):
        descs(f"{OWN}FusedMatMul", inputs, zeros(5, 2, 4), **attributes)


def test_a_softmax_after_a_product_is_fused() -> None:
    name = f"{OWN}FusedMatMulActivation"
    (made,) = descs(name, [zeros(7, 2, 3), zeros(7, 3, 4)], zeros(7, 2, 4), activation="Softmax", activation_axis=-1)
    fused = {"Type": "ACTIVATION_SOFTMAX1", "Axes": [2]}
    assert (made.fields["FusedActivation"], made.level) == (fused, "6_1")
    with pytest.raises(Refused, match="activation Relu"):
        descs(name, [zeros(7, 2, 3), zeros(7, 3, 4)], zeros(7, 2, 4), activation="Relu")


# ---- Gelu and sums

BIASED = {"ATensor": "FLOAT32 1 2 5 32", "BTensor": "FLOAT32 1 2 5 32 by 0 0 0 1", "OutputTensor": "FLOAT32 1 2 5 32"}


@pytest.mark.parametrize("name", ["BiasGelu", "FastGelu"])
def test_gelu_of_a_sum_is_fused_to_it(name: str) -> None:
    fused = {**BIASED, "FusedActivation": {"Type": "ACTIVATION_GELU"}}
    assert descs(f"{OWN}{name}", [QUERY, zeros(32)], QUERY) == [Desc("ELEMENT_WISE_ADD1", fused, "5_1")]
    (alone,) = descs(f"{OWN}{name}", [QUERY], QUERY)
    assert (alone.operator, alone.level) == ("ACTIVATION_GELU", "5_1")


def test_gelu_by_a_polynomial_is_no_case() -> None:
    with pytest.raises(Refused, match="not one of the operators that are imported"):
        found(f"{OWN}FastGelu", [QUERY], QUERY)


def test_bias_and_skipped_input_are_added_one_after_the_other() -> None:
    plain = {**BIASED, "BTensor": "FLOAT32 1 2 5 32"}
    assert descs(f"{OWN}BiasAdd", [QUERY, zeros(32), QUERY], QUERY) == [
        Desc("ELEMENT_WISE_ADD", BIASED, "1_0"),
        Desc("ELEMENT_WISE_ADD", plain, "1_0"),
    ]


def test_one_half_is_multiplied_by_the_gelu_of_the_other() -> None:
    whole, half = "FLOAT32 1 2 5 32", "FLOAT32 1 2 5 16"
    assert descs(f"{OWN}BiasSplitGelu", [QUERY, zeros(32)], zeros(2, 5, 16)) == [
        Desc("ELEMENT_WISE_ADD", BIASED, "1_0"),
        Desc("SPLIT", {"InputTensor": whole, "OutputTensors": [half, half], "Axis": 3}, "1_0"),
        Desc("ACTIVATION_GELU", {"InputTensor": half, "OutputTensor": half}, "5_1"),
        Desc("ELEMENT_WISE_MULTIPLY", {"ATensor": half, "BTensor": half, "OutputTensor": half}, "1_0"),
    ]
    with pytest.raises(Refused, match="have no halves"):
        descs(f"{OWN}BiasSplitGelu", [zeros(2, 3), zeros(3)], zeros(2, 1))


def test_quick_gelu_scales_where_there_is_a_factor() -> None:
    whole = "FLOAT32 1 2 5 32"
    scaled = {"InputTensor": whole, "OutputTensor": whole, "ScaleBias": {"Scale": 1.702, "Bias": 0}}
    sigmoid = Desc("ACTIVATION_SIGMOID", {"InputTensor": whole, "OutputTensor": whole}, "1_0")
    multiplied = {"ATensor": whole, "BTensor": whole, "OutputTensor": whole}
    rest = [sigmoid, Desc("ELEMENT_WISE_MULTIPLY", multiplied, "1_0")]
    assert descs(f"{OWN}QuickGelu", [QUERY], QUERY) == [Desc("ELEMENT_WISE_IDENTITY", scaled, "1_0"), *rest]
    assert descs(f"{OWN}QuickGelu", [QUERY], QUERY, alpha=1.0) == rest
