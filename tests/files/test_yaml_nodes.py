"""Where the parts of a YAML file stand, and its keys that stand twice."""

from __future__ import annotations

from typing import Any

import pytest
from files.parsing import parse, value_of

from dmlcheck.files import yaml
from dmlcheck.files.document import Position

# ---- duplicate keys


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", {"a": 1, "b": 2}, [("a", 3, 1, 1, 1)]),
        ("a: 1\n'a': 3\n", {"a": 1}, [("a", 2, 1, 3, 1)]),
        ("1: x\n'1': y\n", {"1": "x"}, [("1", 2, 1, 3, 1)]),
        ("{long: 1, b: 2,\n  long: 3}", {"long": 1, "b": 2}, [("long", 2, 3, 4, 1)]),
        ("a:\n  b: 1\n  b: 2\nb: 3\n", {"a": {"b": 1}, "b": 3}, [("b", 3, 3, 1, 2)]),
        ("- {a: 1}\n- {a: 1, a: 2}\n", [{"a": 1}, {"a": 1}], [("a", 2, 10, 1, 2)]),
        ("a: 1\n\na: 2\n\na: 3\n", {"a": 1}, [("a", 3, 1, 1, 1), ("a", 5, 1, 1, 1)]),
        ("a: {b: 1}\na: {b: 2, b: 3}\n", {"a": {"b": 1}}, [("a", 2, 1, 1, 1), ("b", 2, 11, 1, 2)]),
        ("a: [1, 2]\r\na: 3\r\n", {"a": [1, 2]}, [("a", 2, 1, 1, 1)]),
        ('😀: 1\n"\\U0001F600": 2\n', {"😀": 1}, [("😀", 2, 1, 12, 1)]),
        ("{é: 1, 😀: 2, é: 3}", {"é": 1, "😀": 2}, [("é", 1, 14, 1, 1)]),
        ("a: 1\na:\n  b:\n  - 2\nc: 3\n", {"a": 1, "c": 3}, [("a", 2, 1, 1, 1)]),
    ],
)
def test_a_duplicate_key_is_reported_with_the_line_of_the_first(
    text: str, value: Any, expected: list[tuple[str, int, int, int, int]]
) -> None:
    document = parse(text)
    assert document.value == value
    found = [(problem.rule, problem.line, problem.column, problem.width) for problem in document.problems]
    assert found == [("duplicate-key", line, column, width) for _, line, column, width, _ in expected]
    said = [(problem.message, problem.help) for problem in document.problems]
    message = "the key {} occurs twice in this mapping, first on line {}"
    assert said == [(message.format(key, first), "remove one of the two") for key, *_, first in expected]


def test_the_same_key_in_different_mappings_is_no_duplicate() -> None:
    assert value_of("- a: 1\n- a: 2\n- {a: {a: 3}}\n") == [{"a": 1}, {"a": 2}, {"a": {"a": 3}}]


def test_duplicate_keys_are_reported_beside_a_syntax_error_after_them() -> None:
    for rest in ("c: [1", "c: *d", "c: !!python/none x", "--- 1", "c: &x 1\nd: &x 2\ne: @"):
        problems = parse(f"a: 1\nb: 2\na: 3\n{rest}\n").problems
        assert [problem.rule for problem in problems] == ["duplicate-key", "yaml-syntax"], rest
        assert (problems[0].line, problems[0].column) == (3, 1)


# ---- positions

PLACES = """\
plain: value
quoted: "😀" # a comment
"a key": {flow: 1, 😀: two, list: [10, '20', []]}
block:
  nested:
  - first
  -   second
  - - a
    - b
  - k: v
    empty:
folded: >
  text
anchored: &here [1]
alias: *here
"""


@pytest.mark.parametrize(
    ("path", "line", "column", "text"),
    [
        ((), 1, 1, "p"),
        (("plain",), 1, 8, "value"),
        (("quoted",), 2, 9, '"😀"'),
        (("a key",), 3, 10, "{flow: 1, 😀: two, list: [10, '20', []]}"),
        (("a key", "flow"), 3, 17, "1"),
        (("a key", "😀"), 3, 23, "two"),
        (("a key", "list"), 3, 34, "[10, '20', []]"),
        (("a key", "list", 0), 3, 35, "10"),
        (("a key", "list", 1), 3, 39, "'20'"),
        (("a key", "list", 2), 3, 45, "["),
        (("block",), 4, 1, "block"),
        (("block", "nested"), 5, 3, "nested"),
        (("block", "nested", 0), 6, 5, "first"),
        (("block", "nested", 1), 7, 7, "second"),
        (("block", "nested", 2), 8, 5, "-"),
        (("block", "nested", 2, 1), 9, 7, "b"),
        (("block", "nested", 3), 10, 5, "k"),
        (("block", "nested", 3, "k"), 10, 8, "v"),
        (("block", "nested", 3, "empty"), 11, 11, ""),
        (("folded",), 12, 9, ">"),
        (("anchored", 0), 14, 18, "1"),
        (("alias", 0), 14, 18, "1"),
        # what is missing is shown at the key of what should hold it
        (("missing",), 1, 1, "p"),
        (("block", "missing"), 4, 1, "block"),
        (("a key", "missing"), 3, 1, '"a key"'),
        (("a key", "list", 3), 3, 28, "list"),
        (("a key", "flow", "deeper"), 3, 11, "flow"),
        (("block", "nested", 3, "missing"), 10, 5, "k"),
        (("block", "nested", 3, "missing", 0, "more"), 10, 5, "k"),
    ],
)
def test_a_value_stands_where_its_text_begins(path: tuple[str | int, ...], line: int, column: int, text: str) -> None:
    document = yaml.parse(PLACES.encode(), "case.yaml", is_json=False)
    assert document.locate(path) == Position(line, column, max(1, len(text)))
    assert document.line(line)[column - 1 :].startswith(text)


@pytest.mark.parametrize(
    ("path", "line", "column", "text"),
    [
        (("plain",), 1, 1, "plain"),
        (("a key",), 3, 1, '"a key"'),
        (("a key", "😀"), 3, 20, "😀"),
        (("a key", "list"), 3, 28, "list"),
        (("block", "nested"), 5, 3, "nested"),
        (("block", "nested", 3, "k"), 10, 5, "k"),
        (("block", "nested", 3, "empty"), 11, 5, "empty"),
        (("block", "nested", 0), 6, 5, "first"),
    ],
)
def test_a_key_stands_where_its_text_begins(path: tuple[str | int, ...], line: int, column: int, text: str) -> None:
    document = yaml.parse(PLACES.encode(), "case.yaml", is_json=False)
    assert document.locate(path, key=True) == Position(line, column, len(text))
    assert document.line(line)[column - 1 :].startswith(text)


def test_a_file_that_cannot_be_read_has_its_parts_at_its_beginning() -> None:
    assert parse("a: [\n").locate(("a", 0)) == Position(1, 1)
    assert parse("").locate(("a",)) == Position(1, 1)


def test_the_literal_of_a_number_is_its_text_as_the_file_spells_it() -> None:
    document = parse("a: [1e-5, 0x1F, .5, '2', !!float 3, [4], null]\n")
    literals = [document.literal(("a", index)) for index in range(8)]
    assert literals == ["1e-5", "0x1F", ".5", None, "3", None, "null", None]
    assert document.literal(("b",)) is None


def test_the_lines_of_a_file_are_numbered_from_1() -> None:
    document = parse("a: 1\r\nb: 2\n\nc: 3")
    assert [document.line(number) for number in range(6)] == ["", "a: 1", "b: 2", "", "c: 3", ""]
