"""Nodes of graphs as descs: tensors by the names of edges, attributes by position."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.formats.dml_graph.descs import NodeDesc, desc_of
from dmlcheck.formats.dml_graph.records import Attribute, FileNode, Operator, Tensor

FOUR = Tensor("DML_TENSOR_DATA_TYPE_FLOAT32", (1, 1, 2, 2), None, 16)
DESC = {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [1, 1, 2, 2], "TotalTensorSizeInBytes": 16}
NO = Attribute("Activation")
GEMM = (*[Attribute("UInt32", 1), Attribute("UInt32", 0), Attribute("Float32", 1.0), Attribute("Float32", 0.5)], NO)


def made(operator: Operator, inputs: str = "", outputs: str = "y", owned: frozenset[str] = frozenset()) -> NodeDesc:
    names, written = (tuple("" if name == "-" else name for name in text.split()) for text in (inputs, outputs))
    return desc_of(FileNode("n", operator, names, written), operator, owned)


def said(found: NodeDesc) -> list[tuple[tuple[str | int, ...], str]]:
    return [(finding.path, finding.message) for finding in found.findings]


def test_an_empty_name_is_a_tensor_that_is_left_out() -> None:
    found = made(Operator("DML_OPERATOR_GEMM", (FOUR, FOUR), (FOUR,), GEMM), "a b -")
    assert found.fields == {
        "ATensor": DESC,
        "BTensor": DESC,
        "OutputTensor": DESC,
        "TransA": "TRANSPOSE",
        "TransB": "NONE",
        "Alpha": 1.0,
        "Beta": 0.5,
    }
    assert (found.findings, read_desc(found.operator, found.fields).findings) == ((), ())
    assert [(end.edge, end.path) for end in (*found.inputs, *found.outputs)] == [
        ("a", ("ATensor",)),
        ("b", ("BTensor",)),
        ("y", ("OutputTensor",)),
    ]


def test_tensors_after_one_that_is_left_out_keep_their_fields() -> None:
    """InputTensor, ScaleTensor, BiasTensor: the scale is left out."""
    five = FOUR._replace(sizes=(4,))
    operator = Operator("DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1", (FOUR, five), (FOUR,))
    assert made(operator, "x - bias").fields["BiasTensor"]["Sizes"] == [4]
    assert "ScaleTensor" not in made(operator, "x - bias").fields


def test_with_a_tensor_for_each_name_an_unread_output_has_its_desc() -> None:
    """MAX_POOLING2 writes OutputTensor and OutputIndicesTensor; nothing reads the first."""
    indices = FOUR._replace(data_type="DML_TENSOR_DATA_TYPE_UINT32")
    operator = Operator("DML_OPERATOR_MAX_POOLING2", (FOUR,), (FOUR, indices))
    found = made(operator, "x", "- y")
    assert found.fields["OutputTensor"] == DESC
    assert found.fields["OutputIndicesTensor"]["DataType"] == "DML_TENSOR_DATA_TYPE_UINT32"


def test_an_array_of_tensors_takes_all_that_are_left() -> None:
    operator = Operator("DML_OPERATOR_JOIN", (FOUR, FOUR), (FOUR,), (Attribute("UInt32", 2), Attribute("UInt32", 3)))
    found = made(operator, "a b")
    assert found.fields["InputTensors"] == [DESC, DESC]
    assert (found.fields["InputCount"], found.fields["Axis"]) == (2, 3)
    assert [end.path for end in found.inputs] == [("InputTensors", 0), ("InputTensors", 1)]


def test_what_a_constant_in_a_file_beside_brings_is_owned_by_directml() -> None:
    strided = FOUR._replace(strides=(0, 0, 2, 1))
    found = made(Operator("DML_OPERATOR_GEMM", (FOUR, strided), (FOUR,), GEMM), "a b -", owned={"b", "y"})
    assert found.fields["BTensor"] == {**DESC, "Flags": "OWNED_BY_DML", "Strides": [0, 0, 2, 1]}
    assert "Flags" not in found.fields["ATensor"]
    assert "Flags" not in found.fields["OutputTensor"]


def value_of(operator: str, name: str, *attributes: Attribute) -> Any:
    return made(Operator(operator, (FOUR,), (FOUR,), attributes), "x").fields.get(name)


def test_structs_lists_and_activations() -> None:
    relu = Operator("DML_OPERATOR_ACTIVATION_LEAKY_RELU", attributes=(Attribute("Float32", 0.25),))
    fused = {"Type": "DML_OPERATOR_ACTIVATION_LEAKY_RELU", "Alpha": 0.25}
    assert value_of("DML_OPERATOR_GEMM", "FusedActivation", *GEMM[:4], Attribute("Activation", relu)) == fused
    bias = Attribute("ScaleBias", (2.0, 0.5))
    assert value_of("DML_OPERATOR_ELEMENT_WISE_IDENTITY", "ScaleBias", bias) == {"Scale": 2.0, "Bias": 0.5}
    axes = (Attribute("UInt32", 10), Attribute("UInt32", 2), Attribute("UIntArray", (0, 3)))
    assert value_of("DML_OPERATOR_REDUCE", "Axes", *axes) == [0, 3]
    assert value_of("DML_OPERATOR_REDUCE", "Function", *axes) == "SUM"  # the eleventh of the header's
    size = (Attribute("Size2D", (3, 4)), Attribute("UInt32", 0))
    assert value_of("DML_OPERATOR_UPSAMPLE_2D", "ScaleSize", *size) == {"Width": 3, "Height": 4}


@pytest.mark.parametrize(
    ("number", "form", "value"),
    [(1, "<f", 0.5), (2, "<e", -2.0), (3, "<I", 2**32 - 1), (7, "<h", -5), (8, "<b", -128), (11, "<q", -(2**63))],
)
def test_a_scalar_union_is_read_as_its_data_type(number: int, form: str, value: float) -> None:
    """The numbers are those of DML_TENSOR_DATA_TYPE: FLOAT32 FLOAT16 UINT32 ... INT16 INT8 ... INT64."""
    data = struct.pack(form, value).ljust(8, b"\x7f")
    attributes = (Attribute("UInt32", number), Attribute("ScalarUnionData", data))
    found = made(Operator("DML_OPERATOR_FILL_VALUE_CONSTANT", (), (FOUR,), attributes))
    assert (found.fields["Value"], found.findings) == (value, ())


def test_attributes_that_are_missing_at_the_end_are_zero_or_nothing() -> None:
    found = made(Operator("DML_OPERATOR_GEMM", (FOUR, FOUR), (FOUR,), GEMM[:1]), "a b -")
    assert {name: found.fields.get(name) for name in ("TransA", "TransB", "Alpha", "FusedActivation")} == {
        "TransA": "TRANSPOSE",
        "TransB": "NONE",
        "Alpha": 0.0,
        "FusedActivation": None,
    }


def test_a_number_that_no_enumeration_has_is_an_error() -> None:
    found = made(Operator("DML_OPERATOR_GEMM", (FOUR, FOUR), (FOUR,), (Attribute("UInt32", 2), *GEMM[1:])), "a b -")
    assert [finding.rule for finding in read_desc(found.operator, found.fields).findings] == ["unknown-enum-value"]


def test_what_is_not_as_the_operator_is_is_said() -> None:
    names = made(Operator("DML_OPERATOR_GEMM", (FOUR, FOUR, FOUR, FOUR), (FOUR,), GEMM), "a b -")
    assert said(names) == [
        ((), "it names 2 inputs and has the descs of 4"),
        ((), "it has 4 inputs; DML_OPERATOR_GEMM has at most 3"),
    ]
    more = made(Operator("DML_OPERATOR_GEMM", (FOUR, FOUR), (FOUR,), (*GEMM, NO)), "a b -")
    assert said(more) == [((), "it has 6 attributes; DML_OPERATOR_GEMM has 5")]
    other = made(Operator("DML_OPERATOR_GEMM", (FOUR, FOUR), (FOUR,), (*GEMM[:2], NO, GEMM[3], GEMM[0])), "a b -")
    assert said(other) == [
        (("desc", "Alpha"), "Alpha of DML_OPERATOR_GEMM is Activation in the file, and must be Float32"),
        (
            ("desc", "FusedActivation"),
            "FusedActivation of DML_OPERATOR_GEMM is UInt32 in the file, and must be Activation",
        ),
    ]


@pytest.mark.parametrize("name", ["", "GEMM", "DML_OPERATOR_NONE"])
def test_an_operator_that_is_none_keeps_its_name(name: str) -> None:
    found = made(Operator(name, (FOUR,), (FOUR,)), "x")
    assert (found.operator, found.fields) == (name, {})
