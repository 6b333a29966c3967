"""`dmlcheck coverage`: the coverage of the support tables by cases."""

from __future__ import annotations

import sys

import click

from dmlcheck.cli.case_files import CaseFiles, by_operator
from dmlcheck.cli.console import print_json, print_page, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.operators import complete_operators, operators_named
from dmlcheck.cli.options import complete_files, examples, format_option
from dmlcheck.cli.selection import select
from dmlcheck.inspection.coverage import of_operator
from dmlcheck.reports.coverage import coverage_dict, coverage_lines
from dmlcheck.specs.load import load_spec


@click.command(
    epilog=examples(
        "coverage",
        "coverage cases/ --operator REDUCE",
    )
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=complete_files)
@click.option(
    "--operator",
    "operators",
    multiple=True,
    metavar="NAME",
    help="Only this operator; may be repeated.",
    shell_complete=complete_operators,
)
@format_option
def coverage(*, paths: tuple[str, ...], operators: tuple[str, ...], form: str) -> None:
    """Print which support rows, table edges, constraints, values and layouts are exercised by cases.

    Without a PATH these are the cases that come with dmlcheck.
    """
    wanted = [name for operator in operators for name in operators_named(operator)]
    # The coverage of a file counts all its cases.
    given = select(paths)
    files = CaseFiles((target._replace(case=None) for target in given.targets), single=given.single)
    cases = by_operator(files.cases(), wanted)
    found = [of_operator(load_spec(name), cases[name]) for name in sorted(cases)]
    if form == "json":
        print_json(coverage_dict(found))
    elif found:
        print_page(coverage_lines(found))
    if files.has_wrong_file:
        sys.exit(Exit.WRONG_INPUT)
    if not found:
        which = " of these operators" if wanted else ""
        write(f"dmlcheck: nothing was measured: there is no case{which}", to_errors=True)
    sys.exit(Exit.GOOD if found else Exit.NOTHING_CHECKED)
