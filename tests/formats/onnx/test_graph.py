"""Descs as ONNX graphs and models: valid for every data type, right in value, refused where ONNX has no exact words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.formats.onnx.to_onnx.builder import Builder
from dmlcheck.formats.onnx.to_onnx.mappings import build, mappings
from dmlcheck.formats.onnx.to_onnx.records import Constant, Graph, Inexpressible, Node, Value
from dmlcheck.formats.onnx.to_onnx.representable import as_element, fits, multiplies_exactly, rounded
from dmlcheck.reference.kernels import Array
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.number_formats import NUMPY_TYPES

onnx = pytest.importorskip("onnx", reason="the extra `onnxruntime` is not installed: no package onnx")

from onnx import helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnx_models import check  # noqa: E402

from dmlcheck.formats.onnx.to_onnx.proto import model_proto  # noqa: E402

NAN, INF = math.nan, math.inf

# Fields of operators that cannot do without them.
FIELDS = {
    "ACTIVATION_CELU": {"Alpha": 2.0},
    "ACTIVATION_ELU": {"Alpha": 2.0},
    "ACTIVATION_HARDMAX1": {"Axes": [0, 1]},
    "ACTIVATION_HARD_SIGMOID": {"Alpha": 0.25, "Beta": 0.5},
    "ACTIVATION_HARD_SWISH": {"Alpha": 1 / 6, "Beta": 0.5},
    "ACTIVATION_LEAKY_RELU": {"Alpha": 0.5},
    "ACTIVATION_LINEAR": {"Alpha": 2.0, "Beta": 1.0},
    "ACTIVATION_LOG_SOFTMAX1": {"Axes": [0, 1]},
    "ACTIVATION_PARAMETRIC_SOFTPLUS": {"Alpha": 2.0, "Beta": 0.5},
    "ACTIVATION_SCALED_ELU": {"Alpha": 1.5, "Gamma": 2.0},
    "ACTIVATION_SCALED_TANH": {"Alpha": 2.0, "Beta": 0.5},
    "ACTIVATION_SHRINK": {"Bias": 1.0, "Threshold": 1.0},
    "ACTIVATION_SOFTMAX1": {"Axes": [0, 1]},
    "ACTIVATION_SOFTPLUS": {"Steepness": 2.0},
    "ACTIVATION_SWISH": {"SigmoidInputScale": 2.0},
    "ACTIVATION_THRESHOLDED_RELU": {"Alpha": 1.0},
    "ELEMENT_WISE_CLIP": {"Min": 1.0, "Max": 2.0},
    "ELEMENT_WISE_CLIP1": {"MinMaxDataType": "${T}", "Min": 1, "Max": 2},
    "ELEMENT_WISE_CONSTANT_POW": {"Exponent": 2.0},
    "ELEMENT_WISE_IS_INFINITY": {"InfinityMode": "EITHER"},
    "ELEMENT_WISE_ROUND": {"RoundingMode": "HALVES_TO_NEAREST_EVEN"},
    "ELEMENT_WISE_THRESHOLD": {"Min": 1.0},
}
OURS = sorted(name for name in mappings() if name.startswith(("ACTIVATION_", "ELEMENT_WISE_")))


def desc_of(operator: str, desc: dict[str, Any]) -> OperatorDesc:
    made, findings = validation.validate(operator, desc, NEWEST_LEVEL)
    assert not findings, [finding.rule for finding in findings]
    return made


def simple(
    operator: str, inputs: dict[str, Any], outputs: tuple[str, ...] = ("FLOAT32",), **fields: Any
) -> OperatorDesc:
    """Return a desc whose input tensors are the arrays', and whose outputs are as large as the first."""
    spec = load_spec(full_name(operator))
    desc = dict(fields)
    for name, array in inputs.items():
        kind = next(kind for kind, dtype in NUMPY_TYPES.items() if dtype == array.dtype)
        desc[name] = {"DataType": kind, "Sizes": list(array.shape)}
    first = next(iter(inputs.values()))
    for field, kind in zip(spec.outputs, outputs, strict=True):
        desc[field.name] = {"DataType": kind, "Sizes": list(first.shape)}
    return desc_of(operator, desc)


