"""A file that was read: its values, its problems, and where each key and value stands."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.diagnostics.record import Diagnostic, Finding

if TYPE_CHECKING:
    from typing_extensions import Self

Path = tuple["str | int", ...]


class Position(NamedTuple):
    """A place in a file: line and column from 1, and the number of characters that the key or value covers there."""

    line: int
    column: int
    width: int = 1


class SyntaxNode(NamedTuple):
    """A node of a file's syntax tree: the text of a scalar, the nodes of a list, or the pairs of a mapping by key.

    A pair is the node of the key and the node of its value; of duplicate keys the first is kept. `is_plain` says that a
    scalar has no quotes.
    """

    content: str | list[SyntaxNode] | dict[str, tuple[SyntaxNode, SyntaxNode]]
    at: Position
    is_plain: bool = False


class Overflow(float):
    """A number as written that is beyond float64's range; it compares as the infinity that float() makes of it."""

    text: str

    def __new__(cls, text: str) -> Self:
        """Keep the text with the float that it makes."""
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __reduce__(self) -> tuple[type[Overflow], tuple[str]]:
        return Overflow, (self.text,)


class Document:
    """A file's values, its problems as YAML or JSON, and the places of its parts.

    `value` is None if the file cannot be read; `problems` then says why. Duplicate keys are problems too, with a
    value that keeps the first of each. The first parse keeps only the positions of the items of the file's lists (its
    cases); all others need a second parse, made when one is asked for.
    """

    def __init__(self, name: str, text: str, nodes: Callable[[int], TreeBuilder] = lambda _: TreeBuilder()) -> None:
        self.name = name
        self.text = text
        self.value: Any = None
        self.problems: list[Diagnostic] = []
        self.item_lines: dict[int, list[Position]] = {}
        self._nodes = nodes
        self._root: SyntaxNode | None = None
        self._starts: list[int] | None = None
        self._last_line = (0, "")

    def line(self, number: int) -> str:
        """Return a source line by its number from 1, without its line end ("" past the end)."""
        if number != self._last_line[0]:  # a line may be the whole file, and have many problems
            self._last_line = number, self._find_line(number)
        return self._last_line[1]

    def _find_line(self, number: int) -> str:
        starts = self._line_starts()
        if not 0 < number <= len(starts):
            return ""
        start = starts[number - 1]
        end = re.compile(LINE_END).search(self.text, start)
        return self.text[start : end.start() if end else None]

    def place(self, index: int) -> Position:
        """Return the place of the character at an index of the text, or of the end of the text."""
        starts = self._line_starts()
        number = bisect_right(starts, index)
        return Position(number, index - starts[number - 1] + 1)

    def inside(self, at: Position) -> Position:
        """Return a place, or the end of the file where the place lies beyond it."""
        return at if at.line <= len(self._line_starts()) else self.place(len(self.text))

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *(match.end() for match in re.finditer(LINE_END, self.text))]
        return self._starts

    def item_position(self, path: Path, items: list[Any], index: int) -> Position:
        """Return where an item starts of the list `items`, which is the value at `path`."""
        known = self.item_lines.get(id(items))
        return known[index] if known and len(known) == len(items) else self.locate((*path, index))

    def locate(self, path: Path, *, key: bool = False) -> Position:
        """Return where the value at `path` starts (its key with `key`), or its nearest ancestor that exists."""
        node = self.tree()
        if node is None:
            return Position(1, 1)
        name: SyntaxNode | None = None
        for depth, step in enumerate(path):
            found = _child(node, step)
            if found is None:
                # A missing key is shown at the key of its mapping.
                return name.at if name is not None else _start(node)
            name, node = found
            if key and name is not None and depth == len(path) - 1:
                return name.at
        if name is None:
            return _start(node)
        # For a block that starts below its key, the key is the better place to show.
        return name.at if node.at.line > name.at.line else node.at

    def literal(self, path: Path) -> str | None:
        """Return the text of the plain scalar at `path` as the file spells it, or None if there is none."""
        node = self.tree()
        for step in path:
            found = None if node is None else _child(node, step)
            if found is None:
                return None
            node = found[1]
        return node.content if node is not None and node.is_plain and isinstance(node.content, str) else None

    def tree(self) -> SyntaxNode | None:
        """Return the file as nodes, or None if it has no value."""
        if self._root is None and self.value is not None:
            self._root = self._nodes(sys.maxsize).root
        return self._root

    def duplicates(self, count: int) -> Iterator[Diagnostic]:
        """Yield the diagnostics of the first duplicate keys, each with the line where its mapping has the key first."""
        for key, first in islice(self._nodes(count).repeated, count):
            params = {"key": key.content, "first": first.at.line}
            finding = Finding("duplicate-key", (), params, help="remove one of the two")
            yield diagnostic_at(finding, self.name, key.at)

    def refuse(self, message: str, at: Position | None, help: str | None = None, rule: str = "yaml-syntax") -> None:
        """Mark the document as unreadable: no value, and a problem with the message and its place, if it has one."""
        line, column = (at.line, at.column) if at is not None else (None, None)
        self.value = None
        self.problems.append(Diagnostic(rule, message, file=self.name, line=line, column=column, help=help))


