"""Reports of runs read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from results import OUTPUT, case, every_outcome, failed, report

from dmlcheck.comparison.records import Element
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.json import JsonReport, case_dict
from dmlcheck.reports.reading import ReportError, case_result, read_errors, read_head, read_report
from dmlcheck.reports.records import CHECKED, RunInfo, kind_of
from dmlcheck.running.results import LEGAL, OUTCOMES, CaseResult, Drift, NodeOfCase, NotFinite
from dmlcheck.running.settings import Settings
from dmlcheck.specs.records import Deviation


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Write the report of a run that ends in every way."""
    path = str(tmp_path / "r.json")
    report(JsonReport(path, RunInfo("onnxruntime", Settings("4_1"), version="1.2")), every_outcome())
    return path


def reread(result: CaseResult) -> CaseResult:
    raw: dict[str, Any] = json.loads(json.dumps(case_dict(result)))
    return case_result(raw)


def test_a_report_is_read_as_it_was_written(path: str) -> None:
    read = read_report(path)
    assert (read["implementation"], read["implementation_version"], len(read["cases"])) == ("onnxruntime", "1.2", 6)


def test_the_head_has_no_cases_and_the_outcomes_go_by_id(path: str) -> None:
    head, outcomes, malformed, files = read_head(path)
    assert "cases" not in head
    assert malformed == frozenset()
    assert outcomes == {f"cases/sum.yaml::{outcome}": outcome for outcome in OUTCOMES}
    assert files == {f"cases/sum.yaml::{outcome}": "cases/sum.yaml" for outcome in OUTCOMES}


def test_of_each_case_only_its_errors_are_kept_and_a_wrong_output_has_an_infinite_one(tmp_path: Path) -> None:
    right = failed("right", outcome="passed", outputs={"OutputTensor": OUTPUT._replace(mismatches=0, max_ulp=0.25)})
    path = str(tmp_path / "r.json")
    report(JsonReport(path, RunInfo("reference")), [right, failed("wrong")])
    head, errors = read_errors(path)
    assert head["implementation"] == "reference"
    assert errors == {
        "cases/sum.yaml::right": {"OutputTensor": 0.25},
        "cases/sum.yaml::wrong": {"OutputTensor": float("inf")},
    }


def test_whether_the_implementation_had_a_part_is_told_again() -> None:
    for result in (
        CaseResult(case(), "passed", LEGAL, is_unrun=True),
        failed(),
        CaseResult(case(), "passed", "refused"),
    ):
        assert reread(result).is_unrun == result.is_unrun
    assert not reread(CaseResult(case(), "skipped")).is_computed


def test_of_a_report_of_an_earlier_version_it_follows_from_what_the_case_has() -> None:
    error = failed(outcome="error", outputs={}, diagnostics=(Diagnostic("timeout", "no result after 3 s"),))
    results = [
        (CaseResult(case(), "passed", "a legal desc"), False),
        (CaseResult(case(), "passed"), False),  # a negative case
        (failed(outcome="passed", diagnostics=()), True),
        (failed(), True),
        (error, True),
        (failed(outputs={}, diagnostics=(Diagnostic("size-mismatch", "A is 3"),)), False),
    ]
    for result, is_computed in results:
        raw = json.loads(json.dumps(case_dict(result)))
        del raw["computed"]
        assert case_result(raw).is_computed is is_computed
        assert (case_result(raw).reason == LEGAL and kind_of(case_result(raw)) == CHECKED) is (
            result.reason == "a legal desc"
        )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ('{"a": NaN}', "not JSON"),
        ('{"a": 1e999}', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a report of a run (dmlcheck-report/1)"),
        ('{"schema": "dmlcheck-validation/1"}', "not a report of a run"),
        ('{"schema": "dmlcheck-report/1", "implementation": "x"}', "not a whole report"),
        ('{"schema": "dmlcheck-report/1", "cases": []}', "not a whole report"),
        ('{"schema": "dmlcheck-report/1", "implementation": "x", "cases": [{"id": 3}]}', "not a whole report"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with pytest.raises(ReportError) as refused:
        read_report(str(tmp_path / "r.json"))
    assert words in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path))


