"""The report of a run as one HTML file: cases are kept as they come, and put together at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dmlcheck.reports.files import ReportFile
from dmlcheck.reports.html.case import alike_row, case_row, case_text, sameness
from dmlcheck.reports.html.markup import Markup
from dmlcheck.reports.html.operators import Operators
from dmlcheck.reports.html.page import Assets, filters, foot, head
from dmlcheck.reports.html.parts import PageSection
from dmlcheck.reports.html.templates import fill, joined
from dmlcheck.reports.records import CHECKED, RunInfo, Summary, kind_of
from dmlcheck.running.results import FAILED, FAILURES, PASSED, SKIPPED, XFAILED, CaseResult

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
        part = self.parts[FAILED if result.is_failure else kind_of(result)]
        same = sameness(result)
        is_told = same in part.alike
        anchor = f"c{self.number}" if not is_told and part.wants_full(row.told_in_full) else None
        row.add(result, anchor)
        if result.outcome == SKIPPED:
            self._count_reason(result.reason or "no reason given")
        try:
            if anchor is not None:
                again = self.again(result) if self.again else None
                is_open = result.is_failure and self.opened < _MOST_OPEN
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
        yield foot(assets)

    def _folded(self, outcome: str, title: str) -> Iterator[str]:
        """Yield a part that the reader has to unfold."""
        part = self.parts[outcome]
        yield fill("parts.folded", id=outcome, title=title, number=f"{part.total:,}")
        if outcome == SKIPPED:
            yield _reasons(self.reasons)
        yield from part.texts()
        yield fill("parts.folded_end")


def _reasons(reasons: Mapping[str, int]) -> Markup:
    counts = sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    listed = (fill("parts.reason", number=f"{number:,}", reason=reason) for reason, number in counts)
    return fill("parts.reasons", reasons=joined(listed))
