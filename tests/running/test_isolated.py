"""Single cases in a process of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from misbehaving import CRASH, EXIT, HANG

from dmlcheck.cases.find import Target
from dmlcheck.formats.read import read_file
from dmlcheck.running.events import Plan
from dmlcheck.running.isolated import IsolatedRunner
from dmlcheck.running.known_failures import DirectML
from dmlcheck.running.settings import Settings

HERE = Path(__file__).parent.parent
HEAD = """\
operator: DML_OPERATOR_REDUCE
source: by hand
desc:
  Function: SUM
  InputTensor: {DataType: TYPE, Sizes: [3]}
  OutputTensor: {DataType: TYPE, Sizes: [1]}
  Axes: [0]
cases:
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test in an empty folder, from which the misbehaving implementations can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)


def write(data_type: str, *firsts: int, to: str = "a.yaml") -> None:
    """Write a file of sums of a data type, one for each first element."""
    cases = "".join(
        f"- {{name: c{number}, inputs: {{InputTensor: [{first}, 1, 2]}}, outputs: {{OutputTensor: [{first + 3}]}}}}\n"
        for number, first in enumerate(firsts)
    )
    Path(to).write_text(HEAD.replace("TYPE", data_type) + cases, encoding="utf-8")


@pytest.mark.slow
def test_single_cases_run_apart_and_what_is_lost_costs_its_case_only() -> None:
    write("INT32", 1, HANG, CRASH, EXIT, 2)
    cases = read_file("a.yaml").cases
    runner = IsolatedRunner(Plan("python:misbehaving:Misbehaving", timeout=2.0, details=True))
    try:
        found = [runner.run(Target("a.yaml", "a.yaml", case.name), case) for case in (*cases, cases[0])]
        gone = runner.run(Target("a.yaml", "a.yaml", "nobody"), cases[0])
    finally:
        runner.close()
    assert [result.outcome for result in found] == ["passed", "error", "error", "error", "passed", "passed"]
    assert [result.reason for result in found[1:4]] == ["timed out", "the process ended", "the process ended"]
    assert [result.diagnostics[0].rule for result in found[1:3]] == ["timeout", "implementation-error"]
    assert "exit code 3" in found[3].diagnostics[0].message
    assert (gone.outcome, gone.reason) == ("error", "the process ended")


@pytest.mark.slow
def test_single_cases_that_run_apart_are_expected_to_fail_where_a_version_of_directml_is_known_to() -> None:
    write("FLOAT16", HANG, CRASH, 1)
    write("FLOAT32", CRASH, to="b.yaml")
    cases = (*read_file("a.yaml").cases, *read_file("b.yaml").cases)
    plan = Plan("python:misbehaving:DirectMLLike", Settings(directml_version="1.8.0"), timeout=2.0, details=True)
    runner = IsolatedRunner(plan, DirectML("1.8.0"))
    try:
        found = [runner.run(Target(case.file, case.file, case.name), case) for case in cases]
    finally:
        runner.close()
    assert [result.outcome for result in found] == ["xfailed", "xfailed", "passed", "error"]
