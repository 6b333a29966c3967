"""The text of a YAML or JSON file with the places of its mappings and lists, to change it where a diagnostic points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Entry:
    """A key with its value, or an item of a list (whose `key` is None), in the mapping or list `within`."""

    start: int  # of the key, or of the item
    end: int  # of the value
    key: str | None
    value: yaml.Node
    within: yaml.Node


class Marked:
    """A text, and everything in it that stands under a key or in a list; nothing where the text is no YAML."""

    def __init__(self, text: str, *, is_json: bool) -> None:
        self.text = text
        readable = _without_comments(text) if is_json else text
        try:
            root = yaml.compose(readable, Loader=_LOADER)
        except yaml.YAMLError:
            root = None
        self.root = root
        self.entries = [] if root is None else list(_entries(root, set()))

    def offset(self, line: int, column: int) -> int:
        """Return where in the text a line and a column are, as an editor counts them."""
        starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", self.text))]
        return starts[line - 1] + column - 1

    def at(self, offset: int) -> Entry | None:
        """Return the innermost entry whose key, value or item begins at a place."""
        found = [one for one in self.entries if offset in (one.start, one.value.start_mark.index)]
        return max(found, key=lambda one: one.start, default=None)

    def around(self, offset: int) -> list[Entry]:
        """Return the entries that a place is in, the innermost first."""
        found = [one for one in self.entries if one.start <= offset < one.end]
        return sorted(found, key=lambda one: one.start, reverse=True)

    def replaced(self, start: int, end: int, new: str) -> str:
        """Return the text with something else between two places."""
        return self.text[:start] + new + self.text[end:]

    def without(self, entry: Entry) -> str:
        """Return the text without an entry."""
        siblings = [one for one in self.entries if one.within is entry.within]
        index = siblings.index(entry)
        if index + 1 < len(siblings):
            return self.replaced(_start(self.text, entry), _start(self.text, siblings[index + 1]), "")
        if index:
            before = siblings[index - 1].end
            return self.replaced(before, entry.end, "\n" if self.text[:before].endswith("\n") else "")
        empty = "[]" if entry.key is None else "{}"
        return self.replaced(
            entry.within.start_mark.index, entry.end if _is_block(entry.within) else _end(entry), empty
        )

    def added(self, mapping: yaml.Node, key: str, value: str) -> str:
        """Return the text with one more key in a mapping."""
        start = mapping.start_mark.index
        quoted = f'"{key}": {value}' if self.text[start:].startswith("{") else f"{key}: {value}"
        if _is_block(mapping):
            return self.replaced(start, start, f"{quoted}\n{' ' * mapping.start_mark.column}")
        return self.replaced(start + 1, start + 1, f"{quoted}, " if mapping.value else quoted)


def _is_block(node: yaml.Node) -> bool:
    return not node.flow_style


def _end(entry: Entry) -> int:
    return entry.within.end_mark.index


def _start(text: str, entry: Entry) -> int:
    """Return where an entry begins; an item of a block list at its dash."""
    if entry.key is None and _is_block(entry.within):
        return text.rindex("-", 0, entry.start)
    return entry.start


def _without_comments(text: str) -> str:
    """Return JSON with spaces in place of its comments."""
    return _COMMENTS.sub(lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)


def _entries(node: yaml.Node, seen: set[int]) -> Iterator[Entry]:
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if value.start_mark.index >= key.end_mark.index:  # an alias has the place of its anchor
                yield Entry(key.start_mark.index, value.end_mark.index, str(key.value), value, node)
                yield from _entries(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield Entry(item.start_mark.index, item.end_mark.index, None, item, node)
            yield from _entries(item, seen)
