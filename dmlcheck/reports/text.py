"""Reports for people: diagnostics with the source line under them, failures, and a table by operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import brackets, brief, error_text, figure, plural
from dmlcheck.reports import Earlier, Summary, tally
from dmlcheck.running.accuracy import Accuracy, closest_to_bound, drifts, has_drifted, warnings, worst_text
from dmlcheck.running.results import ERRORED, FAILED, SKIPPED, CaseResult
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import short_operator

Echo = Callable[[str], None]
LineOf = Callable[[int], str]

_COLUMNS = 100
_MOST_COLUMNS = 1000  # of a line where no terminal limits them
_MOST_NOTED = 5  # passed cases that are named for being close to their bound, or less accurate than before
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}


class Style:
    """Colours, or none, and how many columns of a source line there is room for."""

    def __init__(self, *, colour: bool = False, columns: int = _MOST_COLUMNS) -> None:
        self.colour = colour
        self.columns = columns

    def __call__(self, text: str, name: str) -> str:
        """Return a text in a colour."""
        return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m" if self.colour else text


PLAIN = Style()


# ---- diagnostics


def diagnostic_text(diagnostic: Diagnostic, line_of: LineOf | None = None, style: Style = PLAIN) -> str:
    """Return a diagnostic as people read it: place, rule, message, the source line with a caret, what to do."""
    place = "".join(f"{part}:" for part in (diagnostic.file, diagnostic.line, diagnostic.column) if part is not None)
    label = f"   ({diagnostic.constraint})" if diagnostic.constraint else ""
    head = style(
        f"{diagnostic.severity}[{diagnostic.rule}]",
        "red" if diagnostic.severity == "error" else "yellow",
    )
    lines = [f"{place} {head}: {diagnostic.message}{label}".lstrip()]
    source = line_of(diagnostic.line) if line_of and diagnostic.line else ""
    if source.strip():
        lines.extend(_snippet(diagnostic, source, style))
    elif diagnostic.note:
        lines.append(f"  {diagnostic.note}")
    if diagnostic.help:
        lines.append(f"  help: {diagnostic.help}")
    return "\n".join(lines)


def _snippet(diagnostic: Diagnostic, source: str, style: Style) -> list[str]:
    number, column = str(diagnostic.line), diagnostic.column or 1
    start, columns = 0, style.columns
    if len(source) > columns:
        start = max(0, min(column - 1 - columns // 3, len(source) - columns))
    shown = "".join(character if character.isprintable() else " " for character in source[start : start + columns])
    before = ("..." if start else "") + shown[: column - 1 - start]
    carets = "^" * max(1, min(diagnostic.width, len(shown) - (column - 1 - start)))
    text = ("..." if start else "") + shown + ("..." if start + columns < len(source) else "")
    margin = " " * (len(number) + 2)
    mark = " " * _width(before) + style(carets, "red")
    lines = [f"  {number} | {text}", f"{margin} | {mark}"]
    if diagnostic.note:
        fits = _width(before) + len(carets) + len(diagnostic.note) < min(columns, _COLUMNS)
        lines[-1] += " " + diagnostic.note if fits else ""
        if not fits:
            lines.append(f"{margin} | {diagnostic.note}")
    return lines


def _width(text: str) -> int:
    """Return how many columns a terminal gives a text."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


# ---- a run


