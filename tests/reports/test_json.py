"""The machine-readable reports: against JSON Schemas written from the contract, and what they say of a known run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import results
from commandline import dmlcheck, json_of
from report_schema import (
    DIAGNOSTIC,
    LEVEL,
    OUTCOMES,
    OUTPUT,
    REPORT,
    TEXT,
    TEXT_OR_NULL,
    items,
    record,
)

from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.reports.json import case_dict, output_dict
from dmlcheck.running.results import CaseResult
from dmlcheck.specs.names import RELEASES

FILES = Path(__file__).parent.parent / "snapshots" / "files"
VALIDATION = record(
    schema={"const": "dmlcheck-validation/1"},
    valid={"type": "boolean"},
    descs=items(
        record(
            file=TEXT,
            name=TEXT,
            operator=TEXT_OR_NULL,
            feature_level={"anyOf": [{"type": "null"}, LEVEL]},
            valid={"type": "boolean"},
            minimum_feature_level={"anyOf": [{"type": "null"}, LEVEL]},
            diagnostics=items(DIAGNOSTIC),
            accepted_by=items({"enum": list(RELEASES)}),
        )
    ),
)


@pytest.fixture
def report(tmp_path: Path) -> dict[str, Any]:
    """Run the cases that end in every way and return the JSON report."""
    path = tmp_path / "report.json"
    assert dmlcheck("run", str(FILES / "case.yaml"), "--json", str(path)).exit_code == 2
    read: dict[str, Any] = json_of(path)
    return read


def test_a_run_is_reported_as_the_schema_says(report: dict[str, Any]) -> None:
    jsonschema.validate(report, REPORT)


def test_a_run_report_says_how_every_case_ended(report: dict[str, Any]) -> None:
    outcomes = {case["name"]: case["outcome"] for case in report["cases"]}
    assert outcomes == {
        "right": "passed",
        "wrong": "failed",
        "many-wrong": "failed",
        "not-a-number": "failed",
        "not-legal": "failed",
        "values-that-do-not-fit": "error",
        "nothing-to-compare": "skipped",
        "rightly-rejected": "passed",
        "wrongly-rejected": "failed",
        "not-well-formed": "error",
    }
    counts = {outcome: list(outcomes.values()).count(outcome) for outcome in OUTCOMES}
    assert {key: report["summary"][key] for key in OUTCOMES} == counts
    assert report["summary"]["total"] == 10


def test_a_run_report_gives_places_values_and_errors(report: dict[str, Any]) -> None:
    cases = {case["name"]: case for case in report["cases"]}
    wrong = cases["wrong"]
    assert wrong["id"] == f"{FILES.as_posix()}/case.yaml::wrong"
    assert (wrong["line"], wrong["operator"], wrong["feature_level"]) == (14, "DML_OPERATOR_REDUCE", "6_4")
    assert wrong["outputs"] == {
        # 15 and 15.5 are 2^19 units of 2^-20 apart.
        "OutputTensor": {
            "data_type": "FLOAT32",
            "max_ulp": 524288.0,
            "max_share": 262144.0,
            "mismatches": 1,
            "elements": 2,
            "unspecified": 0,
            "unlimited": 0,
            "first": {"index": [1, 0], "expected": 15.5, "actual": 15.0},
            "worst": {"index": [1, 0], "expected": 15.5, "actual": 15.0},
            "closest": {"index": [1, 0], "expected": 15.5, "actual": 15.0, "ulp": 524288.0, "share": 262144.0},
            "details": {
                "data_type": "FLOAT32",
                "sizes": [2, 1],
                "shape": None,
                "region": None,
                "bound": "2 ULP",
                "decided_by": "the case's own tolerance",
                "elements": [{"index": [1, 0], "expected": 15.5, "actual": 15.0, "ulp": 524288.0, "share": 262144.0}],
                "profile": [0.0, 524288.0],
            },
        }
    }
    (diagnostic,) = wrong["diagnostics"]
    assert (diagnostic["rule"], diagnostic["line"], diagnostic["column"]) == ("output-mismatch", 15, 36)
    assert diagnostic["pointer"] == "outputs.OutputTensor[1][0]"
    assert cases["not-a-number"]["outputs"]["OutputTensor"]["first"] == {
        "index": [0, 0],
        "expected": 6.0,
        "actual": "nan",
    }
    assert cases["nothing-to-compare"]["reason"] == "no expected outputs: nothing independent to compare with"


def test_a_run_report_of_the_level_names_it(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    dmlcheck("run", str(FILES / "case.yaml"), "--feature-level", "DML_FEATURE_LEVEL_2_1", "--json", str(path))
    read = json_of(path)
    jsonschema.validate(read, REPORT)
    assert read["feature_level"] == "2_1"
    assert read["cases"][0]["outcome"] == "skipped"
    assert "DML_FEATURE_LEVEL_3_0" in read["cases"][0]["reason"]


@pytest.mark.parametrize("name", ["bad.yaml", "levels.yaml", "case.yaml", "model.json", "missing.yaml"])
def test_a_validation_is_reported_as_the_schema_says(name: str) -> None:
    read = json.loads(dmlcheck("validate", str(FILES / name), "--format", "json").stdout)
    jsonschema.validate(read, VALIDATION)
    assert read["valid"] == (name == "levels.yaml")


def test_a_validation_report_names_the_lowest_level() -> None:
    read = json.loads(dmlcheck("validate", str(FILES / "levels.yaml"), "--format", "json").stdout)
    assert read["descs"] == [
        {
            "file": (FILES / "levels.yaml").as_posix(),
            "name": "levels",
            "operator": "DML_OPERATOR_REDUCE",
            "feature_level": "6_4",
            "valid": True,
            "minimum_feature_level": "5_0",
            "diagnostics": [],
            "accepted_by": ["1.8.2", "1.9.1", "1.10.1", "1.12.1", "1.13.1", "1.14.2", "1.15.4"],
        }
    ]


def test_the_lowest_level_is_there_below_it_too() -> None:
    words = ("validate", str(FILES / "levels.yaml"), "--format", "json", "--feature-level", "0x3000")
    (desc,) = json.loads(dmlcheck(*words).stdout)["descs"]
    assert (desc["valid"], desc["minimum_feature_level"], desc["feature_level"]) == (False, "5_0", "3_0")


def test_an_infinite_error_stays_a_number() -> None:
    jsonschema.validate(output_dict(OutputResult(1, mismatches=1, max_ulp=1.7976931348623157e308)), OUTPUT)


def test_the_report_takes_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("older", encoding="utf-8")
    result = dmlcheck("run", str(FILES / "case.yaml"), "--json", str(tmp_path / "nowhere" / "report.json"))
    assert (result.exit_code, "nowhere" in result.stderr) == (2, True)
    assert path.read_text(encoding="utf-8") == "older"
    dmlcheck("run", str(FILES / "case.yaml"), "--json", str(path))
    assert sorted(found.name for found in tmp_path.iterdir()) == ["report.json"]


def test_an_element_that_is_not_a_number_stands_in_a_report_once() -> None:
    def element() -> Element:
        return Element((0,), float("nan"), 1.0, 1.5, None)

    output = OutputResult(1, mismatches=1, first=(element(),), worst=element(), data_type="FLOAT32", sizes=(1,))
    assert [shown["expected"] for shown in output_dict(output)["details"]["elements"]] == ["nan"]


def test_undefined_elements_of_a_passed_case_are_counted() -> None:
    passed = CaseResult(results.case(), "passed", outputs={"Out": OutputResult(3, undefined=2)})
    assert case_dict(passed)["outputs"]["Out"]["unspecified"] == 2
