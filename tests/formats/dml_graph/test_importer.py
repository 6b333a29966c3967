"""DirectML graphs as case files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commandline import dmlcheck, json_of
from dml_graphs import gemm, matmul_add, operator, save

from dmlcheck import load_cases
from dmlcheck.folders.export_folder import Imported
from dmlcheck.formats.dml_graph.importer import import_

OFF_BY_ONE = """
from dmlcheck.implementations.protocol import Reference


class Off(Reference):
    name = "off"

    def run(self, desc, inputs):
        return {name: values + 1 for name, values in super().run(desc, inputs).items()}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.arange(25, dtype=np.float32).tofile("w_0.bin")


def imported(data: bytes) -> Imported:
    (one,) = import_([save(data)], "out")
    return one


def test_each_operator_is_a_case_file_with_its_constants() -> None:
    one = imported(matmul_add())
    assert (one.file, one.cases, one.remarks, one.problems) == ("Partition_0", 2, (), ())
    (matmul,) = load_cases("out/Partition_0/matmul.yaml")
    assert (matmul.name, matmul.operator) == ("matmul", "DML_OPERATOR_GEMM")
    assert matmul.source == "DirectML graph Partition_0.bin, node matmul"
    assert matmul.inputs is not None
    assert matmul.inputs["ATensor"] == {"random": {"seed": 1, "low": -1, "high": 1}}
    assert np.ravel(matmul.inputs["BTensor"]).tolist() == list(range(25))
    assert (matmul.outputs, matmul.is_generated) == (None, True)
    (added,) = load_cases("out/Partition_0/add.yaml")
    assert added.desc["ATensor"] == {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 5], "TotalTensorSizeInBytes": 20}


@pytest.mark.slow
def test_what_is_imported_is_ready_to_run() -> None:
    """The implementation is wrong by 1 everywhere, so both cases were run and failed."""
    Path("off_by_one.py").write_text(OFF_BY_ONE, encoding="utf-8")
    imported(matmul_add())
    assert dmlcheck("run", "out").exit_code == 5  # every case is for implementations
    result = dmlcheck("run", "out", "--implementation", "python:off_by_one:Off", "--json", "report.json")
    assert result.exit_code == 1
    assert json_of("report.json")["summary"]["failed"] == 2


def test_a_node_that_is_wrong_is_told_and_the_others_are_imported() -> None:
    one = imported(matmul_add(nodes=[gemm(), operator("add", "DML_OPERATOR_NONE", {}, {})]))
    assert one.cases == 1
    assert [(each.rule, each.file) for each in one.problems] == [
        ("unknown-operator", "Partition_0.bin"),
        ("dangling-edge", "Partition_0.bin"),
    ]


def test_a_constant_that_is_not_there_is_told() -> None:
    Path("w_0.bin").unlink()
    one = imported(matmul_add())
    assert (one.cases, [each.rule for each in one.problems]) == (1, ["file-not-found"])
    assert one.problems[0].pointer == "nodes[0]"


def test_a_node_whose_inputs_do_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcheck.formats.dml_graph.importer.node_inputs", lambda *_: None)
    one = imported(matmul_add())
    assert (one.file, one.cases) == (None, 0)
    assert one.remarks[0] == "matmul is not imported: no values for its inputs were found"


def test_the_constants_of_a_folder_are_not_taken_for_graphs() -> None:
    save(matmul_add())
    result = dmlcheck("import", "graph", ".", "-o", "out")
    assert result.exit_code == 0
    assert "./Partition_0.bin: 2 cases imported to Partition_0" in result.output.replace("\\", "/")


def test_a_file_that_is_no_graph_is_wrong_input() -> None:
    save(b"")
    result = dmlcheck("import", "graph", "Partition_0.bin", "-o", "out")
    assert result.exit_code == 2
    assert "Partition_0.bin: error[graph-syntax]: the file is no DirectML graph" in result.output
