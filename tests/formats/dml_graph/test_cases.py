"""The operators of a graph as cases of the model that dispatches it."""

from __future__ import annotations

from pathlib import Path

import pytest
from dml_graphs import add, gemm, graph, matmul_add, operator, raw_constant, save, tensor

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.dml_graph.cases import node_cases
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.graphs.records import Graph

ROW = tensor([1, 1, 1, 5])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def cases(data: bytes) -> list[tuple[Case, list[Finding]]]:
    found = read_graph(save(data))
    assert isinstance(found, Graph)
    return node_cases(found, Case("m.json::g", "g", "m.json", "", None, {}))


def test_an_operator_is_a_plain_desc_named_after_its_dispatchable() -> None:
    (matmul, of_matmul), (added, of_added) = cases(matmul_add())
    assert (matmul.id, matmul.name, matmul.file) == ("m.json::g/matmul", "g/matmul", "m.json")
    assert (matmul.operator, matmul.is_plain_desc) == ("DML_OPERATOR_GEMM", True)
    assert added.desc["BTensor"] == {"DataType": FLOAT32, "Sizes": [1, 1, 1, 5], "TotalTensorSizeInBytes": 20}
    assert (of_matmul, of_added) == ([], [])


FLOAT32 = "DML_TENSOR_DATA_TYPE_FLOAT32"


def test_operators_of_one_name_are_told_apart() -> None:
    nodes = [
        operator("r", "DML_OPERATOR_ACTIVATION_RELU", {"x": ROW}, {"y": ROW}),
        operator("r", "DML_OPERATOR_ACTIVATION_RELU", {"y": ROW}, {"z": ROW}),
    ]
    assert [case.name for case, _ in cases(graph(nodes, ["x"], ["z"]))] == ["g/r", "g/r (1)"]


def test_what_is_wrong_beside_descs_goes_with_an_operator() -> None:
    """A constant that is written twice goes with the next operator, an output that nothing writes with the last."""
    twice = [raw_constant("b", "bias", bytes(20)), raw_constant("c", "bias", bytes(20))]
    data = graph([*twice, gemm(), add(name="lost")], ["model_input", "weights"], ["absent"])
    (_, of_matmul), (_, of_added) = cases(data)
    assert [(each.rule, each.path) for each in of_matmul] == [("graph-syntax", ("nodes", 1))]
    assert [(each.rule, each.path) for each in of_added] == [
        ("dangling-edge", ("nodes", 3, "desc", "ATensor")),
        ("dangling-edge", ("graphOutputNames", 0)),
    ]
