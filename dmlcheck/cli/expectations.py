"""`dmlcheck expectations update`: known results kept up to date."""

from __future__ import annotations

import datetime as dt
import os
import sys
from typing import TYPE_CHECKING

import click

from dmlcheck.cli.console import Console, say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.files import yaml
from dmlcheck.running.expectations import Expectations, read_expectations

if TYPE_CHECKING:
    from dmlcheck.reports.reading import Head


@click.group(epilog=examples("expectations update report.json known.yaml"))
def expectations() -> None:
    """Keep a file of known results up to date."""


@expectations.command(
    short_help="Drop entries that no longer apply; add failures.",
    epilog=examples(
        "run cases/ --json report.json",
        "expectations update report.json known.yaml",
        'expectations update report.json known.yaml --add --reason "bug 42"',
    ),
)
@click.argument("report", metavar="REPORT.json", shell_complete=complete_files)
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@click.option("--add", is_flag=True, help="Add unexpected failures.")
@click.option("--reason", metavar="TEXT", help="Why the added cases fail.")
def update(*, report: str, file: str, add: bool, reason: str | None) -> None:
    """Drop the entries of FILE that a run's report contradicts, and with --add add entries for its other failures.

    With --add, FILE is made if it does not exist. A malformed file or case is never added: correct it instead.
    """
    from dmlcheck.running.expectation_updates import updated

    _check_use(file, reason, adds=add)
    head, outcomes, malformed, files = _report(report)
    if head.get("selection") or head.get("shard"):  # the other cases of its files are not known
        files = {}
    implementation = str(head["implementation"])
    is_new = add and not os.path.lexists(file)
    document = yaml.parse(b"", file) if is_new else yaml.read(file)
    # Expired entries are kept or dropped like any other: the date is for runs.
    found = _checked(read_expectations(document, implementation, head.get("feature_level"), dt.date.min))
    try:
        change = updated(found, outcomes, implementation, reason, malformed, files)
    except ValueError as error:
        raise click.UsageError(f"{file}: {error}") from None
    for entry, why in change.dropped:
        say(f"dropped {entry.cases} ({entry.expect}): {why}")
    for case_id in change.added:
        say(f"added {case_id} ({outcomes[case_id]})")
    say(f"{file}: {len(change.dropped)} dropped, {len(change.added)} added")
    if change.dropped or change.added or is_new:
        _save(change.text or "[]\n", file)
    if add and malformed:
        for case_id in sorted(malformed):
            say(f"not added {case_id}: it is malformed; correct it and run again", to_errors=True)
        sys.exit(Exit.WRONG_INPUT)


def _check_use(file: str, reason: str | None, *, adds: bool) -> None:
    """Refuse options that do not go together, and a file that is not there to be updated."""
    if adds and not reason:
        raise click.UsageError("--add needs --reason TEXT: why do these cases fail?")
    if reason and not adds:
        raise click.UsageError("--reason goes with --add")
    if not (adds or os.path.lexists(file)):
        raise click.UsageError(f"{file} does not exist; --add --reason TEXT makes it")


def _report(path: str) -> Head:
    """Return the head of a run's report, and the outcome of each case."""
    from dmlcheck.reports.reading import ReportError, read_head

    try:
        return read_head(path)
    except ReportError as error:
        raise click.UsageError(str(error)) from None


def _save(text: str, path: str) -> None:
    from dmlcheck.reports.files import ReportFile

    try:
        target = ReportFile(path)
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror or error}") from None
    target.write(text)
    target.close()
    if target.problem:
        raise click.UsageError(target.problem)


def load(path: str, implementation: str, level: str | None) -> Expectations:
    """Read a file of expectations for a run; print its problems and exit if it has any."""
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    return _checked(read_expectations(yaml.read(path), implementation, level, today))


def _checked(found: Expectations) -> Expectations:
    """Return a valid file of expectations; otherwise print its problems and exit."""
    if found.problems:
        Console().problems(found.problems, found.document)
        sys.exit(Exit.WRONG_INPUT)
    return found
