"""The mistakes of files: the problems of validated descs, and each mistake that several cases share reported once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import NOTE, Diagnostic

if TYPE_CHECKING:
    from dmlcheck.running.legality import Validated


def validated_problems(descs: Iterable[Validated]) -> Iterator[tuple[Validated, Diagnostic]]:
    """Yield the diagnostics of validated descs to show: not the listed ones of a negative case."""
    for desc in descs:
        broken = (found for found in desc.diagnostics if found.severity != NOTE or desc.operator is None)
        for diagnostic in (*broken, *desc.notes):
            yield desc, diagnostic if diagnostic.file is not None else diagnostic._replace(file=desc.file)


def mistake_of(problem: Diagnostic) -> tuple[object, ...] | None:
    """Return the identity of a mistake that several cases of a file share; None for a problem of one case.

    Cases that take a wrong default have the same problem at the same place. Results of a run are each case's own.
    """
    rule = RULES.get(problem.rule)
    if problem.line is None or rule is None or rule.group == "run":
        return None
    return problem.rule, problem.file, problem.line, problem.column, problem.pointer, problem.message


class ReportedMistakes:
    """The mistakes that a report has printed, each with the first case that has it."""

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], str] = {}

    def earlier(self, problem: Diagnostic, case: str) -> str | None:
        """Return the earlier case with a problem, or None if it is new: then record it with this case."""
        mistake = mistake_of(problem)
        first = self._first.get(mistake) if mistake is not None else None
        if mistake is not None and first is None:
            self._first[mistake] = case
        return first

    def new(self, problems: Iterable[Diagnostic], case: str) -> list[Diagnostic]:
        """Return the new problems of a case."""
        return [problem for problem in problems if self.earlier(problem, case) is None]
