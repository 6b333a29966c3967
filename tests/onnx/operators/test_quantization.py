"""Casts and quantization, by their meaning and as the provider makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import found, four_bits, node, zeros

from dmlcheck.descs.read import read_desc
from dmlcheck.onnx.descs.graph import fields_of
from dmlcheck.onnx.descs.node import Counterpart
from dmlcheck.onnx.operators.table import provider_steps
from dmlcheck.validation import minimum_level


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


def made(type: str, *inputs: Any, output: Any, opset: int = 21, **attributes: Any) -> list[Counterpart]:
    return provider_steps(node(type, list(inputs), output, opset=opset, **attributes))


def test_descs_are_legal_from_the_level_that_brought_the_operators() -> None:
    wide = made("QuantizeLinear", zeros(), zeros(), output=zeros(dtype="uint8"))
    assert [minimum_level(read_desc(each.operator, fields_of(each.fields))) for each in wide] == ["2_1", "6_3"]
