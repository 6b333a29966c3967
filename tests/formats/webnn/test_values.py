"""Values read as data: what they are, and the exceptions for those of another kind."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.formats.webnn import values
from dmlcheck.formats.webnn.javascript import parse
from dmlcheck.formats.webnn.literals import NotData, Wrong
from dmlcheck.formats.webnn.machine import Machine
from dmlcheck.formats.webnn.values import Block, ScriptValue


def of(text: str) -> ScriptValue:
    """Return the value of the constant x of a file."""
    script = parse(f"const one = 1; const list = [one, 2]; const x = {text};".encode(), "f.any.js")
    assert script.root is not None
    machine = Machine(script.root, {}, lambda *_: None)
    machine.run()
    return machine.scope.names["x"]


def test_objects_and_lists_have_parts() -> None:
    found = values.fields(of("{'a': null, b: list}"), "x")
    assert list(found) == ["a", "b"]
    assert [values.scalar(part) for part in values.items(found["b"], "b")] == [1, 2]
    assert [values.is_list(found["b"]), values.is_list(found["a"]), values.is_nothing(found["a"])] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("text", "ask", "message"),
    [
        ("'a'", values.number_in, "n must be a number, not `'a'`"),
        ("true", values.number_in, "n must be a number, not `true`"),
        ("0.5", values.whole, "n must be a whole number, not `0.5`"),
        ("Infinity", values.whole, "n must be a whole number, not `Infinity`"),
        ("7", values.string, "n must be text, not `7`"),
        ("[1]", values.number_in, "a single value is needed, not `[1]`"),
        ("[1]", values.fields, "n must be an object, not `[1]`"),
        ("{a: 1}", values.items, "n must be a list, not `{a: 1}`"),
    ],
)
def test_a_value_of_another_kind_is_wrong(text: str, ask: Any, message: str) -> None:
    value = of(text)
    with pytest.raises(Wrong) as refused:
        ask(value, "n")
    assert (str(refused.value), refused.value.node) == (message, value.node)


@pytest.mark.parametrize("text", ["f({a: 1})", "() => 1", "Math.max"])
@pytest.mark.parametrize("ask", [values.number_in, values.fields, values.items])
def test_what_code_gives_is_no_data(text: str, ask: Any) -> None:
    with pytest.raises(NotData, match="is known only when the file is run"):
        ask(of(text), "n")


def test_a_spoiled_list_is_not_read() -> None:
    value = of("[1]")
    value.of.spoiled = NotData(value.node, "the reason")
    with pytest.raises(NotData, match="the reason"):
        values.known(value)


def test_names_are_found_from_the_inside() -> None:
    value = of("1")
    outer = Block({"a": value, "b": value})
    inner = Block({"a": value}, outer)
    assert (inner.holding("a"), inner.holding("b"), inner.holding("c")) == (inner.names, outer.names, None)
