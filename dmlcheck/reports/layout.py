"""Text on a page: columns, texts that are cut into lines, colours where a terminal has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_MOST_COLUMNS = 1000  # of a line where no terminal limits them
_LEAST = 24  # columns that a text needs next to its lead
_STEPS = r"[^/\s]*/+|[^/\s]+"  # ordinary words, and parts of an address
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}


class Style(NamedTuple):
    """Colours, or none, and how many columns of a source line there is room for."""

    colour: bool = False
    columns: int = _MOST_COLUMNS

    def __call__(self, text: str, name: str) -> str:
        """Return a text in a colour."""
        return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m" if self.colour else text


PLAIN = Style()


class Text(NamedTuple):
    """A text that goes on under its own beginning where a line is full."""

    lead: str
    text: str


class Table(NamedTuple):
    """Rows under a head, which must fit on the page.

    With `right` all columns but the first are aligned right. Where the page is too narrow the last columns are left
    out, or with `wraps` the last one goes on below itself; the first is always whole.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: bool = True
    lead: str = ""
    wraps: bool = False


Line = str | Text | Table


def printed(lines: Iterable[Line], columns: int | None) -> Iterator[str]:
    """Yield lines as they are printed, texts and tables as narrow as `columns` ask for; None for no limit."""
    for line in lines:
        if isinstance(line, str):
            yield line
        elif isinstance(line, Table):
            yield from _table_lines(line, columns)
        elif columns is None:
            yield (line.lead + line.text).rstrip()
        else:
            yield from _text_lines(line, columns)


def _text_lines(line: Text, columns: int) -> Iterator[str]:
    """Yield a text next to its lead, or below it where that leaves little room."""
    lead, indent = line.lead, " " * len(line.lead)
    needed = max(min(_LEAST, len(line.text)), *map(len, re.findall(_STEPS, line.text)), 0)
    if lead.strip() and line.text and len(lead) + needed > columns:
        yield lead.rstrip()
        lead = indent = " " * (len(lead) - len(lead.lstrip()) + 4)
    now, is_empty = lead, True
    for glue, word in _words(line.text, columns - len(indent)):
        if is_empty or len(now) + len(glue) + len(word) <= columns:
            now += word if is_empty else glue + word
        else:
            yield now
            now = indent + word
        is_empty = False
    yield now.rstrip()


def _words(text: str, room: int) -> Iterator[tuple[str, str]]:
    """Yield the words of a text, each with the space before it; an address that has no room is cut after its slashes.

    No other word is cut.
    """
    for word in text.split():
        first, *rest = re.findall(_STEPS, word) if len(word) > room else [word]
        yield " ", first
        yield from (("", step) for step in rest)


def _table_lines(table: Table, columns: int | None) -> Iterator[str]:
    if table.wraps:
        *kept, _ = _widths([table.head, *table.rows])
        for row in (table.head, *table.rows):
            lead = "".join(f"{cell:<{width}}  " for cell, width in zip(row, kept, strict=False))
            yield from printed([Text(table.lead + lead, row[-1])], columns)
        return
    head, rows = fitted(table.head, table.rows, None if columns is None else columns - len(table.lead))
    yield from (table.lead + line for line in columns_of(head, rows, right=table.right))


def fitted(
    head: Sequence[str], rows: Sequence[Sequence[str]], columns: int | None
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return a table without the last columns, as many as it takes to fit; None for no limit."""
    widths = _widths([head, *rows])
    number = len(head)
    while columns is not None and number > 1 and sum(widths[:number]) + 2 * (number - 1) > columns:
        number -= 1
    return head[:number], [row[:number] for row in rows]


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def columns_of(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: bool = True) -> list[str]:
    """Return a table as aligned lines; with `right` all columns but the first are aligned right."""
    widths = _widths([head, *rows])
    lines = []
    for row in (head, *rows):
        cells = [
            cell.rjust(width) if right and index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def indent(text: str) -> str:
    """Return a text two columns further in."""
    return "\n".join("  " + line if line else line for line in text.split("\n"))
