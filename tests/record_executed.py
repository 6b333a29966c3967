"""Records how many of the shipped cases agree with DirectML itself, from JSON reports of `dmlcheck run` on it.

`python tests/record_executed.py REPORT.json...` takes the reports of one run, or of its slices: whole operators of the
shipped cases, on one release and one device. It writes their counts into dmlcheck/inspection/executed.yaml, in place of
those that the same release and device had, and the table of the guide's page (guide/trust.md). `--device` names the
device in place of what the reports call it. `--date` is the day of the run, by default today.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from marked_lines import with_lines

from dmlcheck import load_cases
from dmlcheck.files.yaml_text import flow
from dmlcheck.inspection.executed import FILE, CaseCounts, ExecutedRun, read_runs
from dmlcheck.reports.reading import ReportError, read_report
from dmlcheck.running.results import ERRORED, FAILED, PASSED, SKIPPED, XFAILED
from dmlcheck.specs.names import parse_version, short_operator

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "dmlcheck" / "guide" / "trust.md"
BEGIN, END = "<!-- the table: written by tests/record_executed.py -->", "<!-- the end of the table -->"
HEAD = "# How the shipped cases with values end on DirectML itself. Written by tests/record_executed.py\n"
COUNTED = {
    PASSED: "agreed",
    XFAILED: "known_deviations",
    FAILED: "failed",
    ERRORED: "errors",
    SKIPPED: "skipped",
}


class Unrecorded(Exception):
    """Reports that are not those of a run of the shipped cases on DirectML."""


def recorded(
    reports: Sequence[dict[str, Any]], with_values: Mapping[str, str], device: str | None, date: str
) -> ExecutedRun:
    """Return the counts of some reports; Unrecorded if they lack cases or are of several runs.

    `with_values` has the ids of the shipped cases with values, and their operators.
    """
    names = {(report["implementation_version"], device or report["device"]) for report in reports}
    if len(names) > 1:
        raise Unrecorded(f"the reports are of several releases or devices: {sorted(names)}")
    (directml, on), *_ = names
    if parse_version(directml or "") is None or not on:
        raise Unrecorded(f"{directml!r} is no release of DirectML, or {on!r} no device; name the device with --device")
    ended = {case["id"]: case for report in reports for case in report["cases"]}
    operators = {short_operator(case["operator"]) for case in ended.values()}
    asked = {name: operator for name, operator in with_values.items() if operator in operators}
    missing = [name for name in asked if name not in ended]
    if missing:
        raise Unrecorded(f"the reports lack {len(missing)} shipped cases of their operators, such as {missing[0]}")
    counts: dict[str, Counter[str]] = {operator: Counter() for operator in sorted(operators & {*asked.values()})}
    for name, operator in asked.items():
        if ended[name]["outcome"] not in COUNTED:
            raise Unrecorded(f"{name} ended as {ended[name]['outcome']}: run without --expectations")
        counts[operator][COUNTED[ended[name]["outcome"]]] += 1
    return ExecutedRun(directml, on, date, {operator: CaseCounts(**count) for operator, count in counts.items()})


def shipped_with_values() -> dict[str, str]:
    """Return the operators of the shipped cases that do not only say whether a desc is valid, by the ids of these."""
    cases = (case for case in load_cases(ROOT / "cases") if case.is_without_results or case.outputs is not None)
    return {
        f"{Path(case.file).relative_to(ROOT).as_posix()}::{case.name}": short_operator(case.operator) for case in cases
    }


def with_run(runs: Iterable[ExecutedRun], new: ExecutedRun) -> list[ExecutedRun]:
    """Return runs with a new one, whose operators replace those of the same release and device; the newest first."""
    same = [run for run in runs if (run.directml, run.device) == (new.directml, new.device)]
    others = [run for run in runs if run not in same]
    operators = {**(same[0].operators if same else {}), **new.operators}
    runs = [*others, new._replace(operators=dict(sorted(operators.items())))]
    return sorted(runs, key=lambda run: (parse_version(run.directml) or (), run.device), reverse=True)


def text_of(runs: Iterable[ExecutedRun]) -> str:
    """Return the text of executed.yaml."""
    return HEAD + "".join(line for run in runs for line in _lines(run))


def _lines(run: ExecutedRun) -> Iterator[str]:
    yield f"- directml: {flow(run.directml)}\n  device: {flow(run.device)}\n  date: {flow(run.date)}\n  operators:\n"
    for operator, counts in run.operators.items():
        yield f"    {operator}: {flow({name: number for name, number in counts._asdict().items() if number})}\n"


def page_text(page: str, runs: Iterable[ExecutedRun]) -> str:
    """Return the text of the guide's page with a row for each run."""
    rows = ["| DirectML | device | date | cases | agree | differ in known ways | failed | errors | skipped |",
            "|---|---|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for run in runs:
        counts = run.counts()
        cells = (run.directml, run.device, run.date, *(f"{number:,}" for number in (counts.asked, *counts)))
        rows.append(f"| {' | '.join(cells)} |")
    return with_lines(page, BEGIN, rows, END)


def main(arguments: list[str] | None = None) -> int:
    """Record the reports that the command line names, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reports", nargs="+", metavar="REPORT.json")
    parser.add_argument("--device", help="the name of the device, if the reports do not have it")
    today = dt.datetime.now(dt.timezone.utc).date()
    parser.add_argument("--date", type=dt.date.fromisoformat, default=today, help="YYYY-MM-DD")
    options = parser.parse_args(arguments)
    try:
        reports = [read_report(path) for path in options.reports]
        new = recorded(reports, shipped_with_values(), options.device, options.date.isoformat())
    except (Unrecorded, ReportError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    runs = with_run(read_runs(FILE), new)
    Path(FILE).write_text(text_of(runs), encoding="utf-8", newline="\n")
    PAGE.write_text(page_text(PAGE.read_text(encoding="utf-8"), runs), encoding="utf-8", newline="\n")
    counts = new.counts()
    sys.stdout.write(f"{new.directml} on {new.device}: {counts.agreed:,} of {counts.asked:,} cases agree\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
