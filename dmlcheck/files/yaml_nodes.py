"""The syntax tree of a YAML file, and its duplicate keys: a second parse, made when a position is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import SyntaxNode, duplicate
from dmlcheck.files.libyaml import Repeated, events, place_of
from dmlcheck.files.nodes import TreeBuilder


def tree(text: str) -> SyntaxNode | None:
    """Return the syntax tree of a file that was read without errors.

    An alias is the node of its anchor; an anchor may be set again.
    """
    nodes = TreeBuilder()
    anchors: dict[str | None, SyntaxNode] = {}
    next_event = events(text)
    while type(event := next_event()) is not yaml.StreamEndEvent:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            node = anchors[event.anchor] = SyntaxNode(event.value, place_of(event, event), event.style == "")
            nodes.add(node)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            nodes.open(event, is_mapping=kind is yaml.MappingStartEvent)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            content, start = nodes.close()
            node = anchors[start.anchor] = SyntaxNode(content, place_of(start, event))
            nodes.add(node)
        elif kind is yaml.AliasEvent:
            nodes.add(anchors[event.anchor])
    return nodes.root


def duplicates(name: str, text: str, repeated: list[Repeated]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each duplicate key, with the line of the first one."""
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
    mappings: list[int] = []  # of open parts: where a mapping starts, -1 for a list
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
