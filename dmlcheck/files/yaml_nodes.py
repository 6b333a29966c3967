"""Where the parts of a YAML file stand: read again, when a place is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import Node, duplicate
from dmlcheck.files.libyaml import Repeated, events, place_of


def tree(text: str) -> Node | None:
    """Return a file that is known to be read as nodes; an alias is the node of its anchor, which may be set again."""
    nodes = _Nodes()
    next_event = events(text)
    while type(event := next_event()) is not yaml.StreamEndEvent:
        nodes.take(event)
    return nodes.root[0] if nodes.root else None


class _Nodes:
    """Events to nodes: what is open, outermost first, each with its first event and the key that waits for a value."""

    def __init__(self) -> None:
        self.root: list[Node] = []
        self.open: list[tuple[Any, Any]] = [(self.root, None)]
        self.keys: list[Node | None] = [None]
        self.anchors: dict[str, Node] = {}

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self.add(Node(event.value, place_of(event, event), event.style == ""), event.anchor)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self.open.append(({} if kind is yaml.MappingStartEvent else [], event))
            self.keys.append(None)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            content, start = self.open.pop()
            self.keys.pop()
            self.add(Node(content, place_of(start, event)), start.anchor)
        elif kind is yaml.AliasEvent:
            self.add(self.anchors[event.anchor], None)

    def add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = node
        content = self.open[-1][0]
        key = self.keys[-1]
        if type(content) is list:
            content.append(node)
        elif key is None:
            self.keys[-1] = node
        else:
            content.setdefault(key.content, (key, node))
            self.keys[-1] = None


def duplicates(name: str, text: str, repeated: list[Repeated]) -> Iterator[Diagnostic]:
    """Yield what is wrong with keys that stand twice; the first of each is looked for up to the last of them."""
    if not repeated:
        return
    wanted = {found.mapping for found in repeated}
    first: dict[tuple[int, str], int] = {}
    for mapping, key, line in _keys(text, repeated[-1].offset):
        if mapping in wanted:
            first.setdefault((mapping, key), line)
    for found in repeated:
        yield duplicate(name, found.key, found.at, first[found.mapping, found.key])


def _keys(text: str, end: int) -> Iterator[tuple[int, str, int]]:
    """Yield every key before a character index: where its mapping starts, its text and its line."""
    next_event = events(text)
    mappings: list[int] = []  # of what is open: where a mapping starts, -1 for a list
    is_key = False
    while (event := next_event()).start_mark.index < end:
        kind = type(event)
        if kind is yaml.ScalarEvent and is_key:
            yield mappings[-1], event.value, event.start_mark.line + 1
            is_key = False
            continue
        if kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            mappings.append(event.start_mark.index if kind is yaml.MappingStartEvent else -1)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            mappings.pop()
        is_key = bool(mappings) and mappings[-1] >= 0
