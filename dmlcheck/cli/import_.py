"""`dmlcheck import`: models of another format to case files."""

from __future__ import annotations

import os
import sys

import click

from dmlcheck.cli.console import Console, say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.folder import folder_option, written
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.diagnostics.wording import counted
from dmlcheck.folders.exporting import Imported
from dmlcheck.formats.find import search
from dmlcheck.formats.registry import Format, binary_format, takers
from dmlcheck.reports.diagnostics import at_pointer

CASES = "cases"  # the format of what `import` writes
_FORMS = takers("imported")


@click.command(
    "import",
    epilog=examples(
        "import dxdispatch model.json -o imported",
        "import onnx models/ -o imported",
        "import graph Partition_0.bin -o imported",
    ),
)
@click.argument("form", type=click.Choice(list(_FORMS)), metavar=f"[{'|'.join(_FORMS)}]")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_files)
@folder_option
def import_(*, form: str, paths: tuple[str, ...], folder: str) -> None:
    """Write the models of files and folders as case files."""
    source = _FORMS[form]
    found = [file for path in paths for file in _models(path, source)]
    imported: list[Imported] = written(folder, CASES, lambda: source.call("imported", found, folder)) if found else []
    if not found:
        endings = " or ".join(source.endings)
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


def _models(path: str, source: Format) -> list[str]:
    """Return a file as it is, or the files of a folder tree that end as those of a format do."""
    if os.path.isdir(path):
        return search(path, source.endings).files
    if not os.path.exists(path):
        raise click.UsageError(f"{path}: no such file or folder")
    other = binary_format(path)
    if other not in (None, source):
        raise click.UsageError(f"{path} is {other.one}, not {source.one}: {other.commands} take {other.many}")
    return [path]
