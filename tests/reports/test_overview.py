"""What the end of a run says."""

from __future__ import annotations

import pytest
from results import OUTPUT, UNLIKELY, case, every_outcome, failed, summary_of

from dmlcheck.comparison.records import Element
from dmlcheck.reports.accuracy import Compared
from dmlcheck.reports.overview import Overview
from dmlcheck.reports.records import Earlier
from dmlcheck.running.results import FOR_IMPLEMENTATIONS, CaseResult, Drift, NodeOfCase

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


def test_descs_that_dmlcheck_alone_checked_have_a_column_of_their_own() -> None:
    results = [passed("a"), *[CaseResult(case(), "passed", is_unrun=True)] * 2]
    head, rows = seen(*results).table(summary_of(results))
    assert head[:4] == ["operator", "passed", "descs checked", "failed"]
    assert rows[0][:4] == ["REDUCE", "1", "2", "0"]


def test_cases_for_implementations_are_one_line_and_no_news() -> None:
    results = [CaseResult(case(operator=operator), "skipped", FOR_IMPLEMENTATIONS) for operator in OPERATORS]
    results.append(CaseResult(case(), "skipped", "no kernel"))
    overview, summary = seen(*results), summary_of(results)
    assert [row[0] for row in overview.table(summary, is_whole=False)[1]] == ["REDUCE"]
    why = "which are compared with the reference engine (run with --implementation NAME)"
    for is_whole in (False, True):
        lines = list(overview.skip_lines(is_whole=is_whole))
        assert lines == [f"12 cases are for implementations, {why}", "skipped 1: no kernel"]


OPERATORS = [f"OPERATOR_{number:02}" for number in range(12)]
NEWS = {
    "failed": failed(),
    "error": CaseResult(case(), "error"),
    "skipped": CaseResult(case(), "skipped"),
    "xpassed": CaseResult(case(), "xpassed"),
    "close to the tolerance": passed("a", warned=("OutputTensor",)),
    "unlikely": passed("a", diagnostics=(UNLIKELY,)),
    "drifted": passed("a", drift=(Drift("OutputTensor", 1.0, 5.0, is_failure=False),)),
}


@pytest.mark.parametrize("result", NEWS.values(), ids=NEWS)
def test_of_many_operators_the_table_has_those_with_something_to_see(result: CaseResult) -> None:
    results = [CaseResult(case(operator=operator), "passed") for operator in OPERATORS]
    results += [CaseResult(case(operator="OPERATOR_00"), "xfailed"), result]
    overview, summary = seen(*results), summary_of(results)
    assert [row[0] for row in overview.table(summary, is_whole=False)[1]] == ["REDUCE"]
    assert list(overview.quiet_lines(is_whole=False)) == [
        "12 other operators: nothing failed, and nothing to note (-v lists them)"
    ]
    assert [row[0] for row in overview.table(summary, is_whole=True)[1]] == [*OPERATORS, "REDUCE"]
    assert list(overview.quiet_lines(is_whole=True)) == []


def test_of_few_operators_the_table_has_all() -> None:
    results = [CaseResult(case(operator=operator), "passed") for operator in OPERATORS[:10]]
    assert [row[0] for row in seen(*results).table(summary_of(results), is_whole=False)[1]] == OPERATORS[:10]
    results.append(CaseResult(case(operator=OPERATORS[10]), "passed"))
    assert seen(*results).table(summary_of(results), is_whole=False)[1] == []
    assert list(seen(*results).quiet_lines(is_whole=False)) == [
        "11 operators: nothing failed, and nothing to note (-v lists them)"
    ]


def test_a_file_that_cannot_be_used_is_of_no_operator() -> None:
    results = [CaseResult(case(operator=""), "error", "the file cannot be used")]
    assert seen(*results).table(summary_of(results))[1] == []


