"""Text on a page: columns, texts that are cut into lines, colours where a terminal has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_MOST_COLUMNS = 1000  # of a line where no terminal limits them
_LEAST = 40  # columns that a text gets, however far it is indented
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}


class Style:
    """Colours, or none, and how many columns of a source line there is room for."""

    def __init__(self, *, colour: bool = False, columns: int = _MOST_COLUMNS) -> None:
        self.colour = colour
        self.columns = columns

    def __call__(self, text: str, name: str) -> str:
        """Return a text in a colour."""
        return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m" if self.colour else text


PLAIN = Style()


class Text(NamedTuple):
    """A text that goes on under its own beginning where a line is full."""

    lead: str
    text: str


Line = str | Text


def printed(lines: Iterable[Line], columns: int | None) -> Iterator[str]:
    """Yield lines as they are printed, texts cut into as many as `columns` ask for; None for no limit."""
    import textwrap  # which only pages need

    for line in lines:
        if isinstance(line, str):
            yield line
        elif columns is None:
            yield (line.lead + line.text).rstrip()
        else:
            yield from textwrap.wrap(
                line.text,
                max(columns, len(line.lead) + _LEAST),
                initial_indent=line.lead,
                subsequent_indent=" " * len(line.lead),
            ) or [line.lead.rstrip()]


def columns_of(head: Sequence[str], rows: list[list[str]], *, right: bool = True) -> list[str]:
    """Return a table as aligned lines; with `right` all columns but the first stand to the right."""
    widths = [max(len(row[index]) for row in (head, *rows)) for index in range(len(head))]
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
