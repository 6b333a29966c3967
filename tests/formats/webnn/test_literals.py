"""Literals of JavaScript: numbers as JavaScript has them, and text with its escapes."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dmlcheck.formats.webnn import literals
from dmlcheck.formats.webnn.javascript import parse
from dmlcheck.formats.webnn.literals import BigInt, NotData


def node_of(text: str) -> Any:
    """Return the expression of a file that has no more."""
    script = parse(f"{text};".encode(), "f.any.js")
    assert script.root is not None
    return script.root.named_children[0].named_children[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        (".5", 0.5),
        ("5.", 5),
        ("1e-3", 0.001),
        ("0x1F", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("1_000", 1000),
        ("9007199254740993", 9007199254740992.0),  # a number of JavaScript is float64
        ("9007199254740993n", 9007199254740993),
        ("0x10n", 16),
        ("1e999", math.inf),
    ],
)
def test_a_number_is_that_of_javascript(text: str, expected: float) -> None:
    found = literals.number(node_of(text))
    assert (found, isinstance(found, BigInt)) == (expected, text.endswith("n"))


def test_a_number_of_too_many_digits_is_no_data() -> None:
    with pytest.raises(NotData, match="is no number that dmlcheck reads"):
        literals.number(node_of(f"1{'0' * 200}n"))


def test_escapes_stand_for_characters() -> None:
    parts = node_of(r"'a\'b\n\x41\u0042\u{43}\u{110000}'").named_children
    assert "".join(map(literals.fragment, parts)) == "a'b\nABC\ufffd"
