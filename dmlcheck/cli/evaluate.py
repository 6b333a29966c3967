"""`dmlcheck eval`."""

from __future__ import annotations

import os
import sys
from itertools import chain

import click

from dmlcheck import dxdispatch, yamlfile
from dmlcheck.cli import Exit, select_option
from dmlcheck.cli.console import Console, print_pieces, write
from dmlcheck.cli.selecting import selector
from dmlcheck.collect import read_document
from dmlcheck.document import Document
from dmlcheck.runner import all_problems


@click.command("eval")
@click.argument("file")
@select_option
def evaluate(*, file: str, expression: str | None) -> None:
    """Print what the reference computes for each case of a file, or the printed resources of a DxDispatch model."""
    selected = selector(expression)
    if file == "-":
        document = yamlfile.parse(sys.stdin.buffer.read(yamlfile.MAX_BYTES + 1), "-")
    else:
        document = yamlfile.read(file)
    if dxdispatch.is_model(document.value):
        sys.exit(_model(document))
    read = read_document(document)
    cases = [case for case in read.cases if selected(case.id)]
    broken = [all_problems(case, read.broken[case.id]) for case in cases if case.id in read.broken]
    problems = [*read.problems, *chain.from_iterable(broken)]
    console = Console()
    if problems:
        console.problems(problems, document)
        sys.exit(Exit.WRONG_INPUT)
    from dmlcheck.evaluation import evaluate_case, evaluated_text

    exit_code = Exit.GOOD if cases else Exit.NOTHING_COLLECTED
    for case in cases:
        evaluated = evaluate_case(case)
        if evaluated.diagnostics:
            console.problems(evaluated.diagnostics, document)
            exit_code = Exit.FAILED
        elif evaluated.remark is not None:
            write(f"# {evaluated.name}: {evaluated.remark}")
        else:
            print_pieces(evaluated_text(evaluated))
    sys.exit(exit_code)


def _model(document: Document) -> Exit:
    """Run a DxDispatch model and print its printed resources; one printed twice starts a new YAML document."""
    from dmlcheck.evaluation import evaluate_model, resource_text

    model = dxdispatch.read_model(document)
    console = Console()
    if model.problems:
        console.problems(model.problems, document)
        return Exit.WRONG_INPUT
    printed: set[str] = set()
    for evaluated in evaluate_model(model, os.curdir):
        if evaluated.diagnostics:
            console.problems(evaluated.diagnostics, document)
            return Exit.FAILED
        if evaluated.remark is not None:
            write(f"# {evaluated.remark}")
            continue
        if evaluated.name in printed:
            write("---")
            printed.clear()
        printed.add(evaluated.name)
        print_pieces(resource_text(evaluated))
    return Exit.GOOD
