"""Which files a path stands for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dmlcheck.files import yaml
from dmlcheck.files.plain import open_plain

_ENDINGS = (".yaml", ".yml", ".json")
_REPORT = b'"dmlcheck-'  # what the schema of a report of dmlcheck's own begins with
_REPORT_HEAD = re.compile(rb'\s*\{\s*"schema"\s*:\s*"dmlcheck-')


class Target(NamedTuple):
    """A file to read, the path that its cases' ids start with, and the one case that PATH::NAME asks for."""

    file: str
    name: str
    case: str | None = None


def find_files(path: str) -> list[str] | None:
    """Return the YAML and JSON files of a folder tree in order, or the file itself; None when there is neither.

    Reports that dmlcheck wrote into the folder are left out.
    """
    if not os.path.isdir(path):
        return [path] if os.path.exists(path) else None
    found: list[str] = []
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        wanted = (name for name in sorted(files) if name.lower().endswith(_ENDINGS) and not name.startswith("."))
        found.extend(os.path.join(folder, name) for name in wanted)
    regular = [file for file in found if os.path.isfile(file)]  # a pipe would be waited for
    return [file for file in regular if not (file.lower().endswith(".json") and is_report(file))]


def is_report(path: str) -> bool:
    """Whether a JSON file is a report of dmlcheck's own: its schema says so."""
    try:
        with open_plain(path) as file:
            data = file.read(yaml.MAX_BYTES)
    except OSError:
        return False
    if _REPORT_HEAD.match(data):
        return True
    # Whoever sorts the keys of a report moves its schema.
    value = yaml.parse(data, path, is_json=True).value if _REPORT in data else None
    return isinstance(value, dict) and str(value.get("schema")).startswith("dmlcheck-")


def each_once(paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths of different files, the first of those that lead to the same one."""
    seen = set()
    for path in paths:
        real = real_path(path)
        if real not in seen:
            seen.add(real)
            yield path


def real_path(path: str) -> str:
    """Return what tells a file from another, whatever path leads to it."""
    return os.path.normcase(os.path.realpath(path))
