"""`dmlcheck merge`: the shards of one run put together."""

from __future__ import annotations

import sys
from typing import Any

import click

from dmlcheck.cli import Exit
from dmlcheck.cli.console import Console
from dmlcheck.cli.reporting import again, finish_reports, github_report, open_reports, report_options
from dmlcheck.model import OUTCOMES
from dmlcheck.reports import Reporter, RunInfo, Summary
from dmlcheck.reports.text import TextReport


@click.command()
@click.argument("reports", nargs=-1, required=True, metavar="REPORT.json...")
@click.option("--json", "json_file", metavar="FILE", help="Write a dmlcheck-report/1 file.")
@report_options
@click.option("-q", "--quiet", is_flag=True, help="Print failures and the last line only.")
@click.option("-v", "--verbose", count=True, help="Print every case.")
def merge(*, reports: tuple[str, ...], json_file: str | None, quiet: bool, verbose: int, **files: str | None) -> None:
    """Put the reports of all shards of a run together, and write any report of the whole."""
    from dmlcheck.reports.reading import ReportError, case_result, read_report

    try:
        parts = [(path, read_report(path)) for path in reports]
        cases = _together(parts)
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    first = parts[0][1]
    console = Console()
    is_reference = first["implementation"] == "reference"
    text = TextReport(
        console.echo, style=console.style, verbose=-1 if quiet else verbose, again=again, is_reference=is_reference
    )
    said = (first.get("implementation_version") or "", first.get("implementation_device") or "")
    info = RunInfo(first["implementation"], first.get("feature_level"), None, *said)
    reporters: list[Reporter] = [
        text,
        *open_reports({"json": json_file, **files}, info, again, reports),
        *github_report(again),
    ]
    counts = dict.fromkeys(OUTCOMES, 0)
    for case in cases:
        result = case_result(case)
        counts[result.outcome] += 1
        for reporter in reporters:
            reporter.case(result)
    seconds = sum(report.get("summary", {}).get("seconds", 0.0) for _, report in parts)
    interrupted = any(report.get("interrupted") for _, report in parts)
    is_written = finish_reports(reporters, Summary(counts, seconds, interrupted, first["digest"]))
    if not is_written:
        sys.exit(Exit.WRONG_INPUT)
    if counts["failed"] + counts["error"] + counts["xpassed"]:
        sys.exit(Exit.FAILED)
    sys.exit(Exit.GOOD if cases else Exit.NOTHING_COLLECTED)


_ALIKE = {"implementation": "implementation", "feature_level": "feature level", "tool": "version"}


def _together(parts: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the cases of all shards in the order of the whole; ReportError where they are not one run's, all of it."""
    from dmlcheck.reports.reading import ReportError

    taken: dict[int, str] = {}
    _, first = parts[0]
    for path, report in parts:
        shard = report.get("shard")
        if not isinstance(shard, dict) or not {"index", "count"} <= shard.keys():
            raise ReportError(f"{path}: not a shard of a run; run with --shard I/N")
        if report.get("digest") is None:
            raise ReportError(f"{path}: a run that did not get to its end")
        for key, name in _ALIKE.items():
            if report.get(key) != first.get(key):
                raise ReportError(f"{path}: another {name} than {parts[0][0]}: {report.get(key)}, {first.get(key)}")
        if report["digest"] != first.get("digest"):
            raise ReportError(f"{path}: a shard of another case set than {parts[0][0]}")
        if shard["count"] != first["shard"]["count"]:
            raise ReportError(
                f"{path}: one of {shard['count']} shards, and {parts[0][0]} one of {first['shard']['count']}"
            )
        if shard["index"] in taken:
            raise ReportError(f"{path}: shard {shard['index']} again, as {taken[shard['index']]}")
        taken[shard["index"]] = path
    missing = [str(index) for index in range(1, first["shard"]["count"] + 1) if index not in taken]
    if missing:
        raise ReportError(f"shard {', '.join(missing)} of {first['shard']['count']} is missing")
    cases = [case for _, report in parts for case in report["cases"]]
    return sorted(cases, key=lambda case: case.get("ordinal", 0))
