"""Which file a case is asked for from, and which files are the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dmlcheck.specs.load import data_folder


class Target(NamedTuple):
    """A file to read, the path that its cases' ids start with, and the one case that PATH::NAME asks for.

    `part` limits it to one of several parts of its cases, which are about as large: (0, 3) is the first of three.
    """

    file: str
    name: str
    case: str | None = None
    part: tuple[int, int] | None = None

    @property
    def bytes(self) -> int:
        """The size of the file; 0 if it cannot be read, which its reader reports."""
        try:
            return os.stat(self.file).st_size
        except (OSError, ValueError):
            return 0

    def asks_for(self, name: str) -> bool:
        """Whether a case is asked for: by its name, or by that before its matrix, of `k[K=16]` by `k`."""
        return self.case is None or is_named(name, self.case)


def is_named(name: str, asked: str) -> bool:
    """Whether a case is called so, its matrix aside."""
    return name == asked or name.startswith(f"{asked}[")


def each_once(paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths of different files; of several paths to the same file, the first."""
    seen = set()
    for path in paths:
        real = real_path(path)
        if real not in seen:
            seen.add(real)
            yield path


def real_path(path: str) -> str:
    """Return the identity of a file, the same for every path to it."""
    return os.path.normcase(os.path.realpath(path))


BUNDLED = "cases"  # the first part of the ids of bundled cases, wherever they are installed


def located(path: str) -> str:
    """Return where a file is: at its path, or where `cases/...`, as ids of bundled cases begin, is installed.

    Folders are not: a folder of one's own that is missing does not become the bundled one.
    """
    if os.path.lexists(path):
        return path
    bundled = bundled_path(path)
    return near(bundled) if bundled is not None and os.path.isfile(bundled) else path


def bundled_path(path: str) -> str | None:
    """Return the installed path of `cases`, or of a file or folder below it; None for any other path."""
    first, *rest = os.path.normpath(path).replace(os.sep, "/").split("/")
    return os.path.join(data_folder("cases"), *rest) if first == BUNDLED and os.pardir not in rest else None


def near(path: str) -> str:
    """Return a path relative to the current folder where it lies below it."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if relative.startswith(os.pardir) else relative
