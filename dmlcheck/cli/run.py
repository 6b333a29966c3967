"""`dmlcheck run`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dmlcheck.cli.console import Console
from dmlcheck.cli.ending import finish
from dmlcheck.cli.expectations import load
from dmlcheck.cli.implementations import (
    about_on,
    check_version,
    cluster_of,
    executor_option,
    implementation_option,
    made,
)
from dmlcheck.cli.interrupts import Interrupts
from dmlcheck.cli.options import (
    complete_files,
    completing,
    examples,
    judged_version_option,
    level_option,
    listed,
    select_option,
)
from dmlcheck.cli.reporters import ReportRequest, open_reporters, report_options
from dmlcheck.cli.run_models import (
    ModelOptions,
    cases_of,
    execution_of,
    judged_by,
    model_of,
    model_options,
    models_that_run,
    print_nodes,
)
from dmlcheck.cli.run_options import (
    Number,
    accumulate_option,
    algorithms_option,
    as_data_type,
    as_jobs,
    as_seconds,
    as_shard,
)
from dmlcheck.cli.selection import failed_before, print_ids, select, selector, targets
from dmlcheck.formats.find import Target
from dmlcheck.implementations import KINDS, require_models
from dmlcheck.implementations.protocol import About, Implementation
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.accuracy import Baseline, Watch
from dmlcheck.reports.outcome import Outcome
from dmlcheck.reports.records import Earlier, RunInfo
from dmlcheck.running.events import DEFAULT_TIMEOUT, Plan, Running, Selection
from dmlcheck.running.execution import Execution, usual_jobs
from dmlcheck.running.settings import EXPECTED_WITHIN, Settings
from dmlcheck.specs.names import DATA_TYPES

if TYPE_CHECKING:
    from dmlcheck.cli.exit_codes import Exit
    from dmlcheck.processes.cluster import Cluster
    from dmlcheck.running.expectations import Expectations

_CLOSE = 0.5  # the share of a bound above which a case that an implementation passes is named, without --warn-above

_NO_MODELS = "--against is for cases; run a model with each implementation, and compare the reports: dmlcheck compare"


class Options(NamedTuple):
    """The options of a run."""

    paths: tuple[str, ...]
    expression: str | None
    tags: tuple[str, ...]
    types: tuple[str, ...]
    failed: str | None
    only_last: bool
    is_listing: bool
    first_failure: bool
    max_failures: int | None
    level: str | None
    implementation: str
    against: str | None
    directml_version: str | None
    accumulate: str
    inputs_as: str
    algorithms: tuple[str, ...]
    strict: bool
    expected_within: float
    fail_on_skipped: bool
    retries: int
    fail_on_flaky: bool
    allow_no_results: bool
    jobs: int | None
    executor: str | None
    timeout: float
    shard: tuple[int, int] | None
    expected: str | None
    warn_above: float | None
    compare_to: str | None
    max_drift: float | None
    keep: str | None
    wanted: ReportRequest
    asked: ModelOptions

    @property
    def settings(self) -> Settings:
        """The settings of a run."""
        return Settings(
            feature_level=self.level,
            precision=Precision(self.accumulate.upper(), self.inputs_as.upper(), self.algorithms),
            is_strict=self.strict,
            expected_within=self.expected_within,
            directml_version=self.directml_version,
            keep=self.keep,
        )

    def plan(self) -> Plan:
        """Return the plan of a run; read the report of the run whose failures are asked for."""
        # Each of these may fail a case that passes, or is skipped.
        details = self.expected is not None or self.compare_to is not None or self.fail_on_skipped
        details = details or self.fail_on_flaky
        digests = self.wanted.files["json"] is not None
        timeout = self.timeout or None
        selection = Selection(self.expression, frozenset(self.tags), frozenset(self.types), self._failed())
        return Plan(
            self.implementation,
            self.settings,
            selection,
            shard=self.shard,
            timeout=timeout,
            details=details,
            digests=digests,
            retries=self.retries,
            against=self.against,
        )

    def _failed(self) -> frozenset[str] | None:
        """Return the ids of the cases that failed before, None for all cases."""
        if not self.only_last:
            return failed_before(self.failed)
        last = self.wanted.files["json"]
        if last is None or self.failed is not None:
            raise click.UsageError("--lf needs --json REPORT.json, which the last run wrote, and no --failed")
        return failed_before(last) if os.path.exists(last) else None

    @property
    def warned_above(self) -> float | None:
        """The share of a bound above which a passing case is named."""
        return _CLOSE if self.warn_above is None and self.implementation != "reference" else self.warn_above

    def info(self, said: About, earlier: Earlier | None, *, is_selected: bool) -> RunInfo:
        """Return the description of a run, with its implementation's description of itself."""
        return RunInfo(
            self.implementation,
            self.settings._replace(feature_level=self.level or said.feature_level or None),
            self.shard,
            version=said.version,
            device=said.device,
            warn_above=self.warned_above,
            compared_to=earlier,
            options=tuple(self._repeated()),
            is_selection=is_selected,
        )

    def _repeated(self) -> Iterator[str]:
        """Yield the options that the command for running a case again must have, with any outcome."""
        if self.level is not None:
            yield from ("--feature-level", self.level)
        if self.timeout != DEFAULT_TIMEOUT:
            yield from ("--timeout", f"{self.timeout:g}")
        if self.expected is not None:
            yield from ("--expectations", self.expected)
        if self.fail_on_skipped:
            yield "--fail-on-skipped"
        if self.retries:
            yield from ("--retries", str(self.retries))
        if self.fail_on_flaky:
            yield "--fail-on-flaky"
        if self.against is not None:
            yield from ("--against", self.against)
        yield from self.asked.words()


