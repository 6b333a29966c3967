"""The overview at the end of a run: a table by operator, the accuracy of outputs, and why cases were skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dmlcheck.diagnostics.wording import counted, figure, is_or_are, plural, visible
from dmlcheck.reports.accuracy import (
    Accuracy,
    drifts,
    inaccurate_warnings,
    near_bounds,
    unlikely_errors,
    unlimited_warnings,
    warnings,
    worst_text,
)
from dmlcheck.reports.records import (
    CHECKED,
    HEADS,
    Earlier,
    Summary,
    has_drifted,
    is_for_implementations,
    is_quiet,
    kind_of,
)
from dmlcheck.running.results import ERRORED, FAILED, PASSED, SKIPPED, XFAILED, XPASSED, CaseResult
from dmlcheck.specs.names import short_operator

_MOST_NOTED = 5  # passed cases that are named for being close to their bound, or less accurate than before
_FEW = 10  # operators: with more, the table leaves out operators without failures
_MOST_REASONS = 10  # groups of reasons


class _OperatorRow:
    """The table's row of one operator."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.ulp: int | float = 0.0
        self.share: float | None = None
        self.seconds = 0.0
        self.has_news = False

    def add(self, result: CaseResult) -> None:
        kind = kind_of(result)
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.has_news = self.has_news or (not is_quiet(result) and _is_news(result))
        self.seconds += result.seconds
        for output in result.outputs.values():
            if output.most_off is not None:
                self.ulp = max(self.ulp, output.max_ulp)
            if output.max_share is not None:
                self.share = max(self.share or 0.0, output.max_share)


class _Noted:
    """The passed cases with a remark: their number, and the few with the largest shares."""

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


def _is_news(result: CaseResult) -> bool:
    if result.outcome == PASSED:
        return bool(warnings(result) or result.drift)
    if result.is_for_another:
        return False
    return result.outcome != XFAILED or bool(result.warned or result.drift)


