"""DirectML graphs on disk as graphs of nodes, and the steps of these."""

from __future__ import annotations

import pytest
from dml_graphs import add, gemm, graph, matmul_add, operator, save, tensor, uint32

from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.formats.dml_graph.graph import read_graph
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
