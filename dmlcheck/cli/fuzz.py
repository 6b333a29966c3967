"""`dmlcheck fuzz`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from dmlcheck.cli.console import Console, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.expectations import load
from dmlcheck.cli.implementations import about_on, check_version, cluster_of, executor_option, made
from dmlcheck.cli.interrupts import Interrupts
from dmlcheck.cli.judging import Judging, judging_options, require_extra
from dmlcheck.cli.operators import complete_operators, operators_named
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.cli.run_options import as_jobs, as_seconds, rounding_option
from dmlcheck.diagnostics.wording import did_you_mean
from dmlcheck.drawing.where import DATA_TYPE, Where
from dmlcheck.folders.export_folder import Occupied, check
from dmlcheck.implementations import Unavailable, require_models
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER, NEWEST_LEVEL, level_name

if TYPE_CHECKING:
    from dmlcheck.fuzzing.campaign import Campaign, CampaignRequest
    from dmlcheck.fuzzing.finding_files import FindingFiles, KnownFindings
    from dmlcheck.fuzzing.graph_campaign import GraphCampaign
    from dmlcheck.fuzzing.trials import Bench
    from dmlcheck.processes.cluster import Cluster

_SECONDS = 60.0  # where neither --seconds nor --examples says when to stop


@click.command(
    epilog=examples(
        "fuzz --implementation onnxruntime",
        "fuzz GEMM LSTM --implementation python:my_module:MyEngine -o found",
        'fuzz --implementation "command:./my_program" --seconds 60 --invalid',
    )
)
@click.argument("operators", nargs=-1, metavar="[OPERATOR]...", shell_complete=complete_operators)
@click.option("--seconds", type=as_seconds, metavar="N", help="Draw for N seconds. Default: 60, without --examples.")
@click.option("--examples", type=click.IntRange(min=1), metavar="N", help="Draw N descs in all.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    metavar="S",
    help="The seed of the draws: the same seed draws the same. Default: 0.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    default="findings",
    show_default=True,
    metavar="DIR",
    shell_complete=complete_files,
    help="A new folder, or that of an earlier campaign.",
)
@click.option(
    "--where",
    "conditions",
    multiple=True,
    metavar="NAME=VALUE",
    help="Draw only descs with this value of an attribute, or with a tensor of a DataType; VALUE|VALUE is either.",
)
@click.option("--invalid", "with_invalid", is_flag=True, help="Draw also descs that break one constraint each.")
@click.option(
    "--graphs",
    "is_of_graphs",
    is_flag=True,
    help="Draw chains and diamonds of 2 to 8 operators as ONNX models, for implementations that run these.",
)
@click.option(
    "--exhaustive",
    "is_exhaustive",
    is_flag=True,
    help="Run all FLOAT16 and 8-bit inputs of operators over elements of one tensor, and all pairs of 8-bit ones.",
)
@click.option(
    "--expectations",
    "expected",
    metavar="FILE",
    shell_complete=complete_files,
    help="Known results of this implementation, by the ids of their findings.",
)
@executor_option
@click.option(
    "-j", "--jobs", type=as_jobs, default=1, metavar="N", help="Draw in N processes; auto: one for each core."
)
@rounding_option
@judging_options
def fuzz(
    *,
    operators: tuple[str, ...],
    seconds: float | None,
    examples: int | None,
    seed: int,
    folder: str,
    conditions: tuple[str, ...],
    with_invalid: bool,
    is_of_graphs: bool,
    is_exhaustive: bool,
    expected: str | None,
    executor: str | None,
    jobs: int,
    judging: Judging,
) -> None:
    """Run random valid descs of operators on an implementation, and write what it gets wrong as reduced cases."""
    require_extra()
    from dmlcheck.fuzzing.campaign import CampaignRequest
    from dmlcheck.fuzzing.finding_files import KnownFindings

    own_level, is_only_asked = _library(judging.implementation)
    level = judging.level or own_level or NEWEST_LEVEL
    where = list(map(_condition, conditions))
    names = _meeting(_at_level(operators, level), where)
    if with_invalid + is_of_graphs + is_exhaustive > 1:
        raise click.UsageError("--invalid, --graphs and --exhaustive are campaigns of their own; choose one")
    if where and (is_of_graphs or is_exhaustive):
        raise click.UsageError("--where is for single draws, not for --graphs or --exhaustive")
    _check_executor(executor, jobs, is_of_graphs=is_of_graphs)
    if seconds is None and examples is None and not is_exhaustive:
        seconds = _SECONDS
    name, seconds = judging.implementation, seconds or None
    kinds = with_invalid, is_exhaustive, is_of_graphs, is_only_asked
    asked = CampaignRequest(names, name, seed, examples, seconds, level, *kinds, where)
    if judging.implementation == "reference":
        write("dmlcheck: the reference engine would be compared with itself; name an implementation", to_errors=True)
        sys.exit(Exit.NOTHING_CHECKED)
    known = KnownFindings(None if expected is None else load(expected, judging.implementation, judging.level), folder)
    try:
        check(folder, "findings")
        with cluster_of(executor, jobs) as cluster:
            judged = _judged(judging, cluster, with_invalid=with_invalid, is_of_graphs=is_of_graphs)
            bench = partial(_bench, judging, cluster, jobs)
            sys.exit(_run(asked, judging, known, judged, bench))
    except Occupied as error:
        raise click.UsageError(f"-o: {error}") from None
    except Unavailable as error:
        raise click.UsageError(f"--implementation: {error}") from None
    except OSError as error:
        raise click.UsageError(f"-o: {error.filename or folder} cannot be written: {error.strerror or error}") from None


def _condition(text: str) -> Where:
    """Return a condition of `--where`; a usage error if it is none, or about nothing that an operator has."""
    found = Where.of(text)
    if found is None:
        raise click.UsageError(f"--where {text!r} is not NAME=VALUE, as in Direction=FORWARD or DataType=FLOAT16")
    known = {DATA_TYPE, *(name for operator in operator_names() for name in load_spec(operator).fields)}
    if found.name not in known:
        help = did_you_mean(found.name, sorted(known)) or "`dmlcheck show OPERATOR` lists its attributes"
        raise click.UsageError(f"--where: no operator has {found.name}; {help}")
    return found


def _meeting(names: list[str], where: list[Where]) -> list[str]:
    """Return the operators that can meet all conditions; a usage error if none can."""
    found = [name for name in names if all(one.is_for(name) for one in where)]
    if not found:
        asked = " and ".join(f"{one.name}={'|'.join(one.values)}" for one in where)
        raise click.UsageError(f"--where: none of the operators can have {asked}")
    return found


def _library(implementation: str) -> tuple[str, bool]:
    """Return the level of DirectML's own library, and whether it is only asked; of any other implementation neither."""
    if implementation.partition(":")[0] != "directml":
        return "", False
    with made(implementation) as library:
        return library.about.feature_level, not library.executes


