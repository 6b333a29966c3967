"""YAML 1.2 files as plain values, read strictly on libyaml."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import yaml

from dmlcheck.document import LINE_END, Document, Overflow, Position, Refused, duplicate, position_of

try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError as error:  # pragma: no cover - PyYAML's wheels all carry libyaml
    message = "dmlcheck needs PyYAML with libyaml; `pip install --force-reinstall pyyaml` installs a wheel that has it"
    raise ImportError(message) from error

MAX_BYTES = 32 * 2**20
MAX_NODES = 1_000_000
MAX_DEPTH = 100
MAX_DIGITS = 4000  # int() refuses more than 4,300; no data type needs more than 20
_MAX_DUPLICATES = 100  # each is looked up in the whole file; more of them say nothing new


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
    except OSError as error:
        document.refuse(f"{name}: {_reason(error)}", None, rule="file-not-found")
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
        from dmlcheck.jsonfile import parse_json

        document = parse_json(name, text)
        if is_json or document.value is not None:
            return document
    return _parse_yaml(name, text)


def _parse_yaml(name: str, text: str) -> Document:
    document = Document(name, text, lambda: _Composer(text).get_single_node())
    try:
        document.value = _build(document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
        context = f" {error.context}" if error.context else ""
        help = _YAML_HELP.get(str(error.problem))
        if help is None and error.context_mark and error.context_mark.line != where.line - 1:
            help = f"it starts on line {error.context_mark.line + 1}, column {error.context_mark.column + 1}"
        document.refuse(f"{error.problem}{context}", where, help)
    except yaml.reader.ReaderError as error:
        lines = LINE_END.split(text[: error.position])
        at = Position(len(lines), len(lines[-1]) + 1)
        help = "write it as an escape in double quotes"
        document.refuse(f"the character U+{error.character:04X} may not stand in YAML", at, help)
    except Refused as error:
        document.refuse(str(error), error.position, error.help, error.rule)
    return document


_YAML_HELP = {
    "found character that cannot start any token": "indent with spaces, and quote text that starts with @, ` or %",
    "mapping values are not allowed in this context": "quote text that contains ': '",
    "could not find expected ':'": "a key needs a colon and a space after it",
    "found unexpected end of stream": "a bracket, brace or quote is not closed",
}


class _Composer(CParser):
    """libyaml's node tree without PyYAML's tag resolution, which is not YAML 1.2's."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:  # noqa: ARG002 - libyaml's signature
        return ""

    def descend_resolver(self, node: Any, index: Any) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


MISSING: Any = object()


def _build(document: Document) -> Any:  # noqa: C901, PLR0912, PLR0915 - one loop without calls: every file goes through it
    """Turn libyaml's events into plain values, in one pass and on a stack of our own, so that depth is bounded."""
    next_event: Callable[[], Any] = CParser(document.text).get_event
    known = _SCALARS.get
    item_lines = document.item_lines
    scalar, mapping_start, mapping_end = yaml.ScalarEvent, yaml.MappingStartEvent, yaml.MappingEndEvent
    sequence_start, sequence_end = yaml.SequenceStartEvent, yaml.SequenceEndEvent
    stack: list[tuple[Any, bool, Any, Any, int]] = []
    anchors: dict[str, tuple[Any, int]] = {}
    container: Any = []
    root = container
    is_mapping = False
    key: Any = None
    count = 0
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
                if key in container and len(document.problems) < _MAX_DUPLICATES:
                    first = document.first_line_of(start.start_mark.index, key)
                    document.problems.append(duplicate(document.name, key, position_of(event), first))
                continue
            value = event.value
            if event.style == "" and event.tag is None:
                value = known(value, MISSING)
                if value is MISSING:
                    value = _scalar(event)
            elif event.tag is not None:
                value = _tagged(event)
            if event.anchor is not None:
                anchors[event.anchor] = (value, 1)
        elif kind is mapping_start or kind is sequence_start:
            if is_mapping and key is None:
                raise Refused("a key must be a plain name", event.start_mark)
            if event.tag is not None and event.tag not in _CONTAINER_TAGS:
                raise _bad_tag(event)
            if len(stack) >= MAX_DEPTH:
                raise Refused(f"nested deeper than {MAX_DEPTH} levels", event.start_mark)
            if len(stack) == 2 and not is_mapping:
                item_lines.setdefault(id(container), []).append(_start_of(event))
            stack.append((container, is_mapping, key, start, count))
            start = event
            is_mapping = kind is mapping_start
            container = {} if is_mapping else []
            key = None
            count += 1
            continue
        elif kind is mapping_end or kind is sequence_end:
            value = container
            anchor = start.anchor
            container, is_mapping, key, start, before = stack.pop()
            if anchor is not None:
                anchors[anchor] = (value, count - before)
        elif kind is yaml.AliasEvent:
            if is_mapping and key is None:
                raise Refused("a key must be a plain name, not an alias", event.start_mark)
            if event.anchor not in anchors:
                raise Refused(f"the alias *{event.anchor} has no anchor before it", event.start_mark)
            value, weight = anchors[event.anchor]
            count += weight
        elif kind is yaml.DocumentStartEvent and root:
            raise Refused("a second document starts here; a file holds one", event.start_mark)
        elif kind is yaml.StreamEndEvent:
            return root[0] if root else None
        else:
            continue
        if count > MAX_NODES:
            raise too_many(document.name, event.start_mark)
        if is_mapping:
            if key not in container:
                container[key] = value
            key = None
        else:
            container.append(value)


