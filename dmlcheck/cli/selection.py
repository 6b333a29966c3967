"""The files and cases that a command works on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click

from dmlcheck.cases.select import ExpressionError, matcher
from dmlcheck.cli.console import say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.diagnostics.wording import did_you_mean
from dmlcheck.formats import find
from dmlcheck.formats.find import Selected, Target
from dmlcheck.formats.registry import FORMATS, Opened

if TYPE_CHECKING:
    from dmlcheck.cases.records import Case
    from dmlcheck.running.events import Plan


def select(paths: Sequence[str]) -> Selected:
    """Return the files of paths and the single cases among them; print which files of folders are left out."""
    found = find.select(paths)
    say_notes(found.notes)
    return found


def targets(paths: Sequence[str]) -> list[Target]:
    """Return the files that paths stand for; the bundled cases when there are none."""
    return select(paths).targets


def say_notes(lines: Iterable[str]) -> None:
    """Print notes about files."""
    for line in lines:
        say(f"dmlcheck: {line}", to_errors=True)


def say_no_cases(names: Sequence[str]) -> None:
    """Print that files have no cases."""
    say_notes(find.named(names, "has no case"))


def print_ids(found: Sequence[Target], plan: Plan) -> Exit:
    """Print the ids of the cases that would run, and the problems of files that cannot be read."""
    from dmlcheck.cli.console import Console, say
    from dmlcheck.running.events import asks_for, ids

    count, is_wrong, is_lacking = 0, False, False
    for target in found:
        listed, file = ids(target, plan)
        for case_id in listed:
            say(case_id)
        count += len(listed)
        is_there = any(asks_for(target, case.name) for case in file.cases)
        if target.case is not None and not is_there and not file.problems:
            meant = meant_case(target.case, file.cases)
            say(f"dmlcheck: {target.name} has no case {target.case}{meant}", to_errors=True)
            is_lacking = True
        if file.problems:
            Console().problems(file.problems, file.document)
            is_wrong = True
    if is_wrong or (is_lacking and count):
        return Exit.WRONG_INPUT
    return Exit.GOOD if count else Exit.NOTHING_CHECKED


def meant_case(name: str, cases: Iterable[Case]) -> str:
    """Return the question whether the case with the closest name is meant, to follow a message; "" without any."""
    names = {case.name: case.alias for case in cases}
    aliased = next((own for own, alias in names.items() if alias == name), None)
    question = f"did you mean {aliased}?" if aliased else did_you_mean(name, names)
    return f"; {question}" if question else ""


def failed_before(path: str | None) -> frozenset[str] | None:
    """Return the ids of the failures in an earlier report, None without one; a usage error if it cannot be read."""
    if path is None:
        return None
    from dmlcheck.reports.reading import ReportError, read_failures

    try:
        return read_failures(path)
    except ReportError as error:
        raise click.UsageError(f"--failed: {error}") from None


def check_option(option: str, command: str, files: Iterable[Opened]) -> None:
    """Refuse an option that a command has for files of other formats than the given ones."""
    given = list(files)
    if any(option in file.format.options.get(command, ()) for file in given):
        return
    takers = " and ".join(one.listed for one in FORMATS if option in one.options.get(command, ()))
    if not takers:
        raise click.UsageError(f"{option} is not for `dmlcheck {command}`")
    of_one = f"{given[0].path} is {given[0].format.one}" if len(given) == 1 else "none of the files is one"
    raise click.UsageError(f"{option} is for {takers}; {of_one}")


def check_is_file(path: str, command: str) -> None:
    """Refuse a folder, as wrong usage of a command that takes one file."""
    if os.path.isdir(path):
        raise click.UsageError(f"{path} is a folder; `dmlcheck {command}` takes one file, or one case as PATH::NAME")


def check_taken(file: Opened, use: str, command: str) -> None:
    """Refuse a file of a format that a command does not take, as wrong usage of it."""
    if not getattr(file.format, use):
        text = f"{file.path} is {file.format.one}, which `dmlcheck {command}` does not take: {file.format.taken_by}"
        raise click.UsageError(text)


def selector(expression: str | None) -> Callable[[str], bool]:
    """Return the test of an id by a `-k` expression; a usage error if it cannot be read."""
    if expression is None:
        return lambda _: True
    try:
        return matcher(expression)
    except ExpressionError as error:
        raise click.UsageError(str(error)) from None