def _check_executor(executor: str | None, jobs: int, *, is_of_graphs: bool) -> None:
    """Refuse workers for a campaign that cannot use them."""
    if executor is not None and is_of_graphs:
        raise click.UsageError("--executor is for descs; graphs run one after the other")
    if jobs > 1 and is_of_graphs:
        raise click.UsageError("-j is for descs; graphs run one after the other")


_VALIDATES = "what it has to do for that is in the guide, in implementations.md"


def _judged(judging: Judging, cluster: Cluster | None, *, with_invalid: bool, is_of_graphs: bool) -> str:
    """Return the implementation with its version and device; a usage error if it cannot do the request."""
    name = judging.implementation
    if cluster is not None:
        from dmlcheck.fuzzing.trials import validates_there

        said, refuses = (
            about_on(cluster, name, judging.directml_version),
            not with_invalid or cluster.ask(validates_there, name),
        )
    else:
        with made(name) as implementation:
            check_version(implementation, judging.directml_version)
            refuses = not with_invalid or implementation.validates
            if is_of_graphs:
                require_models(implementation)
                _require_onnx()
            said = implementation.about
    if not refuses:
        raise click.UsageError(f"--invalid: {name} does not say that it refuses descs; {_VALIDATES}")
    return f"{name} {said.version}".rstrip() + (f" ({said.device})" if said.device else "")


