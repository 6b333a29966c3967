"""Two implementations side by side: the cases right and wrong in each, and the largest differences between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.diagnostics.record import ERROR
from dmlcheck.diagnostics.wording import brackets, counted, error_text, figure
from dmlcheck.reports.elements import decimal, report_value
from dmlcheck.reports.failure import named_cause
from dmlcheck.reports.visible import shown, shown_diagnostic
from dmlcheck.running.results import Against, CaseResult
from dmlcheck.specs.load import full_name
from dmlcheck.specs.names import short_operator

if TYPE_CHECKING:
    from dmlcheck.comparison.difference import OutputDifference
    from dmlcheck.reports.records import RunInfo

RIGHT, FIRST, SECOND, BOTH, UNJUDGED = (
    "right_in_both",
    "wrong_in_first",
    "wrong_in_second",
    "wrong_in_both",
    "not_compared",
)
KINDS = (RIGHT, FIRST, SECOND, BOTH, UNJUDGED)
_KIND_OF = {(True, True): RIGHT, (False, True): FIRST, (True, False): SECOND, (False, False): BOTH}
_HEADS = ("right in both", "wrong in A", "wrong in B", "wrong in both", "not compared")
_MANY_ULP = 1000.0  # of a result near 0, say: as a number it tells nothing of a difference that is explained
_NAMED = 20  # cases, without -v
_REASONS = 3  # why cases are not compared, without -v


class LargestDifference(NamedTuple):
    """The largest difference between the outputs of an operator: where the tolerances do not explain it, if anywhere.

    It has the case and the output.
    """

    case: str
    output: str
    difference: OutputDifference

    @property
    def rank(self) -> tuple[bool, float]:
        """Its place in the order of differences."""
        return self.difference.beyond > 0, self.difference.ulp


class _Row:
    """The counts of an operator's cases by kind, and its largest difference."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(KINDS, 0)
        self.largest: LargestDifference | None = None

    def add(self, result: CaseResult, against: Against) -> None:
        self.counts[kind_of(result, against)] += 1
        for output, one in against.differences.items():
            found = LargestDifference(result.case.id, output, one)
            if one.differing and (self.largest is None or found.rank > self.largest.rank):
                self.largest = found


def kind_of(result: CaseResult, against: Against | None) -> str:
    """Return whether a case is right in both implementations, wrong in one, or in both."""
    first, second = result.verdict, None if against is None else against.result.verdict
    return UNJUDGED if first is None or second is None else _KIND_OF[first, second]


def _reasons(result: CaseResult, against: Against) -> Iterator[str]:
    """Yield why a case is not compared, for each implementation that gave no outputs to judge."""
    for name, one in (("A", result), ("B", against.result)):
        if one.verdict is None and one.reason is not None:
            yield f"{name}: {shown(one.reason)}"


