"""A run as text: each failure when it happens, then a table by operator and one line for all."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush

from dmlcheck import __version__
from dmlcheck.diagnostics.wording import counted, visible
from dmlcheck.reports.accuracy import drifts, warnings
from dmlcheck.reports.against import side_by_side
from dmlcheck.reports.diagnostics import ReportedMistakes, diagnostic_text
from dmlcheck.reports.elements import open_lines
from dmlcheck.reports.failure import (
    Again,
    again_by_id,
    failure_lines,
    group_text,
    placed_line,
    shared_cause,
    short_line,
)
from dmlcheck.reports.layout import PLAIN, Style, Table, indent, printed
from dmlcheck.reports.nodes import NodesOverview
from dmlcheck.reports.overview import Overview
from dmlcheck.reports.records import RunInfo, Summary, end_text, is_failure
from dmlcheck.reports.visible import shown_info, shown_result
from dmlcheck.running.results import CaseResult

Echo = Callable[[str], None]

_OF_NOTHING = RunInfo("reference")
_IN_FULL = 20  # failures; later ones are listed at the end
_BLOCK = 1000  # lines


class _Group:
    """Failures of one operator with a shared cause: the first one's line number and id, their count, and their text."""

    def __init__(self, line: int, first: str) -> None:
        self.line = line
        self.first = first
        self.size = 1
        self.text = ""

    def line_text(self) -> str:
        return f"{self.text.format(count=f'{self.size:,}')}; the first: {self.first}"


class _Failures:
    """The failures of a run in a line each, for the end of the report; all but the last of them compressed.

    Failures of one operator with a shared cause are a group, listed at the place of its first one; the others are
    listed only if `lists_all`.
    """

    def __init__(self, style: Style, *, lists_all: bool) -> None:
        self.style = style
        self.lists_all = lists_all
        self.count = 0
        self.kept = 0
        self.blocks: list[bytes] = []
        self.last: list[str] = []
        self.groups: dict[int, _Group] = {}
        self.of_several: dict[int, _Group] = {}  # by the number of the first one's line

    def is_listed(self, result: CaseResult) -> bool:
        """Count a failure, and return whether it has a line: unless one of its group has."""
        self.count += 1
        cause = shared_cause(result)
        if cause is None:
            return True
        key = hash((result.outcome, result.case.operator, cause))
        group = self.groups.get(key)
        if group is None:
            self.groups[key] = _Group(self.kept, result.case.id)
            return True
        group.size += 1
        if group.size == 2:
            group.text = group_text(result, self.style)
            self.of_several[group.line] = group
        return self.lists_all

    def keep(self, line: str) -> None:
        self.kept += 1
        self.last.append(line)
        if len(self.last) == _BLOCK:
            self.blocks.append(zlib.compress("\n".join(self.last).encode("utf-8", "surrogatepass")))
            self.last = []

    def lines(self) -> Iterator[str]:
        """Yield the lines in order; the line of a group of several is where its first one's was, or below all."""
        for number, line in enumerate(self._kept_lines()):
            group = None if self.lists_all else self.of_several.get(number)
            yield line if group is None else group.line_text()
        if self.lists_all:
            yield from (group.line_text() for group in self.of_several.values())

    def _kept_lines(self) -> Iterator[str]:
        for block in self.blocks:
            yield from zlib.decompress(block).decode("utf-8", "surrogatepass").split("\n")
        yield from self.last


