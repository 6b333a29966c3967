"""`dmlcheck merge`: the shards of one run put together."""

from __future__ import annotations

import sys

import click

from dmlcheck.cli.console import Console, write
from dmlcheck.cli.ending import why_vain
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.cli.reporters import ReportRequest, finish_reports, open_reporters, report_options
from dmlcheck.reports.reading import ReportError
from dmlcheck.reports.shards import whole_run


@click.command(
    epilog=examples(
        "run cases/ --shard 1/2 --json 1.json",
        "run cases/ --shard 2/2 --json 2.json",
        "merge 1.json 2.json --html report.html",
    )
)
@click.argument("reports", nargs=-1, required=True, metavar="REPORT.json...", shell_complete=complete_files)
@report_options
def merge(*, reports: tuple[str, ...], wanted: ReportRequest) -> None:
    """Join the JSON reports of all shards of a run, and write any report of the whole run."""
    try:
        merged = whole_run(reports)
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    reporters = open_reporters(Console(), wanted, merged.info, reports, lambda: len(merged.results))
    for result in merged.results:
        for reporter in reporters:
            reporter.case(result)
    if not finish_reports(reporters, merged.summary):
        sys.exit(Exit.WRONG_INPUT)
    if merged.summary.failures:
        sys.exit(Exit.FAILED)
    if not merged.summary.is_vain:
        sys.exit(Exit.GOOD)
    if merged.summary.total:
        write(f"dmlcheck: nothing was checked: {why_vain(merged.summary)}", to_errors=True)
    sys.exit(Exit.NOTHING_CHECKED)
