"""`dmlcheck export` and `dmlcheck import`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

import click

from dmlcheck.cases.find import is_report
from dmlcheck.cases.records import Case
from dmlcheck.cli import Exit, select_option
from dmlcheck.cli.console import Console, write
from dmlcheck.cli.selecting import selector, targets
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import counted
from dmlcheck.files.document import Document
from dmlcheck.formats.export_folder import Occupied, check
from dmlcheck.formats.exporting import Exported, Imported, Unavailable
from dmlcheck.formats.reading import read_file

CASES = "cases"  # the format of what `import` writes


class Format(NamedTuple):
    """A format: the package with `exporter.export(cases, folder)` and `importer.import_(paths, folder)`, and its files.

    `export` takes an iterable of cases and returns an `Exported` for each; `import_` takes paths of files and returns
    an `Imported` for each. Both write into a folder that they make, and raise OSError where they cannot.
    """

    package: str
    endings: tuple[str, ...]


FORMATS = {
    "dxdispatch": Format("dmlcheck.formats.dxdispatch", (".json",)),
    "onnx": Format("dmlcheck.formats.onnx", (".onnx",)),
}


_folder_option = click.option(
    "-o", "--output", "folder", required=True, metavar="DIR", help="A new folder, or that of an earlier one."
)


@click.command()
@click.option("--to", "form", type=click.Choice(list(FORMATS)), required=True, help="The format to write.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@_folder_option
@select_option
def export(*, form: str, paths: tuple[str, ...], folder: str, expression: str | None) -> None:
    """Write the cases of files and folders as models, to run them where dmlcheck is not."""
    files = _Files(paths, expression)
    exporter = import_module(f"{FORMATS[form].package}.exporter")
    cases = files.cases()
    first = next(cases, None)
    exported: list[Exported] = []
    if first is not None:  # else an earlier export stays as it is
        exported = _writing(folder, form, lambda: exporter.export(chain([first], cases), folder))
    for one in exported:
        files.show(one.problems)
    reasons = Counter(one.reason for one in exported if one.reason is not None)
    folders = {one.folder for one in exported if one.folder is not None}
    gone = sum(one.folder is not None for one in exported)
    if exported:
        write(f"{counted(gone, 'case')} exported to {counted(len(folders), 'model')} in {folder}")
    else:
        write("dmlcheck: no cases to export", to_errors=True)
    for reason, count in sorted(reasons.items()):
        write(f"{counted(count, 'case')} not exported: {reason}")
    if files.has_wrong_file:
        sys.exit(Exit.WRONG_INPUT)
    if any(one.problems for one in exported):
        sys.exit(Exit.FAILED)
    sys.exit(Exit.GOOD if gone else Exit.NOTHING_COLLECTED)


@click.command("import")
@click.argument("form", type=click.Choice(list(FORMATS)), metavar="[dxdispatch|onnx]")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@_folder_option
def import_(*, form: str, paths: tuple[str, ...], folder: str) -> None:
    """Write the models of files and folders as case files."""
    importer = import_module(f"{FORMATS[form].package}.importer")
    found = [file for path in paths for file in _models(path, FORMATS[form].endings)]
    imported: list[Imported] = _writing(folder, CASES, lambda: importer.import_(found, folder)) if found else []
    if not found:
        endings = " or ".join(FORMATS[form].endings)
        write(f"dmlcheck: no models to import: {' '.join(paths)} has no files that end in {endings}", to_errors=True)
    console = Console()
    for one in imported:
        if one.document is not None:
            console.problems(one.problems, one.document)
        for remark in one.remarks:
            write(f"{one.source}: {remark}")
        if one.file is not None:
            write(f"{one.source}: {counted(one.cases, 'case')} imported to {one.file}")
    if any(one.problems for one in imported):
        sys.exit(Exit.WRONG_INPUT)
    sys.exit(Exit.GOOD if any(one.cases for one in imported) else Exit.NOTHING_COLLECTED)


class _Files:
    """The cases of paths, read as they are asked for, and what is wrong with their files, printed as it is found."""

    def __init__(self, paths: tuple[str, ...], expression: str | None) -> None:
        self.selected = selector(expression)
        self.targets = targets(paths)
        self.console = Console()
        self.documents: dict[str, Document] = {}
        self.has_wrong_file = False

    def cases(self) -> Iterator[Case]:
        for target in self.targets:
            read = read_file(target.file, target.name)
            self.documents[read.document.name] = read.document
            broken = [problem for parts in read.broken.values() for problem in parts]
            self.has_wrong_file = self.has_wrong_file or bool(read.problems or broken)
            self.console.problems([*read.problems, *broken], read.document)
            for case in read.cases:
                is_wanted = target.case in (None, case.name) and self.selected(case.id)
                if is_wanted and case.id not in read.broken:
                    yield case

    def show(self, problems: tuple[Diagnostic, ...]) -> None:
        for problem in problems:
            self.console.problems([problem], self.documents[problem.file or ""])


def _writing(folder: str, form: str, work: Any) -> Any:
    """Do what writes a folder; that it cannot be written is wrong usage."""
    try:
        if check(folder, form):
            write(f"{folder} holds an earlier one: its files are replaced, whatever else is there is kept")
        return work()
    except Occupied as error:
        raise click.UsageError(f"-o: {error}") from None
    except Unavailable as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"-o: {error.filename or folder} cannot be written: {error.strerror or error}") from None


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
