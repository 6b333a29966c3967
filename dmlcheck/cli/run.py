"""`dmlcheck run`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dmlcheck.cases import CaseFile, Origin
from dmlcheck.cli import Exit, level_option, select_option
from dmlcheck.cli.console import Console, write
from dmlcheck.cli.selecting import Target, selector, targets
from dmlcheck.collect import read_file
from dmlcheck.implementations import Implementation
from dmlcheck.model import ERRORED, OUTCOMES, Case, CaseResult
from dmlcheck.reports import Reporter, RunInfo, Summary
from dmlcheck.reports.text import TextReport
from dmlcheck.runner import Settings, run_case

if TYPE_CHECKING:
    from typing_extensions import Self


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@select_option
@click.option("-x", "first_failure", is_flag=True, help="Stop at the first failure.")
@click.option("--max-failures", type=click.IntRange(min=1), metavar="N", help="Stop after N failures.")
@level_option
@click.option(
    "--accumulate",
    type=click.Choice(["float16", "float32"]),
    default="float32",
    show_default=True,
    help="The type that an implementation may accumulate in.",
)
@click.option("--json", "json_file", metavar="FILE", help="Write a dmlcheck-report/1 file.")
@click.option("-v", "--verbose", count=True, help="Print every case.")
def run(
    *,
    paths: tuple[str, ...],
    expression: str | None,
    first_failure: bool,
    max_failures: int | None,
    level: str | None,
    accumulate: str,
    json_file: str | None,
    verbose: int,
) -> None:
    """Run the cases of files and folders, or one as PATH::NAME, and report what fails; the bundled ones by default."""
    from dmlcheck.implementations.reference import Reference

    selected = selector(expression)
    files = targets(paths)
    implementation = Reference()
    console = Console()
    options = ("--accumulate", accumulate) if accumulate != "float32" else ()

    def again(result: CaseResult) -> str:
        return _again(result, options)

    reporters: list[Reporter] = [
        TextReport(console.echo, style=console.style, verbose=verbose, again=again, table=console.table)
    ]
    if json_file is not None:
        reporters.append(_open_json(json_file, RunInfo(implementation.name, level)))
    outcome = _Outcome(reporters, 1 if first_failure else max_failures)
    settings = Settings(level, accumulate.upper())
    with console.progress(len(files)) as advance, _Interrupts() as interrupts:
        try:
            for target in files:
                for result in _results(target, implementation, settings, selected):
                    with interrupts.held():
                        outcome.add(result)
                    if outcome.is_over:
                        break
                advance(outcome.total)
                if outcome.is_over:
                    break
        except KeyboardInterrupt:
            outcome.interrupted = True
    sys.exit(outcome.finish())


class _Interrupts:
    """Interrupts that wait while a result is on its way into the reports, so that all of them tell the same."""

    def __init__(self) -> None:
        self.is_held = False
        self.is_pending = False
        self.before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)

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


class _Outcome:
    """The results of a run as they come in, passed on to the reporters, and the exit code that they add up to."""

    def __init__(self, reporters: list[Reporter], max_failures: int | None) -> None:
        self.reporters = reporters
        self.max_failures = max_failures
        self.counts = dict.fromkeys(OUTCOMES, 0)
        self.start = time.perf_counter()
        self.has_wrong_file = False
        self.interrupted = False

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def failures(self) -> int:
        return self.counts["failed"] + self.counts["error"] + self.counts["xpassed"]

    @property
    def is_over(self) -> bool:
        return self.max_failures is not None and self.failures >= self.max_failures

    def add(self, result: CaseResult) -> None:
        self.counts[result.outcome] += 1
        self.has_wrong_file = self.has_wrong_file or result.is_malformed
        for reporter in self.reporters:
            reporter.case(result)

    def finish(self) -> Exit:
        summary = Summary(self.counts, time.perf_counter() - self.start, self.interrupted)
        unwritten = False
        for reporter in self.reporters:
            reporter.finish(summary)
            problem = getattr(getattr(reporter, "file", None), "problem", None)
            if problem is not None:
                write(f"dmlcheck: the report could not be written: {problem}", to_errors=True)
                unwritten = True
        if self.interrupted:
            return Exit.INTERRUPTED
        if self.has_wrong_file or unwritten:
            return Exit.WRONG_INPUT
        if self.failures:
            return Exit.FAILED
        return Exit.GOOD if self.total else Exit.NOTHING_COLLECTED


def _results(
    target: Target, implementation: Implementation, settings: Settings, selected: Callable[[str], bool]
) -> Iterator[CaseResult]:
    """Run the selected cases of a file; a file that is wrong as a whole is one result, and none of its cases runs."""
    file = read_file(target.file, target.name)
    if file.problems:
        problems = (*file.problems, *(problem for found in file.broken.values() for problem in found))
        yield CaseResult(_as_case(file), ERRORED, "the file cannot be used", problems, is_malformed=True)
        return
    for case in file.cases:
        if selected(case.id) and target.case in (None, case.name):
            broken = file.broken.get(case.id)
            if broken is None:
                yield run_case(case, implementation, settings)
            else:
                level = case.feature_level
                yield CaseResult(case, ERRORED, "not a well-formed case", broken, level=level, is_malformed=True)


def _as_case(file: CaseFile) -> Case:
    """Return what stands in reports for a file whose cases cannot be read."""
    name = file.document.name
    return Case(
        id=name,
        name=os.path.basename(name),
        file=name,
        operator="",
        feature_level=None,
        desc={},
        inputs=None,
        outputs=None,
        invalid=None,
        tolerance=None,
        source=None,
        tags=(),
        note=None,
        origin=Origin(file.document, ((),)),
    )


def _open_json(path: str, info: RunInfo) -> Reporter:
    from dmlcheck.reports.json import JsonReport

    try:
        return JsonReport(path, info)
    except OSError as error:
        raise click.UsageError(f"--json {path}: {error.strerror or error}") from None


def _again(result: CaseResult, options: tuple[str, ...]) -> str:
    """Return the command that runs one case again, with the options that what became of it depends on."""
    case = result.case
    target = case.file if result.is_malformed else f"{case.file}::{case.name}"
    words = [*options, *(["--"] if target.startswith("-") else []), target]
    if os.name == "nt":
        import subprocess

        return f"dmlcheck run {subprocess.list2cmdline(words)}"
    import shlex

    return f"dmlcheck run {shlex.join(words)}"
