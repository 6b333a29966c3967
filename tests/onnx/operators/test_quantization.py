"""Casts and quantization, by their meaning and as the provider makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import found, four_bits, node, zeros

from dmlcheck.descs.read import read_desc
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.graph import fields_of
from dmlcheck.onnx.descs.node import Counterpart
from dmlcheck.onnx.operators.table import provider_steps
from dmlcheck.validation import minimum_level


def test_scales_repeat_along_an_axis_or_in_blocks() -> None:
    x, q = zeros(2, 4), zeros(2, 4, dtype="uint8")
    scale, zero = np.array([1, 2], "f4"), np.array([3, 4], "u1")
    made = found("QuantizeLinear", [x, scale, zero], q, axis=0)
    assert made.operator == "ELEMENT_WISE_QUANTIZE_LINEAR"
    assert made.fields["ScaleTensor"].strides == (1, 0)
    assert made.fields["ZeroPointTensor"].values.tolist() == [[3] * 4, [4] * 4]
    blocks = np.array([[1, 2], [3, 4]], "f4")
    made = found("DequantizeLinear", [q.astype("i2"), blocks], x, axis=1, block_size=2)
    assert made.operator == "ELEMENT_WISE_DEQUANTIZE_LINEAR"
    assert made.fields["ScaleTensor"].values.tolist() == [[1, 1, 2, 2], [3, 3, 4, 4]]
    assert "ZeroPointTensor" not in made.fields


@pytest.mark.parametrize(
    ("scale", "attributes", "expected"),
    [
        (2.0, {}, [[2]]),
        ([2], {"axis": 0}, [[2]]),
        ([1, 2], {"axis": -2}, [[1], [2]]),
        ([[1, 2], [3, 4]], {"axis": -1, "block_size": 2}, [[1, 2], [3, 4]]),
        ([[1, 2], [3, 4]], {"axis": 1, "block_size": 3}, [[1, 1, 1, 2], [3, 3, 3, 4]]),
    ],
)
def test_blocks_of_bytes_and_4_bits_are_quantized_by_the_newer_operators(
    scale: Any, attributes: dict[str, int], expected: list[list[float]]
) -> None:
    """3 does not divide 4, and DirectML does not say where such blocks end: each element has a scale of its own."""
    x, q = zeros(2, 4), four_bits(zeros(2, 4), "UINT4")
    numbers = np.array(scale, "f4")
    made = found("QuantizeLinear", [x, numbers, numbers.astype("u1")], q, **attributes)
    assert (made.operator, made.fields["QuantizationType"]) == ("QUANTIZE", "SCALE_ZERO_POINT")
    assert [tensor.values.tolist() for tensor in made.fields["QuantizationTensors"]] == [expected, expected]
    kinds = [q, zeros(2, 4, dtype="uint8")] if "block_size" in attributes else [q]
    for quantized in kinds:  # without a zero point DirectML's own is the middle of the type
        made = found("DequantizeLinear", [quantized, numbers], x, **attributes)
        assert (made.operator, made.fields["QuantizationType"]) == ("DEQUANTIZE", "SCALE_ZERO_POINT")
        scale, zero = made.fields["QuantizationTensors"]
        assert (scale.values.tolist(), zero.values.tolist()) == (expected, np.zeros_like(expected).tolist())
        assert zero.data_type == ("UINT4" if quantized is q else "UINT8")


def test_a_cast_of_unsigned_4_bits_has_the_zero_point_0() -> None:
    made = found("Cast", [four_bits(np.array([[8, 7]]), "UINT4")], zeros(1, 2))
    assert [tensor.values.tolist() for tensor in made.fields["QuantizationTensors"]] == [[[1]], [[0]]]


# ---- of version 21, as the provider makes them


WIDE = zeros(2, 3, 4)
Q = zeros(2, 3, 4, dtype="uint8")


def made(type: str, *inputs: Any, output: Any, opset: int = 21, **attributes: Any) -> list[Counterpart]:
    return provider_steps(node(type, list(inputs), output, opset=opset, **attributes))


def layout(tensor: TensorRef) -> tuple[Any, ...]:
    return tensor.shape, tensor.strides


def test_a_scale_and_a_zero_point_are_spread_over_the_input() -> None:
    (one,) = made("QuantizeLinear", WIDE, zeros(3), zeros(3, dtype="uint8"), output=Q)
    assert (one.operator, one.fields["QuantizationType"]) == ("QUANTIZE", "SCALE_ZERO_POINT")
    scale, zero = one.fields["QuantizationTensors"]
    assert layout(scale) == layout(zero) == ((1, 2, 3, 4), (0, 0, 1, 0))
    assert (scale.data_type, zero.data_type) == ("FLOAT32", "UINT8")


def test_descs_are_legal_from_the_level_that_brought_the_operators() -> None:
    wide = made("QuantizeLinear", zeros(), zeros(), output=zeros(dtype="uint8"))
    assert [minimum_level(read_desc(each.operator, fields_of(each.fields))) for each in wide] == ["2_1", "6_3"]
