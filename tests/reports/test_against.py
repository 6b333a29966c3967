"""Two implementations side by side, in words and as entries of a report."""

from __future__ import annotations

from typing import Any

import pytest
from results import case, failed

from dmlcheck.comparison.difference import OutputDifference
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.against import BOTH, FIRST, RIGHT, SECOND, UNJUDGED, SideBySide, case_text, kind_of, side_by_side
from dmlcheck.reports.records import RunInfo, Tally, outcomes_text
from dmlcheck.running.results import Against, CaseResult

PASSED = CaseResult(case(), "passed")
SKIPPED = CaseResult(case(), "skipped", "no FLOAT16")
DESC = CaseResult(case(), "passed", is_unrun=True)
BEYOND = OutputDifference("FLOAT32", 3, 2, 1, 2.0**21, (0, 1), 4.0, 5.0)
CLOSE = OutputDifference("FLOAT32", 3, 1, 0, 1.0, (2,), 1.0, 1.0000001)


def beside(first: CaseResult, second: CaseResult, *differences: OutputDifference) -> CaseResult:
    """Return the result of a case with two implementations."""
    return first._replace(against=Against(second, {f"Output{at}": one for at, one in enumerate(differences)}))


def compared(*results: CaseResult, **given: Any) -> SideBySide:
    found = SideBySide("one 1.0", "two", **given)
    for result in results:
        found.add(result)
    return found


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (PASSED, PASSED, RIGHT),
        (failed(), PASSED, FIRST),
        (PASSED, failed(), SECOND),
        (failed(), failed(), BOTH),
        (failed(outcome="xfailed"), PASSED, FIRST),
        (PASSED._replace(outcome="xpassed"), PASSED, RIGHT),
        (SKIPPED, PASSED, UNJUDGED),
        (failed(), SKIPPED, UNJUDGED),
        (PASSED, DESC, UNJUDGED),
    ],
)
def test_a_case_is_right_or_wrong_in_each(first: CaseResult, second: CaseResult, kind: str) -> None:
    assert kind_of(first, Against(second)) == kind


def test_the_table_counts_the_cases_and_has_the_largest_difference() -> None:
    found = compared(beside(PASSED, PASSED, CLOSE), beside(PASSED, failed(), BEYOND, CLOSE), beside(SKIPPED, PASSED))
    head, rows = found.table()
    assert head[1:4] == ["right in both", "wrong in A", "wrong in B"]
    assert rows == [["REDUCE", "1", "", "1", "", "1", "2097152 ULP"]]
    assert found.head == "A is one 1.0, B is two:"
    assert compared(beside(PASSED, PASSED, CLOSE)).table()[1][0][-1] == "1 ULP, explained"
    assert compared(beside(PASSED, PASSED)).table()[1][0][-1] == "none"


def test_a_difference_near_zero_is_no_number_of_many_digits() -> None:
    near = CLOSE._replace(ulp=4e6)
    assert compared(beside(PASSED, PASSED, near)).table()[1][0][-1] == "over 1000 ULP, explained"


def test_a_difference_that_is_not_explained_is_the_largest() -> None:
    near = CLOSE._replace(ulp=2.0**30)
    found = compared(beside(PASSED, failed(), BEYOND), beside(PASSED, PASSED, near)).entries()
    assert found["operators"][0]["largest"]["ulp"] == 2.0**21


def test_descs_and_mistakes_of_files_are_in_no_row() -> None:
    assert compared(beside(DESC, DESC)).rows == {}
    assert compared(beside(failed(is_unrun=True), failed(is_unrun=True))).rows == {}


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (beside(PASSED, PASSED, CLOSE), None),
        (
            beside(PASSED, failed(), BEYOND),
            "wrong in B: Output0[0, 1]: 4 and 5 (2097152 ULP), 1 of 3 elements beyond both tolerances",
        ),
        (beside(failed(), PASSED), "wrong in A: OutputTensor FLOAT32 {1}: 1 of 1 element is outside the tolerance"),
        (beside(failed(), failed(), CLOSE), "wrong in both, alike"),
        (beside(failed(), failed()), "wrong in both"),
        (
            beside(failed(), failed(), BEYOND._replace(data_type="INT32", ulp=1, first=4, second=5)),
            "wrong in both, differently: Output0[0, 1]: 4 and 5 (apart by 1), 1 of 3 elements beyond both tolerances",
        ),
    ],
)
def test_a_case_is_said_in_words(result: CaseResult, text: str | None) -> None:
    assert result.against is not None
    assert case_text(result, result.against) == text


def test_the_likely_cause_is_named_and_what_a_program_says_is_visible() -> None:
    found = Diagnostic("output-mismatch", "one\x1b[2J", help="likely cause: strides are ignored")
    result = beside(PASSED, failed(diagnostics=(found,)))
    assert result.against is not None
    assert case_text(result, result.against) == "wrong in B: one\\x1b[2J; likely cause: strides are ignored"


def test_the_first_cases_are_named_and_with_v_all() -> None:
    wrong = [beside(PASSED, failed(), CLOSE)] * 25
    lines = list(compared(*wrong).lines())
    assert lines[0] == "25 cases wrong in A, in B, or in both:"
    assert len(lines) == 22
    assert lines[-1] == "  and 5 more, which -v lists"
    assert len(list(compared(*wrong, most=None).lines())) == 26


def test_why_cases_are_not_compared_is_said_for_each_implementation() -> None:
    other = SKIPPED._replace(reason="no such axes")
    results = [beside(SKIPPED, PASSED), beside(PASSED, other), beside(PASSED, other), beside(PASSED, PASSED)]
    assert list(compared(*results).lines()) == [
        "2 cases not compared: B: no such axes",
        "1 case not compared: A: no FLOAT16",
    ]


def test_a_run_of_one_implementation_compares_nothing() -> None:
    assert side_by_side(RunInfo("one")) is None
    assert side_by_side(RunInfo("one", against=RunInfo("two", version="2"))).names == ("one", "two 2")  # type: ignore[union-attr]


def test_values_that_are_not_finite_are_text_in_a_report() -> None:
    odd = BEYOND._replace(first=float("nan"), second=float("-inf"))
    largest = compared(beside(PASSED, failed(), odd)).entries()["operators"][0]["largest"]
    assert (largest["first"], largest["second"], largest["index"]) == ("nan", "-inf", [0, 1])
    assert (largest["case"], largest["output"]) == ("cases/sum.yaml::sum", "Output0")


def test_failures_of_the_second_one_fail_the_run_but_not_mistakes_of_files() -> None:
    tally = Tally(is_of_reference=False)
    for result in (beside(PASSED, failed()), beside(failed(is_unrun=True), failed(is_unrun=True))):
        tally.add(result)
    summary = tally.summary(0.0)
    assert (tally.failures, summary.failures) == (2, 2)
    assert outcomes_text(summary) == "1 passed, 1 failed (1 failed in the other implementation)"
