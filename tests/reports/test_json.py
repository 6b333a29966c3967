"""The machine-readable reports: against JSON Schemas written from the contract, and what they say of a known run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import results
from click.testing import CliRunner, Result

from dmlcheck.cli import main
from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.reports.json import case_dict, output_dict
from dmlcheck.running.results import CaseResult
from dmlcheck.specs.names import LEVELS, RELEASES

FILES = Path(__file__).parent.parent / "snapshots" / "files"
LEVEL = {"enum": list(LEVELS)}
TEXT = {"type": "string", "minLength": 1}
TEXT_OR_NULL = {"type": ["string", "null"], "minLength": 1}
COUNT = {"type": "integer", "minimum": 0}
NUMBER = {"type": "number", "minimum": 0}


def record(**fields: Any) -> dict[str, Any]:
    """Return the schema of an object that has exactly these keys."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def with_optional(schema: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the schema of a record that may have more keys."""
    return {**schema, "properties": {**schema["properties"], **fields}}


def items(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


DIAGNOSTIC = record(
    rule=TEXT,
    severity={"enum": ["error", "note", "warning"]},
    message=TEXT,
    file=TEXT_OR_NULL,
    line={"type": ["integer", "null"], "minimum": 1},
    column={"type": ["integer", "null"], "minimum": 1},
    pointer=TEXT_OR_NULL,
    help=TEXT_OR_NULL,
    constraint=TEXT_OR_NULL,
)
VALUE = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}
MEASURE = {"unrounded": {"const": True}, "unlimited": {"const": True}}
ELEMENT = with_optional(
    record(
        index=items(COUNT), expected=VALUE, actual=VALUE, ulp=NUMBER, share={"type": ["number", "null"], "minimum": 0}
    ),
    **MEASURE,
)
DETAILS = record(
    data_type={"type": "string"},
    sizes=items(COUNT),
    shape=TEXT_OR_NULL,
    bound={"type": "string"},
    decided_by={"type": "string"},
    region=TEXT_OR_NULL,
    elements=items(ELEMENT),
    profile=items(NUMBER),
)
NUMBER_OR_NULL = {"type": ["number", "null"], "minimum": 0}
ELEMENT_OR_NULL = {"anyOf": [{"type": "null"}, ELEMENT]}
OUTPUT = with_optional(
    record(
        data_type={"type": "string"},
        max_ulp=NUMBER,
        max_share=NUMBER_OR_NULL,
        mismatches=COUNT,
        elements=COUNT,
        unspecified=COUNT,
        unlimited=COUNT,
        first={"anyOf": [{"type": "null"}, record(index=items(COUNT), expected=VALUE, actual=VALUE)]},
        worst={
            "anyOf": [
                {"type": "null"},
                with_optional(record(index=items(COUNT), expected=VALUE, actual=VALUE), **MEASURE),
            ]
        },
        closest=ELEMENT_OR_NULL,
    ),
    details=DETAILS,
    likely_share=NUMBER,
    systematic=NUMBER,
)
SPOT = {"case": TEXT, "output": TEXT, "index": items(COUNT)}
NO_SPOT: dict[str, Any] = {key: {"type": "null"} for key in SPOT}
WORST = {"operator": TEXT, "data_type": {"type": "string"}, "max_ulp": NUMBER, "max_share": NUMBER_OR_NULL}
CLOSEST = {"anyOf": [{"type": "null"}, record(**SPOT)]}
ACCURACY = {"anyOf": [record(**WORST, **SPOT, closest=CLOSEST), record(**WORST, **NO_SPOT, closest=CLOSEST)]}
DRIFT = {"output": TEXT, "old_ulp": NUMBER, "new_ulp": NUMBER, "failure": {"type": "boolean"}}
INDEX_OR_NULL = {"anyOf": [{"type": "null"}, items(COUNT)]}
OUTCOMES = ["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
ROUNDED = {"enum": ["tf32", "bfloat16"]}
REPORT = with_optional(
    record(
        schema={"const": "dmlcheck-report/1"},
        tool=record(name={"const": "dmlcheck"}, version=TEXT),
        implementation=TEXT,
        implementation_version=TEXT_OR_NULL,
        device=TEXT_OR_NULL,
        feature_level={"anyOf": [{"type": "null"}, LEVEL]},
        accumulate={"enum": ["float16", "float32"]},
        inputs={"enum": ["float32", "tf32", "bfloat16"]},
        strict={"type": "boolean"},
        warn_above={"type": ["number", "null"], "minimum": 0, "maximum": 1},
        compared_to={
            "anyOf": [
                {"type": "null"},
                record(file=TEXT, version=TEXT_OR_NULL, max_drift=NUMBER_OR_NULL, implementation=TEXT),
            ]
        },
        accuracy=items(ACCURACY),
        summary=record(
            total=COUNT,
            **dict.fromkeys(OUTCOMES, COUNT),
            computed=COUNT,
            legal=COUNT,
            for_implementations=COUNT,
            seconds=NUMBER,
        ),
        digest={"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"},
        cases=items(
            with_optional(
                record(
                    id=TEXT,
                    name=TEXT,
                    file=TEXT,
                    line={"type": "integer", "minimum": 1},
                    operator={"type": "string"},
                    feature_level={"anyOf": [{"type": "null"}, LEVEL]},
                    outcome={"enum": OUTCOMES},
                    reason=TEXT_OR_NULL,
                    computed={"type": "boolean"},
                    flaky={"type": "boolean"},
                    diagnostics=items(DIAGNOSTIC),
                    seconds=NUMBER,
                    outputs={"type": "object", "additionalProperties": OUTPUT},
                    command={"type": "string", "pattern": "^dmlcheck run "},
                ),
                desc={"type": "string"},
                inputs={"type": "object", "additionalProperties": {"type": "string"}},
                source=TEXT_OR_NULL,
                consistent_with=ROUNDED,
                ordinal=COUNT,
                malformed={"const": True},
                traceback=TEXT,
                known_deviations=items(record(text=TEXT, versions=TEXT, source=TEXT)),
                warnings=items(record(output=TEXT, share=NUMBER, ulp=NUMBER, index=INDEX_OR_NULL)),
                drift=items(record(**DRIFT)),
            )
        ),
    ),
    warned=COUNT,
    unlikely=COUNT,
    unlimited=COUNT,
    inaccurate=COUNT,
    expected_within=NUMBER,
    algorithms={"type": "array", "items": {"const": "winograd"}},
    consistent_with={
        "type": "object",
        "propertyNames": ROUNDED,
        "additionalProperties": record(failures=COUNT, warnings=COUNT),
        "minProperties": 1,
    },
    compared=record(cases=COUNT, new=COUNT),
    drift=items(record(case=TEXT, **DRIFT)),
    shard=record(index={"type": "integer", "minimum": 1}, count={"type": "integer", "minimum": 1}),
    not_run=COUNT,
    options=items(TEXT),
    selection={"const": True},
    flaky=COUNT,
    running=record(case=TEXT, seconds=NUMBER),
    interrupted={"const": True},
)
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


def dmlcheck(*words: str) -> Result:
    """Run a command, letting bugs show as tracebacks."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.fixture
def report(tmp_path: Path) -> dict[str, Any]:
    """Run the cases that end in every way and return the JSON report."""
    path = tmp_path / "report.json"
    assert dmlcheck("run", str(FILES / "case.yaml"), "--json", str(path)).exit_code == 2
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
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
    read = json.loads(path.read_text(encoding="utf-8"))
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
