"""The page of a rule, and that of a labelled constraint."""

from __future__ import annotations

import pytest

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.reports.layout import printed
from dmlcheck.reports.rule_page import constraint_lines, rule_lines, rules_lines
from dmlcheck.specs.load import load_spec


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
