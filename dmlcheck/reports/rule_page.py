"""The pages of a rule, a labelled constraint and a message of DirectML, as `explain` prints them.

With the conditions of a spec in words, for all pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.diagnostics.wording import dimension_counts_text, plural
from dmlcheck.inspection.messages import Explained, Message, MessageSource
from dmlcheck.reports.layout import Line, Table, Text
from dmlcheck.specs.names import LEVEL_PREFIX
from dmlcheck.specs.records import Constraint, Deviation, OperatorSpec, TakenValues


def condition_text(condition: Mapping[str, tuple[Any, ...]]) -> str:
    """Return a condition in words: `Function is ARGMIN or ARGMAX`."""
    return " and ".join(f"{field} is {' or '.join(map(_word, values))}" for field, values in condition.items())


def deviation_text(row: Deviation) -> str:
    """Return in words the descs that a deviation is about; an expression stays as it is."""
    parts = [condition_text(row.when)] if row.when else []
    if row.absent:
        parts.append(f"without {' and '.join(row.absent)}")
    if row.strided:
        parts.append(f"{' or '.join(row.strided)} has strides")
    if row.where is not None:
        parts.append(row.where)
    if row.values is not None:
        parts.append(f"elements where {row.values}")
    if row.is_of_graphs:
        parts.append("in a compiled graph")
    return ", and ".join(parts)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_said(text: str, values: tuple[Any, ...]) -> bool:
    """Whether a text has all values of a condition in its own words: `in a forward convolution` for FORWARD."""
    said = text.casefold()
    return all(re.search(rf"\b{re.escape(_word(value).casefold())}\b", said) is not None for value in values)


def constraint_text(row: Constraint) -> str:
    """Return the text of a constraint, with the conditions that it does not say itself."""
    parts = []
    when = {field: values for field, values in (row.when or {}).items() if not _is_said(row.text, values)}
    if when:
        parts.append(f"when {condition_text(when)}")
    if row.unless:
        parts.append(f"unless {condition_text(row.unless)}")
    if row.present:
        parts.append(f"with {' and '.join(row.present)}")
    if row.absent:
        parts.append(f"without {' and '.join(row.absent)}")
    if row.since and not _is_said(row.text, (f"from {LEVEL_PREFIX}{row.since}",)):
        parts.append(f"from {row.since}")
    if row.until and not _is_said(row.text, (f"before {LEVEL_PREFIX}{row.until}",)):
        parts.append(f"before {row.until}")
    untold = [part for part in parts if part.casefold() not in row.text.casefold()]
    return f"{row.text} ({', '.join(untold)})" if untold else row.text


def taken_text(row: Constraint) -> str:
    """Return in words which releases take a desc that breaks a constraint, "" for none."""
    if row.taken:
        return f"{row.taken.accept} a desc that breaks it"
    return f"{row.taken_inside.accept} an operator that breaks it inside another one" if row.taken_inside else ""


def taken_values_text(row: TakenValues) -> str:
    """Return the values that releases take beyond the tables: `ATensor: INT8 UINT8; FusedActivation: SWISH`."""
    parts = [" ".join(row.types)] if row.types else []
    if row.dims:
        parts.append(f"{dimension_counts_text(row.dims)} {plural(max(row.dims), 'dimension')}")
    tensors = [f"{', '.join(row.tensors)}: {'; '.join(parts)}"] if row.tensors else []
    return "; ".join([*tensors, *(f"{field}: {' '.join(names)}" for field, names in row.operators.items())])


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
