"""Reading YAML 1.2: what every scalar means, what is refused and where, and that no file takes the reader down."""

from __future__ import annotations

import math
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from files.parsing import parse, refusals, rules_in_a_process, value_of

from dmlcheck.files import yaml
from dmlcheck.files.document import Position
from dmlcheck.files.yaml import MAX_BYTES, MAX_DEPTH, MAX_DIGITS, MAX_NODES


def billion_laughs(levels: int) -> str:
    """Return lists of ten aliases of lists of ten aliases, and so on: 10^levels values."""
    bottom = "b0: &b0 [x, x, x, x, x, x, x, x, x, x]\n"
    rest = (f"b{level}: &b{level} [{', '.join([f'*b{level - 1}'] * 10)}]\n" for level in range(1, levels))
    return bottom + "".join(rest)


# ---- scalars


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # null
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("none", "none"),
        # truth
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("False", False),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("yes", "yes"),
        ("Yes", "Yes"),
        ("no", "no"),
        ("NO", "NO"),
        ("on", "on"),
        ("off", "off"),
        ("Off", "Off"),
        ("y", "y"),
        ("n", "n"),
        # whole numbers
        ("0", 0),
        ("-0", 0),
        ("+0", 0),
        ("1", 1),
        ("+1", 1),
        ("-1", -1),
        ("010", 10),
        ("08", 8),
        ("-007", -7),
        ("0x1F", 31),
        ("0xff", 255),
        ("0x00", 0),
        ("0o17", 15),
        ("0o0", 0),
        ("4294967296", 2**32),
        ("18446744073709551616", 2**64),
        ("-9223372036854775809", -(2**63) - 1),
        ("0X1F", "0X1F"),
        ("0O17", "0O17"),
        ("-0x1F", "-0x1F"),
        ("+0o17", "+0o17"),
        ("0x", "0x"),
        ("0xG", "0xG"),
        ("0o8", "0o8"),
        ("0b101", "0b101"),
        ("1_000", "1_000"),
        ("0x_1", "0x_1"),
        ("1,000", "1,000"),
        ("1:30", "1:30"),
        ("190:20:30", "190:20:30"),
        ("4_1", "4_1"),
        ("\u0661\u0662", "\u0661\u0662"),
        ("1\u0662", "1\u0662"),
        ("\uff11", "\uff11"),
        ("+", "+"),
        ("-+1", "-+1"),
        ("--1", "--1"),
        # floats
        ("1e-5", 1e-5),
        ("1E5", 1e5),
        ("1e5", 1e5),
        ("1e+5", 1e5),
        ("-2E+05", -2e5),
        ("12e03", 12e3),
        (".5", 0.5),
        ("-.5", -0.5),
        ("+.5", 0.5),
        (".5e1", 5.0),
        ("5.", 5.0),
        ("5.e1", 50.0),
        ("0.1", 0.1),
        ("-0.0", -0.0),
        ("0e0", 0.0),
        ("4.1", 4.1),
        ("6.02214076e23", 6.02214076e23),
        ("5e-324", 5e-324),
        ("1e-999999999", 0.0),
        ("-1e-999999999", -0.0),
        ("1.7976931348623157e308", sys.float_info.max),
        ("685_230.15", "685_230.15"),
        ("1.2.3", "1.2.3"),
        (".", "."),
        ("-.", "-."),
        (".e5", ".e5"),
        ("e5", "e5"),
        ("1e", "1e"),
        ("1e5.0", "1e5.0"),
        ("1e_5", "1e_5"),
        ("1d5", "1d5"),
        ("0x1.8p+1", "0x1.8p+1"),
        ("1f", "1f"),
        # infinities and NaN
        (".inf", math.inf),
        (".Inf", math.inf),
        (".INF", math.inf),
        ("+.inf", math.inf),
        ("-.inf", -math.inf),
        ("-.INF", -math.inf),
        (".nan", math.nan),
        (".NaN", math.nan),
        (".NAN", math.nan),
        (".iNF", ".iNF"),
        (".Nan", ".Nan"),
        ("-.nan", "-.nan"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("nan", "nan"),
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        # what YAML 1.1 would make of other text
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01 12:00:00Z", "2020-01-01 12:00:00Z"),
        ("<<", "<<"),
        ("=", "="),
        ("1.0.0", "1.0.0"),
        ("192.168.0.1", "192.168.0.1"),
        ("a b  c", "a b  c"),
        ("http://example.com/#x", "http://example.com/#x"),
        ("\U0001f600", "\U0001f600"),
        # quoted
        ("'1'", "1"),
        ('"1"', "1"),
        ("'1e-5'", "1e-5"),
        ('"0x1F"', "0x1F"),
        ("'null'", "null"),
        ("'true'", "true"),
        ("'~'", "~"),
        ("''", ""),
        ('""', ""),
        ("'it''s'", "it's"),
        (r"'\n'", r"\n"),
        (r'"\n\t\"\\\/\x41\u00e9\U0001F600\0"', '\n\t"\\/A\u00e9\U0001f600\0'),
        # tags that say what a value is anyway
        ("!!str 1", "1"),
        ("!!str", ""),
        ("!!str null", "null"),
        ("! 1", "1"),
        ("!<tag:yaml.org,2002:str> 1", "1"),
        ("!!int 1", 1),
        ("!!int '1'", 1),
        ("!!int 0x1F", 31),
        ("!!float 1", 1.0),
        ("!!float 1.5", 1.5),
        ("!!float -.inf", -math.inf),
        ("!!bool true", True),
        ("!!null ~", None),
        ("!!null", None),
        ("!!seq [1]", [1]),
        ("!!map {a: 1}", {"a": 1}),
    ],
)
def test_a_scalar_is_what_yaml_1_2_says(text: str, value: Any) -> None:
    assert repr(value_of(f"- {text}\n- key: {text}\n")) == repr([value, {"key": value}])
    assert repr(value_of(f"{text} # a comment\n")) == repr(value)
    # A comma would end it there.
    assert repr(value_of(f"[ {text} ]")) == repr([value]) or "," in text


