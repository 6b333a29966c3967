"""DirectML graphs on disk as graphs of nodes, and the steps of these."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from dml_graphs import save

from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.formats.dml_graph.graph import NodeDesc, desc_of, read_graph
from dmlcheck.formats.dml_graph.read import Attribute, FileNode, Operator, Tensor
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.records import GraphFile, Step

pytestmark = pytest.mark.usefixtures("folder")


def steps(data: bytes) -> tuple[tuple[Step, ...], list[Finding]]:
    found = read_graph(save(data))
    assert isinstance(found, GraphFile)
    return collected(valid_steps(found))


# ---- nodes of graphs as descs


FOUR = Tensor("DML_TENSOR_DATA_TYPE_FLOAT32", (1, 1, 2, 2), None, 16)
DESC = {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [1, 1, 2, 2], "TotalTensorSizeInBytes": 16}
NO = Attribute("Activation")
GEMM = (*[Attribute("UInt32", 1), Attribute("UInt32", 0), Attribute("Float32", 1.0), Attribute("Float32", 0.5)], NO)


def made(operator: Operator, inputs: str = "", outputs: str = "y", owned: frozenset[str] = frozenset()) -> NodeDesc:
    names, written = (tuple("" if name == "-" else name for name in text.split()) for text in (inputs, outputs))
    return desc_of(FileNode("n", operator, names, written), operator, owned)


def said(found: NodeDesc) -> list[tuple[tuple[str | int, ...], str]]:
    return [(finding.path, finding.message) for finding in found.findings]


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