def test_of_several_largest_errors_the_largest_and_the_closest_to_its_tolerance_are_told() -> None:
    shares = [0.1, 0.7, 0.3, 0.6, 0.2, 0.5, 0.4]
    results = []
    for number, share in enumerate(shares):
        output = CLOSE._replace(max_share=share, max_ulp=100.0 if number == 0 else 5.0)
        results.append(passed("a", case=case(operator=OPERATORS[number]), outputs={"OutputTensor": output}))
    lines = list(seen(*results).accuracy_lines(summary_of(results), None, is_whole=False))
    assert [line.split()[3] for line in lines] == [OPERATORS[0], OPERATORS[1]]
    alone = list(seen(*results[1:]).accuracy_lines(summary_of(results), None, is_whole=False))
    assert [line.split()[3] for line in alone] == [OPERATORS[1]]  # of equal errors the first, which is the closest too
    whole = list(seen(*results).accuracy_lines(summary_of(results), None, is_whole=True))
    assert [line.split()[3] for line in whole] == OPERATORS[:7]


def skips(*reasons: str | None, is_whole: bool) -> list[str]:
    return list(seen(*(CaseResult(case(), "skipped", reason) for reason in reasons)).skip_lines(is_whole=is_whole))


def test_skips_are_counted_by_their_reasons_the_most_frequent_first() -> None:
    assert skips("a level", None, "no kernel", "no kernel", is_whole=True) == [
        "skipped 2: no kernel",
        "skipped 1: a level",
        "skipped 1: no reason given",
    ]


def test_reasons_that_differ_in_names_and_numbers_are_told_together() -> None:
    reasons = [
        *["ort has no ArgMax of INT16 on CPU"] * 2,
        *["ort has no Where of BOOL and INT8 on CPU"] * 3,
        *["Scale 0.5 is not a number of INT16"] * 4,
        "Scale -1e-05 is not a number of INT8",
        "a level",
    ]
    assert skips(*reasons, is_whole=False) == [
        "skipped 5: Scale 0.5 is not a number of INT16 (4); -v lists 2 such reasons",
        "skipped 5: ort has no Where of BOOL and INT8 on CPU (3); -v lists 2 such reasons",
        "skipped 1: a level",
    ]
    assert skips(*reasons, is_whole=True)[:3] == [
        "skipped 5 for 2 reasons alike:",
        "  4: Scale 0.5 is not a number of INT16",
        "  1: Scale -1e-05 is not a number of INT8",
    ]


def test_of_many_kinds_of_reasons_the_rarest_are_counted_together() -> None:
    reasons = ["abcdefghijkl"[: number + 1] for number in range(12) for _ in range(12 - number)]
    lines = skips(*reasons, is_whole=False)
    assert (lines[0], lines[9], len(lines)) == ("skipped 12: a", "skipped 3: abcdefghij", 11)
    assert lines[10] == "skipped 3 for 2 other kinds of reasons (-v lists them)"
    assert len(skips(*reasons, is_whole=True)) == 12


def test_of_those_near_the_bound_the_nearest_are_named() -> None:
    shares = [0.9, 0.6, 0.95, 0.7, 0.8, 0.99, 0.65]
    results = [passed(f"c{share}", share, warned=("OutputTensor",)) for share in shares]
    lines = list(seen(*results).accuracy_lines(summary_of(results), None))
    at = lines.index("7 cases close to the tolerance:")
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
    at = lines.index("3 cases within the tolerance, and beyond the likely error:")
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


def test_the_table_of_nodes_is_by_their_operators_with_the_worst_share() -> None:
    conv = NodeOfCase("c1", "Conv-11", ("DML_OPERATOR_CONVOLUTION",), "onnx")
    results = [passed("a", 0.25, node=conv), passed("b", 0.5, node=conv), passed("c", 3.5, node=NodeOfCase("d", "Own"))]
    results.append(CaseResult(case("s"), "skipped", "no", node=NodeOfCase("s", "Shape-13")))
    head, rows = seen(*results).table(summary_of(results))
    assert head == ["operator", "passed", "failed", "error", "skipped", "worst share", "worst ULP", "seconds"]
    shares = {row[0]: (row[1], row[4], row[5]) for row in rows}
    assert shares == {"Conv-11": ("2", "0", "50 %"), "Own": ("1", "0", "3.5 times"), "Shape-13": ("0", "1", "")}
