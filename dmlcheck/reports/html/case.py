"""A case on the page: in full, or as a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape as escape_markup
from itertools import islice

from dmlcheck.diagnostics.record import ERROR, Diagnostic
from dmlcheck.diagnostics.wording import brackets, brief, counted
from dmlcheck.reports.diagnostics import LineOf
from dmlcheck.reports.elements import open_lines
from dmlcheck.reports.html.markup import escape, plain
from dmlcheck.reports.html.output import decimal_text, output_text, worst_output
from dmlcheck.reports.html.parts import Group
from dmlcheck.reports.records import kind_of
from dmlcheck.running.accuracy import drifts, warnings
from dmlcheck.running.results import FAILURES, CaseResult
from dmlcheck.specs.records import Deviation

_VALUE = 600  # characters of one field of a desc, or of one input
_DESC = 6000  # characters of a desc
_MOST_DIAGNOSTICS = 40
_MOST_OUTPUTS = 16
_SOURCE = 160  # characters of a source line


# ---- a row


def case_row(result: CaseResult, operator: str) -> tuple[Group, str]:
    """Return the group that a case is listed in, and its row there."""
    case = result.case
    name = case.name if case.id == f"{case.file}::{case.name}" else case.id
    if result.outcome in FAILURES:
        message = result.diagnostics[0].message if result.diagnostics else result.reason or ""
        said, reason = f" <span>{escape(message, 300)}</span>", ""
    else:
        marks = islice((*drifts(result), *warnings(result)), _MOST_OUTPUTS)
        said, reason = "".join(f" {_accuracy_mark(found)}" for found in marks), result.reason or ""
        said += "".join(f" <span>{escape(line)}</span>" for line in islice(open_lines(result), _MOST_OUTPUTS))
    return Group(kind_of(result), operator, case.file, reason), f"<li>{escape(name, 300)}{said}\n"


def _accuracy_mark(found: Diagnostic) -> str:
    """Return what there is to say of the accuracy of a case that passes."""
    label = "drifted" if found.severity == ERROR else "warning"
    return f'<b class="noted {label}">{label}</b> <span>{escape(found.message, 300)}</span>'


# ---- in full


def case_text(result: CaseResult, operator: str, anchor: str, again: str | None) -> str:
    """Return all that the page says of a case; `again` is the command that runs it again."""
    pieces = (
        _opening(result, operator, anchor),
        _reason(result),
        *_diagnostics(result),
        *(f'<p class="reason">{_accuracy_mark(found)}</p>\n' for found in islice(drifts(result), _MOST_OUTPUTS)),
        *_outputs(result),
        _facts(result, again),
        "</details>\n",
    )
    return "".join(pieces)


def _opening(result: CaseResult, operator: str, anchor: str) -> str:
    outcome = result.outcome
    return (
        f'<details{" open" if result.is_failure else ""} id="{anchor}" class="case {outcome}" '
        f'data-outcome="{outcome}" data-operator="{escape(operator)}">\n'
        f'<summary><span class="badge {outcome}">{outcome}</span> <h3>{escape(result.case.id)}</h3> '
        f'<span class="glance">{_glance(result)}</span></summary>\n'
    )


def _glance(result: CaseResult) -> str:
    """Return the one thing to know of a failure: its worst element, or else the rules that it breaks."""
    worst = worst_output(list(result.outputs.items()))
    if worst is None:
        rules = dict.fromkeys(found.rule for found in result.diagnostics)
        return escape(", ".join(islice(rules, 6)))
    name, output, element = worst
    actual, expected = (decimal_text(value, output.data_type) for value in (element.actual, element.expected))
    return f"{escape(name)}<b>{brackets(element.place)}</b> is {actual}, not {expected}"


def _reason(result: CaseResult) -> str:
    """Return why a case ended as it did, where none of its rules says so."""
    if not result.reason or result.reason.replace(" ", "-") in [found.rule for found in result.diagnostics]:
        return ""
    return f'<p class="reason">{escape(result.reason)}</p>\n'


def _diagnostics(result: CaseResult) -> Iterator[str]:
    for found in islice(result.diagnostics, _MOST_DIAGNOSTICS):
        yield _diagnostic(found, result.case.origin.line)
    yield _more(len(result.diagnostics) - _MOST_DIAGNOSTICS, "more diagnostic")


def _outputs(result: CaseResult) -> Iterator[str]:
    wrong = [(name, output) for name, output in result.outputs.items() if output.mismatches]
    for name, output in wrong[:_MOST_OUTPUTS]:
        yield output_text(name, output)
    yield _more(len(wrong) - _MOST_OUTPUTS, "more output")


def _more(number: int, noun: str) -> str:
    return f'<p class="left-out">and {counted(number, noun)}</p>\n' if number > 0 else ""


def _facts(result: CaseResult, again: str | None) -> str:
    """Return the desc, the inputs, and where the case is from."""
    case = result.case
    level = f' <span class="quiet">at feature level {escape(result.level)}</span>' if result.level else ""
    facts = {
        "desc": case.operator and f"<code>{escape(case.operator)}</code>{level}{_fields(case.desc)}",
        "inputs": case.inputs and _fields(case.inputs),
        "source": case.source and escape(case.source),
        "traceback": result.traceback and f"<pre>{escape(result.traceback, _DESC)}</pre>",
        "known of DirectML": "<br>".join(_known(row) for row in result.known[:_MOST_OUTPUTS]),
        "again": None if again is None else f'<code class="command">{escape(again)}</code>',
    }
    listed = "".join(f"<dt>{name}</dt><dd>{text}</dd>\n" for name, text in facts.items() if text)
    return f'<dl class="of-case">\n{listed}</dl>\n' if listed else ""


def _known(row: Deviation) -> str:
    """Return what some versions of DirectML are known to get wrong of such a desc."""
    return f"{escape(row.text)} ({escape(row.versions)}; {escape(row.source)})"


def _fields(values: object) -> str:
    """Return a mapping as one line for each key."""
    if not isinstance(values, Mapping):
        return f"<pre>{escape(brief(values, _DESC), _DESC)}</pre>"
    lines: list[str] = []
    left = _DESC
    for key, value in values.items():
        if left <= 0:
            lines.append("...")
            break
        name, text = plain(str(key), 200), plain(brief(value, _VALUE), _VALUE)
        left -= len(name) + len(text)
        lines.append(f"<b>{escape_markup(name)}:</b> {escape_markup(text)}")
    return f"<pre>{chr(10).join(lines)}</pre>" if lines else ""


# ---- diagnostics


def _diagnostic(found: Diagnostic, line_of: LineOf) -> str:
    kind, rule, message = escape(found.severity), escape(found.rule), escape(found.message)
    row = f' <span class="quiet">({escape(found.constraint)})</span>' if found.constraint else ""
    source = line_of(found.line) if found.line else ""
    pieces = (
        f'<div class="diagnostic {kind}"><p><b class="rule">{rule}</b> {message}{row} ',
        f'<code class="at">{escape(found.where)}</code></p>',
        _source(found, source) if source.strip() else "",
        f'<p class="note">{escape(found.note)}</p>' if found.note else "",
        f'<p class="help"><b>help</b> {escape(found.help)}</p>' if found.help else "",
        "</div>\n",
    )
    return "".join(pieces)


def _source(found: Diagnostic, source: str) -> str:
    """Return a line of the case's file with the part marked that is wrong."""
    at = (found.column or 1) - 1
    start = max(0, min(at - _SOURCE // 3, len(source) - _SOURCE))
    end = start + _SOURCE
    stop = min(max(at + found.width, at + 1), end)
    before, marked, after = (
        escape_markup(plain(piece.replace("\t", " ")))
        for piece in (source[start:at], source[at:stop], source[stop:end])
    )
    before = ("..." if start else "") + before
    after += "..." if end < len(source) else ""
    return (
        f'<pre class="source"><span class="line">{found.line}</span>{before}<mark>{marked or " "}</mark>{after}</pre>'
    )
