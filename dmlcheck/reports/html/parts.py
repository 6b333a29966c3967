"""A part of the page, kept out of memory until the page is put together."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from dmlcheck.diagnostics.wording import counted, is_or_are
from dmlcheck.reports.html.markup import escape

_IN_MEMORY = 1 << 17  # characters of a part that need no temporary file


class Group(NamedTuple):
    """What cases have in common that are listed together."""

    outcome: str
    operator: str
    file: str
    reason: str


class Part:
    """The failures, the skipped cases, or those of another outcome.

    Cases stand in it in full while there is room (and `least` of each operator always), then as rows that name them
    below their file, and when there is no room for these either they are only counted.
    """

    def __init__(self, *, full: int, rows: int, least: int = 0) -> None:
        self.kept: tempfile.SpooledTemporaryFile[str] | None = None
        self.room_full = full
        self.room_rows = rows
        self.least = least
        self.total = 0
        self.left_out = 0
        self.group: Group | None = None

    def wants_full(self, told: int) -> bool:
        """Whether the next case of an operator is to be told in full, of which so many are."""
        return self.room_full > 0 or told < self.least

    def add_full(self, text: str) -> None:
        """Keep a case that is told in full."""
        self.total += 1
        self.room_full -= len(text)
        self.end_group()
        self.write(text)

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
            head = _group_head(group)
        self.room_rows -= len(head) + len(text)
        self.write(head + text)

    def end_group(self) -> None:
        """Close the list of rows that is open."""
        if self.group is not None:
            self.group = None
            self.write("</ul></div>\n")

    def write(self, text: str) -> None:
        """Keep a piece of the page; OSError where there is no room for it."""
        if self.kept is None:
            self.kept = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed in close
                _IN_MEMORY, "w+", encoding="utf-8", newline="\n"
            )
        self.kept.write(text)

    def texts(self) -> Iterator[str]:
        """Yield what was kept, piece by piece, and how many cases are only counted."""
        self.end_group()
        if self.kept is not None:
            self.kept.seek(0)
            while text := self.kept.read(1 << 16):
                yield text
        if self.left_out:
            more = f"{counted(self.left_out, 'more case')} {is_or_are(self.left_out)} only counted"
            why = "to keep this page of a size that opens; the JSON report has all of them"
            yield f'<p class="left-out">{more}, {why}.</p>\n'

    def close(self) -> None:
        """Let go of what was kept."""
        if self.kept is not None:
            with contextlib.suppress(OSError):
                self.kept.close()


def _group_head(group: Group) -> str:
    outcome, operator, file = group.outcome, escape(group.operator), escape(group.file)
    why = f' <span class="reason">{escape(group.reason)}</span>' if group.reason else ""
    return (
        f'<div class="group" data-outcome="{outcome}" data-operator="{operator}">'
        f'<h3><span class="badge {outcome}">{outcome}</span> <span class="operator">{operator}</span> '
        f"<code>{file}</code>{why}</h3><ul>\n"
    )
