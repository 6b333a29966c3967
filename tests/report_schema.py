"""The JSON report of a run: its schema, written from the contract, and reports that are as it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
from commandline import dmlcheck, json_of

from dmlcheck.specs.names import LEVELS

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


def checked_report(path: str | Path) -> dict[str, Any]:
    """Return a report, which is as its schema says."""
    found: dict[str, Any] = json_of(path)
    jsonschema.validate(found, REPORT)
    return found


def report(*words: object, path: str = "report.json") -> dict[str, Any]:
    """Run cases in this process, and return the report."""
    dmlcheck("run", *words, "--json", path)
    return checked_report(path)
