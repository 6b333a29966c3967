"""`validate` of DirectML graphs: formats and exit codes."""

from __future__ import annotations

import json

from commandline import dmlcheck
from dml_graphs import graph, matmul_add, operator, save, tensor


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
