"""`dmlcheck eval`."""

from __future__ import annotations

import sys

import click

from dmlcheck.cli.console import Console, print_pieces, say, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.implementations import implementation_option, made
from dmlcheck.cli.options import complete_files, examples, select_option
from dmlcheck.cli.selection import check_option, selector, split_case
from dmlcheck.files.document import Document
from dmlcheck.formats.registry import Opened, not_taken, opened
from dmlcheck.reports.diagnostics import at_pointer
from dmlcheck.reports.evaluation import evaluated_text
from dmlcheck.reports.mistakes import Told
from dmlcheck.running.evaluate import Evaluated, Wanted


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
    path, name = (file, None) if file == "-" else split_case(file)
    found = opened(path)
    given = {"--inputs": inputs, "-k": expression, "::": name}
    for option in (option for option, value in given.items() if value is not None):
        check_option(option, [found])
    if implementation != "reference":
        check_option("--implementation", [found])
    selected = selector(expression)
    with made(implementation) as judged:
        sys.exit(_print(found, Wanted(judged, name, selected, inputs)))


def _print(file: Opened, wanted: Wanted) -> Exit:
    """Print what is computed for a file; what is printed twice starts a new YAML document."""
    if not file.format.evaluated:
        Console().problems([not_taken(file, "evaluated")], file.document)
        return Exit.WRONG_INPUT
    told, names, ends = Told(), set[str](), set[Exit]()
    for one in file.format.call("evaluated", file, wanted):
        if one.outputs:
            printed = one.outputs.keys() if one.name is None else {one.name}
            if names & printed:
                write("---")
                names.clear()
            names |= printed
        _print_one(one, file.document, told)
        ends.add(_end(one))
    return next((end for end in (Exit.WRONG_INPUT, Exit.FAILED, Exit.GOOD) if end in ends), Exit.NOTHING_CHECKED)


def _print_one(one: Evaluated, document: Document, told: Told) -> None:
    problems = told.new(one.diagnostics, one.name or document.name)
    Console().problems((each if each.line else at_pointer(each) for each in problems), document)
    if one.remark is not None:
        say(f"# {one.remark}" if one.name is None else f"# {one.name}: {one.remark}")
    if one.nothing is not None:
        say(f"dmlcheck: {one.nothing}", to_errors=True)
    if one.outputs:
        print_pieces(evaluated_text(one))


def _end(one: Evaluated) -> Exit:
    if one.diagnostics:
        return Exit.WRONG_INPUT if one.is_wrong else Exit.FAILED
    return Exit.GOOD if one.outputs or one.is_done else Exit.NOTHING_CHECKED
