"""Which cases a run is about: tags, types, earlier failures; lists, durations, retries."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck, json_of, run

from dmlcheck.cases.records import Case
from dmlcheck.running.events import parse_type
from dmlcheck.running.expectations import Entry, expected_result
from dmlcheck.running.results import CaseResult

CASES = """
operator: ELEMENT_WISE_IDENTITY
cases:
- name: half
  tags: [quick, half]
  desc: {InputTensor: {DataType: FLOAT16, Sizes: [1]}, OutputTensor: {DataType: FLOAT16, Sizes: [1]}}
  inputs: {InputTensor: [1]}
  outputs: {OutputTensor: [1]}
- name: whole
  tags: [quick]
  desc: {InputTensor: {DataType: FLOAT32, Sizes: [1]}, OutputTensor: {DataType: FLOAT32, Sizes: [1]}}
  inputs: {InputTensor: [1]}
  outputs: {OutputTensor: [1]}
- name: wrong
  desc:
    InputTensor: {Type: BUFFER, Desc: {DataType: DML_TENSOR_DATA_TYPE_INT8, Sizes: [1]}}
    OutputTensor: {DataType: INT8, Sizes: [1]}
  inputs: {InputTensor: [1]}
  outputs: {OutputTensor: [2]}
"""
FLAKY = """
import pathlib, os


class Flaky:
    name = "flaky"

    def run(self, desc, inputs):
        given = inputs["InputTensor"]
        seen = pathlib.Path(f"seen-{given.dtype}")
        times = len(seen.read_text()) if seen.exists() else 0
        seen.write_text("x" * (times + 1))
        if given.dtype == "float16" and times < 2:
            return {"OutputTensor": given + 1}
        if given.dtype == "float32" and times < 1:
            os._exit(3)
        return {"OutputTensor": given}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("s").mkdir()
    Path("s/a.yaml").write_text(CASES, encoding="utf-8")
    return tmp_path


def listed(*words: str) -> list[str]:
    result = run(*words, "--list")
    assert result.exit_code in (0, 5)
    return [line.partition("::")[2] for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], ["half", "whole", "wrong"]),
        (["--tag", "quick"], ["half", "whole"]),
        (["--tag", "half", "--tag", "none"], ["half"]),
        (["--tag", "none"], []),
        (["--type", "FLOAT16"], ["half"]),
        (["--type", "int8"], ["wrong"]),
        (["--type", "DML_TENSOR_DATA_TYPE_FLOAT32", "--type", "INT8"], ["whole", "wrong"]),
        (["--type", "INT4"], []),
        (["--tag", "quick", "--type", "FLOAT32"], ["whole"]),
        (["--tag", "quick", "-k", "half"], ["half"]),
        (["s/a.yaml::wrong"], ["wrong"]),
    ],
)
def test_cases_are_selected_by_tag_and_type(words: list[str], names: list[str]) -> None:
    assert listed(*([] if "::" in "".join(words) else ["s"]), *words) == names


def test_a_list_says_what_cannot_be_read() -> None:
    Path("s/b.yaml").write_text("operator: [", encoding="utf-8")
    result = run("s", "--list")
    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 3
    assert "s/b.yaml:1:" in result.stderr


@pytest.mark.parametrize(("beside", "code"), [((), 5), (("s/a.yaml::half",), 2)])
@pytest.mark.parametrize("words", [(), ("--list",)])
def test_a_case_that_is_not_there_is_wrong_beside_others_and_nothing_alone(
    words: tuple[str, ...], beside: tuple[str, ...], code: int
) -> None:
    gone = run("s/a.yaml::gone", *beside, *words)
    assert (gone.exit_code, "s/a.yaml has no case gone" in gone.stderr) == (code, True)


def test_a_type_that_is_none_is_refused() -> None:
    result = run("s", "--type", "FLOAT17")
    assert (result.exit_code, "FLOAT16" in result.stderr) == (2, True)
    assert parse_type("FLOAT17") is None


