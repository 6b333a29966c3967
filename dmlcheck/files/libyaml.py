"""A parser for all of YAML that dmlcheck reads, on libyaml's events, with errors for everything else.

It is imported only where YAML is parsed: the process that loads DirectML has no PyYAML.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import yaml

from dmlcheck.files.document import Document, Overflow, Position, ReadError, SyntaxNode, TreeBuilder
from dmlcheck.files.scalars import (
    MAX_DEPTH,
    MAX_DUPLICATES,
    MAX_NODES,
    MISSING,
    plain_scalar,
    too_deep,
    too_many,
    too_many_digits,
)

try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError as error:  # pragma: no cover - PyYAML's wheels all carry libyaml
    message = "dmlcheck needs PyYAML with libyaml; `pip install --force-reinstall pyyaml` installs a wheel that has it"
    raise ImportError(message) from error


class Parsed(NamedTuple):
    """The result of parsing a file: its value, the positions of list items, the number of duplicate keys, the error."""

    value: Any
    item_lines: dict[int, list[Position]]
    repeated: int
    refused: ReadError | None = None


def parse(document: Document) -> Parsed:
    """Parse the text of a document."""
    values = _Values(document.name)
    refused: ReadError | None = None
    try:
        values.read(document.text)
    except yaml.MarkedYAMLError as error:
        refused = _syntax_error(error, document.text)
    except yaml.reader.ReaderError as error:
        before = document.text.encode()[: error.position].decode("utf-8", "ignore")
        problem = f"YAML does not allow the character U+{error.character:04X}"
        help = "write it as an escape in double quotes"
        refused = ReadError(problem, document.place(len(before)), help)
    except ReadError as error:
        refused = error
    return Parsed(None if refused else values.value, values.item_lines, values.repeated, refused)


def events(text: str) -> Callable[[], Any]:
    """Return a function that returns the next event of a text."""
    next_event: Callable[[], Any] = CParser(text).get_event
    return next_event


# ---- values


class _Open:
    """A mapping or list before its end.

    `key` waits for its value; `before` is the number of values before it, `height` how deep those in it nest.
    """

    __slots__ = ("before", "height", "key", "parts", "start")

    def __init__(self, parts: Any, start: Any = None, before: int = 0) -> None:
        self.parts = parts
        self.start = start
        self.before = before
        self.key: str | None = None
        self.height = 0


class _Anchored(NamedTuple):
    """The value of an anchor, how many values it counts, and how deep they nest."""

    value: Any
    weight: int
    height: int


class _Values:
    """Events to plain values, in one pass and without recursion; an alias counts as all its values."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: list[Any] = []
        self.open = [_Open(self.root)]
        self.anchors: dict[str, _Anchored] = {}
        self.count = 0
        self.item_lines: dict[int, list[Position]] = {}
        self.repeated = 0
        self.plain: dict[str, Any] = {}

    @property
    def value(self) -> Any:
        return self.root[0] if self.root else None

    def read(self, text: str) -> None:
        take = {
            yaml.ScalarEvent: self.scalar,
            yaml.MappingStartEvent: self.start,
            yaml.SequenceStartEvent: self.start,
            yaml.MappingEndEvent: self.end,
            yaml.SequenceEndEvent: self.end,
            yaml.AliasEvent: self.alias,
            yaml.DocumentStartEvent: self.document,
        }.get
        next_event = events(text)
        while type(event := next_event()) is not yaml.StreamEndEvent:
            taker = take(type(event))
            if taker is not None:
                taker(event)

    def document(self, event: Any) -> None:
        if self.root:
            raise ReadError("a second document starts here; a file may have one", start_of(event))

    def scalar(self, event: Any) -> None:
        self.count += 1
        innermost = self.open[-1]
        if innermost.key is None and type(innermost.parts) is dict:
            if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
                raise _bad_tag(event)
            innermost.key = event.value
            self.repeated += event.value in innermost.parts and self.repeated < MAX_DUPLICATES
            return
        value = event.value
        if event.tag is not None:
            value = _tagged(event)
        elif event.style == "":
            value = self.plain.get(value, MISSING)
            if value is MISSING:
                value = self.new_plain(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(value, 1, 0)
        self.add(value, event)

    def new_plain(self, event: Any) -> Any:
        text = event.value
        value = plain_scalar(text)
        if value is MISSING:
            raise too_many_digits(text, start_of(event))
        self.plain[text] = value
        return value

    def start(self, event: Any) -> None:
        innermost = self.open[-1]
        is_mapping = type(event) is yaml.MappingStartEvent
        if innermost.key is None and type(innermost.parts) is dict:
            raise ReadError("a key must be a plain name", start_of(event))
        if event.tag is not None and event.tag != (_MAP if is_mapping else _SEQ):
            raise _bad_tag(event)
        if len(self.open) > MAX_DEPTH:
            raise too_deep(start_of(event))
        if len(self.open) == 3 and type(innermost.parts) is list:
            self.item_lines.setdefault(id(innermost.parts), []).append(start_of(event))
        self.open.append(_Open({} if is_mapping else [], event, self.count))
        self.count += 1

    def end(self, event: Any) -> None:
        ended = self.open.pop()
        innermost = self.open[-1]
        height = ended.height + 1
        innermost.height = max(innermost.height, height)
        if ended.start.anchor is not None:
            self.anchors[ended.start.anchor] = _Anchored(ended.parts, self.count - ended.before, height)
        self.add(ended.parts, event)

    def alias(self, event: Any) -> None:
        innermost = self.open[-1]
        if innermost.key is None and type(innermost.parts) is dict:
            raise ReadError("a key must be a plain name, not an alias", start_of(event))
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            raise ReadError(f"the alias *{event.anchor} has no anchor before it", start_of(event))
        self.count += anchored.weight
        innermost.height = max(innermost.height, anchored.height)
        if len(self.open) - 1 + anchored.height > MAX_DEPTH:
            raise too_deep(start_of(event))
        self.add(anchored.value, event)

    def add(self, value: Any, event: Any) -> None:
        """Put a value into the open mapping or list; of a repeated key the first value is kept."""
        if self.count > MAX_NODES:
            raise too_many(self.name, start_of(event))
        innermost = self.open[-1]
        if innermost.key is None:
            innermost.parts.append(value)
        else:
            innermost.parts.setdefault(innermost.key, value)
            innermost.key = None


def start_of(event: Any) -> Position:
    """Return where an event starts."""
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)


