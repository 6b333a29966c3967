"""What the end of a run says: a table by operator, how accurate the outputs are, and why cases were skipped."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck.diagnostics.wording import figure, plural
from dmlcheck.reports.records import Earlier, Summary
from dmlcheck.running.accuracy import Accuracy, closest_to_bound, drifts, near_bounds, unlikely_errors, worst_text
from dmlcheck.running.results import ERRORED, FAILED, PASSED, SKIPPED, XFAILED, XPASSED, CaseResult
from dmlcheck.specs.names import short_operator

_MOST_NOTED = 5  # passed cases that are named for being close to their bound, or less accurate than before


class _Row:
    """What the table says of one operator."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.ulp = 0.0
        self.seconds = 0.0

    def add(self, result: CaseResult) -> None:
        self.counts[result.outcome] = self.counts.get(result.outcome, 0) + 1
        self.seconds += result.seconds
        errors = (output.max_ulp for output in result.outputs.values() if output.most_off is not None)
        self.ulp = max([self.ulp, *errors])


class _Noted:
    """The passed cases that there is something to say of: how many, and the few of which there is most."""

    def __init__(self) -> None:
        self.count = 0
        self.most: list[tuple[float, list[str]]] = []

    def add(self, weight: float, lines: list[str]) -> None:
        self.count += 1
        if len(self.most) < _MOST_NOTED or weight > self.most[-1][0]:
            self.most = sorted([*self.most, (weight, lines)], key=lambda entry: -entry[0])[:_MOST_NOTED]

    def lines(self, what: str) -> Iterator[str]:
        if not self.count:
            return
        yield f"{self.count} {plural(self.count, 'case')} {what}:"
        yield from (f"  {line}" for _, lines in self.most for line in lines)
        if self.count > len(self.most):
            yield f"  and {self.count - len(self.most):,} more"


class Overview:
    """The results of a run as they go by, none of them kept."""

    def __init__(self) -> None:
        self.rows: dict[str, _Row] = {}
        self.reasons: dict[str, int] = {}
        self.accuracy = Accuracy()
        self.close = _Noted()
        self.worse = _Noted()
        self.unlikely = _Noted()

    def add(self, result: CaseResult) -> None:
        """Take a result in."""
        operator = short_operator(result.case.operator)
        row = self.rows.get(operator)
        if row is None:
            row = self.rows[operator] = _Row()
        row.add(result)
        self.accuracy.add(result)
        if result.outcome == SKIPPED:
            reason = result.reason or "no reason given"
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        unlikely = [f"{result.case.id} {found.message}" for found in unlikely_errors(result)]
        if unlikely:
            self.unlikely.add(max(output.likely_share or 0.0 for output in result.outputs.values()), unlikely)
        if result.warned:
            lines = [f"{result.case.id} {found.message}" for found in near_bounds(result)]
            self.close.add(closest_to_bound(result), lines)
        if result.drift and not result.has_drifted:
            lines = [f"{result.case.id} {found.message}" for found in drifts(result)]
            self.worse.add(max(drift.new_ulp - drift.old_ulp for drift in result.drift), lines)

    def table(self, summary: Summary) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of the table by operator."""
        columns = [PASSED, FAILED, ERRORED, SKIPPED]
        columns += [outcome for outcome in (XFAILED, XPASSED) if summary.counts.get(outcome)]
        rows = []
        for operator, row in sorted(self.rows.items()):
            counts = [str(row.counts.get(outcome, 0)) for outcome in columns]
            rows.append([operator or "-", *counts, figure(row.ulp), f"{row.seconds:.2f}"])
        return ["operator", *columns, "worst ULP", "seconds"], rows

    def accuracy_lines(self, summary: Summary, earlier: Earlier | None) -> Iterator[str]:
        """Yield the worst by operator and data type, and which passed cases are close to their bound or worse."""
        yield from (worst_text(worst) for worst in self.accuracy.rows() if worst.of_ulp is not None)
        yield from self.unlikely.lines("inside the bound, and beyond the likely error")
        yield from self.close.lines("near the bound")
        if summary.compared is not None:
            cases, new = summary.compared
            before = earlier or "the earlier report"
            yield f"compared with {before}: {cases} {plural(cases, 'case')}; {new:,} not in it"
        yield from self.worse.lines("less accurate than before")

    def skip_lines(self) -> Iterator[str]:
        """Yield why cases were skipped."""
        yield from (f"skipped {number}: {reason}" for reason, number in sorted(self.reasons.items()))
