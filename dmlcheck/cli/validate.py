"""`dmlcheck validate`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

import click

from dmlcheck import validation
from dmlcheck.cases.find import each_once, find_files
from dmlcheck.cases.records import Case, CaseFile
from dmlcheck.cli import Exit, level_option
from dmlcheck.cli.console import Console, write
from dmlcheck.diagnostics.record import NOTE, Diagnostic
from dmlcheck.files import yaml
from dmlcheck.files.document import Document
from dmlcheck.formats.reading import read_document, read_file
from dmlcheck.reports.text import AtLevel, Validated, count, diagnostic_text, errors_in
from dmlcheck.running.negatives import check_invalid, lists_values
from dmlcheck.running.one_case import all_problems
from dmlcheck.specs.load import full_name
from dmlcheck.specs.names import LEVELS, NEWEST_LEVEL, level_and_version, level_name


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@level_option
@click.option("--all-levels", is_flag=True, help="Print a line a feature level: accepted, or the first reason why not.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def validate(*, files: tuple[str, ...], level: str | None, all_levels: bool, form: str) -> None:
    """Say whether descs are legal at a feature level, from which level on, and what is wrong; `-` is standard input."""
    descs: list[Validated] = []
    documents: dict[str, Document] = {}
    has_wrong_file = False
    for file in _case_files(files):
        documents[file.document.name] = file.document
        has_wrong_file = has_wrong_file or bool(file.problems or file.broken)
        descs.extend(_validated(file, level, all_levels=all_levels))
    if form == "json":
        from dmlcheck.reports.json import validation_text

        write(validation_text(descs))
    elif form == "sarif":
        from dmlcheck.reports.sarif import sarif_text

        write(sarif_text(descs))
    elif form == "github":
        from dmlcheck.reports.github import annotations

        annotations(descs, write)
    else:
        _print(descs, documents)
    if has_wrong_file:
        sys.exit(Exit.WRONG_INPUT)
    if not descs:
        sys.exit(Exit.NOTHING_COLLECTED)
    sys.exit(Exit.FAILED if errors_in(descs) else Exit.GOOD)


def _case_files(files: Iterable[str]) -> Iterator[CaseFile]:
    for path in each_once(_paths(files)):
        if path == "-":
            document = yaml.parse(sys.stdin.buffer.read(yaml.MAX_BYTES + 1), "-")
            yield read_document(document)
        else:
            yield read_file(path)


def _paths(files: Iterable[str]) -> Iterator[str]:
    for given in files:
        found = find_files(given) if given != "-" else None
        yield from [given] if found is None else found


def _validated(file: CaseFile, level: str | None, *, all_levels: bool) -> Iterator[Validated]:
    """Validate every desc of a file; what its form breaks is reported in its place."""
    name = file.document.name
    if file.problems:
        yield Validated(name, os.path.splitext(os.path.basename(name))[0], None, None, None, file.problems)
    for note in file.notes:
        yield Validated(name, str(note.pointer).rpartition(".")[2], None, None, None, (note,), is_plain=False)
    for case in file.cases:
        broken = file.broken.get(case.id)
        desc = _validated_case(case, level, broken, is_plain=not file.document.lists_cases)
        yield desc._replace(levels=_at_levels(case)) if all_levels and broken is None else desc


def _at_levels(case: Case) -> tuple[AtLevel, ...]:
    """Say for every level whether it accepts a desc, and if not the first reason in the order of the file."""
    found = []
    for level in LEVELS:
        _, findings = validation.validate(case.operator, case.desc, level)
        first = min((case.origin.diagnostic(finding) for finding in findings), key=Diagnostic.place, default=None)
        found.append(AtLevel(level, first is None, None if first is None else f"{first.rule}: {first.message}"))
    return tuple(found)


def _validated_case(
    case: Case, level: str | None, broken: tuple[Diagnostic, ...] | None, *, is_plain: bool
) -> Validated:
    own = case.feature_level or NEWEST_LEVEL
    asked = level or own
    operator = full_name(case.operator) or case.operator
    if broken is not None:
        problems = all_problems(case, broken, asked)
        return Validated(case.file, case.name, operator or None, asked, None, problems, is_plain)
    _, findings = validation.validate(case.operator, case.desc, asked)
    found = sorted((case.origin.diagnostic(finding) for finding in findings), key=Diagnostic.place)
    if case.invalid is not None and asked == own:
        # Values are not read here, so a negative case that is about them cannot be judged.
        is_of_values = not findings and (bool(case.inputs) or lists_values(case))
        mismatch = None if is_of_values else check_invalid(case, findings)
        if mismatch is None:
            found = [diagnostic._replace(severity=NOTE) for diagnostic in found]
        else:
            found = sorted([case.origin.diagnostic(mismatch), *found], key=Diagnostic.place)
    minimum = validation.minimum_level(case.operator, case.desc)
    return Validated(case.file, case.name, operator, asked, minimum, tuple(found), is_plain)


def _print(descs: list[Validated], documents: dict[str, Document]) -> None:
    console = Console()
    rules: dict[str, None] = {}
    for desc in descs:
        for diagnostic in desc.diagnostics:
            if diagnostic.severity == NOTE and desc.operator is not None:
                continue
            console.echo(diagnostic_text(diagnostic, documents[desc.file].line, console.style))
            if diagnostic.severity != NOTE:
                rules[diagnostic.rule] = None
        if not desc.errors and desc.operator is not None and not documents[desc.file].problems:
            console.echo(f"{desc.label}: {_verdict(desc)}")
        for at in desc.levels:
            console.echo(f"  {at.level}  {'accepted' if at.is_valid else at.reason}")
    errors = errors_in(descs)
    if errors:
        wrong = sum(1 for desc in descs if desc.errors)
        explain = f"`dmlcheck explain {next(reversed(rules))}` says more."
        console.echo(f"{count(errors, 'error')} in {count(wrong, 'desc')}. {explain}")


def _verdict(desc: Validated) -> str:
    if desc.minimum is not None and desc.is_valid:
        return f"{desc.operator} is valid from {level_and_version(desc.minimum)}"
    listed = ", ".join(dict.fromkeys(diagnostic.constraint or diagnostic.rule for diagnostic in desc.diagnostics))
    if not listed:
        return f"{desc.operator} is a negative case about its values, which `dmlcheck run` reads"
    return f"{desc.operator} breaks {listed} at {level_name(desc.feature_level or '')}, as the case says"
