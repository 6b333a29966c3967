"""A run as one HTML file that needs nothing else: what failed, where in the output, and by how much."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import math
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape as escape_markup
from itertools import islice

from dmlcheck import __version__
from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.record import ERROR, Diagnostic
from dmlcheck.diagnostics.wording import braces, brackets, brief, counted, cut, error_text, figure, is_or_are
from dmlcheck.reports.diagnostics import LineOf
from dmlcheck.reports.elements import decimal, hexadecimal
from dmlcheck.reports.files import ReportFile
from dmlcheck.reports.records import RunInfo, Summary
from dmlcheck.running.accuracy import drifts, has_drifted, warnings
from dmlcheck.running.results import ERRORED, FAILED, OUTCOMES, PASSED, SKIPPED, CaseResult
from dmlcheck.specs.names import DATA_TYPES, LEVELS, level_and_version, short_operator

XFAILED, XPASSED = "xfailed", "xpassed"
WRONG = (FAILED, ERRORED, XPASSED)

_MEGABYTE = 1_000_000
_IN_MEMORY = 1 << 17  # characters of a part that need no temporary file
_LONGEST = 2000  # characters of a message, a reason or a name
_VALUE = 600  # characters of one field of a desc, or of one input
_DESC = 6000  # characters of a desc
_MOST_DIAGNOSTICS = 40
_MOST_OUTPUTS = 16
_MOST_OPERATORS = 400  # a file may name any number that do not exist
_MOST_REASONS = 40
_MOST_UNFOLDED = 12  # operators whose rows are all shown at once
_SOURCE = 160  # characters of a source line
_INFINITE = 1e308


# ---- text


def plain(text: str, most: int = _LONGEST) -> str:
    """Return a text with what does not print spelt out as its number, and cut off where it gets long."""
    text = cut(text, most)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _spelt_out(c) for c in text)


def _spelt_out(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return "\\t" if character == "\t" else f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape(text: str, most: int = _LONGEST) -> str:
    """Return a text as it stands in HTML, in attributes too."""
    return escape_markup(plain(text, most))


# ---- the report


class _Row:
    """What the table by operator says of one operator."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(OUTCOMES, 0)
        self.seconds = 0.0
        self.in_full = 0
        self.ulp = 0.0
        self.error = ""
        self.place = ""
        self.anchor: str | None = None

    @property
    def wrong(self) -> int:
        """The number of cases that make a run fail."""
        return sum(self.counts[outcome] for outcome in WRONG)


class _Part:
    """One part of the page, kept out of memory until the page is put together.

    Cases stand in it in full while there is room (and `least` of each operator always), then as rows that name them
    below their file, and when there is no room for these either they are only counted.
    """

    def __init__(self, *, full: int, rows: int, least: int = 0) -> None:
        self.kept: tempfile.SpooledTemporaryFile[str] | None = None
        self.room_full = full
        self.room_rows = rows
        self.least = least
        self.total = 0
        self.rows = 0
        self.left_out = 0
        self.group: tuple[str, ...] | None = None

    def wants_full(self, row: _Row) -> bool:
        """Whether the next case of an operator is to be told in full."""
        return self.room_full > 0 or row.in_full < self.least

    def add_full(self, text: str) -> None:
        """Keep a case that is told in full."""
        self.total += 1
        self.room_full -= len(text)
        self.end_group()
        self.write(text)

    def add_row(self, group: tuple[str, str, str, str], text: str) -> None:
        """Keep a row, below the others of the same outcome, operator, file and reason."""
        self.total += 1
        if self.room_rows <= 0:
            self.left_out += 1
            return
        head = ""
        if group != self.group:
            self.end_group()
            self.group = group
            head = _group_head(*group)
        self.rows += 1
        self.room_rows -= len(head) + len(text)
        self.write(head + text)

    def end_group(self) -> None:
        """Close the list of rows that is open."""
        if self.group is not None:
            self.group = None
            self.write("</ul></div>\n")

    def write(self, text: str) -> None:
        """Keep a piece of the page; OSError where there is no room for it."""
        if self.kept is None:
            self.kept = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed in close
                _IN_MEMORY, "w+", encoding="utf-8", newline="\n"
            )
        self.kept.write(text)

    def texts(self) -> Iterator[str]:
        """Yield what was kept, piece by piece."""
        self.end_group()
        if self.kept is not None:
            self.kept.seek(0)
            while text := self.kept.read(1 << 16):
                yield text

    def close(self) -> None:
        """Let go of what was kept."""
        if self.kept is not None:
            with contextlib.suppress(OSError):
                self.kept.close()


