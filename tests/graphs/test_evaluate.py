"""Graphs computed by the reference engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dml_graphs import gemm, graph, matmul_add, operator, raw_constant, save, tensor

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.graphs.buffers import Array
from dmlcheck.graphs.evaluate import evaluate_graph
from dmlcheck.graphs.records import GraphFile


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def given(name: str, tensor: TensorDesc) -> Checking[Array | None]:
    """Give 1, 0, 0, 0, 2 to `model_input`, and nothing to others."""
    if name == "model_input":
        assert tensor.element_count == 5
        return np.array([1, 0, 0, 0, 2], dtype=np.float32).view(np.uint8)
    yield Finding("missing-tensor", (), {"tensor": name, "section": "inputs"})
    return None


def computed(data: bytes) -> tuple[dict[str, list[object]], list[Finding]]:
    path = save(data)
    found = read_graph(path)
    assert isinstance(found, GraphFile)
    results, findings = collected(evaluate_graph(found, given))
    return {name: each.values.reshape(-1).tolist() for name, each in results.outputs.items()}, findings


def test_operators_are_computed_in_order_with_their_constants() -> None:
    """The first row of the weights, 0 to 4, and twice the last, 20 to 24; the bias is 0."""
    np.arange(25, dtype=np.float32).tofile("w_0.bin")
    assert computed(matmul_add()) == ({"model_output": [40, 43, 46, 49, 52]}, [])


def test_constants_that_are_not_there_are_named_by_their_node() -> None:
    outputs, (finding,) = computed(matmul_add())
    assert (outputs, finding.rule, finding.path) == ({}, "file-not-found", ("nodes", 0))


def test_an_input_that_is_not_given_is_named_by_its_place() -> None:
    small = tensor([1, 1, 1, 5])
    node = operator("r", "DML_OPERATOR_ACTIVATION_RELU", {"x": small}, {"y": small})
    outputs, (finding,) = computed(graph([node], ["unused", "x"], ["y"]))
    assert (outputs, finding.rule, finding.path) == ({}, "missing-tensor", ("graphInputNames", 1))


def test_a_graph_with_mistakes_is_not_computed() -> None:
    outputs, findings = computed(graph([gemm(sizes=(1, 1, 1, 6))], ["model_input", "weights"], ["product"]))
    assert (outputs, [finding.rule for finding in findings]) == ({}, ["size-mismatch"])


def test_a_reader_may_have_strides_that_repeat_what_was_written() -> None:
    """RELU writes 1, 0, 0, 0, 2; the sum takes the first two of them for each of two rows."""
    row, two = tensor([1, 1, 1, 5]), tensor([1, 1, 2, 2])
    repeated = tensor([1, 1, 2, 2], total=8, strides=[0, 0, 0, 1])
    nodes = [
        raw_constant("c", "c", np.array([10, 20, 30, 40], dtype=np.float32).tobytes()),
        operator("r", "DML_OPERATOR_ACTIVATION_RELU", {"model_input": row}, {"y": row}),
        operator("a", "DML_OPERATOR_ELEMENT_WISE_ADD", {"y": repeated, "c": two}, {"z": two}),
    ]
    assert computed(graph(nodes, ["model_input"], ["z"])) == ({"z": [11, 20, 31, 40]}, [])
