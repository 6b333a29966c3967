"""Documents: where keys and values stand, and what a file as a whole holds."""

from __future__ import annotations

import pickle

import pytest

from dmlcheck.diagnostics.record import Finding
from dmlcheck.files import yaml
from dmlcheck.files.document import (
    Document,
    Overflow,
    Path,
    Position,
    SyntaxNode,
    TreeBuilder,
    diagnostic_at,
)

TEXT = """\
operator: ARGMAX
cases:
  - name: one
    desc:
      Sizes: [3, 0x10]
  - {name: "1"}
"""


def document(text: str = TEXT) -> Document:
    return yaml.parse(text.encode(), "a.yaml")


# ---- lines


def test_a_line_ends_where_yaml_says_and_there_is_none_beyond_the_last() -> None:
    made = Document("x", "a\r\nb\u2028c\rd")
    assert [made.line(number) for number in range(6)] == ["", "a", "b", "c", "d", ""]
    assert [made.place(index) for index in (0, 3, 7)] == [Position(1, 1), Position(2, 1), Position(4, 1)]


def test_a_place_beyond_the_end_is_the_end() -> None:
    made = Document("x", "ab\ncd")
    assert made.inside(Position(2, 1)) == Position(2, 1)
    assert made.inside(Position(9, 1)) == Position(2, 3)


# ---- places


@pytest.mark.parametrize(
    ("path", "line", "column", "width"),
    [
        (("operator",), 1, 11, 6),
        (("cases", 0, "name"), 3, 11, 3),
        (("cases", 0, "desc", "Sizes", 1), 5, 18, 4),
        (("cases", 0, "desc"), 4, 5, 4),  # a block that starts below its key
        (("cases", 0, "desc", "Axes"), 4, 5, 4),  # what is not there: the key of what should hold it
        (("cases", 1), 6, 5, 1),
        (("cases", 7), 2, 1, 5),
        ((), 1, 1, 1),
    ],
)
def test_a_value_is_found_by_its_path_or_its_nearest_ancestor(path: Path, line: int, column: int, width: int) -> None:
    assert document().locate(path) == Position(line, column, width)


def test_a_key_may_be_asked_for() -> None:
    assert document().locate(("operator",), key=True) == Position(1, 1, 8)
    assert document().locate(("cases", 0), key=True) == Position(3, 5)  # an item has none


def test_a_file_without_a_value_begins_at_its_beginning() -> None:
    assert Document("x", "text").locate(("a",)) == Position(1, 1)


def test_items_of_a_list_have_places_of_their_own() -> None:
    made = document()
    items = made.value["cases"]
    assert [made.item_position(("cases",), items, index).line for index in (0, 1)] == [3, 6]


def test_a_plain_scalar_is_as_the_file_spells_it_and_text_in_quotes_is_none() -> None:
    made = document()
    assert made.literal(("cases", 0, "desc", "Sizes", 1)) == "0x10"
    assert made.literal(("cases", 1, "name")) is None
    assert made.literal(("cases", 0, "desc")) is None
    assert made.literal(("nowhere",)) is None


def test_a_document_that_is_given_up_has_no_value_and_says_why() -> None:
    made = document()
    made.refuse("too odd", Position(2, 3), "write something else")
    assert made.value is None
    (problem,) = made.problems
    assert (problem.rule, problem.message, problem.line, problem.column) == ("yaml-syntax", "too odd", 2, 3)
    assert (problem.file, problem.help) == ("a.yaml", "write something else")


def test_a_finding_gets_its_file_and_place() -> None:
    found = diagnostic_at(
        Finding("missing-key", ("x",), {"where": "x", "key": "y"}), "a.yaml", Position(3, 4, 5), ("desc",)
    )
    assert (found.file, found.line, found.column, found.width, found.pointer) == ("a.yaml", 3, 4, 5, "desc.x")


def of_keys(*keys: str) -> TreeBuilder:
    """Return a mapping of keys, each on a line of its own, from line 2 on."""
    nodes = TreeBuilder()
    nodes.open(0, is_mapping=True)
    for line, key in enumerate(keys, 2):
        nodes.add(SyntaxNode(key, Position(line, 1, len(key))))
        nodes.add(SyntaxNode("1", Position(line, 8)))
    return nodes


def test_a_duplicate_key_names_the_line_of_the_first() -> None:
    document = Document("a.yaml", "", lambda _: of_keys("name", "name", "name"))
    found, later = document.duplicates(2)
    assert (found.rule, found.line, found.help) == ("duplicate-key", 3, "remove one of the two")
    assert list(document.duplicates(1)) == [found] != [later]
    assert "line 2" in found.message


def test_a_number_beyond_float64_keeps_its_text() -> None:
    number = Overflow("1e999")
    assert number == float("inf")
    for again in (number, pickle.loads(pickle.dumps(number))):  # noqa: S301 - of our own
        assert again.text == "1e999"


# ---- nodes put together from what stands in a file, one after the other


def leaf(text: str, column: int) -> SyntaxNode:
    return SyntaxNode(text, Position(1, column, len(text)), is_plain=True)


def test_a_file_without_a_value_has_no_root() -> None:
    assert TreeBuilder().root is None


def test_a_mapping_holds_its_first_key_of_a_name_and_a_list_its_items() -> None:
    """{a: [b, c], a: d}"""
    nodes = TreeBuilder()
    key = leaf("a", 2)
    nodes.open(1, is_mapping=True)
    nodes.add(key)
    nodes.open(5, is_mapping=False)
    nodes.add(leaf("b", 6))
    nodes.add(leaf("c", 9))
    content, start = nodes.close()
    assert (content, start) == ([leaf("b", 6), leaf("c", 9)], 5)
    items = SyntaxNode(content, Position(1, start, 6))
    nodes.add(items)
    nodes.add(leaf("a", 13))
    nodes.add(leaf("d", 16))
    content, start = nodes.close()
    assert (content, start) == ({"a": (key, items)}, 1)
    nodes.add(SyntaxNode(content, Position(1, start, 17)))
    assert nodes.root == SyntaxNode({"a": (key, items)}, Position(1, 1, 17))
