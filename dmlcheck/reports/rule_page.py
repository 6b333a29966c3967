"""The page of a rule, and that of a labelled constraint, as `explain` prints them."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.reports.conditions import constraint_text
from dmlcheck.reports.layout import Line, Table, Text
from dmlcheck.specs.records import Constraint, OperatorSpec


def rules_lines() -> Iterator[Line]:
    """Yield one line for each rule."""
    rows = [[name, rule.group, page(name).summary] for name, rule in RULES.items()]
    yield Table(("rule", "group", "summary"), rows, wraps=True)


def rule_lines(rule: str) -> Iterator[Line]:
    """Yield the page of a rule: its summary, its reason, the smallest wrong file and the same file corrected."""
    found = page(rule)
    yield f"{rule}   ({RULES[rule].group})"
    yield ""
    yield Text("", found.summary[:1].upper() + found.summary[1:] + ".")
    yield ""
    yield Text("", found.why)
    if found.table:
        yield ""
        yield from ("    " + line for line in found.table.split("\n"))
    for title, text in (("Wrong", found.wrong), ("Right", found.right)):
        if text:
            yield ""
            yield f"{title}:"
            yield ""
            yield from ("    " + line for line in text.rstrip("\n").split("\n"))


def constraint_lines(spec: OperatorSpec, row: Constraint) -> Iterator[Line]:
    """Yield the page of a labelled constraint."""
    yield f"{spec.operator}/{row.id}"
    yield ""
    yield Text("", constraint_text(row))
    if row.help:
        yield Text("", row.help + ".")
    yield ""
    yield Text("page: ", f"{spec.page['url']} ({spec.page['date']})")
