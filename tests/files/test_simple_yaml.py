"""Simple YAML: what is read without libyaml is what libyaml reads, and what may mean anything else is left to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.files import libyaml, simple_yaml, yaml_nodes
from dmlcheck.files.document import Document
from dmlcheck.files.scalars import MAX_DEPTH, MAX_NODES
from dmlcheck.files.yaml import read

ROOT = Path(__file__).parent.parent.parent
SHIPPED = sorted([*ROOT.glob("cases/*/*.yaml"), *ROOT.glob("specs/*.yaml")])


def places(text: str, value: Any, item_lines: Any) -> list[Any]:
    """Return where the items of the lists in a file's outermost mapping start."""
    document = Document("case.yaml", text, lambda: yaml_nodes.tree(text))
    document.value, document.item_lines = value, item_lines
    return [
        document.item_position((key,), part, index)
        for key, part in value.items()
        if isinstance(part, list)
        for index in range(len(part))
    ]


def is_simple(text: str) -> bool:
    """Say whether text is simple YAML; if so libyaml reads the same, at the same places."""
    simple = simple_yaml.read(text)
    if simple is None:
        return False
    in_full = libyaml.parse(Document("case.yaml", text))
    assert (in_full.refused, in_full.repeated) == (None, [])
    assert repr(simple.value) == repr(in_full.value)
    assert places(text, *simple) == places(text, in_full.value, in_full.item_lines)
    return True


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n",
        "a: 1",
        "a: 1\r\nb: 2\r\n",
        "# comment\n\na: 1\n  # comment\nb: 2\n",
        "a: .5\nb: -1e5\nc: 0x1F\nd: -.inf\ne: 1e999\nf: 2020-10-28\ng: true\nh: Null\ni: nan\n",
        "a: some text, of words\nb: x:y\nc: a#b\nd: it's\ne: a [b\n",
        "a: \"text: 'x'\"\nb: 'text: \"x\" \\n'\nc: ''\n",
        '"4_1": a\nx-y.z: b\n1: c\ntrue: d\n',
        "a:\nb:\n  c:\n    d: 1\n  e: 2\nf:\n",
        "a:\n- 1\n- b\nc:\n  - d: 1\n    e: 2\n  - f:\n      g: 3\n    h:\n    - 4\n",
        "cases:\n  - name: a\n    desc:\n      x: 1\n\n  # b\n  - name: b\n",
        "cases:\n- [1, 2]\n- {a: 1}\n- a: 1\n",
        "a:\n  b:\n    x: 1\n    y: [2]\n  c:\n    x: 1\n    y: [2]\n  d: 3\n",
        "a:\n  b:\n    x: 1\n# comment\n    y: 2\n  c:\n    x: 1\n  d:\n    x: 1\n  e: 3\n",
        "a:\n  b:\n    x: 1\n\n    y: 2\n  c:\n    x: 1\n  d: 3\n",
        "a:\n  b:\n    # x\n  c:\n    # x\n  d: 3\n",
        "a:\n  b:\n    # x\n  - 1\nc:\n  b:\n    # x\n  d: 3\n",
        "cases:\n  - name: a\n    desc:\n      x: 1\n  - name: b\n    desc:\n      x: 1\n    e:\n      x: 1\n",
        "a:\n  b: 1\nc:\n  b: 1\nd: 2\n",
        "cases:\n- 1\n- {a: 1}\n",
        "a: {A: [[1, -2], [3.5, 4]], B: [5], Of_2: [ 6 , 7 ] }\nb: {A: []}\n",
        "a: [1, -2, 3.5, .5, 1e5, 007, x, 'y', \"z\", true, ~x, null]\n".replace("~x", "x y"),
        "a: {DataType: FLOAT32, Sizes: [1, 2], about: The size; 1 or 2 (see b).}\n",
        "a: []\nb: {}\nc: [[], {}]\nd: [ 1 , 2 ]\ne: [1,2]\n",
        "a: [[1, 2],\n    [3, 4]]\nb: {\n  c: 1,\n  d: [\n    2\n  ]\n}\ne: 5\n",
        "a:\n  [1,\n   2]\nb:\n  {c: 1}\n",
        "a: ['x, y',\n 'z']\nb: [\"p,\n  q\"]\n",
        "a: " + "[" * 40 + "]" * 40 + "\n",
        f"a: [{'[1, 2], ' * 200}[1, 2]]\n",
        "a: [-inf, -.inf, .nan, a-b, a.b, -a, .a]\nb: [-1, -.5, 1e-5]\nc: {-a: 1, a.b: 2}\n",
        "a: [1e-5, 2E5, 1.5e+3, e5, 1e300, 3e99]\nb: {e: 1e5, e5: -1e-9}\n",
        "a:\n  b:\n    [1, 2]\n  c:\n    [1, 2]\n  d: 3\n",
        "a: [1, 2] \nb: {c: 3}  \n",
        "a: [9" + "9" * 299 + ", 1." + "0" * 300 + "]\n",
    ],
)
def test_what_case_files_are_made_of_is_simple(text: str) -> None:
    assert is_simple(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# comment\n",
        "1\n",
        "- 1\n",
        "  a: 1\n",
        "a: &x 1\nb: *x\n",
        "a: !!str 1\n",
        "a: 1  # comment\n",
        "a:  # comment\n  b: 1\n",
        'a: "\\n"\n',
        "a: 'it''s'\n",
        "a: |\n  text\n",
        "a: >-\n  text\n",
        "a: text,\n  and more\n",
        "a:\n  text\n",
        "a:\tb\n",
        "a: é\n",
        "a: 1\rb: 2\n",
        "---\na: 1\n",
        "a: 1\n...\n",
        "%YAML 1.2\n---\na: 1\n",
        "a b: 1\n",
        "a : 1\n",
        "? a\n: 1\n",
        "a: b: c\n",
        "a: - b\n",
        "a: @b\n",
        "a: ~\n",
        "a: 1\na: 2\n",
        "a: {b: 1, b: 2}\n",
        "a: {b:1}\n",
        'a: {"b":1}\n',
        "a: {b:'q' }\n",
        'a: {b:"q" , c: 1}\n',
        "a: {x's a:b, y: it's}\n",
        "a: {1: b}\n",
        "a: {null: [1]}\n",
        "a: {true: [1]}\n",
        "a: {A: [1], A: [2]}\n",
        "a: {A: [1] B: [2]}\n",
        "a: {A: [1], [2]}\n",
        "a: {A: [1], 2}\n",
        "a: {A: [1, , 2]}\n",
        "a: {A: [1], B: [2}\n",
        "a: {b: }\n",
        "a: [1, 2\n",
        "a: [1, 2] 3\n",
        "a: [1], [2], [3\nb: [4]]\n",
        "a: [1\nb: 2]\n",
        "a: [1, 1e400]\nb: [2]\n",
        "a: [" + "9" * 299 + "e99]\n",
        "a: [1,]\n",
        'a: ["\\ud800"]\n',  # half a character, which JSON takes
        "a: [\"\\\\', '\"]\n",  # one text, which looks like two
        'a: {"b\\tc": 1}\n',
        "a: ['\\']\n",
        "a: [b: 1]\n",
        "a: [&x 1, *x]\n",
        "a: [1, 1e999]\n",
        "a: {b\n  : 1}\n",
        "a: [b\n  c]\n",
        "a: [1, # one\n  2]\n",
        "a: [1,\n\n  2]\n",
        "a: [1\n  , 2]\n",
        "a: [1,\n  {b\n  c: 2}]\n",
        "a:\n[1, 2]\n",
        "a:\n  b:\n  [1]\n",
        "a: b:\n",
        "a: 1\n  b: 2\n",
        "a:\n    b: 1\n  c: 2\n",
        "a:\n  - 1\n - 2\n",
        "a:\n  - b: 1\n   c: 2\n",
        "a:\n  -  b: 1\n",
        "a:\n  - - 1\n",
        "a:\n  -\n    b: 1\n",
        "a: 1\n- 2\n",
        "x" * 1025 + ": 1\n",
        "a: {" + "x" * 1025 + ": 1}\n",
        "a: 1" + "0" * 5000 + "\n",
        "a: [1" + "0" * 5000 + "]\n",
        "a: [1" + "0" * 400 + ".5]\n",
        "a: " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1) + "\n",
        "a: " + "[" * 100_000 + "]" * 100_000 + "\n",
        "a: [" + "1, " * (MAX_NODES // 3) + "1]\n",
        "".join(" " * level + "a:\n" for level in range(MAX_DEPTH + 1)),
        "".join("  " * level + "- a:\n" for level in range(MAX_DEPTH + 1)),
    ],
    ids=lambda text: repr(text[:20]),
)
def test_what_may_mean_anything_else_is_left_to_libyaml(text: str) -> None:
    assert simple_yaml.read(text) is None


