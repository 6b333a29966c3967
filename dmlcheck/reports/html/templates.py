"""The templates of the page: files of HTML with `$name` for each value that is filled in.

They are filled by the standard library's `string.Template`, and one function escapes: the report works without any
package beyond those that dmlcheck needs to run, and no template has logic that a test would have to reach.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from html import escape as escape_markup
from string import Template

from dmlcheck.diagnostics.wording import cut


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
