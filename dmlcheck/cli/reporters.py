"""The reports that a command writes, their end, and the end of a run: its last messages, and the exit code."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from importlib import import_module
from typing import Any, NamedTuple

import click

from dmlcheck.cases.records import Case
from dmlcheck.cli.console import Console, say, write, write_command
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import colour_option, complete_files
from dmlcheck.cli.selection import meant_case, say_no_cases
from dmlcheck.diagnostics.wording import counted
from dmlcheck.formats.find import real_path
from dmlcheck.reports.failure import Again, again
from dmlcheck.reports.files import JSON_HEAD, is_replaceable
from dmlcheck.reports.outcome import Outcome
from dmlcheck.reports.records import Reporter, RunInfo, Summary
from dmlcheck.reports.text import ConciseReport, TextReport
from dmlcheck.running.expectations import names_of


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


def why_vain(summary: Summary) -> str:
    """Return why a run that has cases has checked nothing."""
    if summary.checked:
        return f"the implementation computed nothing; {counted(summary.checked, 'desc')} checked without it"
    if summary.for_implementations == summary.total:
        return "every case is for implementations; choose one with --implementation NAME"
    return "every case was skipped"


_NONE_OF_THESE = "the earlier report has none of these cases; ids begin with the path as the command line gives it"


def finish(
    outcome: Outcome, cases_of: Callable[[str, str], Iterable[Case]], *, allows_no_results: bool = False
) -> Exit:
    """Finish the reports, and return how the command ends.

    `cases_of` returns the cases of a file. `allows_no_results` makes a run good whose cases have no results to compare.
    """
    summary, is_whole = outcome.summary, outcome.is_whole
    is_written = finish_reports(outcome.reporters, summary)
    if outcome.is_interrupted:
        return Exit.INTERRUPTED
    is_stale = is_whole and _has_stale_entries(outcome)
    is_vain = is_whole and not outcome.is_shard and _is_compared_in_vain(summary)
    is_lacking = is_whole and not outcome.has_wrong_file and _lacks_cases(outcome, cases_of)
    if outcome.seen and outcome.empty:
        say_no_cases(outcome.empty)
    if outcome.has_wrong_file or is_stale or is_vain or is_lacking or not is_written:
        return Exit.WRONG_INPUT
    if summary.failures:
        return Exit.FAILED
    if not summary.is_vain or (allows_no_results and summary.total):
        return Exit.GOOD
    if summary.total or not outcome.missing:
        write(f"dmlcheck: nothing was checked: {_why_nothing(outcome, summary)}", to_errors=True)
    return Exit.NOTHING_CHECKED


def _why_nothing(outcome: Outcome, summary: Summary) -> str:
    """Return why a run without failures has checked no case."""
    if summary.total:
        return why_vain(summary)
    return f"none of {counted(outcome.seen, 'case')} is selected" if outcome.seen else "there is no case"


def _lacks_cases(outcome: Outcome, cases_of: Callable[[str, str], Iterable[Case]]) -> bool:
    """Print which single cases do not exist; return whether others ran: the run is then not whole."""
    for case_id, problem in outcome.missing.items():
        name, _, case = case_id.partition("::")
        meant = meant_case(case, cases_of(outcome.paths[name], name)) if name in outcome.paths else ""
        say(f"dmlcheck: {problem}{meant}", to_errors=True)
    return bool(outcome.missing and outcome.tally.total)


def _has_stale_entries(outcome: Outcome) -> bool:
    """Print which known results name no case of a file that was read whole, and return whether there are any."""
    if outcome.unmatched is None:
        return False
    whole = [target for target in outcome.files if target.case is None]
    problems = outcome.unmatched.problems(names_of(target.name, target.name, target.file) for target in whole)
    Console().problems(problems, outcome.unmatched.document)
    return bool(problems)


def _is_compared_in_vain(summary: Summary) -> bool:
    """Return whether the earlier report has none of the cases of a run, after printing so."""
    compared = summary.compared
    if compared is None or compared.cases or not compared.new:
        return False
    write(f"dmlcheck: --compare-to: {_NONE_OF_THESE}", to_errors=True)
    return True
