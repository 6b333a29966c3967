"""`dmlcheck eval`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import repeat

import click

from dmlcheck.cli.console import Console, print_pieces, say, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.implementations import implementation_option, made
from dmlcheck.cli.options import complete_files, examples, select_option
from dmlcheck.cli.run_options import dim_option, seed_option
from dmlcheck.cli.selection import check_is_file, check_option, check_taken, selector
from dmlcheck.files.yaml_text import key
from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.formats.find import located, split_case
from dmlcheck.formats.registry import Opened, opened
from dmlcheck.reports.diagnostics import ReportedMistakes, at_pointer
from dmlcheck.running.evaluate import Evaluated, EvaluationRequest
from dmlcheck.running.results import NO_ANSWER
from dmlcheck.values.literals import ANY, Array
from dmlcheck.values.number_formats import spell


@click.command(
    "eval",
    epilog=examples(
        "eval sum.yaml",
        "eval cases/sum.yaml -k columns",
        "eval cases/sum.yaml::columns",
        "eval cases/sum.yaml --implementation onnxruntime",
        "eval model.json",
        "eval Partition_0.bin --inputs inputs.npz",
        "eval model.onnx --dim batch=1",
    ),
)
@click.argument("file", shell_complete=complete_files)
@select_option
@implementation_option("The implementation that computes the cases; `dmlcheck run --help` has the names.")
@dim_option
@click.option(
    "--inputs",
    metavar="FILE.npz|DIR",
    help="DirectML graphs and models: arrays by the names of inputs, or files NAME.npy; of a model also ONNX's"
    " input_0.pb and so on. Default for a model: random ones.",
    shell_complete=complete_files,
)
@seed_option
def evaluate(
    *,
    file: str,
    expression: str | None,
    implementation: str,
    dims: tuple[tuple[str, int], ...],
    inputs: str | None,
    seed: int,
) -> None:
    """Print the reference engine's results for each case of a file, or the printed resources of a DxDispatch model.

    FILE may also be one case as PATH::NAME, or an ONNX model or a DirectML graph (.bin), whose outputs are printed.
    """
    path, name = (file, None) if file == "-" else split_case(file)
    check_is_file(path, "eval")
    found = opened(located(path))
    other = None if implementation == "reference" else implementation
    given: dict[str, object] = {"--inputs": inputs, "-k": expression, "PATH::NAME": name, "--implementation": other}
    given |= {"--dim": dims or None, "--seed": seed or None}
    for option in (option for option, value in given.items() if value is not None):
        check_option(option, "eval", [found])
    check_taken(found, "evaluated", "eval")
    selected = selector(expression)
    with made(implementation) as judged:
        try:
            sys.exit(_print(found, EvaluationRequest(judged, name, selected, inputs, seed, dict(dims))))
        except MissingRequirement as error:
            raise click.UsageError(str(error)) from None


def _print(file: Opened, wanted: EvaluationRequest) -> Exit:
    """Print the evaluation of a file; a name that was printed before starts a new YAML document."""
    reported, names, ends, is_lost = ReportedMistakes(), set[str](), set[Exit](), False
    for one in file.format.call("evaluated", file, wanted):
        if one.outputs:
            printed = one.outputs.keys() if one.name is None else {one.name}
            if names & printed:
                write("---")
                names.clear()
            names |= printed
        problems = reported.new(one.diagnostics, one.name or file.document.name)
        Console().problems((each if each.line else at_pointer(each) for each in problems), file.document)
        if one.remark is not None:
            say(f"# {one.remark}" if one.name is None else f"# {one.name}: {one.remark}")
        if one.nothing is not None:
            say(f"dmlcheck: {one.nothing}", to_errors=True)
        if one.outputs:
            print_pieces(evaluated_text(one))
        ends.add(_end(one))
        is_lost = is_lost or _is_lost(one)
    if is_lost and Exit.GOOD in ends:  # beside cases that were computed, one that is lost is a failure
        ends.add(Exit.FAILED)
    return next((end for end in (Exit.WRONG_INPUT, Exit.FAILED, Exit.GOOD) if end in ends), Exit.NOTHING_CHECKED)


def _is_lost(one: Evaluated) -> bool:
    """Whether the implementation failed, and nothing else is wrong."""
    return bool(one.diagnostics) and all(each.rule in NO_ANSWER for each in one.diagnostics)


def _end(one: Evaluated) -> Exit:
    if one.diagnostics and not _is_lost(one):
        return Exit.WRONG_INPUT if one.is_wrong else Exit.FAILED
    return Exit.GOOD if one.outputs or one.is_done else Exit.NOTHING_CHECKED


# ---- values as JSON


def values_text(values: Array, data_type: str, is_any: Array | None = None) -> Iterator[str]:
    """Yield an array as a nested YAML flow list, piece by piece, each element as the shortest text that reads back.

    The elements of a mask `is_any` are `any`.
    """
    if values.ndim <= 1:
        marks = repeat(False) if is_any is None else is_any.reshape(-1).tolist()  # noqa: FBT003 - of each element
        elements = zip(values.reshape(-1).tolist(), marks, strict=False)
        yield "[" + ", ".join(ANY if mark else spell(element, data_type) for element, mark in elements) + "]"
        return
    yield "["
    for index, part in enumerate(values):
        if index:
            yield ", "
        yield from values_text(part, data_type, None if is_any is None else is_any[index])
    yield "]"


# ---- outputs as text


def evaluated_text(evaluated: Evaluated) -> Iterator[str]:
    """Yield the values of every output, `any` for undefined elements, under the name of the case or command, if any."""
    indent = ""
    if evaluated.name is not None:
        yield f"{key(evaluated.name)}:\n"
        indent = "  "
    for name, (values, data_type) in evaluated.outputs.items():
        yield f"{indent}{key(name)}: "
        yield from values_text(values, data_type, evaluated.undefined.get(name))
        yield "\n"
