"""A fast parser for simple YAML, a subset that all shipped specs and cases are written in.

The parser returns None for everything that may mean something else in YAML 1.2: anchors, tags, comments after values,
escapes, scalars on several lines, duplicate keys, and all errors. Then `libyaml` parses the file.

- Each line is a key with its value, an item of a list, or both; indentation makes mappings and lists.
- A scalar is on one line.
- Brackets are put on one line, their words in quotes, and then parsed by the JSON decoder: those of a file together,
  if they have numbers and names alone.
- A quoted key has no colon with a space in it.

A file of 100 small cases takes 12 million instructions here, and 78 million by libyaml's events. `yaml.CSafeLoader`
takes 142 million, and the rest of a run takes 43 million. So the benchmark `run`, with a goal of 0.8 of CSafeLoader's
time, takes 0.49 of its instructions; with libyaml alone it would take 0.96 of them, and 1.1 of the time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from dmlcheck.files.document import Overflow, Position
from dmlcheck.files.scalars import MAX_DEPTH, MAX_NODES, MISSING, plain_scalar


class Simple(NamedTuple):
    """The value of a file, and the positions of the items of the lists in its outermost mapping, by the list's id."""

    value: dict[str, Any]
    item_lines: dict[int, list[Position]]


def read(text: str) -> Simple | None:
    """Parse simple YAML; return None for any other text."""
    text = text.replace("\r\n", "\n")
    if len(text) > MAX_NODES or not _is_usual(text):  # each value has at least a character
        return None
    try:
        blocks = _Blocks(_lines(text))
        blocks.read()
        blocks.put_brackets()
    except (_NotSimple, ValueError, RecursionError):
        return None
    return Simple(blocks.root, blocks.item_lines) if blocks.root else None


def _is_usual(text: str) -> bool:
    """Whether a text has only line ends and printable ASCII characters."""
    return text.isascii() and not text.encode().translate(None, _USUAL)


_USUAL = bytes([10, *range(32, 127)])


class _NotSimple(Exception):
    """Ends the parsing of a text that is not simple YAML."""


# ---- lines

# A line without a key: indentation, dash of an item, and the rest. It matches every line.
_LINE: Callable[[str], Any] = re.compile(r"( *)(- )?(.*)\Z").match
# What stands before the colon: indentation, dash of an item, and key.
_HEAD: Callable[[str], Any] = re.compile(r"( *)(- )?(\w[\w.-]{0,99}|\"[^\"\\\n]{0,99}\")\Z", re.ASCII).match
_MAY_GO_ON = (",", "[", "{", " ")  # a line whose brackets continue on the next one has one of these ends
_GOES_ON = re.compile(r"\n(?<=[,\[{ ]\n)").search


def _lines(text: str) -> list[str]:
    """Return the lines of a file; brackets on several lines are joined on the first one, and the others are empty."""
    lines = text.split("\n")
    if not _GOES_ON(text):
        return lines
    for number, line in enumerate(lines):
        if line.endswith(_MAY_GO_ON) and _opened(line):
            left, _, value = line.partition(": ")
            first = value.lstrip(" ") if _HEAD(left) else _LINE(line)[3]
            if first[:1] in ("[", "{"):
                whole = _in_brackets(first, lines, number + 1)
                lines[number] = line[: len(line) - len(first)] + whole
    return lines


def _in_brackets(first: str, lines: list[str], number: int) -> str:
    """Return brackets on several lines as one line, and empty the lines after the first; scalars may not be broken."""
    pieces = [first.rstrip(" ")]
    depth = _opened(first)
    while depth > 0:
        piece = lines[number].strip(" ") if number < len(lines) else ""
        if not piece or not (pieces[-1][-1] in ",[{:" or piece[0] in "]}"):
            raise _NotSimple
        depth += _opened(piece)
        pieces.append(piece)
        lines[number] = ""
        number += 1
    return " ".join(pieces)


def _opened(text: str) -> int:
    return text.count("[") + text.count("{") - text.count("]") - text.count("}")


# ---- mappings and lists by their indentation


