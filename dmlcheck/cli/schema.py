"""`dmlcheck schema`."""

from __future__ import annotations

import click

from dmlcheck.cli.console import print_json
from dmlcheck.cli.options import examples
from dmlcheck.inspection.schema import case_file_schema


@click.command(
    epilog=examples(
        "schema > dmlcheck.schema.json",
    )
)
def schema() -> None:
    """Print the JSON Schema of case files."""
    print_json(case_file_schema())
