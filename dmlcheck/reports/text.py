"""Reports for people: diagnostics with the source line under them, failures, and a table by operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dmlcheck.diagnostics.wording import brief, figure, plural
from dmlcheck.reports.diagnostics import diagnostic_text
from dmlcheck.reports.elements import mismatch_lines
from dmlcheck.reports.layout import PLAIN, Style, columns_of, indent
from dmlcheck.reports.records import Earlier, Summary, tally
from dmlcheck.running.accuracy import Accuracy, closest_to_bound, drifts, warnings, worst_text
from dmlcheck.running.results import ERRORED, FAILED, SKIPPED, CaseResult
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import short_operator

Echo = Callable[[str], None]

_MOST_NOTED = 5  # passed cases that are named for being close to their bound, or less accurate than before


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
        if result.is_failure:
            self.failure(result)
        elif outcome == SKIPPED:
            reason = result.reason or "no reason given"
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        if self.verbose > 0 and not result.is_failure:
            reason = f"   {result.reason}" if result.reason else ""
            self.echo(f"{outcome.upper()} {result.case.id}{reason}")
            for found in (*warnings(result), *drifts(result)):
                self.echo(indent(f"{self.style(found.severity, 'yellow')}[{found.rule}]: {found.message}"))

    def note(self, result: CaseResult) -> None:
        """Keep what there is to say in the end of a case that passes."""
        if result.warned:
            lines = [f"{result.case.id} {found.message}" for found in warnings(result)]
            self.close.add(closest_to_bound(result), lines)
        if result.drift and not result.has_drifted:
            lines = [f"{result.case.id} {found.message}" for found in drifts(result)]
            self.worse.add(max(drift.new_ulp - drift.old_ulp for drift in result.drift), lines)

    def failure(self, result: CaseResult) -> None:
        """Print what is needed to mend a failed case or the implementation, and the command that runs it again."""
        case = result.case
        drifted = drifts(result)
        rules = ", ".join(dict.fromkeys(diagnostic.rule for diagnostic in (*result.diagnostics, *drifted)))
        head = self.style("DRIFTED" if drifted else result.outcome.upper(), "red")
        self.echo(f"{head} {self.style(case.id, 'bold')}   {rules or result.reason or ''}")
        for diagnostic in result.diagnostics:
            self.echo(indent(diagnostic_text(diagnostic, case.origin.line, self.style)))
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


def known_lines(operator: str) -> Iterator[str]:
    """Yield what some versions of DirectML are known to get wrong about an operator."""
    name = full_name(operator)
    for deviation in load_spec(name).known_deviations if name else ():
        yield f"known of DirectML ({deviation.versions}): {deviation.text} ({deviation.source})"
