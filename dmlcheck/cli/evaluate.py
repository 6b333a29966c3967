"""`dmlcheck eval`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from itertools import chain
from typing import TYPE_CHECKING

import click

from dmlcheck.cases.find import is_named
from dmlcheck.cases.records import Case
from dmlcheck.cli.console import Console, print_pieces, say, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.implementations import implementation_option, made
from dmlcheck.cli.options import complete_files, examples, select_option
from dmlcheck.cli.selection import is_graph, meant_case, selector, split_case
from dmlcheck.files import yaml
from dmlcheck.files.document import Document
from dmlcheck.formats.dxdispatch.model import is_model
from dmlcheck.formats.dxdispatch.read import read_model
from dmlcheck.formats.read import read_document
from dmlcheck.reports.diagnostics import at_pointer
from dmlcheck.running.legality import all_problems

if TYPE_CHECKING:
    from dmlcheck.implementations import Implementation
    from dmlcheck.reports.mistakes import Told


@click.command(
    "eval",
    epilog=examples(
        "eval sum.yaml",
        "eval cases/sum.yaml -k columns",
        "eval cases/sum.yaml::columns",
        "eval cases/sum.yaml --implementation onnxruntime",
        "eval model.json",
        "eval Partition_0.bin --inputs inputs.npz",
    ),
)
@click.argument("file", shell_complete=complete_files)
@select_option
@implementation_option("What computes the cases; `dmlcheck run --help` has the names.")
@click.option(
    "--inputs",
    metavar="FILE.npz|DIR",
    help="The inputs of a DirectML graph: arrays by their names, or files NAME.npy.",
    shell_complete=complete_files,
)
def evaluate(*, file: str, expression: str | None, implementation: str, inputs: str | None) -> None:
    """Print what the reference computes for each case of a file, or the printed resources of a DxDispatch model.

    FILE may also be one case as PATH::NAME, or a DirectML graph (.bin), whose outputs are printed.
    """
    if is_graph(file):
        _refuse_case_options(expression, implementation, f"{file} is a DirectML graph")
        sys.exit(_graph(file, inputs))
    if inputs is not None:
        raise click.UsageError(f"--inputs is for DirectML graphs (.bin), and {file} is none")
    selected = selector(expression)
    path, name = (file, None) if file == "-" else split_case(file)
    document = yaml.parse(sys.stdin.buffer.read(yaml.MAX_BYTES + 1), "-") if file == "-" else yaml.read(path)
    if not is_model(document.value):
        with made(implementation) as judged:
            sys.exit(_cases(document, name, selected, judged))
    is_case = {"::": name is not None}
    _refuse_case_options(expression, implementation, f"{path} is a DxDispatch model", is_case)
    sys.exit(_model(document))


def _refuse_case_options(
    expression: str | None, implementation: str, what: str, more: Mapping[str, bool] | None = None
) -> None:
    options = {"--implementation": implementation != "reference", "-k": expression is not None, **(more or {})}
    for option in (option for option, is_given in options.items() if is_given):
        raise click.UsageError(f"{option} is for case files; {what}, computed by the reference")


def _cases(
    document: Document, name: str | None, selected: Callable[[str], bool], implementation: Implementation
) -> Exit:
    """Print what is computed for each case of a file, or for the one of a name, if nothing is wrong with its form."""
    from dmlcheck.reports.mistakes import Told

    told = Told()
    file = read_document(document)
    named = [case for case in file.cases if name is None or is_named(case.name, name)]
    if name is not None and not named:
        say(f"dmlcheck: {document.name} has no case {name}{meant_case(name, file.cases)}", to_errors=True)
    cases = [case for case in named if selected(case.id)]
    broken = (all_problems(case, file.broken[case.id]) for case in cases if case.id in file.broken)
    problems = told.new([*file.problems, *chain.from_iterable(broken)], document.name)
    if problems:
        Console().problems(problems, document)
        return Exit.WRONG_INPUT
    endings = {_case(case, document, told, implementation) for case in cases}
    return next((end for end in (Exit.FAILED, Exit.GOOD) if end in endings), Exit.NOTHING_CHECKED)


def _case(case: Case, document: Document, told: Told, implementation: Implementation) -> Exit:
    """Print what is computed for a case, or why nothing is."""
    from dmlcheck.reports.evaluation import evaluated_text
    from dmlcheck.running.evaluate import evaluate_case

    evaluated = evaluate_case(case, implementation)
    if evaluated.diagnostics:
        Console().problems(told.new(evaluated.diagnostics, case.id), document)
        return Exit.FAILED
    if evaluated.remark is not None:
        say(f"# {evaluated.name}: {evaluated.remark}")
        return Exit.NOTHING_CHECKED
    print_pieces(evaluated_text(evaluated))
    return Exit.GOOD


def _model(document: Document) -> Exit:
    """Run a DxDispatch model and print its printed resources; one printed twice starts a new YAML document."""
    from dmlcheck.formats.dxdispatch.evaluate import evaluate_model
    from dmlcheck.reports.evaluation import resource_text

    model = read_model(document)
    console = Console()
    if model.problems:
        console.problems(model.problems, document)
        return Exit.WRONG_INPUT
    names: set[str] = set()  # of the YAML document that is being printed
    for step in evaluate_model(model, os.curdir):
        if step.diagnostics:
            console.problems((one if one.line else at_pointer(one) for one in step.diagnostics), document)
            return Exit.FAILED
        if step.remark is not None:
            say(f"# {step.remark}")
        if step.printed is not None:
            if step.printed.resource in names:
                write("---")
                names.clear()
            names.add(step.printed.resource)
            print_pieces(resource_text(step.printed))
    return Exit.GOOD


def _graph(path: str, inputs: str | None) -> Exit:
    """Compute a DirectML graph and print its outputs."""
    from dmlcheck.reports.evaluation import evaluated_text
    from dmlcheck.running.graph_values import graph_values

    found = graph_values(path, inputs)
    if found.evaluated.diagnostics:
        Console().problems(map(at_pointer, found.evaluated.diagnostics), Document(path, ""))
        return Exit.WRONG_INPUT if found.is_wrong else Exit.FAILED
    for remark in found.remarks:
        say(f"# {remark}")
    if not found.evaluated.outputs:
        say(f"dmlcheck: nothing was computed: {path} has no operator that writes an output", to_errors=True)
        return Exit.NOTHING_CHECKED
    print_pieces(evaluated_text(found.evaluated))
    return Exit.GOOD
