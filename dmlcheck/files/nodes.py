"""The syntax tree of a file, built from its parts in the order of the text."""

from __future__ import annotations

from typing import Any

from dmlcheck.files.document import SyntaxNode


class TreeBuilder:
    """Builds the tree: it keeps the open mappings and lists, outermost first, each with its start."""

    def __init__(self) -> None:
        self._outermost: list[SyntaxNode] = []
        self._open: list[tuple[Any, Any]] = [(self._outermost, None)]
        self._keys: list[SyntaxNode | None] = [None]  # of each open mapping, the key whose value comes next

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
        else:
            content.setdefault(key.content, (key, node))
            self._keys[-1] = None
