"""Files as documents: their bytes, their names, and whatever is in them."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from files.parsing import NESTED, PROPERTY, json_values, parse, refusals, value_of
from hypothesis import given
from hypothesis import strategies as st

from dmlcheck.files import yaml
from dmlcheck.files.document import Position

# ---- characters and encodings


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        ("a: 1\n".encode("utf-16"), 1, 1),
        ("\ufeffa: 1\n".encode("utf-16-le"), 1, 1),
        ("\ufeffa: 1\n".encode("utf-16-be"), 1, 1),
        ("a: 1\n".encode("utf-16-le"), 1, 1),
        ("a: 1\n".encode("utf-16-be"), 1, 1),
        ("\ufeffa: 1\n".encode("utf-32-le"), 1, 1),
        (b"a: caf\xe9\n", 1, 7),
        (b"a: 1\r\nb: caf\xe9 cr\xe8me\r\n", 2, 7),
        ("\u00e9: \u00e9 ".encode() + b"\xff", 1, 6),
        ("a: \U0001f600 ".encode() + b"\xff", 1, 6),
        (b"\xef\xbb\xbfa: \xff", 1, 4),
        (b"a: \xc3", 1, 4),
        (b"a: \xed\xa0\x80", 1, 4),
        (b"a: \xc0\xaf", 1, 4),
        (b"a: \xf4\x90\x80\x80", 1, 4),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 1, 1),
        (b"\x1f\x8b\x08\0\0\0\0\0", 1, 2),
        (b"\x93NUMPY\x01\0v\0{'descr': '<f4'}", 1, 1),
    ],
)
def test_bytes_that_are_not_utf_8_are_refused_where_they_begin(data: bytes, line: int, column: int) -> None:
    assert refusals(data) == [("yaml-syntax", line, column)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("a: 1\n".encode("utf-16"), "UTF-16"),
        ("a: 1\n".encode("utf-16-le"), "UTF-16"),
        ("a: 1\n".encode("utf-16-be"), "UTF-16"),
        ("a".encode("utf-16-le"), "UTF-16"),
        *((text.encode(f"utf-32{end}"), "UTF-32") for text in ("a: 1\n", "\ufeffa: 1\n") for end in ("-le", "-be")),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
        (b"a: caf\xe9\n", "0xE9"),
        (b"a: \0\n", "U+0000"),
        (b"a: \x1b[0m\n", "U+001B"),
    ],
)
def test_the_message_says_what_the_bytes_are(data: bytes, words: str) -> None:
    (problem,) = yaml.parse(data, "case.yaml", is_json=False).problems
    assert words in problem.message


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\x80", "\uffff"])
@pytest.mark.parametrize(
    ("before", "line", "column"),
    [
        ("a: ", 1, 4),
        ("a: 1\nbc: ", 2, 5),
        ("a: 1\r\nbc: ", 2, 5),
        ("a: 1\rbc: ", 2, 5),
        ("\ufeffa: ", 1, 4),
        ("\u00e9: \u00fc\nb: ", 2, 4),
        ("# \u6f22\u5b57\nb: ", 2, 4),
        ("# \U0001f600\U0001f600\U0001f600\nb: ", 2, 4),
        ("'\U0001f600': ", 1, 6),
    ],
)
def test_a_character_that_may_not_stand_in_yaml_is_refused_where_it_stands(
    character: str, before: str, line: int, column: int
) -> None:
    assert refusals((before + character + "\n" + "c: 1\n" * 20).encode()) == [("yaml-syntax", line, column)]


def test_a_byte_order_mark_of_utf_8_is_no_part_of_the_file() -> None:
    document = parse("\ufeffa: b\n")
    assert document.value == {"a": "b"}
    assert document.locate(("a",)) == Position(1, 4, 1)
    assert document.line(1) == "a: b"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_read_alike(end: str) -> None:
    text = end.join(
        ["# comment", "a: 1", "", "b:", "  - x", "  - {c: é, d: [1, '😀', z]}", "e: |", "  one", "  two", ""]
    )
    document = parse(text)
    assert document.problems == []
    assert document.value == {"a": 1, "b": ["x", {"c": "é", "d": [1, "😀", "z"]}], "e": "one\ntwo\n"}
    assert document.locate(("a",)) == Position(2, 4, 1)
    assert document.locate(("b", 0)) == Position(5, 5, 1)
    assert document.locate(("b", 1, "d", 1)) == Position(6, 19, 3)
    assert document.locate(("b", 1, "d", 2)) == Position(6, 24, 1)
    assert document.line(6) == "  - {c: é, d: [1, '😀', z]}"
    assert refusals((text + "f: @" + end).encode()) == [("yaml-syntax", 10, 4)]


def test_tabs_may_separate_but_not_indent() -> None:
    assert value_of("a:\t1\t# one\nb: [1,\t2]\t\n") == {"a": 1, "b": [1, 2]}
    assert value_of('{\n\t"a": [\n\t\t1,\n\t\t2\n\t]\n}\n') == {"a": [1, 2]}
    assert refusals(b"a:\n\tb: 1\n") == [("yaml-syntax", 2, 1)]
    (problem,) = parse("a:\n\tb: 1\n").problems
    assert "indent with spaces" in str(problem.help)


# ---- files


def test_a_file_is_named_with_slashes_whatever_the_platform(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "case.yaml"
    path.parent.mkdir()
    path.write_bytes(b"a: 1\n")
    document = yaml.read(str(path))
    assert document.value == {"a": 1}
    assert document.name == path.as_posix()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.yaml", "no such file or folder"),
        ("missing.json", "no such file or folder"),
        ("folder", "is a folder"),
        ("no/such/folder.yaml", "no such file or folder"),
        ("null\0.yaml", "has a character that no path can have"),
    ],
)
def test_a_file_that_cannot_be_opened_is_a_problem_without_a_place(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    document = yaml.read(str(path))
    (problem,) = document.problems
    assert (problem.rule, problem.line, problem.column) == ("file-not-found", None, None)
    # The file is named once, before the message.
    assert (problem.file, problem.message) == (path.as_posix(), message)
    assert document.value is None


@pytest.mark.parametrize("name", ["case.yaml", "case.yml", "CASE.YAML", "case", "case.txt"])
def test_a_file_is_yaml_unless_its_name_says_json(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"{a: yes, b: [1, 2]}\n")
    assert yaml.read(str(path)).value == {"a": "yes", "b": [1, 2]}


# ---- properties

JSON_VALUES = json_values(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=20))


@pytest.mark.slow
@PROPERTY
@given(value=JSON_VALUES, indent=st.sampled_from([None, 0, 2]))
def test_any_json_value_reads_back_equal_through_the_yaml_reader(value: Any, indent: int | None) -> None:
    assert repr(value_of(json.dumps(value, ensure_ascii=False, indent=indent))) == repr(value)


@pytest.mark.slow
@PROPERTY
@given(text=st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=40))
def test_any_text_reads_back_equal_from_the_escapes_of_json(text: str) -> None:
    assert value_of(json.dumps([text, {text: 1}])) == [text, {text: 1}]


@PROPERTY
@given(data=st.binary(max_size=60))
def test_any_bytes_give_a_value_or_problems_inside_the_file(data: bytes) -> None:
    document = yaml.parse(data, "case.yaml", is_json=False)
    lines = re.split("\r\n|[\n\r\x85\u2028\u2029]", data.decode("utf-8-sig", "replace"))
    for problem in document.problems:
        assert problem.line is not None
        assert problem.column is not None
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1


@PROPERTY
@given(text=st.text(st.sampled_from("ab:-[]{},&*!|>'\"#%@? \n\t1é😀"), max_size=30))
def test_any_text_of_yaml_s_own_characters_is_read_or_refused_inside_the_file(text: str) -> None:
    document = parse(text)
    lines = text.split("\n")
    for problem in document.problems:
        assert problem.line is not None
        assert problem.column is not None
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
    assert document.value is None or document.locate(("a", 0)).line <= len(lines)


def named(value: Any, path: tuple[str | int, ...], spelt: dict[tuple[str | int, ...], str]) -> Any:
    """Return a structure whose leaves have texts of their own, noting the text of the leaf at each path."""
    if isinstance(value, list):
        return [named(part, (*path, index), spelt) for index, part in enumerate(value)]
    if isinstance(value, dict):
        return {key: named(part, (*path, key), spelt) for key, part in value.items()}
    spelt[path] = f"leaf{len(spelt)}{value}" if len(spelt) % 3 else f'"leaf{len(spelt)}, {value}"'
    return spelt[path]


def flow(value: Any) -> str:
    """Return a structure in flow style; its leaves are their own text."""
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(part)}" for key, part in value.items()) + "}"
    return str(value)


def block(value: Any, blocks: int) -> list[str]:
    """Return the lines of a structure whose upper levels, `blocks` of them, are in block style."""
    if blocks == 0 or not value or isinstance(value, str):
        return [flow(value)]
    lines = []
    for key, part in value.items() if isinstance(value, dict) else ((None, part) for part in value):
        inner = block(part, blocks - 1)
        if key is None:
            lines.extend(("  " if index else "- ") + line for index, line in enumerate(inner))
        elif len(inner) == 1 and (blocks == 1 or not part or isinstance(part, str)):
            lines.append(f"{key}: {inner[0]}")
        else:
            lines.extend([f"{key}: # below", *(f"  {line}" for line in inner)])
    return lines


@pytest.mark.slow
@PROPERTY
@given(shape=NESTED, blocks=st.integers(0, 4), end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_path_of_a_structure_points_at_the_text_of_its_value(shape: Any, blocks: int, end: str) -> None:
    spelt: dict[tuple[str | int, ...], str] = {}
    structure = named(shape, (), spelt)
    document = parse("# 😀" + end + end.join(block(structure, blocks)) + end)
    assert document.problems == []
    for path, text in spelt.items():
        line, column, width = document.locate(path)
        assert document.line(line)[column - 1 : column - 1 + width] == text
        for part in range(1, len(path) + 1):
            key = path[part - 1]
            line, column, width = document.locate(path[:part], key=True)
            if isinstance(key, str):
                assert document.line(line)[column - 1 : column - 1 + width] == key
            container = document.locate(path[:part])
            assert container[:2] <= document.locate(path)[:2]
    for earlier, later in pairwise(spelt):
        assert document.locate(earlier)[:2] < document.locate(later)[:2]
