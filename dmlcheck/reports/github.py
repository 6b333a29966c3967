"""A run or a check in a GitHub workflow: annotations of the lines, and a job summary."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import plural, visible
from dmlcheck.reports.diagnostics import ReportedMistakes, validated_problems
from dmlcheck.reports.failure import Again, full_message, problems_of, repository_path
from dmlcheck.reports.job_summary import JobSummary
from dmlcheck.reports.records import RunInfo, Summary
from dmlcheck.running.legality import Validated
from dmlcheck.running.results import CaseResult

Write = Callable[[str], None]

MOST_ANNOTATIONS = 10  # of each kind: GitHub shows no more of a step
MOST_TEXT = 4000  # characters of an annotation

_LINE = re.compile("[^\r\n]+")
_KINDS = {"error": "error", "warning": "warning"}


# ---- annotations


def annotate(descs: Iterable[Validated], write: Write) -> None:
    """Print an annotation for each problem, as many as GitHub shows, for `validate --format github`."""
    printed = _Annotations(write)
    for desc, problem in validated_problems(descs):
        printed.add(problem, desc.name, desc.label)
    printed.finish()


class _Annotations:
    """Annotations as they come, each mistake of a file once, counted by kind."""

    def __init__(self, write: Write) -> None:
        self.write = write
        self.counts: dict[str, int] = {}
        self.reported = ReportedMistakes()

    def add(self, problem: Diagnostic, name: str, id: str) -> None:
        """Print an annotation where GitHub would still show it."""
        if self.reported.earlier(problem, id) is not None:
            return
        kind = _KINDS.get(problem.severity, "notice")
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= MOST_ANNOTATIONS:
            self.write(annotation(kind, problem, name))

    def finish(self) -> None:
        """Print how many more there were."""
        left = {kind: number - MOST_ANNOTATIONS for kind, number in self.counts.items() if number > MOST_ANNOTATIONS}
        if left:
            more = ", ".join(f"{number} {plural(number, f'more {kind}')}" for kind, number in left.items())
            self.write(f"dmlcheck: {more}; GitHub shows {MOST_ANNOTATIONS} of each kind for a step")


def annotation(kind: str, problem: Diagnostic, name: str) -> str:
    """Return the workflow command that annotates a line; `endColumn` is the column after the last one."""
    properties: dict[str, str | int | None] = {
        "file": _LINE.sub(_visible_line, repository_path(problem.file)) if problem.file else None,
        "line": problem.line,
    }
    if problem.line is not None and problem.column is not None:
        properties |= {"col": problem.column, "endColumn": problem.column + max(1, problem.width)}
    properties["title"] = f"{visible(problem.rule)}: {_LINE.sub(_visible_line, name)}"[:255]
    given = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
    return f"::{kind} {given}::{_data(_LINE.sub(_visible_line, full_message(problem))[:MOST_TEXT])}"


def _visible_line(found: re.Match[str]) -> str:
    return visible(found[0])


def _data(text: str) -> str:
    """Return a text as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# ---- a run


class GithubReport:
    """A run in a GitHub workflow: annotations of failures as they happen, and at the end a job summary."""

    def __init__(self, write: Write, summary_path: str | None, info: RunInfo, *, again: Again | None = None) -> None:
        self.write = write
        self.annotations = _Annotations(write)
        self.page = JobSummary(summary_path, info, again) if summary_path else None

    def case(self, result: CaseResult) -> None:
        """Print the annotations of one case, and take it into the summary."""
        for problem in problems_of(result):
            self.annotations.add(problem, result.case.name, result.case.id)
        if self.page is not None:
            self.page.case(result)

    def finish(self, summary: Summary) -> None:
        """Count the failures without annotation, and append the job summary."""
        self.annotations.finish()
        if self.page is None:
            return
        try:
            self.page.append(summary)
        except OSError as error:
            self.write(f"dmlcheck: no job summary: {self.page.path}: {error.strerror or error}")