def test_a_file_that_is_not_there_is_refused_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"r\.json: no such file or folder$"):
        read_report(str(tmp_path / "r.json"))


def test_a_result_is_told_again_as_it_was() -> None:
    output = OUTPUT._replace(
        sizes=(1,),
        most_off=Element((0,), 21.0, 22.0, 5.0, None, is_unrounded=True, is_unlimited=True),
        profile=(5.0,),
        closest=Element((0,), 1, 2, 1.0, 0.5, is_unrounded=True),
        undefined=3,
        unlimited=2,
    )
    drift = (Drift("OutputTensor", 1.0, 5.0, is_failure=True),)
    known = (Deviation("Wrong.", "before 1.9.0", "a page"),)
    result = failed(outputs={"OutputTensor": output}, drift=drift, warned=("OutputTensor",), known=known)
    result = result._replace(consistent="TF32")
    again = reread(result)
    assert again.consistent == "TF32"
    assert (again.case.id, again.outcome, again.reason) == (result.case.id, result.outcome, result.reason)
    assert again.case.position.line == result.case.position.line
    assert (again.drift, again.warned, again.seconds, again.known) == (drift, ("OutputTensor",), 0.25, known)
    assert [found._replace(width=2) for found in again.diagnostics] == list(result.diagnostics)
    read = again.outputs["OutputTensor"]
    assert read._replace(worst=None) == output._replace(worst=None)
    assert read.worst == output.first[0]


def test_an_element_that_is_no_number_is_one_again() -> None:
    element = Element((0,), float("inf"), float("-inf"), 1.7976931348623157e308, None)
    read = reread(failed(outputs={"OutputTensor": OUTPUT._replace(first=(element,))})).outputs["OutputTensor"]
    assert (read.first[0].expected, read.first[0].actual) == (float("inf"), float("-inf"))


@pytest.mark.parametrize(
    "change",
    [
        {"reason": 3},
        {"seconds": "long"},
        {"line": "one"},
        {"inputs": []},
        {"diagnostics": [{"rule": "a", "severity": "error", "message": 3}]},
        {"diagnostics": [{"rule": "a", "severity": "error", "message": "b", "more": "c"}]},
        {"outputs": {"OutputTensor": {}}},
        {"outputs": {"OutputTensor": {"max_ulp": 1, "mismatches": 0, "elements": True}}},
        {"outputs": {"OutputTensor": {"max_ulp": 1, "mismatches": 0, "elements": 1, "data_type": "FLOAT31"}}},
        {"outputs": {"O": {"max_ulp": 1, "mismatches": 1, "elements": 1, "details": {"sizes": ["a"]}}}},
        {"warnings": [{"output": "Nowhere"}]},
        {"drift": [{"output": "OutputTensor", "old_ulp": "a", "new_ulp": 1, "failure": True}]},
    ],
)
def test_a_case_that_run_does_not_write_is_refused_by_its_id(change: dict[str, Any]) -> None:
    with pytest.raises(ReportError, match=r"cases/sum\.yaml::sum: not a case as `dmlcheck run` reports it"):
        case_result({**case_dict(CaseResult(case(), "passed")), **change})


NODE = NodeOfCase(
    "c1",
    "Conv-11",
    ("DML_OPERATOR_CONVOLUTION",),
    "onnx",
    "1_0",
    "net.c1",
    "net.py:7",
    (NotFinite("y", 1, 2),),
    {"y": 60000.0},
)


def test_the_node_of_a_case_is_read_again() -> None:
    for node in (NODE, NodeOfCase("s", "Shape-13")):
        assert reread(failed("c1")._replace(node=node)).node == node
    assert reread(failed("c1")).node is None


@pytest.mark.parametrize(
    ("key", "value"),
    [("node", 1), ("onnx_operator", None), ("dml_operators", "a"), ("dml_operators", [1]), ("largest", {"y": "z"}),
     ("not_finite", [{"tensor": "y", "nan": "1", "infinite": 0}]), ("level", 3)],
)  # fmt: skip
def test_a_node_that_no_run_writes_is_refused(key: str, value: Any) -> None:
    raw = {**case_dict(failed("c1")._replace(node=NODE)), key: value}
    with pytest.raises(ReportError):
        case_result(raw)
