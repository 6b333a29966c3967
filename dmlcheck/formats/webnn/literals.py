"""Literals of JavaScript, numbers and text, and the exceptions for expressions that are no data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dmlcheck.diagnostics.wording import cut, visible

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_SHOWN = 40  # characters
_EXACT = 2**53  # numbers that are no BigInt are float64
_MOST_DIGITS = 100  # of a BigInt
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_HEX_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\})")


class NotData(Exception):
    """An expression, `node`, whose value is known only when the file is run."""

    def __init__(self, node: Node, what: str | None = None) -> None:
        super().__init__(what or f"{shown(node)} is known only when the file is run")
        self.node = node


class Wrong(Exception):
    """A part of a test, `node`, that does not have the required form."""

    def __init__(self, node: Node, problem: str) -> None:
        super().__init__(problem)
        self.node = node


class BigInt(int):
    """A whole number of any size: a literal that ends with n."""


def shown(node: Node) -> str:
    """Return the beginning of an expression, for a message."""
    data = (node.text or b"")[: 4 * _MOST_SHOWN]
    return named_so(" ".join(data.decode("utf-8", "replace").split()))


def named_so(text: str) -> str:
    """Return a name of a file for a message."""
    return f"`{cut(visible(text), _MOST_SHOWN)}`"


def text_of_node(node: Node) -> str:
    """Return the characters of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def number(node: Node) -> float | int:
    """Return a number as JavaScript has it: float64, or a BigInt of any size."""
    text = text_of_node(node)
    plain = text.replace("_", "").lower()
    is_big = plain.endswith("n")
    try:
        if len(plain) <= _MOST_DIGITS and (is_big or plain[:2] in ("0x", "0o", "0b")):
            value = int(plain.rstrip("n"), 0)
            return BigInt(value) if is_big else whole_or_float(float(value))
        return whole_or_float(float(plain))
    except ValueError:
        raise NotData(node, f"{named_so(text)} is no number that dmlcheck reads") from None


def whole_or_float(value: float) -> float | int:
    """Return a float as a whole number where it is one that float64 has exactly; -0 stays a float."""
    if abs(value) <= _EXACT and value == int(value) and (value or str(value) == "0.0"):
        return int(value)
    return value


def fragment(part: Any) -> str:
    """Return a part of text: its characters, or what an escape stands for."""
    text = text_of_node(part)
    if part.type != "escape_sequence":
        return text
    found = _HEX_ESCAPE.fullmatch(text)
    if found is not None:
        code = int(next(filter(None, found.groups())), 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return _ESCAPES.get(text[1:], text[1:])
