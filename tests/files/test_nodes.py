"""Nodes put together from what stands in a file, one after the other."""

from __future__ import annotations

from dmlcheck.files.document import Position, SyntaxNode
from dmlcheck.files.nodes import TreeBuilder


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
