"""Element-wise operators of ONNX as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import fields, found, four_bits, zeros

from dmlcheck.onnx.descs.node import Refused

X = zeros(2, 3)


@pytest.mark.parametrize(
    ("type", "operator"),
    [("Abs", "ELEMENT_WISE_ABS"), ("Neg", "ELEMENT_WISE_NEGATE"), ("Relu", "ACTIVATION_RELU")],
)
def test_most_have_one_input_and_one_output(type: str, operator: str) -> None:
    made = found(type, [X], X)
    assert (made.operator, list(made.fields)) == (operator, ["InputTensor", "OutputTensor"])


@pytest.mark.parametrize(
    ("type", "attributes", "operator", "expected"),
    [
        ("LeakyRelu", {"alpha": 0.01}, "ACTIVATION_LEAKY_RELU", {"Alpha": 0.01}),
        ("Shrink", {"bias": 1.0, "lambd": 0.5}, "ACTIVATION_SHRINK", {"Bias": 1, "Threshold": 0.5}),
        ("HardSwish", {}, "ACTIVATION_HARD_SWISH", {"Alpha": float(str(np.float32(1 / 6))), "Beta": 0.5}),
        ("Softplus", {}, "ACTIVATION_SOFTPLUS", {"Steepness": 1}),
        ("Round", {}, "ELEMENT_WISE_ROUND", {"RoundingMode": "HALVES_TO_NEAREST_EVEN"}),
        ("IsInf", {"detect_negative": 0}, "ELEMENT_WISE_IS_INFINITY", {"InfinityMode": "POSITIVE"}),
        ("IsInf", {}, "ELEMENT_WISE_IS_INFINITY", {"InfinityMode": "EITHER"}),
        ("Gelu", {}, "ACTIVATION_GELU", {}),
    ],
)
def test_attributes_become_fields(type: str, attributes: Any, operator: str, expected: Any) -> None:
    made = found(type, [X], X, **attributes)
    assert (made.operator, fields(made)) == (operator, expected)


@pytest.mark.parametrize(
    ("type", "attributes", "operator"),
    [
        ("Add", {}, "ADD"),
        ("Greater", {}, "LOGICAL_GREATER_THAN"),
        ("Mod", {}, "MODULUS_FLOOR"),
        ("Mod", {"fmod": 1}, "MODULUS_TRUNCATE"),
        ("BitShift", {"direction": "LEFT"}, "BIT_SHIFT_LEFT"),
    ],
)
def test_of_two_operands_the_smaller_is_repeated(type: str, attributes: Any, operator: str) -> None:
    made = found(type, [X, zeros(3)], X, **attributes)
    assert made.operator == f"ELEMENT_WISE_{operator}"
    assert made.fields["ATensor"].strides is None
    assert made.fields["BTensor"].strides == (0, 1)


def test_a_shift_goes_to_the_left_or_to_the_right() -> None:
    y = zeros(2, dtype="uint32")
    with pytest.raises(Refused, match="the direction of BitShift is 'UP'; it must be 'LEFT' or 'RIGHT'"):
        found("BitShift", [y, y], y, direction="UP")
    with pytest.raises(Refused, match="is None"):
        found("BitShift", [y, y], y)


def test_powers_choices_and_slopes_have_names_of_their_own() -> None:
    assert list(found("Pow", [X, X], X).fields) == ["InputTensor", "ExponentTensor", "OutputTensor"]
    assert list(found("Where", [X, X, X], X).fields) == ["ConditionTensor", "ATensor", "BTensor", "OutputTensor"]
    assert list(found("PRelu", [X, X], X).fields) == ["InputTensor", "SlopeTensor", "OutputTensor"]


@pytest.mark.parametrize(
    ("limits", "operator", "expected"),
    [
        ([np.array(-1, "f4"), np.array(2, "f4")], "CLIP1", (-1, 2)),
        ([np.array(3, "f4"), np.array(2, "f4")], "CLIP", (3, 2)),
        ([None, np.array(2, "f4")], "CLIP1", (float(str(np.finfo("f4").min)), 2)),
    ],
)
def test_limits_of_a_clip_are_inputs_or_those_of_the_type(limits: Any, operator: str, expected: Any) -> None:
    made = found("Clip", [X, *limits], X)
    assert made.operator == f"ELEMENT_WISE_{operator}"
    assert (made.fields["Min"], made.fields["Max"]) == expected


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
    for quantized in kinds:
        made = found("DequantizeLinear", [quantized, numbers], x, **attributes)
        assert (made.operator, made.fields["QuantizationType"]) == ("DEQUANTIZE", "SCALE")
        assert made.fields["QuantizationTensors"][0].values.tolist() == expected


def test_a_cast_of_4_bits_to_floats_is_a_dequantization_by_1() -> None:
    q = four_bits(np.array([[-8, 7]]), "INT4")
    made = found("Cast", [q], zeros(1, 2, dtype="float16"))
    (scale,) = made.fields["QuantizationTensors"]
    assert (made.operator, made.fields["QuantizationType"]) == ("DEQUANTIZE", "SCALE")
    assert (scale.values.tolist(), scale.dtype) == ([[1]], np.float16)
    assert found("Cast", [q], zeros(1, 2, dtype="int8")).operator == "CAST"


@pytest.mark.parametrize(
    ("type", "inputs", "output", "attributes", "reason"),
    [
        ("Sum", [X, X, X], X, {}, "Sum of 3 inputs"),
        ("IsInf", [X], X, {"detect_negative": 0, "detect_positive": 0}, "finds neither infinity"),
        ("Cast", [X], X.astype(bool), {}, "Cast to BOOL"),
        ("Gelu", [X], X, {"approximate": "tanh"}, "Gelu by the tanh"),
    ],
)
def test_what_directml_does_otherwise_is_refused(
    type: str, inputs: Any, output: Any, attributes: Any, reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        found(type, inputs, output, **attributes)
