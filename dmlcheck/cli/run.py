"""`dmlcheck run`."""

from __future__ import annotations

import math
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dmlcheck.cli.console import Console, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.expectations import load
from dmlcheck.cli.options import level_option, select_option
from dmlcheck.cli.report_files import again, finish_reports, github_report, open_reports, options_of, report_options
from dmlcheck.cli.selection import selector, targets
from dmlcheck.implementations import About, Unavailable, about, close, make, spellings
from dmlcheck.reports.records import Earlier, Reporter, RunInfo, Summary
from dmlcheck.reports.text import TextReport
from dmlcheck.running.accuracy import Baseline, Watch
from dmlcheck.running.events import Done, Ended, Event, Other, Plan, digest_of
from dmlcheck.running.expectations import Expectations, UnmatchedEntries, expected_result
from dmlcheck.running.one_case import Settings
from dmlcheck.running.processes import Execution
from dmlcheck.running.results import OUTCOMES, CaseResult
from dmlcheck.values import memory

if TYPE_CHECKING:
    from typing_extensions import Self


class Jobs(click.ParamType):  # type: ignore[type-arg]
    """A number of processes, or `auto`."""

    name = "jobs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        if value == "auto":
            return memory.cores()
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"{value!r} is not a number of processes; write 1 or more, or auto", param, ctx)
        return number


class Shard(click.ParamType):  # type: ignore[type-arg]
    """A part of a case set: `2/5`."""

    name = "shard"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return its number and how many there are."""
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", str(value), re.ASCII)
        index, count = (int(found[1]), int(found[2])) if found else (0, 0)
        if 1 <= index <= count:
            return index, count
        return self.fail(f"{value!r} is not a shard; write 1/3, 2/3 or 3/3 for three", param, ctx)


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """A time above 0; one of more than a week, which no case takes and no system waits for at once, is a week."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds."""
        seconds = float(click.FLOAT.convert(value, param, ctx))
        if seconds > 0:
            return min(seconds, _WEEK)
        return self.fail(f"{value!r} is not a time; write a number of seconds above 0", param, ctx)


_WEEK = 7 * 24 * 3600.0


