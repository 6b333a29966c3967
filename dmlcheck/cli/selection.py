"""Which files and cases a command is about."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import click

from dmlcheck.cases.find import Target, find_files, real_path
from dmlcheck.cases.select import ExpressionError, matcher
from dmlcheck.specs.load import data_folder


def targets(paths: Sequence[str]) -> list[Target]:
    """Return the files that paths stand for; the bundled cases when there are none."""
    found: list[Target] = []
    if not paths:
        root = data_folder("cases")
        found.extend(
            Target(_near(file), "cases/" + os.path.relpath(file, root).replace(os.sep, "/"))
            for file in find_files(root) or []
        )
    for given in paths:
        path, case = split_case(given)
        files = find_files(path)
        found.extend(Target(file, file.replace(os.sep, "/"), case) for file in ([path] if files is None else files))
    return _each_once(found)


def split_case(given: str) -> tuple[str, str | None]:
    """Return the path and the name of PATH::NAME; the longest path that exists, as both may have `::` in them."""
    end = len(given)
    while end >= 0:
        if os.path.exists(given[:end]):
            return given[:end], given[end + 2 :] if end < len(given) else None
        end = given.rfind("::", 0, end)
    path, colons, case = given.partition("::")
    return path, case if colons else None


def _each_once(found: list[Target]) -> list[Target]:
    """Return the targets without those that others hold: a file that was given twice, or a case of a whole file."""
    real = [real_path(target.file) for target in found]
    whole = {file for file, target in zip(real, found, strict=True) if target.case is None}
    kept: dict[tuple[str, str | None], Target] = {}
    for file, target in zip(real, found, strict=True):
        if target.case is None or file not in whole:
            kept.setdefault((file, target.case), target)
    return list(kept.values())


def _near(path: str) -> str:
    """Return a path relative to the current folder where it lies below it."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if relative.startswith(os.pardir) else relative


def selector(expression: str | None) -> Callable[[str], bool]:
    """Return what a `-k` expression asks of an id; a usage error when it cannot be read."""
    if expression is None:
        return lambda _: True
    try:
        return matcher(expression)
    except ExpressionError as error:
        raise click.UsageError(str(error)) from None
