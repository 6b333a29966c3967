"""Operators of onnxruntime's own: products, Gelu, attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import found, zeros

from dmlcheck.formats.onnx.from_onnx.node import Refused

OWN = "com.microsoft."
QUERY = zeros(2, 5, 32)


def attention(*inputs: Any, **attributes: Any) -> Any:
    return found(f"{OWN}MultiHeadAttention", inputs, QUERY, num_heads=4, **attributes)


def test_gelu_is_the_operator_of_that_name() -> None:
    assert found(f"{OWN}Gelu", [QUERY], QUERY).operator == "ACTIVATION_GELU"


def test_quantization_is_that_of_onnx() -> None:
    x, scale, zero = zeros(2, 4), zeros(), zeros(dtype="uint8")
    made = found(f"{OWN}QuantizeLinear", [x, scale, zero], zeros(2, 4, dtype="uint8"))
    assert (made.operator, made.fields["ScaleTensor"].strides) == ("ELEMENT_WISE_QUANTIZE_LINEAR", (0, 0))
    made = found(f"{OWN}DequantizeLinear", [zeros(2, 4, dtype="uint8"), scale, zero], x)
    assert made.operator == "ELEMENT_WISE_DEQUANTIZE_LINEAR"


def test_a_fused_product_reads_transposed_factors_through_strides() -> None:
    """A {2, 3} that is read as {3, 2} has the strides {1, 3}."""
    made = found(f"{OWN}FusedMatMul", [zeros(2, 3), zeros(2, 4)], zeros(3, 4), transA=1, alpha=0.5)
    assert (made.operator, made.fields["Alpha"], made.fields["TransA"]) == ("GEMM", 0.5, "NONE")
    assert (made.fields["ATensor"].values.shape, made.fields["ATensor"].strides) == ((3, 2), (1, 3))
    assert made.fields["BTensor"].shape == (2, 4)


def test_the_batches_of_a_transposed_factor_repeat() -> None:
    made = found(f"{OWN}FusedMatMul", [zeros(7, 2, 3), zeros(4, 3)], zeros(7, 2, 4), transB=1)
    assert (made.fields["BTensor"].values.shape, made.fields["BTensor"].strides) == ((7, 3, 4), (0, 1, 3))


def test_transposed_batches_and_vectors_are_refused() -> None:
    with pytest.raises(Refused, match="batches that are transposed"):
        found(f"{OWN}FusedMatMul", [zeros(2, 3, 4), zeros(4, 3)], zeros(2, 3, 3), transBatchA=1)


def test_attention_of_three_tensors_has_the_scale_of_its_heads() -> None:
    """Heads of 32 / 4 = 8 elements are scaled by 1 / sqrt(8)."""
    made = attention(QUERY, zeros(2, 7, 32), zeros(2, 7, 32))
    assert made.operator == "MULTIHEAD_ATTENTION"
    assert {name for name, value in made.fields.items() if isinstance(value, np.ndarray)} == {
        "QueryTensor",
        "KeyTensor",
        "ValueTensor",
        "OutputTensor",
    }
    assert (made.fields["HeadCount"], made.fields["MaskType"], made.fields["MaskFilterValue"]) == (4, "NONE", -10000)
    assert made.fields["Scale"] == pytest.approx(0.35355339, abs=1e-7)
    assert attention(QUERY, zeros(2, 7, 32), zeros(2, 7, 32), scale=0.5).fields["Scale"] == 0.5


def test_five_dimensions_are_stacked_tensors() -> None:
    made = attention(zeros(2, 5, 4, 3, 8))
    assert made.fields["StackedQueryKeyValueTensor"].shape == (2, 5, 4, 3, 8)
    assert "QueryTensor" not in made.fields
    made = attention(QUERY, zeros(2, 7, 4, 2, 8))
    assert (made.fields["StackedKeyValueTensor"].shape, "KeyTensor" in made.fields) == ((2, 7, 4, 2, 8), False)


def test_keys_and_values_of_four_dimensions_are_those_of_earlier_steps() -> None:
    made = attention(QUERY, zeros(2, 4, 7, 8), zeros(2, 4, 7, 8))
    assert made.fields["PastKeyTensor"].shape == made.fields["PastValueTensor"].shape == (2, 4, 7, 8)
    assert not {"KeyTensor", "ValueTensor"} & made.fields.keys()


@pytest.mark.parametrize(
    ("sizes", "kind", "shape"),
    [
        ((2,), "KEY_SEQUENCE_LENGTH", (1, 2)),
        ((8,), "KEY_QUERY_SEQUENCE_LENGTH_START_END", (8,)),
        ((2, 7), "BOOLEAN", (2, 4, 5, 7)),
    ],
)
def test_a_mask_goes_by_its_dimensions(sizes: tuple[int, ...], kind: str, shape: tuple[int, ...]) -> None:
    made = attention(QUERY, zeros(2, 7, 32), zeros(2, 7, 32), None, zeros(*sizes, dtype="int32"))
    mask = made.fields["MaskTensor"]
    assert (made.fields["MaskType"], getattr(mask, "values", mask).shape) == (kind, shape)


def test_bias_and_earlier_steps_have_fields_of_their_own() -> None:
    keys = zeros(2, 7, 32)
    past = zeros(2, 4, 3, 8)
    made = attention(QUERY, keys, keys, zeros(96), None, zeros(2, 4, 5, 10), past, past)
    assert made.fields["BiasTensor"].shape == (96,)
    assert made.fields["RelativePositionBiasTensor"].shape == (2, 4, 5, 10)
    assert made.fields["PastKeyTensor"] is past
