"""`dmlcheck validate`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from dmlcheck.cases.find import each_once, find_files
from dmlcheck.cases.records import CaseFile
from dmlcheck.cli.console import Console, write_command, write_json
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import complete_files, examples, level_option
from dmlcheck.files import yaml
from dmlcheck.files.document import Document
from dmlcheck.formats.read import read_document, read_file
from dmlcheck.running.legality import Validated, errors_in, validated


@click.command(
    epilog=examples(
        "validate argmax.yaml",
        "validate argmax.yaml --all-levels",
        "validate cases/ --feature-level 4_1 --format json",
    )
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files)
@level_option
@click.option("--all-levels", is_flag=True, help="Print for each feature level: accepted, or the first reason why not.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def validate(*, files: tuple[str, ...], level: str | None, all_levels: bool, form: str) -> None:
    """Say whether descs are legal at a feature level, from which level on, and what is wrong with them.

    Reads desc files, case files and DxDispatch models; `-` is standard input.
    """
    descs: list[Validated] = []
    documents: dict[str, Document] = {}
    has_wrong_file = False
    for file in _case_files(files):
        documents[file.document.name] = file.document
        has_wrong_file = has_wrong_file or bool(file.problems or file.broken)
        descs.extend(validated(file, level, all_levels=all_levels))
    _print(descs, documents, form)
    if has_wrong_file:
        sys.exit(Exit.WRONG_INPUT)
    if not descs:
        sys.exit(Exit.NOTHING_CHECKED)
    sys.exit(Exit.FAILED if errors_in(descs) else Exit.GOOD)


def _print(descs: list[Validated], documents: dict[str, Document], form: str) -> None:
    if form == "json":
        from dmlcheck.reports.json import validation_text

        write_json(validation_text(descs))
    elif form == "sarif":
        from dmlcheck.reports.sarif import sarif_text

        write_json(sarif_text(descs))
    elif form == "github":
        from dmlcheck.reports.github import annotate

        annotate(descs, write_command)
    else:
        from dmlcheck.reports.validation import validation_lines

        console = Console()
        for text in validation_lines(descs, documents, console.style):
            console.echo(text)


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
