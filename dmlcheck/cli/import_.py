"""`dmlcheck import`, `export` and `docs`, which write a folder: case files of models, models, and the site."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dmlcheck.cli.console import Console, say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import complete_files, examples, select_option
from dmlcheck.cli.run_options import dim_option, inputs_option, seed_option
from dmlcheck.cli.selection import CaseFiles, check_option, select, selector
from dmlcheck.diagnostics.wording import counted
from dmlcheck.files.document import Document
from dmlcheck.folders.export_folder import Exported, Folder, Imported, MissingRequirement, Occupied, check
from dmlcheck.formats.find import search
from dmlcheck.formats.registry import Format, Opened, binary_format, importers, takers
from dmlcheck.reports.diagnostics import at_pointer

if TYPE_CHECKING:
    from dmlcheck.cases.records import Case


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


@click.command(
    epilog=examples(
        "export --to dxdispatch cases/ -o models",
        "export --to onnx cases/ -o models -k gemm",
    )
)
@click.option("--to", "form", type=click.Choice(sorted(takers("exported"))), required=True, help="The format to write.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_files)
@folder_option
@select_option
def export(*, form: str, paths: tuple[str, ...], folder: str, expression: str | None) -> None:
    """Write the cases of files and folders as models, to run them where dmlcheck is not installed."""
    found = select(paths)
    files = CaseFiles(found.targets, selector(expression), found.single)
    target = takers("exported")[form]
    cases = files.cases()
    first = next(cases, None)
    exported: list[Exported] = []
    if first is not None:  # else an earlier export stays as it is
        exported = written(folder, form, lambda: target.call("exported", chain([first], cases), folder))
    for one in exported:
        files.show(one.problems)
    _print(exported, folder)
    if files.has_wrong_file:
        sys.exit(Exit.WRONG_INPUT)
    if any(one.problems for one in exported):
        sys.exit(Exit.FAILED)
    sys.exit(Exit.GOOD if any(one.folder for one in exported) else Exit.NOTHING_CHECKED)


def _print(exported: list[Exported], folder: str) -> None:
    """Print how many cases were exported and to which folder, and why the others were not."""
    if not exported:
        say("dmlcheck: no cases to export", to_errors=True)
        return
    folders = [one.folder for one in exported if one.folder is not None]
    models = counted(len(set(folders)), "model")
    say(f"{counted(len(folders), 'case')} exported to {models} in {folder}")
    reasons = Counter(one.reason for one in exported if one.reason is not None)
    for reason, count in sorted(reasons.items()):
        say(f"{counted(count, 'case')} not exported: {reason}")


SITE = "site"  # the format of what it writes


@click.command(epilog=examples("docs -o site"))
@folder_option
def docs(*, folder: str) -> None:
    """Write the reference site: a page for each operator, error, feature level and data type, and the guide."""
    files = written(folder, SITE, lambda: _write(folder))
    pages = sum(name.endswith(".html") for name in files)
    say(f"{counted(pages, 'page')} in {folder}; open index.html")
    sys.exit(0)


def _write(folder: str) -> list[str]:
    """Write the files of the site, and return their names; MissingRequirement where a package is missing."""
    try:
        import jinja2  # noqa: F401 - said here, before anything is written
        import latex2mathml  # noqa: F401
        import markdown_it  # noqa: F401
    except ImportError as error:
        raise MissingRequirement(f'docs needs {error.name}: run python -m pip install "dmlcheck[docs]"') from None
    from dmlcheck.reports.site.build import site_files
    from dmlcheck.specs.load import load_spec, operator_names

    with Folder(folder, SITE) as place:
        for file in site_files([load_spec(name) for name in operator_names()], _bundled_cases()):
            place.write(file.name, file.text.encode("utf-8"))
        place.finish([])
    return place.files


def _bundled_cases() -> dict[str, list[Case]]:
    from dmlcheck.cli.selection import CaseFiles, by_operator, targets

    return by_operator(CaseFiles(targets(())).cases())
