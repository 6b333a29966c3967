"""A case on the page: in full, or as a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from dmlcheck.diagnostics.record import ERROR, Diagnostic
from dmlcheck.diagnostics.wording import brackets, brief, counted
from dmlcheck.reports.accuracy import drifts, warnings
from dmlcheck.reports.diagnostics import LineOf
from dmlcheck.reports.elements import open_lines
from dmlcheck.reports.html.output import decimal_text, output_text, worst_output
from dmlcheck.reports.html.parts import Group
from dmlcheck.reports.html.templates import Markup, escape, fill, joined, plain
from dmlcheck.reports.nodes import model_facts
from dmlcheck.reports.records import is_failure, kind_of
from dmlcheck.running.results import FAILURES, CaseResult
from dmlcheck.specs.records import Deviation

_VALUE = 600  # characters of one field of a desc, or of one input
_DESC = 6000  # characters of a desc
_MOST_DIAGNOSTICS = 40
_MOST_OUTPUTS = 16
_SOURCE = 160  # characters of a source line


# ---- a row


def case_row(result: CaseResult, operator: str) -> tuple[Group, Markup]:
    """Return the group that a case is listed in, and its row there."""
    case = result.case
    name = case.name if case.id == f"{case.file}::{case.name}" else case.id
    if result.outcome in FAILURES:
        message = result.diagnostics[0].message if result.diagnostics else result.reason or ""
        said, reason = [fill("case.said", text=escape(message, 300))], ""
    else:
        marks = islice((*drifts(result), *warnings(result)), _MOST_OUTPUTS)
        said, reason = [Markup(f" {_accuracy_mark(found)}") for found in marks], result.reason or ""
        said += [fill("case.said", text=line) for line in islice(open_lines(result), _MOST_OUTPUTS)]
    row = fill("case.row", operator=Markup(), name=escape(name, 300), said=joined(said))
    return Group(kind_of(result), operator, case.file, reason), row


def alike_row(result: CaseResult, operator: str) -> Markup:
    """Return the row of a case with the same result as another, which is shown in full."""
    operator = Markup(f' data-operator="{escape(operator)}"')
    return fill("case.row", operator=operator, name=escape(result.case.id, 300), said=Markup())


def sameness(result: CaseResult) -> int | None:
    """Return the key shared by cases that fail with the same messages; None if numbers tell them apart."""
    if not is_failure(result) or any(output.mismatches for output in result.outputs.values()):
        return None
    return hash((result.outcome, result.reason, *((found.rule, found.message) for found in result.diagnostics)))


def _accuracy_mark(found: Diagnostic) -> Markup:
    """Return the text about the accuracy of a passed case."""
    label = "drifted" if found.severity == ERROR else "warning"
    return fill("case.noted", label=label, message=escape(found.message, 300))


# ---- in full


def case_text(result: CaseResult, operator: str, anchor: str, again: str | None, *, is_open: bool = True) -> Markup:
    """Return the whole text of a case; `again` is the command that runs it again."""
    body = (
        _reason(result),
        *_diagnostics(result),
        *(fill("case.reason", text=_accuracy_mark(found)) for found in islice(drifts(result), _MOST_OUTPUTS)),
        *_outputs(result),
        _facts(result, again),
    )
    return fill(
        "case.case",
        open=Markup(" open" if is_open else ""),
        id=result.case.id,
        anchor=anchor,
        outcome=result.outcome,
        operator=operator,
        glance=_glance(result),
        body=joined(body),
    )


def _glance(result: CaseResult) -> str:
    """Return the summary of a failure: its worst element, or else the rules that it breaks."""
    worst = worst_output(list(result.outputs.items()))
    if worst is None:
        return ", ".join(islice(dict.fromkeys(found.rule for found in result.diagnostics), 6))
    name, output, element = worst
    actual, expected = (decimal_text(value, output.data_type) for value in (element.actual, element.expected))
    return fill("case.glance", output=name, place=brackets(element.place), actual=actual, expected=expected)


def _reason(result: CaseResult) -> Markup:
    """Return why a case ended as it did, where none of its rules says so."""
    if not result.reason or result.reason.replace(" ", "-") in [found.rule for found in result.diagnostics]:
        return Markup()
    return fill("case.reason", text=result.reason)


def _diagnostics(result: CaseResult) -> Iterator[Markup]:
    for found in islice(result.diagnostics, _MOST_DIAGNOSTICS):
        yield _diagnostic(found, result.case.origin.line)
    yield _more(len(result.diagnostics) - _MOST_DIAGNOSTICS, "more diagnostic")


def _outputs(result: CaseResult) -> Iterator[Markup]:
    wrong = [(name, output) for name, output in result.outputs.items() if output.mismatches]
    for name, output in wrong[:_MOST_OUTPUTS]:
        yield output_text(name, output)
    yield _more(len(wrong) - _MOST_OUTPUTS, "more output")


def _more(number: int, noun: str) -> Markup:
    return fill("case.left_out", number=counted(number, noun)) if number > 0 else Markup()


def _facts(result: CaseResult, again: str | None) -> Markup:
    """Return the desc, the inputs, and where the case is from."""
    case = result.case
    facts = {
        "desc": _desc(result) if case.operator else "",
        "inputs": _fields(case.inputs) if case.inputs else "",
        **dict(model_facts(result)),
        "source": case.source or "",
        "traceback": fill("case.pre", text=escape(result.traceback, _DESC)) if result.traceback else "",
        "known of DirectML": _known(result.known[:_MOST_OUTPUTS]),
        "again": "" if again is None else fill("case.command", command=again),
    }
    listed = joined(fill("case.fact", name=name, text=text) for name, text in facts.items() if text)
    return fill("case.facts", facts=listed) if listed else Markup()


def _desc(result: CaseResult) -> Markup:
    level = fill("case.level", level=result.level) if result.level else Markup()
    return fill("case.desc", operator=result.case.operator, level=level, fields=_fields(result.case.desc))


def _known(rows: Sequence[Deviation]) -> Markup:
    """Return the known deviations of versions of DirectML for such a desc."""
    said = (escape(f"{row.text} ({row.versions}; {row.source})") for row in rows)
    return Markup(fill("case.line_break").join(said))


def _fields(values: object) -> Markup:
    """Return a mapping as one line for each key."""
    if not isinstance(values, Mapping):
        return fill("case.pre", text=escape(brief(values, _DESC), _DESC))
    lines: list[str] = []
    left = _DESC
    for key, value in values.items():
        if left <= 0:
            lines.append("...")
            break
        name, text = plain(str(key), 200), plain(brief(value, _VALUE), _VALUE)
        left -= len(name) + len(text)
        lines.append(fill("case.field", name=name, text=text))
    return fill("case.pre", text=Markup("\n".join(lines))) if lines else Markup()


# ---- diagnostics


def _diagnostic(found: Diagnostic, line_of: LineOf) -> Markup:
    source = line_of(found.line) if found.line else ""
    return fill(
        "case.diagnostic",
        kind=found.severity,
        rule=found.rule,
        message=found.message,
        row=fill("case.constraint", constraint=found.constraint) if found.constraint else Markup(),
        where=found.where,
        source=_source(found, source) if source.strip() else Markup(),
        note=fill("case.note", text=found.note) if found.note else Markup(),
        help=fill("case.help", text=found.help) if found.help else Markup(),
    )


def _source(found: Diagnostic, source: str) -> Markup:
    """Return a line of the case's file with the part marked that is wrong."""
    at = (found.column or 1) - 1
    start = max(0, min(at - _SOURCE // 3, len(source) - _SOURCE))
    end = start + _SOURCE
    stop = min(max(at + found.width, at + 1), end)
    source = source.replace("\t", " ")
    before, marked, after = source[start:at], source[at:stop], source[stop:end]
    return fill(
        "case.source",
        line=str(found.line),
        before=("..." if start else "") + before,
        marked=marked or " ",
        after=after + ("..." if end < len(source) else ""),
    )
