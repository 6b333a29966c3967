"""How runs are counted, and how they end."""

from __future__ import annotations

import pytest
from results import UNLIKELY, case, every_outcome, failed, summary_of

from dmlcheck.reports.records import Earlier, RunInfo, Tally, outcomes_text
from dmlcheck.running.results import CaseResult, Drift


def passed(**fields: object) -> CaseResult:
    return CaseResult(case(), "passed")._replace(**fields)


def drift(*, is_failure: bool) -> tuple[Drift, ...]:
    return (Drift("OutputTensor", 1.0, 2.0, is_failure=is_failure),)


def test_failed_errors_and_unexpected_passes_are_failures_and_so_is_drift_that_is_one() -> None:
    drifted = [passed(drift=drift(is_failure=is_failure)) for is_failure in (True, False)]
    summary = summary_of([*every_outcome(), *drifted])
    assert (summary.total, summary.failed, summary.drifted, summary.worse, summary.failures) == (8, 3, 1, 2, 4)


def test_a_tally_is_a_summary_at_any_time() -> None:
    tally = Tally()
    tally.add(failed())
    first = tally.summary(1.0)
    tally.add(passed(warned=("OutputTensor",)))
    tally.add(passed(diagnostics=(UNLIKELY,)))
    assert (first.total, tally.total, tally.failures) == (1, 3, 1)
    assert tally.summary(2.0, is_interrupted=True, digest="d") == (tally.counts, 2.0, True, "d", 1, 0, 0, None, 1, 0, 0)


def test_skipped_cases_are_not_checked() -> None:
    assert summary_of(every_outcome()).checked == 5
    assert summary_of([CaseResult(case(), "skipped")]).checked == 0


def test_a_run_that_ended_before_its_time_says_how_many_cases_it_left_out() -> None:
    assert outcomes_text(summary_of([failed()])._replace(not_run=3)) == "1 failed, 3 not run"


def test_an_unlikely_error_that_fails_its_case_is_a_failure_and_no_more() -> None:
    summary = summary_of([failed(diagnostics=(UNLIKELY._replace(severity="error"),))])
    assert (summary.failures, summary.unlikely) == (1, 0)


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ([], "nothing ran"),
        ([passed()], "1 passed"),
        ([passed(reason="a legal desc"), passed(), failed()], "2 passed (1 legal desc), 1 failed"),
        ([passed(reason="a legal desc")] * 1200, "1200 passed (1,200 legal descs)"),
        ([failed(), passed(), passed()], "2 passed, 1 failed"),
        ([failed(outcome="error"), failed(outcome="error")], "2 errors"),
        ([failed(outcome="error")], "1 error"),
        ([passed(warned=("OutputTensor",))], "1 passed (1 near the bound)"),
        ([passed(diagnostics=(UNLIKELY,)), passed()], "2 passed (1 beyond the likely error)"),
        (
            [passed(drift=drift(is_failure=True)), passed(drift=drift(is_failure=False))],
            "2 passed (1 drifted, 1 less accurate)",
        ),
    ],
)
def test_outcomes_are_told_in_words(results: list[CaseResult], text: str) -> None:
    assert outcomes_text(summary_of(results)) == text


@pytest.mark.parametrize(
    ("info", "judged", "scope"),
    [
        (RunInfo("x"), "x", "1 case at its own feature level, accumulation in FLOAT32"),
        (
            RunInfo("x", directml_version="1.8.0"),
            "x",
            "1 case at its own feature level, accumulation in FLOAT32, with the known failures of DirectML 1.8.0",
        ),
        (
            RunInfo("x", "3_0", version="1.2", device="GPU 0", accumulate="FLOAT16"),
            "x 1.2 (GPU 0)",
            "1 case up to DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0), accumulation in FLOAT16",
        ),
        (
            RunInfo("x", "7_0", (1, 3), device="GPU"),
            "x (GPU)",
            "1 case up to 7_0, accumulation in FLOAT32, shard 1 of 3",
        ),
    ],
)
def test_what_a_run_is_of_is_told_in_words(info: RunInfo, judged: str, scope: str) -> None:
    assert (info.judged, info.scope(1)) == (judged, scope)


def test_cases_are_counted_with_their_levels() -> None:
    assert RunInfo("x").scope(1000) == "1,000 cases at their own feature levels, accumulation in FLOAT32"


@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        (Earlier("old.json"), "old.json"),
        (Earlier("old.json", "1.2", None, "onnxruntime"), "old.json (onnxruntime 1.2)"),
    ],
)
def test_an_earlier_report_is_named_with_what_it_is_of(earlier: Earlier, text: str) -> None:
    assert str(earlier) == text
