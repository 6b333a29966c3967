"""Diagnostics, and findings before their place is known."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.diagnostics.record import Diagnostic, Finding


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
