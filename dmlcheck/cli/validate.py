"""`dmlcheck validate`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import click

from dmlcheck.cli.console import Console, print_page, write, write_command, write_json
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import colour_option, complete_files, examples, level_option, version_option
from dmlcheck.cli.run_options import any_dim_option
from dmlcheck.cli.selection import check_option, check_taken, say_no_cases, say_notes
from dmlcheck.diagnostics.record import ERROR, NOTE
from dmlcheck.diagnostics.wording import counted, cut, did_you_mean, first_few, visible
from dmlcheck.files.document import Document
from dmlcheck.formats.find import each_once, found_in, located, real_path, without_case_files
from dmlcheck.formats.registry import opened
from dmlcheck.reports.diagnostics import ReportedMistakes, diagnostic_text, mistake_of, validated_problems
from dmlcheck.reports.layout import Style
from dmlcheck.running.legality import LevelRequest, Validated, ValidatedFile, WholeCheck, errors_in
from dmlcheck.specs.names import level_and_version, level_name

_MOST_NAMES = 10  # of sizes that are listed
_MOST_NAME = 100  # characters


@click.command(
    epilog=examples(
        "validate argmax.yaml",
        "validate argmax.yaml --all-levels",
        "validate argmax.yaml --directml-version 1.8.0",
        "validate cases/ --feature-level 4_1 --format json",
        "validate model.onnx --dim batch=1 --feature-level 5_0",
        "validate Partition_0.bin",
    )
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files)
@level_option
@click.option("--all-levels", is_flag=True, help="Print for each feature level: valid, or the first reason why not.")
@version_option("Note only the known deviations of this version of DirectML (1.8.0).")
@click.option(
    "--library",
    metavar="LIBRARY",
    shell_complete=complete_files,
    help="Ask DirectML's own library too: DirectML.dll, libdirectml.so, a folder or a wheel with one.",
)
@any_dim_option
@click.option(
    "--format",
    "--output-format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
@click.option("-q", "--quiet", is_flag=True, help="With the format text, print only what is wrong.")
@colour_option
def validate(
    *,
    files: tuple[str, ...],
    dims: tuple[tuple[str, int], ...],
    form: str,
    library: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Check whether descs are valid at a feature level, from which level on, and why others are not.

    Reads desc files, case files, DxDispatch models, ONNX models and DirectML graphs (.bin); `-` is standard input.
    """
    with _opened(library) as asked:
        request = LevelRequest(**given, library=asked, with_releases=form == "json")
        found = list(_validated(files, request, dict(dims)))
    wholes = [whole for one in found for whole in one.wholes]
    if wholes and given["all_levels"]:
        raise click.UsageError("--all-levels is not for ONNX models or DirectML graphs")
    descs = [desc for one in found for desc in one.descs]
    checked = bool(descs) or any(whole.checked for whole in wholes)
    documents = {one.document.name: one.document for one in found}
    _print(_Found(descs, wholes, documents), form, given["directml_version"], is_quiet=quiet)
    if checked:
        say_no_cases([one.document.name for one in found if one.is_empty])
    if any(one.is_wrong for one in found):
        sys.exit(Exit.WRONG_INPUT)
    descs.extend(desc for whole in wholes for desc in whole.entries)
    if not descs:
        write("dmlcheck: nothing was checked: there is no desc", to_errors=True)
    if not checked and not errors_in(descs):
        sys.exit(Exit.NOTHING_CHECKED)
    sys.exit(Exit.FAILED if errors_in(descs) or any(whole.is_refused for whole in wholes) else Exit.GOOD)


@contextmanager
def _opened(library: str | None) -> Iterator[Any]:
    """Open DirectML's library for a block, None without one; a usage error if it cannot be asked."""
    if library is None:
        yield None
        return
    from dmlcheck.implementations import Unavailable
    from dmlcheck.implementations.directml import DirectMLLibrary

    try:
        asked = DirectMLLibrary.to_ask(library)
    except Unavailable as error:
        raise click.UsageError(f"--library: {error}") from None
    try:
        yield asked
    finally:
        asked.close()


class _Found(NamedTuple):
    """The results of a check: descs by themselves, with their files, and graphs and models as wholes."""

    descs: list[Validated]
    wholes: list[WholeCheck]
    documents: dict[str, Document]

    def of_errors(self) -> _Found:
        """Return the part of it that is not valid."""
        wrong = [desc for desc in self.descs if desc.errors]
        return self._replace(
            descs=wrong, wholes=[one for one in self.wholes if one.is_refused or errors_in(one.entries)]
        )


def _print(found: _Found, form: str, version: str | None, *, is_quiet: bool = False) -> None:
    every = [*found.descs, *(entry for whole in found.wholes for entry in whole.entries)]
    if form == "json":
        from dmlcheck.reports.json import validation_text

        write_json(validation_text(every, found.wholes, version))
    elif form == "sarif":
        from dmlcheck.reports.sarif import sarif_text

        write_json(sarif_text(every))
    elif form == "github":
        from dmlcheck.reports.github import annotate

        annotate(every, write_command)
    else:
        _print_text(found.of_errors() if is_quiet else found)