class HtmlReport:
    """A run as a page: the failures with all that is known of them, the others as rows, and the totals above.

    Cases wait in temporary files until the totals are known, so that a run of any length takes no memory; what a page
    has room for is limited too. `again` gives the command that runs a case again.
    """

    def __init__(self, path: str, info: RunInfo, *, again: Callable[[CaseResult], str] | None = None) -> None:
        self.file = ReportFile(path)
        self.info = info
        self.again = again
        self.number = 0
        self.operators: dict[str, _Row] = {}
        self.reasons: dict[str, int] = {}
        failures = _Part(full=7 * _MEGABYTE, rows=3 * _MEGABYTE, least=5)
        self.parts = {
            **dict.fromkeys(WRONG, failures),
            XFAILED: _Part(full=1 * _MEGABYTE, rows=1 * _MEGABYTE),
            SKIPPED: _Part(full=0, rows=3 * _MEGABYTE),
            PASSED: _Part(full=0, rows=9 * _MEGABYTE),
        }

    def case(self, result: CaseResult) -> None:
        """Count a result, and keep what the page says of it."""
        if self.file.problem is not None:
            return
        self.number += 1
        operator, row = self._row(short_operator(result.case.operator))
        row.counts[result.outcome] += 1
        row.seconds += result.seconds
        part = self.parts[FAILED if has_drifted(result) else result.outcome]
        in_full = part.wants_full(row)
        anchor = f"c{self.number}" if in_full else None
        _note_worst(row, result, anchor)
        if result.outcome == SKIPPED:
            reason = result.reason or "no reason given"
            if reason not in self.reasons and len(self.reasons) >= _MOST_REASONS:
                reason = "other reasons"
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        try:
            if anchor is not None:
                row.in_full += 1
                part.add_full(_case(result, operator, anchor, self.again(result) if self.again else None))
            else:
                part.add_row(*_case_row(result, operator))
        except OSError as error:
            self.file.give_up(error)

    def _row(self, operator: str) -> tuple[str, _Row]:
        operator = plain(operator, 80) or "(none)"
        if operator not in self.operators:
            if len(self.operators) >= _MOST_OPERATORS:
                operator = "(others)"
            self.operators.setdefault(operator, _Row())
        return operator, self.operators[operator]

    def finish(self, summary: Summary) -> None:
        """Put the page together and in its place."""
        try:
            for text in self._page(summary):
                self.file.write(text)
        except OSError as error:
            self.file.give_up(error)
        for part in self.parts.values():
            part.close()
        self.file.close()

    def _page(self, summary: Summary) -> Iterator[str]:
        yield _head(summary, self.info)
        yield from _filters(summary, self.operators)
        yield from _by_operator(self.operators)
        failures = self.parts[FAILED]
        if failures.total:
            yield f'<section id="failures" class="part"><h2>Failures {_count(failures.total)}</h2>\n'
            yield from failures.texts()
            yield _left_out(failures) + "</section>\n"
        folded = ((XFAILED, "Expected to fail, and did"), (SKIPPED, "Skipped"), (PASSED, "Passed"))
        for outcome, title in folded:
            part = self.parts[outcome]
            if part.total:
                yield f'<details id="{outcome}" class="part"><summary><h2>{title} {_count(part.total)}</h2></summary>\n'
                if outcome == SKIPPED:
                    yield from _reasons(self.reasons)
                yield from part.texts()
                yield _left_out(part) + "</details>\n"
        yield _FOOT


def _note_worst(row: _Row, result: CaseResult, anchor: str | None) -> None:
    for name, output in result.outputs.items():
        if output.max_ulp > row.ulp and output.most_off is not None:
            row.ulp = output.max_ulp
            row.error = error_text(output.max_ulp, output.data_type)
            row.place = f"{plain(result.case.id, 300)} {name}{brackets(output.most_off.place)}"
            row.anchor = anchor


def _count(number: int) -> str:
    return f'<span class="count">{number:,}</span>'


def _left_out(part: _Part) -> str:
    if not part.left_out:
        return ""
    more = f"{counted(part.left_out, 'more case')} {is_or_are(part.left_out)} only counted"
    return f'<p class="left-out">{more}, to keep this page of a size that opens; the JSON report has all of them.</p>\n'


def _reasons(reasons: Mapping[str, int]) -> Iterator[str]:
    yield '<ul class="reasons">'
    for reason, number in sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"<li><b>{number:,}</b> {escape(reason)}</li>"
    yield "</ul>\n"


# ---- the top of the page


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _policy() -> str:
    """Return the content security policy: this page's own style and script, and nothing from anywhere."""
    return (
        f"default-src 'none'; style-src {_hash(_STYLE)}; script-src {_hash(_SCRIPT)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def headline(summary: Summary) -> str:
    """Return the outcome of the run in a few words."""
    wrong = sum(summary.counts.get(outcome, 0) for outcome in WRONG)
    if not summary.total:
        return "Nothing ran"
    if wrong:
        return f"{wrong:,} of {counted(summary.total, 'case')} failed"
    if summary.drifted:
        return f"{summary.drifted:,} of {counted(summary.total, 'case')} drifted"
    return f"No failures in {counted(summary.total, 'case')}"


def _head(summary: Summary, info: RunInfo) -> str:
    level = info.feature_level
    if level in LEVELS:
        level = level_and_version(level)
    facts = {
        "dmlcheck": __version__,
        "Implementation": info.implementation,
        "Feature level": level or "what each case asks for",
        "Time": f"{summary.seconds:,.2f} s",
    }
    if info.shard is not None:
        facts["Shard"] = f"{info.shard[0]} of {info.shard[1]}"
    title = headline(summary)
    wrong = any(summary.counts.get(outcome) for outcome in WRONG) or summary.drifted
    verdict = "bad" if wrong else "good" if summary.total else "none"
    stopped = '<p class="stopped">Interrupted: the run ended before all its cases had run.</p>\n'
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(f'{title} - dmlcheck {__version__}, {info.implementation}')}</title>\n"
        f"<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<header>\n<p class="tool">dmlcheck report</p>\n<h1 class="{verdict}">{title}</h1>\n'
        f"{stopped if summary.interrupted else ''}"
        f"{_share_bar(summary)}"
        '<dl class="facts">'
        + "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
        + "</dl>\n</header>\n<main>\n"
    )


def _share_bar(summary: Summary) -> str:
    """Return a bar of the outcomes, each as wide as its share; a few of very many stay visible."""
    if not summary.total:
        return ""
    widths = {outcome: max(number / summary.total, 0.006) for outcome, number in summary.counts.items() if number}
    whole = sum(widths.values())
    bars, at = [], 0.0
    for outcome, width in widths.items():
        step = 1000 * width / whole
        bars.append(f'<rect class="{outcome}" x="{at:.1f}" width="{step:.1f}" height="8"/>')
        at += step
    return (
        '<svg class="share" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">'
        + "".join(bars)
        + "</svg>\n"
    )


