"""Quantized nodes that become several descs, as the sources of ONNX Runtime's DirectML provider have them."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import Desc, descs, zeros

from dmlcheck.onnx.descs.node import Refused

OWN = "com.microsoft."
SCALE, ZERO = zeros(), zeros(dtype="uint8")


def scaled(operator: str, sizes: str) -> Desc:
    """Return the desc between bytes and floating point, whose scale and zero point repeat everywhere."""
    tensors = [f"UINT8 {sizes}", f"FLOAT32 {sizes}"]
    first, last = tensors if operator == "DEQUANTIZE" else tensors[::-1]
    numbers = {"ScaleTensor": f"FLOAT32 {sizes} by 0 0 0 0", "ZeroPointTensor": f"UINT8 {sizes} by 0 0 0 0"}
    return Desc(f"ELEMENT_WISE_{operator}_LINEAR", {"InputTensor": first, **numbers, "OutputTensor": last}, "1_0")


def test_a_quantized_sigmoid_is_computed_in_floating_point() -> None:
    x = zeros(2, 3, dtype="uint8")
    made = descs(f"{OWN}QLinearSigmoid", [x, SCALE, ZERO, SCALE, ZERO], x)
    plain = {"InputTensor": "FLOAT32 1 1 2 3", "OutputTensor": "FLOAT32 1 1 2 3"}
    assert made == [
        scaled("DEQUANTIZE", "1 1 2 3"),
        Desc("ACTIVATION_SIGMOID", plain, "1_0"),
        scaled("QUANTIZE", "1 1 2 3"),
    ]


def test_quantized_tensors_are_joined_in_floating_point() -> None:
    a, b = zeros(2, 3, dtype="uint8"), zeros(2, 4, dtype="uint8")
    inputs = [SCALE, ZERO, a, SCALE, ZERO, b, SCALE, ZERO]
    made = descs(f"{OWN}QLinearConcat", inputs, zeros(2, 7, dtype="uint8"), axis=1)
    parts = ["FLOAT32 1 1 2 3", "FLOAT32 1 1 2 4"]
    assert made == [
        scaled("DEQUANTIZE", "1 1 2 3"),
        scaled("DEQUANTIZE", "1 1 2 4"),
        Desc("JOIN", {"InputTensors": parts, "OutputTensor": "FLOAT32 1 1 2 7", "Axis": 3}, "1_0"),
        scaled("QUANTIZE", "1 1 2 7"),
    ]
    with pytest.raises(Refused, match="of 7 inputs"):
        descs(f"{OWN}QLinearConcat", inputs[:-1], zeros(2, 7, dtype="uint8"), axis=1)


def test_the_first_factor_is_quantized_by_its_range() -> None:
    """The zero point of the first factor has the type of the second one."""
    x, weights = zeros(5, 32), zeros(32, 8, dtype="int8")
    inputs = [x, weights, zeros(8), zeros(8, dtype="int8"), zeros(8)]
    made = descs(f"{OWN}DynamicQuantizeMatMul", inputs, zeros(5, 8))
    scale, zero = "FLOAT32 1 1 1 1", "INT8 1 1 1 1"
    ranges = {
        "InputTensor": "FLOAT32 1 1 5 32",
        "OutputTensor": "INT8 1 1 5 32",
        "OutputScaleTensor": scale,
        "OutputZeroPointTensor": zero,
    }
    factors = {
        "ATensor": "INT8 1 1 5 32",
        "AScaleTensor": scale,
        "AZeroPointTensor": zero,
        "BTensor": "INT8 1 1 32 8",
        "BScaleTensor": "FLOAT32 1 1 1 8",
        "BZeroPointTensor": "INT8 1 1 1 8",
        "BiasTensor": "FLOAT32 1 1 5 8 by 0 0 0 1",
        "OutputTensor": "FLOAT32 1 1 5 8",
    }
    assert made == [
        Desc("DYNAMIC_QUANTIZE_LINEAR", ranges, "4_0"),
        Desc("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", factors, "6_2"),
    ]


def test_weights_in_blocks_are_read_by_each_batch() -> None:
    """16 rows of 48 columns in three blocks; a row of three zero points takes two bytes."""
    x, weights = zeros(2, 5, 48), zeros(16, 3, 8, dtype="uint8")
    inputs = [x, weights, zeros(48), zeros(32, dtype="uint8")]
    made = descs(f"{OWN}MatMulNBits", inputs, zeros(2, 5, 16), N=16, K=48, bits=4, block_size=16)
    blocks = {
        "InputTensor": "UINT4 2 16 48 by 0 48 1",
        "QuantizationType": "SCALE_ZERO_POINT",
        "QuantizationTensors": ["FLOAT32 2 16 3 by 0 3 1", "UINT4 2 16 3 by 0 4 1"],
        "OutputTensor": "FLOAT32 2 16 48",
    }
    product = {
        "ATensor": "FLOAT32 2 5 48",
        "BTensor": "FLOAT32 2 16 48",
        "OutputTensor": "FLOAT32 2 5 16",
        "TransA": "NONE",
        "TransB": "TRANSPOSE",
        "Alpha": 1,
        "Beta": 0,
    }
    assert made == [Desc("DEQUANTIZE", blocks, "6_3"), Desc("GEMM", product, "4_0")]


def test_weights_of_eight_bits_without_zero_points_have_scales_alone() -> None:
    x, weights = zeros(5, 32, dtype="float16"), zeros(16, 2, 16, dtype="uint8")
    first, _ = descs(
        f"{OWN}MatMulNBits", [x, weights, zeros(32, dtype="float16")], zeros(5, 16, dtype="float16"), N=16, K=32, bits=8
    )
    assert (first.fields["InputTensor"], first.fields["QuantizationType"]) == ("UINT8 16 32", "SCALE")
    assert first.fields["QuantizationTensors"] == ["FLOAT16 16 2"]


@pytest.mark.parametrize(
    ("count", "attributes", "said"),
    [
        (3, {"K": 48}, "has no attribute N"),
        (3, {"N": 16, "K": 32}, "is not of 32 columns"),
        (3, {"N": 16, "K": 48, "bits": 2}, "of 2 bits"),
        (6, {"N": 16, "K": 48}, "group indices or a bias"),
        (2, {"N": 16, "K": 48}, "has no input 2"),
    ],
)
def test_blocks_that_do_not_go_together_are_refused(count: int, attributes: dict[str, Any], said: str) -> None:
    inputs = [zeros(5, 48), *[zeros(48, dtype="uint8")] * (count - 1)]
    with pytest.raises(Refused, match=said):
        descs(f"{OWN}MatMulNBits", inputs, zeros(5, 16), **attributes)
