"""Diagnostics as people read them: the place, the rule, the message, and the source line with a caret under it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import NOTE, Diagnostic
from dmlcheck.reports.layout import PLAIN, Style
from dmlcheck.reports.visible import shown_diagnostic

if TYPE_CHECKING:
    from dmlcheck.running.legality import Validated

LineOf = Callable[[int], str]

_COLUMNS = 100  # the last column of a note next to the caret


def at_pointer(diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic of a file without lines, with its pointer in the message."""
    place = f"{diagnostic.pointer}: " if diagnostic.pointer else ""
    return diagnostic._replace(message=place + diagnostic.message)


def diagnostic_text(diagnostic: Diagnostic, line_of: LineOf | None = None, style: Style = PLAIN) -> str:
    """Return a diagnostic as text: place, rule, message, the source line with a caret, the help."""
    diagnostic = shown_diagnostic(diagnostic)
    place = f"{diagnostic.where}: " if diagnostic.where else ""
    label = f"   ({diagnostic.constraint})" if diagnostic.constraint else ""
    head = style(
        f"{diagnostic.severity}[{diagnostic.rule}]",
        "red" if diagnostic.severity == "error" else "yellow",
    )
    lines = [f"{place}{head}: {diagnostic.message}{label}"]
    source = line_of(diagnostic.line) if line_of and diagnostic.line else ""
    if source and not source.isspace():
        lines.extend(_snippet(diagnostic, source, style))
    elif diagnostic.note:
        lines.append(f"  {diagnostic.note}")
    if diagnostic.help:
        lines.append(f"  help: {diagnostic.help}")
    return "\n".join(lines)


def _snippet(diagnostic: Diagnostic, source: str, style: Style) -> list[str]:
    number, column = str(diagnostic.line), diagnostic.column or 1
    start, columns = 0, style.columns
    if len(source) > columns:
        start = max(0, min(column - 1 - columns // 3, len(source) - columns))
    shown = "".join(character if character.isprintable() else " " for character in source[start : start + columns])
    before = ("..." if start else "") + shown[: column - 1 - start]
    carets = "^" * max(1, min(diagnostic.width, len(shown) - (column - 1 - start)))
    text = ("..." if start else "") + shown + ("..." if start + columns < len(source) else "")
    margin = " " * (len(number) + 2)
    mark = " " * _width(before) + style(carets, "red")
    lines = [f"  {number} | {text}", f"{margin} | {mark}"]
    if diagnostic.note:
        fits = _width(before) + len(carets) + len(diagnostic.note) < min(columns, _COLUMNS)
        lines[-1] += " " + diagnostic.note if fits else ""
        if not fits:
            lines.append(f"{margin} | {diagnostic.note}")
    return lines


def _width(text: str) -> int:
    """Return how many columns a terminal gives a text."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


# ---- the mistakes of files: the problems of validated descs, and each mistake that several cases share reported once


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
