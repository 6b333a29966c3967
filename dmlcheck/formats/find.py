"""Finds the files to read in a folder."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from dmlcheck.files import yaml
from dmlcheck.files.plain import open_plain
from dmlcheck.formats.registry import FORMATS, endings

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