@pytest.mark.parametrize("text", ["key:", "key: ", "key: # nothing", "{key: }", "{key: , }", "{key}", "? key"])
def test_a_value_that_is_left_out_is_null(text: str) -> None:
    assert value_of(text) == {"key": None}


@pytest.mark.parametrize("text", ["1", "010", "1.0", "null", "~", "true", "yes", "4_1", ".nan", "0x10"])
def test_a_key_is_text_however_it_is_spelt(text: str) -> None:
    assert value_of(f"{text}: x\n") == {text: "x"}
    assert value_of(f"'{text}': x\n") == {text: "x"}


@pytest.mark.parametrize("directive", ["%YAML 1.1", "%YAML 1.2", "%TAG ! tag:example.com,2000:"])
def test_a_directive_does_not_change_what_scalars_mean(directive: str) -> None:
    assert value_of(f"{directive}\n---\na: yes\nb: 010\nc: 1:30\n") == {"a": "yes", "b": 10, "c": "1:30"}


@pytest.mark.parametrize("text", ["", "\n\n", " ", "# a comment\n", "---\n", "--- # nothing\n...\n", "~\n", "\ufeff"])
def test_a_file_without_a_value_reads_as_null_and_has_no_problems(text: str) -> None:
    assert value_of(text) is None


# ---- tags


