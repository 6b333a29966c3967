"""The table by operator: how many cases came out how, and where the largest error is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from dmlcheck.diagnostics.wording import brackets, counted, error_text
from dmlcheck.reports.html.markup import column_heads, escape, plain
from dmlcheck.reports.records import CHECKED, HEADS, kind_of
from dmlcheck.running.results import ERRORED, FAILED, FAILURES, OUTCOMES, PASSED, SKIPPED, XFAILED, XPASSED, CaseResult
from dmlcheck.specs.names import short_operator

_MOST_OPERATORS = 400  # a file may name any number that do not exist
_MOST_UNFOLDED = 12  # operators whose rows are all shown at once


class Row:
    """What the table says of one operator."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys((*OUTCOMES, CHECKED), 0)
        self.seconds = 0.0
        self.told_in_full = 0
        self.ulp = 0.0
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
            if output.max_ulp > self.ulp and output.most_off is not None:
                self.ulp = output.max_ulp
                is_unrounded = output.most_off.is_unrounded
                self.error = error_text(output.max_ulp, output.data_type, is_unrounded=is_unrounded)
                self.place = f"{plain(result.case.id, 300)} {name}{brackets(output.most_off.place)}"
                self.anchor = anchor


class Operators:
    """The rows by operator, as many as there is room for."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def of(self, name: str) -> tuple[str, Row]:
        """Return an operator's name on the page, and its row."""
        operator = plain(short_operator(name), 80) or "(none)"
        if operator not in self.rows and len(self.rows) >= _MOST_OPERATORS:
            operator = "(others)"
        return operator, self.rows.setdefault(operator, Row())

    def texts(self) -> Iterator[str]:
        """Yield the table; operators without failures are folded away where there are many."""
        if not self.rows:
            return
        columns = list(_columns(self.rows))
        listed = sorted(self.rows.items(), key=lambda entry: (-entry[1].failed, entry[0]))
        failed = [entry for entry in listed if entry[1].failed]
        good = listed[len(failed) :]
        yield '<section class="part"><h2>By operator</h2>\n'
        if len(listed) <= _MOST_UNFOLDED:
            yield from _table(listed, columns)
        else:
            if failed:
                yield from _table(failed, columns)
            yield f'<details class="fold"><summary>{counted(len(good), "operator")} without failures</summary>\n'
            yield from _table(good, columns)
            yield "</details>"
        yield "</section>\n"


def _columns(rows: Mapping[str, Row]) -> Iterator[str]:
    for kind in (PASSED, CHECKED, FAILED, ERRORED, SKIPPED, XFAILED, XPASSED):
        if kind in _ALWAYS or any(row.counts[kind] for row in rows.values()):
            yield kind


_ALWAYS = (PASSED, FAILED, ERRORED, SKIPPED)


def _table(listed: Sequence[tuple[str, Row]], columns: Sequence[str]) -> Iterator[str]:
    yield '<div class="wide" tabindex="0" role="region" aria-label="Results by operator"><table class="operators">\n'
    heads = ["operator", *(HEADS.get(kind, kind) for kind in columns), "largest error", "seconds"]
    yield f"<thead><tr>{column_heads(heads)}"
    yield '<th scope="col" class="left">where the error is largest</th></tr></thead>\n<tbody>\n'
    for operator, row in listed:
        yield _row(operator, row, columns)
    yield "</tbody></table></div>"


def _row(operator: str, row: Row, columns: Sequence[str]) -> str:
    counts = [(outcome if row.counts[outcome] else "zero", row.counts[outcome]) for outcome in columns]
    where = escape(row.place)
    if row.anchor is not None:
        where = f'<a href="#{row.anchor}">{where}</a>'
    fragment = quote(operator, safe="", errors="replace")
    return (
        f'<tr><th scope="row"><a class="pick" href="#operator={fragment}">{escape(operator)}</a></th>'
        + "".join(f'<td class="{label}">{number:,}</td>' for label, number in counts)
        + f'<td class="{"" if row.error else "zero"}">{row.error or "0"}</td><td>{row.seconds:,.2f}</td>'
        f'<td class="left place">{where}</td></tr>\n'
    )
