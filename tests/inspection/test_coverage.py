"""What cases exercise of the support tables, constraints, values and layouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import dmlcheck
from dmlcheck.cli import main
from dmlcheck.inspection.coverage import of_operator, table_edges
from dmlcheck.specs.load import load_spec, operator_names

FILE = """\
operator: ARGMAX
source: by hand
desc: {Axes: [0], AxisDirection: INCREASING}
cases:
- name: packed
  desc: {InputTensor: {DataType: FLOAT32, Sizes: [2, 3]}, OutputTensor: {DataType: UINT32, Sizes: [1, 3]}}
- name: strided
  feature_level: "3_0"
  desc:
    InputTensor: {DataType: FLOAT16, Sizes: [2, 3], Strides: [4, 1], TotalTensorSizeInBytes: 64}
    OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
- name: broadcast
  desc:
    InputTensor: {DataType: INT8, Sizes: [2, 3], Strides: [0, 1], Flags: OWNED_BY_DML}
    OutputTensor: {DataType: INT64, Sizes: [1, 3]}
- name: too-early
  feature_level: "4_0"
  desc: {InputTensor: {DataType: INT64, Sizes: [2, 3]}, OutputTensor: {DataType: UINT32, Sizes: [1, 3]}}
  invalid: [unsupported-data-type]
- name: no-axis
  desc:
    InputTensor: {DataType: FLOAT32, Sizes: [2, 3]}
    OutputTensor: {DataType: UINT32, Sizes: [2, 3]}
    Axes: [2]
  invalid: [ARGMAX/C2]
- name: before-the-operator
  feature_level: "2_1"
  desc: {InputTensor: {DataType: FLOAT32, Sizes: [2, 3]}, OutputTensor: {DataType: UINT32, Sizes: [1, 3]}}
  invalid: [operator-unavailable]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "argmax.yaml").write_text(FILE, encoding="utf-8")
    return tmp_path


def run(*words: str) -> Any:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_each_part_is_counted(path: Path) -> None:
    spec = load_spec("DML_OPERATOR_ARGMAX")
    found = of_operator(spec, dmlcheck.load_cases(path))
    assert found.cases == 6
    assert found.layouts == ("packed", "strided", "broadcast", "padded", "owned by DirectML")
    parts = found.parts
    assert parts["support rows accepted"] == (2, 2, ())
    assert parts["constraints rejected"] == (4, 1, ("ARGMAX/C1", "ARGMAX/C3", "ARGMAX/C4"))
    assert parts["enumeration values accepted"] == (2, 1, ("AxisDirection DECREASING",))
    assert parts["table edges rejected"] == (3, 2, ("table 1 InputTensor type UINT64 at 3_0",))
    assert len(list(table_edges(spec))) == 3
    # 10 types and 8 dimension counts of InputTensor, 4 and 8 of OutputTensor; accepted at 4_1 are 2, 1, 2 and 1.
    assert (parts["types and dimensions accepted"].total, parts["types and dimensions accepted"].covered) == (30, 6)


def test_a_case_that_is_rejected_covers_nothing_as_accepted(path: Path) -> None:
    cases = [case for case in dmlcheck.load_cases(path) if case.invalid is not None]
    parts = of_operator(load_spec("DML_OPERATOR_ARGMAX"), cases).parts
    assert parts["support rows accepted"].covered == 0
    assert parts["types and dimensions accepted"].covered == 0
    assert parts["enumeration values accepted"].covered == 0


def test_the_bundled_cases_cover_every_row_edge_and_constraint() -> None:
    read = json.loads(run("coverage", "--format", "json").stdout)
    assert read["schema"] == "dmlcheck-coverage/1"
    assert len(read["operators"]) == len(operator_names()) == 177
    for operator in read["operators"]:
        for kind in ("table edges rejected", "constraints rejected"):
            assert operator["parts"][kind]["missing"] == [], operator["operator"]


def test_the_command_prints_a_table_and_names_what_is_left_out(path: Path) -> None:
    result = run("coverage", str(path))
    assert result.exit_code == 0
    head, row, total, *_ = result.stdout.splitlines()
    assert head.split() == ["operator", "cases", "rows", "types,", "dims", "edges", "constraints", "values"]
    assert row.split() == ["ARGMAX", "6", "2/2", "6/30", "2/3", "1/4", "1/2"]
    assert total.split() == ["all", "6", "2/2", "6/30", "2/3", "1/4", "1/2"]
    assert "  not among constraints rejected:\n    ARGMAX/C1\n    ARGMAX/C3\n    ARGMAX/C4\n" in result.stdout
    assert "    table 1 InputTensor type UINT64 at 3_0\n" in result.stdout


def test_one_operator_may_be_asked_for(path: Path) -> None:
    assert run("coverage", "--operator", "REDUCE", str(path)).exit_code == 5
    assert run("coverage", "--operator", "argmax", str(path)).exit_code == 0
    result = run("coverage", "--operator", "ARGMAXX", str(path))
    assert (result.exit_code, "did you mean ARGMAX?" in result.stderr) == (2, True)


def test_a_file_that_is_wrong_is_reported(path: Path) -> None:
    (path / "broken.yaml").write_text("operator: [\n", encoding="utf-8")
    result = run("coverage", str(path))
    assert (result.exit_code, "yaml-syntax" in result.stderr) == (2, True)
