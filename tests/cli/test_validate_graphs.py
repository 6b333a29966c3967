"""`validate` of DirectML graphs: formats and exit codes."""

from __future__ import annotations

from commandline import dmlcheck
from dml_graphs import graph, operator, save, tensor


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