@pytest.mark.parametrize(
    "tagged",
    [
        "!!python/object/apply:os.system ['exit 1']",
        "!!python/object/new:os.system ['exit 1']",
        "!!python/object:dmlcheck.files.document.Document {}",
        "!!python/name:os.system",
        "!!python/module:os",
        "!!python/none",
        "!!python/tuple [1, 2]",
        "!<tag:yaml.org,2002:python/object/apply:os.system> ['exit 1']",
        "!!binary aGVsbG8=",
        "!!timestamp 2020-01-01",
        "!!set {a}",
        "!!omap [a: 1]",
        "!!pairs [a: 1]",
        "!!merge <<",
        "!!value =",
        "!local 1",
        "!local {a: 1}",
        "!local [1]",
        "!!int text",
        "!!int 1.0",
        "!!int",
        "!!float text",
        "!!float nan",
        "!!bool yes",
        "!!bool 1",
        "!!null 0",
        "!!map 1",
        "!!seq 1",
        "!!str [1]",
        "!!int {a: 1}",
        "!!map [1]",
        "!!seq {a: 1}",
    ],
)
def test_a_tag_that_says_anything_else_is_refused_where_it_stands(tagged: str) -> None:
    assert refusals(f"good: 1\nkey: {tagged}\n".encode()) == [("yaml-syntax", 2, 6)]
    assert refusals(f"- 1\n- {tagged}\n".encode()) == [("yaml-syntax", 2, 3)]


def test_a_tag_that_a_directive_abbreviates_is_refused() -> None:
    text = b"%TAG !y! tag:yaml.org,2002:python/\n---\nkey: !y!none x\n"
    assert refusals(text) == [("yaml-syntax", 3, 6)]


def test_a_tagged_key_is_refused_unless_it_is_text() -> None:
    assert value_of("!!str 1: x\n") == {"1": "x"}
    assert refusals(b"a: 1\n!!int 1: x\n") == [("yaml-syntax", 2, 1)]


# ---- anchors and aliases


def test_an_alias_is_the_value_of_its_anchor() -> None:
    text = "a: &list [1, &text two]\nb: *list\nc: *text\nd: {e: *list}\nf: &empty\ng: *empty\n"
    expected = {"a": [1, "two"], "b": [1, "two"], "c": "two", "d": {"e": [1, "two"]}, "f": None, "g": None}
    assert value_of(text) == expected


def test_an_anchor_that_is_set_again_holds_from_there() -> None:
    text = "a: &x 1\nb: *x\nc: &x [2]\nd: *x\n"
    assert value_of(text) == {"a": 1, "b": 1, "c": [2], "d": [2]}
    document = parse(text)
    assert document.locate(("c", 0)) == Position(3, 8, 1)
    assert document.locate(("d",)).line in (3, 4)


def test_a_merge_key_is_a_key_like_any_other() -> None:
    assert value_of("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n") == {"a": {"x": 1}, "b": {"<<": {"x": 1}, "y": 2}}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: *b\n", 1, 4),
        ("a: *b\nb: &b 1\n", 1, 4),
        ("a: &a [1, *a]\n", 1, 11),
        ("a: &a\n  b:\n    c: *a\n", 3, 8),
        ("a: &a x\n*a : 1\n", 2, 1),
        ("a: &a x\nb: {*a : 1}\n", 2, 5),
        ("? [a]\n: 1\n", 1, 3),
        ("? {a: 1}\n: 1\n", 1, 3),
        ("a: {[1]: 2}\n", 1, 5),
        ("? - a\n: 1\n", 1, 3),
    ],
)
def test_an_alias_without_end_or_beginning_and_a_key_that_is_no_name_are_refused(
    text: str, line: int, column: int
) -> None:
    assert refusals(text.encode()) == [("yaml-syntax", line, column)]


# ---- files that would take a reader down


def test_aliases_that_expand_beyond_the_limit_are_refused_without_expanding_them() -> None:
    tracemalloc.start()
    try:
        document = parse(billion_laughs(40))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [(problem.rule, problem.line) for problem in document.problems] == [("file-too-large", 6)]
    assert document.value is None
    assert peak < 10 * 2**20


def test_aliases_within_the_limit_share_what_they_stand_for() -> None:
    value = value_of(billion_laughs(5))
    assert all(value["b4"][index] is value["b3"] for index in range(10))
    assert value["b4"][9][9][9][9][9] == "x"


