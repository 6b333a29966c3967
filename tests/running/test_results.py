"""What makes a run fail."""

from __future__ import annotations

import pytest
from results import case

from dmlcheck.running.results import OUTCOMES, CaseResult, Drift


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_failures_errors_and_unexpected_passes_fail_a_run(outcome: str) -> None:
    assert CaseResult(case(), outcome).is_failure is (outcome in ("failed", "error", "xpassed"))


@pytest.mark.parametrize("is_failure", [False, True])
def test_a_case_that_passes_fails_a_run_where_it_drifted_too_far(*, is_failure: bool) -> None:
    drift = (Drift("A", 1.0, 2.0, is_failure=False), Drift("B", 1.0, 9.0, is_failure=is_failure))
    result = CaseResult(case(), "passed", drift=drift)
    assert (result.has_drifted, result.is_failure) == (is_failure, is_failure)
