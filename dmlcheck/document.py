"""A file that was read: its values, its problems, and where each key and value stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from yaml.error import Mark

from dmlcheck.diagnostics import Diagnostic, Finding

if TYPE_CHECKING:
    from typing_extensions import Self

Path = tuple["str | int", ...]


class Position(NamedTuple):
    """A place in a file: line and column from 1, and the number of characters that the key or value covers there."""

    line: int
    column: int
    width: int = 1


class Overflow(float):
    """A number as written that is beyond float64's range; it compares as the infinity that float() makes of it."""

    text: str

    def __new__(cls, text: str) -> Self:
        """Keep the text beside the float that it makes."""
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __reduce__(self) -> tuple[type[Overflow], tuple[str]]:
        return Overflow, (self.text,)


class Document:
    """A file's values, what is wrong with it as YAML or JSON, and where each part of it stands.

    `value` is None when the file cannot be read; `problems` then says why. Duplicate keys are problems too, beside a
    value that keeps the first of each. Positions cost a second parse, made when the first one is asked for; only those
    of the items of the file's lists (its cases) are kept from the first.
    """

    def __init__(self, name: str, text: str, tree: Callable[[], Any] = lambda: None) -> None:
        self.name = name
        self.text = text
        self.value: Any = None
        self.problems: list[Diagnostic] = []
        self.item_lines: dict[int, list[Position]] = {}
        self._make_tree = tree
        self._root: Any = None
        self._lines: list[str] | None = None

    @property
    def lists_cases(self) -> bool:
        """Whether the file holds a list of cases, or dispatchables, rather than one case."""
        return isinstance(self.value, dict) and ("cases" in self.value or "dispatchables" in self.value)

    def line(self, number: int) -> str:
        """Return a source line by its number from 1, without its line end ("" past the end)."""
        if self._lines is None:
            self._lines = LINE_END.split(self.text)
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def item_position(self, path: Path, items: list[Any], index: int) -> Position:
        """Return where an item of the list `items`, which stands at `path`, starts."""
        known = self.item_lines.get(id(items))
        return known[index] if known and len(known) == len(items) else self.locate((*path, index))

    def locate(self, path: Path, *, key: bool = False) -> Position:
        """Return where the value at `path` starts (its key with `key`), or its nearest ancestor that exists."""
        if self.value is None:
            return Position(1, 1)
        node = self.tree()
        name: Any = None
        for depth, step in enumerate(path):
            found = _child(node, step)
            if found is None:
                # What is missing is shown at the key of what should hold it.
                return position_of(name) if name is not None else _start(node)
            name, node = found
            if key and name is not None and depth == len(path) - 1:
                return position_of(name)
        if name is None:
            return _start(node)
        # A block that starts below its key is best shown by the key itself.
        return position_of(name) if node.start_mark.line > name.start_mark.line else position_of(node)

    def literal(self, path: Path) -> str | None:
        """Return the text of the plain scalar at `path` as the file spells it, or None where there is none."""
        node = self.tree()
        for step in path:
            found = _child(node, step)
            if found is None:
                return None
            node = found[1]
        return node.value if isinstance(node, yaml.ScalarNode) and not node.style else None

    def first_line_of(self, mapping_index: int, name: str) -> int:
        """Return the line on which `name` first stands in the mapping that starts at a character index."""
        todo = [self.tree()]
        while todo:
            node = todo.pop()
            if isinstance(node, yaml.MappingNode):
                if node.start_mark.index == mapping_index:
                    return next(int(k.start_mark.line) + 1 for k, _ in node.value if k.value == name)
                todo.extend(value for _, value in node.value)
            elif isinstance(node, yaml.SequenceNode):
                todo.extend(node.value)
        return 1

    def tree(self) -> Any:
        """Return the file as nodes with marks, as libyaml makes them."""
        if self._root is None:
            self._root = self._make_tree()
        return self._root

    def refuse(self, message: str, at: Position | None, help: str | None = None, rule: str = "yaml-syntax") -> None:
        """Give the document up, with the reason and the place where it has one."""
        line, column = (at.line, at.column) if at is not None else (None, None)
        self.value = None
        self.problems.append(Diagnostic(rule, message, file=self.name, line=line, column=column, help=help))


class Refused(Exception):
    """Stops the reading of a file at something that dmlcheck does not accept; `mark` says where."""

    def __init__(self, message: str, mark: Mark, help: str | None = None, rule: str = "yaml-syntax") -> None:
        super().__init__(message)
        self.position = Position(mark.line + 1, mark.column + 1)
        self.help = help
        self.rule = rule


def duplicate(name: str, key: str, at: Position, first: int) -> Diagnostic:
    """Return what is wrong with a key that stands in its mapping already, on line `first`."""
    finding = Finding("duplicate-key", (), {"key": key, "first": first}, help="remove one of the two")
    return finding.diagnostic()._replace(file=name, line=at.line, column=at.column, width=at.width)


# ---- positions

LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def _child(node: Any, step: str | int) -> tuple[Any, Any] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None


def _start(node: Any) -> Position:
    """Return where a node starts; a mapping or list is shown by its first character."""
    return position_of(node) if isinstance(node, yaml.ScalarNode) else position_of(node)._replace(width=1)


def position_of(node: Any) -> Position:
    """Return where a node stands, with its width where it ends on the line that it starts on."""
    start, end = node.start_mark, node.end_mark
    width = end.column - start.column if end.line == start.line else 1
    return Position(start.line + 1, start.column + 1, max(1, width))
