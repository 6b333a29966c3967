"""Checked DirectML graphs as text."""

from __future__ import annotations

import pytest
from dml_graphs import FLOAT32, add, gemm, graph, matmul_add, operator, save, tensor

from dmlcheck.models.graphs import validated_graph
from dmlcheck.reports.graphs import graph_lines
from dmlcheck.reports.layout import PLAIN, printed
from dmlcheck.running.legality import LevelRequest

pytestmark = pytest.mark.usefixtures("folder")

PLACE = "Partition_0.bin: error[edge-mismatch]: nodes[3].desc.ATensor.TotalTensorSizeInBytes: "


def lines(data: bytes, level: str | None = None) -> list[str]:
    made = graph_lines(validated_graph(save(data), LevelRequest(level)), PLAIN)
    return [line.rstrip() for text in printed(made, None) for line in text.split("\n")]


def test_the_operators_then_the_level_and_the_nodes_that_ask_for_it() -> None:
    assert lines(matmul_add()) == [
        "",
        "Partition_0.bin:",
        "  DirectML operator               nodes  from",
        "  DML_OPERATOR_ELEMENT_WISE_ADD1  1      2_0",
        "  DML_OPERATOR_GEMM               1      1_0",
        "",
        "Partition_0.bin is valid from DML_FEATURE_LEVEL_2_0 (DirectML 1.1.0), because of 1 node: add",
        "2 nodes checked, 2 constants",
    ]


def test_a_node_that_needs_a_higher_level_is_told_first() -> None:
    said = lines(matmul_add(), "1_0")
    assert said[0] == (
        "Partition_0.bin::add: DML_OPERATOR_ELEMENT_WISE_ADD1 is not valid at DML_FEATURE_LEVEL_1_0, only from "
        "DML_FEATURE_LEVEL_2_0 (DirectML 1.1.0):"
    )
    assert said[1].startswith("Partition_0.bin: error[operator-unavailable]: ")


def test_an_edge_that_is_wrong_is_told_with_its_place() -> None:
    said = lines(matmul_add(nodes=[gemm(), add(tensor([1, 1, 1, 5], FLOAT32, 24))]))
    assert said[:3] == [
        "Partition_0.bin::add: DML_OPERATOR_ELEMENT_WISE_ADD1 is not valid in this graph:",
        PLACE + "ATensor of the node 'add' takes 24 bytes, and the node 'matmul' writes 20 to 'product'",
        "  help: what is written must have at least the bytes that are read",
    ]
    assert "Partition_0.bin is valid at no level" in said


def test_names_are_printed_on_one_line_and_not_all_of_them() -> None:
    nodes = [
        operator(
            f"n{index}\n\x1b[31m",
            "DML_OPERATOR_ACTIVATION_RELU",
            {"x": tensor([1, 1, 1, 5])},
            {f"y{index}": tensor([1, 1, 1, 5])},
        )
        for index in range(12)
    ]
    said = lines(graph(nodes, ["x"], ["y0"]))
    assert said[-2].endswith(r"n9\n\x1b[31m, ...")
    assert r"because of 12 nodes: n0\n\x1b[31m, n1\n" in said[-2]


def test_a_file_that_is_no_graph_is_told_alone() -> None:
    assert lines(b"")[0].startswith("Partition_0.bin: error[graph-syntax]: the file is no DirectML graph: ")
