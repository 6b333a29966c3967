"""JavaScript files as syntax trees. Nothing of them is executed. Needs the extra webnn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import cut, visible
from dmlcheck.files.document import Document, Position
from dmlcheck.files.plain import TooLarge, read_plain, reason
from dmlcheck.folders.export_folder import MissingRequirement

if TYPE_CHECKING:
    from tree_sitter import Node

RULE = "webnn-syntax"
INSTALL = 'python -m pip install "dmlcheck[webnn]"'
MAX_BYTES = 8 * 2**20  # the largest of the W3C's files has less than 1 MiB
_MOST_ERRORS = 10  # of a file; further ones mostly follow from the first ones
_MOST_SHOWN = 40  # characters


class Script(NamedTuple):
    """A file: its document with text and problems, the bytes that were parsed, and the syntax tree.

    `root` is None where the file cannot be read.
    """

    document: Document
    data: bytes = b""
    root: Node | None = None

    def text(self, node: Node) -> str:
        """Return the characters of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def position(self, node: Node) -> Position:
        """Return where a node starts."""
        return self.document.place(len(self.data[: node.start_byte].decode("utf-8", "replace")))

    def where(self, node: Node) -> str:
        """Return where a node starts as text: `FILE:LINE:COL`."""
        at = self.position(node)
        return f"{self.document.name}:{at.line}:{at.column}"

    def diagnostic(self, node: Node, problem: str, help: str | None = None) -> Diagnostic:
        """Return a diagnostic about a node."""
        at = self.position(node)
        return Diagnostic(RULE, problem, file=self.document.name, line=at.line, column=at.column, help=help)


def require() -> None:
    """Raise MissingRequirement where the parser cannot be imported."""
    try:
        import tree_sitter  # noqa: F401 - the parser
        import tree_sitter_javascript  # noqa: F401 - the grammar that it takes
    except ImportError as error:
        packages = "the packages tree-sitter and tree-sitter-javascript"
        raise MissingRequirement(f"import webnn needs {packages} ({error}); install them with: {INSTALL}") from None


def read(path: str) -> Script:
    """Read and parse a file; everything wrong with it is in the problems of its document."""
    document = Document(path.replace(os.sep, "/"), "")
    try:
        data = read_plain(path, MAX_BYTES)
    except TooLarge as error:
        document.refuse(f"{document.name} {error}", None, rule="file-too-large")
        return Script(document)
    except (OSError, ValueError) as error:
        document.refuse(reason(error), None, rule="file-not-found")
        return Script(document)
    return parse(data, document.name)


def parse(data: bytes, name: str) -> Script:
    """Parse a file's bytes."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Script(_not_utf8(name, data, error))
    import tree_sitter
    import tree_sitter_javascript

    script = Script(Document(name, text), text.encode())
    language = tree_sitter.Language(tree_sitter_javascript.language())
    root = tree_sitter.Parser(language).parse(script.data).root_node
    script = script._replace(root=root)
    if root.has_error:
        script.document.problems.extend(_syntax_errors(script, root))
    return script if not script.document.problems else script._replace(root=None)


def _not_utf8(name: str, data: bytes, error: UnicodeDecodeError) -> Document:
    # The error counts from after a byte order mark.
    document = Document(name, error.object.decode("utf-8", "replace"))
    before = error.object[: error.start].decode("utf-8")
    is_wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    problem = "the file is UTF-16" if is_wide else f"the byte 0x{error.object[error.start]:02X} is not UTF-8"
    document.refuse(f"{problem}; dmlcheck reads UTF-8", document.place(len(before)), "save the file as UTF-8", RULE)
    return document


def _syntax_errors(script: Script, root: Node) -> Iterator[Diagnostic]:
    """Yield the first syntax errors of a file, in the order in which they stand there."""
    waiting, found = [root], 0
    while waiting and found < _MOST_ERRORS:
        node = waiting.pop()
        if node.is_missing:
            found += 1
            yield script.diagnostic(node, f"the file is not JavaScript: {node.type!r} is missing here")
        elif node.is_error:
            found += 1
            yield script.diagnostic(node, f"the file is not JavaScript: {_unexpected(script, node)}")
        else:
            waiting.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)


def _unexpected(script: Script, node: Node) -> str:
    words = script.data[node.start_byte : node.start_byte + 4 * _MOST_SHOWN].decode("utf-8", "replace").split()
    return f"unexpected {cut(visible(words[0]), _MOST_SHOWN)!r}" if words else "it ends too early"
