"""`compare` on the command line: what it exits with, what it refuses, and reports that `run` wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest
from commandline import dmlcheck, many, write
from run_reports import WRONG, ran, write_run


def compared(old: list[Any], new: list[Any], *words: str) -> tuple[int, str, str]:
    """Return the exit code of a comparison and what it printed."""
    result = dmlcheck("compare", write_run("old.json", *old), write_run("new.json", *new), *words)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("passed", "passed", 0),
        ("failed", "failed", 0),
        ("failed", "passed", 0),
        ("passed", "failed", 1),
        ("skipped", "failed", 1),
        ("skipped", "skipped", 5),
        ("passed", "skipped", 5),
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_it_fails_if_a_case_newly_fails(old: str, new: str, code: int, form: str) -> None:
    found = compared([ran("a", old, 1)], [ran("a", new, 9)], "--format", form)
    assert found[0] == code
    assert ("nothing was compared" in found[2]) is (code == 5)
    assert len(found[1]) > 50


def test_runs_of_other_cases_compare_nothing() -> None:
    code, _, errors = compared([ran("a", "passed")], [ran("b", "passed")])
    assert (code, "no case is in both reports; ids begin with the path" in errors) == (5, True)
    assert compared([ran("a", "passed")], [ran("b", "failed")])[0] == 1
    assert compared([], [])[0] == 5


def test_two_runs_of_a_file_are_compared() -> None:
    write("a.yaml", many(3))
    dmlcheck("run", "a.yaml", "--json", "old.json")
    write("a.yaml", many(4).replace("[6]}}", "[7]}}", 1))
    dmlcheck("run", "a.yaml", "--json", "new.json")
    result = dmlcheck("compare", "old.json", "new.json", "--format", "json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [case["id"] for case in found["newly_failing"]] == ["a.yaml::c0"]
    assert [case["id"] for case in found["new"]] == ["a.yaml::c3"]
    assert found["newly_failing"][0]["rule"] == "output-mismatch"
    assert dmlcheck("compare", "new.json", "old.json").exit_code == 0
    last = dmlcheck("compare", "new.json", "old.json").stdout.splitlines()[-1]
    assert last == "3 cases compared: 1 fixed, 1 gone"


def test_max_drift_says_how_many_times_an_error_may_grow() -> None:
    old, new = [ran("a", "passed", 1)], [ran("a", "passed", 3)]
    assert "Larger errors" in compared(old, new)[1]
    code, text, _ = compared(old, new, "--max-drift", "4")
    assert (code, "Larger errors" in text) == (0, False)


@pytest.mark.parametrize("value", ["0.5", "0", "nan", "inf", "-1", "1e999", "x"])
def test_a_drift_that_is_no_growth_is_wrong_usage(value: str) -> None:
    code, _, errors = compared([ran("a", "passed")], [ran("a", "passed")], f"--max-drift={value}")
    assert (code, "--max-drift" in errors) == (2, True)


NO_REPORTS = {
    "missing": (None, "no such file or folder"),
    "empty": ("", "not JSON"),
    "text": ("{", "not JSON"),
    "list": ("[]", "not a report of a run (dmlcheck-report/1)"),
    "validation": ('{"schema": "dmlcheck-validation/1", "descs": []}', "not a report of a run (dmlcheck-report/1)"),
    "cases": ('{"schema": "dmlcheck-report/1", "implementation": "x", "cases": 3}', "not a whole report"),
    "not-finite": ('{"schema": "dmlcheck-report/1", "implementation": "x", "cases": [NaN]}', "not JSON"),
    "digits": ("[" + "9" * 5000 + "]", "not JSON"),
    "deep": ("[" * 100_000, "not JSON"),
}


@pytest.mark.parametrize("kind", NO_REPORTS)
@pytest.mark.parametrize("is_old", [True, False])
def test_what_is_no_report_is_named(kind: str, is_old: bool) -> None:
    text, told = NO_REPORTS[kind]
    if text is not None:
        write("bad.json", text)
    good = write_run("good.json", ran("a", "passed"))
    result = dmlcheck("compare", *(("bad.json", good) if is_old else (good, "bad.json")))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"bad.json: {told}" in result.stderr


@pytest.mark.parametrize(
    "part",
    [
        {"outputs": []},
        {"outputs": None},
        {"outputs": {"OutputTensor": 3}},
        {"outputs": {"OutputTensor": {}}},
        {"outputs": {"OutputTensor": {"max_ulp": "1"}}},
        {"outputs": {"OutputTensor": {"max_ulp": True}}},
        {"outputs": {"OutputTensor": {"max_ulp": -1}}},
        {"outputs": {"OutputTensor": {"max_ulp": 10**400}}},
        {"diagnostics": 3},
        {"diagnostics": [3]},
        {"diagnostics": [{}]},
        {"diagnostics": [{**WRONG, "message": None}]},
        {"diagnostics": [{**WRONG, "rule": ["x"]}]},
        {"reason": 3},
        {"drift": [3]},
        {"drift": {"a": 1}},
    ],
    ids=repr,
)
def test_a_case_that_run_never_writes_is_named(part: dict[str, Any]) -> None:
    code, text, errors = compared([ran("a", "passed")], [{**ran("b\n\x1b[31m", "passed"), **part}])
    assert (code, text) == (2, "")
    assert r"new.json: b\n\x1b[31m: not a case as `dmlcheck run` reports it" in errors


def test_older_reports_lack_what_was_added_since() -> None:
    old = {"id": "a", "outcome": "passed"}
    code, text, _ = compared([old], [ran("a", "failed")])
    assert (code, text.splitlines()[-1]) == (1, "1 case compared: 1 newly failing")
