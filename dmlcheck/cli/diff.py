"""`dmlcheck diff`: the additions of a feature level to a lower one."""

from __future__ import annotations

import click

from dmlcheck.cli.console import print_json, print_page
from dmlcheck.cli.options import as_level, complete_levels, examples, format_option
from dmlcheck.inspection.level_diff import differences
from dmlcheck.reports.level_diff import diff_dict, diff_lines
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER


@click.command(
    epilog=examples(
        "diff 3_0 4_1",
        "diff 3_0 4_1 --format json",
    )
)
@click.argument("low", type=as_level, metavar="LEVEL", shell_complete=complete_levels)
@click.argument("high", type=as_level, metavar="LEVEL", shell_complete=complete_levels)
@format_option
def diff(*, low: str, high: str, form: str) -> None:
    """Print everything that the higher of two feature levels accepts and the lower does not, operator by operator."""
    low, high = sorted((low, high), key=LEVEL_ORDER.__getitem__)
    changes = differences((load_spec(name) for name in operator_names()), low, high)
    if form == "json":
        print_json(diff_dict(changes, low, high))
    else:
        print_page(diff_lines(changes, low, high))
