"""QuantizeLinear and DequantizeLinear of version 21 in models, as the provider makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx_nodes import four_bits, node, zeros

from dmlcheck.descs.read import read_desc
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.backend_tests.foreign_models import fields_of
from dmlcheck.onnx.descs.node import Counterpart
from dmlcheck.onnx.descs.padded import padded
from dmlcheck.onnx.operators.provider.mapping import counterparts
from dmlcheck.validation import minimum_level

X = zeros(2, 3, 4)
Q = zeros(2, 3, 4, dtype="uint8")
SIGNED = zeros(2, 3, 4, dtype="int8")


def made(type: str, *inputs: Any, output: Any, opset: int = 21, **attributes: Any) -> list[Counterpart]:
    return list(counterparts(node(type, list(inputs), output, opset=opset, **attributes)))


def layout(tensor: TensorRef) -> tuple[Any, ...]:
    return tensor.shape, tensor.strides


def test_a_scale_and_a_zero_point_are_spread_over_the_input() -> None:
    (one,) = made("QuantizeLinear", X, zeros(3), zeros(3, dtype="uint8"), output=Q)
    assert (one.operator, one.fields["QuantizationType"]) == ("QUANTIZE", "SCALE_ZERO_POINT")
    scale, zero = one.fields["QuantizationTensors"]
    assert layout(scale) == layout(zero) == ((2, 3, 4), (0, 1, 0))
    assert (scale.data_type, zero.data_type) == ("FLOAT32", "UINT8")


def test_a_scalar_has_strides_of_zero() -> None:
    (one,) = made("DequantizeLinear", SIGNED, zeros(), output=X)
    assert (one.operator, one.fields["QuantizationType"]) == ("DEQUANTIZE", "SCALE")
    assert [layout(each) for each in one.fields["QuantizationTensors"]] == [((2, 3, 4), (0, 0, 0))]


def test_a_scale_of_the_sizes_of_a_vector_needs_no_axis() -> None:
    (one,) = made("DequantizeLinear", zeros(4, dtype="int8"), zeros(4), output=zeros(4))
    assert [layout(each) for each in one.fields["QuantizationTensors"]] == [((4,), (1,))]


def test_an_unsigned_type_without_a_zero_point_gets_one_of_zero() -> None:
    fill, one = made("QuantizeLinear", X, zeros(4), output=Q, axis=-1)
    assert (fill.operator, fill.fields["Value"], fill.fields["OutputTensor"].shape) == (
        "FILL_VALUE_CONSTANT",
        0,
        (1, 1, 1),
    )
    scale, zero = one.fields["QuantizationTensors"]
    assert (layout(scale), layout(zero)) == (((2, 3, 4), (0, 0, 1)), ((2, 3, 4), (0, 0, 0)))
    assert one.fields["QuantizationType"] == "SCALE_ZERO_POINT"


def test_the_zero_point_of_four_bits_is_made_as_a_byte() -> None:
    packed = four_bits(np.zeros((2, 4), np.uint8), "UINT4")
    fill, one = made("DequantizeLinear", packed, zeros(), output=zeros(2, 4))
    assert fill.fields["OutputTensor"].data_type == "UINT8"
    assert one.fields["QuantizationTensors"][1].data_type == "UINT4"


def test_scales_of_blocks_have_the_strides_of_their_own_sizes() -> None:
    """The provider does not read block_size: 2x2 scales of 2x4 elements have the strides 2 and 1."""
    (one,) = made("QuantizeLinear", zeros(2, 4), zeros(2, 2), output=zeros(2, 4, dtype="int8"), block_size=2)
    assert [layout(each) for each in one.fields["QuantizationTensors"]] == [((2, 4), (2, 1))]


def test_descs_are_legal_from_the_level_that_brought_the_operators() -> None:
    wide = list(map(padded, made("QuantizeLinear", zeros(), zeros(), output=zeros(dtype="uint8"))))
    assert [minimum_level(read_desc(each.operator, fields_of(each.fields))) for each in wide] == ["2_1", "6_3"]


def test_earlier_versions_are_the_element_wise_operators() -> None:
    (one,) = made("QuantizeLinear", X, zeros(3), output=Q, opset=20)
    assert one.operator == "ELEMENT_WISE_QUANTIZE_LINEAR"
