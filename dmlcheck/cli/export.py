"""`dmlcheck export`: cases to models of another format."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import chain

import click

from dmlcheck.cases.records import Case
from dmlcheck.cli.console import Console, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.model_formats import FORMATS, folder_option, written
from dmlcheck.cli.options import select_option
from dmlcheck.cli.selection import selector, targets
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import counted
from dmlcheck.files.document import Document
from dmlcheck.formats.exporting import Exported
from dmlcheck.formats.reading import read_file


@click.command()
@click.option("--to", "form", type=click.Choice(list(FORMATS)), required=True, help="The format to write.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@folder_option
@select_option
def export(*, form: str, paths: tuple[str, ...], folder: str, expression: str | None) -> None:
    """Write the cases of files and folders as models, to run them where dmlcheck is not."""
    files = _Files(paths, expression)
    exporter = import_module(f"{FORMATS[form].package}.exporter")
    cases = files.cases()
    first = next(cases, None)
    exported: list[Exported] = []
    if first is not None:  # else an earlier export stays as it is
        exported = written(folder, form, lambda: exporter.export(chain([first], cases), folder))
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
