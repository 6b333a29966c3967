"""Claims: what findings ask of a desc, in a form for machines, and in the words of messages."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.diagnostics.claims import Claim
from dmlcheck.validation import validate


@pytest.mark.parametrize(
    ("relation", "limit", "text"),
    [
        ("equal", 3, "3"),
        ("not_equal", 0, "other than 0"),
        ("at_least", 2, "at least 2"),
        ("at_most", 2, "at most 2"),
        ("between", (2, 5), "from 2 to 5"),
        ("one_of", (1, 3), "one of 1 3"),
        ("one_of", (3,), "3"),
        ("divides", 12, "a divisor of 12"),
    ],
)
def test_a_claim_has_words(relation: str, limit: Any, text: str) -> None:
    assert Claim(("desc", "X"), relation, limit).text == text


F32 = {"DataType": "FLOAT32", "Sizes": [2, 3]}
SUM = {"Function": "SUM", "InputTensor": F32, "OutputTensor": {**F32, "Sizes": [2, 1]}, "Axes": [1]}


@pytest.mark.parametrize(
    ("fields", "claim"),
    [
        ({**SUM, "Axes": [2]}, (("desc", "Axes", 0), "at_most", 1)),
        ({**SUM, "Axes": [1, 1]}, (("desc", "Axes", 1), "distinct", ("Axes", 0))),
        ({**SUM, "AxisCount": 2}, (("desc", "AxisCount"), "equal", 1)),
        ({**SUM, "Function": "SUMM"}, (("desc", "Function"), "one_of", "SUM")),
        ({**SUM, "Extra": 1}, (("desc", "Extra"), "absent", None)),
        ({**SUM, "OutputTensor": {**F32, "Sizes": [2, 2]}}, (("desc", "OutputTensor", "Sizes", 1), "equal", 1)),
        ({**SUM, "OutputTensor": {**F32, "Sizes": [2]}}, (("desc", "OutputTensor", "DimensionCount"), "equal", 2)),
        ({**SUM, "InputTensor": {**F32, "Sizes": [2, 0]}}, (("desc", "InputTensor", "Sizes", 1), "at_least", 1)),
        (
            {**SUM, "InputTensor": {**F32, "Strides": [1]}},
            (("desc", "InputTensor", "Strides", "length"), "equal", 2),
        ),
        (
            {**SUM, "InputTensor": {**F32, "TotalTensorSizeInBytes": 4}},
            (("desc", "InputTensor", "TotalTensorSizeInBytes"), "at_least", 24),
        ),
        (
            {**SUM, "InputTensor": {**F32, "DataType": "FLOAT64"}},
            (("desc", "InputTensor", "DataType"), "one_of", "FLOAT16"),
        ),
        ({name: value for name, value in SUM.items() if name != "Function"}, (("desc", "Function"), "present", None)),
    ],
)
def test_a_finding_claims_what_would_be_right(fields: dict[str, Any], claim: tuple[Any, ...]) -> None:
    field, relation, limit = claim
    _, findings = validate("REDUCE", fields, "6_4")
    claims = [finding.claim for finding in findings if finding.claim is not None and finding.claim.field == field]
    assert [one.relation for one in claims] == [relation]
    assert claims[0].limit == limit or limit in claims[0].limit
