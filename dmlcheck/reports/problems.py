"""The problems of a result in reports for other programs, each at a place in a repository."""

from __future__ import annotations

import os
import posixpath
import re

from dmlcheck.diagnostics.record import ERROR, NOTE, Diagnostic
from dmlcheck.running.accuracy import drifts, near_bounds
from dmlcheck.running.results import FAILURES, PASSED, CaseResult

_SURROGATE = "[\ud800-\udfff]"


def problems_of(result: CaseResult) -> list[Diagnostic]:
    """Return the diagnostics of a case to show: all that made it fail, at least one, or the warnings of a passed one.

    An expected failure has none, and neither has a negative case that breaks the rules that it lists.
    """
    case = result.case
    line = case.position.line
    problems = [
        diagnostic if diagnostic.file is not None else diagnostic._replace(file=case.file, line=line, column=None)
        for diagnostic in result.diagnostics
    ]
    if result.outcome == PASSED:
        return [*(problem for problem in problems if problem.severity != NOTE), *drifts(result), *near_bounds(result)]
    if result.outcome not in FAILURES:
        return []
    if not any(problem.severity == ERROR for problem in problems):
        reason = result.reason or f"the case ended as {result.outcome}"
        problems.insert(0, Diagnostic(result.outcome, reason, file=case.file, line=line))
    return problems


def full_message(diagnostic: Diagnostic) -> str:
    """Return the whole text of a diagnostic: its message with its constraint, the note, and the help."""
    label = f" ({diagnostic.constraint})" if diagnostic.constraint else ""
    lines = [f"{diagnostic.message}{label}"]
    if diagnostic.note:
        lines.append(diagnostic.note)
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    return "\n".join(lines)


def repository_path(file: str) -> str:
    """Return a path from the root of the repository where a GitHub workflow runs, else the path that was given."""
    root = os.environ.get("GITHUB_WORKSPACE")
    if not file or file == "-":
        return file
    return (path_inside(file, root) if root else None) or posixpath.normpath(file.replace(os.sep, "/"))


def path_inside(file: str, folder: str) -> str | None:
    """Return the path of a file from a folder, / separated, or None if it is not in there."""
    place = os.path.join(os.path.realpath(os.path.dirname(file)), os.path.basename(file))
    try:
        path = os.path.relpath(place, os.path.realpath(folder)).replace(os.sep, "/")
    except ValueError:  # on another drive
        return None
    return None if path == ".." or path.startswith("../") else path


def encodable(text: str) -> str:
    """Return a text without characters that no encoding has, such as half surrogates in a file's name."""
    return re.sub(_SURROGATE, "\N{REPLACEMENT CHARACTER}", text)
