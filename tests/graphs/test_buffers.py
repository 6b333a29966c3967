"""Tensors as bytes between steps."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from dml_graphs import add, gemm, graph, named_constant, raw_constant, save

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.graphs.buffers import Constants, byte_count, constants_of, from_bytes, to_bytes
from dmlcheck.graphs.records import GraphFile


def test_packed_elements_are_their_bytes() -> None:
    tensor = TensorDesc("UINT16", (1, 2))
    data = to_bytes(tensor, np.array([[1, 0x0203]], dtype=np.uint16))
    assert data.tolist() == [1, 0, 3, 2]
    assert from_bytes(tensor, data).tolist() == [[1, 0x0203]]


def test_a_reader_has_its_own_sizes_and_strides() -> None:
    """A row of three that is read as three rows of two, each the same element twice."""
    data = to_bytes(TensorDesc("UINT8", (3,)), np.array([1, 2, 3], dtype=np.uint8))
    assert from_bytes(TensorDesc("UINT8", (3, 2), (1, 0)), data).tolist() == [[1, 1], [2, 2], [3, 3]]


def test_between_strided_elements_is_what_no_reader_takes_for_a_result() -> None:
    data = to_bytes(TensorDesc("UINT8", (2, 2), (3, 1)), np.array([[1, 2], [3, 4]], dtype=np.uint8))
    assert data.tolist() == [1, 2, 255, 3, 4]


@pytest.mark.parametrize(
    ("data_type", "values", "data"),
    [("UINT4", [1, 15, 8], [0xF1, 0x08]), ("INT4", [1, -1, -8], [0xF1, 0x08]), ("INT4", [7, -7], [0x97])],
)
def test_two_elements_of_4_bits_are_a_byte_the_first_in_its_low_half(
    data_type: str, values: list[int], data: list[int]
) -> None:
    tensor = TensorDesc(data_type, (len(values),))
    given = np.array(values, dtype=np.int8 if data_type == "INT4" else np.uint8)
    assert byte_count(tensor) == len(data)
    assert to_bytes(tensor, given).tolist() == data
    assert from_bytes(tensor, np.array(data, dtype=np.uint8)).tolist() == values


# ---- constants of a graph, in its file or beside it


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