# ---- properties

ODD = """
    a b key 1 -1 0 01 1.5 .5 1e5 1e400 0x1F -0 +3 -.inf nan true null 'x' 'it''s' "q" "\\n" "" it's x-y x:y x#y &a *a
    !!int | - --- ? @ , : a^b a;b ${A} [ ] { }
"""
WORDS = st.sampled_from([*ODD.split(), "a b", '"a: b"', "x #y", "# c", "- x"])
EASY = st.sampled_from(["a", "b", "Sizes", "1", "-1", "1.5", "true", "'x'", '"q"', "a b", "x-y", "0x1F"])
KEYS = st.sampled_from(["a", "b", "c", "d", "e", '"4_1"', "x-y", "1"])


def seldom(odd: st.SearchStrategy[str], usual: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return one of two strategies, one time in thirty the first."""
    return st.integers(0, 29).flatmap(lambda number: usual if number else odd)


SCALARS = seldom(WORDS, EASY)
COMMAS = seldom(st.sampled_from([",", ",\n", " ,", "\n, "]), st.sampled_from([", ", ", ", ",\n        "]))
COLONS = seldom(st.sampled_from([":", " : ", ":\n  "]), st.just(": "))
FLOWS = st.recursive(
    SCALARS,
    lambda inner: (
        st.builds(lambda parts, comma: f"[{comma.join(parts)}]", st.lists(inner, max_size=4), COMMAS)
        | st.builds(
            lambda parts, comma, colon: "{" + comma.join(key + colon + part for key, part in parts.items()) + "}",
            st.dictionaries(seldom(WORDS, KEYS.filter(lambda key: key != "1")), inner, max_size=3),
            COMMAS,
            COLONS,
        )
    ),
    max_leaves=6,
)


def mapping(parts: dict[str, list[str]]) -> list[str]:
    """Return the lines of a mapping: nothing behind its key, and the rest below."""
    lines = [line for key, (first, *rest) in parts.items() for line in (f"{key}: {first}".rstrip(), *rest)]
    return ["", *(f"  {line}" for line in lines)]


def listing(parts: list[list[str]]) -> list[str]:
    """Return the lines of a list."""
    lines = []
    for first, *rest in parts:
        whole = [f"  {first}", *rest] if first or not rest else rest
        lines += ["- " + whole[0][2:], *whole[1:]]
    return ["", *(f"  {line}" for line in lines)]


BLOCKS = st.recursive(
    FLOWS.map(lambda text: [text]),
    lambda inner: (
        st.dictionaries(seldom(WORDS, KEYS), inner, min_size=1, max_size=3).map(mapping)
        | st.lists(inner, min_size=1, max_size=3).map(listing)
    ),
    max_leaves=6,
)
SLIPS = st.none() | st.tuples(st.integers(0, 80), st.sampled_from([*" \n-:,[]{}#'\"a1.&*!|\t\\", ""]))


def spoilt(parts: dict[str, list[str]], slip: tuple[int, str] | None, end: str) -> str:
    """Return the text of a mapping, with one character changed."""
    text = "\n".join(line[2:] for line in mapping(parts)[1:]) + "\n"
    if slip is not None:
        text = text[: slip[0]] + slip[1] + text[slip[0] + 1 :]
    return text.replace("\n", end)


TEXTS = st.builds(
    spoilt, st.dictionaries(KEYS, BLOCKS, min_size=1, max_size=4), SLIPS, st.sampled_from(["\n", "\n", "\r\n"])
)


def repeated(block: list[str], between: list[tuple[int, str]]) -> str:
    """Return the text of a mapping that has the same lines below several keys, with some more lines between."""
    lines = mapping({"a": mapping(dict.fromkeys("bcd", block)), "e": mapping({"b": block, "f": ["1"]})})[1:]
    for number, line in between:
        lines.insert(number % len(lines), f"  {line}")
    return "".join(f"{line[2:]}\n" for line in lines)


BETWEEN = st.lists(
    st.tuples(st.integers(0, 80), st.sampled_from(["", "# x", "  # x", "    # x", "      # x"])), max_size=2
)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(text=st.builds(repeated, BLOCKS, BETWEEN))
def test_lines_that_stand_below_several_keys_are_read_alike(text: str) -> None:
    is_simple(text)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(text=TEXTS)
def test_what_is_read_as_simple_is_what_libyaml_reads(text: str) -> None:
    is_simple(text)


def test_a_block_that_begins_like_an_earlier_one_is_read_by_itself() -> None:
    text = "cases:\n- a:\n    x: 1\n    y: 2\n  z: 0\n- a:\n    x: 1\n    y: 3\n  z: 0\n- a:\n    x: 1\n  z: 0\n"
    text += "- a:\n    x: 1\n    y: 2\n    w: 4\n  z: 0\n- a:\n    x: 1\n    y: 2\n    w: 4\n  z: 0\n"
    found = simple_yaml.read(text)
    assert found is not None
    blocks = [item["a"] for item in found.value["cases"]]
    long = {"x": 1, "y": 2, "w": 4}
    assert blocks == [{"x": 1, "y": 2}, {"x": 1, "y": 3}, {"x": 1}, long, long]
    assert blocks[3] is blocks[4]


def test_every_shipped_spec_and_case_file_is_simple() -> None:
    assert len(SHIPPED) > 1000
    refused = (path for path in SHIPPED if simple_yaml.read(path.read_text(encoding="utf-8")) is None)
    assert [str(path.relative_to(ROOT)) for path in refused] == []


def test_what_is_not_simple_is_tried_once_and_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "anchor.yaml"
    path.write_text("a: &one {b: 1}\nc: *one\n", encoding="utf-8")
    passes = []
    for module, name in ((simple_yaml, "read"), (libyaml, "parse")):
        of = getattr(module, name)
        monkeypatch.setattr(module, name, lambda given, of=of, name=name: passes.append(name) or of(given))
    assert read(str(path)).value == {"a": {"b": 1}, "c": {"b": 1}}
    assert passes == ["read", "parse"]