class ReadError(Exception):
    """A part of a file that dmlcheck does not accept, at `position`: reading stops there."""

    def __init__(self, message: str, position: Position, help: str | None = None, rule: str = "yaml-syntax") -> None:
        super().__init__(message)
        self.position = position
        self.help = help
        self.rule = rule


def diagnostic_at(finding: Finding, file: str, at: Position, prefix: Path = ()) -> Diagnostic:
    """Return a finding as a diagnostic with a position in a file; `prefix` goes before its path."""
    return finding.diagnostic(prefix)._replace(file=file, line=at.line, column=at.column, width=at.width)


# ---- positions

LINE_END = "\r\n|[\n\r\x85\u2028\u2029]"


def _child(node: SyntaxNode, step: str | int) -> tuple[SyntaxNode | None, SyntaxNode] | None:
    content = node.content
    if isinstance(content, dict):
        return content.get(step) if isinstance(step, str) else None
    if isinstance(content, list) and isinstance(step, int) and step < len(content):
        return None, content[step]
    return None


def _start(node: SyntaxNode) -> Position:
    """Return where a node starts; a mapping or list is shown by its first character."""
    return node.at if isinstance(node.content, str) else node.at._replace(width=1)


# ---- the syntax tree, built from its parts in the order of the text


class TreeBuilder:
    """Builds the tree: it keeps the open mappings and lists, outermost first, each with its start."""

    def __init__(self) -> None:
        self._outermost: list[SyntaxNode] = []
        self._open: list[tuple[Any, Any]] = [(self._outermost, None)]
        self._keys: list[SyntaxNode | None] = [None]  # of each open mapping, the key whose value comes next
        self.repeated: list[tuple[SyntaxNode, SyntaxNode]] = []  # each duplicate key with the first of its mapping

    @property
    def root(self) -> SyntaxNode | None:
        """The node of the whole file, or None if it has no value."""
        return self._outermost[0] if self._outermost else None

    def open(self, start: Any, *, is_mapping: bool) -> None:
        """Begin a mapping or list."""
        self._open.append(({} if is_mapping else [], start))
        self._keys.append(None)

    def close(self) -> tuple[Any, Any]:
        """End the innermost mapping or list; return its contents and its start. The caller adds the node."""
        self._keys.pop()
        return self._open.pop()

    def add(self, node: SyntaxNode) -> None:
        """Add a node to the innermost list, or to the innermost mapping as a key or as the value of the last key."""
        content, _ = self._open[-1]
        key = self._keys[-1]
        if type(content) is list:
            content.append(node)
        elif key is None:
            self._keys[-1] = node
            if node.content in content:
                self.repeated.append((node, content[node.content][0]))
        else:
            content.setdefault(key.content, (key, node))
            self._keys[-1] = None
