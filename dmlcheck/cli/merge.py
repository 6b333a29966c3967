"""`dmlcheck merge`: the shards of one run put together."""

from __future__ import annotations

import sys
from typing import Any

import click

from dmlcheck.cli.console import Console
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.report_files import again, finish_reports, github_report, open_reports, options_of, report_options
from dmlcheck.reports.records import Earlier, Reporter, RunInfo, Summary
from dmlcheck.reports.text import TextReport
from dmlcheck.running.accuracy import Compared
from dmlcheck.running.results import OUTCOMES, CaseResult


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
        results = [case_result(case) for case in _together(parts)]
        summary, info = _summary(parts, results), _info(*parts[0])
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    console = Console()

    def repeat(result: CaseResult) -> str:
        return again(result, options_of(info, result))

    text = TextReport(
        console.echo,
        style=console.style,
        verbose=-1 if quiet else verbose,
        again=repeat,
        is_reference=info.implementation == "reference",
        earlier=info.compared_to,
    )
    reporters: list[Reporter] = [
        text,
        *open_reports({"json": json_file, **files}, info, repeat, reports),
        *github_report(repeat),
    ]
    for result in results:
        for reporter in reporters:
            reporter.case(result)
    if not finish_reports(reporters, summary):
        sys.exit(Exit.WRONG_INPUT)
    counts = summary.counts
    if counts["failed"] + counts["error"] + counts["xpassed"] + summary.drifted:
        sys.exit(Exit.FAILED)
    sys.exit(Exit.GOOD if results else Exit.NOTHING_COLLECTED)


def _info(path: str, report: dict[str, Any]) -> RunInfo:
    """Return what the shards of a run are of, as the first of them has it."""
    from dmlcheck.reports.reading import ReportError

    try:
        earlier = report.get("compared_to")
        if earlier is not None:
            earlier = Earlier(**earlier)
            _check((earlier.file, earlier.implementation), str)
            _check((earlier.version,), str, type(None))
            _check((earlier.max_drift,), float, int, type(None))
        level, warn_above = report.get("feature_level"), report.get("warn_above")
        version, device = (report.get(f"implementation_{key}") or "" for key in ("version", "device"))
        accumulate = report.get("accumulate", "float32")
        _check((version, device, accumulate), str)
        _check((level,), str, type(None))
        _check((warn_above,), float, int, type(None))
        return RunInfo(report["implementation"], level, None, version, device, accumulate.upper(), warn_above, earlier)
    except (AttributeError, TypeError):
        raise ReportError(f"{path}: its head is not as `dmlcheck run` writes it") from None


def _check(values: tuple[Any, ...], *kinds: type) -> None:
    """Raise a TypeError where a value is of no kind that `run` writes."""
    if not all(isinstance(value, kinds) for value in values):
        raise TypeError


def _summary(parts: list[tuple[str, dict[str, Any]]], results: list[CaseResult]) -> Summary:
    """Return how the whole run ended."""
    from dmlcheck.reports.reading import ReportError

    counts = dict.fromkeys(OUTCOMES, 0)
    for result in results:
        counts[result.outcome] += 1
    seconds, compared = 0.0, None
    for path, report in parts:
        try:
            seconds += report.get("summary", {}).get("seconds", 0.0)
            if report.get("compared_to") is not None:
                here, before = Compared(**report["compared"]), compared or Compared()
                compared = Compared(before.cases + here.cases, before.new + here.new)
        except (AttributeError, KeyError, TypeError):
            raise ReportError(f"{path}: its end is not as `dmlcheck run` writes it") from None
    return Summary(
        counts,
        seconds,
        any(report.get("interrupted") for _, report in parts),
        parts[0][1]["digest"],
        sum(bool(result.warned) for result in results),
        sum(bool(result.drift) for result in results),
        sum(result.has_drifted for result in results),
        compared,
    )


_ALIKE = {
    "implementation": "implementation",
    "feature_level": "feature level",
    "tool": "version",
    "accumulate": "--accumulate",
    "warn_above": "--warn-above",
    "compared_to": "--compare-to",
}


def _together(parts: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the cases of all shards in the order of the whole; ReportError where they are not one run's, all of it."""
    from dmlcheck.reports.reading import ReportError

    taken: dict[int, str] = {}
    start, first = parts[0]
    _, count = _shard(start, first)
    for path, report in parts:
        index, of = _shard(path, report)
        for key, name in _ALIKE.items():
            if report.get(key) != first.get(key):
                raise ReportError(f"{path}: another {name} than {start}: {report.get(key)}, {first.get(key)}")
        if report["digest"] != first["digest"]:
            raise ReportError(f"{path}: a shard of another case set than {start}")
        if of != count:
            raise ReportError(f"{path}: one of {of} shards, and {start} one of {count}")
        if index in taken:
            raise ReportError(f"{path}: shard {index} again, as {taken[index]}")
        taken[index] = path
    missing = [str(index) for index in range(1, count + 1) if index not in taken]
    if missing:
        raise ReportError(f"shard {', '.join(missing)} of {count} is missing")
    cases = [case for _, report in parts for case in report["cases"]]
    return sorted(cases, key=lambda case: case.get("ordinal", 0))


def _shard(path: str, report: dict[str, Any]) -> tuple[int, int]:
    """Return which shard of how many a report is of; ReportError where it is not one that can be merged."""
    from dmlcheck.reports.reading import ReportError

    shard = report.get("shard")
    if not isinstance(shard, dict) or not all(isinstance(shard.get(key), int) for key in ("index", "count")):
        raise ReportError(f"{path}: not a shard of a run; run with --shard I/N")
    if report.get("digest") is None:
        raise ReportError(f"{path}: a run that did not get to its end")
    if not all(isinstance(case.get("ordinal", 0), int) for case in report["cases"]):
        raise ReportError(f"{path}: its cases are not as `dmlcheck run` writes them")
    return shard["index"], shard["count"]