def _filters(summary: Summary, operators: Iterable[str]) -> Iterator[str]:
    yield '<div class="filters" role="search" aria-label="Filter the cases">\n'
    yield '<fieldset><legend class="quiet">Outcome</legend>'
    for outcome in OUTCOMES:
        number = summary.counts.get(outcome, 0)
        if number or outcome in (PASSED, FAILED, ERRORED, SKIPPED):
            empty = "" if number else " empty"
            yield (
                f'<label class="chip {outcome}{empty}"><input type="checkbox" name="outcome" value="{outcome}">'
                f"<b>{number:,}</b> {outcome}</label>"
            )
    yield '</fieldset>\n<div class="more" hidden>'
    yield '<label>Operator <select id="operator"><option value="">all</option>'
    yield from (f"<option>{escape(operator)}</option>" for operator in sorted(operators))
    yield "</select></label> "
    yield '<label>Text <input type="search" id="text" placeholder="id, type, value, message" size="26"></label> '
    yield '<button type="button" id="clear">Clear</button> <span id="status" role="status"></span></div>\n</div>\n'


def _by_operator(operators: Mapping[str, _Row]) -> Iterator[str]:
    """Yield the table by operator; those without failures are folded away where there are many."""
    if not operators:
        return
    extra = [outcome for outcome in (XFAILED, XPASSED) if any(row.counts[outcome] for row in operators.values())]
    columns = [PASSED, FAILED, ERRORED, SKIPPED, *extra]
    listed = sorted(operators.items(), key=lambda entry: (-entry[1].wrong, entry[0]))
    wrong = [entry for entry in listed if entry[1].wrong]
    good = listed[len(wrong) :]
    yield '<section class="part"><h2>By operator</h2>\n'
    if len(listed) <= _MOST_UNFOLDED:
        yield from _operator_table(listed, columns)
    else:
        if wrong:
            yield from _operator_table(wrong, columns)
        yield f'<details class="fold"><summary>{counted(len(good), "operator")} without failures</summary>\n'
        yield from _operator_table(good, columns)
        yield "</details>"
    yield "</section>\n"


def _operator_table(listed: Iterable[tuple[str, _Row]], columns: Sequence[str]) -> Iterator[str]:
    yield '<div class="wide" tabindex="0" role="region" aria-label="Results by operator"><table class="operators">\n'
    heads = [*columns, "largest error", "seconds"]
    yield '<thead><tr><th scope="col">operator</th>'
    yield "".join(f'<th scope="col">{name}</th>' for name in heads)
    yield '<th scope="col" class="left">where the error is largest</th></tr></thead>\n<tbody>\n'
    for operator, row in listed:
        yield _operator_row(operator, row, columns)
    yield "</tbody></table></div>"


def _operator_row(operator: str, row: _Row, columns: Sequence[str]) -> str:
    name = escape(operator)
    cells = [
        f'<td class="{outcome if row.counts[outcome] else "zero"}">{row.counts[outcome]:,}</td>' for outcome in columns
    ]
    where = escape(row.place)
    if row.anchor is not None:
        where = f'<a href="#{row.anchor}">{where}</a>'
    return (
        f'<tr><th scope="row"><a class="pick" href="#operator={_fragment(operator)}">{name}</a></th>{"".join(cells)}'
        f'<td class="{"" if row.error else "zero"}">{row.error or "0"}</td><td>{row.seconds:,.2f}</td>'
        f'<td class="left place">{where}</td></tr>\n'
    )


def _fragment(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="", errors="replace")


# ---- cases


def _group_head(outcome: str, operator: str, file: str, reason: str) -> str:
    why = f' <span class="reason">{escape(reason)}</span>' if reason else ""
    return (
        f'<div class="group" data-outcome="{outcome}" data-operator="{escape(operator)}">'
        f'<h3><span class="badge {outcome}">{outcome}</span> <span class="operator">{escape(operator)}</span> '
        f"<code>{escape(file)}</code>{why}</h3><ul>\n"
    )


def _case_row(result: CaseResult, operator: str) -> tuple[tuple[str, str, str, str], str]:
    """Return the group that a case is listed in, and its row there."""
    case = result.case
    name = case.name if case.id == f"{case.file}::{case.name}" else case.id
    group = (result.outcome, operator, case.file, "" if result.outcome in WRONG else result.reason or "")
    if result.outcome not in WRONG:
        marks = "".join(f" {_mark(found)}" for found in islice((*drifts(result), *warnings(result)), _MOST_OUTPUTS))
        return group, f"<li>{escape(name, 300)}{marks}\n"
    message = result.diagnostics[0].message if result.diagnostics else result.reason or ""
    return group, f"<li>{escape(name, 300)} <span>{escape(message, 300)}</span>\n"


def _mark(found: Diagnostic) -> str:
    """Return what there is to say of the accuracy of a case that passes."""
    label = "drifted" if found.severity == ERROR else "warning"
    return f'<b class="noted {label}">{label}</b> <span>{escape(found.message, 300)}</span>'


def _case(result: CaseResult, operator: str, anchor: str, again: str | None) -> str:
    """Return all that the page says of a case that is told in full."""
    case = result.case
    is_open = " open" if result.outcome in WRONG or has_drifted(result) else ""
    outcome = result.outcome
    head = (
        f'<details{is_open} id="{anchor}" class="case {outcome}" data-outcome="{outcome}" '
        f'data-operator="{escape(operator)}">\n<summary><span class="badge {outcome}">{outcome}</span> '
        f'<h3>{escape(case.id)}</h3> <span class="glance">{_glance(result)}</span></summary>\n'
    )
    pieces = [head]
    if result.reason and result.reason.replace(" ", "-") not in [found.rule for found in result.diagnostics]:
        pieces.append(f'<p class="reason">{escape(result.reason)}</p>\n')
    pieces.extend(_diagnostic(found, case.origin.line) for found in islice(result.diagnostics, _MOST_DIAGNOSTICS))
    if len(result.diagnostics) > _MOST_DIAGNOSTICS:
        more = counted(len(result.diagnostics) - _MOST_DIAGNOSTICS, "more diagnostic")
        pieces.append(f'<p class="left-out">and {more}</p>\n')
    pieces.extend(f'<p class="reason">{_mark(found)}</p>\n' for found in islice(drifts(result), _MOST_OUTPUTS))
    wrong = [(name, output) for name, output in result.outputs.items() if output.mismatches]
    pieces.extend(_output(name, output) for name, output in wrong[:_MOST_OUTPUTS])
    if len(wrong) > _MOST_OUTPUTS:
        pieces.append(f'<p class="left-out">and {counted(len(wrong) - _MOST_OUTPUTS, "more output")}</p>\n')
    pieces.append(_facts(result, again))
    pieces.append("</details>\n")
    return "".join(pieces)