class _Row:
    """What the table by operator says of one operator."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.ulp = 0.0
        self.seconds = 0.0


class _Noted:
    """The passed cases that there is something to say of: how many, and the few of which there is most."""

    def __init__(self) -> None:
        self.count = 0
        self.most: list[tuple[float, list[str]]] = []

    def add(self, weight: float, lines: list[str]) -> None:
        self.count += 1
        if len(self.most) < _MOST_NOTED or weight > self.most[-1][0]:
            self.most = sorted([*self.most, (weight, lines)], key=lambda entry: -entry[0])[:_MOST_NOTED]

    def lines(self, what: str) -> list[str]:
        if not self.count:
            return []
        more = self.count - len(self.most)
        shown = [f"  {line}" for _, lines in self.most for line in lines]
        head = f"{self.count} {plural(self.count, 'case')} {what}:"
        return [head, *shown, *([f"  and {more:,} more"] if more else [])]


class TextReport:
    """A run as text: each failure when it happens, then a table by operator and one line for all."""

    def __init__(
        self,
        echo: Echo,
        *,
        style: Style = PLAIN,
        verbose: int = 0,
        again: Callable[[CaseResult], str] = lambda result: f"dmlcheck run {result.case.id}",
        table: Callable[[Sequence[str], list[list[str]]], None] | None = None,
        is_reference: bool = True,
        earlier: Earlier | None = None,
    ) -> None:
        self.echo = echo
        self.style = style
        self.verbose = verbose
        self.again = again
        self.table = table or self.plain_table
        self.rows: dict[str, _Row] = {}
        self.reasons: dict[str, int] = {}
        self.accuracy = Accuracy()
        self.close = _Noted()
        self.worse = _Noted()
        self.is_reference = is_reference
        self.earlier = earlier

    def case(self, result: CaseResult) -> None:
        """Count a result, and print it where it failed."""
        operator = short_operator(result.case.operator)
        row = self.rows.get(operator)
        if row is None:
            row = self.rows[operator] = _Row()
        outcome = result.outcome
        row.counts[outcome] = row.counts.get(outcome, 0) + 1
        row.seconds += result.seconds
        row.ulp = max([row.ulp, *(output.max_ulp for output in result.outputs.values() if output.most_off is not None)])
        self.accuracy.add(result)
        self.note(result)
        if outcome in (FAILED, ERRORED, "xpassed") or has_drifted(result):
            self.failure(result)
        elif outcome == SKIPPED:
            reason = result.reason or "no reason given"
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        if self.verbose > 0 and outcome not in (FAILED, ERRORED, "xpassed") and not has_drifted(result):
            reason = f"   {result.reason}" if result.reason else ""
            self.echo(f"{outcome.upper()} {result.case.id}{reason}")
            for found in (*warnings(result), *drifts(result)):
                self.echo(indent(f"{self.style(found.severity, 'yellow')}[{found.rule}]: {found.message}"))

    def note(self, result: CaseResult) -> None:
        """Keep what there is to say in the end of a case that passes."""
        if result.warned:
            lines = [f"{result.case.id} {found.message}" for found in warnings(result)]
            self.close.add(closest_to_bound(result), lines)
        if result.drift and not has_drifted(result):
            lines = [f"{result.case.id} {found.message}" for found in drifts(result)]
            self.worse.add(max(drift.new_ulp - drift.old_ulp for drift in result.drift), lines)

    def failure(self, result: CaseResult) -> None:
        """Print what is needed to mend a failed case or the implementation, and the command that runs it again."""
        case = result.case
        drifted = drifts(result)
        rules = ", ".join(dict.fromkeys(diagnostic.rule for diagnostic in (*result.diagnostics, *drifted)))
        head = self.style("DRIFTED" if drifted else result.outcome.upper(), "red")
        self.echo(f"{head} {self.style(case.id, 'bold')}   {rules or result.reason or ''}")
        line_of = case.origin.document.line if case.origin is not None else None
        for diagnostic in result.diagnostics:
            self.echo(indent(diagnostic_text(diagnostic, line_of, self.style)))
        for diagnostic in drifted:
            self.echo(indent(diagnostic_text(diagnostic, None, self.style)))
        for name, output in result.outputs.items():
            for line in mismatch_lines(name, output):
                self.echo("  " + line)
        if result.outputs:
            self.echo(f"  desc: {case.operator} {brief(case.desc)}")
            for name, raw in (case.inputs or {}).items():
                self.echo(f"  {name}: {brief(raw)}")
        if case.source and result.outcome == FAILED:
            self.echo(f"  source: {case.source}")
        for line in () if self.is_reference or not result.outputs or drifted else known_lines(case.operator):
            self.echo(f"  {line}")
        self.echo(f"  again: {self.again(result)}")
        self.echo("")

    def finish(self, summary: Summary) -> None:
        """Print the table by operator, the reasons of skips, and the last line."""
        columns = ["passed", "failed", "error", "skipped"]
        columns += [outcome for outcome in ("xfailed", "xpassed") if summary.counts.get(outcome)]
        rows = []
        for operator, row in sorted(self.rows.items()):
            counts = [str(row.counts.get(outcome, 0)) for outcome in columns]
            rows.append([operator or "-", *counts, figure(row.ulp), f"{row.seconds:.2f}"])
        if self.verbose > 0 and rows:
            self.echo("")
        if rows and self.verbose >= 0:
            self.table(("operator", *columns, "worst ULP", "seconds"), rows)
        for line in self.said_of_accuracy(summary) if self.verbose >= 0 else ():
            self.echo(line)
        for reason, number in sorted(self.reasons.items()):
            self.echo(f"skipped {number}: {reason}")
        words = tally(summary)
        good = not any(summary.counts.get(outcome) for outcome in (FAILED, ERRORED, "xpassed")) and not summary.drifted
        end = "interrupted after " if summary.interrupted else ""
        self.echo(f"{end}{self.style(words, 'green' if good and summary.total else 'red')} in {summary.seconds:.2f} s")

    def said_of_accuracy(self, summary: Summary) -> Iterator[str]:
        """Yield the worst by operator and data type, and which passed cases are close to their bound or worse."""
        yield from (worst_text(worst) for worst in self.accuracy.rows() if worst.of_ulp is not None)
        yield from self.close.lines("near the bound")
        if summary.compared is not None:
            cases, new = summary.compared
            earlier = self.earlier or "the earlier report"
            yield f"compared with {earlier}: {cases} {plural(cases, 'case')}; {new:,} not in it"
        yield from self.worse.lines("less accurate than before")

    def plain_table(self, head: Sequence[str], rows: list[list[str]]) -> None:
        """Print a table in plain columns, the first to the left and the others to the right."""
        for line in columns_of(head, rows):
            self.echo(line)


def columns_of(head: Sequence[str], rows: list[list[str]], *, right: bool = True) -> list[str]:
    """Return a table as aligned lines; with `right` all columns but the first stand to the right."""
    widths = [max(len(row[index]) for row in (head, *rows)) for index in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [
            cell.rjust(width) if right and index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def indent(text: str) -> str:
    """Return a text two columns further in."""
    return "\n".join("  " + line if line else line for line in text.split("\n"))


def known_lines(operator: str) -> Iterator[str]:
    """Yield what some versions of DirectML are known to get wrong about an operator."""
    name = full_name(operator)
    for deviation in load_spec(name).known_deviations if name else ():
        yield f"known of DirectML ({deviation.versions}): {deviation.text} ({deviation.source})"


def mismatch_lines(name: str, output: OutputResult) -> list[str]:
    """Return the elements of an output that are wrong: the first few, and the worst where it is not among them."""
    if output.shape is not None or not output.mismatches:
        return []
    elements = list(output.first)
    lines = [f"{name} is allowed: {output.bound}"]
    if output.decided_by:
        lines.append(f"  by {output.decided_by}")
    table = [_cells(element, output.data_type) for element in elements]
    if output.worst is not None and output.worst.place not in [element.place for element in elements]:
        *cells, last = _cells(output.worst, output.data_type)
        table.append([*cells, last + "   (worst)"])
    lines.extend("  " + line for line in columns_of(("", "", "", "", ""), table, right=False)[1:])
    more = output.mismatches - len(table)
    if more > 0:
        lines.append(f"  and {more:,} more")
    if output.unspecified:
        lines.append(f"  ({output.unspecified} more differ where the documentation leaves the result open)")
    return lines


def _cells(element: Element, data_type: str) -> list[str]:
    index = brackets(element.place)
    expected, actual = element.expected, element.actual
    share = f", {figure(element.share)} times the bound" if element.share is not None else ""
    distance = error_text(element.ulp, data_type) + share
    difference = actual - expected
    gap = f"difference {number(difference, data_type)}" if math.isfinite(difference) else "no finite difference"
    return [
        index,
        f"expected {number(expected, data_type)}",
        f"actual {number(actual, data_type)}",
        gap,
        distance,
    ]


def number(value: float, data_type: str) -> str:
    """Return a value in decimal and, where it is a float, in hex, which leaves no digit open."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return str(value)
    return f"{decimal(value, data_type)} ({hexadecimal(value)})"


def decimal(value: float, data_type: str) -> str:
    """Return the shortest decimal that stands for a value of a data type."""
    from dmlcheck.values.number_formats import spell

    return spell(value, data_type)


def hexadecimal(value: float) -> str:
    """Return a hex float without the zeros at its end: `0x1.8p+1`."""
    mantissa, _, exponent = value.hex().partition("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}"
