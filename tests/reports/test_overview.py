"""What the end of a run says."""

from __future__ import annotations

from results import OUTPUT, UNLIKELY, case, every_outcome, failed, summary_of

from dmlcheck.comparison.records import Element
from dmlcheck.reports.overview import Overview
from dmlcheck.reports.records import Earlier
from dmlcheck.running.accuracy import Compared
from dmlcheck.running.results import CaseResult, Drift

ELEMENT = Element((0,), 21.0, 22.0, 5.0, 0.75)
CLOSE = OUTPUT._replace(mismatches=0, max_share=0.75, most_off=ELEMENT, closest=ELEMENT)


def passed(name: str, output_share: float = 0.75, **fields: object) -> CaseResult:
    output = CLOSE._replace(max_share=output_share)
    return CaseResult(case(name), "passed", outputs={"OutputTensor": output})._replace(**fields)


def seen(*results: CaseResult) -> Overview:
    overview = Overview()
    for result in results:
        overview.add(result)
    return overview


def test_the_table_has_a_row_for_each_operator_and_columns_for_what_happened() -> None:
    results = [*every_outcome(), CaseResult(case(operator="GEMM"), "passed", seconds=2.0)]
    head, rows = seen(*results).table(summary_of(results))
    assert head == [
        "operator",
        "passed",
        "failed",
        "error",
        "skipped",
        "xfailed",
        "xpassed",
        "worst ULP",
        "seconds",
    ]
    assert rows == [
        ["GEMM", "1", "0", "0", "0", "0", "0", "0", "2.00"],
        ["REDUCE", "1", "1", "1", "1", "1", "1", "0", "1.12"],
    ]
    head, rows = seen(passed("a")).table(summary_of([passed("a")]))
    assert "xfailed" not in head
    assert rows == [["REDUCE", "1", "0", "0", "0", "5", "0.00"]]


def test_skips_are_counted_by_their_reasons() -> None:
    results = [CaseResult(case(), "skipped", reason) for reason in ("no kernel", None, "no kernel")]
    assert list(seen(*results).skip_lines()) == ["skipped 2: no kernel", "skipped 1: no reason given"]


def test_of_those_near_the_bound_the_nearest_are_named() -> None:
    shares = [0.9, 0.6, 0.95, 0.7, 0.8, 0.99, 0.65]
    results = [passed(f"c{share}", share, warned=("OutputTensor",)) for share in shares]
    lines = list(seen(*results).accuracy_lines(summary_of(results), None))
    at = lines.index("7 cases near the bound:")
    assert [line.split("::")[1].split()[0] for line in lines[at + 1 : at + 6]] == [
        "c0.99",
        "c0.95",
        "c0.9",
        "c0.8",
        "c0.7",
    ]
    assert lines[at + 6] == "  and 2 more"


def test_of_those_beyond_the_likely_error_the_furthest_come_first() -> None:
    output = CLOSE._replace(unlikely=1)
    results = [
        passed(name, diagnostics=(UNLIKELY,), outputs={"OutputTensor": output._replace(likely_share=share)})
        for name, share in (("a", 2.0), ("b", 7.0), ("c", 3.0))
    ]
    lines = list(seen(*results, passed("d")).accuracy_lines(summary_of(results), None))
    at = lines.index("3 cases inside the bound, and beyond the likely error:")
    assert lines[at + 1 : at + 4] == [f"  cases/sum.yaml::{name} {UNLIKELY.message}" for name in "bca"]


def test_drift_that_fails_no_run_is_listed_and_what_was_compared_is_counted() -> None:
    drift = (Drift("OutputTensor", 1.0, 5.0, is_failure=False),)
    results = [passed("a", drift=drift), failed(drift=(drift[0]._replace(is_failure=True),))]
    summary = summary_of(results)._replace(compared=Compared(1, 1234))
    lines = list(seen(*results).accuracy_lines(summary, Earlier("old.json", "1.2", None, "onnxruntime")))
    assert "compared with old.json (onnxruntime 1.2): 1 case; 1,234 not in it" in lines
    assert lines[lines.index("1 case less accurate than before:") + 1] == (
        "  cases/sum.yaml::a OutputTensor[0]: 5 ULP, and was 1 ULP"
    )