def test_nothing_is_selected_where_nothing_failed() -> None:
    assert run("s", "-k", "half", "--json", "r.json").exit_code == 0
    assert run("s", "--failed", "r.json").exit_code == 5
    assert run("s", "--failed", "s/a.yaml").exit_code == 2


def test_a_selection_says_nothing_of_the_entries_that_it_leaves_out() -> None:
    run("s", "--tag", "half", "--json", "r.json")
    text = "- {cases: 'a.yaml::wrong', expect: failed, reason: known}\n"
    Path("known.yaml").write_text(text, encoding="utf-8")
    assert run("s", "--tag", "half", "--expectations", "known.yaml").exit_code == 0
    dmlcheck("expectations", "update", "r.json", "known.yaml")
    assert Path("known.yaml").read_text(encoding="utf-8") == text


def test_the_slowest_cases_are_printed() -> None:
    lines = run("s", "--durations", "2").stdout.splitlines()
    at = lines.index("the slowest 2 cases:")
    found = [re.fullmatch(r"  (\d+\.\d\d) s  s/a\.yaml::\w+", line) for line in lines[at + 1 : at + 3]]
    assert all(found)
    seconds = [float(match[1]) for match in found if match]
    assert seconds == sorted(seconds, reverse=True)
    assert "slowest" not in run("s").stdout


# ---- retries


def flaky(*words: str) -> tuple[int, dict[str, Any], str]:
    Path("flaky_here.py").write_text(FLAKY, encoding="utf-8")
    for seen in Path().glob("seen-*"):
        seen.unlink()
    result = run("s", "--implementation", "python:flaky_here:Flaky", "--json", "r.json", *words)
    cases = json_of("r.json")["cases"]
    return (
        result.exit_code,
        {case["name"]: (case["outcome"], case["flaky"], case["reason"]) for case in cases},
        (result.stdout),
    )


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_case_that_fails_runs_again(jobs: str) -> None:
    code, found, out = flaky("--retries", "2", "-k", "not wrong", "-j", jobs)
    assert code == 0
    assert found["half"] == (
        "passed",
        True,
        "flaky: failed by output-mismatch, failed by output-mismatch, then passed",
    )
    assert found["whole"] == ("passed", True, "flaky: error by implementation-error, then passed")
    assert out.splitlines()[-1].startswith("2 passed (2 flaky) in ")


@pytest.mark.slow
def test_a_case_runs_no_more_often_than_asked_for() -> None:
    code, found, out = flaky("--retries", "1")
    assert code == 1
    assert {name: (outcome, is_flaky) for name, (outcome, is_flaky, _) in found.items()} == {
        "half": ("failed", False),
        "whole": ("passed", True),
        "wrong": ("failed", False),
    }
    assert Path("seen-int8").read_text(encoding="utf-8") == "xx"
    assert "again: dmlcheck run --implementation python:flaky_here:Flaky --retries 1 s/a.yaml::half" in out


@pytest.mark.slow
def test_flaky_cases_may_fail_a_run() -> None:
    code, found, out = flaky("--retries", "2", "-k", "half", "--fail-on-flaky")
    assert (code, found["half"][:2]) == (1, ("failed", True))
    assert "error[flaky-case]: flaky: failed by output-mismatch, failed" in out
    assert run("s", "--fail-on-flaky").exit_code == 2
    assert os.path.exists("seen-float16")


def test_a_flaky_case_that_is_expected_to_fail_has_failed_as_expected() -> None:
    case = Case("a.yaml::a", "a", "a.yaml", "", None, {})
    passed = CaseResult(case, "passed", "flaky: failed by x, then passed", is_flaky=True)
    result = expected_result(passed, Entry("*", "failed", "known"))
    assert (result.outcome, result.reason) == ("xfailed", "flaky: failed by x, then passed; known")
    assert expected_result(passed, Entry("*", "skipped", "known")).outcome == "xpassed"
