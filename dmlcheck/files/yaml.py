"""YAML 1.2 files as plain values, read strictly on libyaml."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml

from dmlcheck.files.document import Document, Node, Overflow, Position, Refused, duplicate
from dmlcheck.files.scalars import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_DUPLICATES,
    MAX_NODES,
    MISSING,
    WORDS,
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

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_DIGITS", "MAX_NODES", "parse", "read"]

MAX_BYTES = 32 * 2**20


def read(path: str) -> Document:
    """Read a YAML or JSON file; whatever is wrong with it is in the document's problems."""
    name = path.replace(os.sep, "/")
    document = Document(name, "")
    try:
        size = os.stat(path).st_size
        if size > MAX_BYTES:
            document.refuse(_too_large(name, size), None, rule="file-too-large")
            return document
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        document.refuse(_reason(error), None, rule="file-not-found")
        return document
    return parse(data, name, is_json=path.lower().endswith(".json"))


def parse(data: bytes, name: str, *, is_json: bool | None = None) -> Document:
    """Parse a file's bytes; without `is_json`, text that opens with a brace or bracket is tried as JSON first."""
    if len(data) > MAX_BYTES:
        document = Document(name, "")
        document.refuse(_too_large(name, len(data)), None, rule="file-too-large")
        return document
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _not_utf8(name, data, error)
    looks_like_json = text.lstrip()[:1] in ("{", "[")
    if is_json or (is_json is None and looks_like_json):
        from dmlcheck.files.json import parse_json

        document = parse_json(name, text)
        if is_json or document.value is not None:
            return document
    return _parse_yaml(name, text)


def _parse_yaml(name: str, text: str) -> Document:
    document = Document(name, text, lambda: _tree(text))
    twice: list[_Twice] = []
    refused: Refused | None = None
    try:
        document.value = _build(document, twice)
    except yaml.MarkedYAMLError as error:
        refused = _syntax_error(error)
    except yaml.reader.ReaderError as error:
        before = text.encode()[: error.position].decode("utf-8", "ignore")
        problem = f"the character U+{error.character:04X} may not stand in YAML"
        refused = Refused(problem, document.place(len(before)), "write it as an escape in double quotes")
    except Refused as error:
        refused = error
    if twice:
        _report(document, twice)
    if refused is not None:
        document.refuse(str(refused), document.inside(refused.position), refused.help, refused.rule)
    return document


def _syntax_error(error: yaml.MarkedYAMLError) -> Refused:
    """Return what libyaml refuses, with a help where its words need one."""
    mark = error.problem_mark or error.context_mark
    where = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
    context = f" {error.context}" if error.context else ""
    help = _YAML_HELP.get(str(error.problem))
    if help is None and error.context_mark and error.context_mark.line != where.line - 1:
        help = f"it starts on line {error.context_mark.line + 1}, column {error.context_mark.column + 1}"
    return Refused(f"{error.problem}{context}", where, help)


_YAML_HELP = {
    "found character that cannot start any token": "indent with spaces, and quote text that starts with @, ` or %",
    "mapping values are not allowed in this context": "quote text that contains ': '",
    "could not find expected ':'": "a key needs a colon and a space after it",
    "found unexpected end of stream": "a bracket, brace or quote is not closed",
}


class _Twice(NamedTuple):
    """A key that stands in its mapping already: where the mapping starts, the key, and where it stands again."""

    mapping: int
    key: str
    offset: int
    at: Position


def _build(document: Document, twice: list[_Twice]) -> Any:  # noqa: C901, PLR0912, PLR0915 - one loop without calls: every file goes through it
    """Turn libyaml's events into plain values, in one pass and on a stack of our own, so that depth is bounded.

    Nesting that an alias brings counts like any other. Keys that stand twice are added to `twice`.
    """
    next_event: Callable[[], Any] = CParser(document.text).get_event
    known = _SCALARS.get
    item_lines = document.item_lines
    scalar, mapping_start, mapping_end = yaml.ScalarEvent, yaml.MappingStartEvent, yaml.MappingEndEvent
    sequence_start, sequence_end = yaml.SequenceStartEvent, yaml.SequenceEndEvent
    stack: list[tuple[Any, bool, Any, Any, int, int]] = []
    anchors: dict[str, tuple[Any, int, int]] = {}  # the value, how many values it counts, how deep they nest
    container: Any = []
    root = container
    is_mapping = False
    key: Any = None
    count = 0
    reach = 0  # the depth of the deepest value inside the container so far
    start: Any = None
    while True:
        event = next_event()
        kind = type(event)
        if kind is scalar:
            count += 1
            if is_mapping and key is None:
                key = event.value
                if event.tag is not None:
                    _check_key(event)
                if key in container and len(twice) < MAX_DUPLICATES:
                    twice.append(_Twice(start.start_mark.index, key, event.start_mark.index, _at(event, event)))
                continue
            value = event.value
            if event.style == "" and event.tag is None:
                value = known(value, MISSING)
                if value is MISSING:
                    value = _scalar(event)
            elif event.tag is not None:
                value = _tagged(event)
            if event.anchor is not None:
                anchors[event.anchor] = (value, 1, 0)
        elif kind is mapping_start or kind is sequence_start:
            if is_mapping and key is None:
                raise Refused("a key must be a plain name", _start(event))
            if event.tag is not None and event.tag != (_MAP if kind is mapping_start else _SEQ):
                raise _bad_tag(event)
            if len(stack) >= MAX_DEPTH:
                raise too_deep(_start(event))
            if len(stack) == 2 and not is_mapping:
                item_lines.setdefault(id(container), []).append(_start(event))
            stack.append((container, is_mapping, key, start, count, reach))
            start = event
            is_mapping = kind is mapping_start
            container = {} if is_mapping else []
            key = None
            count += 1
            reach = len(stack)
            continue
        elif kind is mapping_end or kind is sequence_end:
            value = container
            anchor = start.anchor
            deepest = reach
            container, is_mapping, key, start, before, reach = stack.pop()
            if deepest > reach:  # noqa: PLR1730 - a call for every list would be felt
                reach = deepest
            if anchor is not None:
                anchors[anchor] = (value, count - before, deepest - len(stack))
        elif kind is yaml.AliasEvent:
            if is_mapping and key is None:
                raise Refused("a key must be a plain name, not an alias", _start(event))
            if event.anchor not in anchors:
                raise Refused(f"the alias *{event.anchor} has no anchor before it", _start(event))
            value, weight, height = anchors[event.anchor]
            count += weight
            deepest = len(stack) + height
            if deepest > reach:
                if deepest > MAX_DEPTH:
                    raise too_deep(_start(event))
                reach = deepest
        elif kind is yaml.DocumentStartEvent and root:
            raise Refused("a second document starts here; a file holds one", _start(event))
        elif kind is yaml.StreamEndEvent:
            return root[0] if root else None
        else:
            continue
        if count > MAX_NODES:
            raise too_many(document.name, _start(event))
        if is_mapping:
            if key not in container:
                container[key] = value
            key = None
        else:
            container.append(value)


