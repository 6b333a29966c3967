"""Finds the files and the cases that paths stand for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dmlcheck.files import yaml
from dmlcheck.files.plain import open_plain
from dmlcheck.formats.registry import FORMATS, endings
from dmlcheck.specs.load import data_folder

INPUTS = "inputs.npz"  # the arrays of a model's inputs, next to it
FOUND_GRAPH = "graph-"  # and a number: the folder of a finding
CASES = endings("cases")  # of files that cases are read from
_MODELS = tuple(ending for one in FORMATS if one.begins is not None for ending in one.endings)
_REPORT = b'"dmlcheck-'  # the beginning of the schema's name in dmlcheck's own reports
_REPORT_HEAD = rb'\s*\{\s*"schema"\s*:\s*"dmlcheck-'


class FoundFiles(NamedTuple):
    """The files of a folder tree: its case files, and the linked folders, pipes and ONNX models that are left out.

    Dangling links and unreadable folders are among the files: reading them gives the diagnostic.
    """

    files: list[str]
    links: list[str]
    pipes: list[str]
    models: list[str]

    @property
    def models_of_findings(self) -> list[str]:
        """The models in folders such as graph-1, with their inputs next to them."""
        return list(filter(_is_finding, self.models))


def find_files(path: str) -> list[str] | None:
    """Return the YAML and JSON files of a folder tree in order, or the file itself; None when there is neither.

    Reports that dmlcheck wrote into the folder are left out.
    """
    if os.path.isdir(path):
        return search(path).files
    return [path] if os.path.exists(path) else None


def search(path: str, ends: tuple[str, ...] = CASES) -> FoundFiles:
    """Return the files of a folder tree, in order, without hidden files and dmlcheck's own reports.

    Files are those with the endings of case files, or with one in `ends`.
    """
    found = FoundFiles([], [], [], [])
    for folder, folders, files in os.walk(path, onerror=lambda error: found.files.append(error.filename)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found.links.extend(filter(_is_link, (os.path.join(folder, name) for name in folders)))
        for name in sorted(files):
            file, lower = os.path.join(folder, name), name.lower()
            if name.startswith("."):
                continue
            if lower.endswith(_MODELS) and not lower.endswith(ends):
                found.models.append(file)
            elif lower.endswith(ends) and os.path.exists(file) and not os.path.isfile(file):
                found.pipes.append(file)
            elif lower.endswith(ends) and not (lower.endswith(".json") and is_report(file)):
                found.files.append(file)
    return found


def _is_link(folder: str) -> bool:
    """Whether a folder is a link, or on Windows a junction, which newer versions of Python do not search either."""
    is_junction = getattr(os.path, "isjunction", None)
    return os.path.islink(folder) or (is_junction is not None and is_junction(folder))


def is_report(path: str) -> bool:
    """Whether a JSON file is a report of dmlcheck's own: its schema says so."""
    try:
        with open_plain(path) as file:
            data = file.read(yaml.MAX_BYTES)
    except OSError:
        return False
    if re.match(_REPORT_HEAD, data):
        return True
    # If the keys of a report are sorted, its schema is not at the beginning.
    value = yaml.parse(data, path, is_json=True).value if _REPORT in data else None
    return isinstance(value, dict) and str(value.get("schema")).startswith("dmlcheck-")


def inputs_file_of(model: str) -> str:
    """Return the path of a model's inputs, in the folder of the model."""
    return os.path.join(os.path.dirname(model), INPUTS).replace(os.sep, "/" if "/" in model else os.sep)


def _is_finding(model: str) -> bool:
    name = os.path.basename(os.path.dirname(os.path.abspath(model)))
    return name.startswith(FOUND_GRAPH) and os.path.isfile(inputs_file_of(model))


# ---- the files of paths


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