@click.command(
    epilog=listed("Implementations", {kind.spelling: kind.about for kind in KINDS.values()})
    + "\n\n"
    + examples(
        "run cases/ --json report.json",
        "run cases/sum.yaml::columns -v",
        'run -k "gemm and not float16" --implementation onnxruntime',
        "run cases/ --implementation python:my_module:MyEngine",
        "run model.onnx --implementation onnxruntime --dim batch=1",
        'run cases/ --implementation "command:./my_program --quiet"',
        "run cases/ --implementation directml --against onnxruntime",
    )
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=complete_files)
@select_option
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only cases with this tag, or one of several.")
@click.option(
    "--type",
    "types",
    type=as_data_type,
    multiple=True,
    metavar="TYPE",
    shell_complete=completing(lambda: DATA_TYPES),
    help="Only cases with a tensor of this data type, or one of several: FLOAT16.",
)
@click.option(
    "--failed",
    metavar="REPORT.json",
    shell_complete=complete_files,
    help="Only cases that failed in an earlier report.",
)
@click.option(
    "--lf",
    "only_last",
    is_flag=True,
    help="Only cases that failed in the last report that --json wrote; all where there is none.",
)
@click.option("--list", "is_listing", is_flag=True, help="Print the ids of the cases that would run, and run nothing.")
@click.option("-x", "first_failure", is_flag=True, help="Stop at the first failure.")
@click.option("--max-failures", "--maxfail", type=click.IntRange(min=1), metavar="N", help="Stop after N failures.")
@level_option
@implementation_option("The implementation under test, see below.")
@click.option(
    "--against",
    metavar="NAME",
    shell_complete=completing(lambda: KINDS),
    help="A second implementation: judge both, and say where they differ from each other.",
)
@judged_version_option
@accumulate_option
@algorithms_option
@click.option(
    "--strict",
    is_flag=True,
    help="Also fail cases whose errors are larger than rounding normally causes, that have elements without a limit, or"
    " that expect inaccurate values.",
)
@click.option(
    "--expected-within",
    type=Number(),
    metavar="ULP",
    default=EXPECTED_WITHIN,
    help="Name the cases that expect a float that is further from the exact result than this, and than its digits say. "
    "Default: 4.",
)
@click.option("--fail-on-skipped", is_flag=True, help="Fail cases that are skipped, unless an expectation allows it.")
@click.option(
    "--retries", type=click.IntRange(min=0), default=0, metavar="N", help="Run a case that fails up to N times more."
)
@click.option("--fail-on-flaky", is_flag=True, help="Fail cases that pass only when they run again.")
@click.option(
    "--allow-no-results",
    is_flag=True,
    help="Exit with 0, not 5, if no case has results to compare; descs are validated anyway.",
)
@click.option(
    "-j",
    "-n",
    "--jobs",
    type=as_jobs,
    metavar="N",
    help="Run in N processes; auto: one for each core. Default: auto if the reference has work for more than two "
    "seconds, else 1.",
)
@executor_option
@click.option(
    "--timeout",
    type=as_seconds,
    metavar="SECONDS",
    default=DEFAULT_TIMEOUT,
    help="The most seconds that a case may take; 0: any number. Default: 60.",
)
@click.option("--shard", type=as_shard, metavar="I/N", help="Run one of N parts of the cases.")
@click.option(
    "--expectations",
    "expected",
    metavar="FILE",
    shell_complete=complete_files,
    help="Known results of this implementation.",
)
@click.option(
    "--warn-above",
    type=Number(1),
    metavar="SHARE",
    help="Name the cases that pass with more than this share of their tolerance. Default: 0.5; the reference: 1.",
)
@click.option(
    "--compare-to",
    metavar="REPORT.json",
    shell_complete=complete_files,
    help="Name the cases that are less accurate than in an earlier report of this kind of implementation.",
)
@click.option(
    "--max-drift",
    type=Number(),
    metavar="X",
    help="With --compare-to: fail where the largest error of an output rose by more than X ULP (units for integers).",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, writable=True),
    metavar="DIR",
    help="Write a folder for each failed case: its case file, inputs, expected, allowed and actual values.",
)
@model_options
@report_options
def run(**given: Any) -> None:
    """Run the cases of files and folders, or one case as PATH::NAME, and report failures.

    Without a PATH it runs the cases that come with dmlcheck. An ONNX model is judged node by node.
    """
    options = Options(**given)
    selector(options.expression)
    if options.fail_on_flaky and not options.retries:
        raise click.UsageError("--fail-on-flaky needs --retries N: a case that runs once is never flaky")
    if options.against is not None and options.shard is not None:
        raise click.UsageError("--against takes no --shard: a whole run compares two implementations")
    plan = options.plan()
    model = model_of(options.paths, options.asked)
    if model is not None and options.against is not None:
        raise click.UsageError(_NO_MODELS)
    if model is not None and options.executor is not None:
        raise click.UsageError("--executor is for cases; the nodes of a model run one after the other")
    if options.is_listing and model is None:
        with _judged_by(options):
            pass
        sys.exit(print_ids(targets(options.paths), plan))
    with cluster_of(options.executor, options.jobs or 1) as cluster:
        sys.exit(_judged(options, plan, model, cluster))


