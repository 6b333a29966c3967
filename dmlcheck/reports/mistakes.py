"""The mistakes of files: the problems of validated descs, and each mistake that several cases share told once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import NOTE, Diagnostic
from dmlcheck.running.legality import Validated


def validated_problems(descs: Iterable[Validated]) -> Iterator[tuple[Validated, Diagnostic]]:
    """Yield what of validated descs is to be shown: not what a negative case breaks as it says."""
    for desc in descs:
        broken = (found for found in desc.diagnostics if found.severity != NOTE or desc.operator is None)
        for diagnostic in (*broken, *desc.notes):
            yield desc, diagnostic if diagnostic.file is not None else diagnostic._replace(file=desc.file)


def mistake_of(problem: Diagnostic) -> tuple[object, ...] | None:
    """Return what makes problems of several cases one mistake of their file; None where each case has its own.

    Cases that take a wrong default have the same problem at the same place. What comes out of a run is each case's own.
    """
    rule = RULES.get(problem.rule)
    if problem.line is None or rule is None or rule.group == "run":
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
