"""How many cases agree with DirectML itself, in words and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dmlcheck.diagnostics.wording import counted
from dmlcheck.inspection.executed import CaseCounts, ExecutedRun, executed_dict, runs_of
from dmlcheck.reports.layout import Line, Table, Text
from dmlcheck.specs.names import OPERATOR_PREFIX

EXECUTED_SCHEMA = "dmlcheck-executed/1"

_NOTES = (
    "agreed: cases with values whose results are within the tolerance",
    "known: they differ, and `dmlcheck show OPERATOR` says how, under its known deviations",
    "skipped: they need a higher feature level than that release has, or a device that has more",
)


def executed_text(run: ExecutedRun, counts: CaseCounts) -> str:
    """Return in words how the cases of an operator, or all, ended in a run: `95 of 102 cases agree with ...`."""
    agree = "agrees" if counts.agreed == 1 else "agree"
    itself = f"DirectML {run.directml} itself ({run.device}, {run.date})"
    return f"{counts.agreed:,} of {counted(counts.asked, 'case')} {agree} with {itself}.{_rest(counts)}"


def _rest(counts: CaseCounts) -> str:
    """Return in words how the other cases ended, nothing where all agree."""
    rest = (
        (counts.known_deviations, ("differs in a known way", "differ in known ways")),
        (counts.failed, ("fails", "fail")),
        (counts.errors, ("ends in an error", "end in errors")),
        (counts.skipped, ("was skipped", "were skipped")),
    )
    words = [f"{count:,} {one if count == 1 else many}" for count, (one, many) in rest if count]
    return f" {', '.join(words)}." if words else ""


def executed_lines(runs: Sequence[ExecutedRun], operators: Sequence[str]) -> Iterator[Line]:
    """Yield a table of each run, with a row for each operator that it has cases of."""
    for run in runs:
        asked = {name: run.counts(name) for name in operators}
        rows = [_row(name.removeprefix(OPERATOR_PREFIX), counts) for name, counts in asked.items() if any(counts)]
        if len(operators) > 1:
            rows.append(_row("all", run.counts()))
        yield Text("", f"DirectML {run.directml}, {run.device}, {run.date}")
        yield Table(("operator", "cases", "agreed", "known", "failed", "errors", "skipped"), rows)
        yield ""
    yield from (Text("", note) for note in _NOTES)


def _row(name: str, counts: CaseCounts) -> list[str]:
    return [name, *(f"{number:,}" if number else "" for number in (counts.asked, *counts))]


def executed_report(runs: Sequence[ExecutedRun], operators: Sequence[str]) -> dict[str, Any]:
    """Return the report of `show --executed --format json`."""
    return {
        "schema": EXECUTED_SCHEMA,
        "operators": [
            {
                "operator": name,
                "executed": [executed_dict(run, counts) for run, counts in runs_of(name, runs)],
            }
            for name in operators
        ],
    }
