"""`dmlcheck reduce`."""

from __future__ import annotations

import sys

import click

from dmlcheck.cli.console import Console, say, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.implementations import check_version, made
from dmlcheck.cli.interrupts import Interrupts
from dmlcheck.cli.judging import Judging, judging_options, require_extra
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.cli.run_options import as_seconds, dim_option, no_model_has, rounded_or_given_inputs, seed_option
from dmlcheck.cli.selection import check_is_file, check_option
from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.formats.find import located, split_case
from dmlcheck.formats.registry import Opened, opened
from dmlcheck.implementations import Unavailable

_SECONDS = 60.0


@click.command(
    epilog=examples(
        "reduce gemm.yaml::random --implementation onnxruntime -o b.yaml",
        "reduce a.yaml --implementation python:my_module:MyEngine -o b.yaml",
        "reduce model.onnx::Conv_3 --implementation onnxruntime -o b.yaml",
    )
)
@click.argument("case", metavar="CASE_ID|FILE", shell_complete=complete_files)
@click.option(
    "-o",
    "--output",
    "path",
    required=True,
    metavar="FILE",
    shell_complete=complete_files,
    help="The case file to write, over an earlier one of reduce or fuzz.",
)
@click.option(
    "--seconds",
    type=as_seconds,
    metavar="N",
    default=_SECONDS,
    help="How long to look for something simpler; 0: to the end. Default: 60.",
)
@dim_option
@rounded_or_given_inputs
@seed_option
@judging_options
def reduce(
    *,
    case: str,
    path: str,
    seconds: float,
    dims: tuple[tuple[str, int], ...],
    model_inputs: str | None,
    seed: int,
    judging: Judging,
) -> None:
    """Write the smallest desc and the simplest values of a failing case that still fail in the same way.

    CASE_ID is PATH::NAME; of a FILE the first case that fails is taken, of MODEL.onnx::NODE the node. The same way is
    the same rule, in the same output, by the same kind of difference.
    """
    require_extra()
    _check_place(path)
    given, name = split_case(case)
    check_is_file(given, "reduce")
    file = opened(located(given))
    if model_inputs is not None and "graph" not in file.format.imported:
        raise no_model_has(model_inputs)
    options = {"--dim": ("sizes", dict(dims)), "--inputs": ("inputs", model_inputs), "--seed": ("seed", seed)}
    chosen = {option: pair for option, pair in options.items() if pair[1]}
    for option in chosen:
        check_option(option, "import graph", [file])
    if judging.implementation == "reference":
        write("dmlcheck: the reference engine would be compared with itself; name an implementation", to_errors=True)
        sys.exit(Exit.NOTHING_CHECKED)
    with made(judging.implementation) as implementation:
        check_version(implementation, judging.directml_version)
        level = judging.settings.of_library(implementation.about).feature_level
    try:
        sys.exit(_reduce(file, name, path, seconds, dict(chosen.values()), judging, level))
    except (Unavailable, MissingRequirement) as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"-o: {error.filename or path} cannot be written: {error.strerror or error}") from None


def _check_place(path: str) -> None:
    """Refuse to write over a file that no finding stands in."""
    from dmlcheck.fuzzing.finding_files import HEAD
    from dmlcheck.reports.files import is_replaceable

    if not is_replaceable(path, HEAD):
        problem = "is there, and is no earlier finding; remove it, or name another file"
        raise click.UsageError(f"-o {path} {problem}")


def _reduce(
    file: Opened,
    name: str | None,
    path: str,
    seconds: float,
    options: dict[str, object],
    judging: Judging,
    level: str | None,
) -> Exit:
    """Reduce a case and write it, and say what became of it."""
    from dmlcheck.fuzzing.finding_files import FindingSource, write_case
    from dmlcheck.fuzzing.reduce_case import NotReducible, UnusableFile, start_of
    from dmlcheck.fuzzing.reducing import cause_of, reduced
    from dmlcheck.fuzzing.trials import bench
    from dmlcheck.reports.fuzzing import reduced_lines

    console = Console()
    judge = bench(judging.implementation, judging.settings, judging.most_seconds)
    with Interrupts():
        try:
            start = start_of(file, name, judge, options, level)
            found = reduced(judge, start.failing, start.level, seconds or None)
        except NotReducible as error:
            say(f"dmlcheck: {error}", to_errors=True)
            return Exit.NOTHING_CHECKED
        except UnusableFile as error:
            console.problems(error.problems, error.document)
            return Exit.WRONG_INPUT
        finally:
            judge.close()
    source = f"reduced by dmlcheck reduce from {start.name} of {file.path}"
    cause = cause_of(start.failing.answer, found.failing.answer)
    about = FindingSource(source, start.level, judging.implementation, cause)
    write_case(path, found.failing, about)
    for line in reduced_lines(start.name, start.failing, found):
        say(line)
    say(f"{path}: {judging.command(path)}")
    return Exit.INTERRUPTED if found.is_interrupted else Exit.GOOD
