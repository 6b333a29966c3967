"""Data literals of JavaScript: objects, lists, numbers and text, and constants by name.

Arithmetic on number literals (`1 / 1024`, `2 ** -24`) counts as data; calls of functions do not.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dmlcheck.diagnostics.wording import cut, visible
from dmlcheck.formats.webnn.javascript import Script, named

if TYPE_CHECKING:
    from tree_sitter import Node

Scalar = float | int | str | bool | None

_MOST_HOPS = 100  # from a constant's name to its value, and of operators in operators
_MOST_SHOWN = 40  # characters
_EXACT = 2**53  # numbers that are no BigInt are float64
_MOST_DIGITS = 100  # of a BigInt
_CONSTANTS: Mapping[str, Scalar] = {"Infinity": math.inf, "NaN": math.nan, "undefined": None}
_WORDS: Mapping[str, Scalar] = {"true": True, "false": False, "null": None, "undefined": None}
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_HEX_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\})")


class NotData(Exception):
    """An expression, `node`, whose value is known only when the file is run."""

    def __init__(self, node: Node, what: str) -> None:
        super().__init__(what)
        self.node = node


class Wrong(Exception):
    """A part of a test, `node`, that does not have the required form."""

    def __init__(self, node: Node, problem: str) -> None:
        super().__init__(problem)
        self.node = node


class ScriptData:
    """The data of a file: the values of its expressions, with the constants of its outermost level by name."""

    def __init__(self, script: Script, constants: Mapping[str, Node]) -> None:
        self.script = script
        self.constants = constants

    def resolved(self, node: Node) -> Node:
        """Return the expression behind names and parentheses; NotData where a name is no constant of the file."""
        for _ in range(_MOST_HOPS):
            if node.type == "parenthesized_expression" and len(named(node)) == 1:
                node = named(node)[0]
            elif node.type in ("identifier", "shorthand_property_identifier"):
                name = self.script.text(node)
                if name in _CONSTANTS:
                    return node
                if name not in self.constants:
                    raise NotData(node, f"{_shown(name)} is no constant of the file")
                node = self.constants[name]
            else:
                return node
        raise NotData(node, "it leads from one name to the next without end")

    def fields(self, node: Node, what: str) -> dict[str, Node]:
        """Return the parts of an object by key."""
        node = self.resolved(node)
        if node.type != "object":
            raise self.unlike(node, f"{what} must be an object")
        found: dict[str, Node] = {}
        for part in named(node):
            key, value = self._pair(part)
            if key in found:
                raise Wrong(part, f"the key {_shown(key)} stands here twice")
            found[key] = value
        return found

    def _pair(self, part: Node) -> tuple[str, Node]:
        if part.type == "shorthand_property_identifier":
            return self.script.text(part), part
        key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
        if part.type != "pair" or key is None or value is None or key.type == "computed_property_name":
            raise NotData(part, f"{self.shown(part)} is no key with a value")
        return (self._text(key) if key.type == "string" else self.script.text(key)), value

    def items(self, node: Node, what: str) -> list[Node]:
        """Return the parts of a list."""
        node = self.resolved(node)
        if node.type != "array":
            raise self.unlike(node, f"{what} must be a list")
        parts = named(node)
        spread = next((part for part in parts if part.type == "spread_element"), None)
        if spread is not None:
            raise NotData(spread, f"{self.shown(spread)} is known only when the file is run")
        return parts

    def is_list(self, node: Node) -> bool:
        """Whether an expression is a list."""
        return self.resolved(node).type == "array"

    def is_object(self, node: Node) -> bool:
        """Whether an expression is an object."""
        return self.resolved(node).type == "object"

    def is_nothing(self, node: Node) -> bool:
        """Whether an expression is null or undefined."""
        return self.resolved(node).type in ("null", "undefined")

    def string(self, node: Node, what: str) -> str:
        """Return text."""
        value = self.scalar(node)
        if not isinstance(value, str):
            raise Wrong(node, f"{what} must be text, not {self.shown(node)}")
        return value

    def number(self, node: Node, what: str) -> float | int:
        """Return a number."""
        value = self.scalar(node)
        if isinstance(value, (str, bool)) or value is None:
            raise Wrong(node, f"{what} must be a number, not {self.shown(node)}")
        return value

    def whole(self, node: Node, what: str) -> int:
        """Return a whole number."""
        value = self.number(node, what)
        if not math.isfinite(value) or value != int(value):
            raise Wrong(node, f"{what} must be a whole number, not {self.shown(node)}")
        return int(value)

    def scalar(self, node: Node, depth: int = 0) -> Scalar:
        """Return a number, text, a truth value, or None for null and undefined."""
        if node.type == "number":  # which most are
            return _number(self.script.text(node), node)
        node = self.resolved(node)
        if node.type == "number":
            return _number(self.script.text(node), node)
        if node.type in ("string", "template_string"):
            return self._text(node)
        if node.type in _WORDS:
            return _WORDS[node.type]
        if node.type == "identifier":
            return _CONSTANTS[self.script.text(node)]
        if node.type in ("unary_expression", "binary_expression") and depth < _MOST_HOPS:
            return self._computed(node, depth)
        raise self.unlike(node, "a single value is needed")

    def _computed(self, node: Node, depth: int) -> Scalar:
        """Return the result of arithmetic on number literals, or of joining text."""
        sides = [node.child_by_field_name(name) for name in ("left", "right", "argument")]
        sign = node.child_by_field_name("operator")
        values = [self.scalar(side, depth + 1) for side in sides if side is not None]
        word = "" if sign is None else sign.type
        if word == "+" and len(values) == 2 and all(isinstance(value, str) for value in values):
            return "".join(map(str, values))
        if any(isinstance(value, (str, bool)) or value is None for value in values):
            raise NotData(node, f"{self.shown(node)} is known only when the file is run")
        try:
            if len(values) == 1 and word in ("-", "+"):
                return _negative(values[0]) if word == "-" else values[0]
            return _plain(_ARITHMETIC[word](*(float(value) for value in values if value is not None)))
        except (ArithmeticError, KeyError, TypeError):
            raise NotData(node, f"{self.shown(node)} is known only when the file is run") from None

    def _text(self, node: Node) -> str:
        parts = []
        for part in node.named_children:
            text = self.script.text(part)
            if part.type == "escape_sequence":
                text = _unescaped(text)
            elif part.type != "string_fragment":
                raise NotData(part, f"{self.shown(node)} is known only when the file is run")
            parts.append(text)
        return "".join(parts)

    def unlike(self, node: Node, need: str) -> Wrong | NotData:
        """Return the exception for an expression of another form: Wrong for data, NotData for anything else."""
        if node.type in ("object", "array", "string", "number", *_WORDS):
            return Wrong(node, f"{need}, not {self.shown(node)}")
        return NotData(node, f"{self.shown(node)} is known only when the file is run")

    def shown(self, node: Node) -> str:
        """Return the beginning of an expression, for a message."""
        data = self.script.data[node.start_byte : min(node.end_byte, node.start_byte + 4 * _MOST_SHOWN)]
        return _shown(" ".join(data.decode("utf-8", "replace").split()))


def _shown(text: str) -> str:
    return f"`{cut(visible(text), _MOST_SHOWN)}`"


def _number(text: str, node: Node) -> float | int:
    """Return a number as JavaScript has it: float64, or a BigInt of any size."""
    plain = text.replace("_", "").lower()
    is_big = plain.endswith("n")
    try:
        if len(plain) <= _MOST_DIGITS and (is_big or plain[:2] in ("0x", "0o", "0b")):
            value = int(plain.rstrip("n"), 0)
            return value if is_big else _plain(float(value))
        return _plain(float(plain))
    except ValueError:
        raise NotData(node, f"{_shown(text)} is no number that dmlcheck reads") from None


def _plain(value: Any) -> float | int:
    """Return a float as a whole number where it is one that float64 has exactly; zero keeps its sign."""
    if not isinstance(value, float):
        raise TypeError  # a power of a negative number
    if abs(value) <= _EXACT and value == int(value) and (value or math.copysign(1, value) > 0):
        return int(value)
    return value


def _negative(value: Any) -> float | int:
    """Return a number with the opposite sign; -0 is a float."""
    return -value if value else -0.0


def _unescaped(text: str) -> str:
    found = _HEX_ESCAPE.fullmatch(text)
    if found is not None:
        code = int(next(filter(None, found.groups())), 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return _ESCAPES.get(text[1:], text[1:])
