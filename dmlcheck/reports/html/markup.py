"""Texts in HTML."""

from __future__ import annotations

from html import escape as escape_markup

from dmlcheck.diagnostics.wording import cut

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