def _glance(result: CaseResult) -> str:
    """Return the one thing to know of a failure: its worst element, or else the rules that it breaks."""
    worst = [
        (output.worst.share or 0.0, output.worst.ulp, name, output)
        for name, output in result.outputs.items()
        if output.worst is not None
    ]
    if worst:
        *_, name, output = max(worst, key=lambda entry: entry[:2])
        if output.worst is not None:
            element = output.worst
            return (
                f"{escape(name)}<b>{brackets(element.place)}</b> is {_decimal(element.actual, output.data_type)}, not "
                f"{_decimal(element.expected, output.data_type)}"
            )
    rules = dict.fromkeys(found.rule for found in result.diagnostics)
    return escape(", ".join(islice(rules, 6)))


def _facts(result: CaseResult, again: str | None) -> str:
    """Return the desc, the inputs, and where the case is from."""
    case = result.case
    level = f' <span class="quiet">at feature level {escape(result.level)}</span>' if result.level else ""
    facts = []
    if case.operator:
        facts.append(("desc", f"<code>{escape(case.operator)}</code>{level}{_fields(case.desc, _DESC)}"))
    if case.inputs:
        facts.append(("inputs", _fields(case.inputs, _DESC)))
    if case.source:
        facts.append(("source", escape(case.source)))
    if again is not None:
        facts.append(("again", f'<code class="command">{escape(again)}</code>'))
    listed = "".join(f"<dt>{name}</dt><dd>{text}</dd>\n" for name, text in facts)
    return f'<dl class="of-case">\n{listed}</dl>\n' if listed else ""


def _fields(values: object, most: int) -> str:
    """Return a mapping as one line for each key."""
    if not isinstance(values, Mapping):
        return f"<pre>{escape(brief(values, most), most)}</pre>"
    lines: list[str] = []
    left = most
    for key, value in values.items():
        if left <= 0:
            lines.append("...")
            break
        name, text = plain(str(key), 200), plain(brief(value, _VALUE), _VALUE)
        left -= len(name) + len(text)
        lines.append(f"<b>{escape_markup(name)}:</b> {escape_markup(text)}")
    return f"<pre>{chr(10).join(lines)}</pre>" if lines else ""


def _diagnostic(found: Diagnostic, line_of: LineOf | None) -> str:
    place = ":".join(str(part) for part in (found.file, found.line, found.column) if part is not None)
    row = f' <span class="quiet">({escape(found.constraint)})</span>' if found.constraint else ""
    head = (
        f'<div class="diagnostic {escape(found.severity)}"><p><b class="rule">{escape(found.rule)}</b> '
        f'{escape(found.message)}{row} <code class="at">{escape(place)}</code></p>'
    )
    pieces = [head]
    source = line_of(found.line) if line_of and found.line else ""
    if source.strip():
        pieces.append(_source(found, source))
    if found.note:
        pieces.append(f'<p class="note">{escape(found.note)}</p>')
    if found.help:
        pieces.append(f'<p class="help"><b>help</b> {escape(found.help)}</p>')
    pieces.append("</div>\n")
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


# ---- outputs


def _output(name: str, output: OutputResult) -> str:
    """Return what is wrong with one output: its elements, and a picture of where they are."""
    label = escape(name)
    if output.shape is not None:
        return f'<div class="output"><h4>{label}</h4><p>{escape(output.shape)}</p></div>\n'
    open_ones = (
        f"; {output.unspecified:,} more differ where the documentation leaves the result open"
        if output.unspecified
        else ""
    )
    by = f', by <span class="quiet">{escape(output.decided_by)}</span>' if output.decided_by else ""
    return (
        f'<div class="output"><h4>{label} <span class="quiet">{escape(output.data_type)} '
        f"{braces(output.sizes)}</span></h4>"
        f"<p><b>{output.mismatches:,} of {counted(output.elements, 'element')}</b> outside the tolerance, which is "
        f'<span class="bound">{escape(output.bound)}</span>{by}{open_ones}</p>\n'
        f'<div class="seen">{_elements(output)}{picture(name, output)}</div></div>\n'
    )


