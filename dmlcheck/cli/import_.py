"""`dmlcheck import`: models of another format to case files."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from dmlcheck.cases.find import is_report
from dmlcheck.cli.console import Console, say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.model_formats import IMPORTED, folder_option, written
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.diagnostics.wording import counted
from dmlcheck.folders.exporting import Imported
from dmlcheck.reports.diagnostics import at_pointer

CASES = "cases"  # the format of what `import` writes


@click.command(
    "import",
    epilog=examples(
        "import dxdispatch model.json -o imported",
        "import onnx models/ -o imported",
        "import graph Partition_0.bin -o imported",
    ),
)
@click.argument("form", type=click.Choice(list(IMPORTED)), metavar="[dxdispatch|onnx|graph]")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_files)
@folder_option
def import_(*, form: str, paths: tuple[str, ...], folder: str) -> None:
    """Write the models of files and folders as case files."""
    importer = import_module(f"{IMPORTED[form].package}.importer")
    found = [file for path in paths for file in _models(path, IMPORTED[form].endings)]
    imported: list[Imported] = written(folder, CASES, lambda: importer.import_(found, folder)) if found else []
    if not found:
        endings = " or ".join(IMPORTED[form].endings)
        say(f"dmlcheck: no models to import: {' '.join(paths)} has no files that end in {endings}", to_errors=True)
    for one in imported:
        _print(one)
    if any(one.problems for one in imported):
        sys.exit(Exit.WRONG_INPUT)
    sys.exit(Exit.GOOD if any(one.cases for one in imported) else Exit.NOTHING_CHECKED)


def _print(imported: Imported) -> None:
    """Say what became of a file."""
    if imported.document is not None:
        problems = imported.problems if imported.document.text else map(at_pointer, imported.problems)
        Console().problems(problems, imported.document)
    for remark in imported.remarks:
        say(f"{imported.source}: {remark}")
    if imported.file is not None:
        say(f"{imported.source}: {counted(imported.cases, 'case')} imported to {imported.file}")


def _models(path: str, endings: tuple[str, ...]) -> list[str]:
    """Return a file as it is, or the files of a folder tree that end as those of a format do."""
    if not os.path.exists(path):
        raise click.UsageError(f"{path}: no such file or folder")
    if not os.path.isdir(path):
        return [path]
    found: list[str] = []
    for place, folders, files in os.walk(path):
        folders.sort()
        found.extend(os.path.join(place, name) for name in sorted(files) if name.lower().endswith(endings))
    return [file for file in found if not (file.lower().endswith(".json") and is_report(file))]
