"""`validate` of DirectML graphs: formats and exit codes."""

from __future__ import annotations

import json

import pytest
from commandline import GOOD, dmlcheck, write
from dml_graphs import FLOAT32, add, gemm, graph, matmul_add, operator, raw_constant, save, tensor

MISMATCH = matmul_add(nodes=[gemm(), add(tensor([1, 1, 1, 5], FLOAT32, 24))])


def test_a_graph_is_checked() -> None:
    save(matmul_add())
    result = dmlcheck("validate", "Partition_0.bin")
    assert result.exit_code == 0
    assert (
        "Partition_0.bin is valid from DML_FEATURE_LEVEL_2_0 (DirectML 1.1.0), because of 1 node: add" in result.output
    )


def test_json_has_the_nodes_and_the_graph() -> None:
    save(matmul_add())
    result = dmlcheck("validate", "Partition_0.bin", "--feature-level", "1_0", "--format", "json")
    assert result.exit_code == 1
    report = json.loads(result.output)
    assert (report["schema"], report["valid"]) == ("dmlcheck-validation/1", False)
    assert report["models"] == [
        {"file": "Partition_0.bin", "minimum_feature_level": "2_0", "nodes": ["add"], "checked": 2, "constants": 2}
    ]
    matmul, added = report["descs"]
    assert (matmul["name"], matmul["operator"], matmul["valid"]) == ("matmul", "DML_OPERATOR_GEMM", True)
    assert (added["name"], added["minimum_feature_level"], added["valid"]) == ("add", "2_0", False)


def test_an_edge_that_does_not_agree_is_an_error() -> None:
    save(MISMATCH)
    result = dmlcheck("validate", "Partition_0.bin", "--format", "json")
    assert result.exit_code == 1
    report = json.loads(result.output)
    assert report["models"][0]["minimum_feature_level"] is None
    (problem,) = report["descs"][1]["diagnostics"]
    pointer = "nodes[3].desc.ATensor.TotalTensorSizeInBytes"
    assert (problem["rule"], problem["line"], problem["pointer"]) == ("edge-mismatch", None, pointer)


def test_an_output_that_nothing_writes_is_an_error() -> None:
    save(graph([gemm()], ["model_input", "weights"], ["product", "more"]))
    result = dmlcheck("validate", "Partition_0.bin")
    assert result.exit_code == 1
    assert "error[dangling-edge]: graphOutputNames[1]: no node writes 'more'" in result.output


@pytest.mark.parametrize("data", [b"", matmul_add()[:200]])
def test_a_file_that_is_no_graph_is_wrong_input(data: bytes) -> None:
    save(data)
    result = dmlcheck("validate", "Partition_0.bin")
    assert result.exit_code == 2
    assert "Partition_0.bin: error[graph-syntax]: the file is no DirectML graph: " in result.output


def test_a_node_that_is_not_as_its_operator_is_is_wrong_input() -> None:
    node = operator("r", "DML_OPERATOR_ACTIVATION_RELU", {"x": tensor([5]), "z": tensor([5])}, {"y": tensor([5])})
    save(graph([node], ["x", "z"], ["y"]))
    result = dmlcheck("validate", "Partition_0.bin")
    assert result.exit_code == 2
    assert "error[graph-syntax]: nodes[0]: it has 2 inputs; DML_OPERATOR_ACTIVATION_RELU has at most 1" in result.output


def test_a_file_that_is_not_there_is_wrong_input() -> None:
    result = dmlcheck("validate", "absent.bin")
    assert result.exit_code == 2
    assert "absent.bin: error[file-not-found]: no such file" in result.output


def test_a_graph_without_operators_has_nothing_to_check() -> None:
    save(graph([raw_constant("c", "y", bytes(4))], [], ["y"]))
    assert dmlcheck("validate", "Partition_0.bin").exit_code == 5


def test_a_graph_beside_other_files_is_one_of_them() -> None:
    save(matmul_add(), "a.BIN")
    write("a.yaml", GOOD)
    report = json.loads(dmlcheck("validate", "a.yaml", "a.BIN", "--format", "json").output)
    assert [desc["file"] for desc in report["descs"]] == ["a.yaml", "a.BIN", "a.BIN"]


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_other_formats_have_the_rule(form: str) -> None:
    save(MISMATCH)
    result = dmlcheck("validate", "Partition_0.bin", "--format", form)
    assert result.exit_code == 1
    assert "edge-mismatch" in result.output


def test_all_levels_are_not_for_graphs() -> None:
    save(matmul_add())
    result = dmlcheck("validate", "Partition_0.bin", "--all-levels")
    assert result.exit_code == 2
    assert "--all-levels is not for ONNX models or DirectML graphs" in result.output