def _elements(output: OutputResult) -> str:
    """Return the table of the elements that are known, the worst at the top."""
    listed: dict[tuple[int, ...], tuple[Element, str]] = {}
    if output.worst is not None:
        listed[output.worst.place] = (output.worst, "worst")
    for index, element in enumerate(output.first):
        listed.setdefault(element.place, (element, "first" if index == 0 else ""))
    if output.most_off is not None and output.most_off.place not in listed:
        inside = output.most_off.share is not None and output.most_off.share <= 1
        listed[output.most_off.place] = (output.most_off, "largest, allowed" if inside else "largest")
    if not listed:
        return ""
    has_share = any(element.share is not None for element, _ in listed.values())
    error = "ULP" if output.data_type.startswith("FLOAT") else "off by"
    heads = ["expected", "actual", "difference", error, *(["times the bound"] if has_share else [])]
    rows = []
    for element, word in listed.values():
        mark = f' <span class="word">{word}</span>' if word else ""
        share = [_figure(element.share)] if has_share else []
        values = [_value(value, output.data_type) for value in (element.expected, element.actual)]
        cells = [*values, _difference(element, output.data_type), _figure(element.ulp), *share]
        rows.append(
            f'<tr class="{"worst" if word == "worst" else ""}"><th scope="row">{brackets(element.place)}{mark}</th>'
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + "</tr>\n"
        )
    shown = sum(1 for _, word in listed.values() if word != "largest, allowed")
    more = output.mismatches - shown
    caption = f"<caption>and {more:,} more</caption>" if more > 0 else ""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Wrong elements"><table class="elements">'
        f'{caption}<thead><tr><th scope="col">index</th>{head}</tr></thead>'
        f"<tbody>\n{''.join(rows)}</tbody></table></div>"
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if 1e3 <= value < 1e15 else figure(value)


def _decimal(value: float, data_type: str) -> str:
    if isinstance(value, float) and math.isfinite(value) and data_type in DATA_TYPES:
        return escape(decimal(value, data_type))
    return escape(str(value))


def _value(value: float, data_type: str) -> str:
    """Return a value as people read it, and below that its digits in base 16 and its bits, which leave nothing open."""
    exact = []
    if isinstance(value, float) and math.isfinite(value):
        exact.append(hexadecimal(value))
    bits = bits_text(value, data_type)
    if bits is not None:
        exact.append(bits)
    below = f"<small>{'<br>'.join(exact)}</small>" if exact else ""
    return _decimal(value, data_type) + below