class _Block(NamedTuple):
    """An open mapping or list, and the column of its keys or dashes, from 0."""

    column: int
    parts: Any


class _Head(NamedTuple):
    """A key with its place: the part of a line before the colon."""

    column: int
    is_item: bool
    key: str


class _Heads(dict[str, "_Head | None"]):
    """The parts of lines before their colons by their text; None for text that is no key."""

    def __missing__(self, text: str) -> _Head | None:
        found, head = _HEAD(text), None
        if found:
            lead, dash, key = found.groups()
            head = _Head(len(lead), dash is not None, key[1:-1] if key[0] == '"' else key)
        self[text] = head
        return head


class _Known(NamedTuple):
    """The lines of a block that was parsed, and its place: the value of a key in some mapping."""

    lines: list[str]
    fields: dict[str, Any]
    key: str


def _ends_at(lines: list[str], end: int, deeper: str) -> bool:
    """Whether a block ends before a line: that line has a key with less indentation."""
    return end < len(lines) and not lines[end].startswith(deeper) and lines[end].lstrip()[:1] not in ("", "#", "-")


class _Blocks:
    """The state of the parser: the open blocks, outermost first, and the key whose value may be the next block.

    Equal lines below a key are parsed once: as with an alias, all keys share the value.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.number = 0  # of lines parsed so far
        self.known: dict[tuple[int, str], _Known] = {}  # the last block by its depth and its first line
        self.root: dict[str, Any] = {}
        self.item_lines: dict[int, list[Position]] = {}
        self.open = [_Block(0, self.root)]
        self.key: str | None = None
        self.scalars = _Scalars()
        self.brackets: list[tuple[Any, Any, str]] = []  # the mapping or list, the key or index, and the text

    def read(self) -> None:
        """Parse all lines."""
        lines, heads = self.lines, _Heads()
        while self.number < len(lines):
            line = lines[self.number]
            self.number += 1
            left, colon, value = line.partition(": ")
            if not colon and line.endswith(":"):
                left, colon = line[:-1], ":"
            head = heads[left] if colon else None
            if head is None:
                self.without_key(*_LINE(line).groups())
            elif head.is_item:
                self.item(head.column, head.key, value.strip(" "))
            else:
                self.add(self.block_at(head.column, dict), head.key, value.strip(" "))

    def without_key(self, lead: str, dash: str | None, text: str) -> None:
        """Parse a line without a key: a whole item, brackets below their key, a comment, or nothing."""
        column = len(lead)
        if dash:
            items = self.block_at(column, list)
            if text[:1] in ("[", "{"):
                self.mark_item(items, column)
            items.append(None)
            self.put(items, len(items) - 1, text.rstrip(" "))
        elif text and text[0] != "#":
            self.value(column, text.rstrip(" "))

    def mark_item(self, items: list[Any], column: int) -> None:
        """Keep the place of an item, if its list is in the outermost mapping."""
        if len(self.open) == 2:
            self.item_lines.setdefault(id(items), []).append(Position(self.number, column + 3))

    def item(self, column: int, key: str, value: str) -> None:
        """Add a mapping to a list, with its first key."""
        items = self.block_at(column, list)
        self.mark_item(items, column)
        fields: dict[str, Any] = {}
        items.append(fields)
        self.open.append(_Block(column + 2, fields))
        self.add(fields, key, value)

    def value(self, column: int, text: str) -> None:
        """Add brackets that are on the line below their key."""
        innermost = self.open[-1]
        if self.key is None or column <= innermost.column or text[0] not in "[{":
            raise _NotSimple
        self.put(innermost.parts, self.key, text)
        self.key = None

    def add(self, fields: dict[str, Any], key: str, value: str) -> None:
        """Add a key to the innermost mapping, with its value if that is on the same line."""
        if key in fields:
            raise _NotSimple
        if value:
            self.put(fields, key, value)
        else:
            fields[key] = self.known_block(fields, key)
            self.key = key if fields[key] is None else None

    def put(self, parts: Any, key: Any, text: str) -> None:
        """Put a value in its place in a mapping or list; brackets follow at the end, when all are parsed together."""
        if text and text[0] in "[{":
            parts[key] = None
            self.brackets.append((parts, key, text))
        else:
            parts[key] = self.scalars[text]

    def put_brackets(self) -> None:
        """Put brackets in their places; equal texts share one value, as with an alias."""
        values = _values_of(list({text: None for _, _, text in self.brackets}))
        for parts, key, text in self.brackets:
            parts[key] = values[text]

    def known_block(self, fields: dict[str, Any], key: str) -> Any:
        """Return the value of an earlier key with equal lines below it, and skip these lines; None if there is none."""
        if len(self.open) == 1 or self.number >= len(self.lines):
            return None
        lines, first, deeper = self.lines, self.number, " " * (self.open[-1].column + 1)
        place = (len(self.open), lines[first])
        known = self.known.get(place)
        if known is not None:
            end = first + len(known.lines)
            value = known.fields[known.key]  # None for brackets, which are not there yet
            if value is not None and lines[first:end] == known.lines and _ends_at(lines, end, deeper):
                self.number = end
                return value
        end, last = first, min(first + _LONG_BLOCK, len(lines) - 1)
        while end < last and lines[end].startswith(deeper):
            end += 1
        if first < end < last and _ends_at(lines, end, deeper):
            self.known[place] = _Known(lines[first:end], fields, key)
        return None

    def block_at(self, column: int, kind: type) -> Any:
        """Return the mapping or list that a line belongs to, and close the blocks inside it."""
        innermost = self.open[-1]
        if self.key is None and innermost.column == column and type(innermost.parts) is kind:
            return innermost.parts
        if self.key is not None:
            key, self.key = self.key, None
            # The dashes of a list may have the indentation of its key.
            if column > innermost.column or (column == innermost.column and kind is list):
                return self.opened(innermost.parts, key, _Block(column, kind()))
        while innermost.column > column or (innermost.column == column and type(innermost.parts) is not kind):
            self.open.pop()
            if not self.open:
                raise _NotSimple
            innermost = self.open[-1]
        if innermost.column < column:
            raise _NotSimple
        return innermost.parts

    def opened(self, fields: dict[str, Any], key: str, block: _Block) -> Any:
        """Open a mapping or list as the value of a key, and return it."""
        if len(self.open) > _DEEP:
            raise _NotSimple
        fields[key] = block.parts
        self.open.append(block)
        return block.parts


_LONG_BLOCK = 64  # lines; longer blocks are rarely equal
_DEEP = MAX_DEPTH // 2 - 1  # levels of blocks, and of brackets in a value


# ---- values


class _Scalars(dict[str, Any]):
    """The scalars of a file by their text."""

    def __missing__(self, text: str) -> Any:
        value = self[text] = _quoted(text) if text[:1] in ('"', "'") else _plain(text)
        return value


def _plain(text: str) -> Any:
    if not _PLAIN(text) or ": " in text or " #" in text or text[-1] == ":":
        raise _NotSimple
    value = plain_scalar(text)
    if value is MISSING:
        raise _NotSimple
    return value


def _quoted(text: str) -> str:
    if not _QUOTED.fullmatch(text):
        raise _NotSimple
    return text[1:-1]


_PLAIN = re.compile(r"[-+]?\.?\w", re.ASCII).match
_QUOTED = re.compile(r"\"[^\"\\]*\"|'[^']*'")


# ---- brackets

# Words that begin with a letter, or with a sign or dot before one (-.inf), but not the e of 1e-5.
_NAMES = re.compile(r"([-.A-Za-z](?:(?<=[A-Za-z])|(?=\.?[A-Za-z]))(?<![\w.].)[\w.-]*)", re.ASCII)
_BARE = b"-.,: []{}_\n" + bytes([*range(48, 58), *range(65, 91), *range(97, 123)])  # the characters of `_are_bare`
_MANY = 200  # digits: a number of so many, or with an exponent of three, may be beyond float64's range
_MANY_DIGITS = re.compile(rf"[0-9]{{{_MANY}}}").search
_LARGE_EXPONENT = re.compile(r"[eE][-+]?[0-9]{3}").search
_GLUED = re.compile(":(?! )").search  # a colon without a space may be part of a word
_BETWEEN = "|"  # between brackets that are decoded together: no character of theirs
# Text in quotes, and words that are not JSON numbers.
_WORD = re.compile(
    r"\"[^\"\\]*\"|'[^']*'|"
    r"(?<![^][{}:, ])(?!(?:0|[1-9][0-9]{0,300})[],}])[-+]?\.?\w[\w.+/()=<>*;^-]*(?: +[\w.+/()=<>*;^-]+)*",
    re.ASCII,
)


_LONG = 1000  # characters; YAML has no keys of more than 1,024


def _values_of(texts: list[str]) -> dict[str, Any]:
    """Return the values of brackets by their text; ValueError or _NotSimple where one is not simple."""
    words = _Words()
    bare = texts if _are_bare(texts) else [text for text in texts if _are_bare([text])]
    values = _together(bare, words)
    if not values:
        for text in bare:
            values.update(_together([text], words))
    for text in texts:
        if text not in values:
            values[text] = _alone(text, words)
        if len(text) > 2 * _DEEP and text.count("[") + text.count("{") > _DEEP and _depth(values[text]) > _DEEP:
            raise _NotSimple
    return values


def _together(texts: list[str], words: _Words) -> dict[str, Any]:
    """Return the values of brackets with numbers and names; none where something is more than that.

    They are decoded as one list, with a mark between them: it is misplaced if brackets are closed in a later text.
    """
    parts = _NAMES.split("\n".join(texts))
    if _LARGE_EXPONENT("".join(parts[::2])):
        return {}
    parts[1::2] = map(words.__getitem__, parts[1::2])
    try:
        values = _decoded(f"[{''.join(parts)}]".replace("\n", f', "{_BETWEEN}", '))
    except ValueError:
        return {}
    if values[1::2].count(_BETWEEN) != len(texts) - 1 or len(values) != 2 * len(texts) - 1:
        return {}
    return dict(zip(texts, values[::2], strict=True))


def _alone(text: str, words: _Words) -> Any:
    """Parse lists and mappings on one line as JSON; ValueError if they are not of that form."""
    if "\\" in text or (_GLUED(text) and _GLUED(_QUOTED.sub('""', text))):
        raise _NotSimple
    return _decoded(_WORD.sub(words.of, text))


class _Words(dict[str, str]):
    """Scalars in brackets, as JSON by their text."""

    def of(self, found: re.Match[str]) -> str:
        """Return the JSON of a scalar."""
        return self[found[0]]

    def __missing__(self, text: str) -> str:
        value = text[1:-1] if text[0] in "\"'" else plain_scalar(text)
        if value is MISSING or isinstance(value, Overflow) or len(text) > _LONG:
            raise _NotSimple
        written = self[text] = json.dumps(value)
        return written


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _NotSimple
    return fields


_decode = json.JSONDecoder(object_pairs_hook=_once).raw_decode


def _decoded(text: str) -> Any:
    """Return the value of a JSON text; ValueError if it does not begin with one, `_NotSimple` if more follows."""
    value, end = _decode(text)
    if end != len(text):
        raise _NotSimple
    return value


def _are_bare(texts: list[str]) -> bool:
    """Whether brackets have numbers and words without quotes, which mean the same in YAML and, with quotes, in JSON.

    JSON refuses what YAML reads otherwise, such as 1.e5 or 007.
    """
    whole = "\n".join(texts)
    if whole.encode().translate(None, _BARE) or whole.count(":") != whole.count(": "):
        return False
    return max(map(len, texts), default=0) < _MANY or _MANY_DIGITS(whole) is None


def _depth(value: Any) -> int:
    """Return the number of levels of lists and mappings."""
    if not isinstance(value, (list, dict)):
        return 0
    return 1 + max(map(_depth, value.values() if isinstance(value, dict) else value), default=0)
