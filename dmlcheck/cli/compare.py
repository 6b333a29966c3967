"""`dmlcheck compare`: the changes between the reports of two runs."""

from __future__ import annotations

import sys

import click

from dmlcheck.cli.console import print_json, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.cli.run_options import Number
from dmlcheck.reports.changes import GROWTH, Changes, changes, changes_dict, changes_lines, changes_markdown
from dmlcheck.reports.reading import ReportError


@click.command(
    epilog=examples(
        "run cases/ --json new.json",
        "compare old.json new.json",
        "compare old.json new.json --format markdown > comment.md",
    )
)
@click.argument("old", metavar="OLD.json", shell_complete=complete_files)
@click.argument("new", metavar="NEW.json", shell_complete=complete_files)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="How to print it; markdown is for the comment of a pull request.",
)
@click.option(
    "--max-drift",
    type=Number(),
    default=GROWTH,
    show_default=True,
    metavar="X",
    help="Name the outputs whose largest error became X times as large or more.",
)
@click.option("-v", "--verbose", is_flag=True, help="List all cases, not the first 50 of a kind; for text.")
def compare(*, old: str, new: str, form: str, max_drift: float, verbose: bool) -> None:
    """Print the changes between the JSON reports of two runs: the cases that newly fail, and those that are fixed.

    A case is the same if its id is. Exits with 1 if a case fails that did not fail before.
    """
    if max_drift < 1:
        raise click.UsageError(f"--max-drift: {max_drift:g} is no growth; give a number from 1 on")
    try:
        found = changes(old, new, max_drift)
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    if form == "json":
        print_json(changes_dict(found))
    elif form == "markdown":
        write(changes_markdown(found), end="")
    else:
        write("\n".join(changes_lines(found, is_whole=verbose)))
    if found.newly_failing:
        sys.exit(Exit.FAILED)
    if not found.compared:
        write(f"dmlcheck: nothing was compared: {_why_nothing(found)}", to_errors=True)
        sys.exit(Exit.NOTHING_CHECKED)
    sys.exit(Exit.GOOD)


def _why_nothing(found: Changes) -> str:
    """Return why there was nothing to compare."""
    if found.old.cases and found.new.cases and found.new.cases == len(found.added):
        return "no case is in both reports; ids begin with the path as the command line of the run gives it"
    return "no case was run, and not skipped, in both reports"