@pytest.mark.parametrize(
    ("opening", "closing", "column"),
    [
        ("[", "]", MAX_DEPTH + 1),
        ("{a: ", "}", 4 * MAX_DEPTH + 1),
        ("- ", "", 2 * MAX_DEPTH + 1),
        ("[{a: ", "}]", 5 * MAX_DEPTH // 2 + 1),
    ],
)
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_nesting_beyond_the_limit_is_refused_where_it_begins(
    opening: str, closing: str, column: int, depth: int
) -> None:
    assert refusals((opening * depth).encode()) == [("yaml-syntax", 1, column)]
    assert refusals((opening * depth + "1" + closing * depth).encode()) == [("yaml-syntax", 1, column)]


def test_blocks_nested_beyond_the_limit_are_refused_where_it_begins() -> None:
    text = "\n".join(" " * level + "a:" for level in range(2_000))
    assert refusals(text.encode()) == [("yaml-syntax", MAX_DEPTH + 1, MAX_DEPTH + 1)]


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}"), ("- ", "")])
def test_nesting_up_to_the_limit_is_read(opening: str, closing: str) -> None:
    value = value_of(opening * MAX_DEPTH + "1" + closing * MAX_DEPTH)
    for _ in range(MAX_DEPTH):
        (value,) = value.values() if isinstance(value, dict) else value
    assert value == 1


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        # each alias nests one deeper than the one before it
        ("".join(f"a{n}: &a{n} {[f'*a{n - 1}'] if n else []}\n".replace("'", "") for n in range(1300)), 100, 12),
        ("x: &x " + "[" * 60 + "]" * 60 + "\ny: " + "[" * 40 + "*x" + "]" * 40 + "\n", 2, 44),
        ("- &x " + "[" * 98 + "]" * 98 + "\n- &y [*x]\n- {a: *y}\n", 3, 7),
        ("- &x [&y {a: " + "[" * 96 + "]" * 96 + "}]\n- {a: *x}\n- {a: {b: *y}}\n- [[{a: {b: *x}}]]\n", 4, 13),
    ],
    ids=["chain", "half-and-half", "through-another", "inner-anchor"],
)
def test_nesting_that_an_alias_brings_counts_like_any_other(text: str, line: int, column: int) -> None:
    assert refusals(text.encode()) == [("yaml-syntax", line, column)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("m: {a: 1, a: 2}\nb: " + "[" * 100_000, ["duplicate-key", "yaml-syntax"]),
        ("m: {a: 1, a: 2}\nb:\n  " + "- " * 100_000, ["duplicate-key", "yaml-syntax"]),
        ("m: {a: 1, a: 2}\nb: " + "{a: " * 100_000, ["duplicate-key", "yaml-syntax"]),
        ("m: {a: 1, a: 2}\n" + billion_laughs(30), ["duplicate-key", "file-too-large"]),
        ("m: {a: 1, a: 2}\nb: &b [*b]\n", ["duplicate-key", "yaml-syntax"]),
        ("m:\n" + "- {a: 1, a: 2}\n" * 200 + "x: [" + "1, " * 900_000 + "]\n", ["duplicate-key"] * 100),
        ("a: 1\n" * 100_000, ["duplicate-key"] * 100),
    ],
    ids=["brackets", "dashes", "braces", "aliases", "alias-of-itself", "many-in-a-large-file", "one-key-throughout"],
)
def test_looking_for_the_first_of_two_keys_is_bounded_whatever_follows(
    text: str, rules: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(text, encoding="utf-8", newline="\n")
    found = rules_in_a_process(path)
    assert found[: len(rules)] == rules
    assert set(found) == set(rules)


@pytest.mark.parametrize(
    "number",
    ["9" * (MAX_DIGITS + 1), "9" * 100_000, "-" + "9" * 100_000, "0x" + "F" * 100_000, "0o" + "7" * 100_000],
    ids=["a-digit-too-many", "decimal", "negative", "hexadecimal", "octal"],
)
def test_a_number_of_more_digits_is_refused_where_it_stands(number: str) -> None:
    assert refusals(f"a: 1\nb: [2, {number}]\n".encode()) == [("yaml-syntax", 2, 8)]


def test_long_fractions_and_exponents_are_floats() -> None:
    assert value_of("- 0." + "3" * 100_000) == [1 / 3]
    assert value_of("- 1" + "0" * 100_000 + "e-100000") == [1.0]
    assert value_of("- 1e" + "0" * 100_000 + "5") == [1e5]


def test_a_file_of_50_mb_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(50 * 2**20)
    tracemalloc.start()
    try:
        document = yaml.read(str(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [(problem.rule, problem.line) for problem in document.problems] == [("file-too-large", None)]
    assert document.value is None
    assert peak < 2**20


@pytest.mark.slow
def test_the_size_of_a_file_is_limited_to_the_byte() -> None:
    largest = b"a: 1 #" + b"x" * (MAX_BYTES - 6)
    assert yaml.parse(largest, "case.yaml", is_json=False).value == {"a": 1}
    assert refusals(largest + b"x") == [("file-too-large", None, None)]


@pytest.mark.slow
def test_the_number_of_values_is_limited() -> None:
    assert refusals(b"- 1\n" * (MAX_NODES + 1)) == [("file-too-large", MAX_NODES, 3)]


@pytest.mark.slow
def test_a_line_may_be_as_long_as_it_likes() -> None:
    text = "a" * 1_000_000
    assert value_of(f"key: {text}") == {"key": text}
    document = parse("key: [" + "1234, " * 200_000 + "5]\n")
    assert len(document.value["key"]) == 200_001
    assert document.locate(("key", 200_000)) == Position(1, 7 + 6 * 200_000, 1)


# ---- syntax


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: [1\n", 2, 1),
        ("a: [1\nb: 2\n", 2, 2),
        ("a: {b: 1\n", 2, 1),
        ("a: [1, 2}\n", 1, 9),
        ("a: 1]\nb: ]\n", 2, 4),
        ('a: "b\n', 2, 1),
        ("a: 'b\n", 2, 1),
        ("a: 'b'c\n", 1, 7),
        ("a: b: c\n", 1, 5),
        ("a: 1\n b: 2\n", 2, 3),
        ("a: 1\n- 2\n", 2, 1),
        ("- 1\na: 2\n", 2, 1),
        ("a: @b\n", 1, 4),
        ("a: `b`\n", 1, 4),
        ("a: %b\n", 1, 4),
        ("a:\n  b: 1\n c: 2\n", 3, 2),
        ("a: 1\nb\n", 3, 1),
        ("a: |x\n  b\n", 1, 5),
        ("a: &\n", 1, 5),
        ("a: *\n", 1, 5),
        ('a: "\\q"\n', 1, 5),
        ('a: "\\ud83d\\ude00"\n', 1, 7),
        ("a: 1\n---\nb: 2\n", 2, 1),
        ("a: 1\n...\n---\n", 3, 1),
        ("--- 1\n--- 2\n", 2, 1),
        ("---\n---\n", 2, 1),
    ],
)
def test_what_is_not_yaml_is_refused_where_it_goes_wrong(text: str, line: int, column: int) -> None:
    assert refusals(text.encode()) == [("yaml-syntax", line, column)]


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("a: [1,\n\n  2\nb: 3\n", "line 1, column 4"),
        ("a: {b: 1,\n\n  c: 2\n", "line 1, column 4"),
        ("a: b: c\n", "quote text that contains ': '"),
        ("a: @b\n", "quote text that starts with @"),
        ('a: 1\nb: "c\n', "not closed"),
    ],
)
def test_the_help_says_what_is_behind_a_syntax_error(text: str, help: str) -> None:
    (problem,) = parse(text).problems
    assert help in str(problem.help)


def test_a_tab_for_indentation_is_named() -> None:
    (problem,) = parse("a:\n\tb: 1\n").problems
    assert (problem.message, problem.help) == ("YAML does not allow a tab here", "indent with spaces")
    (problem,) = parse("a: @b\n").problems
    assert problem.help == "quote text that starts with @, ` or %"
