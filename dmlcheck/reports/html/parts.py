"""A part of the page, kept out of memory until the page is put together."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from dmlcheck.diagnostics.wording import counted, is_or_are
from dmlcheck.reports.html.templates import Markup, fill, joined

_IN_MEMORY = 1 << 17  # characters of a part that need no temporary file
_ALIKE = 1 << 18  # characters of the lists behind cases that others end like


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
