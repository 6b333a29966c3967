"""JSON files as plain values, with the comments and trailing commas that DxDispatch allows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from dmlcheck.files.document import Document, Position, ReadError, SyntaxNode, TreeBuilder
from dmlcheck.files.scalars import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_DUPLICATES,
    MAX_NODES,
    MISSING,
    plain_scalar,
    too_deep,
    too_many,
    too_many_digits,
)

_MOST_ESCAPES = 2**16  # of a text: each takes memory while it is looked for
# A text or comment that is never closed is one token too, up to its latest possible end, so that none is scanned twice.
_TOKEN = re.compile(
    rf'"[^"\\\n]*(?:\\.[^"\\\n]*){{0,{_MOST_ESCAPES}}}"?|'
    r'//[^\n]*|/\*.*?\*/|/\*.*|[{}\[\]:,]|[^\s{}\[\]:,"/]+|/',
    re.DOTALL,
)
_NO_LINE_END = re.compile(r"[^\r\n]")


def parse_json(name: str, text: str) -> Document:
    """Parse JSON; a duplicate key is a problem, and the value keeps the first of each."""
    document = Document(name, text, lambda most: _nodes(document, most))
    has_duplicates = False

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_duplicates
        made = dict(pairs)
        if len(made) != len(pairs):
            has_duplicates = True
            made.update(reversed(pairs))
        return made

    decoder = json.JSONDecoder(object_pairs_hook=mapping, parse_float=plain_scalar, parse_int=plain_scalar)
    try:
        document.value = decoder.decode(_bare(document))
    except json.JSONDecodeError as error:
        problem = f"{error.msg[:1].lower()}{error.msg[1:]}" if text.strip() else "the file is empty"
        document.refuse(f"not JSON: {problem}", document.place(error.pos))
    except ReadError as error:
        document.refuse(str(error), error.position, error.help, error.rule)
    else:
        if has_duplicates:
            document.problems.extend(document.duplicates(MAX_DUPLICATES))
    return document


def _bare(document: Document) -> str:
    """Return JSON with blanks for comments and trailing commas, so that every position stays.

    Refuses files that Python's decoder would accept, or fail on: depth, numbers without end, NaN and Infinity.
    """
    pieces: list[str] = []
    done = 0
    for start, end in sorted(_blanks(document)):
        pieces += (document.text[done:start], _NO_LINE_END.sub(" ", document.text[start:end]))
        done = end
    return "".join((*pieces, document.text[done:]))


def _blanks(document: Document) -> Iterator[tuple[int, int]]:
    """Yield where comments and trailing commas stand, and look at every token on the way."""
    limits = _Limits(document)
    before = ""  # how the last token that is no comment begins
    comma: tuple[int, int] | None = None  # where it stands if it is a comma after a value
    for match in _TOKEN.finditer(document.text):
        token = match.group()
        first = token[0]
        if first == "/" and len(token) > 1:
            if token[1] == "*" and (len(token) < 4 or not token.endswith("*/")):
                raise ReadError("a comment is not closed", document.place(match.start()), "it ends with */")
            yield match.span()
            continue
        if first not in ":,":
            limits.check(token, match.start())
        if first in "}]" and comma is not None:
            yield comma
        comma = match.span() if first == "," and before not in ",:{[" else None
        before = first


class _Limits:
    """How deep and how many the values of a file are so far."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.depth = 0
        self.count = 0

    def check(self, token: str, index: int) -> None:
        """Look at a bracket, text or word."""
        first = token[0]
        if first in "}]":
            self.depth -= 1
            return
        self.count += 1
        if self.count > MAX_NODES:
            raise too_many(self.document.name, self.document.place(index))
        if first in "{[":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise too_deep(self.document.place(index))
        elif first != '"':
            _check_word(self.document, token, index)
        elif len(token) > _MOST_ESCAPES and self.document.text.startswith("\\", index + len(token)):
            problem = f"a text has more than {_MOST_ESCAPES:,} escapes"
            raise ReadError(problem, self.document.place(index))


def _check_word(document: Document, token: str, index: int) -> None:
    if token in ("NaN", "Infinity", "-Infinity"):
        problem = f'{token} is not a JSON number; write "nan", "inf" or "-inf" in quotes'
        raise ReadError(problem, document.place(index))
    if len(token) > MAX_DIGITS and plain_scalar(token) is MISSING:
        raise too_many_digits(token, document.place(index))


# ---- positions


def _nodes(document: Document, most: int) -> TreeBuilder:
    """Return valid JSON as nodes, as of YAML, up to a number of duplicate keys."""
    nodes = TreeBuilder()
    for match in _TOKEN.finditer(document.text):
        token = match.group()
        if token[0] in ":,/":
            continue
        if token in "{[":
            nodes.open(match.start(), is_mapping=token == "{")
        elif token in "}]":
            content, start = nodes.close()
            nodes.add(SyntaxNode(content, _at(document, start, match.end())))
        else:
            is_text = token[0] == '"'
            at = _at(document, *match.span())
            nodes.add(SyntaxNode(json.loads(token) if is_text else token, at, is_plain=not is_text))
        if len(nodes.repeated) == most:
            break
    return nodes


def _at(document: Document, start: int, end: int) -> Position:
    """Return the place of a stretch of the text, with its width where it is on one line."""
    first, last = document.place(start), document.place(end)
    return first._replace(width=last.column - first.column) if first.line == last.line else first