# ---- positions


def _start(event: Any) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)


def _at(first: Any, last: Any) -> Position:
    """Return where something stands from its first event to its last, with its width where it is on one line."""
    start, end = first.start_mark, last.end_mark
    width = end.column - start.column if end.line == start.line else 1
    return Position(start.line + 1, start.column + 1, max(1, width))


def _tree(text: str) -> Node | None:
    """Return a file that is known to be read as nodes; an alias is the node of its anchor, which may be set again."""
    next_event: Callable[[], Any] = CParser(text).get_event
    stack: list[tuple[Any, Node | None, Any]] = []
    anchors: dict[str, Node] = {}
    content: Any = []
    root = content
    key: Node | None = None
    start: Any = None
    while True:
        event = next_event()
        kind = type(event)
        if kind is yaml.ScalarEvent:
            node = Node(event.value, _at(event, event), event.style == "")
            anchor = event.anchor
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            stack.append((content, key, start))
            content, key, start = {} if kind is yaml.MappingStartEvent else [], None, event
            continue
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            node = Node(content, _at(start, event))
            anchor = start.anchor
            content, key, start = stack.pop()
        elif kind is yaml.AliasEvent:
            node = anchors[event.anchor]
            anchor = None
        elif kind is yaml.StreamEndEvent:
            return root[0] if root else None
        else:
            continue
        if anchor is not None:
            anchors[anchor] = node
        if type(content) is list:
            content.append(node)
        elif key is None:
            key = node
        else:
            content.setdefault(key.content, (key, node))
            key = None


def _report(document: Document, twice: list[_Twice]) -> None:
    """Add what is wrong with keys that stand twice; the first of each is looked for up to the last of them."""
    wanted = {found.mapping for found in twice}
    first: dict[tuple[int, str], int] = {}
    for mapping, key, line in _keys(document.text, twice[-1].offset):
        if mapping in wanted:
            first.setdefault((mapping, key), line)
    document.problems.extend(
        duplicate(document.name, found.key, found.at, first[found.mapping, found.key]) for found in twice
    )


def _keys(text: str, end: int) -> Iterator[tuple[int, str, int]]:
    """Yield every key before a character index: where its mapping starts, its text and its line."""
    next_event: Callable[[], Any] = CParser(text).get_event
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


# ---- scalars

_SCALARS: dict[str, Any] = dict(WORDS)
_MAX_REMEMBERED = 20_000


def _scalar(event: Any) -> Any:
    value = plain_scalar(event.value)
    if value is MISSING:
        raise too_many_digits(event.value, _start(event))
    if len(_SCALARS) < _MAX_REMEMBERED and len(event.value) < 100:
        _SCALARS[event.value] = value
    return value


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


def _check_key(event: Any) -> None:
    if event.tag not in ("!", "tag:yaml.org,2002:str"):
        raise _bad_tag(event)


def _bad_tag(event: Any) -> Refused:
    tag = event.tag.replace("tag:yaml.org,2002:", "!!")
    help = "values are plain YAML: text, numbers, true, false, null, lists and mappings"
    return Refused(f"the tag {tag} is not read", _start(event), help)


# ---- files that cannot be read


def _too_large(name: str, size: int) -> str:
    return f"{name} has {size:,} bytes; dmlcheck reads files of up to {MAX_BYTES:,}"


def _not_utf8(name: str, data: bytes, error: UnicodeDecodeError) -> Document:
    help: str | None = "save the file as UTF-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        problem = "the file is UTF-16; dmlcheck reads UTF-8"
    elif b"\0" in data[:8192]:
        problem, help = "the file is binary, not YAML or JSON", None
    else:
        problem = f"the byte 0x{error.object[error.start]:02X} is not UTF-8"
    # The error counts from after a byte order mark.
    document = Document(name, error.object.decode("utf-8", "replace"))
    before = error.object[: error.start].decode("utf-8")
    document.refuse(problem, document.place(len(before)), help)
    return document


def _reason(error: OSError | ValueError) -> str:
    """Return why a file could not be opened, in words that do not depend on the platform where there are some."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder"
    if isinstance(error, PermissionError):
        return "may not be read"
    if isinstance(error, ValueError):
        return "has a character that no path can have"
    return error.strerror or str(error)