def place_of(first: Any, last: Any) -> Position:
    """Return where something stands from its first event to its last, with its width where it is on one line."""
    start, end = first.start_mark, last.end_mark
    width = end.column - start.column if end.line == start.line else 1
    return Position(start.line + 1, start.column + 1, max(1, width))


# ---- tags: only those that say what a plain value is

_MAP, _SEQ = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"
_SCALAR_TAGS: dict[str, type] = {"int": int, "float": float, "bool": bool, "null": type(None)}


def _tagged(event: Any) -> Any:
    kind = event.tag.removeprefix("tag:yaml.org,2002:")
    if kind in ("str", "!"):
        return event.value
    value = plain_scalar(event.value)
    if kind == "float" and type(value) is int:
        return float(value) if abs(value) < 2**1023 else Overflow(event.value)
    if kind not in _SCALAR_TAGS or not isinstance(value, _SCALAR_TAGS[kind]):
        raise _bad_tag(event)
    return value


def _bad_tag(event: Any) -> ReadError:
    tag = event.tag.replace("tag:yaml.org,2002:", "!!")
    help = "values are plain YAML: text, numbers, true, false, null, lists and mappings"
    return ReadError(f"the tag {tag} is not read", start_of(event), help)


# ---- syntax errors


def _syntax_error(error: yaml.MarkedYAMLError, text: str) -> ReadError:
    """Return the refusal for libyaml's error in a text, with a help if its words need one."""
    mark = error.problem_mark or error.context_mark
    where = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
    if mark and error.problem == _NO_TOKEN and text[mark.index : mark.index + 1] == "\t":
        return ReadError("YAML does not allow a tab here", where, "indent with spaces")
    if mark and str(error.problem).startswith(_TOO_DEEP):
        return too_deep(_first_too_deep(text[: mark.index]) or where)
    context = f" {error.context}" if error.context else ""
    help = _HELP.get(str(error.problem))
    if help is None and error.context_mark and error.context_mark.line != where.line - 1:
        help = f"it starts on line {error.context_mark.line + 1}, column {error.context_mark.column + 1}"
    return ReadError(f"{error.problem}{context}", where, help)


def _first_too_deep(text: str) -> Position | None:
    """Return the first bracket or brace that nests too deep; libyaml from 0.2.6 on refuses a much later one."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character in "[{") - (character in "]}")
        if depth > MAX_DEPTH:
            before = text[:index]
            return Position(before.count("\n") + 1, index - before.rfind("\n"))
    return None


_TOO_DEEP = "exceeded maximum nesting depth"
_NO_TOKEN = "found character that cannot start any token"
_HELP = {
    _NO_TOKEN: "quote text that starts with @, ` or %",
    "mapping values are not allowed in this context": "quote text that contains ': '",
    "could not find expected ':'": "a key needs a colon and a space after it",
    "found unexpected end of stream": "a bracket, brace or quote is not closed",
}


# ---- the syntax tree: a second parse, made when a position is asked for, or a key is a duplicate


def nodes_of(text: str, most: int) -> TreeBuilder:
    """Return the nodes of a file that was read without errors, up to a number of duplicate keys.

    An alias is the node of its anchor; an anchor may be set again.
    """
    nodes = TreeBuilder()
    anchors: dict[str | None, SyntaxNode] = {}
    next_event = events(text)
    while len(nodes.repeated) < most and type(event := next_event()) is not yaml.StreamEndEvent:
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
    return nodes
