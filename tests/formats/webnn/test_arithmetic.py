"""Operators of JavaScript; the expected values are those of ECMAScript's specification."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dmlcheck.formats.webnn.arithmetic import as_text, binary, same, truth, unary
from dmlcheck.formats.webnn.literals import BigInt

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("left", "sign", "right", "expected"),
    [
        (1, "/", 1024, 0.0009765625),
        (1, "/", 0, INF),
        (-1, "/", 0, -INF),
        (1, "/", -0.0, -INF),
        (0, "/", 0, NAN),
        (2, "**", -24, 2**-24),
        (2, "**", 5000, INF),
        (-2, "**", 5001, -INF),
        (-8, "**", 0.5, NAN),
        (1, "**", INF, NAN),
        (0, "**", -1, INF),
        (-0.0, "**", -1, -INF),
        (5, "%", 3, 2),
        (-5, "%", 3, -2),
        (5, "%", 0, NAN),
        (0x8001, "&", 0x8000, 0x8000),
        (1, "<<", 31, -(2**31)),
        (1, "<<", 32, 1),
        (-1, ">>>", 28, 15),
        (-8, ">>", 1, -4),
        (2**32 + 5, "|", 0, 5),
        (NAN, "|", 0, 0),
        (6, "^", 3, 5),
        (1, "<", 2, True),
        (NAN, ">=", NAN, False),
        ("a", "<", "b", True),
        ("a", "+", 1, "a1"),
        (0.5, "+", "b", "0.5b"),
        (0, "===", -0.0, True),
        (1, "===", True, False),
        (BigInt(5), "===", 5, False),
        (BigInt(5), "===", BigInt(5), True),
        (NAN, "===", NAN, False),
        ("a", "!==", "b", True),
        (None, "===", None, True),
    ],
)
def test_an_operator_gives_what_javascript_has(left: Any, sign: str, right: Any, expected: Any) -> None:
    found = binary(sign, left, right)
    assert (repr(found), type(found)) == (repr(expected), type(expected))


@pytest.mark.parametrize(
    ("left", "sign", "right"), [("a", "*", 2), (True, "+", 1), (None, "+", 1), (BigInt(1), "+", 1)]
)
def test_no_type_is_converted(left: Any, sign: str, right: Any) -> None:
    with pytest.raises(TypeError):
        binary(sign, left, right)


def test_an_operator_of_one_value() -> None:
    assert repr([unary("-", 0), unary("-", 2), unary("+", 2.5), unary("~", 0)]) == "[-0.0, -2, 2.5, -1]"
    assert [unary("!", value) for value in (0, 1, "", "a", None, NAN, [])] == [
        True,
        False,
        True,
        False,
        True,
        True,
        False,
    ]
    assert (unary("-", BigInt(3)), type(unary("-", BigInt(3)))) == (-3, BigInt)


def test_a_list_is_true_and_the_same_as_itself_alone() -> None:
    one: list[int] = []
    assert (truth(one), same(one, one), same(one, [])) == (True, True, False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (2**-24, "5.960464477539063e-8"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.25e300, "1.25e+300"),
        (-2.5e-10, "-2.5e-10"),
        (INF, "Infinity"),
        (NAN, "NaN"),
        (True, "true"),
        (BigInt(7), "7"),
    ],
)
def test_a_value_is_written_as_javascript_does(value: Any, text: str) -> None:
    assert as_text(value) == text


def test_undefined_is_not_written() -> None:
    with pytest.raises(TypeError):
        as_text(None)
