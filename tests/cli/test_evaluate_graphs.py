"""`eval` of DirectML graphs."""

from __future__ import annotations

import numpy as np
from commandline import dmlcheck
from dml_graphs import gemm, graph, matmul_add, raw_constant, save


def graph_and_inputs() -> None:
    save(matmul_add())
    np.arange(25, dtype=np.float32).tofile("w_0.bin")
    np.savez("in.npz", model_input=np.array([1, 0, 0, 0, 2], dtype=np.float32))


def test_the_outputs_of_a_graph_are_printed() -> None:
    graph_and_inputs()
    result = dmlcheck("eval", "Partition_0.bin", "--inputs", "in.npz")
    assert (result.exit_code, result.stdout) == (0, "Partition_0:\n  model_output: [[[[40, 43, 46, 49, 52]]]]\n")


def test_an_input_that_is_not_given_is_an_error() -> None:
    graph_and_inputs()
    result = dmlcheck("eval", "Partition_0.bin")
    assert result.exit_code == 1
    assert "Partition_0.bin: error[missing-tensor]: graphInputNames[0]: the input 'model_input'" in result.output


def test_a_mistake_of_a_node_has_its_place() -> None:
    save(graph([gemm(sizes=(1, 1, 1, 6))], ["model_input", "weights"], ["product"]))
    result = dmlcheck("eval", "Partition_0.bin")
    assert result.exit_code == 1
    assert "error[size-mismatch]: nodes[0].desc.OutputTensor.Sizes[3]: " in result.output


def test_a_file_that_is_no_graph_is_wrong_input() -> None:
    save(b"")
    assert dmlcheck("eval", "Partition_0.bin").exit_code == 2


def test_a_graph_without_operators_has_nothing_to_compute() -> None:
    save(graph([raw_constant("c", "y", bytes(4))], [], ["y"]))
    result = dmlcheck("eval", "Partition_0.bin")
    assert result.exit_code == 5
    assert "nothing was computed" in result.output
