"""Diagnostics as people read them: the place, the rule, the message, and the source line with a caret under it."""

from __future__ import annotations

from collections.abc import Callable

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.layout import PLAIN, Style
from dmlcheck.reports.visible import shown_diagnostic

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
