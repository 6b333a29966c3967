"""The lines of a page that a program writes, between two marks; needs nothing but Python."""

from __future__ import annotations

from collections.abc import Iterable


def with_lines(page: str, begin: str, lines: Iterable[str], end: str) -> str:
    """Return the text of a page with other lines between its marks."""
    before, after = page.partition(begin)[0], page.partition(end)[2]
    return "\n".join([f"{before}{begin}\n", *lines, f"\n{end}{after}"])
