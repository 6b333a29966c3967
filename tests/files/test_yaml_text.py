"""Plain values as YAML, read back by PyYAML, whose YAML 1.1 has more words than 1.2."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dmlcheck.files.yaml_text import flow, key, one_line, text


@pytest.mark.parametrize(
    "value", ["NO", "on", "1e5", "a: b", "# no", "", " x", "é\x85\u2028", "\ud800", "NULL", "SUM", "-", "y", "INF"]
)
def test_a_text_reads_back_as_itself(value: str) -> None:
    assert yaml.safe_load(flow({"key": [value]})) == {"key": [value]}
    assert yaml.safe_load(f"{key(value)}: 1") == {value: 1}
    assert text(value).isprintable()
    assert key(value).isprintable()


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("InputTensor", True),
        ("fünf", True),
        ("a.b-c", True),
        ("_x", True),
        ("1st", False),
        ("Yes", False),
        ("n", False),
    ],
)
def test_a_key_is_plain_where_it_is_a_word(name: str, plain: bool) -> None:
    assert key(name) == (name if plain else f'"{name}"')


@pytest.mark.parametrize(("value", "plain"), [("FLOAT32", True), ("SUM", True), ("sum", False), ("NO", False)])
def test_a_text_is_plain_where_it_is_a_name_of_directml(value: str, plain: bool) -> None:
    assert text(value) == (value if plain else f'"{value}"')


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"DataType": "FLOAT32", "Sizes": [2, 3]}, "{DataType: FLOAT32, Sizes: [2, 3]}"),
        ({"a b": [None, True, 0.5, "x"]}, '{"a b": [null, true, 0.5, "x"]}'),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_values_are_written_on_one_line(value: Any, written: str) -> None:
    assert flow(value) == written
    assert yaml.safe_load(written) == value


def test_a_comment_is_one_line() -> None:
    assert one_line("a\n b\t\x85c\u2028d") == "a b c d"
    assert one_line("a\x7fb\ud800") == "a?b?"
