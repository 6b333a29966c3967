"""The templates of the page: files of HTML with `$name` for each value that is filled in.

They are filled by the standard library's `string.Template`, and one function escapes: the report works without any
package beyond those that dmlcheck needs to run, and no template has logic that a test would have to reach.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape as escape_markup
from string import Template
from typing import NamedTuple

from dmlcheck.diagnostics.wording import counted, cut, is_or_are


def fill(name: str, /, **values: str) -> Markup:
    """Return a filled template, each value escaped unless it is markup; `case.row` is the part `row` of case.html."""
    file, _, part = name.partition(".")
    escaped = {key: value if isinstance(value, Markup) else escape(value) for key, value in values.items()}
    return Markup(_templates(file)[part].substitute(escaped))


def joined(pieces: Iterable[Markup]) -> Markup:
    """Return pieces of the page one after the other."""
    return Markup("".join(pieces))


@cache
def _templates(name: str) -> dict[str, Template]:
    """Return the parts of a template file: each begins at a line `=== name`, and ends without its last line break."""
    pieces = re.split(r"^=== (\w+)\n", file_text(f"{name}.html"), flags=re.MULTILINE)[1:]
    return {part: Template(text.removesuffix("\n")) for part, text in zip(pieces[::2], pieces[1::2], strict=True)}


def file_text(name: str) -> str:
    """Return a file of the page, from this module's folder."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


# ---- markup, and text as markup


_LONGEST = 2000  # characters of a message, a reason or a name


class Markup(str):
    """A text that is HTML already, which nothing escapes again."""

    __slots__ = ()


def plain(text: str, most: int = _LONGEST) -> str:
    """Return a text with unprintable characters as their numbers, and cut off if it is long."""
    text = cut(text, most)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _spelt_out(c) for c in text)


def _spelt_out(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return "\\t" if character == "\t" else f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape(text: str, most: int = _LONGEST) -> Markup:
    """Return a text escaped for HTML, also for attributes."""
    return Markup(escape_markup(plain(text, most)))


_IN_MEMORY = 1 << 17  # characters of a part that need no temporary file
_ALIKE = 1 << 18  # characters of the lists behind cases that others end like


# ---- parts of the page, kept out of memory until the page is put together


class Group(NamedTuple):
    """The common properties of cases that are listed together."""

    outcome: str
    operator: str
    file: str
    reason: str


class Alike:
    """Cases with the same result as one that is shown in full; `at` is the position after it in the part."""

    def __init__(self, at: int, outcome: str) -> None:
        self.at = at
        self.outcome = outcome
        self.number = 0
        self.rows: list[Markup] = []

    def text(self) -> Markup:
        """Return their list, folded away."""
        left = self.number - len(self.rows)
        return fill(
            "parts.alike",
            outcome=self.outcome,
            number=counted(self.number, "more case"),
            rows=joined(self.rows),
            more=fill("parts.more", number=counted(left, "more case")) if left else Markup(),
        )


class PageSection:
    """The failures, the skipped cases, or the cases of another outcome.

    Cases are in it in full while there is room (and `least` of each operator always), then as rows that name them below
    their file, and without room for these they are only counted. Cases with the same result as one in full are listed
    after it.
    """

    def __init__(self, *, full: int, rows: int, least: int = 0) -> None:
        self.kept: tempfile.SpooledTemporaryFile[str] | None = None
        self.room_full = full
        self.room_rows = rows
        self.least = least
        self.total = 0
        self.left_out = 0
        self.group: Group | None = None
        self.written = 0  # characters
        self.alike: dict[int, Alike] = {}
        self.room_alike = _ALIKE

    def wants_full(self, told: int) -> bool:
        """Whether the next case of an operator is shown in full, given how many are already."""
        return self.room_full > 0 or told < self.least

    def add_full(self, text: str, sameness: int | None = None, outcome: str = "") -> None:
        """Keep a case that is shown in full; cases with the same key are listed after it."""
        self.total += 1
        self.room_full -= len(text)
        self.end_group()
        self.write(text)
        if sameness is not None:
            self.alike[sameness] = Alike(self.written, outcome)

    def add_alike(self, sameness: int, row: Markup) -> None:
        """Count a case with the same result as one in full, and list it after that one while there is room."""
        self.total += 1
        alike = self.alike[sameness]
        alike.number += 1
        if self.room_alike > 0:
            self.room_alike -= len(row)
            alike.rows.append(row)

    def add_row(self, group: Group, text: str) -> None:
        """Keep a row, below the others of its group."""
        self.total += 1
        if self.room_rows <= 0:
            self.left_out += 1
            return
        head = ""
        if group != self.group:
            self.end_group()
            self.group = group
            why = fill("parts.why", reason=group.reason) if group.reason else Markup()
            head = fill("parts.group", outcome=group.outcome, operator=group.operator, file=group.file, why=why)
        self.room_rows -= len(head) + len(text)
        self.write(head + text)

    def end_group(self) -> None:
        """Close the open list of rows."""
        if self.group is not None:
            self.group = None
            self.write(fill("parts.group_end"))

    def write(self, text: str) -> None:
        """Keep a piece of the page; OSError if there is no room for it."""
        if self.kept is None:
            self.kept = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed in close
                _IN_MEMORY, "w+", encoding="utf-8", newline="\n"
            )
        self.kept.write(text)
        self.written += len(text)

    def texts(self) -> Iterator[str]:
        """Yield the parts that were kept, piece by piece, and the number of cases that are only counted."""
        self.end_group()
        if self.kept is not None:
            self.kept.seek(0)
        at = 0
        for alike in self.alike.values():
            if alike.number:
                yield from self._read(alike.at - at)
                yield alike.text()
                at = alike.at
        yield from self._read(self.written - at)
        if self.left_out:
            more = f"{counted(self.left_out, 'more case')} {is_or_are(self.left_out)}"
            yield fill("parts.only_counted", more=more)

    def _read(self, count: int) -> Iterator[str]:
        """Yield the next characters of the parts that were kept."""
        while self.kept is not None and count > 0 and (text := self.kept.read(min(count, 1 << 16))):
            count -= len(text)
            yield text

    def close(self) -> None:
        """Drop the parts that were kept."""
        if self.kept is not None:
            with contextlib.suppress(OSError):
                self.kept.close()
