"""What makes a run fail."""

from __future__ import annotations

import pytest
from results import case

from dmlcheck.running.results import FOR_IMPLEMENTATIONS, LEGAL, OUTCOMES, CaseResult, Drift


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_failures_errors_and_unexpected_passes_fail_a_run(outcome: str) -> None:
    assert CaseResult(case(), outcome).is_failure is (outcome in ("failed", "error", "xpassed"))


@pytest.mark.parametrize("is_failure", [False, True])
def test_a_case_that_passes_fails_a_run_where_it_drifted_too_far(*, is_failure: bool) -> None:
    drift = (Drift("A", 1.0, 2.0, is_failure=False), Drift("B", 1.0, 9.0, is_failure=is_failure))
    result = CaseResult(case(), "passed", drift=drift)
    assert (result.has_drifted, result.is_failure) == (is_failure, is_failure)


@pytest.mark.parametrize(
    ("result", "is_computed", "is_checked", "is_legal"),
    [
        (CaseResult(case(), "passed"), True, False, False),
        (CaseResult(case(), "failed"), True, False, False),
        (CaseResult(case(), "skipped"), False, False, False),
        (CaseResult(case(), "passed", LEGAL, is_unrun=True), False, True, True),
        (CaseResult(case(), "passed", is_unrun=True), False, True, False),
        (CaseResult(case(), "failed", is_unrun=True), False, False, False),
    ],
)
def test_an_implementation_has_a_part_in_what_it_ran(
    result: CaseResult, *, is_computed: bool, is_checked: bool, is_legal: bool
) -> None:
    found = result.is_computed, result.is_checked_desc, result.is_legal_desc
    assert found == (is_computed, is_checked, is_legal)


def test_a_case_for_implementations_is_one_that_is_skipped_for_that() -> None:
    assert CaseResult(case(), "skipped", FOR_IMPLEMENTATIONS).is_for_implementations
    assert not CaseResult(case(), "skipped", "another reason").is_for_implementations
    assert not CaseResult(case(), "failed", FOR_IMPLEMENTATIONS).is_for_implementations
