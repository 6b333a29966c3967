"""What reports for other programs show of a result: its problems, each at a place in a repository."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import ERROR, NOTE, Diagnostic
from dmlcheck.running.accuracy import drifts, near_bounds
from dmlcheck.running.legality import Validated
from dmlcheck.running.results import FAILURES, PASSED, CaseResult

_SURROGATE = re.compile("[\ud800-\udfff]")


def problems_of(result: CaseResult) -> list[Diagnostic]:
    """Return what of a case is to be shown: all that made it fail, at least one; and what a passing one warns of.

    An expected failure is none, and neither are the notes of a negative case that breaks what it lists.
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


def validated_problems(descs: Iterable[Validated]) -> Iterator[tuple[Validated, Diagnostic]]:
    """Yield what of validated descs is to be shown: not what a negative case breaks as it says."""
    for desc in descs:
        for diagnostic in desc.diagnostics:
            if diagnostic.severity != NOTE or desc.operator is None:
                yield desc, diagnostic if diagnostic.file is not None else diagnostic._replace(file=desc.file)


def mistake_of(problem: Diagnostic) -> tuple[object, ...] | None:
    """Return what makes problems of several cases one mistake of their file; None where each case has its own.

    Cases that take a wrong default have the same problem at the same place. What comes out of a run is each case's own.
    """
    page = RULES.get(problem.rule)
    if problem.line is None or page is None or page.group == "run":
        return None
    return problem.rule, problem.file, problem.line, problem.column, problem.pointer, problem.message


class Told:
    """The mistakes that a report has told, each with the first case that has it."""

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], str] = {}

    def earlier(self, problem: Diagnostic, case: str) -> str | None:
        """Return the case that a problem was told of before, or None where it is new: now it is told of this one."""
        mistake = mistake_of(problem)
        first = self._first.get(mistake) if mistake is not None else None
        if mistake is not None and first is None:
            self._first[mistake] = case
        return first

    def new(self, problems: Iterable[Diagnostic], case: str) -> list[Diagnostic]:
        """Return the problems of a case that were not told before."""
        return [problem for problem in problems if self.earlier(problem, case) is None]


def full_message(diagnostic: Diagnostic) -> str:
    """Return all that a diagnostic says: its message with its constraint, what is allowed, and what to do."""
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
    """Return the path of a file from a folder, / separated, or None where it is not in there."""
    place = os.path.join(os.path.realpath(os.path.dirname(file)), os.path.basename(file))
    try:
        path = os.path.relpath(place, os.path.realpath(folder)).replace(os.sep, "/")
    except ValueError:  # on another drive
        return None
    return None if path == ".." or path.startswith("../") else path


def encodable(text: str) -> str:
    """Return a text without what no encoding can carry, as a file's name may hold."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
