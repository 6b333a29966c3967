"""`coverage` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import dmlcheck
from inspection.test_coverage import FILE


@pytest.fixture
def path(folder: Path) -> Path:
    """Write a file whose cases cover some things, and return its folder."""
    (folder / "argmax.yaml").write_text(FILE, encoding="utf-8")
    return folder


def test_the_command_prints_a_table_and_names_what_is_left_out(path: Path) -> None:
    result = dmlcheck("coverage", str(path))
    assert result.exit_code == 0
    head, row, total, *_ = result.stdout.splitlines()
    assert head.split() == ["operator", "cases", "rows", "types,", "dims", "edges", "constraints", "values"]
    assert row.split() == ["ARGMAX", "6", "2/2", "6/30", "2/3", "1/4", "1/2"]
    assert total.split() == ["all", "6", "2/2", "6/30", "2/3", "1/4", "1/2"]
    assert "  not among constraints rejected:\n    ARGMAX/C1\n    ARGMAX/C3\n    ARGMAX/C4\n" in result.stdout
    assert "    table 1 InputTensor type UINT64 at 3_0\n" in result.stdout


def test_one_operator_may_be_asked_for(path: Path) -> None:
    read = json.loads(dmlcheck("coverage", str(path), "--format", "json").stdout)
    assert (read["schema"], [one["operator"] for one in read["operators"]]) == (
        "dmlcheck-coverage/1",
        ["DML_OPERATOR_ARGMAX"],
    )
    assert dmlcheck("coverage", "--operator", "REDUCE", str(path)).exit_code == 5
    assert dmlcheck("coverage", "--operator", "argmax", str(path)).exit_code == 0
    result = dmlcheck("coverage", "--operator", "ARGMAXX", str(path))
    assert (result.exit_code, "did you mean ARGMAX?" in result.stderr) == (2, True)


def test_a_file_that_is_wrong_is_reported(path: Path) -> None:
    (path / "broken.yaml").write_text("operator: [\n", encoding="utf-8")
    result = dmlcheck("coverage", str(path))
    assert (result.exit_code, "yaml-syntax" in result.stderr) == (2, True)


def test_without_a_case_there_is_nothing_to_measure(folder: Path) -> None:
    result = dmlcheck("coverage", str(folder))
    assert (result.exit_code, result.stdout) == (5, "")
    assert result.stderr == "dmlcheck: nothing was measured: there is no case\n"


def test_of_an_operator_without_a_case_there_is_nothing_to_measure(path: Path) -> None:
    result = dmlcheck("coverage", str(path), "--operator", "GEMM")
    assert (result.exit_code, result.stdout) == (5, "")
    assert result.stderr == "dmlcheck: nothing was measured: there is no case of these operators\n"
