"""`dmlcheck validate`."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dmlcheck.cases.find import each_once
from dmlcheck.cases.records import CaseFile
from dmlcheck.cli.console import Console, print_page, write, write_command, write_json
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import complete_files, examples, level_option, version_option
from dmlcheck.cli.selection import files_of, is_graph, say_empty, say_no_cases
from dmlcheck.diagnostics.wording import cut, did_you_mean, visible
from dmlcheck.files import yaml
from dmlcheck.files.document import Document
from dmlcheck.formats.read import read_document, read_file
from dmlcheck.running.legality import Asked, Validated, errors_in, validated

if TYPE_CHECKING:
    from dmlcheck.running.graphs import GraphResult
    from dmlcheck.running.models import ModelResult

_MOST_NAMES = 10  # of sizes that are listed
_MOST_NAME = 100  # characters
_MOST_DIGITS = 19  # of a size in a model, which has 64 bits


def _sizes(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, int]:
    """Return the sizes of `--dim` by their names."""
    sizes: dict[str, int] = {}
    for text in given:
        name, equals, size = text.rpartition("=")
        is_number = size.isascii() and size.isdigit() and len(size) <= _MOST_DIGITS
        if not (name and equals and is_number and 0 < int(size) < 2**63):
            raise click.BadParameter(f"{text!r} is not NAME=SIZE, where SIZE is a whole number from 1 to {2**63 - 1}")
        sizes[name] = int(size)
    return sizes


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
@version_option("Note only what is known of this version of DirectML (1.8.0).")
@click.option(
    "--dim",
    "dims",
    multiple=True,
    metavar="NAME=SIZE",
    callback=_sizes,
    help="The size of a symbolic dimension of ONNX models; may be repeated.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def validate(*, files: tuple[str, ...], dims: dict[str, int], form: str, **given: Any) -> None:
    """Say whether descs are valid at a feature level, from which level on, and what is wrong with them.

    Reads desc files, case files, DxDispatch models, ONNX models and DirectML graphs (.bin); `-` is standard input.
    """
    descs: list[Validated] = []
    documents: dict[str, Document] = {}
    asked = Asked(**given)
    models = _models(files, asked, dims)
    graph_files = [file for file in files if is_graph(file)]
    has_wrong_file = any(model.is_wrong for model in models)
    empty: list[str] = []
    others = [file for file in files if not (_is_model(file) or is_graph(file))]
    for file in _case_files(others, are_beside=bool(models or graph_files)):
        graph_files.extend(file.graphs)
        empty.extend([] if file.cases or file.problems or file.broken else [file.document.name])
        documents[file.document.name] = file.document
        has_wrong_file = has_wrong_file or bool(file.problems or file.broken.keys() - file.of_graphs)
        descs.extend(validated(file, asked))
    graphs = _graphs(graph_files, asked)
    if (models or graphs) and asked.all_levels:
        raise click.UsageError("--all-levels is not for ONNX models or DirectML graphs")
    has_wrong_file = has_wrong_file or any(graph.is_wrong for graph in graphs)
    checked = bool(descs) or any(model.checked for model in models) or any(graph.checked for graph in graphs)
    _print(_Found(descs, models, graphs, documents), form, asked.directml_version)
    descs.extend(desc for model in models for desc in model.descs)
    descs.extend(entry for graph in graphs for entry in graph.entries)
    if checked:
        say_no_cases(empty)
    if has_wrong_file:
        sys.exit(Exit.WRONG_INPUT)
    if not descs:
        write("dmlcheck: nothing was checked: there is no desc", to_errors=True)
    if not checked and not errors_in(descs):
        sys.exit(Exit.NOTHING_CHECKED)
    is_refused = any(model.refusal is not None for model in models)
    sys.exit(Exit.FAILED if errors_in(descs) or is_refused else Exit.GOOD)


class _Found(NamedTuple):
    """What was found: the descs of files that are text, with these, the ONNX models and the DirectML graphs."""

    descs: list[Validated]
    models: list[ModelResult]
    graphs: list[GraphResult]
    documents: dict[str, Document]


def _print(found: _Found, form: str, version: str | None) -> None:
    every = list(found.descs)
    every += (entry for model in found.models for entry in model.entries)
    every += (entry for graph in found.graphs for entry in graph.entries)
    if form == "json":
        from dmlcheck.reports.json import validation_text

        write_json(validation_text(every, found.models, version, found.graphs))
    elif form == "sarif":
        from dmlcheck.reports.sarif import sarif_text

        write_json(sarif_text(every))
    elif form == "github":
        from dmlcheck.reports.github import annotate

        annotate(every, write_command)
    else:
        _print_text(found)


def _print_text(found: _Found) -> None:
    from dmlcheck.reports.validation import validation_lines

    console = Console()
    for text in validation_lines(found.descs, found.documents, console.style):
        console.echo(text)
    if found.models:
        from dmlcheck.reports.models import model_lines

        for model in found.models:
            print_page(model_lines(model, console.style))
    if found.graphs:
        from dmlcheck.reports.graphs import graph_lines

        for graph in found.graphs:
            print_page(graph_lines(graph, console.style))


def _graphs(paths: list[str], asked: Asked) -> list[GraphResult]:
    """Return what is found of DirectML graphs."""
    if not paths:
        return []
    from dmlcheck.running.graphs import validated_graph

    return [validated_graph(path, asked) for path in each_once(paths)]


def _is_model(path: str) -> bool:
    return path.lower().endswith(".onnx")


def _models(files: Iterable[str], asked: Asked, sizes: dict[str, int]) -> list[ModelResult]:
    """Return what is found of the ONNX models among some files."""
    paths = [path for path in files if _is_model(path)]
    if sizes and not paths:
        raise click.UsageError("--dim is for ONNX models, and none of the files is one")
    if not paths:
        return []
    from dmlcheck.folders.exporting import Unavailable
    from dmlcheck.onnx.exporter import require

    try:
        require()
    except Unavailable as error:
        raise click.UsageError(str(error)) from None
    from dmlcheck.running.models import validated_model

    found = [validated_model(path, asked, sizes) for path in each_once(paths)]
    named = frozenset(name for model in found for name in model.named)
    for name in sizes:
        if name not in named and not any(model.problem for model in found):
            raise click.UsageError(
                f"--dim {name}: no size has that name; {did_you_mean(name, named) or _listed(named)}"
            )
    return found


def _listed(names: Collection[str]) -> str:
    """Return the sentence that lists the first names of open sizes."""
    if not names:
        return "no size is open"
    shown = ", ".join(visible(cut(name, _MOST_NAME)) for name in sorted(names)[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"the sizes that are open are {shown}" + (f" and {more:,} more" if more > 0 else "")


def _case_files(files: Sequence[str], *, are_beside: bool) -> Iterator[CaseFile]:
    """Yield what paths stand for, read; `are_beside` says that there is more to validate than that."""
    found = {given: [given] if given == "-" else files_of(given, says_models=True) for given in files}
    if are_beside or any(found.values()):
        say_empty(given for given, own in found.items() if not own)
    for path in each_once(path for own in found.values() for path in own):
        if path == "-":
            document = yaml.parse(sys.stdin.buffer.read(yaml.MAX_BYTES + 1), "-")
            yield read_document(document)
        else:
            yield read_file(path)
