"""A run as a line for each failure."""

from __future__ import annotations

import pytest
from results import MISMATCH, case, every_outcome, failed, report

from dmlcheck.reports.concise import ConciseReport
from dmlcheck.reports.layout import Style
from dmlcheck.running.results import CaseResult


def printed(*results: CaseResult, tells_failures: bool = True) -> list[str]:
    lines: list[str] = []
    report(ConciseReport(lines.append, tells_failures=tells_failures), list(results))
    return lines


def test_each_failure_is_a_line_with_its_place_its_rule_its_id_and_its_message() -> None:
    assert printed(*every_outcome()) == [
        f"cases/sum.yaml:10:29: output-mismatch: cases/sum.yaml::failed: {MISMATCH.message}",
        "cases/sum.yaml:4:1: field-type: cases/sum.yaml::error: Axes is 0",
        "cases/sum.yaml:8:3: xpassed: cases/sum.yaml::xpassed: expected failed, and passes",
        "1 passed, 1 failed, 1 error, 1 skipped, 1 xfailed, 1 xpassed in 1.12 s",
    ]


def test_of_several_problems_the_first_is_told_and_the_others_are_counted() -> None:
    found = (MISMATCH._replace(message="first\n  | printed"), MISMATCH, MISMATCH._replace(severity="note"))
    assert (
        printed(failed(diagnostics=found))[0]
        == "cases/sum.yaml:10:29: output-mismatch: cases/sum.yaml::sum: first (and 1 more)"
    )


def test_a_problem_without_a_place_is_at_the_first_line() -> None:
    missing = MISMATCH._replace(rule="file-not-found", message="no such file", line=None, column=None)
    result = CaseResult(case("x"), "error", "the file cannot be used", (missing,))
    assert printed(result)[0] == "cases/sum.yaml:1:1: file-not-found: cases/sum.yaml::x: no such file"


@pytest.mark.parametrize("outcome", ["passed", "skipped", "xfailed"])
def test_what_is_no_failure_is_not_told(outcome: str) -> None:
    assert len(printed(CaseResult(case(), outcome))) == 1


def test_failures_may_be_told_elsewhere() -> None:
    assert printed(failed(), tells_failures=False) == ["1 failed in 0.25 s"]


def test_the_last_line_has_the_colour_of_the_run() -> None:
    lines: list[str] = []
    report(ConciseReport(lines.append, style=Style(colour=True)), [failed()])
    assert lines[-1].startswith("\x1b[31m")
