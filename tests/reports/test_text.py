"""A run as text."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from results import MISMATCH, OUTPUT, case, every_outcome, failed, report, summary_of

from dmlcheck import __version__
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.layout import Style
from dmlcheck.reports.records import RunInfo
from dmlcheck.reports.text import ConciseReport, TextReport
from dmlcheck.running.results import CaseResult
from dmlcheck.running.settings import Settings

PASSED = CaseResult(case(), "passed", "a reason")


def printed(*results: CaseResult, **options: Any) -> list[str]:
    """Return what a report prints of some results and of their end."""
    lines: list[str] = []
    report(TextReport(lines.append, **{"total": lambda: len(results), **options}), list(results))
    return lines


def test_failures_come_as_they_happen_and_the_end_has_the_totals() -> None:
    lines = printed(*every_outcome())
    assert [line.split("   ")[0] for line in lines if "   " in line and line[0] in "FEX"] == [
        "FAILED cases/sum.yaml::failed",
        "ERROR cases/sum.yaml::error",
        "XPASSED cases/sum.yaml::xpassed",
    ]
    assert lines[-8:] == [
        "operator  passed  failed  error  skipped  xfailed  xpassed  worst ULP  seconds",
        "REDUCE         1       1      1        1        1        1          0     1.12",
        "skipped 1: nothing to run",
        "3 failures:",
        f"FAILED cases/sum.yaml::failed - {MISMATCH.message}",
        "ERROR cases/sum.yaml::error - Axes is 0",
        "XPASSED cases/sum.yaml::xpassed - expected failed, and passes",
        "1 passed, 1 failed, 1 error, 1 skipped, 1 xfailed, 1 xpassed in 1.12 s",
    ]


def test_a_report_begins_with_what_the_run_is_of() -> None:
    info = RunInfo("onnxruntime", Settings("3_0"), version="1.31.1", device="CPUExecutionProvider on x86_64")
    head = [
        f"dmlcheck {__version__}, onnxruntime 1.31.1 (CPUExecutionProvider on x86_64)",
        "1,234 cases up to DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0); tolerances assume sums in FLOAT32",
    ]
    assert printed(failed(), PASSED, info=info, total=lambda: 1234)[:2] == head
    assert printed(PASSED, verbose=1, info=info, total=lambda: 1234)[:2] == head
    assert printed(failed(), info=info, verbose=-1)[0].startswith("FAILED")


def test_cases_are_not_counted_ahead_where_nothing_is_printed_before_all_have_run() -> None:
    lines = printed(PASSED, PASSED, total=lambda: pytest.fail("asked"))
    assert lines[1] == "2 cases at the feature levels of their files; tolerances assume sums in FLOAT32"


HEAD = ["dmlcheck", "1 case"]


@pytest.mark.parametrize(
    ("verbose", "lines"),
    [
        (1, [*HEAD, "PASSED cases/sum.yaml::sum   a reason", "", "operator", "REDUCE", "1 passed in 0.00 s"]),
        (0, [*HEAD, "operator", "REDUCE", "1 passed in 0.00 s"]),
        (-1, ["1 passed in 0.00 s"]),
    ],
)
def test_as_much_is_printed_as_is_asked_for(verbose: int, lines: list[str]) -> None:
    found = printed(PASSED, verbose=verbose)
    assert len(found) == len(lines)
    assert all(line.startswith(start) for line, start in zip(found, lines, strict=True))


def test_undefined_elements_of_a_passed_case_are_told_where_every_case_is() -> None:
    passed = CaseResult(case(), "passed", outputs={"Out": OUTPUT._replace(mismatches=0, elements=3, undefined=2)})
    line = "  Out: 2 of 3 elements are undefined, and not compared"
    told = printed(passed, verbose=1)
    assert told[told.index("PASSED cases/sum.yaml::sum") + 1] == line
    assert line not in printed(passed)


@pytest.mark.parametrize(
    ("results", "colour"), [([PASSED], 32), ([PASSED, failed()], 31), ([], 31), ([CaseResult(case(), "xfailed")], 32)]
)
def test_the_last_line_is_green_where_something_ran_and_nothing_failed(results: list[CaseResult], colour: int) -> None:
    assert printed(*results, style=Style(colour=True))[-1].startswith(f"\x1b[{colour}m")


def test_a_run_that_was_interrupted_says_so() -> None:
    lines: list[str] = []
    TextReport(lines.append, total=lambda: 0).finish(summary_of([], interrupted=True))
    assert lines[2:] == ["interrupted with no case done in 0.00 s"]


def test_the_table_fits_in_the_columns_of_a_terminal() -> None:
    assert printed(PASSED, columns=20)[2:] == ["operator  passed", "REDUCE         1", "1 passed in 0.00 s"]


# ---- many failures


def test_of_many_failures_the_first_are_told_in_full_and_all_are_listed_at_the_end() -> None:
    lines = printed(*(failed(f"c{number}") for number in range(1000)))
    in_full = [line for line in lines if line.startswith("  again: ")]
    assert in_full == [f"  again: dmlcheck run cases/sum.yaml::c{number}" for number in range(20)]
    short = [f"FAILED cases/sum.yaml::c{number} - {MISMATCH.message}" for number in range(1000)]
    said = "More failures follow, which the end of the report lists; -vv prints all of them in full."
    assert lines.count(said) == 1
    at = lines.index("1,000 failures:")
    assert lines[at + 1 : at + 1001] == short
    assert lines[-1] == "1000 failed in 250.00 s"
    assert len(lines) < 1400


CAUSE = "likely cause: exp overflows"
OF_ONE_CAUSE = [
    failed("other"),
    *(failed(f"c{number}", diagnostics=(MISMATCH._replace(help=CAUSE),)) for number in range(14)),
    failed("last"),
]


def test_failures_of_one_operator_and_one_cause_are_told_once() -> None:
    lines = printed(*OF_ONE_CAUSE)
    again = [line.rpartition("::")[2] for line in lines if line.startswith("  again: ")]
    assert again == ["other", "c0", "last"]
    at = lines.index("16 failures; -v lists each of them:")
    assert lines[at + 1 : at + 4] == [
        f"FAILED cases/sum.yaml::other - {MISMATCH.message}",
        f"FAILED 14 cases of REDUCE - {CAUSE}; the first: cases/sum.yaml::c0",
        f"FAILED cases/sum.yaml::last - {MISMATCH.message}",
    ]


def test_each_failure_of_a_group_is_listed_where_every_case_is() -> None:
    lines = printed(*OF_ONE_CAUSE, verbose=1)
    at = lines.index("16 failures:")
    assert lines[at + 2 : at + 16] == [
        f"FAILED cases/sum.yaml::c{number} - {MISMATCH.message}; {CAUSE}" for number in range(14)
    ]
    assert lines[at + 17] == f"FAILED 14 cases of REDUCE - {CAUSE}; the first: cases/sum.yaml::c0"


def test_failures_of_two_operators_or_with_two_causes_are_no_group() -> None:
    other = failed("c1", diagnostics=(MISMATCH._replace(help="likely cause: other"),))
    results = [OF_ONE_CAUSE[1], other, other._replace(case=other.case._replace(operator="GEMM"))]
    assert "3 failures:" in printed(*results)


def test_failures_with_further_errors_and_mistakes_of_files_are_no_group() -> None:
    caused = MISMATCH._replace(help=CAUSE)
    further = [failed(f"c{number}", diagnostics=(caused, MISMATCH)) for number in range(2)]
    mistaken = Diagnostic("axis-out-of-range", "Axes[0] is 2")
    of_files = [failed(f"d{number}", diagnostics=(mistaken,)) for number in range(2)]
    assert "5 failures:" in printed(*further, *of_files, failed("c2", diagnostics=(caused,)))


def test_errors_with_the_same_message_are_a_group_whatever_it_holds() -> None:
    found = (Diagnostic("implementation-error", "lost {0} of it"),)
    lines = printed(*(failed(f"c{number}", diagnostics=found) for number in range(3)))
    assert "FAILED 3 cases of REDUCE - lost {0} of it; the first: cases/sum.yaml::c0" in lines


@pytest.mark.parametrize(("verbose", "number"), [(-1, 20), (0, 20), (1, 20), (2, 25)])
def test_all_failures_are_told_in_full_where_that_is_asked_for(verbose: int, number: int) -> None:
    lines = printed(*(failed(f"c{index}") for index in range(25)), verbose=verbose)
    assert sum(line.startswith("  again: ") for line in lines) == number
    assert lines.count("25 failures:") == 1


def test_one_failure_is_not_listed_again() -> None:
    assert sum("cases/sum.yaml::sum" in line for line in printed(failed(), PASSED)) == 2  # its head, and `again`
    assert "2 failures:" in printed(failed("a"), failed("b"))


@pytest.mark.slow
def test_the_failures_that_are_listed_take_little_memory() -> None:
    TextReport(lambda _: None, verbose=-1, total=lambda: 0).case(failed("first"))  # loads what a failure needs
    tracemalloc.start()
    report = TextReport(lambda _: None, verbose=-1, total=lambda: 0)
    for index in range(20_000):
        report.case(failed(f"case {index}", diagnostics=(MISMATCH._replace(message="x" * 290),)))
    assert sum(1 for _ in report.failures.lines()) == 20_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000


# ---- one line for each failure


def in_lines(*results: CaseResult, tells_failures: bool = True) -> list[str]:
    lines: list[str] = []
    report(ConciseReport(lines.append, tells_failures=tells_failures), list(results))
    return lines


def test_each_failure_is_a_line_with_its_place_its_rule_its_id_and_its_message() -> None:
    assert in_lines(*every_outcome()) == [
        f"cases/sum.yaml:10:29: output-mismatch: cases/sum.yaml::failed: {MISMATCH.message}",
        "cases/sum.yaml:4:1: field-type: cases/sum.yaml::error: Axes is 0",
        "cases/sum.yaml:8:3: xpassed: cases/sum.yaml::xpassed: expected failed, and passes",
        "1 passed, 1 failed, 1 error, 1 skipped, 1 xfailed, 1 xpassed in 1.12 s",
    ]


def test_of_several_problems_the_first_is_told_and_the_others_are_counted() -> None:
    found = (MISMATCH._replace(message="first\n  | printed"), MISMATCH, MISMATCH._replace(severity="note"))
    assert (
        in_lines(failed(diagnostics=found))[0]
        == "cases/sum.yaml:10:29: output-mismatch: cases/sum.yaml::sum: first (and 1 more)"
    )


def test_a_problem_without_a_place_is_at_the_first_line() -> None:
    missing = MISMATCH._replace(rule="file-not-found", message="no such file", line=None, column=None)
    result = CaseResult(case("x"), "error", "the file cannot be used", (missing,))
    assert in_lines(result)[0] == "cases/sum.yaml:1:1: file-not-found: cases/sum.yaml::x: no such file"


@pytest.mark.parametrize("outcome", ["passed", "skipped", "xfailed"])
def test_what_is_no_failure_is_not_told(outcome: str) -> None:
    assert len(in_lines(CaseResult(case(), outcome))) == 1


def test_failures_may_be_told_elsewhere() -> None:
    assert in_lines(failed(), tells_failures=False) == ["1 failed in 0.25 s"]


def test_the_last_line_has_the_colour_of_the_run() -> None:
    lines: list[str] = []
    report(ConciseReport(lines.append, style=Style(colour=True)), [failed()])
    assert lines[-1].startswith("\x1b[31m")