def _print_text(found: _Found) -> None:
    console = Console()
    for text in validation_lines(found.descs, found.documents, console.style):
        console.echo(text)
    if found.wholes:
        from dmlcheck.reports.models import answer_lines, whole_lines

        for whole in found.wholes:
            print_page(whole_lines(whole, console.style))
            for text in answer_lines(whole.entries):
                console.echo(text)


def _validated(files: Sequence[str], asked: LevelRequest, sizes: dict[str, int]) -> Iterator[ValidatedFile]:
    """Yield the check of each file, and of each graph once, whether it is given or dispatched by a model."""
    given = list(map(opened, _paths(files)))
    if sizes:
        check_option("--dim", "validate", given)
    named: set[str] = set()
    is_wrong, graphs = False, set[str]()
    for file in given:
        check_taken(file, "validated", "validate")
        found: ValidatedFile = file.format.call("validated", file, asked, sizes)
        if found.unavailable is not None:
            raise click.UsageError(found.unavailable)
        new = tuple(whole for whole in found.wholes if real_path(whole.file) not in graphs)
        graphs.update(real_path(whole.file) for whole in new)
        named |= found.named
        is_wrong = is_wrong or found.is_wrong
        yield found._replace(wholes=new)
    for name in sizes:
        if name not in named and not is_wrong:
            raise click.UsageError(
                f"--dim {name}: no size has that name; {did_you_mean(name, named) or _listed(named)}"
            )


def _listed(names: Collection[str]) -> str:
    """Return the sentence that lists the first names of unknown sizes."""
    if not names:
        return "all sizes have numbers"
    shown = [visible(cut(name, _MOST_NAME)) for name in sorted(names)]
    return f"the sizes without a number are {first_few(shown, _MOST_NAMES)}"


def _paths(given: Sequence[str]) -> Iterator[str]:
    """Yield the files that paths stand for, each once."""
    found = {}
    for path in given:
        here, notes = (None, []) if path == "-" else found_in(path, says_models=True)
        found[path] = [path] if here is None else here.files
        say_notes(notes)
    if any(found.values()):
        say_notes(without_case_files(path for path, own in found.items() if not own))
    yield from each_once(located(path) for own in found.values() for path in own)


# ---- validated descs as text: the findings about each, and the level from which it is valid


def validation_lines(descs: list[Validated], documents: Mapping[str, Document], style: Style) -> Iterator[str]:
    """Yield the text of `validate`; `documents` are the files of the descs by name."""
    times = Counter(mistake_of(problem) for _, problem in validated_problems(descs) if problem.severity == ERROR)
    reported = ReportedMistakes()
    for desc in descs:
        yield from _desc_lines(desc, documents[desc.file], style, reported, times)
    errors = len(times.keys() - {None}) + times[None]
    if errors:
        found = (diagnostic for desc in descs for diagnostic in desc.diagnostics if diagnostic.severity != NOTE)
        rules = list(dict.fromkeys(diagnostic.rule for diagnostic in found))
        more = (
            f"`dmlcheck explain {rules[0]}` says more." if len(rules) == 1 else "`dmlcheck explain RULE` explains each."
        )
        yield f"{counted(errors, 'error')} in {_where([desc for desc in descs if desc.errors])}. {more}"


def _where(wrong: list[Validated]) -> str:
    """Return in how many descs errors are; in how many files where any is in no desc."""
    if all(desc.operator is not None for desc in wrong):
        return counted(len(wrong), "desc")
    return counted(len({desc.file for desc in wrong}), "file")


def _desc_lines(
    desc: Validated, document: Document, style: Style, reported: ReportedMistakes, times: Mapping[Any, int]
) -> Iterator[str]:
    """Yield the text about a desc, without mistakes that an earlier one had."""
    for _, problem in validated_problems([desc]):
        if reported.earlier(problem, desc.label) is None:
            yield diagnostic_text(problem, document.line, style)
            mistake = mistake_of(problem)
            if mistake is not None and times[mistake] > 1:
                yield f"  the same in {counted(times[mistake] - 1, 'more case')}"
    if not desc.errors and desc.operator is not None and not document.problems:
        yield f"{visible(desc.label)}: {_verdict(desc)}"
    if desc.differing is not None:
        yield f"{visible(desc.label)}: {desc.differing}"
    if desc.answer is not None:
        yield f"{visible(desc.label)}: DirectML {desc.answer.version} {desc.answer.text}"
    for at in desc.levels:
        yield f"  {at.level}  {'valid' if at.is_valid else visible(at.reason or '')}"


def _verdict(desc: Validated) -> str:
    if desc.minimum is not None and desc.is_valid:
        return f"{desc.operator} is valid from {level_and_version(desc.minimum)}"
    listed = ", ".join(dict.fromkeys(diagnostic.constraint or diagnostic.rule for diagnostic in desc.diagnostics))
    if not listed:
        return f"{desc.operator} is a negative case about its values, which `dmlcheck run` reads"
    return f"{desc.operator} breaks {listed} at {level_name(desc.feature_level or '')}, as the case says"