def evaluate(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the outputs of a desc's model, computed by ONNX's own evaluator, after a full check of the model."""
    model = model_proto(build(desc))
    check(model)
    with np.errstate(all="ignore"):
        values = ReferenceEvaluator(model).run(None, inputs)
    return dict(zip((output.name for output in model.graph.output), values, strict=True))


def valid_descs(operator: str) -> Iterator[OperatorDesc]:
    """Yield a valid desc for every choice of data types that the newest support table allows."""
    spec = load_spec(full_name(operator))
    row = next(iter(spec.support[0].rows.values()))
    tensors = [field.name for field in spec.fields.values() if field.kind in (INPUT, OUTPUT)]
    for kinds in itertools.product(*(row[name].types for name in tensors)):
        if len(kinds) > 2 and len(set(kinds)) > 2:
            continue
        sizes = {name: [1, 1] if "QUANTIZED" in operator and name[1:] != "Tensor" else [2, 3] for name in tensors}
        desc = {name: {"DataType": kind, "Sizes": sizes[name]} for name, kind in zip(tensors, kinds, strict=True)}
        if "OutputTensor" in desc and "QUANTIZED" in operator:
            desc["OutputTensor"]["Sizes"] = [2, 3]
        fields = {key: kinds[0] if raw == "${T}" else raw for key, raw in FIELDS.get(operator, {}).items()}
        made, findings = validation.validate(operator, desc | fields, NEWEST_LEVEL)
        if not findings:
            yield made


@pytest.mark.parametrize("operator", OURS)
def test_a_model_of_every_data_type_passes_the_full_check_or_is_inexpressible(operator: str) -> None:
    reasons, checked = set(), 0
    for desc in valid_descs(operator):
        try:
            model = model_proto(build(desc))
        except Inexpressible as reason:
            reasons.add(str(reason))
            continue
        check(model)
        checked += 1
        assert [value.name for value in model.graph.input] == [part.label for part in desc.tensors(INPUT)]
        assert [value.name for value in model.graph.output] == [part.label for part in desc.tensors(OUTPUT)]
    assert checked, reasons


def test_graphs_of_the_simplest_operators_are_one_node_without_constants() -> None:
    for operator, own in (("ELEMENT_WISE_ADD", "Add"), ("ACTIVATION_RELU", "Relu"), ("ELEMENT_WISE_TANH", "Tanh")):
        graph = build(next(valid_descs(operator)))
        assert [node.type for node in graph.nodes] == [own]
        assert not graph.constants


# ---- values, worked out by hand or with Python's math


def f32(*values: float) -> Array:
    return np.array([values], np.float32)


def of(kind: str, *values: float) -> Array:
    return np.array([values], NUMPY_TYPES[kind])


E = math.e
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
    ("ACTIVATION_CELU", {"Alpha": 2}, [3, -2], [3, 2 * (1 / E - 1)]),
    ("ACTIVATION_ELU", {"Alpha": 2}, [3, -1], [3, 2 * (1 / E - 1)]),
    ("ACTIVATION_GELU", {}, [0, 1], [0, 0.5 * (1 + math.erf(math.sqrt(0.5)))]),
    ("ACTIVATION_HARD_SIGMOID", {"Alpha": 0.25, "Beta": 0.5}, [-4, 1, 4], [0, 0.75, 1]),
    ("ACTIVATION_HARD_SWISH", {"Alpha": 1 / 6, "Beta": 0.5}, [-4, 1, 4], [0, 2 / 3, 4]),
    ("ACTIVATION_IDENTITY", {}, [1, -2.5], [1, -2.5]),
    ("ACTIVATION_LEAKY_RELU", {"Alpha": 0.5}, [3, -3], [3, -1.5]),
    ("ACTIVATION_LINEAR", {"Alpha": 2, "Beta": 0.1}, [3, -3], [6.1, -5.9]),
    ("ACTIVATION_LINEAR", {"Alpha": 0.1, "Beta": 0}, [3, -3], [0.3, -0.3]),
    ("ACTIVATION_PARAMETRIC_SOFTPLUS", {"Alpha": 4, "Beta": 2}, [0, 1], [4 * math.log(2), 4 * math.log(1 + E**2)]),
    ("ACTIVATION_RELU", {}, [3, -3], [3, 0]),
    ("ACTIVATION_SCALED_ELU", {"Alpha": 3, "Gamma": 2}, [3, -1], [6, 2 * (3 / E - 3)]),
    ("ACTIVATION_SCALED_TANH", {"Alpha": 4, "Beta": 0.5}, [0, 2], [0, 4 * math.tanh(1)]),
    ("ACTIVATION_SHRINK", {"Bias": 0.5, "Threshold": 1}, [3, -3, 0.5, 1], [2.5, -2.5, 0, 0]),
    ("ACTIVATION_SIGMOID", {}, [0, 1], [0.5, 1 / (1 + 1 / E)]),
    ("ACTIVATION_SOFTPLUS", {"Steepness": 4}, [0, 1], [math.log(2) / 4, math.log(1 + E**4) / 4]),
    ("ACTIVATION_SOFTSIGN", {}, [1, -3], [0.5, -0.75]),
    ("ACTIVATION_SWISH", {"SigmoidInputScale": 2}, [0, 1], [0, 1 / (1 + E**-2)]),
    ("ACTIVATION_TANH", {}, [0, 1], [0, math.tanh(1)]),
    ("ACTIVATION_THRESHOLDED_RELU", {"Alpha": 1}, [1, 1.5, -3], [0, 1.5, 0]),
    ("ACTIVATION_SOFTMAX", {}, [0, math.log(3)], [0.25, 0.75]),
    ("ACTIVATION_LOG_SOFTMAX", {}, [0, math.log(3)], [math.log(0.25), math.log(0.75)]),
    ("ACTIVATION_HARDMAX", {}, [1, 3, 3, 2], [0, 1, 0, 0]),
    ("ACTIVATION_SOFTMAX1", {"Axes": []}, [5, -2], [1, 1]),
]


@pytest.mark.parametrize(
    ("operator", "fields", "input", "expected"), UNARY, ids=[f"{n}-{row[0]}" for n, row in enumerate(UNARY)]
)
def test_a_model_of_one_input_gives_the_values_of_the_formula(
    operator: str, fields: dict[str, Any], input: list[float], expected: Any
) -> None:
    x = f32(*input)
    actual = evaluate(simple(operator, {"InputTensor": x}, **fields), {"InputTensor": x})["OutputTensor"]
    assert actual.dtype == np.float32
    assert actual[0].tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6, nan_ok=True)


A, B = "ATensor", "BTensor"
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
    x = f32(NAN, INF, 0)
    desc = simple("ELEMENT_WISE_IS_NAN", {"InputTensor": x}, ("UINT8",))
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[1, 0, 0]]


def test_power_and_slopes_are_taken_element_by_element() -> None:
    inputs = {"InputTensor": f32(2, 3, -2), "ExponentTensor": f32(3, 0.5, 2)}
    actual = evaluate(simple("ELEMENT_WISE_POW", inputs), inputs)["OutputTensor"]
    assert actual[0].tolist() == pytest.approx([8, math.sqrt(3), 4])
    inputs = {"InputTensor": f32(2, -3, -2), "SlopeTensor": f32(9, 0.5, 2)}
    assert evaluate(simple("ACTIVATION_PARAMETERIZED_RELU", inputs), inputs)["OutputTensor"].tolist() == [[2, -1.5, -4]]


# ---- ScaleBias, and what has no exact words


@pytest.mark.parametrize(
    ("operator", "scale", "bias", "expected"),
    [
        ("ELEMENT_WISE_EXP", 1, 0, [1, E]),
        ("ELEMENT_WISE_EXP", -2, 0, [1, E**-2]),
        ("ELEMENT_WISE_RECIP", -2, 0, [INF, -0.5]),  # 0 * -2 is -0, and 0 once 0 is added
        ("ELEMENT_WISE_ABS", -2, 0.1, [0.1, 1.9]),
        ("ELEMENT_WISE_IDENTITY", 0.1, 0, [0, 0.1]),
    ],
)
def test_scale_and_bias_come_before_the_function_where_that_is_exact(
    operator: str, scale: float, bias: float, expected: Any
) -> None:
    x = f32(0, 1)
    desc = simple(operator, {"InputTensor": x}, ScaleBias={"Scale": scale, "Bias": bias})
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"][0].tolist() == pytest.approx(expected)


def test_scale_and_bias_of_integers_are_integers() -> None:
    x = of("INT32", 1, -4)
    desc = simple("ELEMENT_WISE_ABS", {"InputTensor": x}, ("INT32",), ScaleBias={"Scale": 3, "Bias": 2})
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[5, 10]]


INEXPRESSIBLE = [
    ("ELEMENT_WISE_CEIL", {"ScaleBias": {"Scale": 1, "Bias": 0.1}}, "rounded before the function"),
    ("ELEMENT_WISE_EXP", {"ScaleBias": {"Scale": 3, "Bias": 0}}, "rounded before the function"),
    ("ELEMENT_WISE_ABS", {"ScaleBias": {"Scale": 3, "Bias": 1}}, "rounded twice"),
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "TOWARD_ZERO"}, "halves to even"),
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "TOWARD_INFINITY"}, "halves to even"),
    ("ELEMENT_WISE_CLIP1", {"MinMaxDataType": "FLOAT32", "Min": 2, "Max": 1}, "Min above Max"),
    ("ACTIVATION_HARD_SWISH", {"Alpha": 0.25, "Beta": 0.5}, "Alpha 1/6"),
    ("ACTIVATION_LINEAR", {"Alpha": 0.1, "Beta": 1}, "rounded twice"),
    ("ACTIVATION_SCALED_TANH", {"Alpha": 1.7, "Beta": 0.5}, "Alpha 1.7"),
    ("ACTIVATION_SOFTPLUS", {"Steepness": 3}, "Steepness 3"),
    ("ACTIVATION_SOFTPLUS", {"Steepness": 0}, "divides by 0"),
]


@pytest.mark.parametrize(("operator", "fields", "reason"), INEXPRESSIBLE)
def test_what_onnx_has_no_exact_words_for_is_refused_with_the_reason(
    operator: str, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Inexpressible, match=reason):
        build(simple(operator, {"InputTensor": f32(1, 2)}, **fields))


def test_an_operator_without_a_counterpart_is_named() -> None:
    inputs = {A: f32(1, 2), B: f32(1, 2)}
    with pytest.raises(Inexpressible, match="ONNX has no operator for DML_OPERATOR_ELEMENT_WISE_ATAN_YX"):
        build(simple("ELEMENT_WISE_ATAN_YX", inputs))


def test_a_remainder_with_the_sign_of_the_divisor_is_for_integers_alone() -> None:
    inputs = {A: f32(1, 2), B: f32(1, 2)}
    with pytest.raises(Inexpressible, match="sign of the dividend"):
        build(simple("ELEMENT_WISE_MODULUS_FLOOR", inputs))


def test_an_activation_that_would_round_a_sum_twice_is_not_split_off() -> None:
    inputs = {A: f32(1, 2), B: f32(1, 2)}
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


# ---- axes


def test_the_index_along_several_axes_counts_the_elements_of_all() -> None:
    x = np.zeros((2, 3, 4), np.float32)
    x[1, 0, 2] = x[1, 2, 1] = 5  # in column 0 of the middle axis: 1 * 4 + 2; in column 2: 1 * 4 + 1
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3, 4]},
        "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 3, 1]},
    }
    for axes in ([0, 2], [2, 0]):
        desc = desc_of("ARGMAX", tensors | {"Axes": axes, "AxisDirection": "INCREASING"})
        result = evaluate(desc, {"InputTensor": x})["OutputTensor"]
        assert result.dtype == np.uint32
        assert result.tolist() == [[[6], [0], [5]]]


def test_the_direction_says_which_of_equal_elements_counts() -> None:
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4]},
        "OutputTensor": {"DataType": "INT64", "Sizes": [1, 1]},
        "Axes": [1],
    }
    for direction, expected in (("INCREASING", 1), ("DECREASING", 2)):
        desc = desc_of("ARGMIN", tensors | {"AxisDirection": direction})
        assert [node.type for node in build(desc).nodes] == ["ArgMin"]
        assert evaluate(desc, {"InputTensor": f32(1, 0, 0, 1)})["OutputTensor"].tolist() == [[expected]]


def test_without_axes_every_element_is_its_own_group() -> None:
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
    }
    x = np.array([[1, -2], [3, -4]], np.float32)
    desc = desc_of("REDUCE", tensors | {"Function": "SUM_SQUARE", "Axes": []})
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[1, 4], [9, 16]]
    tensors["OutputTensor"]["DataType"] = "UINT32"
    desc = desc_of("ARGMAX", tensors | {"Axes": [], "AxisDirection": "INCREASING"})
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[0, 0], [0, 0]]


def test_a_group_over_several_axes_comes_back_in_its_own_order() -> None:
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    tensor = {"DataType": "FLOAT32", "Sizes": [2, 3, 2]}
    tensors = {"InputTensor": tensor, "OutputTensor": tensor}
    result = evaluate(desc_of("ACTIVATION_HARDMAX1", tensors | {"Axes": [2, 0]}), {"InputTensor": x})["OutputTensor"]
    expected = np.zeros((2, 3, 2))
    expected[1, :, 1] = 1  # the largest of every [:, j, :]
    assert (result == expected).all()
    result = evaluate(desc_of("ACTIVATION_SOFTMAX1", tensors | {"Axes": [0, 1]}), {"InputTensor": x})["OutputTensor"]
    terms = np.exp(x - 11)
    assert result == pytest.approx(terms / terms.sum(axis=(0, 1)), rel=1e-5)


# ---- quantization


def quantization(
    operator: str, x: Array, scale: Array, zero: Array | None, kind: str, strides: list[int] | None = None
) -> tuple[OperatorDesc, dict[str, Any]]:
    """Return a desc of (de)quantization; `strides` repeat the scale and the zero point."""
    tensors = {"InputTensor": x, "ScaleTensor": scale} | ({} if zero is None else {"ZeroPointTensor": zero})
    desc = {
        name: {
            "DataType": next(own for own, dtype in NUMPY_TYPES.items() if dtype == array.dtype),
            "Sizes": list(array.shape),
        }
        for name, array in tensors.items()
    }
    desc["OutputTensor"] = {"DataType": kind, "Sizes": list(x.shape)}
    for name in ("ScaleTensor", "ZeroPointTensor"):
        if strides is not None and name in desc:
            desc[name]["Strides"] = strides
    return desc_of(operator, desc), tensors


@pytest.mark.parametrize("strides", [[0, 0], [0, 1], [1, 0], None], ids=["tensor", "column", "row", "element"])
def test_scales_are_those_of_a_tensor_an_axis_or_an_element(strides: list[int] | None) -> None:
    shape = (2, 3)
    places = np.indices(shape)
    weights = [1, 1] if strides is None else strides
    which = places[0] * 3 * weights[0] + places[1] * weights[1]
    scale = (2.0 ** (which % 4)).astype(np.float32)
    zero = (which + 1).astype(np.uint8)
    x = np.array([[8, 16, -8], [24, 40, 80]], np.float32)
    desc, inputs = quantization("ELEMENT_WISE_QUANTIZE_LINEAR", x, scale, zero, "UINT8", strides)
    quantized = np.clip(x / scale + zero, 0, 255)
    graph = build(desc)
    check(model_proto(graph))
    assert graph.nodes[-1].attributes.get("block_size") == (1 if strides is None else None)
    back, _ = quantization(
        "ELEMENT_WISE_DEQUANTIZE_LINEAR", quantized.astype(np.uint8), scale, zero, "FLOAT32", strides
    )
    check(model_proto(build(back)))
    if strides is None:
        return  # the evaluator divides blocks of one into none; onnxruntime's results are tested with it
    assert evaluate(desc, inputs)["OutputTensor"].tolist() == quantized.tolist()
    inputs["InputTensor"] = quantized.astype(np.uint8)
    restored = evaluate(back, inputs)["OutputTensor"]
    assert restored.tolist() == ((quantized - zero) * scale).tolist()


def test_an_absent_zero_point_is_0_of_the_outputs_type() -> None:
    x = f32(-3, 3, 300)
    desc, inputs = quantization("ELEMENT_WISE_QUANTIZE_LINEAR", x, f32(1, 1, 1), None, "INT8", [0, 0])
    result = evaluate(desc, inputs)["OutputTensor"]
    assert result.dtype == np.int8
    assert result.tolist() == [[-3, 3, 127]]


def test_a_zero_point_of_int32_is_inexpressible() -> None:
    x = of("INT32", 1, 2)
    desc, _ = quantization("ELEMENT_WISE_DEQUANTIZE_LINEAR", x, f32(1, 1), x, "FLOAT32", [0, 0])
    with pytest.raises(Inexpressible, match="no zero point for INT32"):
        build(desc)


# ---- the builder and its models


def identity(sizes: tuple[int, ...] = (2, 3), kind: str = "FLOAT32") -> OperatorDesc:
    tensor = {"DataType": kind, "Sizes": list(sizes)}
    return desc_of("ELEMENT_WISE_IDENTITY", {"InputTensor": tensor, "OutputTensor": tensor})


def test_a_tensor_that_is_left_out_is_not_there() -> None:
    builder = Builder(simple("ELEMENT_WISE_ADD1", {A: f32(1), B: f32(1)}))
    assert builder.has(A)
    assert not builder.has("ZeroPointTensor")
    with pytest.raises(Inexpressible, match="ZeroPointTensor is left out"):
        builder.input("ZeroPointTensor")


def test_absent_inputs_at_the_end_are_cut_off_and_those_between_are_empty() -> None:
    g = Builder(identity())
    x = g.input("InputTensor")
    g.node("Clip", [x, None, g.constant([1], "FLOAT32", ())], x.sizes, x.data_type)
    g.node("Clip", [x, None, None], x.sizes, x.data_type)
    assert [node.inputs for node in g.nodes] == [("InputTensor", "", "constant_1"), ("InputTensor",)]


def test_what_changes_nothing_adds_no_node() -> None:
    g = Builder(identity())
    x = g.input("InputTensor")
    assert g.cast(x, "FLOAT32") is x
    assert g.reshape(x, [2, 3]) is x
    assert g.transpose(x, [0, 1]) is x
    assert not g.nodes


def test_an_input_that_is_the_output_passes_through_a_node() -> None:
    g = Builder(identity())
    g.output("OutputTensor", g.input("InputTensor"))
    assert g.graph().nodes == (Node("Identity", ("InputTensor",), ("OutputTensor",), {}),)


def test_inputs_are_in_the_order_of_the_desc_whatever_is_asked_for_first() -> None:
    g = Builder(simple("ELEMENT_WISE_ADD1", {A: f32(1), B: f32(1)}))
    g.input(B)
    g.input(A)
    assert [value.name for value in g.graph().inputs] == [A, B]


def test_a_wrong_shape_or_type_of_a_value_does_not_pass_the_check() -> None:
    for sizes, kind in (((3, 2), "FLOAT32"), ((2, 3), "INT32")):
        g = Builder(identity())
        made = g.node("Neg", [g.input("InputTensor")], sizes, kind)
        g.output("OutputTensor", made)
        with pytest.raises((onnx.checker.ValidationError, onnx.shape_inference.InferenceError, Inexpressible)):
            check(model_proto(g.graph()))


def test_a_type_that_an_operator_lacks_is_inexpressible_when_the_model_is_made() -> None:
    tensors = {
        "InputTensor": {"DataType": "INT16", "Sizes": [2, 2]},
        "OutputTensor": {"DataType": "INT16", "Sizes": [2, 1]},
    }
    graph = build(desc_of("REDUCE", tensors | {"Function": "MAX", "Axes": [1]}))
    with pytest.raises(Inexpressible, match="ONNX's ReduceMax has no INT16 for data"):
        model_proto(graph)


def test_attributes_take_the_type_that_the_operator_gives_them() -> None:
    x = Value("x", "FLOAT32", (2,))
    y = Value("y", "FLOAT16", (2,))
    nodes = (
        Node("Elu", ("x",), ("e",), {"alpha": 1}),
        Node("Cast", ("e",), ("y",), {"to": "FLOAT16"}),
    )
    model = model_proto(Graph("test", 17, nodes, (x,), (y,), (), (Value("e", "FLOAT32", (2,)),)))
    elu, cast = model.graph.node
    assert elu.attribute[0].f == 1.0
    assert elu.attribute[0].type == onnx.AttributeProto.FLOAT
    assert cast.attribute[0].i == onnx.TensorProto.FLOAT16
    check(model)
    fill = Constant(Value("value", "INT64", (1,)), (7,))
    of_shape = Graph(
        "test",
        17,
        (Node("ConstantOfShape", ("s",), ("y",), {"value": fill}),),
        (),
        (Value("y", "INT64", (3,)),),
        (Constant(Value("s", "INT64", (1,)), (3,)),),
    )
    model = model_proto(of_shape)
    check(model)
    assert ReferenceEvaluator(model).run(None, {})[0].tolist() == [7, 7, 7]


def test_attributes_may_be_any_mapping_and_those_that_are_none_are_left_out() -> None:
    g = Builder(identity())
    x = g.input("InputTensor")
    g.node("Made", [x], x.sizes, x.data_type, type=1, element=2, sizes=None)
    assert g.nodes == [Node("Made", ("InputTensor",), ("made_1",), {"type": 1, "element": 2})]


@pytest.mark.parametrize(("kind", "opset"), [("FLOAT32", 17), ("FLOAT16", 20)])
def test_a_model_asks_for_no_newer_opset_than_it_uses(kind: str, opset: int) -> None:
    x = of(kind, 1, INF)
    desc = simple("ELEMENT_WISE_IS_INFINITY", {"InputTensor": x}, ("UINT8",), InfinityMode="EITHER")
    assert build(desc).opset == opset
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[0, 1]]


def test_an_opset_that_this_onnx_does_not_have_is_inexpressible() -> None:
    newest = onnx.defs.onnx_opset_version()
    graph = build(identity())._replace(opset=newest + 1)
    with pytest.raises(Inexpressible, match=f"opsets up to {newest}, and opset {newest + 1} is needed"):
        model_proto(graph)


@pytest.mark.parametrize(
    ("operator", "fields", "reason"),
    [
        (
            "RESAMPLE",
            {"InterpolationMode": "LINEAR", "Scales": [1, 1e38]},
            "Resize would give more elements on the way",
        ),
        ("RESAMPLE", {"InterpolationMode": "LINEAR", "Scales": [1, 1e-45]}, "next to 0"),
        ("PADDING", {"PaddingMode": "SYMMETRIC", "StartPadding": [0, 2**23]}, "would hold 8,388,610 indices"),
    ],
)
def test_a_model_that_would_be_out_of_all_proportion_is_inexpressible(
    operator: str, fields: dict[str, Any], reason: str
) -> None:
    sizes = [1, 2]
    if operator == "PADDING":
        fields = {**fields, "EndPadding": [0, 0], "PaddingValue": 0}
        sizes = [1, 2 + 2**23]
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": sizes},
    }
    with pytest.raises(Inexpressible, match=reason):
        build(desc_of(operator, tensors | fields))


def test_constants_keep_every_bit() -> None:
    elements = (2**64 - 1, 2**53 + 1)
    graph = Graph("test", 17, (), (), (), (Constant(Value("c", "UINT64", (2,)), elements),))
    assert numpy_helper.to_array(model_proto(graph).graph.initializer[0]).tolist() == list(elements)


def test_a_model_is_in_the_oldest_file_format_that_has_its_opset() -> None:
    model = model_proto(build(identity()))
    assert model.ir_version == helper.find_min_ir_version_for(model.opset_import)
    assert model.producer_name == "dmlcheck"


def test_operators_of_onnxruntime_bring_their_domain() -> None:
    (desc, *_) = (d for d in valid_descs("ELEMENT_WISE_QUANTIZED_LINEAR_ADD") if _is_of_one_type(d))
    model = model_proto(build(desc))
    assert [entry.domain for entry in model.opset_import] == ["", "com.microsoft"]
    (node,) = (node for node in model.graph.node if node.op_type == "QLinearAdd")
    assert node.domain == "com.microsoft"


def _is_of_one_type(desc: OperatorDesc) -> bool:
    return len({desc.tensor(name).data_type for name in (A, B, "OutputTensor")}) == 1


# ---- numbers


@pytest.mark.parametrize(
    ("value", "kind", "answer"),
    [
        (127, "INT8", True),
        (128, "INT8", False),
        (-1, "UINT32", False),
        (2**32 - 1, "UINT32", True),
        (0.5, "INT32", False),
        (INF, "INT32", False),
        (0.1, "FLOAT16", False),
        (INF, "FLOAT16", True),
        (70000, "FLOAT16", False),
        (0.5, "FLOAT16", True),
    ],
)
def test_a_type_has_a_number_or_not(value: float, kind: str, answer: bool) -> None:
    assert fits(value, kind) is answer


def test_numbers_are_rounded_as_numpy_rounds_them() -> None:
    for value in (0.1, 1 / 3, 65519.9, 1e-8):
        assert rounded(value, "FLOAT16") == float(np.float16(value))
        assert rounded(value, "FLOAT32") == float(np.float32(value))
    assert rounded(1e9, "FLOAT16") == INF
    assert rounded(-1e39, "FLOAT32") == -INF


def test_a_fraction_is_cut_off_toward_zero() -> None:
    assert (as_element(1.9, "INT8"), as_element(-1.9, "INT8")) == (1, -1)


def test_products_with_powers_of_two_are_exact() -> None:
    assert all(multiplies_exactly(value) for value in (0, 1, -2, 0.5, 2.0**-20))
    assert not any(multiplies_exactly(value) for value in (3, 0.1, INF, NAN))
