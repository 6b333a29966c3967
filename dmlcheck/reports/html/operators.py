"""The table by operator: the number of cases by outcome, and the place of the largest error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from dmlcheck.diagnostics.wording import brackets, counted, error_text
from dmlcheck.reports.html.markup import Markup, plain
from dmlcheck.reports.html.output import worst_element
from dmlcheck.reports.html.templates import fill, joined
from dmlcheck.reports.records import CHECKED, HEADS, kind_of
from dmlcheck.running.results import ERRORED, FAILED, FAILURES, OUTCOMES, PASSED, SKIPPED, XFAILED, XPASSED, CaseResult
from dmlcheck.specs.names import short_operator

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
