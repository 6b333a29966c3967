"""Data literals of JavaScript: numbers as JavaScript has them, and what is known only when a file is run."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dmlcheck.formats.webnn.javascript import parse
from dmlcheck.formats.webnn.literals import NotData, ScriptData, Wrong
from dmlcheck.formats.webnn.suite import data_of


def of(text: str) -> tuple[ScriptData, Any]:
    """Return the data of a file, and the value of its constant x."""
    script = parse(f"const one = 1; const list = [one, 2]; const x = {text};".encode(), "f.any.js")
    assert script.document.problems == []
    data = data_of(script)
    return data, data.constants["x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("-1.5", -1.5),
        (".5", 0.5),
        ("5.", 5),
        ("1e-3", 0.001),
        ("0x1F", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("1_000", 1000),
        ("9007199254740993", 9007199254740992.0),  # a number of JavaScript is float64
        ("9007199254740993n", 9007199254740993),
        ("-9007199254740993n", -9007199254740993),
        ("0x10n", 16),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("1e999", math.inf),
        ("1 / 1024", 0.0009765625),
        ("3 * 2 ** -25", 3 * 2**-25),
        ("-(2 ** -24)", -(2**-24)),
        ("(1 + 2) * 3 - 4", 5),
        ("+2", 2),
        ("- -1", 1),
        ("one", 1),
        ("true", True),
        ("false", False),
        ("null", None),
        ("undefined", None),
        ("'a\\'b\\n\\x41\\u0042\\u{43}'", "a'b\nABC"),
        ("\"a\" + 'b'", "ab"),
        ("`a b`", "a b"),
    ],
)
def test_a_value_is_what_javascript_has(text: str, expected: Any) -> None:
    data, node = of(text)
    found = data.scalar(node)
    assert (found, type(found) is bool) == (expected, type(expected) is bool)


def test_zero_has_a_sign_and_nan_is_no_number() -> None:
    data, node = of("[-0, 0, -0.0, NaN]")
    negative, positive, other, nan = (data.number(part, "n") for part in data.items(node, "x"))
    assert [math.copysign(1, value) for value in (negative, positive, other)] == [-1, 1, -1]
    assert math.isnan(nan)


_COMPUTED = ["f()", "new Array(3)", "[1].map(f)", "one.two", "`${one}`", "nowhere", "x", "1 << 2", "'a' * 2", "!1"]
_BEYOND = ["2 ** 5000", "(-8) ** 0.5", "1 / 0", f"1{'0' * 200}n", f"{'- ' * 500}1"]


@pytest.mark.parametrize("text", _COMPUTED + _BEYOND)
def test_what_is_known_only_when_the_file_is_run_is_no_data(text: str) -> None:
    data, node = of(text)
    with pytest.raises(NotData):
        data.scalar(node)


def test_objects_have_parts_by_key() -> None:
    data, node = of("{'a': 1, b: 2, one, \"c d\": list, 5: 3}")
    fields = data.fields(node, "x")
    assert list(fields) == ["a", "b", "one", "c d", "5"]
    assert data.scalar(fields["one"]) == 1
    assert [data.scalar(part) for part in data.items(fields["c d"], "c")] == [1, 2]
    assert (data.is_list(fields["c d"]), data.is_object(node), data.is_nothing(fields["a"])) == (True, True, False)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("{[one]: 1}", NotData, "`[one]: 1` is no key with a value"),
        ("{...list}", NotData, "`...list` is no key with a value"),
        ("{f() { return 1; }}", NotData, "is no key with a value"),
        ("{a: 1, 'a': 2}", Wrong, "the key `a` stands here twice"),
        ("[1]", Wrong, "x must be an object, not `[1]`"),
        ("f({a: 1})", NotData, "`f({a: 1})` is known only when the file is run"),
    ],
)
def test_other_objects_are_refused(text: str, kind: type[Exception], message: str) -> None:
    data, node = of(text)
    with pytest.raises(kind) as refused:
        data.fields(node, "x")
    assert message in str(refused.value)


def test_other_lists_are_refused() -> None:
    data, node = of("{a: 1}")
    with pytest.raises(Wrong, match="x must be a list"):
        data.items(node, "x")
    data, node = of("[1, ...list]")
    with pytest.raises(NotData, match=r"`\.\.\.list` is known only when the file is run"):
        data.items(node, "x")


@pytest.mark.parametrize(
    ("text", "ask", "message"),
    [
        ("'a'", ScriptData.number, "n must be a number, not `'a'`"),
        ("true", ScriptData.number, "n must be a number, not `true`"),
        ("0.5", ScriptData.whole, "n must be a whole number, not `0.5`"),
        ("Infinity", ScriptData.whole, "n must be a whole number, not `Infinity`"),
        ("7", ScriptData.string, "n must be text, not `7`"),
        ("[1]", ScriptData.number, "a single value is needed, not `[1]`"),
    ],
)
def test_a_value_of_another_kind_is_wrong(text: str, ask: Any, message: str) -> None:
    data, node = of(text)
    with pytest.raises(Wrong) as refused:
        ask(data, node, "n")
    assert str(refused.value) == message
    assert refused.value.node == node


def test_names_that_lead_in_a_circle_end() -> None:
    script = parse(b"const a = b; const b = a; const c = (c);", "f.any.js")
    data = data_of(script)
    for name in "abc":
        with pytest.raises(NotData, match="without end"):
            data.scalar(data.constants[name])
