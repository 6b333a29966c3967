"""What ONNX Runtime's DirectML provider takes and leaves to others."""

from __future__ import annotations

import os
from typing import Any

import pytest
from onnx_nodes import node, zeros

from dmlcheck.files import yaml
from dmlcheck.onnx import provider
from dmlcheck.onnx.operators.table import OPERATORS
from dmlcheck.onnx.provider.registrations import Typed, left_to_others, registrations

X = zeros(1, 1, 4, 4)

# Typed in from "Operators implemented by DmlExecutionProvider" in ONNX Runtime's docs/OperatorKernels.md at the commit
# that registrations.yaml names: operators with their versions, and the names in com.microsoft, all of version 1.
LISTED = """
Abs:13,6 Acos:7 Acosh:9 Add:14,13,7 Affine:1 And:7 ArgMax:13,12,11,1 ArgMin:13,12,11,1 Asin:7 Asinh:9 Atan:7 Atanh:9
AveragePool:19,11,10,7 BatchNormalization:15,14,9,7 BitShift:11 BitwiseAnd:18 BitwiseNot:18 BitwiseOr:18
BitwiseXor:18 Cast:21,19,13,9,6 CastLike:21,19,15 Ceil:13,6 Celu:12 Clip:13,12,11,6 Col2Im:18 Concat:13,11,4
ConcatFromSequence:11 ConstantOfShape:21,9 Conv:11,1 ConvInteger:10 ConvTranspose:11,1 Cos:7 Cosh:9 Crop:1
CumSum:14,11 DFT:20,17 DepthToSpace:13,11,1 DequantizeLinear:21,19,13,10 Div:14,13,7 Dropout:7
DynamicQuantizeLinear:11 Einsum:12 Elu:6 Equal:19,13,11,7 Erf:13,9 Exp:13,6 Expand:13,8 EyeLike:9
Flatten:21,13,11,9,1 Floor:13,6 GRU:14,7 Gather:13,11,1 GatherElements:13,11 GatherND:13,12,11 Gemm:13,11,9,7
GlobalAveragePool:1 GlobalLpPool:2 GlobalMaxPool:1 Greater:13,9,7 GreaterOrEqual:16,12 GridSample:16 HardSigmoid:6
Hardmax:13,11,1 Identity:21,19,16,14,13,1 If:19,16,13,11,7 ImageScaler:1 InstanceNormalization:6 IsInf:20,10
IsNaN:20,13,9 LRN:13,1 LSTM:14,7 LayerNormalization:17,1 LeakyRelu:16,6 Less:13,9,7 LessOrEqual:16,12 Log:13,6
LogSoftmax:13,11,1 LpNormalization:1 LpPool:18,11,2 MatMul:13,9,1 MatMulInteger:10 Max:13,12,8,6
MaxPool:12,11,10,8,1 MaxRoiPool:1 MaxUnpool:11,9 Mean:13,8,6 MeanVarianceNormalization:13,9,1 Min:13,12,8,6
Mod:13,10 Mul:14,13,7 Neg:13,6 NonZero:13,9 Not:1 OneHot:11,9 OptionalGetElement:18,15 OptionalHasElement:18,15 Or:7
PRelu:16,9,7 Pad:21,19,18,13,11,2 ParametricSoftplus:1 Pow:15,13,12,7 QLinearConv:10 QLinearMatMul:21,10
QuantizeLinear:21,19,13,10 RNN:14,7 Range:11 Reciprocal:13,6 ReduceL1:18,13,11,1 ReduceL2:18,13,11,1
ReduceLogSum:18,13,11,1 ReduceLogSumExp:18,13,11,1 ReduceMax:20,18,13,12,11,1 ReduceMean:18,13,11,1
ReduceMin:20,18,13,12,11,1 ReduceProd:18,13,11,1 ReduceSum:13,11,1 ReduceSumSquare:18,13,11,1 Relu:14,13,6
Reshape:21,19,14,13,5 Resize:19,18,13,11,10 ReverseSequence:10 RoiAlign:16,10 Round:11 STFT:17 ScaledTanh:1
Scatter:13,11,9 ScatterElements:16,13,11 ScatterND:16,13,11 Selu:6 SequenceAt:11 SequenceConstruct:11
SequenceEmpty:11 SequenceErase:11 SequenceInsert:11 SequenceLength:11 Shape:21,19,15,13,1 Shrink:9 Sigmoid:13,6
Sign:13,9 SimplifiedLayerNormalization:1 Sin:7 Sinh:9 Size:21,19,13,1 Slice:13,11,10,1 Softmax:13,11,1 Softplus:1
Softsign:1 SpaceToDepth:13,1 Split:18,13,11,2 Sqrt:13,6 Squeeze:21,13,11,1 Sub:14,13,7 Sum:13,8,6 Tan:7 Tanh:13,6
ThresholdedRelu:10,1 Tile:13,6 TopK:11,10,1 Transpose:21,13,1 Trilu:14 Unsqueeze:21,13,11,1 Upsample:10,9,7
Where:16,9 Xor:7
"""
CONTRIBUTED = """
Attention BiasAdd BiasGelu BiasSplitGelu ConvTransposeWithDynamicPads DequantizeLinear DynamicQuantizeMatMul
EmbedLayerNormalization FastGelu FusedMatMul FusedMatMulActivation Gelu GroupNorm GroupQueryAttention
MatMulIntegerToFloat MatMulNBits MultiHeadAttention NhwcConv QAttention QLinearAdd QLinearAveragePool QLinearConcat
QLinearGlobalAveragePool QLinearSigmoid QuantizeLinear QuickGelu RotaryEmbedding SkipLayerNormalization
SkipSimplifiedLayerNormalization
"""


