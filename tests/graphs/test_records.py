"""The constants of a graph, in its file or beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dml_graphs import add, gemm, graph, named_constant, raw_constant, save

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.graphs.records import Constants, GraphFile, constants_of

TWO = TensorDesc("UINT16", (2,))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(tmp_path, "graphs").mkdir()
    monkeypatch.chdir(tmp_path)


def constants(file: str = "w_0") -> Constants:
    """Return those of a graph with a constant beside it and one in it."""
    nodes = [named_constant("w", "weights", file), raw_constant("b", "bias", bytes([1, 2, 3, 4, 5])), gemm(), add()]
    path = save(graph(nodes, ["model_input"], ["model_output"]), "graphs/Partition_0.bin")
    found = read_graph(path)
    assert isinstance(found, GraphFile)
    return constants_of(found)


def loaded(found: Constants, name: str, tensor: TensorDesc = TWO) -> tuple[list[int] | None, list[Finding]]:
    data, findings = collected(found.load(name, tensor))
    return None if data is None else data.tolist(), findings


def test_a_constant_in_the_file_has_its_bytes() -> None:
    assert loaded(constants(), "bias") == ([1, 2, 3, 4], [])


def test_a_constant_beside_the_file_is_read_as_far_as_it_is_needed() -> None:
    Path("graphs/w_0.bin").write_bytes(bytes(range(9, 20)))
    assert loaded(constants(), "weights") == ([9, 10, 11, 12], [])


@pytest.mark.parametrize(("name", "index"), [("weights", 0), ("bias", 1)])
def test_a_constant_that_is_too_short_is_a_mistake(name: str, index: int) -> None:
    Path("graphs/w_0.bin").write_bytes(bytes(5))
    data, (finding,) = loaded(constants(), name, TensorDesc("UINT16", (3,)))
    assert (data, finding.rule, finding.path) == (None, "edge-mismatch", ("nodes", index))
    assert finding.message == "it has 5 bytes, and 6 are read of it"


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("w_0", "no such file"),
        ("../w", "lies outside the folder tree of the file that names it"),
        ("a\0b", "no such file"),
    ],
)
def test_a_file_that_is_not_beside_the_graph_is_not_read(file: str, problem: str) -> None:
    Path("w.bin").write_bytes(bytes(8))
    data, (finding,) = loaded(constants(file), "weights")
    assert (data, finding.rule, finding.path) == (None, "file-not-found", ("nodes", 0))
    assert problem in finding.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("graphs/w_0.bin")
    assert loaded(constants(), "weights")[1][0].rule == "file-not-found"