def too_many(name: str, mark: Any) -> Refused:
    """Return what refuses a file with too many values."""
    problem = f"{name} holds more than {MAX_NODES:,} values, aliases expanded"
    help = "put large tensors into .npy files, or generate them: {fill: 0}"
    return Refused(problem, mark, help, "file-too-large")


def _start_of(event: Any) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)


# ---- scalars of the YAML 1.2 core schema

_INTEGER = re.compile(r"[-+]?[0-9]+\Z").match
_RADIX = re.compile(r"0(?:o[0-7]+|x[0-9a-fA-F]+)\Z").match
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z").match
_INFINITY = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z").match
_INF = float("inf")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_SCALARS: dict[str, Any] = dict(_WORDS)
_MAX_REMEMBERED = 20_000


def _scalar(event: Any) -> Any:
    value = plain_scalar(event.value)
    if value is MISSING:
        raise Refused(f"a number of {len(event.value):,} digits is not read", event.start_mark)
    if len(_SCALARS) < _MAX_REMEMBERED:
        _SCALARS[event.value] = value
    return value


def plain_scalar(text: str) -> Any:
    """Return what a plain scalar means in the YAML 1.2 core schema: null, a bool, a number or text.

    A float beyond float64's range comes back as `Overflow`, which still knows its text; a whole number of more than
    MAX_DIGITS digits as MISSING.
    """
    if _INTEGER(text):
        return int(text) if len(text) <= MAX_DIGITS else MISSING
    if _FLOAT(text):
        value = float(text)
        return Overflow(text) if value in (_INF, -_INF) else value
    if text in _WORDS:
        return _WORDS[text]
    if _INFINITY(text):
        return -_INF if text[0] == "-" else _INF
    if _RADIX(text):
        return int(text, 0) if len(text) <= MAX_DIGITS else MISSING
    return text


# ---- tags: only those that say what a plain value is

_CONTAINER_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
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
    return Refused(f"the tag {tag} is not read", event.start_mark, help)


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
        problem = f"the byte 0x{data[error.start]:02X} is not UTF-8"
    document = Document(name, data.decode("utf-8", "replace"))
    lines = LINE_END.split(data[: error.start].decode("utf-8", "replace").removeprefix("\ufeff"))
    document.refuse(problem, Position(len(lines), len(lines[-1]) + 1), help)
    return document


def _reason(error: OSError) -> str:
    """Return why a file could not be opened, in words that do not depend on the platform where there are some."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder"
    if isinstance(error, PermissionError):
        return "may not be read"
    return error.strerror or str(error)
