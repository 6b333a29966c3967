"""The tests of a file: its syntax tree, its calls of webnn_conformance_test, and the tolerance that it states for them.

Needs the extra webnn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import cut, visible
from dmlcheck.files.document import Document, Position
from dmlcheck.files.plain import TooLarge, read_plain, reason
from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.formats.webnn.literals import NotData, Wrong, text_of_node
from dmlcheck.formats.webnn.machine import Machine, TooManySteps, walk
from dmlcheck.formats.webnn.values import (
    Block,
    Builtin,
    Fields,
    Function,
    ScriptValue,
    Unknown,
    fields,
    known,
    number_in,
    string,
)

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


_RUNS = "webnn_conformance_test"
_ZERO = "getZeroULPTolerance"  # of the utilities that all files share


class Stated(NamedTuple):
    """A tolerance that a file states: ULP or ATOL, with a value for all data types or one for each."""

    metric: str
    values: float | Mapping[str, float]

    def of(self, data_type: str) -> float | None:
        """Return the tolerance of a data type of WebNN."""
        return self.values.get(data_type) if isinstance(self.values, Mapping) else self.values


class Suite(NamedTuple):
    """Tests that are run together, and their tolerance."""

    tests: list[ScriptValue]
    stated: Stated | None


class CheckedByCode(NamedTuple):
    """A test whose results a function of the file checks; its name where that is known."""

    node: Node
    name: str | None


Found = Suite | CheckedByCode | NotData | Wrong


def suites(script: Script) -> list[Found]:
    """Return the tests that a file runs, each once, in order, with the exceptions for those that cannot be read."""
    if script.root is None:
        return []
    return _Reading(script.root).found


class _Reading:
    """The evaluation of a file of tests, with the functions that all of them share."""

    def __init__(self, root: Node) -> None:
        self.found: list[Found] = []
        self._seen: set[int] = set()
        harness = {
            _RUNS: Builtin(self._run),
            "promise_test": Builtin(self._check),
            "promise_setup": Builtin(_ignore),
            "test": Builtin(_ignore),
            "isTargetTest": Builtin(lambda *_: True),
            "navigator": Fields(ml=ScriptValue(root, "there")),
        }
        self._machine = Machine(root, harness, self._fail)
        try:
            self._machine.run()
        except TooManySteps as end:
            self.found.append(NotData(end.node, str(end)))

    def _fail(self, node: Node, reason: NotData | Wrong) -> None:
        """Note a part of the file that would run tests, and is not evaluated."""
        if any(_is_run(call) for call in walk(node, ("call_expression",))):
            self.found.append(reason)

    def _check(self, site: Any, *given: ScriptValue) -> None:
        name = given[1].of if len(given) > 1 else None
        self.found.append(CheckedByCode(site.node, name if isinstance(name, str) else None))

    def _run(self, site: Any, *given: ScriptValue) -> None:
        """Note the tests of a call: (tests, build, tolerance), or for each of them (build, tolerance, test)."""
        first, second, third = [*given, *[ScriptValue(site.node, None)] * 3][:3]
        is_single = isinstance(third.of, Fields) or (len(given) > 2 and _is_elsewhere(first))
        try:
            tests = [third] if is_single else known(first)
        except (NotData, Wrong) as reason:
            self.found.append(reason)
            return
        if not isinstance(tests, list):
            return
        new = [test for test in tests if id(test.of) not in self._seen]
        self._seen.update(id(test.of) for test in new)
        if new:
            self.found.append(Suite(new, self._stated(second if is_single else third)))

    # ---- tolerances

    def _stated(self, tolerance: ScriptValue) -> Stated | None:
        """Return the tolerance that a function states; None if it is none of the file, or computes it."""
        function = tolerance.of
        if not isinstance(function, Function):
            return Stated("ULP", 0) if _is_elsewhere(tolerance) and text_of_node(tolerance.node) == _ZERO else None
        scope = Block({}, function.scope)
        for made in self._objects(function.node, scope):
            try:
                return self._read(made, scope)
            except (NotData, Wrong, KeyError):
                continue
        return None

    def _objects(self, function: Node, scope: Block) -> Iterator[Node]:
        """Yield the objects that a function writes, each after the constants that stand before it have their values."""
        for node in walk(function, ("variable_declarator", "object")):
            if node.type == "object":
                yield node
                continue
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and value is not None and name.type == "identifier":
                scope.names[text_of_node(name)] = self._machine.value(value, scope)

    def _read(self, node: Node, scope: Block) -> Stated:
        parts = fields(self._machine.exact(node, scope), "a tolerance")
        metric, value = string(parts["metricType"], "the metric"), parts["value"]
        if value.node.type != "subscript_expression":  # of a table by data type, which is not known here
            return Stated(metric, number_in(value, "a tolerance"))
        table = value.node.child_by_field_name("object")
        if table is None:
            raise NotData(value.node)
        each = fields(self._machine.exact(table, scope), "the tolerances of data types")
        return Stated(metric, {key: number_in(one, "a tolerance") for key, one in each.items()})


def _ignore(*_: Any) -> None:
    """Do nothing for a call that has no test."""


def _is_run(call: Node) -> bool:
    function = call.child_by_field_name("function")
    return function is not None and text_of_node(function) == _RUNS


def _is_elsewhere(value: ScriptValue) -> bool:
    """Whether a value is a name that the file does not declare: one of the utilities."""
    return isinstance(value.of, Unknown) and value.of.reason.node == value.node and value.node.type == "identifier"
