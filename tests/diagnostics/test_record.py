"""Diagnostics, and findings before their place is known."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.diagnostics.record import Claim, Diagnostic, Finding
from dmlcheck.validation import validate


def test_a_finding_outside_a_file_keeps_its_path() -> None:
    finding = Finding("missing-field", ("Axes",), {"operator": "DML_OPERATOR_REDUCE", "field": "Axes"})
    diagnostic = finding.diagnostic(("desc",))
    assert (diagnostic.pointer, diagnostic.file, diagnostic.line) == ("desc.Axes", None, None)
    assert diagnostic.message == "DML_OPERATOR_REDUCE needs the field Axes"


def test_a_message_is_the_rules_with_the_words_of_the_finding() -> None:
    finding = Finding("output-mismatch", (), {"tensor": "OutputTensor", "problem": "is {1} instead of {2}"})
    assert finding.message == "OutputTensor is {1} instead of {2}"


def test_diagnostics_sort_by_their_place_and_those_without_one_come_first() -> None:
    found = [
        Diagnostic("a", "", line=3, column=1),
        Diagnostic("b", "", line=2, column=9),
        Diagnostic("c", ""),
        Diagnostic("d", "", line=2, column=2),
    ]
    assert [diagnostic.rule for diagnostic in sorted(found, key=Diagnostic.place)] == ["c", "d", "b", "a"]


@pytest.mark.parametrize("field", ["note", "width"])
def test_what_is_only_printed_beside_the_caret_is_not_in_reports_for_programs(field: str) -> None:
    assert field not in Diagnostic("a", "b").as_dict()


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({"file": "sum.yaml", "line": 3, "column": 7}, "sum.yaml:3:7"),
        ({"file": "sum.yaml"}, "sum.yaml"),
        ({"line": 3, "column": 7}, "3:7"),
        ({}, ""),
    ],
)
def test_a_place_is_said_as_far_as_it_is_known(place: dict[str, Any], text: str) -> None:
    assert Diagnostic("a", "b", **place).where == text


def test_a_very_long_name_is_cut_in_a_message_and_what_a_program_printed_is_not() -> None:
    long = "A" * 100_000
    assert len(Finding("unknown-operator", (), {"found": long}).message) < 1100
    failed = Finding("implementation-error", (), {"implementation": "mine", "problem": long})
    assert failed.message == f"mine {long}"


# ---- claims


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
