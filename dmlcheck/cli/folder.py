"""The folder that `export` or `import` makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from dmlcheck.cli.console import say
from dmlcheck.cli.options import complete_files
from dmlcheck.folders.export_folder import MissingRequirement, Occupied, check

T = TypeVar("T")


folder_option = click.option(
    "-o",
    "--output",
    "folder",
    required=True,
    metavar="DIR",
    help="A new folder, or that of an earlier one.",
    shell_complete=complete_files,
)


def written(folder: str, form: str, work: Callable[[], T]) -> T:
    """Call a function that writes a folder; a folder that cannot be written is wrong usage."""
    try:
        if check(folder, form):
            say(f"{folder} has an earlier one: its files are replaced, all other files are kept")
        return work()
    except Occupied as error:
        raise click.UsageError(f"-o: {error}") from None
    except MissingRequirement as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"-o: {error.filename or folder} cannot be written: {error.strerror or error}") from None
