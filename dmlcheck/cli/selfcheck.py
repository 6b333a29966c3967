"""`dmlcheck selfcheck`."""

from __future__ import annotations

import sys

import click

from dmlcheck.cli.console import write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import examples
from dmlcheck.inspection.selfcheck import check


@click.command(
    epilog=examples(
        "selfcheck",
    )
)
def selfcheck() -> None:
    """Check that the specs, kernels, bundled cases and rules agree with one another."""
    checked = check()
    for problem in checked.problems:
        write(problem)
    write(checked.summary)
    sys.exit(Exit.FAILED if checked.problems else Exit.GOOD)
