"""Single cases in a process of their own."""

from __future__ import annotations

import pytest
from misbehaving import CRASH, EXIT, HANG
from misbehaving_cases import BAD, folder, write  # noqa: F401 - the fixture is used by its name

from dmlcheck.formats.find import Target
from dmlcheck.formats.registry import read_file
from dmlcheck.running.events import Plan
from dmlcheck.running.file_jobs import IsolatedRunner
from dmlcheck.running.known_failures import DirectML
from dmlcheck.running.settings import Settings


@pytest.mark.slow
def test_single_cases_run_apart_and_what_is_lost_costs_its_case_only() -> None:
    write("a.yaml", 1, HANG, CRASH, EXIT, 2)
    cases = read_file("a.yaml").cases
    runner = IsolatedRunner(Plan(BAD, timeout=2.0, details=True))
    try:
        found = [runner.run(Target("a.yaml", "a.yaml", case.name), case) for case in (*cases, cases[0])]
        gone = runner.run(Target("a.yaml", "a.yaml", "nobody"), cases[0])
    finally:
        runner.close()
    assert [result.outcome for result in found] == ["passed", "error", "error", "error", "passed", "passed"]
    assert [result.reason for result in found[1:4]] == ["timed out", "the process ended", "the process ended"]
    assert [result.diagnostics[0].rule for result in found[1:3]] == ["timeout", "implementation-error"]
    assert "exit code 3" in found[3].diagnostics[0].message
    assert (gone.case, gone.outcome, gone.reason) == (cases[0], "error", "the process ended")
    assert [result.case for result in found[1:4]] == list(cases[1:4])


@pytest.mark.slow
def test_single_cases_that_run_apart_are_expected_to_fail_where_a_version_of_directml_is_known_to() -> None:
    write("a.yaml", HANG, CRASH, 1, data_type="FLOAT16")
    write("b.yaml", CRASH, data_type="FLOAT32")
    cases = (*read_file("a.yaml").cases, *read_file("b.yaml").cases)
    plan = Plan("python:misbehaving:DirectMLLike", Settings(directml_version="1.8.0"), timeout=2.0, details=True)
    runner = IsolatedRunner(plan, DirectML("1.8.0"))
    try:
        found = [runner.run(Target(case.file, case.file, case.name), case) for case in cases]
    finally:
        runner.close()
    assert [result.outcome for result in found] == ["xfailed", "xfailed", "passed", "error"]
