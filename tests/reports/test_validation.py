"""Validated descs as text."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.yaml import parse
from dmlcheck.reports.layout import PLAIN
from dmlcheck.reports.validation import validation_lines
from dmlcheck.running.legality import AtLevel, Validated

DOCUMENTS = {"a.yaml": parse(b"operator: REDUCE\ndesc: {}\n", "a.yaml"), "b.yaml": parse(b"[", "b.yaml")}
ERROR = Diagnostic("missing-field", "no Axes", file="a.yaml", line=2, column=1, width=4)


def desc(**fields: Any) -> Validated:
    known = Validated("a.yaml", "one", "DML_OPERATOR_REDUCE", "6_4", "5_0", ())
    return known._replace(**fields)


def lines(*descs: Validated) -> list[str]:
    return list(validation_lines(list(descs), DOCUMENTS, PLAIN))


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({}, "a.yaml: DML_OPERATOR_REDUCE is valid from DML_FEATURE_LEVEL_5_0 (DirectML 1.8.0)"),
        ({"is_plain": False}, "a.yaml::one: DML_OPERATOR_REDUCE is valid from DML_FEATURE_LEVEL_5_0 (DirectML 1.8.0)"),
        (
            {"minimum": None, "diagnostics": (ERROR._replace(severity="note"),)},
            "a.yaml: DML_OPERATOR_REDUCE breaks missing-field at DML_FEATURE_LEVEL_6_4, as the case says",
        ),
        (
            {"diagnostics": (ERROR._replace(severity="note", constraint="REDUCE/C2"),)},
            "a.yaml: DML_OPERATOR_REDUCE breaks REDUCE/C2 at DML_FEATURE_LEVEL_6_4, as the case says",
        ),
        (
            {"minimum": None},
            "a.yaml: DML_OPERATOR_REDUCE is a negative case about its values, which `dmlcheck run` reads",
        ),
    ],
)
def test_a_desc_without_errors_has_a_verdict(fields: dict[str, Any], verdict: str) -> None:
    assert lines(desc(**fields)) == [verdict]


def test_errors_are_printed_with_their_lines_and_counted_and_the_last_rule_is_explained() -> None:
    unknown = Diagnostic("unknown-field", "no Ax", file="a.yaml")
    other = ERROR._replace(message="no Function")
    found = lines(desc(diagnostics=(ERROR, unknown, other)), desc(), desc(diagnostics=(unknown,)))
    assert found[0] == "a.yaml:2:1: error[missing-field]: no Axes\n  2 | desc: {}\n    | ^^^^"
    assert found[-1] == "4 errors in 2 descs. `dmlcheck explain RULE` explains each."
    assert len(found) == 6


def test_a_mistake_that_several_cases_share_is_printed_and_counted_once() -> None:
    cases = [desc(name=name, is_plain=False, diagnostics=(ERROR,)) for name in "abc"]
    assert lines(*cases, desc(name="d", is_plain=False)) == [
        "a.yaml:2:1: error[missing-field]: no Axes\n  2 | desc: {}\n    | ^^^^",
        "  the same in 2 more cases",
        "a.yaml::d: DML_OPERATOR_REDUCE is valid from DML_FEATURE_LEVEL_5_0 (DirectML 1.8.0)",
        "1 error in 3 descs. `dmlcheck explain missing-field` says more.",
    ]


def test_where_a_file_itself_is_wrong_files_are_counted() -> None:
    file = desc(operator=None, feature_level=None, diagnostics=(ERROR._replace(rule="unknown-key"),))
    assert lines(file, desc(diagnostics=(ERROR,)))[-1].startswith("2 errors in 1 file. ")
    other = file._replace(file="b.yaml", diagnostics=(ERROR._replace(file="b.yaml"),))
    assert lines(file, other)[-1].startswith("2 errors in 2 files. ")


def test_one_is_one() -> None:
    assert lines(desc(diagnostics=(ERROR,)))[-1].startswith("1 error in 1 desc. ")


def test_what_is_noted_of_a_file_is_printed_and_what_is_wrong_with_a_file_has_no_verdict() -> None:
    note = Diagnostic("runs-elsewhere", "not DirectML's", severity="note", file="a.yaml")
    assert lines(desc(operator=None, diagnostics=(note,))) == ["a.yaml: note[runs-elsewhere]: not DirectML's"]
    assert lines(desc(file="b.yaml")) == []


def test_every_level_that_was_asked_for_has_a_line() -> None:
    levels = (AtLevel("5_0", is_valid=True), AtLevel("4_1", is_valid=False, reason="unsupported-value: no"))
    assert lines(desc(levels=levels))[1:] == ["  5_0  valid", "  4_1  unsupported-value: no"]