class Number(click.FloatRange):
    """A number from 0 on; neither infinite nor NaN, which no comparison would ever reach."""

    name = "number"

    def __init__(self, most: float | None = None) -> None:
        """Take numbers up to `most`."""
        super().__init__(min=0, max=most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a finite number", param, ctx)


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@select_option
@click.option("-x", "first_failure", is_flag=True, help="Stop at the first failure.")
@click.option("--max-failures", type=click.IntRange(min=1), metavar="N", help="Stop after N failures.")
@level_option
@click.option(
    "--implementation",
    default="reference",
    metavar="NAME",
    show_default=True,
    help=f"What to judge: {spellings()}.",
)
@click.option(
    "--accumulate",
    type=click.Choice(["float16", "float32"]),
    default="float32",
    show_default=True,
    help="The type that an implementation may accumulate in.",
)
@click.option("-j", "--jobs", type=Jobs(), default=1, metavar="N", help="Run in N processes; auto: one a core.")
@click.option("--timeout", type=Seconds(), metavar="SECONDS", help="Limit each case.")
@click.option("--shard", type=Shard(), metavar="I/N", help="Run one of N parts of the cases.")
@click.option("--expectations", "expected", metavar="FILE", help="Known results of this implementation.")
@click.option(
    "--warn-above",
    type=Number(1),
    metavar="SHARE",
    help="Name the cases that pass with more than this share of their bound: 0.5, but for the reference; 1 names none.",
)
@click.option(
    "--compare-to",
    metavar="REPORT.json",
    help="Name the cases that are less accurate than in an earlier report of this kind of implementation.",
)
@click.option(
    "--max-drift",
    type=Number(),
    metavar="X",
    help="With --compare-to: fail where the largest error of an output rose by more than X ULP (units for integers).",
)
@click.option("--json", "json_file", metavar="FILE", help="Write a dmlcheck-report/1 file.")
@report_options
@click.option("-q", "--quiet", is_flag=True, help="Print failures and the last line only.")
@click.option("-v", "--verbose", count=True, help="Print every case.")
def run(
    *,
    paths: tuple[str, ...],
    expression: str | None,
    first_failure: bool,
    max_failures: int | None,
    level: str | None,
    implementation: str,
    accumulate: str,
    jobs: int,
    timeout: float | None,
    shard: tuple[int, int] | None,
    expected: str | None,
    warn_above: float | None,
    compare_to: str | None,
    max_drift: float | None,
    json_file: str | None,
    quiet: bool,
    verbose: int,
    **files: str | None,
) -> None:
    """Run the cases of files and folders, or one as PATH::NAME, and report what fails; the bundled ones by default."""
    selector(expression)
    said = _try(implementation)
    details = expected is not None or compare_to is not None  # which may make a case that passes a failure
    plan = Plan(implementation, Settings(level, accumulate.upper()), expression, shard, timeout, details)
    known = None if expected is None else load(expected, plan.implementation, level)
    if warn_above is None and plan.implementation != "reference":
        warn_above = _CLOSE
    baseline, earlier = _earlier(compare_to, max_drift, plan)
    console = Console()
    info = RunInfo(
        plan.implementation,
        level,
        shard,
        said.version,
        said.device,
        plan.settings.accumulate,
        warn_above,
        earlier,
    )

    def repeat(result: CaseResult) -> str:
        return again(result, options_of(info, result))

    text = TextReport(
        console.echo,
        style=console.style,
        verbose=-1 if quiet else verbose,
        again=repeat,
        table=console.table,
        is_reference=implementation == "reference",
        earlier=earlier,
    )
    found = targets(paths)
    inputs = [*(target.file for target in found), *(path for path in (expected, compare_to) if path is not None)]
    reporters = [text, *open_reports({"json": json_file, **files}, info, repeat, inputs), *github_report(repeat)]
    outcome = _Outcome(reporters, 1 if first_failure else max_failures, known, shard, Watch(warn_above, baseline))
    execution = Execution(found, plan, jobs)
    with console.progress(execution, outcome), _Interrupts() as interrupts:
        try:
            for event in execution.events():
                with interrupts.held():
                    outcome.take(event)
                if outcome.is_over:
                    break
        except KeyboardInterrupt:
            outcome.interrupted = True
    code = outcome.finish()
    if outcome.seen == 0:
        for target in found:
            if target.case is not None:
                write(f"dmlcheck: {target.name} has no case {target.case}", to_errors=True)
    sys.exit(code)


def _earlier(path: str | None, max_drift: float | None, plan: Plan) -> tuple[Baseline | None, Earlier | None]:
    """Read the report that a run is compared with; one that says nothing of this run is refused."""
    if path is None:
        if max_drift is not None:
            raise click.UsageError("--max-drift: from what? name an earlier report with --compare-to REPORT.json")
        return None, None
    from dmlcheck.reports.reading import ReportError, read_errors

    try:
        report, errors = read_errors(path)
    except ReportError as error:
        raise click.UsageError(f"--compare-to: {error}") from None
    kinds = tuple(name.partition(":")[0] for name in (report["implementation"], plan.implementation))
    accumulate = plan.settings.accumulate.lower()
    alike = (("implementation", *kinds), ("accumulate", report.get("accumulate", accumulate), accumulate))
    for key, then, now in alike:
        if then != now:
            raise click.UsageError(f"--compare-to {path}: a report with --{key} {then}; this run has {now}")
    version = report.get("implementation_version")
    return Baseline(errors, max_drift), Earlier(
        path, version if isinstance(version, str) else None, max_drift, report["implementation"]
    )


def _try(name: str) -> About:
    """Return what an implementation says of itself; one that cannot be made is refused before anything runs."""
    try:
        implementation = make(name)
        said = about(implementation)
        close(implementation)
    except Unavailable as error:
        raise click.UsageError(f"--implementation: {error}") from None
    return said


class _Interrupts:
    """Interrupts that wait while a result is on its way into the reports, so that all of them tell the same."""

    def __init__(self) -> None:
        self.is_held = False
        self.is_pending = False
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self.before = {number: signal.signal(number, self._interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _interrupt(self, *_: object) -> None:
        if not self.is_held:
            raise KeyboardInterrupt
        self.is_pending = True

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let interrupts wait until the end of the block."""
        self.is_held = True
        yield
        self.is_held = False
        if self.is_pending:
            raise KeyboardInterrupt


_CLOSE = 0.5  # the share of a bound above which a case that an implementation passes is named, without --warn-above
_NONE_OF_THESE = "the earlier report has none of these cases; ids begin with the path as the command line gives it"


class _Outcome:
    """The results of a run as they come in, passed on to the reporters, and the exit code that they add up to."""

    def __init__(
        self,
        reporters: list[Reporter],
        max_failures: int | None,
        known: Expectations | None,
        shard: tuple[int, int] | None,
        watch: Watch,
    ) -> None:
        self.reporters = reporters
        self.max_failures = max_failures
        self.known = known
        self.unmatched = UnmatchedEntries(known) if known is not None else None
        self.shard = shard
        self.watch = watch
        self.warned = self.worse = self.drifted = 0
        self.counts = dict.fromkeys(OUTCOMES, 0)
        self.digests: list[bytes] = []
        self.seen = 0
        self.files = 0
        self.start = time.perf_counter()
        self.has_wrong_file = False
        self.interrupted = False

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def failures(self) -> int:
        return self.counts["failed"] + self.counts["error"] + self.counts["xpassed"] + self.drifted

    @property
    def is_over(self) -> bool:
        return self.max_failures is not None and self.failures >= self.max_failures

    def take(self, event: Event) -> None:
        if isinstance(event, Done):
            self.add(event.result)
        elif isinstance(event, Other):
            self.seen += 1
            if self.unmatched is not None:
                self.unmatched.see(event.id)
        elif isinstance(event, Ended):
            self.digests.append(event.digest)
            self.files += 1

    def add(self, result: CaseResult) -> None:
        if self.unmatched is not None and self.known is not None:
            self.unmatched.see(result.case.id)
            result = expected_result(result, self.known.of(result.case.id))
        result = self.watch.judged(result)
        self.warned += bool(result.warned)
        self.worse += bool(result.drift)
        self.drifted += result.has_drifted
        if self.shard is not None:
            result = result._replace(ordinal=self.seen)
        self.seen += 1
        self.counts[result.outcome] += 1
        self.has_wrong_file = self.has_wrong_file or result.is_malformed
        for reporter in self.reporters:
            reporter.case(result)

    def finish(self) -> Exit:
        is_whole = not self.interrupted and not self.is_over
        digest = digest_of(self.digests) if is_whole else None
        compared = self.watch.compared if self.watch.baseline is not None else None
        summary = Summary(
            self.counts,
            time.perf_counter() - self.start,
            self.interrupted,
            digest,
            self.warned,
            self.worse,
            self.drifted,
            compared,
        )
        is_written = finish_reports(self.reporters, summary)
        if self.interrupted:
            return Exit.INTERRUPTED
        stale = self.unmatched.problems() if self.unmatched is not None and is_whole else []
        if stale and self.known is not None:
            Console().problems(stale, self.known.document)
        is_vain = is_whole and self.shard is None and compared is not None and not compared.cases and compared.new > 0
        if is_vain:
            write(f"dmlcheck: --compare-to: {_NONE_OF_THESE}", to_errors=True)
        if self.has_wrong_file or stale or is_vain or not is_written:
            return Exit.WRONG_INPUT
        if self.failures:
            return Exit.FAILED
        return Exit.GOOD if self.total else Exit.NOTHING_COLLECTED
