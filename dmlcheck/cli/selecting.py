"""Which files and cases a command is about."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

import click

from dmlcheck.collect import find_files
from dmlcheck.selection import ExpressionError, matcher
from dmlcheck.specs import data_folder


class Target(NamedTuple):
    """A file to read, the path that its cases' ids start with, and the one case that PATH::NAME asks for."""

    file: str
    name: str
    case: str | None = None


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
        path, case = given, None
        if not os.path.exists(path) and "::" in path:
            path, _, case = path.partition("::")
        found.extend(Target(file, file.replace(os.sep, "/"), case) for file in find_files(path) or [path])
    return found


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
