"""The parts of a file put together as nodes, in the order in which they stand there."""

from __future__ import annotations

from typing import Any

from dmlcheck.files.document import Node


class Nodes:
    """The open mappings and lists, outermost first, each with the place where it starts."""

    def __init__(self) -> None:
        self._outermost: list[Node] = []
        self._open: list[tuple[Any, Any]] = [(self._outermost, None)]
        self._keys: list[Node | None] = [None]  # of each open mapping, the key that waits for its value

    @property
    def root(self) -> Node | None:
        """The node of the whole file, or None if it has no value."""
        return self._outermost[0] if self._outermost else None

    def open(self, start: Any, *, is_mapping: bool) -> None:
        """Begin a mapping or list."""
        self._open.append(({} if is_mapping else [], start))
        self._keys.append(None)

    def close(self) -> tuple[Any, Any]:
        """End the innermost mapping or list; return its contents and its start, for a node to be added next."""
        self._keys.pop()
        return self._open.pop()

    def add(self, node: Node) -> None:
        """Put a node where it belongs: into a list, or into a mapping as a key or as the value of one."""
        content, _ = self._open[-1]
        key = self._keys[-1]
        if type(content) is list:
            content.append(node)
        elif key is None:
            self._keys[-1] = node
        else:
            content.setdefault(key.content, (key, node))
            self._keys[-1] = None
