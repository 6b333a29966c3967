"""Reading JSON as DxDispatch writes it: comments, trailing commas, places, and what Python's decoder would let pass."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from files.parsing import NESTED, PROPERTY, json_values, rules_in_a_process
from hypothesis import given
from hypothesis import strategies as st

from dmlcheck.files import yaml
from dmlcheck.files.document import Document, Overflow, Position
from dmlcheck.files.json import parse_json
from dmlcheck.files.yaml import MAX_DEPTH, MAX_DIGITS, MAX_NODES


def parse(text: str) -> Document:
    """Read text as a JSON file."""
    return yaml.parse(text.encode(), "case.json", is_json=True)


def value_of(text: str) -> Any:
    """Return the value of JSON that has no problems."""
    document = parse(text)
    assert document.problems == []
    return document.value


def refusals(text: str) -> list[tuple[str, int | None, int | None]]:
    """Return the rule and the place of each problem of text that cannot be read."""
    document = parse(text)
    assert document.value is None
    return [(problem.rule, problem.line, problem.column) for problem in document.problems]


# ---- values


@pytest.mark.parametrize("text", ["1e999999999", "-1e309", "9" * 400 + ".5"], ids=["exponent", "negative", "digits"])
def test_a_float_beyond_float64_keeps_its_text(text: str) -> None:
    (value,) = value_of(f"[{text}]")
    assert type(value) is Overflow
    assert value.text == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("// a comment\n[1]", [1]),
        ("[1] // a comment", [1]),
        ("[1] // a comment\n", [1]),
        ("/* one */ [1, /* two\nlines */ 2] /**/", [1, 2]),
        ("[/*/ 1, /*/ 2]", [2]),
        ("[/* // */ 1]", [1]),
        ("[// /*\n 1]", [1]),
        ('[1 // "quoted\n, 2]', [1, 2]),
        ("[1 /* it's */, 2]", [1, 2]),
        ('["// text", "/* text */", "\\"// text"]', ["// text", "/* text */", '"// text']),
        ('{"a//b": 1, "c" // d\n: 2}', {"a//b": 1, "c": 2}),
        ("[1,]", [1]),
        ("[1, ]", [1]),
        ("[1,\n]", [1]),
        ("[1, // last\n]", [1]),
        ("[1, /* last */ ]", [1]),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('[",]", ",}"]', [",]", ",}"]),
        ('{",}": ",]"}', {",}": ",]"}),
        ("\ufeff[1]", [1]),
        ("\r\n[\r\n1, // one\r\n2\r\n]\r\n", [1, 2]),
        ("\t[\t1\t,\t2\t]", [1, 2]),
        ("[1,\r2\r]", [1, 2]),
    ],
)
def test_comments_and_trailing_commas_are_read_as_dxdispatch_reads_them(text: str, value: Any) -> None:
    assert value_of(text) == value


# ---- what is refused


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        (" \n", 2, 1),
        ("{", 1, 2),
        ("[", 1, 2),
        ("[1", 1, 3),
        ("[1,", 1, 4),
        ("[1}", 1, 3),
        ('{"a" 1}', 1, 6),
        ('{"a": 1 "b": 2}', 1, 9),
        ("{'a': 1}", 1, 2),
        ("{a: 1}", 1, 2),
        ('{"a": yes}', 1, 7),
        ('{"a": 1}\n{"b": 2}', 2, 1),
        ("[1] x", 1, 5),
        ("[01]", 1, 3),
        ("[+1]", 1, 2),
        ("[.5]", 1, 2),
        ("[1.]", 1, 3),
        ("[0x1F]", 1, 3),
        ("[1_000]", 1, 3),
        ("[TRUE]", 1, 2),
        ("[None]", 1, 2),
        ("[undefined]", 1, 2),
        ('["a]', 1, 2),
        ('["a\n"]', 1, 4),
        ('["a\tb"]', 1, 4),
        ('["\\x41"]', 1, 3),
        ('["\\u12"]', 1, 4),
        ('["a", "b\\"]', 1, 7),
        ("# yaml\n[1]", 1, 1),
        ("- 1", 1, 1),
        ("[1 /* never closed", 1, 4),
        ("/", 1, 1),
        ("/*", 1, 1),
        ("[1 / 2]", 1, 4),
        ("[1,,]", 1, 4),
        ("[,]", 1, 2),
        ("[ , 1]", 1, 3),
        ("{,}", 1, 2),
        ('{"a":,}', 1, 6),
        ("[1] ,", 1, 5),
        ("[1\u00a0]", 1, 3),
        ("[NaN]", 1, 2),
        ("[1,\n -Infinity]", 2, 2),
        ('{"a": Infinity}', 1, 7),
        ("[nan]", 1, 2),
        ("\0", 1, 1),
        ("[1,\0]", 1, 4),
    ],
)
def test_what_is_not_json_is_refused_where_it_goes_wrong(text: str, line: int, column: int) -> None:
    (found,) = refusals(text)
    assert found[:2] == ("yaml-syntax", line)
    # The decoder of one Python version names the separator that is wrong, that of another what follows it.
    assert found[2] in (column, column + 1)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_a_float_that_json_does_not_have_is_refused_with_how_to_write_it(token: str) -> None:
    (problem,) = parse(f'{{"values": [1, {token}]}}').problems
    assert (problem.line, problem.column) == (1, 16)
    assert token in problem.message
    assert '"nan", "inf" or "-inf"' in problem.message
    assert value_of(f'["{token}"]') == [token]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1] /* never closed", "a comment is not closed"),
        ("[" * 200, "too many levels of lists and mappings"),
        ("[" + "1" * 5000 + "]", "a number of 5,000 digits is not read"),
        ("[1 2]", "not JSON: expecting ',' delimiter"),
    ],
)
def test_the_message_says_what_is_wrong(text: str, message: str) -> None:
    (problem,) = parse(text).problems
    assert problem.message == message


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{\n"a": 1,\n"b" 2\n}', 3, 5),
        ('{\n"a": 1,\n"b": NaN\n}', 3, 6),
        ('/* one\ntwo */ {\n"😀": 1,\n  "é": @\n}', 4, 8),
    ],
)
def test_a_syntax_error_has_its_place_whatever_the_line_ends(text: str, line: int, column: int, end: str) -> None:
    assert refusals(text.replace("\n", end)) == [("yaml-syntax", line, column)]


@pytest.mark.parametrize(
    ("opening", "closing", "column"),
    [("[", "]", MAX_DEPTH + 1), ('{"a":', "}", 5 * MAX_DEPTH + 1), ('[{"a":', "}]", 6 * MAX_DEPTH // 2 + 1)],
)
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_nesting_beyond_the_limit_is_refused_where_it_begins(
    opening: str, closing: str, column: int, depth: int
) -> None:
    assert refusals(opening * depth) == [("yaml-syntax", 1, column)]
    assert refusals(opening * depth + "1" + closing * depth) == [("yaml-syntax", 1, column)]


@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_of_too_many_digits_is_refused_where_it_stands(sign: str) -> None:
    assert refusals(f'{{"a": [1, {sign}{"9" * (MAX_DIGITS + 1)}]}}') == [("yaml-syntax", 1, 11)]
    assert refusals(f'{{"a": [1, {sign}{"9" * 100_000}]}}') == [("yaml-syntax", 1, 11)]
    text = "9" * 100_000
    assert value_of(f'["{text}"]') == [text]


@pytest.mark.slow
def test_the_number_of_values_is_limited() -> None:
    (problem,) = parse("[" + "1," * (MAX_NODES + 10) + "1]").problems
    assert problem.rule == "file-too-large"
    assert problem.message.startswith("case.json has more than ")


def test_a_text_has_a_number_of_escapes_that_are_read() -> None:
    """65,536 of them are; memory for more would be many times the text."""
    read = parse_json("case.json", '{"a": "' + "\\\\" * 2**16 + '"}')
    assert (read.value, read.problems) == ({"a": "\\" * 2**16}, [])
    tracemalloc.start()
    try:
        (problem,) = parse_json("case.json", '[1,\n "' + "\\n" * 2_000_000 + '"]').problems
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 32 * 2**20
    assert (problem.line, problem.column) == (2, 2)
    assert problem.message == "a text has more than 65,536 escapes"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("[1, " + "/* " * 200_000 + "]", ["yaml-syntax"]),
        ("/" * 200_000, ["yaml-syntax"]),
        ("[" + '\\"' * 100_000 + "]", ["yaml-syntax"]),
        ('["' + '\\"' * 100_000, ["yaml-syntax"]),
        ('["' + "a" * 1_000_000, ["yaml-syntax"]),
        ('["' + "\\" * 20_000_000 + '"]', ["yaml-syntax"]),
        ("[" + '"' * 200_001, ["yaml-syntax"]),
        ("[" + "," * 1_000_000, ["yaml-syntax"]),
        ("[1," + " " * 1_000_000 + "x", ["yaml-syntax"]),
        ("[" + "1, " * 100_000 + " " * 1_000_000 + "2]", []),
        ("[1]" + "\n" * 1_000_000, []),
        ("{" + '"a": 1,' * 20_000 + "}", ["duplicate-key"] * 100),
    ],
    ids=[
        "comments-never-closed",
        "slashes",
        "escaped-quotes",
        "escaped-quotes-in-text",
        "text-never-closed",
        "text-of-escapes",
        "quotes",
        "commas",
        "blanks-after-a-comma",
        "blanks",
        "empty-lines",
        "one-key-throughout",
    ],
)
def test_no_text_takes_much_longer_than_its_length(text: str, rules: list[str], tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(text, encoding="utf-8", newline="\n")
    found = rules_in_a_process(path)
    assert found[: len(rules)] == rules
    assert set(found) == set(rules)


# ---- positions

PLACES = """\
// 😀
{"text": "😀 {[,", "list": [1, "two", [], {"deep": null}], /* , */
  "nested": {
    "é😀": -1.5e3, "after": true,
  },
}
"""


@pytest.mark.parametrize(
    ("path", "line", "column", "text"),
    [
        ((), 2, 1, "{"),
        (("text",), 2, 10, '"😀 {[,"'),
        (("list",), 2, 27, '[1, "two", [], {"deep": null}]'),
        (("list", 0), 2, 28, "1"),
        (("list", 1), 2, 31, '"two"'),
        (("list", 2), 2, 38, "["),
        (("list", 3), 2, 42, "{"),
        (("list", 3, "deep"), 2, 51, "null"),
        (("nested",), 3, 13, "{"),
        (("nested", "é😀"), 4, 11, "-1.5e3"),
        (("nested", "after"), 4, 28, "true"),
        (("missing",), 2, 1, "{"),
        (("nested", "missing"), 3, 3, '"nested"'),
        (("list", 9), 2, 19, '"list"'),
    ],
)
def test_a_value_stands_where_its_text_begins(path: tuple[str | int, ...], line: int, column: int, text: str) -> None:
    document = parse(PLACES)
    assert document.locate(path) == Position(line, column, len(text))
    assert document.line(line)[column - 1 :].startswith(text)


def test_a_key_stands_where_its_text_begins() -> None:
    document = parse(PLACES)
    assert document.locate(("text",), key=True) == Position(2, 2, 6)
    assert document.locate(("nested",), key=True) == Position(3, 3, 8)
    assert document.locate(("nested", "é😀"), key=True) == Position(4, 5, 4)


def test_the_literal_of_a_number_is_its_text_as_the_file_spells_it() -> None:
    document = parse('[1.50, 1E5, -0, "2", true, [3]]')
    literals = [document.literal((index,)) for index in range(6)]
    assert literals == ["1.50", "1E5", "-0", None, "true", None]


# ---- which files are JSON


@pytest.mark.parametrize("name", ["case.json", "CASE.JSON", "model.dml.json"])
def test_a_file_is_json_where_its_name_says_so(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b'{"a": [1, // one\n 2,]}\n')
    assert yaml.read(str(path)).value == {"a": [1, 2]}
    path.write_bytes(b"a: 1\n")
    assert [problem.rule for problem in yaml.read(str(path)).problems] == ["yaml-syntax"]


def test_text_of_no_name_keeps_the_problems_of_its_json() -> None:
    document = yaml.parse(b'{"a": 1, "a": 2, // twice\n}', "-")
    assert document.value == {"a": 1}
    assert [problem.rule for problem in document.problems] == ["duplicate-key"]


# ---- properties

JSON_VALUES = json_values(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
INLINE = ["", " ", "\t", "/**/", "/* [ */", "/*/ , */", '/* "// */']
BETWEEN = [*INLINE, "\n", "\r\n", '// "\n', '/* "\n// } */', "// */ /*\r\n"]


def tokens(value: Any, commas: Iterator[bool]) -> Iterator[str]:
    """Yield the tokens of a value as JSON, now and then with a trailing comma."""
    if isinstance(value, dict):
        yield "{"
        for index, (key, part) in enumerate(value.items()):
            yield from [","] * (index > 0)
            yield from (json.dumps(key, ensure_ascii=False), ":")
            yield from tokens(part, commas)
        yield from [","] * (bool(value) and next(commas))
        yield "}"
    elif isinstance(value, list):
        yield "["
        for index, part in enumerate(value):
            yield from [","] * (index > 0)
            yield from tokens(part, commas)
        yield from [","] * (bool(value) and next(commas))
        yield "]"
    else:
        yield json.dumps(value, ensure_ascii=False)


@pytest.mark.slow
@PROPERTY
@given(value=JSON_VALUES, indent=st.sampled_from([None, 0, 2, "\t"]), ensure_ascii=st.booleans())
def test_any_json_value_reads_back_equal(value: Any, indent: int | str | None, ensure_ascii: bool) -> None:
    assert repr(value_of(json.dumps(value, indent=indent, ensure_ascii=ensure_ascii))) == repr(value)


@pytest.mark.slow
@PROPERTY
@given(
    value=JSON_VALUES,
    between=st.lists(st.sampled_from(BETWEEN), min_size=1, max_size=8),
    commas=st.lists(st.booleans(), min_size=1, max_size=4),
)
def test_comments_between_the_tokens_and_trailing_commas_change_nothing(
    value: Any, between: list[str], commas: list[bool]
) -> None:
    blanks = cycle(between)
    text = "".join(token + next(blanks) for token in ["", *tokens(value, cycle(commas))])
    assert repr(value_of(text)) == repr(value)


def named(value: Any, path: tuple[str | int, ...], spelt: dict[tuple[str | int, ...], str]) -> Any:
    """Return a structure whose leaves have texts of their own, noting the JSON of the leaf at each path."""
    if isinstance(value, list):
        return [named(part, (*path, index), spelt) for index, part in enumerate(value)]
    if isinstance(value, dict):
        return {key: named(part, (*path, key), spelt) for key, part in value.items()}
    leaf = f"{value}{len(spelt)}" if len(spelt) % 2 else len(spelt) + 1000
    spelt[path] = json.dumps(leaf, ensure_ascii=False)
    return leaf


@pytest.mark.slow
@PROPERTY
@given(
    shape=NESTED,
    inline=st.lists(st.sampled_from(INLINE), min_size=1, max_size=8),
    between=st.lists(st.sampled_from(BETWEEN), min_size=1, max_size=8),
)
def test_every_path_of_a_structure_points_at_the_text_of_its_value(
    shape: Any, inline: list[str], between: list[str]
) -> None:
    spelt: dict[tuple[str | int, ...], str] = {}
    structure = named(shape, (), spelt)
    same_line, any_line = cycle(inline), cycle(between)
    parts = (token + next(any_line if token == "," else same_line) for token in tokens(structure, cycle([True, False])))
    document = parse("// 😀\n" + "".join(parts))
    assert document.problems == []
    for path, leaf in spelt.items():
        line, column, width = document.locate(path)
        assert document.line(line)[column - 1 : column - 1 + width] == leaf
        assert document.literal(path) == (leaf if leaf[0] != '"' else None)
        if path and isinstance(path[-1], str):
            line, column, width = document.locate(path, key=True)
            assert document.line(line)[column - 1 : column - 1 + width] == json.dumps(path[-1], ensure_ascii=False)


@PROPERTY
@given(text=st.text(st.sampled_from('ab01-.e:[]{},/*"\\ \n\r\u2028é😀'), max_size=30))
def test_any_text_of_json_s_own_characters_is_read_or_refused_inside_the_file(text: str) -> None:
    document = parse(text)
    for problem in document.problems:
        assert problem.line is not None
        assert problem.column is not None
        assert problem.line >= 1
        assert 1 <= problem.column <= len(document.line(problem.line)) + 1


@pytest.mark.parametrize("text", ["", "\n"])
def test_an_empty_file_is_said_to_be_empty(text: str) -> None:
    (problem,) = parse_json("a.json", text).problems
    assert (problem.rule, problem.message) == ("yaml-syntax", "not JSON: the file is empty")
