"""How runs are counted, and how they end."""

from __future__ import annotations

import pytest
from results import UNLIKELY, case, every_outcome, failed, summary_of

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.records import (
    CHECKED,
    OfClass,
    RunInfo,
    has_drifted,
    is_failure,
    is_for_implementations,
    kind_of,
    outcomes_text,
)
from dmlcheck.running.results import FOR_IMPLEMENTATIONS, LEGAL, OUTCOMES, CaseResult, Drift
from dmlcheck.running.settings import Settings


def passed(**fields: object) -> CaseResult:
    return CaseResult(case(), "passed")._replace(**fields)


def plain(**fields: object) -> CaseResult:
    """Return a plain desc that is legal."""
    return passed(reason=LEGAL, is_unrun=True)._replace(**fields)


def for_implementations() -> CaseResult:
    return CaseResult(case(), "skipped", FOR_IMPLEMENTATIONS)


def drift(*, is_failure: bool) -> tuple[Drift, ...]:
    return (Drift("OutputTensor", 1.0, 2.0, is_failure=is_failure),)


def test_failed_errors_and_unexpected_passes_are_failures_and_so_is_drift_that_is_one() -> None:
    drifted = [passed(drift=drift(is_failure=is_failure)) for is_failure in (True, False)]
    summary = summary_of([*every_outcome(), *drifted])
    assert (summary.total, summary.failed, summary.drifted, summary.worse, summary.failures) == (8, 3, 1, 2, 4)


def test_what_the_implementation_computed_is_counted_apart_from_descs() -> None:
    unrun = plain(outcome="xfailed", reason="known")
    results = [passed(), plain(), plain(reason=None), failed(), failed(outcome="xfailed"), unrun, for_implementations()]
    summary = summary_of(results)
    assert (summary.counts["passed"], summary.computed, summary.descs, summary.legal) == (3, 1, 2, 1)
    assert (summary.judged, summary.for_implementations) == (3, 1)
    assert summary.kinds == {
        "passed": 1, "checked": 2, "failed": 1, "error": 0, "skipped": 1, "xfailed": 2, "xpassed": 0
    }  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((12, 0), "12 failures are"),
        ((1, 0), "1 failure is"),
        ((0, 1), "1 unlikely error is"),
        ((1, 1), "1 failure and 1 unlikely error are"),
    ],
)
def test_what_rounded_inputs_explain_is_told_in_words(counts: tuple[int, int], text: str) -> None:
    said = OfClass(*counts).text("TF32")
    assert said == f"{text} consistent with TF32 inputs: `--input-precision tf32` allows that"


def test_what_rounded_inputs_explain_is_counted_by_their_type() -> None:
    results = [
        failed(consistent="TF32"),
        failed(consistent="BFLOAT16"),
        failed(outcome="xfailed", consistent="TF32"),
        passed(diagnostics=(UNLIKELY,), consistent="TF32"),
        failed(),
    ]
    assert summary_of(results).consistent == {"TF32": OfClass(1, 1), "BFLOAT16": OfClass(1, 0)}


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ([], "nothing ran"),
        ([passed()], "1 passed"),
        ([plain(), passed(), failed()], "1 passed, 1 desc checked, 1 failed"),
        ([plain(), plain(reason=None), passed()], "1 passed, 2 descs checked"),
        ([plain()] * 1200, "1200 descs checked"),
        ([passed(), for_implementations(), for_implementations()], "1 passed, 2 skipped (2 for implementations)"),
        ([plain(outcome="failed"), passed()], "1 passed, 1 failed"),
        ([failed(), passed(), passed()], "2 passed, 1 failed"),
        ([failed(outcome="error"), failed(outcome="error")], "2 errors"),
        ([failed(outcome="error")], "1 error"),
        ([passed(warned=("OutputTensor",))], "1 passed (1 close to the tolerance)"),
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
        (RunInfo("x"), "x", "1 case at the feature level of its file; tolerances assume sums in FLOAT32"),
        (
            RunInfo("x", Settings(directml_version="1.8.0")),
            "x",
            (
                "1 case at the feature level of its file; tolerances assume sums in FLOAT32, "
                "with the known failures of DirectML 1.8.0; "
                "FLOAT16: intermediate results in FLOAT16, as DirectML 1.8.0 does"
            ),
        ),
        (
            RunInfo("directml:a.dll", version="1.15.4"),
            "directml:a.dll 1.15.4",
            (
                "1 case at the feature level of its file; tolerances assume sums in FLOAT32; "
                "FLOAT16: intermediate results in FLOAT16, as DirectML 1.15.4 does"
            ),
        ),
        (
            RunInfo("directml", Settings(precision=Precision("FLOAT16")), version="1.15.4"),
            "directml 1.15.4",
            "1 case at the feature level of its file; tolerances assume sums in FLOAT16",
        ),
        (
            RunInfo("x", Settings("3_0", Precision("FLOAT16")), version="1.2", device="GPU 0"),
            "x 1.2 (GPU 0)",
            "1 case up to DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0); tolerances assume sums in FLOAT16",
        ),
        (
            RunInfo("x", Settings(precision=Precision(factors="TF32"))),
            "x",
            "1 case at the feature level of its file; tolerances assume sums in FLOAT32, inputs in TF32",
        ),
        (
            RunInfo("x", Settings("7_0"), (1, 3), device="GPU"),
            "x (GPU)",
            "1 case up to 7_0; tolerances assume sums in FLOAT32, shard 1 of 3",
        ),
    ],
)
def test_what_a_run_is_of_is_told_in_words(info: RunInfo, judged: str, scope: str) -> None:
    assert (info.judged, info.scope(1)) == (judged, scope)


def test_a_run_whose_results_are_all_expected_to_be_missing_says_so() -> None:
    error = Diagnostic("implementation-error", "dead raised RuntimeError")
    dead = failed(outcome="xfailed", diagnostics=(error,), outputs={})
    wrong = failed(outcome="xfailed")
    skipped = failed(outcome="skipped", diagnostics=(), outputs={})
    note = " (the implementation gave no result for any case)"
    assert outcomes_text(summary_of([dead, skipped])) == f"1 skipped, 1 xfailed{note}"
    for others in ([wrong], [failed(outcome="passed", diagnostics=())], [failed()]):
        assert note not in outcomes_text(summary_of([dead, *others]))
    assert note not in outcomes_text(summary_of([skipped]))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_failures_errors_and_unexpected_passes_fail_a_run(outcome: str) -> None:
    assert is_failure(CaseResult(case(), outcome)) is (outcome in ("failed", "error", "xpassed"))


@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_case_that_passes_fails_a_run_where_it_drifted_too_far(*, is_wrong: bool) -> None:
    drift = (Drift("A", 1.0, 2.0, is_failure=False), Drift("B", 1.0, 9.0, is_failure=is_wrong))
    result = CaseResult(case(), "passed", drift=drift)
    assert (has_drifted(result), is_failure(result)) == (is_wrong, is_wrong)


def test_a_desc_that_only_dmlcheck_checked_is_a_count_of_its_own() -> None:
    assert kind_of(plain()) == kind_of(passed(is_unrun=True)) == CHECKED
    assert kind_of(passed()) == "passed"
    assert kind_of(failed(is_unrun=True)) == "failed"


def test_a_case_for_implementations_is_one_that_is_skipped_for_that() -> None:
    assert is_for_implementations(CaseResult(case(), "skipped", FOR_IMPLEMENTATIONS))
    assert not is_for_implementations(CaseResult(case(), "skipped", "another reason"))
    assert not is_for_implementations(CaseResult(case(), "failed", FOR_IMPLEMENTATIONS))