def reason(name: str, version: int, *types: Typed, inputs: int = 1, outputs: int = 1, **attributes: Any) -> Any:
    return left_to_others(node(name, [X] * inputs, *[X] * outputs, **attributes), version, types)


def test_the_versions_are_those_that_onnx_runtime_lists() -> None:
    listed = {name: versions for name, _, versions in (each.partition(":") for each in LISTED.split())}
    expected = {name: {int(version) for version in versions.split(",")} for name, versions in listed.items()}
    expected |= {f"com.microsoft.{name}": {1} for name in CONTRIBUTED.split()}
    found = {name: [version for row in rows for version in row.versions] for name, rows in registrations().rows.items()}
    assert {name: set(versions) for name, versions in found.items()} == expected
    assert all(len(versions) == len(set(versions)) for versions in found.values())


def test_a_version_is_that_of_the_schema() -> None:
    assert reason("Conv", 1) is None
    assert reason("Conv", 7).endswith("has Conv-1, Conv-11, not Conv-7")
    assert reason("NoSuch", 7).endswith("does not register NoSuch")


@pytest.mark.parametrize(
    ("operator", "version", "parameter", "types"),
    [  # typed in from OperatorKernels.md
        ("QuantizeLinear", 21, "T2", "INT4 INT8 UINT4 UINT8"),
        ("DequantizeLinear", 19, "T1", "INT32 INT8 UINT8"),
        ("Resize", 19, "T1", "FLOAT FLOAT16 INT8 UINT8"),
        ("ReduceMax", 18, "T", "FLOAT FLOAT16 INT32 INT64 UINT32 UINT64"),
        ("Pow", 15, "T1", "FLOAT FLOAT16 INT16 INT32 INT8 UINT16 UINT32 UINT8"),
        ("IsInf", 20, "T1", "FLOAT"),
        ("DFT", 20, "T1", "DOUBLE FLOAT FLOAT16"),
        ("LayerNormalization", 17, "U", "FLOAT"),
        ("LayerNormalization", 1, "U", "FLOAT FLOAT16"),
        ("BitShift", 11, "T", "UINT16 UINT32 UINT64 UINT8"),
        ("com.microsoft.MatMulNBits", 1, "T2", "UINT8"),
        ("com.microsoft.GroupQueryAttention", 1, "M", "INT32"),
        ("com.microsoft.RotaryEmbedding", 1, "M", "INT64"),
        ("com.microsoft.QLinearConcat", 1, "TV", "FLOAT INT8 UINT8"),
        ("com.microsoft.EmbedLayerNormalization", 1, "T", "FLOAT FLOAT16"),
    ],
)
def test_some_types_are_those_that_onnx_runtime_lists(operator: str, version: int, parameter: str, types: str) -> None:
    (row,) = (row for row in registrations().rows[operator] if version in row.versions)
    assert row.types[parameter] == frozenset(types.split())


