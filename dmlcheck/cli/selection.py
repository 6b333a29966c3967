"""The files and cases that a command works on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from dmlcheck.cases.find import BUNDLED, Target, bundled_path, located, near, real_path
from dmlcheck.cases.select import ExpressionError, matcher
from dmlcheck.cli.console import say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.diagnostics.wording import did_you_mean
from dmlcheck.formats.find import CASES, FoundFiles, find_files, search
from dmlcheck.formats.registry import FORMATS, Opened
from dmlcheck.specs.load import data_folder

if TYPE_CHECKING:
    from dmlcheck.cases.records import Case
    from dmlcheck.running.events import Plan


class Selected(NamedTuple):
    """The files of paths, the models of findings in folders, and by their ids the cases that were named one by one.

    Each of these cases has a message, which is printed if a file does not have the case.
    """

    targets: list[Target]
    models: list[Target]
    single: dict[str, str]


def targets(paths: Sequence[str]) -> list[Target]:
    """Return the files that paths stand for; the bundled cases when there are none."""
    return select(paths).targets


def select(paths: Sequence[str]) -> Selected:
    """Return the files of paths, by default the bundled cases, and the single cases among them.

    Print which files of a folder are left out.
    """
    found: list[Target] = []
    models: dict[str, None] = {}
    empty: list[str] = []
    if not paths:
        root = data_folder("cases")
        found.extend(
            Target(near(file), f"{BUNDLED}/" + os.path.relpath(file, root).replace(os.sep, "/"))
            for file in find_files(root) or []
        )
    for given in paths:
        path, case = split_case(given)
        here = found_in(path)
        found.extend(Target(located(file), file.replace(os.sep, "/"), case) for file in here.files)
        models.update(dict.fromkeys(here.models_of_findings if case is None else ()))
        empty.extend([] if here.files else [path])
    if found:
        say_empty(empty)
    real = [real_path(target.file) for target in found]
    kept = _each_once(real, found)
    names = {file: target.name for (file, _), target in reversed(kept.items())}
    single = ((names[file], one.case) for file, one in zip(real, found, strict=True) if one.case is not None)
    return Selected(
        list(kept.values()),
        [Target(model, model.replace(os.sep, "/")) for model in models],
        {f"{name}::{case}": f"{name} has no case {case}" for name, case in single},
    )


def found_in(path: str, *, says_models: bool = False) -> FoundFiles:
    """Return the files of a folder, or the path itself as a file, and print which files are left out.

    `says_models` is for a command that takes ONNX models too, but none from a folder.
    """
    if not os.path.isdir(path):
        _note(_bundled_instead(path))
        return FoundFiles([path], [], [], [])
    found = search(path)
    left_out = [
        *_named(found.links, "is a link to a folder, and is not searched; give its path to have its files read"),
        *_named(found.pipes, "is a pipe, a device or a socket, and is not read"),
    ]
    if says_models:
        left_out += _named(found.models, "is not checked: of a folder only case files are; give the path of the model")
    _note(left_out)
    return found


def _bundled_instead(path: str) -> list[str]:
    """Return how the bundled cases of a folder are run, if there is only a bundled folder of this path."""
    bundled = bundled_path(path)
    if bundled is None or not os.path.isdir(bundled) or os.path.lexists(path):
        return []
    part = os.path.normpath(path).replace(os.sep, "/")
    command = "dmlcheck run" if part == BUNDLED else f"dmlcheck run -k {part}/"
    return [f"{path} is not here; `{command}` without a path runs the bundled cases"]


_NO_CASE_FILES = f"has no case files ({', '.join(f'*{ending}' for ending in CASES)})"


def say_empty(paths: Iterable[str]) -> None:
    """Print that folders have no case files."""
    _note(_named([path.replace(os.sep, "/") for path in paths], _NO_CASE_FILES))


def say_no_cases(names: Sequence[str]) -> None:
    """Print that files have no cases."""
    _note(_named(names, "has no case"))


_MOST_NAMED = 5


def _named(paths: Sequence[str], what: str) -> list[str]:
    """Return the words for paths: of many, the names of the first few."""
    more = len(paths) - _MOST_NAMED
    lines = [f"{path.replace(os.sep, '/')} {what}" for path in paths[:_MOST_NAMED]]
    return [*lines, f"and {more:,} more like it"] if more > 0 else lines


def _note(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"dmlcheck: {line}", to_errors=True)


def split_case(given: str) -> tuple[str, str | None]:
    """Return the path and the name of PATH::NAME; the longest path that exists, as both may have `::` in them.

    The path may be that of a bundled file, as it stands in its ids.
    """
    end = len(given)
    while end >= 0:
        if os.path.exists(located(given[:end])):
            return given[:end], given[end + 2 :] if end < len(given) else None
        end = given.rfind("::", 0, end)
    path, colons, case = given.partition("::")
    return path, case if colons else None


def _each_once(real: list[str], found: list[Target]) -> dict[tuple[str, str | None], Target]:
    """Return the targets without those that others include: a file that was given twice, or a case of a whole file.

    `real` are the identities of their files, by which they are returned, with the cases.
    """
    whole = {file for file, target in zip(real, found, strict=True) if target.case is None}
    kept: dict[tuple[str, str | None], Target] = {}
    for file, target in zip(real, found, strict=True):
        if target.case is None or file not in whole:
            kept.setdefault((file, target.case), target)
    return kept


def print_ids(found: Sequence[Target], plan: Plan) -> Exit:
    """Print the ids of the cases that would run, and the problems of files that cannot be read."""
    from dmlcheck.cli.console import Console, say
    from dmlcheck.running.events import ids

    count, is_wrong, is_lacking = 0, False, False
    for target in found:
        listed, file = ids(target, plan)
        for case_id in listed:
            say(case_id)
        count += len(listed)
        is_there = any(target.asks_for(case.name) for case in file.cases)
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
    question = did_you_mean(name, [case.name for case in cases])
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
