"""The reports that a command writes, and their end."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from importlib import import_module
from typing import Any, NamedTuple

import click

from dmlcheck.cli.console import Console, say, write_command
from dmlcheck.cli.options import colour_option, complete_files
from dmlcheck.formats.find import real_path
from dmlcheck.reports.failure import Again, again
from dmlcheck.reports.files import JSON_HEAD, is_replaceable
from dmlcheck.reports.records import Reporter, RunInfo, Summary
from dmlcheck.reports.text import ConciseReport, TextReport


class ReportKind(NamedTuple):
    """A kind of report in a file: its module and class, the help of its option, and the pattern of an earlier one."""

    module: str
    reporter: str
    help: str
    earlier: bytes
    tells_again: bool = False


_JUNIT = rb"\A\s*(<\?xml[^>]*>)?\s*<testsuite"
_KINDS = {
    "json": ReportKind("json", "JsonReport", "Write a dmlcheck-report/1 file.", JSON_HEAD, tells_again=True),
    "junitxml": ReportKind("junit", "JunitReport", "Write JUnit XML.", _JUNIT, tells_again=True),
    "html": ReportKind(
        "html.report",
        "HtmlReport",
        "Write one self-contained HTML file.",
        rb"<title>[^<]*\bdmlcheck [0-9]",
        tells_again=True,
    ),
    "sarif": ReportKind("sarif", "SarifReport", "Write SARIF 2.1.0.", rb'\A\s*\{[^{}]*"version"\s*:\s*"2\.1\.0"'),
}


class ReportRequest(NamedTuple):
    """The reports that a command is asked for: the files by their options, how much it prints (-1 to 2), and which.

    `durations` is the number of slow cases to print.
    """

    files: dict[str, str | None]
    verbose: int
    form: str = "full"
    durations: int = 0


def report_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for reports to a command, which gets their values as `wanted`."""

    @wraps(command)
    def with_reports(*, quiet: bool, verbose: int, report_form: str, durations: int, **given: Any) -> None:
        files = {name: given.pop(name) for name in _KINDS}
        command(wanted=ReportRequest(files, -1 if quiet else verbose, report_form, durations), **given)

    for option in reversed([*_FILE_OPTIONS, *_PRINT_OPTIONS, colour_option]):
        with_reports = option(with_reports)
    return with_reports


_FILE_OPTIONS = [
    click.option(f"--{name}", metavar="FILE", help=kind.help, shell_complete=complete_files)
    for name, kind in _KINDS.items()
]
_PRINT_OPTIONS = [
    click.option(
        "--format",
        "--output-format",
        "report_form",
        type=click.Choice(["full", "concise", "github"]),
        default="full",
        show_default=True,
        help="What to print: all, a line for each failure, or GitHub annotations.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print failures and the last line only."),
    click.option("--durations", type=click.IntRange(min=0), default=0, metavar="N", help="Print the N slowest cases."),
    click.option("-v", "--verbose", count=True, help="Print every case; -vv every failure in full."),
]


def open_reporters(
    console: Console, wanted: ReportRequest, info: RunInfo, inputs: Iterable[str], total: Callable[[], int]
) -> list[Reporter]:
    """Return the reporters of a run, with open files: a usage error if one of these cannot be written.

    `total` returns the number of cases of the run. No report may replace a file that the command reads, or another
    report.
    """
    again_of = partial(again, info)
    files = _open_files(wanted.files, info, again_of, inputs)
    github = _github(info, again_of, is_asked=wanted.form == "github")
    if wanted.form != "full":
        last = ConciseReport(console.echo, style=console.style, tells_failures=wanted.form == "concise")
        return [*files, *github, last]
    text = TextReport(
        console.echo,
        style=console.style,
        verbose=wanted.verbose,
        again=again_of,
        columns=None if console.columns is None else console.columns - 1,
        info=info,
        total=total,
        durations=wanted.durations,
    )
    return [text, *files, *github]


def _open_files(files: dict[str, str | None], info: RunInfo, again_of: Again, inputs: Iterable[str]) -> list[Reporter]:
    if all(path is None for path in files.values()):
        return []
    opened: list[Reporter] = []
    taken = {real_path(path): f"{path} is read by this command" for path in inputs}
    try:
        for name, path in files.items():
            if path is not None:
                _check_place(name, path, taken)
                taken[real_path(path)] = f"--{name} is written there"
                opened.append(_open(name, path, info, again_of))
    except click.UsageError:
        for reporter in opened:
            reporter.file.give_up(OSError("another report cannot be written"))  # type: ignore[attr-defined]
        raise
    return opened


def _check_place(name: str, path: str, taken: dict[str, str]) -> None:
    """Refuse a place that another file or report has; only a device, such as the null device, takes several reports."""
    real = real_path(path)
    if path and real in taken and not _is_device(path):
        raise click.UsageError(f"--{name} {path}: {taken[real]}")
    if not is_replaceable(path, _KINDS[name].earlier):
        problem = "is there, and is no earlier report of this kind; remove it, or name another file"
        raise click.UsageError(f"--{name} {path} {problem}")


def _is_device(path: str) -> bool:
    try:
        return stat.S_ISCHR(os.stat(path).st_mode)
    except OSError:
        return False


def _open(name: str, path: str, info: RunInfo, again_of: Again) -> Reporter:
    kind = _KINDS[name]
    more = {"again": again_of} if kind.tells_again else {}
    try:
        made: Reporter = getattr(import_module(f"dmlcheck.reports.{kind.module}"), kind.reporter)(path, info, **more)
    except OSError as error:
        raise click.UsageError(f"--{name} {path}: {error.strerror or error}") from None
    return made


def _github(info: RunInfo, again_of: Again, *, is_asked: bool) -> Iterator[Reporter]:
    """Yield the annotations and the job summary of a GitHub workflow, where this is one or `--format` asks for it."""
    if is_asked or os.environ.get("GITHUB_ACTIONS") == "true":
        from dmlcheck.reports.github import GithubReport

        yield GithubReport(write_command, os.environ.get("GITHUB_STEP_SUMMARY") or None, info, again=again_of)


def finish_reports(reporters: Iterable[Reporter], summary: Summary) -> bool:
    """Finish every report, even if others fail, and say whether all of them could be written."""
    is_written = True
    for reporter in reporters:
        reporter.finish(summary)
        problem = getattr(getattr(reporter, "file", None), "problem", None)
        if problem is not None:
            say(f"dmlcheck: the report could not be written: {problem}", to_errors=True)
            is_written = False
    return is_written