def test_a_type_parameter_without_a_row_has_any_type_that_directml_has() -> None:
    assert reason("QLinearMatMul", 21, Typed("TS", "FLOAT16", "input a_scale")) is None
    assert "input a_scale is BFLOAT16" in reason("QLinearMatMul", 21, Typed("TS", "BFLOAT16", "input a_scale"))
    assert reason("DequantizeLinear", 21, Typed("T1", "INT4", "input x")) is None


NBITS = {"bits": 4, "K": 64, "block_size": 32}


@pytest.mark.parametrize(
    ("name", "version", "taken", "left", "said"),
    [
        ("BatchNormalization", 15, {}, {"training_mode": 1}, "in training"),
        ("MaxPool", 12, {}, {"storage_order": 1}, "storage_order 1"),
        ("Resize", 13, {"mode": "linear"}, {"mode": "cubic"}, "mode cubic"),
        ("Resize", 19, {}, {"exclude_outside": 1}, "exclude_outside"),
        ("Resize", 18, {}, {"extrapolation_value": 2.5}, "extrapolation_value 2.5"),
        ("GRU", 14, {}, {"layout": 1}, "layout 1"),
        ("ScatterND", 16, {"reduction": "none"}, {"reduction": "add"}, "reduction add"),
        ("Pad", 2, {"pads": [0, 1]}, {"pads": [0, -1]}, "negative pads"),
        ("Slice", 13, {"inputs": 5}, {"inputs": 6}, "5 inputs"),
        ("LayerNormalization", 17, {}, {"outputs": 2}, "more than one output"),
        ("SimplifiedLayerNormalization", 1, {}, {"outputs": 2}, "more than one output"),
        ("com.microsoft.Attention", 1, {"inputs": 4}, {"inputs": 5}, "the input past"),
        ("com.microsoft.Attention", 1, {}, {"outputs": 2}, "the output present"),
        ("com.microsoft.Attention", 1, {}, {"unidirectional": 1}, "unidirectional 1"),
        ("com.microsoft.QAttention", 1, {"unidirectional": 1}, {"unidirectional": 1, "inputs": 6}, "with a mask"),
        ("com.microsoft.QAttention", 1, {"inputs": 6}, {"do_rotary": 1}, "do_rotary 1"),
        ("com.microsoft.QLinearSigmoid", 1, {"inputs": 5}, {"inputs": 4}, "zero points"),
        ("com.microsoft.MatMulNBits", 1, NBITS, {**NBITS, "bits": 2}, "2 bits"),
        ("com.microsoft.MatMulNBits", 1, NBITS, {**NBITS, "K": 72}, "no multiple of block_size 32"),
        ("com.microsoft.SkipLayerNormalization", 1, {}, {"outputs": 2}, "the output mean"),
    ],
)
def test_the_provider_asks_for_more_than_types(
    name: str, version: int, taken: dict[str, Any], left: dict[str, Any], said: str
) -> None:
    assert said in reason(name, version, **left)
    assert reason(name, version, **taken) is None


def test_the_statistics_of_a_batch_normalization_are_of_the_type_of_its_input() -> None:
    half = zeros(1, dtype="float16")
    mixed = node("BatchNormalization", [X.astype("float16"), half, half, zeros(1), zeros(1)], X)
    assert "several types" in (left_to_others(mixed, 15, []) or "")
    assert left_to_others(mixed, 9, []) is None


def test_every_query_that_is_registered_is_in_the_row_of_its_operator() -> None:
    named = {name: {row.query for row in rows if row.query} for name, rows in registrations().rows.items()}
    queries = {name: row.query for name, row in OPERATORS.items() if row.query}
    assert {name for name, queries_of in named.items() if queries_of} == set(queries)
    for name, query in queries.items():
        (own,) = named[name]
        assert (query.__doc__ or "").endswith(f".cpp, {own}.")


def test_every_set_of_types_is_used() -> None:
    document = yaml.read(os.path.join(os.path.dirname(provider.__file__), "registrations.yaml")).value
    rows = [row for given in document["operators"].values() for row in given]
    words = [value for row in rows for value in row.values() if isinstance(value, str)]
    assert document["types"].keys() <= set(" ".join(words).split())


def test_every_type_is_known() -> None:
    known = {
        "BOOL",
        "DOUBLE",
        "FLOAT",
        "FLOAT16",
        *(f"{sign}INT{bits}" for sign in ("", "U") for bits in (4, 8, 16, 32, 64)),
    }
    rows = [row for found in registrations().rows.values() for row in found]
    assert {name for row in rows for types in row.types.values() for name in types} <= known
