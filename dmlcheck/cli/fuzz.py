"""`dmlcheck fuzz`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from dmlcheck.cli.console import Console, write
from dmlcheck.cli.executors import about_on, cluster_of, executor_option
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.expectations import load
from dmlcheck.cli.implementations import made
from dmlcheck.cli.interrupts import Interrupts
from dmlcheck.cli.judging import Judging, judging_options, require_extra
from dmlcheck.cli.model_options import rounding_option
from dmlcheck.cli.operators import complete_operators, operators_named
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.cli.run_options import Jobs, Seconds
from dmlcheck.folders.export_folder import Occupied, check
from dmlcheck.implementations import Unavailable, about, executes, require_models, validates
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER, NEWEST_LEVEL, level_name

if TYPE_CHECKING:
    from dmlcheck.running.campaign import Campaign, CampaignRequest
    from dmlcheck.running.cluster import Cluster
    from dmlcheck.running.finding_files import FindingFiles
    from dmlcheck.running.graph_campaign import GraphCampaign
    from dmlcheck.running.known_findings import KnownFindings
    from dmlcheck.running.trials import Bench

_SECONDS = 60.0  # where neither --seconds nor --examples says when to stop


@click.command(
    epilog=examples(
        "fuzz --implementation onnxruntime",
        "fuzz GEMM LSTM --implementation python:my_module:MyEngine -o found",
        'fuzz --implementation "command:./my_program" --seconds 60 --invalid',
    )
)
@click.argument("operators", nargs=-1, metavar="[OPERATOR]...", shell_complete=complete_operators)
@click.option("--seconds", type=Seconds(), metavar="N", help="Draw for N seconds. Default: 60, without --examples.")
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
@click.option("-j", "--jobs", type=Jobs(), default=1, metavar="N", help="With --executor dask: the processes here.")
@rounding_option
@judging_options
def fuzz(
    *,
    operators: tuple[str, ...],
    seconds: float | None,
    examples: int | None,
    seed: int,
    folder: str,
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
    from dmlcheck.running.campaign import CampaignRequest
    from dmlcheck.running.known_findings import KnownFindings

    own_level, is_only_asked = _library(judging.implementation)
    level = judging.level or own_level or NEWEST_LEVEL
    names = [name for given in operators for name in operators_named(given)] or list(operator_names())
    names = _at_level(names, level, is_named=bool(operators))
    if with_invalid + is_of_graphs + is_exhaustive > 1:
        raise click.UsageError("--invalid, --graphs and --exhaustive are campaigns of their own; choose one")
    _check_executor(executor, jobs, is_of_graphs=is_of_graphs)
    if seconds is None and examples is None and not is_exhaustive:
        seconds = _SECONDS
    asked = CampaignRequest(
        names, judging.implementation, seed, examples, seconds or None, level, with_invalid, is_exhaustive, is_of_graphs
    )
    asked = asked._replace(is_of_descs=is_only_asked)
    if judging.implementation == "reference":
        write("dmlcheck: the reference engine would be compared with itself; name an implementation", to_errors=True)
        sys.exit(Exit.NOTHING_CHECKED)
    known = KnownFindings(None if expected is None else load(expected, judging.implementation, judging.level), folder)
    try:
        check(folder, "findings")
        with cluster_of(executor, jobs) as cluster:
            judged = _judged(judging, cluster, with_invalid=with_invalid, is_of_graphs=is_of_graphs)
            sys.exit(_run(asked, judging, known, judged, cluster))
    except Occupied as error:
        raise click.UsageError(f"-o: {error}") from None
    except Unavailable as error:
        raise click.UsageError(f"--implementation: {error}") from None
    except OSError as error:
        raise click.UsageError(f"-o: {error.filename or folder} cannot be written: {error.strerror or error}") from None


def _library(implementation: str) -> tuple[str, bool]:
    """Return the level of DirectML's own library, and whether it is only asked; of any other implementation neither."""
    if implementation.partition(":")[0] != "directml":
        return "", False
    with made(implementation) as library:
        return about(library).feature_level, not executes(library)


def _check_executor(executor: str | None, jobs: int, *, is_of_graphs: bool) -> None:
    """Refuse workers for a campaign that cannot use them."""
    if executor is not None and is_of_graphs:
        raise click.UsageError("--executor is for descs; graphs run one after the other")
    if executor is None and jobs > 1:
        raise click.UsageError("-j is for --executor dask")


_VALIDATES = "what it has to do for that is in the guide, in implementations.md"


def _judged(judging: Judging, cluster: Cluster | None, *, with_invalid: bool, is_of_graphs: bool) -> str:
    """Return the implementation with its version and device; a usage error if it cannot do the request."""
    name = judging.implementation
    if cluster is not None:
        from dmlcheck.running.trials_there import validates_there

        said, refuses = about_on(cluster, name, None), not with_invalid or cluster.ask(validates_there, name)
    else:
        with made(name) as implementation:
            refuses = not with_invalid or validates(implementation)
            if is_of_graphs:
                require_models(implementation)
                _require_onnx()
            said = about(implementation)
    if not refuses:
        raise click.UsageError(f"--invalid: {name} does not say that it refuses descs; {_VALIDATES}")
    return f"{name} {said.version}".rstrip() + (f" ({said.device})" if said.device else "")


def _require_onnx() -> None:
    """Refuse to draw graphs without the package that makes models."""
    from dmlcheck.folders.exporting import MissingRequirement
    from dmlcheck.onnx.exporter import require

    try:
        require()
    except MissingRequirement as error:
        raise click.UsageError(f"--graphs: {error}") from None


def _at_level(names: list[str], level: str, *, is_named: bool) -> list[str]:
    """Return the operators that a level has; a usage error for one that was named and is newer."""
    found = list(dict.fromkeys(names))
    newer = [name for name in found if LEVEL_ORDER[load_spec(name).introduced] > LEVEL_ORDER[level]]
    if newer and is_named:
        since = level_name(load_spec(newer[0]).introduced)
        raise click.UsageError(f"{newer[0]} is there from {since} on; --feature-level is {level_name(level)}")
    return [name for name in found if name not in newer]


def _run(asked: CampaignRequest, judging: Judging, known: KnownFindings, judged: str, cluster: Cluster | None) -> Exit:
    """Run a campaign and print its findings and its end."""
    from dmlcheck.reports.fuzzing import head_lines, progress_text, summary_lines
    from dmlcheck.running.finding_files import FindingFiles

    console = Console()
    files = FindingFiles(known.folder)
    campaign = _campaign(asked, _bench(judging, cluster), files, judging, known)
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


def _bench(judging: Judging, cluster: Cluster | None) -> Bench:
    """Return the bench for the trials: on this machine, or on the workers of a cluster."""
    if cluster is not None:
        from dmlcheck.running.trials_there import BenchThere, Judge

        return BenchThere(cluster, Judge(judging.implementation, judging.settings, judging.most_seconds))
    from dmlcheck.running.trials import bench

    return bench(judging.implementation, judging.settings, judging.most_seconds)


def _follow(campaign: Campaign | GraphCampaign, console: Console, interrupts: Interrupts) -> bool:
    """Print the findings of a campaign as they are made, until it is over; return whether it was interrupted."""
    from dmlcheck.reports.fuzzing import finding_lines
    from dmlcheck.running.campaign import CampaignFinding

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
        from dmlcheck.running.graph_campaign import GraphCampaign

        return GraphCampaign(asked, judge, files, judging.settings, judging.most_seconds, known)
    from dmlcheck.running.campaign import Campaign

    return Campaign(asked, judge, files, known)
