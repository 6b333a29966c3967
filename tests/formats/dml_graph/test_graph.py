"""DirectML graphs on disk as graphs of nodes, and the steps of these."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from dml_graphs import add, gemm, graph, matmul_add, operator, save, tensor, uint32

from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.formats.dml_graph.graph import NodeDesc, desc_of, read_graph
from dmlcheck.formats.dml_graph.read import Attribute, FileNode, Operator, Tensor
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.records import Constant, GraphFile, Step

pytestmark = pytest.mark.usefixtures("folder")


def steps(data: bytes) -> tuple[tuple[Step, ...], list[Finding]]:
    found = read_graph(save(data))
    assert isinstance(found, GraphFile)
    return collected(valid_steps(found))


def test_a_step_knows_its_tensors_by_the_names_of_their_edges() -> None:
    (matmul, added), findings = steps(matmul_add())
    assert findings == []
    assert (matmul.name, matmul.desc.spec.short, matmul.path) == ("matmul", "GEMM", ("nodes", 2))
    assert dict(matmul.inputs) == {"ATensor": "model_input", "BTensor": "weights"}
    assert dict(matmul.outputs) == {"OutputTensor": "product"}
    assert dict(added.inputs) == {"ATensor": "product", "BTensor": "bias"}


def test_an_array_of_tensors_has_a_label_for_each() -> None:
    """SPLIT of three elements into one and two; nobody reads the first."""
    one, two = tensor([1, 1, 1, 1]), tensor([1, 1, 1, 2])
    ends = {"x": tensor([1, 1, 1, 3])}, [("", one), ("b", two)]
    node = operator("split", "DML_OPERATOR_SPLIT", *ends, uint32(2), uint32(3))  # OutputCount and Axis
    ((split,), findings) = steps(graph([node], ["x"], ["b"]))
    assert findings == []
    assert dict(split.outputs) == {"OutputTensors[0]": "", "OutputTensors[1]": "b"}


def test_a_node_with_a_mistake_is_no_step() -> None:
    (found, findings) = steps(matmul_add(nodes=[gemm(sizes=(1, 1, 1, 6)), add()]))
    assert [step.name for step in found] == ["add"]
    assert [(each.rule, each.path[:2]) for each in findings] == [("size-mismatch", ("nodes", 2))]


def test_a_node_that_is_not_as_its_operator_is_does_not_hide_one_that_is() -> None:
    """Both have the same fields as far as they can be matched; the first has a tensor too many."""
    small = tensor([1, 1, 1, 5])
    wrong = operator("wrong", "DML_OPERATOR_ACTIVATION_RELU", {"x": small, "z": small}, {"y": small})
    right = operator("right", "DML_OPERATOR_ACTIVATION_RELU", {"x": small}, {"w": small})
    found, findings = steps(graph([wrong, right], ["x", "z"], ["y", "w"]))
    assert [step.name for step in found] == ["right"]
    assert [(each.rule, each.path) for each in findings] == [("graph-syntax", ("nodes", 0))]


def test_edges_that_lead_nowhere_are_findings() -> None:
    found, findings = steps(matmul_add(nodes=[gemm(), add(name="lost")]))
    assert [step.name for step in found] == ["matmul"]
    assert [(each.rule, each.path) for each in findings] == [("dangling-edge", ("nodes", 3, "desc", "ATensor"))]


def test_constants_and_what_reads_them_are_as_the_file_has_them() -> None:
    """What comes from a file beside is owned by DirectML, what is in the graph's file is not."""
    found = read_graph(save(matmul_add(), "w_graph.bin"))
    assert isinstance(found, GraphFile)
    assert (found.file, found.inputs, found.outputs) == ("w_graph.bin", ("model_input",), ("model_output",))
    weights, bias = found.constants
    assert weights == Constant("weights", "w", ("nodes", 0), None, "w_0")
    assert (bias.tensor, bias.node, bytes(bias.data or b"")) == ("bias", "b", bytes(20))
    matmul, added = found.nodes
    assert matmul.fields["BTensor"]["Flags"] == "OWNED_BY_DML"  # type: ignore[index]
    assert "Flags" not in added.fields["BTensor"]  # type: ignore[operator]


def test_names_that_no_tensor_is_of_are_kept() -> None:
    small = tensor([1, 1, 1, 5])
    node = operator("unknown", "DML_OPERATOR_ACTIVATION_RELUU", {"x": small}, {"y": small, "z": small})
    found = read_graph(save(graph([node], ["x"], ["y"])))
    assert isinstance(found, GraphFile)
    assert (found.nodes[0].outputs, found.nodes[0].others) == ({}, ("y", "z"))


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
