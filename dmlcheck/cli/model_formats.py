"""The formats that `export` writes and `import` reads, and the folder that either of them makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import click

from dmlcheck.cli.console import say
from dmlcheck.cli.options import complete_files
from dmlcheck.folders.export_folder import Occupied, check
from dmlcheck.folders.exporting import Unavailable

T = TypeVar("T")


class Format(NamedTuple):
    """A format: the package with `exporter.export(cases, folder)` and `importer.import_(paths, folder)`, and its files.

    `export` takes an iterable of cases and returns an `Exported` for each; `import_` takes paths of files and returns
    an `Imported` for each. Both write into a folder that they make, and raise OSError where they cannot.
    """

    package: str
    endings: tuple[str, ...]


FORMATS = {
    "dxdispatch": Format("dmlcheck.formats.dxdispatch", (".json",)),
    "onnx": Format("dmlcheck.onnx", (".onnx",)),
}
IMPORTED = {**FORMATS, "graph": Format("dmlcheck.formats.dml_graph", (".bin",))}  # which has no exporter


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
    """Do what writes a folder; that it cannot be written is wrong usage."""
    try:
        if check(folder, form):
            say(f"{folder} has an earlier one: its files are replaced, all other files are kept")
        return work()
    except Occupied as error:
        raise click.UsageError(f"-o: {error}") from None
    except Unavailable as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"-o: {error.filename or folder} cannot be written: {error.strerror or error}") from None