def _judged(options: Options, plan: Plan, model: Target | None, cluster: Cluster | None) -> Exit:
    """Run the cases of the command line, or a model, and return how the command ends."""
    said = _about(options, cluster, is_for_models=model is not None)
    known = _known(options, options.implementation)
    baseline, earlier = _earlier(options)
    console = Console()
    found, models, single = _selected(options)
    read = (*(target.file for target in found), options.expected, options.compare_to, options.failed)
    inputs = [path for path in (*read, options.asked.inputs) if path]
    against = _other(options.against, cluster)
    models = models_that_run(models, plan, is_elsewhere=cluster is not None)
    execution = _run_of(options, plan, model or found, models, cluster)
    if options.is_listing:
        return print_nodes(execution)
    info = options.info(said, earlier, is_selected=not plan.selection.is_all)
    info = info._replace(against=against, model="" if model is None else judged_by(execution))
    with Interrupts() as interrupts:
        reporters = open_reporters(console, options.wanted, info, inputs, lambda: execution.total)
        with interrupts.held():
            outcome = Outcome(
                reporters,
                known=known,
                known_against=_known(options, options.against),
                watch=Watch(options.warned_above, baseline),
                max_failures=1 if options.first_failure else options.max_failures,
                is_shard=options.shard is not None,
                fails_skipped=options.fail_on_skipped,
                fails_flaky=options.fail_on_flaky,
                is_of_reference=info.is_of_reference,
                single=single,
                files=[*found, *models],
                total=lambda: execution.total,
            )
            _follow(execution, outcome, console, interrupts)
            code = finish(outcome, cases_of(execution), allows_no_results=options.allow_no_results)
    return code