def each_once(paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths of different files; of several paths to the same file, the first."""
    seen = set()
    for path in paths:
        real = real_path(path)
        if real not in seen:
            seen.add(real)
            yield path


def real_path(path: str) -> str:
    """Return the identity of a file, the same for every path to it; what is no path is itself."""
    try:
        return os.path.normcase(os.path.realpath(path))
    except ValueError:  # a character that no path has, in a report
        return path


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


def _without_repeats(real: list[str], found: list[Target]) -> dict[tuple[str, str | None], Target]:
    """Return the targets without those that others include: a file that was given twice, or a case of a whole file.

    `real` are the identities of their files, by which they are returned, with the cases.
    """
    whole = {file for file, target in zip(real, found, strict=True) if target.case is None}
    kept: dict[tuple[str, str | None], Target] = {}
    for file, target in zip(real, found, strict=True):
        if target.case is None or file not in whole:
            kept.setdefault((file, target.case), target)
    return kept


class Selected(NamedTuple):
    """The files of paths, the models of findings in folders, and by their ids the cases that were named one by one.

    Each of these cases has a message, which is printed if a file does not have the case. `notes` say which files of
    folders are left out.
    """

    targets: list[Target]
    models: list[Target]
    single: dict[str, str]
    notes: list[str]


def select(paths: Sequence[str]) -> Selected:
    """Return the files of paths, by default the bundled cases, and the single cases among them."""
    found: list[Target] = []
    models: dict[str, None] = {}
    empty: list[str] = []
    notes: list[str] = []
    if not paths:
        root = data_folder("cases")
        found.extend(
            Target(near(file), f"{BUNDLED}/" + os.path.relpath(file, root).replace(os.sep, "/"))
            for file in find_files(root) or []
        )
    for given in paths:
        path, case = split_case(given)
        here, left_out = found_in(path)
        notes.extend(left_out)
        found.extend(Target(located(file), file.replace(os.sep, "/"), case) for file in here.files)
        models.update(dict.fromkeys(here.models_of_findings if case is None else ()))
        empty.extend([] if here.files else [path])
    if found:
        notes.extend(without_case_files(empty))
    real = [real_path(target.file) for target in found]
    kept = _without_repeats(real, found)
    names = {file: target.name for (file, _), target in reversed(kept.items())}
    single = ((names[file], one.case) for file, one in zip(real, found, strict=True) if one.case is not None)
    return Selected(
        list(kept.values()),
        [Target(model, model.replace(os.sep, "/")) for model in models],
        {f"{name}::{case}": f"{name} has no case {case}" for name, case in single},
        notes,
    )


def found_in(path: str, *, says_models: bool = False) -> tuple[FoundFiles, list[str]]:
    """Return the files of a folder, or the path itself as a file, and which files are left out.

    `says_models` is for a command that takes ONNX models too, but none from a folder.
    """
    if not os.path.isdir(path):
        return FoundFiles([path], [], [], []), _bundled_instead(path)
    found = search(path)
    left_out = [
        *named(found.links, "is a link to a folder, and is not searched; give its path to have its files read"),
        *named(found.pipes, "is a pipe, a device or a socket, and is not read"),
    ]
    if says_models:
        left_out += named(found.models, "is not checked: of a folder only case files are; give the path of the model")
    return found, left_out


def _bundled_instead(path: str) -> list[str]:
    """Return how the bundled cases of a folder are run, if there is only a bundled folder of this path."""
    bundled = bundled_path(path)
    if bundled is None or not os.path.isdir(bundled) or os.path.lexists(path):
        return []
    part = os.path.normpath(path).replace(os.sep, "/")
    command = "dmlcheck run" if part == BUNDLED else f"dmlcheck run -k {part}/"
    return [f"{path} is not here; `{command}` without a path runs the bundled cases"]


_NO_CASE_FILES = f"has no case files ({', '.join(f'*{ending}' for ending in CASES)})"


def without_case_files(paths: Iterable[str]) -> list[str]:
    """Return the words for folders that have no case files."""
    return named([path.replace(os.sep, "/") for path in paths], _NO_CASE_FILES)


_MOST_NAMED = 5


def named(paths: Sequence[str], what: str) -> list[str]:
    """Return the words for paths: of many, the names of the first few."""
    more = len(paths) - _MOST_NAMED
    lines = [f"{path.replace(os.sep, '/')} {what}" for path in paths[:_MOST_NAMED]]
    return [*lines, f"and {more:,} more like it"] if more > 0 else lines