class TextReport:
    """A run as text.

    `info` is the description of the run, and `total` returns its number of cases, which is asked only if something is
    printed before all of them have run. `verbose` is 1 if every case is printed and -1 if only failures and the last
    line are; `columns` are those of a terminal, which tables must fit in. `durations` is the number of slow cases to
    print.
    """

    def __init__(
        self,
        echo: Echo,
        *,
        style: Style = PLAIN,
        verbose: int = 0,
        again: Again = again_by_id,
        columns: int | None = None,
        info: RunInfo = _OF_NOTHING,
        total: Callable[[], int],
        durations: int = 0,
    ) -> None:
        self.write = echo
        self.style = style
        self.verbose = verbose
        self.again = again
        self.columns = columns
        self.info = shown_info(info)
        self.total = total
        self.has_begun = verbose < 0
        self.overview = Overview()
        self.nodes = NodesOverview()
        self.against = side_by_side(self.info, is_whole=verbose > 0)
        self.reported = ReportedMistakes()
        self.failures = _Failures(style, lists_all=verbose > 0)
        self.told = 0
        self.durations = durations
        self.missing = 0
        self.timed = 0
        self.slowest: list[tuple[float, int, str]] = []  # seconds, the earlier case first, and its id

    def echo(self, text: str) -> None:
        """Print a line, below the head of the report."""
        for line in (*self._head(self.total), text):
            self.write(line)

    def _head(self, cases: Callable[[], int]) -> tuple[str, ...]:
        """Return the description of the run of a number of cases, the first time."""
        if self.has_begun:
            return ()
        self.has_begun = True
        return f"dmlcheck {__version__}, {self.info.judged}", self.info.scope(cases())

    def case(self, result: CaseResult) -> None:
        """Count a result, and print it where it failed."""
        result = shown_result(result)
        if _is_missing(result):
            self.missing += 1
            self.write(diagnostic_text(result.diagnostics[0], None, self.style))
            self.failures.is_listed(result)
            self.failures.keep(short_line(result, self.style, self.reported))
            return
        self.nodes.add(result)
        self.overview.add(result)
        if self.against is not None:
            self.against.add(result)
        if self.durations:
            self._time(result)
        if is_failure(result):
            self._tell(result)
        elif self.verbose > 0:
            reason = f"   {result.reason}" if result.reason else ""
            self.echo(f"{result.outcome.upper()} {result.case.id}{reason}")
            for line in open_lines(result):
                self.echo(indent(line))
            for found in (*warnings(result), *drifts(result)):
                self.echo(indent(f"{self.style(found.severity, 'yellow')}[{found.rule}]: {found.message}"))

    def _time(self, result: CaseResult) -> None:
        """Keep a case if it is one of the slowest so far."""
        self.timed += 1
        heappush(self.slowest, (result.seconds, -self.timed, result.case.id))
        if len(self.slowest) > self.durations:
            heappop(self.slowest)

    def _tell(self, result: CaseResult) -> None:
        """Print the first failures in full, one for each group; the end of the report lists all."""
        if not self.failures.is_listed(result):
            return
        if self.told < _IN_FULL or self.verbose > 1:
            is_whole = self.verbose > 0
            for text in failure_lines(result, self.again, style=self.style, reported=self.reported, is_whole=is_whole):
                self.echo(text)
        elif self.told == _IN_FULL:
            self.echo("More failures follow, which the end of the report lists; -vv prints all of them in full.")
        self.told += 1
        self.failures.keep(short_line(result, self.style, self.reported))

    def finish(self, summary: Summary) -> None:
        """Print the table by operator, the reasons of skips, the failures in a line each, and the last line."""
        if self.missing and self.missing == summary.total:
            return
        for line in [*self._head(lambda: summary.total), *self._end(summary)]:
            self.write(line)

    def _end(self, summary: Summary) -> Iterator[str]:
        if self.verbose >= 0:
            yield from self._overview(summary)
        yield from self._side_by_side()
        yield from self._listed_failures()
        if self.slowest:
            yield f"the slowest {counted(len(self.slowest), 'case')}:"
            for seconds, _, case_id in sorted(self.slowest, reverse=True):
                yield f"  {seconds:.2f} s  {case_id}"
        for name, count in summary.consistent.items():
            yield count.text(name)
        if self.verbose >= 0:
            yield from self.nodes.lines(summary.bisected)
        yield end_line(summary, self.style)

    def _listed_failures(self) -> Iterator[str]:
        """Yield the failures in a line each, if there are several."""
        if self.failures.count > 1:
            more = "; -v lists each of them" if self.failures.kept < self.failures.count else ""
            yield f"{self.failures.count:,} failures{more}:"
            yield from self.failures.lines()

    def _side_by_side(self) -> Iterator[str]:
        """Yield the table of two implementations, and the cases that they do not both compute rightly."""
        against = self.against
        if against is None or not (against.count or (against.rows and self.verbose >= 0)):
            return
        yield against.head
        if self.verbose >= 0:
            yield from self._table(*against.table())
        yield from against.lines()

    def _overview(self, summary: Summary) -> Iterator[str]:
        """Yield the table by operator, how accurate the outputs are, and why cases were skipped."""
        is_whole = self.verbose > 0
        head, rows = self.overview.table(summary, is_whole=is_whole)
        if rows:
            if is_whole or self.told > _IN_FULL:
                yield ""
            yield from self._table(head, rows)
        yield from self.overview.quiet_lines(is_whole=is_whole)
        yield from self.overview.accuracy_lines(summary, self.info.compared_to, is_whole=is_whole)
        yield from self.overview.skip_lines(is_whole=is_whole)

    def _table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
        """Yield a table, the first column to the left and the others to the right."""
        first, *lines = printed([Table(head, rows)], self.columns)
        yield self.style(first, "bold")
        yield from lines


def _is_missing(result: CaseResult) -> bool:
    """Whether a result is that of a file or folder that does not exist."""
    first = result.diagnostics[0] if result.diagnostics else None
    return first is not None and not result.case.operator and (first.rule, first.line) == ("file-not-found", None)


def end_line(summary: Summary, style: Style = PLAIN) -> str:
    """Return the last line of a run: `12 passed, 1 failed in 0.25 s`."""
    colour = "red" if summary.is_vain or summary.failures else "green"
    case, seconds = summary.running or ("", 0.0)
    running = f", while {visible(case)} was running ({seconds:.1f} s)" if case else ""
    return f"{style(end_text(summary), colour)} in {summary.seconds:.2f} s{running}"


# ---- concise


class ConciseReport:
    """A run for programs that read a log: `FILE:LINE:COL: RULE: ID: message` for each failure, and how the run ended.

    Without `tells_failures` it is only the last line: where annotations tell them.
    """

    def __init__(self, echo: Callable[[str], None], *, style: Style = PLAIN, tells_failures: bool = True) -> None:
        self.echo = echo
        self.style = style
        self.tells_failures = tells_failures

    def case(self, result: CaseResult) -> None:
        """Print a failure."""
        if is_failure(result) and self.tells_failures:
            self.echo(placed_line(shown_result(result)))

    def finish(self, summary: Summary) -> None:
        """Print the last line."""
        self.echo(end_line(summary, self.style))
