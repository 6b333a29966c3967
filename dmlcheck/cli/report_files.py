"""Which reports a command writes, and what becomes of them at its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

import click

from dmlcheck.cases.find import real_path
from dmlcheck.cli.console import write
from dmlcheck.reports.records import Reporter, RunInfo, Summary
from dmlcheck.running.results import CaseResult

Again = Callable[[CaseResult], str]

# The option, the module with the reporter, and what the option is for.
_REPORTS = {
    "junitxml": ("junit", "JunitReport", "Write JUnit XML."),
    "html": ("html.report", "HtmlReport", "Write one self-contained HTML file."),
    "sarif": ("sarif", "SarifReport", "Write SARIF 2.1.0."),
}


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name report files to a command."""
    for name, (_, _, help) in reversed(_REPORTS.items()):
        command = click.option(f"--{name}", metavar="FILE", help=help)(command)
    return command


def open_reports(
    files: Mapping[str, str | None], info: RunInfo, again: Again, inputs: Iterable[str] = ()
) -> list[Reporter]:
    """Open the reports that were asked for, each before anything runs; a usage error where one cannot be written.

    None may take the place of a file that the command reads, or of another report. `again` gives the command that runs
    a case again.
    """
    opened: list[Reporter] = []
    taken = {real_path(path): f"{path} is read by this command" for path in inputs}
    try:
        for name, path in files.items():
            if path is not None:
                opened.append(_open(name, path, info, again, taken))
    except click.UsageError:
        for reporter in opened:
            reporter.file.give_up(OSError("another report cannot be written"))  # type: ignore[attr-defined]
        raise
    return opened


def _open(name: str, path: str, info: RunInfo, again: Again, taken: dict[str, str]) -> Reporter:
    """Open one report whose place nobody else has."""
    real = real_path(path)
    if path and real in taken and (not os.path.exists(path) or os.path.isfile(path)):
        raise click.UsageError(f"--{name} {path}: {taken[real]}")
    taken[real] = f"--{name} is written there"
    module, reporter, _ = _REPORTS.get(name, ("json", "JsonReport", ""))
    more = {"again": again} if name in ("junitxml", "html") else {}
    try:
        made: Reporter = getattr(import_module(f"dmlcheck.reports.{module}"), reporter)(path, info, **more)
    except OSError as error:
        raise click.UsageError(f"--{name} {path}: {error.strerror or error}") from None
    return made


def github_report(again: Again) -> list[Reporter]:
    """Return the annotations and the job summary of a GitHub workflow, where this is one."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return []
    from dmlcheck.reports.github import GithubReport

    return [GithubReport(write, os.environ.get("GITHUB_STEP_SUMMARY") or None, again=again)]


def finish_reports(reporters: list[Reporter], summary: Summary) -> bool:
    """Finish every report, whatever becomes of the others, and say whether all of them could be written."""
    is_written = True
    for reporter in reporters:
        reporter.finish(summary)
        problem = getattr(getattr(reporter, "file", None), "problem", None)
        if problem is not None:
            write(f"dmlcheck: the report could not be written: {problem}", to_errors=True)
            is_written = False
    return is_written


def options_of(info: RunInfo, result: CaseResult) -> tuple[str, ...]:
    """Return the options of a run that what became of a case depends on."""
    options = []
    if info.implementation != "reference":
        options += ["--implementation", info.implementation]
    if info.accumulate != "FLOAT32":
        options += ["--accumulate", info.accumulate.lower()]
    if info.compared_to is not None and result.drift:
        drift = info.compared_to.max_drift
        options += ["--compare-to", info.compared_to.file, *([] if drift is None else ["--max-drift", f"{drift:g}"])]
    return tuple(options)


def again(result: CaseResult, options: tuple[str, ...] = ()) -> str:
    """Return the command that runs one case again, with the options that what became of it depends on."""
    case = result.case
    target = case.file if result.is_malformed else f"{case.file}::{case.name}"
    words = [*options, *(["--"] if target.startswith("-") else []), target]
    if sys.platform == "win32":
        import subprocess

        return f"dmlcheck run {subprocess.list2cmdline(words)}"
    import shlex

    return f"dmlcheck run {shlex.join(words)}"
