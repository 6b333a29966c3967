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
    constraints=items(record(id=TEXT, text=TEXT)),
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