def bits_text(value: float, data_type: str) -> str | None:
    """Return how a value stands in memory, `0x3C00` for 1 in FLOAT16; None for a NaN, of which there are many."""
    if data_type not in DATA_TYPES or math.isnan(value):
        return None
    bits = DATA_TYPES[data_type].bits
    digits = max(1, bits // 4)
    if isinstance(value, int):
        return f"0x{value & ((1 << bits) - 1):0{digits}X}"
    code = {"FLOAT16": ">e", "FLOAT32": ">f", "FLOAT64": ">d"}.get(data_type)
    try:
        return None if code is None else "0x" + struct.pack(code, value).hex().upper()
    except OverflowError:
        return None


def _difference(element: Element, data_type: str) -> str:
    expected, actual = element.expected, element.actual
    if not (math.isfinite(expected) and math.isfinite(actual)):
        return '<span class="quiet">not finite</span>'
    difference = actual - expected
    if not math.isfinite(difference):
        return '<span class="quiet">not finite</span>'
    return (
        f"{difference:+,}" if isinstance(difference, int) else f"{_sign(difference)}{_decimal(difference, data_type)}"
    )


def _sign(value: float) -> str:
    return "+" if value > 0 else ""


# ---- the picture


_LEFT, _TOP, _BOTTOM, _HEIGHT = 46.0, 16.0, 106.0, 138
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def picture(name: str, output: OutputResult) -> str:
    """Return the errors over the output as bars on a logarithmic scale; nothing for a single element."""
    profile = output.profile
    if len(profile) < 2 or not any(value > 0 for value in profile):
        return ""
    width = min(384.0, max(220.0, 30.0 * len(profile)))
    scale = _Scale.of(profile)
    step = width / len(profile)
    thick = min(step - (1 if step > 4 else 0.4), 26)
    bars: list[str] = []
    beyond: list[str] = []
    for index, value in enumerate(profile):
        if value > 0:
            height = scale.height(value)
            bar = (
                f"M{_LEFT + index * step + (step - thick) / 2:.1f} {_BOTTOM:g}v-{height:.1f}h{thick:.1f}v{height:.1f}z"
            )
            (beyond if value > _INFINITE else bars).append(bar)
    unit = "ULP" if output.data_type.startswith("FLOAT") else "units"
    right = _LEFT + width
    title = f"The largest error over {name}, by position, in {unit} on a logarithmic scale"
    first, last = _ends(output)
    return (
        f'<figure><svg class="picture" role="img" width="{right + 8:g}" height="{_HEIGHT}" '
        f'viewBox="0 0 {right + 8:g} {_HEIGHT}"><title>{escape(title)}</title>'
        + "".join(_grid(scale, right))
        + f'<path class="bars" d="{"".join(bars)}"/><path class="beyond" d="{"".join(beyond)}"/>'
        + f'<path class="axis" d="M{_LEFT:g} {_BOTTOM:g}H{right:g}"/>'
        + _worst_mark(output, width)
        + f'<text class="unit" x="{_LEFT:g}" y="9">error, {unit}</text>'
        + f'<text x="{_LEFT:g}" y="130">{first}</text><text class="end" x="{right:g}" y="130">{last}</text>'
        + (
            f'<text class="middle" x="{(_LEFT + right) / 2:g}" y="130">position, row-major</text>'
            if width > 300
            else ""
        )
        + f"</svg><figcaption>{_in_words(output)}</figcaption></figure>"
    )


class _Scale:
    """The powers of ten between which the bars stand, and whether there are infinite ones above."""

    def __init__(self, low: int, high: int, top: float, *, has_finite: bool) -> None:
        self.low = low
        self.high = high
        self.top = top
        self.has_finite = has_finite

    @classmethod
    def of(cls, profile: Iterable[float]) -> _Scale:
        """Return the scale for some errors."""
        values = [value for value in profile if value > 0]
        finite = [math.log10(value) for value in values if value <= _INFINITE]
        has_infinite = len(finite) < len(values)
        if not finite:
            return cls(0, 1, _TOP, has_finite=False)
        high = math.ceil(max(finite))
        low = max(min(math.floor(min(finite)), high - 1), high - 16)
        return cls(low, high, _TOP + (14 if has_infinite else 0), has_finite=True)

    def height(self, value: float) -> float:
        """Return how tall the bar of an error is; the least are still seen."""
        if value > _INFINITE:
            return _BOTTOM - _TOP
        return max(3.0, self.at(math.log10(value)))

    def at(self, power: float) -> float:
        """Return how far above the axis a power of ten is."""
        return (power - self.low) / (self.high - self.low) * (_BOTTOM - self.top)


def _grid(scale: _Scale, right: float) -> Iterator[str]:
    ticks: list[tuple[float, str]] = []
    if scale.has_finite:
        step = max(1, math.ceil((scale.high - scale.low) / 3))
        ticks += [(_BOTTOM - scale.at(power), _power(power)) for power in range(scale.low, scale.high + 1, step)]
    if not scale.has_finite or scale.top > _TOP:
        ticks.append((_TOP, "∞"))
    for y, label in ticks:
        if y < _BOTTOM:
            yield f'<path class="grid" d="M{_LEFT:g} {y:.1f}H{right:g}"/>'
        yield f'<text class="end" x="{_LEFT - 6:g}" y="{y + 4:.1f}">{label}</text>'


def _power(power: int) -> str:
    if 0 <= power <= 3:
        return str(10**power)
    return "10" + str(power).translate(_SUPERSCRIPTS)


def _worst_mark(output: OutputResult, width: float) -> str:
    """Return the mark below the axis where the worst element is."""
    if output.worst is None or len(output.worst.place) != len(output.sizes):
        return ""
    elements = max(1, math.prod(output.sizes))
    place = 0
    for index, size in zip(output.worst.place, output.sizes, strict=True):
        place = place * size + index
    stretches = len(output.profile)
    x = _LEFT + (place * stretches // elements + 0.5) * width / stretches
    return f'<path class="mark" d="M{x:.1f} {_BOTTOM + 3:g}l5 8h-10z"/>'


def _ends(output: OutputResult) -> tuple[str, str]:
    """Return the indices of the first element and the last, or their numbers where those are long."""
    first, last = brackets(0 for _ in output.sizes), brackets(size - 1 for size in output.sizes)
    if len(last) > 26:
        return "0", f"{output.elements - 1:,}"
    return first, last


def _stretch(output: OutputResult, index: int) -> str:
    """Return which elements one bar stands for."""
    stretches = len(output.profile)
    start = -(-index * output.elements // stretches)
    stop = -(-(index + 1) * output.elements // stretches) - 1
    return f"element {start:,}" if stop <= start else f"elements {start:,} to {stop:,}"


def _in_words(output: OutputResult) -> str:
    """Return what the picture shows, for those who do not see it and those who want it exactly."""
    profile = output.profile
    wrong = [index for index, value in enumerate(profile) if value > 0]
    largest = max(wrong, key=lambda index: profile[index])
    each = "elements" if len(profile) == output.elements else "stretches"
    most = error_text(profile[largest], output.data_type)
    span = "" if len(wrong) == 1 else f", between {_stretch(output, wrong[0])} and {_stretch(output, wrong[-1])}"
    mark = " ▲ is the worst element." if output.worst is not None else ""
    return (
        f"Errors in {len(wrong)} of {len(profile)} {each}{span}; largest in {_stretch(output, largest)}: {most}.{mark}"
    )


# ---- style and script


_STYLE = """
:root {
  color-scheme: light dark;
  --page: #f7f7f5; --card: #ffffff; --inset: #f2f2ef; --ink: #1b1d21; --quiet: #5c626d; --line: #dcdcd7;
  --link: #0b57b8; --red: #b3261e; --orange: #9a4b00; --green: #1a6e34; --grey: #5c626d; --purple: #6b3fa0;
  --mark: #ffdcd6; --hit: #fff1ee; --bar: #b3261e; --beyond: #6b3fa0;
  --sans: system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "Cascadia Mono", "SF Mono", Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #121417; --card: #1a1d22; --inset: #23272e; --ink: #e7e9ed; --quiet: #a0a8b5; --line: #343a44;
    --link: #8ab8ff; --red: #ff9086; --orange: #f5b05c; --green: #6fd08c; --grey: #a0a8b5; --purple: #c8a4ff;
    --mark: #6b2a25; --hit: #2b1f20; --bar: #ff9086; --beyond: #c8a4ff;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; max-width: 82rem; padding: 2rem clamp(1rem, 3vw, 2.5rem) 4rem; background: var(--page);
  color: var(--ink); font: 0.9375rem/1.5 var(--sans); font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre, .bound { font: 0.8125rem/1.5 var(--mono); unicode-bidi: isolate; }
pre { margin: 0; white-space: pre-wrap; }
h1, h2, h3, h4, p, dl, dd, ul, figure { margin: 0; }
h1 { font-size: 2rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.02em; }
h1.bad { color: var(--red); } h1.good { color: var(--green); }
h2 { font-size: 1.125rem; font-weight: 650; }
.quiet { color: var(--quiet); font-weight: 400; }
.tool { color: var(--quiet); font-size: 0.8125rem; }
.stopped { color: var(--orange); font-weight: 600; margin-top: 0.25rem; }
.share { display: block; width: 100%; height: 6px; margin: 1rem 0; border-radius: 3px; }
.share .passed { fill: var(--green); } .share .failed { fill: var(--red); } .share .error { fill: var(--orange); }
.share .skipped { fill: var(--line); } .share .xfailed { fill: var(--grey); } .share .xpassed { fill: var(--purple); }
.facts { display: flex; flex-wrap: wrap; gap: 0.25rem 2rem; }
.facts dt { color: var(--quiet); font-size: 0.75rem; }
.facts dd { font-weight: 550; }
.filters { display: flex; flex-wrap: wrap; align-items: center; gap: 0.625rem 1.5rem; margin: 1.5rem 0 0;
  padding: 0.75rem 0; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
.filters fieldset { display: flex; flex-wrap: wrap; gap: 0.375rem; border: 0; margin: 0; padding: 0; }
.filters legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.filters .more { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; }
.filters label { color: var(--quiet); font-size: 0.8125rem; }
.filters select, .filters input[type=search], .filters button { font: 0.8125rem/1.5 var(--sans); color: var(--ink);
  background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.25rem 0.5rem;
  max-width: 100%; }
#status { color: var(--quiet); font-size: 0.8125rem; }
.chip { display: inline-flex; align-items: center; gap: 0.375rem; padding: 0.1875rem 0.625rem; border-radius: 99px;
  border: 1px solid var(--line); background: var(--card); }
.filters .chip { color: var(--of, var(--grey)); }
.filters .chip.empty { color: var(--quiet); }
.chip input { margin: 0; accent-color: var(--of, var(--grey)); }
.js .chip { cursor: pointer; }
.chip:has(input:checked) { border-color: currentColor; }
html:not(.js) .chip input { display: none; }
html:not(.js) a.pick { color: inherit; text-decoration: none; pointer-events: none; }
.passed { --of: var(--green); } .failed { --of: var(--red); } .error { --of: var(--orange); }
.skipped, .xfailed { --of: var(--grey); } .xpassed { --of: var(--purple); }
.part { margin-top: 2rem; }
.part > h2 { margin-bottom: 0.75rem; }
.part > summary { cursor: pointer; padding: 0.25rem 0; margin-bottom: 0.5rem; }
.fold { margin-top: 0.75rem; }
.fold > summary { cursor: pointer; color: var(--quiet); margin-bottom: 0.5rem; }
.part > summary h2 { display: inline; }
.count { color: var(--quiet); font-weight: 400; margin-left: 0.25rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.3125rem 0.75rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap;
  vertical-align: top; }
thead th { color: var(--quiet); font-weight: 400; font-size: 0.8125rem; vertical-align: bottom; }
th:first-child, .left { text-align: left; }
.operators { background: var(--card); border: 1px solid var(--line); width: 100%; }
.operators tbody th { font: 500 0.8125rem/1.7 var(--mono); }
.operators td.passed, .operators td.skipped, .operators td.xfailed { color: var(--ink); }
.operators td.failed, .operators td.error, .operators td.xpassed { color: var(--of); font-weight: 650; }
td.zero { color: var(--quiet); }
td.place { width: 50%; white-space: normal; min-width: 16rem; font: 0.8125rem/1.7 var(--mono); }
.case { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--of);
  border-radius: 6px; margin: 0 0 1rem; padding: 0 1.25rem; content-visibility: auto;
  contain-intrinsic-size: auto 30rem; }
.case[open] { padding-bottom: 1.125rem; }
.case:not([open]) { contain-intrinsic-size: auto 3rem; }
.case:target { outline: 2px solid var(--link); }
.case > summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.125rem 0.75rem; cursor: pointer;
  padding: 0.75rem 0; list-style: none; }
.case > summary::-webkit-details-marker { display: none; }
.case > summary::before { content: ""; width: 0.4375rem; height: 0.4375rem; align-self: center; margin-right: -0.125rem;
  border: solid var(--quiet); border-width: 0 2px 2px 0; rotate: -45deg; }
.case[open] > summary::before { rotate: 45deg; }
.case h3 { font: 600 0.9375rem/1.4 var(--mono); unicode-bidi: isolate; }
.glance { color: var(--quiet); font: 0.8125rem/1.5 var(--mono); }
.glance b { color: var(--of); }
.badge { color: var(--of); font-size: 0.75rem; font-weight: 650; letter-spacing: 0.04em; text-transform: uppercase; }
.reason { color: var(--quiet); }
.case > .reason { margin-bottom: 0.5rem; }
.diagnostic { margin: 0 0 0.875rem; }
.rule { font: 600 0.8125rem/1.5 var(--mono); color: var(--red); margin-right: 0.375rem; }
.diagnostic.note .rule { color: var(--orange); }
.diagnostic p { white-space: pre-line; }
.diagnostic .at { color: var(--quiet); margin-left: 0.375rem; }
.source { background: var(--inset); border-radius: 4px; padding: 0.375rem 0.75rem; margin: 0.375rem 0; tab-size: 1; }
.source .line { color: var(--quiet); padding-right: 1rem; user-select: none; }
mark { background: var(--mark); color: inherit; border-radius: 2px; box-shadow: 0 2px 0 var(--red); }
.diagnostic .note, .help { color: var(--quiet); }
.help b { color: var(--ink); font-weight: 600; margin-right: 0.25rem; }
.output { border-top: 1px solid var(--line); padding-top: 0.75rem; margin-top: 0.25rem; }
.output h4 { font: 600 0.875rem/1.5 var(--mono); }
.seen { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1rem 1.5rem; margin: 0.625rem 0 1rem; }
.seen > * { max-width: 100%; }
.elements { font: 0.8125rem/1.45 var(--mono); }
.elements th, .elements td { padding: 0.3125rem 0.625rem; }
.elements thead th { font-family: var(--sans); }
.elements th:first-child { padding-left: 0.625rem; }
.elements caption { caption-side: bottom; text-align: left; color: var(--quiet); padding: 0.375rem 0.625rem;
  font-family: var(--sans); }
.elements tbody th { font-weight: 600; }
.elements .worst { background: var(--hit); }
.elements .worst th, .elements .worst td { border-bottom-color: var(--red); }
.elements small { display: block; color: var(--quiet); font-size: 0.75rem; }
.word { font: 600 0.75rem/1 var(--sans); color: var(--quiet); }
.worst .word { color: var(--red); }
.noted { font-size: 0.75rem; font-weight: 650; text-transform: uppercase; letter-spacing: 0.04em; }
.noted.warning { color: var(--orange); } .noted.drifted { color: var(--red); }
figure { flex: 1 1 24rem; max-width: 36rem; }
.picture { display: block; max-width: 100%; height: auto; }
.picture text { fill: var(--quiet); font: 11px var(--sans); }
.picture .end { text-anchor: end; } .picture .middle { text-anchor: middle; }
.picture .bars { fill: var(--bar); } .picture .beyond { fill: var(--beyond); }
.picture .grid { stroke: var(--line); stroke-dasharray: 2 3; } .picture .axis { stroke: var(--quiet); }
.picture .mark { fill: var(--ink); }
figcaption { color: var(--quiet); font-size: 0.8125rem; }
.of-case { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.5rem 1.25rem; padding-top: 0.75rem;
  border-top: 1px solid var(--line); }
.of-case dt { color: var(--quiet); font-size: 0.8125rem; }
.of-case dd { font-size: 0.8125rem; }
.of-case pre b { font-weight: 400; color: var(--quiet); }
.command { user-select: all; }
.group { margin: 0.875rem 0 0; }
.group h3 { font-size: 0.8125rem; font-weight: 400; }
.group .operator { font-weight: 600; margin: 0 0.375rem; }
.group ul { list-style: none; padding: 0.125rem 0 0 0.875rem; margin-top: 0.25rem; border-left: 2px solid var(--line);
  font: 0.8125rem/1.6 var(--mono); columns: 24rem; column-gap: 2rem; }
.group li { break-inside: avoid; }
.group li span { color: var(--quiet); }
.reasons { padding: 0.5rem 0 0 1.25rem; }
.left-out { color: var(--quiet); margin: 0.75rem 0; }
footer { margin-top: 3rem; color: var(--quiet); font-size: 0.8125rem; }
@media print { .filters, .count { display: none; } .case { break-inside: avoid; content-visibility: visible; } }
"""

_SCRIPT = """
"use strict";
(() => {
  const find = (selector) => document.querySelector(selector);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const boxes = all("input[name=outcome]");
  const operator = find("#operator");
  const text = find("#text");
  const parts = all(".part").filter((part) => part.querySelector(".count")).map((part) => ({
    part,
    count: part.querySelector(".count"),
    total: part.querySelector(".count").textContent,
    items: all(".case, .group", part),
  }));
  const texts = new WeakMap();

  function textOf(element, before) {
    let known = texts.get(element);
    if (known === undefined) {
      known = (before + element.textContent).toLowerCase();
      texts.set(element, known);
    }
    return known;
  }

  function show(element, visible) {
    if (element.hidden === visible) element.hidden = !visible;
  }

  function rows(group, words) {
    const lists = group.querySelector("ul").children;
    const before = `${group.querySelector("h3").textContent} ${group.querySelector("code").textContent}::`;
    let shown = 0;
    for (const row of lists) {
      const fits = words.every((word) => textOf(row, before).includes(word));
      show(row, fits);
      shown += fits;
    }
    return shown;
  }

  function apply() {
    const outcomes = boxes.filter((box) => box.checked).map((box) => box.value);
    const words = text.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const filtered = outcomes.length > 0 || operator.value !== "" || words.length > 0;
    let visible = 0;
    for (const { part, count, total, items } of parts) {
      let shown = 0;
      for (const item of items) {
        const { outcome, operator: of } = item.dataset;
        let fits = 0;
        if ((!outcomes.length || outcomes.includes(outcome)) && (!operator.value || operator.value === of)) {
          if (item.className === "group") fits = rows(item, words);
          else fits = +words.every((word) => textOf(item, "").includes(word));
        }
        show(item, fits > 0);
        shown += fits;
      }
      show(part, shown > 0 || !filtered);
      count.textContent = filtered ? `${shown.toLocaleString("en")} of ${total}` : total;
      if (part.localName === "details" && shown > 0 && outcomes.includes(part.id)) part.open = true;
      visible += shown;
    }
    find("#status").textContent = filtered ? `${visible.toLocaleString("en")} listed` : "";
  }

  function remember() {
    const values = new URLSearchParams();
    const outcomes = boxes.filter((box) => box.checked).map((box) => box.value);
    if (outcomes.length) values.set("outcome", outcomes.join(","));
    if (operator.value) values.set("operator", operator.value);
    if (text.value) values.set("text", text.value);
    try {
      history.replaceState(null, "", "#" + values);
    } catch {
      // a page that may not change its address filters all the same
    }
    apply();
  }

  function recall() {
    const hash = location.hash.slice(1);
    const target = /^c\\d+$/.test(hash) ? document.getElementById(hash) : null;
    if (hash && !target && !hash.includes("=")) return;
    const values = new URLSearchParams(target ? "" : hash);
    const outcomes = (values.get("outcome") || "").split(",");
    for (const box of boxes) box.checked = outcomes.includes(box.value);
    operator.value = values.get("operator") || "";
    if (operator.selectedIndex < 0) operator.value = "";
    text.value = values.get("text") || "";
    apply();
    if (target) {
      const folded = target.closest("details.part");
      if (folded) folded.open = true;
      target.open = true;
      target.scrollIntoView();
    }
  }

  let waiting;
  text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(remember, 150);
  });
  operator.addEventListener("change", remember);
  for (const box of boxes) box.addEventListener("change", remember);
  find("#clear").addEventListener("click", () => {
    for (const box of boxes) box.checked = false;
    operator.value = text.value = "";
    remember();
  });
  addEventListener("hashchange", recall);
  document.documentElement.classList.add("js");
  find(".more").hidden = false;
  recall();
})();
"""

_FOOT = f"""</main>
<footer>Errors are in units in the last place (ULP) of the expected value; integers are off by a number.</footer>
<script>{_SCRIPT}</script>
</body>
</html>
"""
