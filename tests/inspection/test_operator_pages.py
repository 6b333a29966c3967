"""What is known of an operator, as plain values: against a JSON Schema written from the contract."""

from __future__ import annotations

import json

import jsonschema
import pytest
from commandline import dmlcheck
from reports.test_json import COUNT, LEVEL, NUMBER, TEXT, items, record, with_optional

from dmlcheck.specs.load import operator_names

TOLERANCE = with_optional(
    record(source=TEXT),
    exact={"const": True},
    accumulate={"const": True},
    **dict.fromkeys(("ulp", "absolute", "relative", "ulp_per_exponent"), NUMBER),
    times=TEXT,
    when={"type": "object", "additionalProperties": items(TEXT)},
    present=items(TEXT),
)


VALUES = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": ["string", "boolean"]}}}
CONDITIONS = with_optional(
    record(), when=VALUES, unless=VALUES, present=items(TEXT), absent=items(TEXT), since=LEVEL, until=LEVEL
)

OPERATOR = record(
    operator={"enum": list(operator_names())},
    introduced=LEVEL,
    in_place={"type": "boolean"},
    fields=items(
        record(
            name=TEXT,
            kind={"enum": ["input_tensor", "output_tensor", "attribute"]},
            type=TEXT,
            optional={"type": "boolean"},
            about=TEXT,
            enum={"type": ["string", "null"]},
            values=items(TEXT),
        )
    ),
    support=items(
        record(
            when={"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": items(TEXT)}]},
            levels=items(
                record(
                    level=LEVEL,
                    tensors={
                        "type": "object",
                        "additionalProperties": record(dims=items(COUNT), types=items(TEXT)),
                    },
                )
            ),
        )
    ),
    constraints=items(record(id=TEXT, text=TEXT, conditions=CONDITIONS)),
    formula=items(TEXT),
    supersedes=items({"enum": list(operator_names())}),
    page=record(url={"type": "string", "pattern": "^https://learn.microsoft.com/"}, date=TEXT),
    errata=items(
        record(
            id=TEXT,
            kind={"enum": ["error", "silence", "contradiction"]},
            page=TEXT,
            holds=TEXT,
            basis={"enum": ["documentation", "header", "history", "vendor", "callers", "tests", "our decision"]},
            measured={"type": "boolean"},
            source={"type": "string", "minLength": 1},
        )
    ),
    alternatives=items(TEXT),
    unspecified=items(TEXT),
    known_deviations=items(record(text=TEXT, versions=TEXT, source=TEXT)),
    names={"type": "object", "propertyNames": {"enum": ["ONNX", "WebNN"]}, "additionalProperties": items(TEXT)},
    differences=items(record(name=TEXT, text=TEXT, source=TEXT)),
    tolerance=items(TOLERANCE),
    reference={"type": "boolean"},
)


@pytest.mark.slow
@pytest.mark.parametrize("operator", operator_names())
def test_an_operator_is_shown_as_the_schema_says(operator: str) -> None:
    jsonschema.validate(json.loads(dmlcheck("show", operator, "--format", "json").stdout), OPERATOR)


@pytest.mark.slow
def test_all_operators_are_shown_as_one_object() -> None:
    read = json.loads(dmlcheck("show", "--format", "json").stdout)
    jsonschema.validate(read, record(operators=items(OPERATOR)))
    assert [operator["operator"] for operator in read["operators"]] == list(operator_names())


def test_what_a_page_prints_is_in_its_json() -> None:
    read = json.loads(dmlcheck("show", "CONVOLUTION", "--format", "json").stdout)
    fields = {field["name"]: field for field in read["fields"]}
    assert fields["DimensionCount"]["optional"] is True  # it follows from its arrays
    assert fields["Strides"]["optional"] is False
    assert (fields["Mode"]["enum"], fields["Mode"]["values"]) == (
        "DML_CONVOLUTION_MODE",
        ["CONVOLUTION", "CROSS_CORRELATION"],
    )
    conditions = {row["id"]: row["conditions"] for row in read["constraints"]}
    assert (conditions["C4"], conditions["C7"]) == ({}, {"when": {"Direction": ["FORWARD"]}})
    assert (conditions["C14"], conditions["C15"]) == ({"until": "6_0"}, {"since": "6_0"})
    printed = " ".join(dmlcheck("show", "CONVOLUTION").stdout.split())
    told = [*read["formula"], read["page"]["url"], *(field["about"] for field in read["fields"])]
    assert [text for text in told if text not in printed] == []
