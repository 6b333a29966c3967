"""The page of a rule, and that of a labelled constraint."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.reports.layout import printed
from dmlcheck.reports.rule_page import (
    condition_text,
    constraint_lines,
    constraint_text,
    deviation_text,
    rule_lines,
    rules_lines,
)
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import Constraint, Deviation


@pytest.mark.parametrize("rule", ["size-mismatch", "near-the-bound"])
def test_a_page_has_the_reason_and_where_there_are_any_the_examples(rule: str) -> None:
    found = page(rule)
    lines = list(printed(rule_lines(rule), None))
    assert lines[:3] == [f"{rule}   ({RULES[rule].group})", "", f"{found.summary[0].upper()}{found.summary[1:]}."]
    assert found.why in lines
    assert ("Wrong:" in lines, "Right:" in lines) == (bool(found.wrong), bool(found.right))
    assert [line for line in lines if line.startswith("    ")] == [
        f"    {line}" for line in (*found.wrong.splitlines(), *found.right.splitlines())
    ]


def test_a_constraint_has_its_text_its_remedy_and_its_page() -> None:
    spec = load_spec("DML_OPERATOR_REDUCE")
    row = spec.constraints[0]._replace(help="leave it", since="4_1")
    assert list(printed(constraint_lines(spec, row), None)) == [
        f"DML_OPERATOR_REDUCE/{row.id}",
        "",
        f"{row.text} (from 4_1)",
        "leave it.",
        "",
        f"page: {spec.page['url']} ({spec.page['date']})",
    ]


def test_of_all_rules_each_has_a_line() -> None:
    head, *rows = printed(rules_lines(), None)
    assert head.split() == ["rule", "group", "summary"]
    assert [row.split()[0] for row in rows] == list(RULES)


ROW = Constraint("C1", "A is B.", "sizes", {})


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ({"Function": ("SUM",)}, "Function is SUM"),
        ({"Function": ("ARGMIN", "ARGMAX")}, "Function is ARGMIN or ARGMAX"),
        ({"Function": ("SUM",), "AcrossChannels": (True,)}, "Function is SUM and AcrossChannels is true"),
    ],
)
def test_a_condition_names_its_fields_and_values(condition: dict[str, tuple[Any, ...]], text: str) -> None:
    assert condition_text(condition) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "A is B."),
        ({"when": {"Mode": ("X",)}}, "A is B. (when Mode is X)"),
        ({"unless": {"Mode": ("X",)}, "since": "4_1"}, "A is B. (unless Mode is X, from 4_1)"),
        ({"present": ("Bias", "Scale"), "absent": ("Output",)}, "A is B. (with Bias and Scale, without Output)"),
        ({"until": "6_4"}, "A is B. (before 6_4)"),
        # A condition that the text says is not said again.
        ({"text": "Forward, A is B.", "when": {"Direction": ("FORWARD",)}}, "Forward, A is B."),
        ({"text": "A is B before DML_FEATURE_LEVEL_6_4.", "until": "6_4"}, "A is B before DML_FEATURE_LEVEL_6_4."),
        ({"text": "Forwards, A is B.", "when": {"Mode": ("FORWARD",)}}, "Forwards, A is B. (when Mode is FORWARD)"),
    ],
)
def test_a_constraint_says_when_it_holds(fields: dict[str, Any], text: str) -> None:
    assert constraint_text(ROW._replace(**fields)) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ""),
        ({"absent": ("A", "B")}, "without A and B"),
        ({"strided": ("A", "B")}, "A or B has strides"),
        ({"when": {"P": (2,)}, "where": "len(A.Sizes) > 4"}, "P is 2, and len(A.Sizes) > 4"),
        ({"values": "x < 0"}, "elements where x < 0"),
        ({"is_of_graphs": True}, "in a compiled graph"),
    ],
)
def test_a_deviation_says_which_descs_it_is_about(fields: dict[str, Any], text: str) -> None:
    assert deviation_text(Deviation("Wrong.", "all", "a page")._replace(**fields)) == text
