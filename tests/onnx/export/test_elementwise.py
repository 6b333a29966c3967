"""Element-wise operators as ONNX graphs: values by hand or with Python's math, and what has no exact words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from onnx_models import INF, NAN, A, B, E, evaluate, expect, expect_of_one_input, f32, of, simple, whole

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.values.number_formats import NUMPY_TYPES

# Operator, fields, values of InputTensor in FLOAT32, values of OutputTensor.
UNARY = [
    ("ELEMENT_WISE_ABS", {}, [-1.5, 2, -0.0], [1.5, 2, 0]),
    ("ELEMENT_WISE_ACOS", {}, [1, 0, -1], [0, math.pi / 2, math.pi]),
    ("ELEMENT_WISE_ACOSH", {}, [1, math.cosh(2)], [0, 2]),
    ("ELEMENT_WISE_ASIN", {}, [0, 1, -1], [0, math.pi / 2, -math.pi / 2]),
    ("ELEMENT_WISE_ASINH", {}, [0, math.sinh(-2)], [0, -2]),
    ("ELEMENT_WISE_ATAN", {}, [0, 1, INF], [0, math.pi / 4, math.pi / 2]),
    ("ELEMENT_WISE_ATANH", {}, [0, math.tanh(0.5)], [0, 0.5]),
    ("ELEMENT_WISE_CEIL", {}, [1.5, -1.5, 2], [2, -1, 2]),
    ("ELEMENT_WISE_COS", {}, [0, math.pi], [1, -1]),
    ("ELEMENT_WISE_COSH", {}, [0, 1], [1, (E + 1 / E) / 2]),
    ("ELEMENT_WISE_ERF", {}, [0, 1, INF], [0, math.erf(1), 1]),
    ("ELEMENT_WISE_EXP", {}, [0, 1, -INF], [1, E, 0]),
    ("ELEMENT_WISE_FLOOR", {}, [1.5, -1.5, 2], [1, -2, 2]),
    ("ELEMENT_WISE_IDENTITY", {}, [1, -2.5, INF], [1, -2.5, INF]),
    ("ELEMENT_WISE_LOG", {}, [1, E, 0], [0, 1, -INF]),
    ("ELEMENT_WISE_NEGATE", {}, [1, -2, INF], [-1, 2, -INF]),
    ("ELEMENT_WISE_RECIP", {}, [2, -4, INF], [0.5, -0.25, 0]),
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "HALVES_TO_NEAREST_EVEN"}, [0.5, 1.5, 2.5, -2.5, 2.6], [0, 2, 2, -2, 3]),
    ("ELEMENT_WISE_SIGN", {}, [-3, 0, 3], [-1, 0, 1]),
    ("ELEMENT_WISE_SIN", {}, [0, math.pi / 2], [0, 1]),
    ("ELEMENT_WISE_SINH", {}, [0, 1], [0, (E - 1 / E) / 2]),
    ("ELEMENT_WISE_SQRT", {}, [4, 2, 0], [2, math.sqrt(2), 0]),
    ("ELEMENT_WISE_TAN", {}, [0, math.pi / 4], [0, 1]),
    ("ELEMENT_WISE_TANH", {}, [0, 1, INF], [0, math.tanh(1), 1]),
    ("ELEMENT_WISE_CLIP", {"Min": -1, "Max": 2}, [-3, 0.5, 3], [-1, 0.5, 2]),
    ("ELEMENT_WISE_CLIP", {"Min": 5, "Max": 2}, [-3, 3, 7], [2, 2, 2]),
    ("ELEMENT_WISE_CLIP1", {"MinMaxDataType": "FLOAT32", "Min": -1, "Max": 2}, [-3, 0.5, 3], [-1, 0.5, 2]),
    ("ELEMENT_WISE_THRESHOLD", {"Min": 0.5}, [-3, 0.25, 3, INF], [0.5, 0.5, 3, INF]),
    ("ELEMENT_WISE_THRESHOLD", {"Min": INF}, [-3, INF], [INF, INF]),
    ("ELEMENT_WISE_CONSTANT_POW", {"Exponent": 3}, [2, -2, 0.5], [8, -8, 0.125]),
]


@pytest.mark.parametrize(
    ("operator", "fields", "input", "expected"), UNARY, ids=[f"{n}-{row[0]}" for n, row in enumerate(UNARY)]
)
def test_a_model_of_one_input_gives_the_values_of_the_formula(
    operator: str, fields: dict[str, Any], input: list[float], expected: Any
) -> None:
    expect_of_one_input(operator, fields, input, expected)


# Operator, fields, data types of inputs and output, values of A, of B, of OutputTensor.
BINARY = [
    ("ADD", {}, "INT32 INT32", [2**31 - 1, 5], [1, -7], [-(2**31), -2]),
    ("ADD1", {}, "FLOAT32 FLOAT32", [1, -5], [2, 3], [3, -2]),
    ("ADD1", {"FusedActivation": {"Type": "ACTIVATION_RELU"}}, "FLOAT32 FLOAT32", [1, -5], [2, 3], [3, 0]),
    ("ADD1", {"FusedActivation": {"Type": "ACTIVATION_IDENTITY"}}, "FLOAT32 FLOAT32", [1, -5], [2, 3], [3, -2]),
    ("SUBTRACT", {}, "FLOAT32 FLOAT32", [1, -5], [2, 3], [-1, -8]),
    ("MULTIPLY", {}, "FLOAT32 FLOAT32", [1.5, -5], [2, 3], [3, -15]),
    ("DIVIDE", {}, "FLOAT32 FLOAT32", [1, -5], [2, 4], [0.5, -1.25]),
    ("MEAN", {}, "FLOAT32 FLOAT32", [1, -5], [2, 3], [1.5, -1]),
    ("MAX", {}, "INT8 INT8", [1, -5], [2, -7], [2, -5]),
    ("MIN", {}, "UINT8 UINT8", [1, 255], [2, 128], [1, 128]),
    ("MODULUS_TRUNCATE", {}, "INT32 INT32", [7, -7, 7, -7], [3, 3, -3, -3], [1, -1, 1, -1]),
    ("MODULUS_TRUNCATE", {}, "FLOAT32 FLOAT32", [7.5, -7.5], [2, 2], [1.5, -1.5]),
    ("MODULUS_FLOOR", {}, "INT32 INT32", [7, -7, 7, -7], [3, 3, -3, -3], [1, 2, -2, -1]),
    ("BIT_AND", {}, "UINT8 UINT8", [0b1100, 255], [0b1010, 7], [0b1000, 7]),
    ("BIT_OR", {}, "UINT8 UINT8", [0b1100, 1], [0b1010, 2], [0b1110, 3]),
    ("BIT_XOR", {}, "INT32 INT32", [0b1100, -1], [0b1010, 1], [0b0110, -2]),
    ("BIT_SHIFT_LEFT", {}, "UINT8 UINT8", [3, 255], [2, 4], [12, 240]),
    ("BIT_SHIFT_RIGHT", {}, "UINT32 UINT32", [12, 2**32 - 1], [2, 31], [3, 1]),
    ("LOGICAL_AND", {}, "UINT8 UINT8", [0, 2, 0, 4], [0, 0, 8, 3], [0, 0, 0, 1]),
    ("LOGICAL_OR", {}, "UINT32 UINT32", [0, 2, 0, 4], [0, 0, 256, 3], [0, 1, 1, 1]),
    ("LOGICAL_XOR", {}, "UINT8 UINT8", [0, 2, 0, 4], [0, 0, 8, 3], [0, 1, 1, 0]),
    ("LOGICAL_EQUALS", {}, "FLOAT32 UINT8", [1, 2, NAN], [1, 3, NAN], [1, 0, 0]),
    ("LOGICAL_GREATER_THAN", {}, "INT64 UINT32", [1, 2, 3], [2, 2, 2], [0, 0, 1]),
    ("LOGICAL_GREATER_THAN_OR_EQUAL", {}, "FLOAT16 UINT8", [1, 2, 3], [2, 2, 2], [0, 1, 1]),
    ("LOGICAL_LESS_THAN", {}, "UINT64 UINT8", [1, 2, 2**63], [2, 2, 2], [1, 0, 0]),
    ("LOGICAL_LESS_THAN_OR_EQUAL", {}, "FLOAT32 UINT32", [1, 2, 3], [2, 2, 2], [1, 1, 0]),
]


@pytest.mark.parametrize(
    ("operator", "fields", "kinds", "a", "b", "expected"), BINARY, ids=[f"{n}-{row[0]}" for n, row in enumerate(BINARY)]
)
def test_a_model_of_two_inputs_gives_the_values_of_the_formula(
    operator: str, fields: dict[str, Any], kinds: Any, a: Any, b: Any, expected: Any
) -> None:
    kind, result = kinds.split()
    inputs = {A: of(kind, *a), B: of(kind, *b)}
    actual = evaluate(simple(f"ELEMENT_WISE_{operator}", inputs, (result,), **fields), inputs)["OutputTensor"]
    assert actual.dtype == NUMPY_TYPES[result]
    assert actual[0].tolist() == expected


def test_models_of_truth_values_and_choices_take_what_is_not_zero_as_true() -> None:
    x = of("UINT8", 0, 1, 7)
    assert evaluate(simple("ELEMENT_WISE_LOGICAL_NOT", {"InputTensor": x}, ("UINT8",)), {"InputTensor": x})[
        "OutputTensor"
    ].tolist() == [[1, 0, 0]]
    inputs = {"ConditionTensor": x, A: of("INT32", 1, 2, 3), B: of("INT32", -1, -2, -3)}
    actual = evaluate(simple("ELEMENT_WISE_IF", inputs, ("INT32",)), inputs)["OutputTensor"]
    assert actual.tolist() == [[-1, 2, 3]]


def test_bits_are_inverted() -> None:
    x = of("UINT8", 0, 1, 0b10100101)
    actual = evaluate(simple("ELEMENT_WISE_BIT_NOT", {"InputTensor": x}, ("UINT8",)), {"InputTensor": x})
    assert actual["OutputTensor"].tolist() == [[255, 254, 0b01011010]]


@pytest.mark.parametrize(
    ("mode", "expected"), [("EITHER", [1, 1, 0, 0]), ("POSITIVE", [1, 0, 0, 0]), ("NEGATIVE", [0, 1, 0, 0])]
)
def test_every_mode_of_is_infinity_reports_its_infinities(mode: str, expected: Any) -> None:
    x = of("FLOAT16", INF, -INF, NAN, 65504)
    desc = simple("ELEMENT_WISE_IS_INFINITY", {"InputTensor": x}, ("UINT8",), InfinityMode=mode)
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [expected]


def test_is_nan_reports_nan_alone() -> None:
    x = of("FLOAT32", NAN, INF, 0)
    desc = simple("ELEMENT_WISE_IS_NAN", {"InputTensor": x}, ("UINT8",))
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[1, 0, 0]]


def test_powers_are_taken_element_by_element() -> None:
    inputs = {"InputTensor": of("FLOAT32", 2, 3, -2), "ExponentTensor": of("FLOAT32", 3, 0.5, 2)}
    actual = evaluate(simple("ELEMENT_WISE_POW", inputs), inputs)["OutputTensor"]
    assert actual[0].tolist() == pytest.approx([8, math.sqrt(3), 4])


INEXPRESSIBLE = [
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "TOWARD_ZERO"}, "halves to even"),
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "TOWARD_INFINITY"}, "halves to even"),
    ("ELEMENT_WISE_CLIP1", {"MinMaxDataType": "FLOAT32", "Min": 2, "Max": 1}, "Min above Max"),
]


@pytest.mark.parametrize(("operator", "fields", "reason"), INEXPRESSIBLE)
def test_what_onnx_has_no_exact_words_for_is_refused_with_the_reason(
    operator: str, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Inexpressible, match=reason):
        build(simple(operator, {"InputTensor": of("FLOAT32", 1, 2)}, **fields))


def test_a_remainder_with_the_sign_of_the_divisor_is_for_integers_alone() -> None:
    inputs = {A: of("FLOAT32", 1, 2), B: of("FLOAT32", 1, 2)}
    with pytest.raises(Inexpressible, match="sign of the dividend"):
        build(simple("ELEMENT_WISE_MODULUS_FLOOR", inputs))


def test_an_activation_that_would_round_a_sum_twice_is_not_split_off() -> None:
    inputs = {A: of("FLOAT32", 1, 2), B: of("FLOAT32", 1, 2)}
    fused = {"Type": "ACTIVATION_TANH"}
    with pytest.raises(Inexpressible, match="ACTIVATION_TANH fused into a sum"):
        build(simple("ELEMENT_WISE_ADD1", inputs, FusedActivation=fused))


def test_bounds_are_cast_to_the_tensors_type_as_directml_does() -> None:
    x = of("INT8", -5, 0, 5)
    desc = simple("ELEMENT_WISE_CLIP", {"InputTensor": x}, ("INT8",), Min=-1.9, Max=1.9)
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[-1, 0, 1]]
    with pytest.raises(Inexpressible, match="300 is not a number of INT8"):
        build(simple("ELEMENT_WISE_CLIP", {"InputTensor": x}, ("INT8",), Min=-1, Max=300))
    with pytest.raises(Inexpressible, match=r"0\.5 is not a number of INT8"):
        build(simple("ELEMENT_WISE_THRESHOLD", {"InputTensor": x}, ("INT8",), Min=0.5))
    half = of("FLOAT16", 1, INF)
    desc = simple("ELEMENT_WISE_CLIP", {"InputTensor": half}, ("FLOAT16",), Min=0.1, Max=1e9)
    (least,) = (constant.elements[0] for constant in build(desc).constants[:1])
    assert least == float(np.float16(0.1))
    assert evaluate(desc, {"InputTensor": half})["OutputTensor"].tolist() == [[1, INF]]


def test_cast_drops_fractions_and_wraps_nothing() -> None:
    expect("CAST", {"InputTensor": f32([[1.75, -2.5, 3]])}, {"OutputTensor": np.array([[1, -2, 3]], np.int32)})


def test_a_channel_is_scaled_and_has_a_summand_of_its_own() -> None:
    x = whole(1, 3, 1, 2)
    wanted = x * 2 + f32([1, -1, 0.5]).reshape(3, 1, 1)
    expect("VALUE_SCALE_2D", {"InputTensor": x}, {"OutputTensor": wanted}, Scale=2, Bias=[1, -1, 0.5])