class Overview:
    """The summary of the results of a run, none of which is kept."""

    def __init__(self) -> None:
        self.rows: dict[str, _OperatorRow] = {}
        self.is_of_nodes = False
        self.reasons: dict[str, int] = {}
        self.for_implementations = 0
        self.accuracy = Accuracy()
        self.close = _Noted()
        self.worse = _Noted()
        self.unlikely = _Noted()
        self.unlimited = _Noted()
        self.inaccurate = _Noted()
        self.uncompared = _Noted()

    def add(self, result: CaseResult) -> None:
        """Take a result in."""
        self.accuracy.add(result)
        self.is_of_nodes = self.is_of_nodes or result.node is not None
        operator = short_operator(result.case.operator) if result.node is None else visible(result.node.operator)
        row = self.rows.get(operator)
        if row is None and operator:
            row = self.rows[operator] = _OperatorRow()
        if row is not None:
            row.add(result)
        if not is_quiet(result):
            self._note(result)

    def _note(self, result: CaseResult) -> None:
        """Take the reason of a skipped case, and the notes of a result."""
        if is_for_implementations(result):
            self.for_implementations += 1
        elif result.outcome == SKIPPED:
            reason = result.reason or "no reason given"
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        unlikely = [f"{result.case.id} {found.message}" for found in unlikely_errors(result)]
        if unlikely:
            self.unlikely.add(max(output.likely_share or 0.0 for output in result.outputs.values()), unlikely)
        unlimited = [f"{result.case.id} {found.message}" for found in unlimited_warnings(result)]
        if unlimited:
            self.unlimited.add(float(sum(output.unlimited for output in result.outputs.values())), unlimited)
        inaccurate = inaccurate_warnings(result)
        if inaccurate:
            self.inaccurate.add(0.0, [f"{found.where}: {result.case.name}: {found.message}" for found in inaccurate])
        if result.uncompared:
            self.uncompared.add(0.0, [f"{result.case.id}: {', '.join(result.uncompared)}"])
        if result.warned:
            lines = [f"{result.case.id} {found.message}" for found in near_bounds(result)]
            self.close.add(max(result.outputs[name].max_share or 0.0 for name in result.warned), lines)
        if result.drift and not has_drifted(result):
            lines = [f"{result.case.id} {found.message}" for found in drifts(result)]
            self.worse.add(max(drift.new_ulp - drift.old_ulp for drift in result.drift), lines)

    def table(self, summary: Summary, *, is_whole: bool = True) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of the table by operator; with many, only the noteworthy rows.

        `is_whole` asks for all of them.
        """
        columns = [PASSED, *([CHECKED] if summary.descs else []), FAILED, ERRORED, SKIPPED]
        columns += [outcome for outcome in (XFAILED, XPASSED) if summary.counts.get(outcome)]
        rows = []
        for operator, row in self._rows(is_whole=is_whole):
            counts = [str(row.counts.get(kind, 0)) for kind in columns]
            share = [_share(row.share)] if self.is_of_nodes else []
            rows.append([operator, *counts, *share, figure(row.ulp), f"{row.seconds:.2f}"])
        share = ["worst share"] if self.is_of_nodes else []
        return ["operator", *(HEADS.get(kind, kind) for kind in columns), *share, "worst ULP", "seconds"], rows

    def _rows(self, *, is_whole: bool) -> list[tuple[str, _OperatorRow]]:
        is_whole = is_whole or self.is_of_nodes or len(self.rows) <= _FEW
        return [(operator, row) for operator, row in sorted(self.rows.items()) if is_whole or row.has_news]

    def quiet_lines(self, *, is_whole: bool) -> Iterator[str]:
        """Yield how many operators the table leaves out."""
        left = len(self.rows) - len(self._rows(is_whole=is_whole))
        if left:
            others = "other " if left < len(self.rows) else ""
            yield f"{left:,} {others}{plural(left, 'operator')}: nothing failed, and nothing to note (-v lists them)"

    def accuracy_lines(self, summary: Summary, earlier: Earlier | None, *, is_whole: bool = True) -> Iterator[str]:
        """Yield the worst by operator and data type, and which passed cases are close to their bound or worse.

        `is_whole` asks for the worst of every operator and data type.
        """
        yield from self._worst_lines(is_whole=is_whole)
        yield from self.unlikely.lines("within the tolerance, and beyond the likely error")
        yield from self.unlimited.lines("with an unlimited tolerance")
        yield from self.close.lines("close to the tolerance")
        yield from self.inaccurate.lines("with an inaccurate expectation")
        yield from self.uncompared.lines("with outputs that are not compared, as no values are given for them")
        if summary.compared is not None:
            cases, new = summary.compared
            before = earlier or "the earlier report"
            yield f"compared with {before}: {cases} {plural(cases, 'case')}; {new:,} not in it"
        yield from self.worse.lines("less accurate than before")

    def _worst_lines(self, *, is_whole: bool) -> Iterator[str]:
        """Yield the largest errors by operator and data type; of several the largest, and that closest to a tolerance.

        `is_whole` asks for all.
        """
        if self.is_of_nodes and not is_whole:  # the table has the worst of each operator
            return
        found = [worst for worst in self.accuracy.rows() if worst.of_ulp is not None]
        if not is_whole and len(found) > 1:
            largest = max(found, key=lambda worst: worst.max_ulp)
            closest = max(found, key=lambda worst: worst.max_share or 0.0)
            found = [largest] if closest is largest else [largest, closest]
        yield from map(worst_text, found)

    def skip_lines(self, *, is_whole: bool = True) -> Iterator[str]:
        """Yield the reasons for skipped cases, the most frequent first; those that differ in names only are one group.

        `is_whole` asks for every reason. The cases that only another implementation can run are a line of their own.
        """
        if self.for_implementations:
            number = self.for_implementations
            whose = f"{counted(number, 'case')} {is_or_are(number)} for implementations"
            yield f"{whose}, which are compared with the reference engine (run with --implementation NAME)"
        groups = sorted(_groups(self.reasons), key=lambda group: (-sum(group.values()), *group))
        shown = groups if is_whole else groups[:_MOST_REASONS]
        for group in shown:
            yield from _group_lines(group, is_whole=is_whole)
        left = sum(sum(group.values()) for group in groups[len(shown) :])
        if left:
            yield f"skipped {left:,} for {counted(len(groups) - len(shown), 'other kind')} of reasons (-v lists them)"


def _share(share: float | None) -> str:
    """Return a share of a tolerance in words, "" if none is known."""
    if share is None:
        return ""
    return f"{100 * share:.3g} %" if share <= 1 else f"{figure(share)} times"


# ---- reasons


# Differences between reasons of one kind: names with capital letters (`INT8`, `ReduceMax`), numbers, and lists of them.
_NAME = r"-?(?:\d[\w.+-]*|\w*[A-Z]\w*)(?:'s)?"
_NAMES = r"\*(?:(?:, | and |,? )\*)+"


def _groups(reasons: Mapping[str, int]) -> list[dict[str, int]]:
    """Return reasons in groups that differ in names and numbers only, the most frequent reason of each first."""
    groups: dict[str, dict[str, int]] = {}
    for reason, number in sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0])):
        groups.setdefault(re.sub(_NAMES, "*", re.sub(_NAME, "*", reason)), {})[reason] = number
    return list(groups.values())


def _group_lines(group: Mapping[str, int], *, is_whole: bool) -> Iterator[str]:
    first, *others = group
    if not others:
        yield f"skipped {group[first]:,}: {first}"
        return
    total = sum(group.values())
    if not is_whole:
        yield f"skipped {total:,}: {first} ({group[first]:,}); -v lists {counted(len(group), 'such reason')}"
        return
    yield f"skipped {total:,} for {counted(len(group), 'reason')} alike:"
    yield from (f"  {number:,}: {reason}" for reason, number in group.items())
