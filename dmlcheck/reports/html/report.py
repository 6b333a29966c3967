"""The report of a run as one HTML file: cases are kept as they come, and put together at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dmlcheck.reports.files import ReportFile
from dmlcheck.reports.html.case import case_row, case_text
from dmlcheck.reports.html.markup import escape, number_mark
from dmlcheck.reports.html.operators import Operators
from dmlcheck.reports.html.page import Assets, filters, foot, head
from dmlcheck.reports.html.parts import Part
from dmlcheck.reports.records import CHECKED, RunInfo, Summary, kind_of
from dmlcheck.running.results import FAILED, FAILURES, PASSED, SKIPPED, XFAILED, CaseResult

_MEGABYTE = 1_000_000
_MOST_REASONS = 40
_FOLDED = {XFAILED: "Expected to fail, and did", SKIPPED: "Skipped", PASSED: "Passed", CHECKED: "Descs checked"}


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
        self.operators = Operators()
        self.reasons: dict[str, int] = {}
        failures = Part(full=7 * _MEGABYTE, rows=3 * _MEGABYTE, least=5)
        self.parts = {
            **dict.fromkeys(FAILURES, failures),
            XFAILED: Part(full=1 * _MEGABYTE, rows=1 * _MEGABYTE),
            SKIPPED: Part(full=0, rows=3 * _MEGABYTE),
            PASSED: Part(full=0, rows=8 * _MEGABYTE),
            CHECKED: Part(full=0, rows=1 * _MEGABYTE),
        }

    def case(self, result: CaseResult) -> None:
        """Count a result, and keep what the page says of it."""
        if self.file.problem is not None:
            return
        self.number += 1
        operator, row = self.operators.of(result.case.operator)
        part = self.parts[FAILED if result.is_failure else kind_of(result)]
        anchor = f"c{self.number}" if part.wants_full(row.told_in_full) else None
        row.add(result, anchor)
        if result.outcome == SKIPPED:
            self._count_reason(result.reason or "no reason given")
        try:
            if anchor is None:
                part.add_row(*case_row(result, operator))
            else:
                again = self.again(result) if self.again else None
                part.add_full(case_text(result, operator, anchor, again))
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
        yield from head(summary, self.info, assets)
        yield from filters(summary, self.operators.rows)
        yield from self.operators.texts()
        failures = self.parts[FAILED]
        if failures.total:
            yield f'<section id="failures" class="part"><h2>Failures {number_mark(failures.total)}</h2>\n'
            yield from failures.texts()
            yield "</section>\n"
        for outcome, title in _FOLDED.items():
            if self.parts[outcome].total:
                yield from self._folded(outcome, title)
        yield from foot(assets)

    def _folded(self, outcome: str, title: str) -> Iterator[str]:
        """Yield a part that the reader has to unfold."""
        part = self.parts[outcome]
        yield f'<details id="{outcome}" class="part"><summary><h2>{title} {number_mark(part.total)}</h2></summary>\n'
        if outcome == SKIPPED:
            yield from _reasons(self.reasons)
        yield from part.texts()
        yield "</details>\n"


def _reasons(reasons: Mapping[str, int]) -> Iterator[str]:
    yield '<ul class="reasons">'
    for reason, number in sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"<li><b>{number:,}</b> {escape(reason)}</li>"
    yield "</ul>\n"
