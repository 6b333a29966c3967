"""The report of a run as one HTML file: cases are kept as they come, and put together at its end."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from urllib.parse import quote

from dmlcheck import __version__
from dmlcheck.diagnostics.record import ERROR, Diagnostic
from dmlcheck.diagnostics.wording import brackets, brief, counted, error_text
from dmlcheck.reports.accuracy import drifts, warnings
from dmlcheck.reports.elements import open_lines
from dmlcheck.reports.files import ReportFile
from dmlcheck.reports.html.output import decimal_text, output_text, worst_element, worst_output
from dmlcheck.reports.html.templates import Group, Markup, PageSection, escape, file_text, fill, joined, plain
from dmlcheck.reports.nodes import model_facts
from dmlcheck.reports.records import CHECKED, EACH_ITS_OWN, HEADS, RunInfo, Summary, is_failure, kind_of, level_text
from dmlcheck.reports.style import styled
from dmlcheck.running.results import ERRORED, FAILED, FAILURES, OUTCOMES, PASSED, SKIPPED, XFAILED, XPASSED, CaseResult
from dmlcheck.specs.names import short_operator
from dmlcheck.specs.records import Deviation

_MEGABYTE = 1_000_000
_MOST_REASONS = 40
_MOST_OPEN = 12  # failures that are unfolded at first: the others are a line each, so that the page stays short
_FOLDED = {XFAILED: "Expected to fail, and did", SKIPPED: "Skipped", PASSED: "Passed", CHECKED: "Descs checked"}


class HtmlReport:
    """A run as a page: the failures in full, the others as rows, and the totals above.

    Cases wait in temporary files until the totals are known, so that a run of any length takes no memory; the size of
    the page is limited too. `again` returns the command that runs a case again.
    """

    def __init__(self, path: str, info: RunInfo, *, again: Callable[[CaseResult], str] | None = None) -> None:
        self.file = ReportFile(path)
        self.info = info
        self.again = again
        self.number = 0
        self.opened = 0
        self.operators = Operators()
        self.reasons: dict[str, int] = {}
        failures = PageSection(full=7 * _MEGABYTE, rows=3 * _MEGABYTE, least=5)
        self.parts = {
            **dict.fromkeys(FAILURES, failures),
            XFAILED: PageSection(full=1 * _MEGABYTE, rows=1 * _MEGABYTE),
            SKIPPED: PageSection(full=0, rows=3 * _MEGABYTE),
            PASSED: PageSection(full=0, rows=8 * _MEGABYTE),
            CHECKED: PageSection(full=0, rows=1 * _MEGABYTE),
        }

    def case(self, result: CaseResult) -> None:
        """Count a result, and keep its text."""
        if self.file.problem is not None:
            return
        self.number += 1
        operator, row = self.operators.of(result.case.operator)
        part = self.parts[FAILED if is_failure(result) else kind_of(result)]
        same = sameness(result)
        is_told = same in part.alike
        anchor = f"c{self.number}" if not is_told and part.wants_full(row.told_in_full) else None
        row.add(result, anchor)
        if result.outcome == SKIPPED:
            self._count_reason(result.reason or "no reason given")
        try:
            if anchor is not None:
                again = self.again(result) if self.again else None
                is_open = is_failure(result) and self.opened < _MOST_OPEN
                self.opened += is_open
                part.add_full(case_text(result, operator, anchor, again, is_open=is_open), same, result.outcome)
            elif same is not None and is_told:
                part.add_alike(same, alike_row(result, operator))
            else:
                part.add_row(*case_row(result, operator))
        except OSError as error:
            self.file.give_up(error)

    def _count_reason(self, reason: str) -> None:
        if reason not in self.reasons and len(self.reasons) >= _MOST_REASONS:
            reason = "other reasons"
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

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
        assets = Assets()
        yield head(summary, self.info, assets)
        yield filters(summary, self.operators.rows)
        yield from self.operators.texts()
        failures = self.parts[FAILED]
        if failures.total:
            yield fill("parts.section", id="failures", title="Failures", number=f"{failures.total:,}")
            yield from failures.texts()
            yield fill("parts.section_end")
        for outcome, title in _FOLDED.items():
            if self.parts[outcome].total:
                yield from self._folded(outcome, title)
        yield fill("page.foot", script=Markup(assets.script))

    def _folded(self, outcome: str, title: str) -> Iterator[str]:
        """Yield a part that the reader has to unfold."""
        part = self.parts[outcome]
        yield fill("parts.folded", id=outcome, title=title, number=f"{part.total:,}")
        if outcome == SKIPPED:
            counts = sorted(self.reasons.items(), key=lambda entry: (-entry[1], entry[0]))
            listed = (fill("parts.reason", number=f"{number:,}", reason=reason) for reason, number in counts)
            yield fill("parts.reasons", reasons=joined(listed))
        yield from part.texts()
        yield fill("parts.folded_end")


# ---- the page


class Assets:
    """The style and the script, which are files."""

    def __init__(self) -> None:
        self.style = "\n" + styled(file_text("style.css"))
        self.script = "\n" + file_text("script.js")

    def policy(self) -> Markup:
        """Return the content security policy: this page's own style and script, and nothing from anywhere."""
        return Markup(
            f"default-src 'none'; style-src {_hash(self.style)}; script-src {_hash(self.script)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


# ---- the top


def headline(summary: Summary) -> str:
    """Return the outcome of the run in a few words."""
    cases = counted(summary.total, "case")
    if not summary.total:
        return "Nothing ran"
    if summary.failed:
        return f"{_failures(summary)} in {cases}"
    if summary.drifted:
        return f"{summary.drifted:,} of {cases} drifted"
    if summary.is_vain:
        return f"Nothing was computed in {cases}"
    return f"No failures in {cases}"


def _failures(summary: Summary) -> str:
    """Return how many cases made the run fail, in each way in which they did: `5 failed and 2 errors`."""
    failed, errors, passed = (summary.counts.get(outcome, 0) for outcome in (FAILED, ERRORED, XPASSED))
    numbers = [f"{failed:,} failed"] if failed else []
    numbers += [counted(errors, "error")] if errors else []
    numbers += [f"{passed:,} passed against expectation"] if passed else []
    return " and ".join([", ".join(numbers[:-1]), numbers[-1]] if len(numbers) > 1 else numbers)


def head(summary: Summary, info: RunInfo, assets: Assets) -> Markup:
    """Return the page up to its cases: the outcome of the run, and its settings."""
    facts = (fill("page.fact", name=name, value=value) for name, value in _facts(summary, info))
    return fill(
        "page.head",
        policy=assets.policy(),
        title=headline(summary),
        version=__version__,
        implementation=info.judged,
        style=Markup(assets.style),
        verdict="bad" if summary.failures else "none" if summary.is_vain else "good",
        stopped=fill("page.stopped") if summary.interrupted else Markup(),
        shares=_share_bar(summary),
        facts=joined(facts),
    )


def _facts(summary: Summary, info: RunInfo) -> Iterator[tuple[str, str]]:
    level = info.settings.feature_level
    yield "dmlcheck", __version__
    yield "Implementation", info.judged
    yield "Feature level", EACH_ITS_OWN if level is None else f"up to {level_text(level)}"
    yield "Cases", f"{summary.total:,}"
    if summary.descs:
        yield "Passed", f"{summary.computed:,}"
        yield "Descs checked", f"{summary.descs:,}"
    yield "Accumulation", info.settings.precision.accumulate
    yield "Inputs of products", info.settings.precision.factors
    yield from ((f"Consistent with {name} inputs", str(count)) for name, count in summary.consistent.items())
    yield "Time", f"{summary.seconds:,.2f} s"
    if info.shard is not None:
        yield "Shard", f"{info.shard[0]} of {info.shard[1]}"


def _share_bar(summary: Summary) -> Markup:
    """Return a bar of the outcomes, each as wide as its share; a few of very many stay visible."""
    if not summary.total:
        return Markup()
    widths = {kind: max(number / summary.total, 0.006) for kind, number in summary.kinds.items() if number}
    whole = sum(widths.values())
    bars, at = [], 0.0
    for kind, width in widths.items():
        step = 1000 * width / whole
        bars.append(fill("page.share", kind=kind, x=f"{at:.1f}", width=f"{step:.1f}"))
        at += step
    return fill("page.shares", shares=joined(bars))


def filters(summary: Summary, operators: Iterable[str]) -> Markup:
    """Return the filters for the cases."""
    chips = (
        fill(
            "page.chip",
            kind=kind if number else f"{kind} empty",
            outcome=kind,
            number=f"{number:,}",
            name=HEADS.get(kind, kind),
        )
        for kind, number in summary.kinds.items()
        if number or kind in (PASSED, FAILED, ERRORED, SKIPPED)
    )
    options = (fill("page.operator", name=operator) for operator in sorted(operators))
    return fill("page.filters", chips=joined(chips), operators=joined(options))


# ---- operators


_MOST_OPERATORS = 400  # a file may name any number that do not exist
_MOST_UNFOLDED = 12  # operators whose rows are all shown at once


class OperatorRow:
    """The table's row of one operator."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys((*OUTCOMES, CHECKED), 0)
        self.seconds = 0.0
        self.told_in_full = 0
        self.ulp: float = 0.0
        self.error = ""
        self.place = ""
        self.anchor: str | None = None

    @property
    def failed(self) -> int:
        """The number of cases that make a run fail."""
        return sum(self.counts[outcome] for outcome in FAILURES)

    def add(self, result: CaseResult, anchor: str | None) -> None:
        """Count a case, which stands on the page where the anchor is."""
        self.counts[kind_of(result)] += 1
        self.seconds += result.seconds
        self.told_in_full += anchor is not None
        for name, output in result.outputs.items():
            worst = worst_element(output)
            if worst is not None and worst.ulp > self.ulp:
                self.ulp = worst.ulp
                self.error = error_text(worst.ulp, output.data_type)
                self.place = f"{plain(result.case.id, 300)} {name}{brackets(worst.place)}"
                self.anchor = anchor


class Operators:
    """The rows by operator, up to a limit."""

    def __init__(self) -> None:
        self.rows: dict[str, OperatorRow] = {}

    def of(self, name: str) -> tuple[str, OperatorRow]:
        """Return an operator's name on the page, and its row."""
        operator = plain(short_operator(name), 80) or "(none)"
        if operator not in self.rows and len(self.rows) >= _MOST_OPERATORS:
            operator = "(others)"
        return operator, self.rows.setdefault(operator, OperatorRow())

    def texts(self) -> Iterator[Markup]:
        """Yield the table; operators without failures are folded away where there are many."""
        if not self.rows:
            return
        columns = list(_columns(self.rows))
        listed = sorted(self.rows.items(), key=lambda entry: (-entry[1].failed, entry[0]))
        failed = [entry for entry in listed if entry[1].failed]
        good = listed[len(failed) :]
        if len(listed) <= _MOST_UNFOLDED:
            tables = [_table("Results by operator", listed, columns)]
        else:
            tables = [_table("Operators with failures", failed, columns)] if failed else []
            number = counted(len(good), "operator")
            tables.append(
                fill("operators.folded", number=number, table=_table("Operators without failures", good, columns))
            )
        yield fill("operators.section", tables=joined(tables))


def _columns(rows: Mapping[str, OperatorRow]) -> Iterator[str]:
    for kind in (PASSED, CHECKED, FAILED, ERRORED, SKIPPED, XFAILED, XPASSED):
        if kind in _ALWAYS or any(row.counts[kind] for row in rows.values()):
            yield kind


_ALWAYS = (PASSED, FAILED, ERRORED, SKIPPED)


def _table(label: str, listed: Sequence[tuple[str, OperatorRow]], columns: Sequence[str]) -> Markup:
    heads = ["operator", *(HEADS.get(kind, kind) for kind in columns), "largest error", "seconds"]
    return fill(
        "operators.table",
        label=label,
        heads=joined(fill("output.head", name=head) for head in heads),
        rows=joined(_row(operator, row, columns) for operator, row in listed),
    )


def _row(operator: str, row: OperatorRow, columns: Sequence[str]) -> Markup:
    counts = ((outcome if row.counts[outcome] else "zero", row.counts[outcome]) for outcome in columns)
    is_linked = row.anchor is not None and row.place != ""
    return fill(
        "operators.row",
        fragment=quote(operator, safe="", errors="replace"),
        operator=operator,
        counts=joined(fill("operators.count", kind=kind, number=f"{number:,}") for kind, number in counts),
        kind="" if row.error else "zero",
        error=row.error or "0",
        seconds=f"{row.seconds:,.2f}",
        where=fill("operators.link", anchor=str(row.anchor), text=row.place) if is_linked else row.place,
    )


# ---- a case on the page: in full, or as a row

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
        _case_facts(result, again),
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
        source = result.case.origin.line(found.line) if found.line else ""
        yield fill(
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
    yield _more(len(result.diagnostics) - _MOST_DIAGNOSTICS, "more diagnostic")


def _outputs(result: CaseResult) -> Iterator[Markup]:
    wrong = [(name, output) for name, output in result.outputs.items() if output.mismatches]
    for name, output in wrong[:_MOST_OUTPUTS]:
        yield output_text(name, output)
    yield _more(len(wrong) - _MOST_OUTPUTS, "more output")


def _more(number: int, noun: str) -> Markup:
    return fill("case.left_out", number=counted(number, noun)) if number > 0 else Markup()


def _case_facts(result: CaseResult, again: str | None) -> Markup:
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
