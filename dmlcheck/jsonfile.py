"""JSON files as plain values, with the comments and trailing commas that DxDispatch allows."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml.error import Mark

from dmlcheck.diagnostics import Diagnostic
from dmlcheck.document import LINE_END, Document, Position, Refused, duplicate, position_of
from dmlcheck.yamlfile import MAX_DEPTH, MAX_DIGITS, MAX_NODES, MISSING, plain_scalar, too_many

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])")
_BLANK = re.compile(r"[^\r\n]")
_TOKEN = re.compile(_STRING + r"|[{}\[\]:,]|[^\s{}\[\]:,\"]+")


def parse_json(name: str, text: str) -> Document:
    """Parse JSON; a duplicate key is a problem beside a value that keeps the first of each."""
    bare = _blank_comments(text)
    document = Document(name, text, lambda: _tree(bare))
    has_duplicates = False

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_duplicates
        made = dict(reversed(pairs))
        has_duplicates = has_duplicates or len(made) != len(pairs)
        return {key: made[key] for key, _ in pairs}

    decoder = json.JSONDecoder(object_pairs_hook=mapping, parse_float=plain_scalar, parse_int=plain_scalar)
    try:
        _check(name, bare)
        document.value = decoder.decode(bare)
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        document.refuse(problem, Position(error.lineno, error.colno))
    except Refused as error:
        document.refuse(f"not JSON: {error}", error.position, error.help, error.rule)
    if has_duplicates and document.value is not None:
        document.problems.extend(_duplicates(document))
    return document


def _blank_comments(text: str) -> str:
    """Replace comments and trailing commas by blanks, so that every position stays."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found[0] == '"' else _BLANK.sub(" ", found)

    return _TRAILING_COMMA.sub(blank, _COMMENT.sub(blank, text))


def _check(name: str, text: str) -> None:
    """Refuse what Python's decoder would accept, or stumble over: depth, numbers without end, NaN and Infinity."""
    depth = 0
    for count, match in enumerate(_TOKEN.finditer(text)):
        token = match.group()
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        if count > 2 * MAX_NODES:
            raise too_many(name, _marks(text)(match.start()))
        if depth > MAX_DEPTH:
            problem = f"nested deeper than {MAX_DEPTH} levels"
        elif token in ("NaN", "Infinity", "-Infinity"):
            problem = f'{token} is not a JSON number; write "nan", "inf" or "-inf" in quotes'
        elif len(token) > MAX_DIGITS and plain_scalar(token) is MISSING:
            problem = f"a number of {len(token):,} digits is not read"
        else:
            continue
        raise Refused(problem, _marks(text)(match.start()))


def _marks(text: str) -> Callable[[int], Mark]:
    """Return what makes a mark of a character's index."""
    starts = [0, *(match.end() for match in LINE_END.finditer(text))]

    def mark(index: int) -> Mark:
        line = bisect.bisect_right(starts, index) - 1
        return Mark("", index, line, index - starts[line], None, 0)

    return mark


def _tree(text: str) -> Any:
    """Return JSON as nodes with marks, like those that libyaml makes of YAML; the text is known to be JSON."""
    mark = _marks(text)
    stack: list[list[Any]] = [[]]
    opened: list[Mark] = []
    node: yaml.Node
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in ":,":
            continue
        start, end = mark(match.start()), mark(match.end())
        if token in "{[":
            opened.append(start)
            stack.append([])
            continue
        if token == "}":
            items = stack.pop()
            node = yaml.MappingNode("", list(zip(items[::2], items[1::2], strict=True)), opened.pop(), end)
        elif token == "]":
            node = yaml.SequenceNode("", stack.pop(), opened.pop(), end)
        elif token[0] == '"':
            node = yaml.ScalarNode("", json.loads(token), start, end, style='"')
        else:
            node = yaml.ScalarNode("", token, start, end)
        stack[-1].append(node)
    return stack[0][0]


def _duplicates(document: Document) -> list[Diagnostic]:
    found = []
    todo = [document.tree()]
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.SequenceNode):
            todo.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            todo.extend(value for _, value in node.value)
            first: dict[str, int] = {}
            for key, _ in node.value:
                if key.value in first:
                    found.append(duplicate(document.name, key.value, position_of(key), first[key.value]))
                first.setdefault(key.value, key.start_mark.line + 1)
    return sorted(found, key=Diagnostic.place)
