"""`dmlcheck import`: models of another format to case files."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from dmlcheck.cli.console import Console, say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.folder import folder_option, written
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.cli.run_options import dim_option, inputs_option, seed_option
from dmlcheck.cli.selection import check_option
from dmlcheck.diagnostics.wording import counted
from dmlcheck.files.document import Document
from dmlcheck.folders.export_folder import Imported
from dmlcheck.formats.find import search
from dmlcheck.formats.registry import Format, Opened, binary_format, importers
from dmlcheck.reports.diagnostics import at_pointer

CASES = "cases"  # the format of `import`'s files
_FORMS = importers()


@click.command(
    "import",
    epilog=examples(
        "import dxdispatch model.json -o imported",
        "import onnx models/ -o imported",
        "import webnn wpt/webnn/conformance_tests -o imported",
        "import graph Partition_0.bin -o imported",
        "import graph model.onnx -o imported --dim batch=1",
    ),
)
@click.argument("form", type=click.Choice(list(_FORMS)), metavar=f"[{'|'.join(_FORMS)}]")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_files)
@folder_option
@dim_option
@inputs_option
@seed_option
def import_(
    *,
    form: str,
    paths: tuple[str, ...],
    folder: str,
    dims: tuple[tuple[str, int], ...],
    inputs: str | None,
    seed: int,
) -> None:
    """Write models and tests as case files: `graph` the cases of every node of a model, `webnn` the W3C's tests."""
    found = [(file, source) for path in paths for file, source in _models(path, form)]
    options = {"--dim": ("sizes", dict(dims)), "--inputs": ("inputs", inputs), "--seed": ("seed", seed)}
    given = {option: named for option, named in options.items() if named[1]}
    for option in given:
        check_option(option, f"import {form}", [Opened(file, source, Document(file, "")) for file, source in found])
    imported = _imported(form, found, folder, dict(given.values())) if found else []
    if not found:
        endings = " or ".join(ending for source in _FORMS[form] for ending in source.endings)
        say(f"dmlcheck: no models to import: {' '.join(paths)} has no files that end in {endings}", to_errors=True)
    for one in imported:
        if one.document is not None:
            problems = one.problems if one.document.text else map(at_pointer, one.problems)
            Console().problems(problems, one.document)
        for remark in one.remarks:
            say(f"{one.source}: {remark}")
        if one.file is not None:
            say(f"{one.source}: {counted(one.cases, 'case')} imported to {one.file}")
    if any(one.problems for one in imported):
        sys.exit(Exit.WRONG_INPUT)
    sys.exit(Exit.GOOD if any(one.cases for one in imported) else Exit.NOTHING_CHECKED)


def _imported(form: str, found: list[tuple[str, Format]], folder: str, options: dict[str, Any]) -> list[Imported]:
    (first, source), others = found[0], found[1:]
    other = next(((file, one) for file, one in others if one != source), None)
    if other is not None:
        text = f"{first} is {source.one} and {other[0]} is {other[1].one}: import each to a folder of its own"
        raise click.UsageError(text)
    files = [file for file, _ in found]
    imported: list[Imported] = written(folder, CASES, lambda: source.call_import(form, files, folder, **options))
    return imported


def _models(path: str, form: str) -> list[tuple[str, Format]]:
    """Return a file as it is, or the files of a folder tree with the endings of a format, each with its format."""
    sources = _FORMS[form]
    default = next((one for one in sources if one.word == form), sources[0])
    if os.path.isdir(path):
        files = search(path, tuple(ending for one in sources for ending in one.endings)).files
        return [(file, _known(file, sources) or default) for file in files]
    if not os.path.exists(path):
        raise click.UsageError(f"{path}: no such file or folder")
    other = binary_format(path)
    if other is not None and other not in sources:
        expected = " or ".join(one.one for one in sources)
        raise click.UsageError(f"{path} is {other.one}, not {expected}: {other.taken_by}")
    return [(path, other or default)]


def _known(file: str, sources: list[Format]) -> Format | None:
    found = binary_format(file)
    return found if found in sources else None
