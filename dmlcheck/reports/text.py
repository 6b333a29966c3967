"""A run as text: each failure when it happens, then a table by operator and one line for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dmlcheck import __version__
from dmlcheck.reports.elements import open_lines
from dmlcheck.reports.failure import Again, again_by_id, failure_lines
from dmlcheck.reports.layout import PLAIN, Style, columns_of, indent
from dmlcheck.reports.overview import Overview
from dmlcheck.reports.problems import Told
from dmlcheck.reports.records import RunInfo, Summary, outcomes_text
from dmlcheck.reports.visible import shown_info, shown_result
from dmlcheck.running.accuracy import drifts, warnings
from dmlcheck.running.results import CaseResult

Echo = Callable[[str], None]
Table = Callable[[Sequence[str], list[list[str]]], None]

_OF_NOTHING = RunInfo("reference")


class TextReport:
    """A run as text.

    `info` is what the run is of, and `total` returns how many cases it has, which is asked only where something is
    printed before all of them have run. `verbose` is 1 where every case is printed and -1 where only failures and the
    last line are; `table` prints the head and the rows of a table.
    """

    def __init__(
        self,
        echo: Echo,
        *,
        style: Style = PLAIN,
        verbose: int = 0,
        again: Again = again_by_id,
        table: Table | None = None,
        info: RunInfo = _OF_NOTHING,
        total: Callable[[], int],
    ) -> None:
        self.write = echo
        self.style = style
        self.verbose = verbose
        self.again = again
        self.table = table or self._plain_table
        self.info = shown_info(info)
        self.total = total
        self.has_begun = verbose < 0
        self.overview = Overview()
        self.told = Told()

    def echo(self, text: str) -> None:
        """Print a line, below the head of the report."""
        if not self.has_begun:
            self._begin(self.total())
        self.write(text)

    def _begin(self, cases: int) -> None:
        """Print what the run is of."""
        self.has_begun = True
        self.write(f"dmlcheck {__version__}, {self.info.judged}")
        self.write(self.info.scope(cases))

    def case(self, result: CaseResult) -> None:
        """Count a result, and print it where it failed."""
        result = shown_result(result)
        self.overview.add(result)
        if result.is_failure:
            for text in failure_lines(result, self.again, style=self.style, told=self.told):
                self.echo(text)
        elif self.verbose > 0:
            reason = f"   {result.reason}" if result.reason else ""
            self.echo(f"{result.outcome.upper()} {result.case.id}{reason}")
            for line in open_lines(result.outputs):
                self.echo(indent(line))
            for found in (*warnings(result), *drifts(result)):
                self.echo(indent(f"{self.style(found.severity, 'yellow')}[{found.rule}]: {found.message}"))

    def finish(self, summary: Summary) -> None:
        """Print the table by operator, the reasons of skips, and the last line."""
        if not self.has_begun:
            self._begin(summary.total)
        head, rows = self.overview.table(summary)
        if self.verbose > 0 and rows:
            self.echo("")
        if self.verbose >= 0:
            if rows:
                self.table(head, rows)
            for line in self.overview.accuracy_lines(summary, self.info.compared_to):
                self.echo(line)
        for line in self.overview.skip_lines():
            self.echo(line)
        colour = "green" if summary.total and not summary.failures else "red"
        end = "interrupted after " if summary.interrupted else ""
        self.echo(f"{end}{self.style(outcomes_text(summary), colour)} in {summary.seconds:.2f} s")

    def _plain_table(self, head: Sequence[str], rows: list[list[str]]) -> None:
        for line in columns_of(head, rows):
            self.echo(line)
