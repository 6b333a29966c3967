"""The pages of a rule, a labelled constraint and a message of DirectML, as `explain` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.inspection.messages import Explained, Message, MessageSource
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


# ---- the page of a message of DirectML, and the text for an unknown one


_MOST_ROWS = 20  # with their texts; of more, only the labels


def message_lines(found: Iterable[Explained]) -> Iterator[Line]:
    """Yield the pages of the messages that were found in a text."""
    for number, (message, quoted, origins) in enumerate(found):
        if number:
            yield ""
        yield Text("", quoted)
        yield Text("  from: ", message.by)
        yield ""
        yield Text("", message.means)
        yield from _section("Rules", _rule_lines(message))
        yield from _section("It can come from", _origin_lines(origins))
        yield from _section("What to do", [Text("  ", message.remedy)])
        yield from _section("Sources", [Text("  ", source) for source in message.sources])


def nearest_lines(messages: Iterable[str]) -> Iterator[Line]:
    """Yield the text for an unknown message."""
    near = list(messages)
    if near:
        yield "dmlcheck does not know this message. The nearest are:"
        yield from (Text("  ", message) for message in near)
    else:
        yield "dmlcheck does not know this message, nor one like it. `dmlcheck explain` lists the rules."


def _section(title: str, lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines below a title, nothing without lines."""
    lines = list(lines)
    if lines:
        yield ""
        yield f"{title}:"
        yield from lines


def _rule_lines(message: Message) -> Iterator[Line]:
    return _table(("rule", "summary"), [[rule, page(rule).summary] for rule in message.rules])


def _origin_lines(origins: tuple[MessageSource, ...]) -> Iterator[Line]:
    """Yield the rows of the specs that a message can come from."""
    if len(origins) > _MOST_ROWS:
        yield Text("  ", ", ".join(dict.fromkeys(origin.label for origin in origins)))
    else:
        yield from _table(("row", "text"), origins)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Line]:
    if rows:
        yield Table(head, rows, lead="  ", wraps=True)