class SideBySide:
    """Two implementations by operator, and the first cases that at least one of them computes wrongly."""

    def __init__(self, first: str, second: str, most: int | None = _NAMED) -> None:
        """Take the names of the implementations, and how many cases are kept to be named; None for all."""
        self.names = shown(first), shown(second)
        self.rows: dict[str, _Row] = {}
        self.most = most
        self.named: list[str] = []
        self.count = 0
        self.reasons: Counter[str] = Counter()

    def add(self, result: CaseResult) -> None:
        """Take a case in; one that was not run with the second implementation is not compared."""
        against = result.against or Against(result._replace(is_unrun=True))
        if not result.case.operator or (result.is_unrun and against.result.is_unrun):
            return
        row = self.rows.setdefault(short_operator(result.case.operator), _Row())
        row.add(result, against)
        self.reasons.update(_reasons(result, against))
        text = case_text(result, against)
        if text is not None:
            self.count += 1
            if self.most is None or self.count <= self.most:
                self.named.append(f"{result.case.id}: {text}")

    @property
    def head(self) -> str:
        """The names of the two, as the table has them."""
        return f"A is {self.names[0]}, B is {self.names[1]}:"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of the table by operator."""
        rows = [
            [operator, *(str(row.counts[kind] or "") for kind in KINDS), _largest_text(row.largest)]
            for operator, row in sorted(self.rows.items())
        ]
        return ["operator", *_HEADS, "largest difference"], rows

    def lines(self) -> Iterator[str]:
        """Yield the cases that one of the two computes wrongly, or both, and why others are not compared."""
        if self.count:
            yield f"{counted(self.count, 'case')} wrong in A, in B, or in both:"
            yield from (f"  {line}" for line in self.named)
        if self.count > len(self.named):
            yield f"  and {self.count - len(self.named):,} more, which -v lists"
        for reason, count in self.reasons.most_common(self.most and _REASONS):
            yield f"{counted(count, 'case')} not compared: {reason}"

    def entries(self) -> dict[str, Any]:
        """Return the counts and the rows as they are in a report."""
        total = {kind: sum(row.counts[kind] for row in self.rows.values()) for kind in KINDS}
        operators = [
            {"operator": full_name(operator) or operator, **row.counts, "largest": _entry(row.largest)}
            for operator, row in sorted(self.rows.items())
        ]
        return {**total, "operators": operators}


def side_by_side(info: RunInfo, *, is_whole: bool = False) -> SideBySide | None:
    """Return an empty comparison for a run of two implementations, None for any other; `is_whole` names all cases."""
    if info.against is None:
        return None
    return SideBySide(info.judged, info.against.judged, None if is_whole else _NAMED)


def case_text(result: CaseResult, against: Against) -> str | None:
    """Say which implementation is wrong in a case, and how they differ; None where neither is, and they do not."""
    kind = kind_of(result, against)
    beyond = [
        f"{output}{brackets(one.place or ())}: {_values(one)} ({_error(one)}), {_share(one)} beyond both tolerances"
        for output, one in against.differences.items()
        if one.beyond
    ]
    if kind == BOTH:
        how = f"differently: {'; '.join(beyond)}" if beyond else "alike" if against.differences else ""
        return f"wrong in both, {how}".removesuffix(", ")
    if kind not in (FIRST, SECOND):
        return f"they differ: {'; '.join(beyond)}" if beyond else None
    name, wrong = ("A", result) if kind == FIRST else ("B", against.result)
    errors = [shown_diagnostic(found) for found in wrong.diagnostics if found.severity == ERROR]
    problem = "; ".join(beyond) or (errors[0].message if errors else shown(wrong.reason) or "")
    causes = dict.fromkeys(filter(None, map(named_cause, errors)))
    return f"wrong in {name}: {'; '.join((problem, *causes))}"


def _values(one: OutputDifference) -> str:
    return " and ".join(decimal(value, one.data_type) for value in (one.first, one.second) if value is not None)


def _share(one: OutputDifference) -> str:
    return f"{one.beyond:,} of {counted(one.elements, 'element')}"


def _error(one: OutputDifference) -> str:
    return error_text(one.ulp, one.data_type).replace("off by", "apart by")


def _largest_text(largest: LargestDifference | None) -> str:
    if largest is None:
        return "none"
    one = largest.difference
    if one.ulp >= _MANY_ULP and one.data_type.startswith("FLOAT") and not one.beyond:
        return f"over {figure(_MANY_ULP)} ULP, explained"
    return _error(one) + ("" if one.beyond else ", explained")


def difference_entry(one: OutputDifference) -> dict[str, Any]:
    """Return a difference as it is in a report; infinities and NaN are text, as in case files."""
    values = {key: report_value(value) for key, value in (("first", one.first), ("second", one.second))}
    index = None if one.place is None else list(one.place)
    counts = {"elements": one.elements, "differing": one.differing, "beyond": one.beyond}
    return {"data_type": one.data_type, **counts, "ulp": one.ulp, "index": index, **values}


def _entry(largest: LargestDifference | None) -> dict[str, Any] | None:
    if largest is None:
        return None
    return {"case": largest.case, "output": largest.output, **difference_entry(largest.difference)}
