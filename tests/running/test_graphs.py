"""DirectML graphs checked: each operator, the edges, and the level of the whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from dml_graphs import FLOAT32, add, gemm, graph, matmul_add, operator, raw_constant, save, tensor

from dmlcheck.diagnostics.record import MAX_PROBLEMS
from dmlcheck.running.graphs import GraphResult, validated_graph
from dmlcheck.running.legality import Asked


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def checked(data: bytes, level: str | None = None) -> GraphResult:
    return validated_graph(save(data), Asked(level))


def wrong(result: GraphResult) -> list[tuple[str, str, str | None]]:
    return [(entry.name, found.rule, found.pointer) for entry in result.entries for found in entry.diagnostics]


def test_a_graph_is_valid_from_the_level_of_its_most_demanding_node() -> None:
    """GEMM is of DML_FEATURE_LEVEL_1_0, ELEMENT_WISE_ADD1 came with 2_0."""
    result = checked(matmul_add())
    assert {desc.name: (desc.operator, desc.minimum) for desc in result.descs} == {
        "matmul": ("DML_OPERATOR_GEMM", "1_0"),
        "add": ("DML_OPERATOR_ELEMENT_WISE_ADD1", "2_0"),
    }
    assert (result.minimum, result.demanding, result.checked, result.constants) == ("2_0", ("add",), 2, 2)
    assert (wrong(result), result.is_wrong) == ([], False)


def test_at_a_lower_level_a_node_is_wrong() -> None:
    result = checked(matmul_add(), "1_0")
    assert [(name, rule) for name, rule, _ in wrong(result)] == [("add", "operator-unavailable")]
    assert (result.minimum, result.is_wrong) == ("2_0", False)


def test_a_pointer_leads_to_the_field_of_the_node() -> None:
    """A GEMM of one row and five columns writes five elements, not six."""
    result = checked(matmul_add(nodes=[gemm(sizes=(1, 1, 1, 6)), add()]))
    assert wrong(result) == [("matmul", "size-mismatch", "nodes[2].desc.OutputTensor.Sizes[3]")]
    (entry,) = (entry for entry in result.entries if entry.diagnostics)
    assert (entry.diagnostics[0].line, entry.diagnostics[0].file) == (None, "Partition_0.bin")
    assert result.minimum is None


def test_edges_that_are_wrong_make_the_graph_valid_at_no_level() -> None:
    result = checked(matmul_add(nodes=[gemm(), add(name="lost")]))
    assert wrong(result) == [("add", "dangling-edge", "nodes[3].desc.ATensor")]
    assert (result.minimum, result.is_wrong) == (None, False)
    assert [desc.minimum for desc in result.descs] == ["1_0", "2_0"]


def test_an_output_that_nothing_writes_is_an_entry_of_its_own() -> None:
    result = checked(graph([gemm()], ["model_input", "weights"], ["product", "more"]))
    assert wrong(result) == [("more", "dangling-edge", "graphOutputNames[1]")]
    assert result.checked == 1


def test_a_tensor_that_is_too_small_is_wrong() -> None:
    """Five FLOAT32 take 20 bytes; a size of 0, as of a field that is left out, is not the smallest that holds them."""
    node = operator(
        "r", "DML_OPERATOR_ACTIVATION_RELU", {"x": tensor([1, 1, 1, 5], FLOAT32, 0)}, {"y": tensor([1, 1, 1, 5])}
    )
    pointer = "nodes[0].desc.InputTensor.TotalTensorSizeInBytes"
    assert wrong(checked(graph([node], ["x"], ["y"]))) == [("r", "tensor-too-small", pointer)]


def test_a_node_that_is_not_as_its_operator_is_makes_the_file_wrong() -> None:
    node = operator("r", "DML_OPERATOR_ACTIVATION_RELU", {"x": tensor([5]), "z": tensor([5])}, {"y": tensor([5])})
    result = checked(graph([node], ["x", "z"], ["y"]))
    assert wrong(result) == [("r", "graph-syntax", "nodes[0]")]
    assert (result.is_wrong, result.minimum) == (True, None)


def test_an_operator_that_is_not_known_is_named() -> None:
    node = operator("r", "DML_OPERATOR_ACTIVATION_RELUU", {"x": tensor([5])}, {"y": tensor([5])})
    result = checked(graph([node], ["x"], ["y"]))
    assert [(name, rule) for name, rule, _ in wrong(result)] == [("r", "unknown-operator")]
    assert result.minimum is None


def test_nodes_after_too_many_errors_are_not_checked() -> None:
    bad = [
        operator(f"n{index}", "DML_OPERATOR_ACTIVATION_RELU", {"lost": tensor([5])}, {f"y{index}": tensor([5])})
        for index in range(MAX_PROBLEMS + 3)
    ]
    result = checked(graph(bad, [], ["y0"]))
    assert "2 more nodes are not checked" in result.entries[-1].diagnostics[0].message
    assert (len(result.descs), result.minimum) == (MAX_PROBLEMS + 1, None)


def test_a_graph_of_constants_alone_has_nothing_to_check() -> None:
    result = checked(graph([raw_constant("c", "y", bytes(4))], [], ["y"]))
    assert (result.checked, result.constants, result.minimum, result.demanding) == (0, 1, None, ())


def test_a_file_that_is_no_graph_is_one_entry() -> None:
    result = checked(b"")
    assert (result.is_wrong, [rule for _, rule, _ in wrong(result)]) == (True, ["graph-syntax"])
