"""What is meant by a name that is no operator's of DirectML."""

from __future__ import annotations

import pytest

from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.search import (
    ForeignName,
    closest_operator,
    foreign_names,
    meaning,
    meant_operator,
    nearest_operators,
    type_help,
)


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("ARGMXA", "ARGMAX"),
        ("DML_OPERATOR_ARGMXA", "DML_OPERATOR_ARGMAX"),
        ("DML_OPERATOR_SCATTERELEMENTS", "DML_OPERATOR_SCATTER"),
        ("gemm", "GEMM"),
        ("HARDMAX1", "ACTIVATION_HARDMAX1"),
        ("ADD1", "ELEMENT_WISE_ADD1"),
        ("RELU", "ACTIVATION_RELU"),
        ("SIGMOID", "ACTIVATION_SIGMOID"),
        ("DML_OPERATOR_SOFTMAX", "DML_OPERATOR_ACTIVATION_SOFTMAX"),
        ("CONVO", "CONVOLUTION"),
        ("QUANTIZED_LIN", "QUANTIZED_LINEAR_CONVOLUTION"),
        ("MatMul", "GEMM"),
        ("DML_OPERATOR_CONV", "DML_OPERATOR_CONVOLUTION"),
        ("Resize", "RESAMPLE"),
        ("", None),
        ("DML_OPERATOR_", None),
        ("QQQQQQ", None),
    ],
)
def test_a_misspelt_operator_is_offered_the_closest_in_the_same_spelling(name: str, close: str | None) -> None:
    assert closest_operator(name) == close


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("CONVO", ["CONVOLUTION", "CONVOLUTION_INTEGER"]),
        ("GATHERND", ["GATHER_ND"]),
        ("RELU", ["ACTIVATION_RELU"]),
        ("DEPTH_TO_SPAC", ["DEPTH_TO_SPACE", "DEPTH_TO_SPACE1"]),
        ("ELEMENT_WISE_L", ["ELEMENT_WISE_LOG", "ELEMENT_WISE_LOGICAL_OR", "ELEMENT_WISE_LOGICAL_AND"]),
        ("DML_OPERATOR_CONVO", ["DML_OPERATOR_CONVOLUTION", "DML_OPERATOR_CONVOLUTION_INTEGER"]),
        ("dml_operator_reduze", ["DML_OPERATOR_REDUCE"]),
        ("softmx", ["ACTIVATION_SOFTMAX", "ACTIVATION_SOFTMAX1"]),
        ("sigmod", ["ACTIVATION_SIGMOID"]),
        ("convoltion", ["CONVOLUTION"]),
        ("layer_norm", ["MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2"]),
        ("np.matmul", ["GEMM"]),
        ("POOLING_MAX", ["MAX_POOLING"]),
        ("DML_OPERATOR_MAX_POOLING_2D", ["DML_OPERATOR_MAX_POOLING"]),
        ("pooling_average", ["AVERAGE_POOLING"]),
        ("QQQQQQ", []),
    ],
)
def test_the_nearest_operators_are_those_that_are_equally_likely(name: str, near: list[str]) -> None:
    assert nearest_operators(name) == near


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Conv", [("ONNX", "Conv", ("CONVOLUTION",))]),
        ("conv2d", [("WebNN", "conv2d", ("CONVOLUTION",))]),
        ("CONV2D", [("WebNN", "conv2d", ("CONVOLUTION",))]),
        ("Softmax", [("ONNX", "Softmax", ("ACTIVATION_SOFTMAX1",))]),
        ("softmax", [("WebNN", "softmax", ("ACTIVATION_SOFTMAX1",))]),
        ("SOFTMAX", [("ONNX", "Softmax", ("ACTIVATION_SOFTMAX1",)), ("WebNN", "softmax", ("ACTIVATION_SOFTMAX1",))]),
        ("Resize", [("ONNX", "Resize", ("RESAMPLE2", "RESAMPLE3"))]),
        ("com.microsoft.FusedMatMul", [("ONNX", "com.microsoft.FusedMatMul", ("GEMM",))]),
        ("fusedmatmul", [("ONNX", "com.microsoft.FusedMatMul", ("GEMM",))]),
        ("torch.nn.Linear", [("PyTorch", "torch.nn.Linear", ("GEMM",))]),
        ("DML_OPERATOR_GEMM", []),
        ("", []),
    ],
)
def test_a_name_of_onnx_or_webnn_has_its_operators(name: str, found: list[tuple[str, str, tuple[str, ...]]]) -> None:
    assert foreign_names(name) == tuple(ForeignName(*one) for one in found)


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("FP16", "did you mean FLOAT16?"),
        ("fp32", "did you mean FLOAT32?"),
        ("F64", "did you mean FLOAT64?"),
        ("i8", "did you mean INT8?"),
        ("u4", "did you mean UINT4?"),
        ("BF16", "DirectML has no BFLOAT16; cast to FLOAT32"),
        ("BOOL", "DirectML has no BOOL; its logical operators use UINT8"),
        ("DML_TENSOR_DATA_TYPE_FLOT32", "did you mean FLOAT32?"),
        ("FP8", "DirectML has no 8-bit floats; cast to FLOAT16"),
        ("string", None),
    ],
)
def test_a_data_type_of_another_system_has_a_help(name: str, help: str | None) -> None:
    assert type_help(name) == help


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("Conv", "Conv is ONNX's name: write CONVOLUTION"),
        ("Resize", "Resize is ONNX's name: write RESAMPLE2 or RESAMPLE3"),
        ("convoltion", "did you mean CONVOLUTION?"),
        ("Axes", None),
        ("DML_OPERATOR_NOPE", "`dmlcheck show` lists the operators"),
        ("unknown-operater", "did you mean unknown-operator?"),
    ],
)
def test_an_unknown_operator_has_a_help(name: str, help: str | None) -> None:
    assert meant_operator(name) == (help or meaning(name))


def test_a_difference_from_onnx_is_about_a_name_of_its_operator_and_says_where_it_is_from() -> None:
    differences = [(load_spec(name), each) for name in operator_names() for each in load_spec(name).differences]
    assert {spec.short for spec, _ in differences} >= {"ACTIVATION_GELU", "ROI_ALIGN1", "CAST"}
    assert [spec.short for spec, each in differences if each.name not in spec.names["ONNX"] or not each.source] == []
