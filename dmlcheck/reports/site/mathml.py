"""The equations of specs/about as MathML, which browsers draw, by the library latex2mathml (the extra `docs`)."""

from __future__ import annotations

import re

from latex2mathml.converter import convert

# Commands and texts stay as they are.
_KEPT = re.compile(r"(\\text\{[^}]*\}|\\(?:begin|end)\{[^}]*\}|\\[a-zA-Z]+|\\.)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]+")


def mathml(equation: str, display: str = "block") -> str:
    """Return an equation as an element `math`, on a line of its own or `inline`, with words upright."""
    text: str = convert(_with_names(equation), display=display)
    return text


def _with_names(equation: str) -> str:
    """Return an equation with each name as a text, which is set as one word."""
    parts = _KEPT.split(equation)
    return "".join(part if number % 2 else _NAME.sub(r"\\text{\g<0>}", part) for number, part in enumerate(parts))
