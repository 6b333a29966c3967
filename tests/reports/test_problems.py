"""What reports for other programs show of a result."""

from __future__ import annotations

from pathlib import Path

import pytest
from results import MISMATCH, OUTPUT, UNLIKELY, case, every_outcome, failed

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.failure import encodable, full_message, path_inside, problems_of, repository_path
from dmlcheck.running.results import CaseResult, Drift


def test_of_each_outcome_what_made_it_fail_is_shown() -> None:
    assert {result.outcome: [problem.rule for problem in problems_of(result)] for result in every_outcome()} == {
        "passed": [],
        "failed": ["output-mismatch"],
        "error": ["field-type"],
        "skipped": [],
        "xfailed": [],
        "xpassed": ["xpassed"],
    }


def test_a_failure_without_an_error_is_shown_by_its_reason_at_its_case() -> None:
    (problem,) = problems_of(CaseResult(case(), "error", "the process ended"))
    assert (problem.rule, problem.message, problem.where) == ("error", "the process ended", "cases/sum.yaml:8")
    (problem,) = problems_of(CaseResult(case(), "failed"))
    assert problem.message == "the case ended as failed"


def test_a_problem_without_a_file_is_put_at_its_case() -> None:
    (problem,) = problems_of(failed(diagnostics=(Diagnostic("timeout", "slow"),)))
    assert problem.where == "cases/sum.yaml:8"


def test_of_a_case_that_passes_its_warnings_are_shown() -> None:
    outputs = {"OutputTensor": OUTPUT._replace(max_share=0.9)}
    drift = (Drift("OutputTensor", 1.0, 5.0, is_failure=False),)
    passed = CaseResult(case(), "passed", outputs=outputs, warned=("OutputTensor",), drift=drift)
    assert [problem.rule for problem in problems_of(passed)] == ["accuracy-drift", "near-the-bound"]
    unlikely = passed._replace(diagnostics=(UNLIKELY, MISMATCH._replace(severity="note")), drift=())
    assert [problem.rule for problem in problems_of(unlikely)] == ["unlikely-error", "near-the-bound"]


def test_a_message_says_all() -> None:
    found = Diagnostic("a", "message", constraint="REDUCE/C2", note="note", help="help")
    assert full_message(found) == "message (REDUCE/C2)\nnote\nhelp: help"
    assert full_message(Diagnostic("a", "message")) == "message"


def test_in_a_workflow_paths_start_at_the_root_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert repository_path("./a//b.yaml") == "a/b.yaml"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert repository_path("a.yaml") == "here/a.yaml"
    assert repository_path("../../elsewhere.yaml") == "../../elsewhere.yaml"
    assert [repository_path(name) for name in ("", "-")] == ["", "-"]


def test_a_path_is_inside_a_folder_or_is_not(tmp_path: Path) -> None:
    assert path_inside(str(tmp_path / "a" / "b"), str(tmp_path)) == "a/b"
    assert path_inside(str(tmp_path), str(tmp_path / "a")) is None


def test_what_no_encoding_can_carry_is_replaced() -> None:
    assert encodable("a\udc80b") == "a\ufffdb"
