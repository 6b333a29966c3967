"""Diagnostics as people read them: the place, the rule, the message, and the source line with a caret under it.

With results and diagnostics as a terminal, a pipe or a log may have them: one line a text, all characters visible. A
report may come from a file that anyone wrote (`merge`), and so may any name, reason or message in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import NOTE, Diagnostic
from dmlcheck.diagnostics.wording import visible
from dmlcheck.reports.layout import PLAIN, Style

if TYPE_CHECKING:
    from dmlcheck.reports.records import RunInfo
    from dmlcheck.running.legality import Validated
    from dmlcheck.running.results import CaseResult


Text = TypeVar("Text", str, "str | None")
Record = TypeVar("Record")

_BAR = "  | "
_PASSED = "passed"  # as running.results has it, which `validate` does not load


def shown(text: Text) -> Text:
    """Return a text as one line, None as it is."""
    return text if text is None or text.isprintable() else visible(text)


def shown_lines(text: str) -> str:
    """Return a program's output as text: its lines, those after the first behind a bar, without commands for GitHub."""
    first, *rest = map(visible, text.split("\n"))
    return "\n".join([first, *(line if line.startswith(_BAR) else _BAR + line for line in rest)])


def _shown_in(record: Record, *fields: str) -> Record:
    """Return a record some of whose texts are visible."""
    return record._replace(**{name: shown(getattr(record, name)) for name in fields})  # type: ignore[attr-defined,no-any-return]


def shown_diagnostic(diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic whose texts are visible."""
    found = _shown_in(diagnostic, "rule", "severity", "file", "help", "constraint", "note")
    return found._replace(message=shown_lines(diagnostic.message))


def shown_result(result: CaseResult) -> CaseResult:
    """Return a result whose names, reason and diagnostics are visible."""
    if _is_plain(result):
        return result
    case = _shown_in(result.case, "id", "name", "file", "operator", "source")
    if case.inputs is not None:
        case = case._replace(inputs={shown(str(name)): raw for name, raw in case.inputs.items()})
    outputs = {
        shown(name): _shown_in(output, "bound", "decided_by", "shape") for name, output in result.outputs.items()
    }
    return _shown_in(result, "reason")._replace(
        case=case,
        traceback="\n".join(map(visible, result.traceback.split("\n"))),
        diagnostics=tuple(map(shown_diagnostic, result.diagnostics)),
        outputs=outputs,
        warned=tuple(map(visible, result.warned)),
        uncompared=tuple(map(shown, result.uncompared)),
        drift=tuple(_shown_in(drift, "output") for drift in result.drift),
        known=tuple(_shown_in(row, "text", "versions", "source") for row in result.known),
    )


def _is_plain(result: CaseResult) -> bool:
    """Whether a result is one of the many that pass without a remark, and its printed text is all visible."""
    case = result.case
    if result.outcome != _PASSED or result.diagnostics or result.warned or result.drift:
        return False
    outputs = "".join((*result.outputs, *result.uncompared))
    text = f"{case.id}{case.name}{case.operator}{case.source or ''}{result.reason or ''}{outputs}"
    return text.isprintable() and case.file.isprintable()


def shown_info(info: RunInfo) -> RunInfo:
    """Return the description of a run with only visible characters."""
    earlier = info.compared_to
    return _shown_in(info, "implementation", "version", "device")._replace(
        settings=_shown_in(info.settings, "feature_level", "directml_version"),
        compared_to=earlier and _shown_in(earlier, "file", "version", "implementation"),
        against=info.against and shown_info(info.against),
    )


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
