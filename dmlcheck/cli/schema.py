"""`dmlcheck schema`."""

from __future__ import annotations

import click

from dmlcheck.cli.console import write, write_json
from dmlcheck.cli.options import examples


@click.command(
    epilog=examples(
        "schema > dmlcheck.schema.json",
        "schema --format c++ > dmlcheck_desc.h",
    )
)
@click.option("--format", type=click.Choice(["json", "c++"]), default="json", help="How to print it.")
def schema(format: str) -> None:
    """Print the JSON Schema of case files, or a C++ header that writes descs of DirectML as JSON."""
    if format == "c++":
        from dmlcheck.inspection.schema import header_text

        write(header_text())
        return
    from dmlcheck.inspection.schema import schema_text

    write_json(schema_text())
