"""`dmlcheck schema`."""

from __future__ import annotations

import click

from dmlcheck.cli.console import write_json
from dmlcheck.cli.options import examples
from dmlcheck.inspection.schema import schema_text


@click.command(
    epilog=examples(
        "schema > dmlcheck.schema.json",
    )
)
@click.option("--format", type=click.Choice(["json"]), default="json", expose_value=False, help="How to print it.")
def schema() -> None:
    """Print the JSON Schema of case files."""
    write_json(schema_text())