def _require_onnx() -> None:
    """Refuse to draw graphs without the package that makes models."""
    from dmlcheck.folders.export_folder import MissingRequirement
    from dmlcheck.onnx.exporter import require

    try:
        require()
    except MissingRequirement as error:
        raise click.UsageError(f"--graphs: {error}") from None


def _at_level(named: tuple[str, ...], level: str) -> list[str]:
    """Return the named operators, or all that a level has; a usage error for one that was named and is newer."""
    found = list(dict.fromkeys(name for given in named for name in operators_named(given))) or list(operator_names())
    newer = [name for name in found if LEVEL_ORDER[load_spec(name).introduced] > LEVEL_ORDER[level]]
    if newer and named:
        since = level_name(load_spec(newer[0]).introduced)
        raise click.UsageError(f"{newer[0]} is there from {since} on; --feature-level is {level_name(level)}")
    return [name for name in found if name not in newer]


def _run(
    asked: CampaignRequest, judging: Judging, known: KnownFindings, judged: str, bench: Callable[[], Bench]
) -> Exit:
    from dmlcheck.fuzzing.finding_files import FindingFiles
    from dmlcheck.reports.fuzzing import head_lines, progress_text, summary_lines

    console = Console()
    files = FindingFiles(known.folder)
    campaign = _campaign(asked, bench(), files, judging, known)
    tally = campaign.tally
    for line in head_lines(asked, judged):
        console.echo(line)
    with Interrupts() as interrupts, interrupts.held(), console.watching(lambda: progress_text(tally)):
        try:
            is_interrupted = _follow(campaign, console, interrupts)
        finally:
            files.close()
            campaign.bench.close()
    again = judging.command(known.folder) if tally.findings else ""
    for line in summary_lines(tally, known.counts, again=again, is_interrupted=is_interrupted):
        console.echo(line)
    if is_interrupted:
        return Exit.INTERRUPTED
    if tally.findings:
        return Exit.FAILED
    if not tally.compared:
        write("dmlcheck: nothing was compared", to_errors=True)
        return Exit.NOTHING_CHECKED
    return Exit.GOOD


def _bench(judging: Judging, cluster: Cluster | None, jobs: int) -> Bench:
    """Return the bench for the trials: on this machine, or on the workers of a cluster."""
    if cluster is not None:
        from dmlcheck.fuzzing.trials import BenchThere, Judge

        return BenchThere(cluster, Judge(judging.implementation, judging.settings, judging.most_seconds))
    from dmlcheck.fuzzing.trials import bench

    return bench(judging.implementation, judging.settings, judging.most_seconds, jobs)


def _follow(campaign: Campaign | GraphCampaign, console: Console, interrupts: Interrupts) -> bool:
    """Print the findings of a campaign as they are made, until it is over; return whether it was interrupted."""
    from dmlcheck.fuzzing.campaign import CampaignFinding
    from dmlcheck.reports.fuzzing import finding_lines

    try:
        for event in interrupts.through(campaign.events()):
            if isinstance(event, CampaignFinding):
                for line in finding_lines(event, console.style):
                    console.echo(line)
    except KeyboardInterrupt:
        return True
    return False


def _campaign(
    asked: CampaignRequest, judge: Bench, files: FindingFiles, judging: Judging, known: KnownFindings
) -> Campaign | GraphCampaign:
    if asked.is_of_graphs:
        from dmlcheck.fuzzing.graph_campaign import GraphCampaign

        return GraphCampaign(asked, judge, files, judging.settings, judging.most_seconds, known)
    from dmlcheck.fuzzing.campaign import Campaign

    return Campaign(asked, judge, files, known)