def _run_of(
    options: Options, plan: Plan, asked: Target | list[Target], models: list[Target], cluster: Cluster | None
) -> Any:
    """Return a run of a model, or of the cases of files and then of the models of findings."""
    if isinstance(asked, Target):
        return execution_of(asked, plan, options.asked, is_listing=options.is_listing)
    if cluster is not None:
        from dmlcheck.running.batches import Batches

        return Execution(asked, plan, executor=Batches(asked, plan, cluster))
    cases = Execution(asked, plan, options.jobs or usual_jobs(asked, plan))
    if not models:
        return cases
    from dmlcheck.models.run import WithModels

    return WithModels(cases, models, plan)


def _about(options: Options, cluster: Cluster | None = None, *, is_for_models: bool = False) -> About:
    """Return an implementation's description of itself; refuse one that cannot be judged before anything runs."""
    if cluster is not None:
        return about_on(cluster, options.implementation, options.directml_version)
    with _judged_by(options, is_for_models=is_for_models) as implementation:
        return implementation.about


def _selected(options: Options) -> tuple[list[Target], list[Target], dict[str, str]]:
    """Return the files of cases, the models of findings, and the single cases that the command line names."""
    found, models, single, _ = select(options.paths)
    if models and options.against is not None:
        raise click.UsageError(_NO_MODELS)
    return found, models, single


def _other(name: str | None, cluster: Cluster | None) -> RunInfo | None:
    """Return the description that the second implementation gives of itself, None without one."""
    if name is None:
        return None
    if cluster is not None:
        said = about_on(cluster, name, None, option="--against")
    else:
        with made(name, option="--against") as implementation:
            said = implementation.about
    return RunInfo(name, version=said.version, device=said.device)


def _known(options: Options, implementation: str | None) -> Expectations | None:
    """Return the known results of an implementation, None without any."""
    if options.expected is None or implementation is None:
        return None
    return load(options.expected, implementation, options.level)


@contextmanager
def _judged_by(options: Options, *, is_for_models: bool = False) -> Iterator[Implementation]:
    """Yield the implementation under test; refuse one that cannot be judged."""
    with made(options.implementation) as implementation:
        check_version(implementation, options.directml_version)
        if is_for_models:
            require_models(implementation)
        yield implementation


def _earlier(options: Options) -> tuple[Baseline | None, Earlier | None]:
    """Read the report of the earlier run; a report of another kind of run is refused."""
    path, max_drift = options.compare_to, options.max_drift
    if path is None:
        if max_drift is not None:
            raise click.UsageError("--max-drift needs an earlier report: name it with --compare-to REPORT.json")
        return None, None
    from dmlcheck.reports.reading import ReportError, read_errors

    try:
        report, errors = read_errors(path)
    except ReportError as error:
        raise click.UsageError(f"--compare-to: {error}") from None
    _check_alike(path, report, options)
    version = report.get("implementation_version")
    version = version if isinstance(version, str) else None
    return Baseline(errors, max_drift), Earlier(path, version, max_drift, report["implementation"])


def _check_alike(path: str, report: dict[str, Any], options: Options) -> None:
    """Refuse a report of another kind of implementation, or of other types to compute in."""
    kinds = tuple(name.partition(":")[0] for name in (report["implementation"], options.implementation))
    accumulate = report.get("accumulate", options.accumulate), options.accumulate
    inputs = report.get("inputs", "float32"), options.inputs_as
    for key, (then, now) in {"implementation": kinds, "accumulate": accumulate, "input-precision": inputs}.items():
        if then != now:
            raise click.UsageError(f"--compare-to {path}: a report with --{key} {then}; this run has {now}")


def _follow(execution: Running, outcome: Outcome, console: Console, interrupts: Interrupts) -> None:
    """Pass the events of a run to an outcome, until the run is over or interrupted."""
    events = execution.events()
    with console.progress(execution, outcome.tally):
        try:
            for event in interrupts.through(events):
                outcome.take(event)
                if outcome.is_over:
                    break
        except KeyboardInterrupt:
            outcome.is_interrupted = True
            outcome.running = execution.slowest()
