"""The matrix of a case: variables `${name}`, and the values put in their place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from dmlcheck.files.document import Overflow, Path

MAX_MADE = 32_000_000  # values and characters that the matrix of a case writes out, in all its combinations


class Variable(NamedTuple):
    """One value of a matrix, and its label in the names of cases."""

    value: Any
    label: str


_MAX_LABEL = 200
_LONG_TEXT = 1000


def variable_of(value: Any, index: int) -> Variable:
    """Return a matrix value as a variable; one that is too long for a name goes by its number from 1: `#3`."""
    label = _spell(value, _MAX_LABEL)
    return Variable(value, f"#{index + 1}" if label is None else label)


def _spell(value: Any, most: int = MAX_MADE) -> str | None:
    """Return a matrix value as text: itself, or JSON; None where that is longer than it may be."""
    if isinstance(value, str):
        return value if len(value) <= most else None
    if isinstance(value, Overflow):
        return value.text if len(value.text) <= most else None
    if _is_longer(value, most):
        return None
    import json

    text = ""
    try:
        for piece in json.JSONEncoder(separators=(",", ":")).iterencode(value):
            text += piece
            if len(text) > most:
                return None
    except ValueError:  # a whole number of thousands of digits
        return None
    return text


def _is_longer(value: Any, most: int) -> bool:
    """Whether a value has more characters and values in it than it may; shared ones count each time."""
    size = 0
    todo = [value]
    while todo and size <= most:
        part = todo.pop()
        size += len(part) if isinstance(part, str) else 1
        if isinstance(part, (list, dict)):
            todo.extend(part.values() if isinstance(part, dict) else part)
    return size > most


def longest_text(values: list[Variable]) -> int:
    """Return how much text the longest of a variable's values is, or as much as may be made where all are too much."""
    longest = total = 0
    for variable in values:
        text = _spell(variable.value)
        length = MAX_MADE if text is None else len(text)
        longest = max(longest, length)
        total += length
        if total > MAX_MADE:
            return MAX_MADE
    return longest


class Survey(NamedTuple):
    """What a matrix would fill in: variables that it does not have, those inside other text, and how much is copied."""

    unknown: dict[str, Path]
    inside: dict[str, int]
    size: int


class Templates:
    """Values with variables `${name}` in them. What has none is shared by all combinations, not copied.

    Values may be shared inside a file too, through aliases, and are looked at and copied once.
    """

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, bool]] = {}  # of a list, a mapping or a long text, which is kept as its id is

    def holds(self, value: Any) -> bool:
        """Whether a value has variables in it."""
        is_text = isinstance(value, str)
        if is_text and len(value) < _LONG_TEXT:
            return "${" in value
        if not is_text and not isinstance(value, (dict, list)):
            return False
        found = self.known.get(id(value))
        if found is None:
            if is_text:
                answer = "${" in value
            else:
                # Every part is looked at, so that each is known.
                answer = sum(map(self.holds, value.values() if isinstance(value, dict) else value)) > 0
            found = self.known[id(value)] = (value, answer)
        return found[1]

    def survey(self, rest: Mapping[str, Any], known: Collection[str]) -> Survey:
        """Find the variables of a case, and how many values and characters one combination copies."""
        unknown: dict[str, Path] = {}
        inside: dict[str, int] = {}
        seen: set[int] = set()
        size = 0

        def look(value: Any, path: Path) -> None:
            nonlocal size
            size += 1
            if isinstance(value, str):
                parts = _variables(value)
                for variable, start, end in parts:
                    if variable not in known:
                        unknown.setdefault(variable, path)
                    elif end - start < len(value):  # text that is only a variable becomes its value
                        inside[variable] = inside.get(variable, 0) + 1
                size += len(value) if parts else 0
            elif self.holds(value) and id(value) not in seen:
                seen.add(id(value))
                size += 4
                for key, part in value.items() if isinstance(value, dict) else enumerate(value):
                    look(part, (*path, key))

        for key, value in rest.items():
            look(value, (key,))
        return Survey(unknown, inside, size)

    def fill(self, rest: Mapping[str, Any], chosen: Mapping[str, Variable]) -> dict[str, Any]:
        """Return a case with values in place of its variables; text that is only a variable takes its type."""
        made: dict[int, Any] = {}

        def filled(value: Any) -> Any:
            if not self.holds(value):
                return value
            if isinstance(value, str):
                return _replaced(value, chosen)
            if id(value) not in made:
                if isinstance(value, dict):
                    made[id(value)] = {key: filled(part) for key, part in value.items()}
                else:
                    made[id(value)] = [filled(part) for part in value]
            return made[id(value)]

        return {key: filled(value) for key, value in rest.items()}


def is_variable(value: Any) -> bool:
    """Whether a value is text with a variable in it."""
    return isinstance(value, str) and "${" in value


def _variables(text: str) -> list[tuple[str, int, int]]:
    """Return the variables `${name}` of a text with where each starts and ends."""
    found = []
    end = 0
    while (start := text.find("${", end)) >= 0 and (close := text.find("}", start)) >= 0:
        end = close + 1
        found.append((text[start + 2 : close], start, end))
    return found


def _replaced(text: str, chosen: Mapping[str, Variable]) -> Any:
    parts = _variables(text)
    if len(parts) == 1 and parts[0][1:] == (0, len(text)):
        return chosen[parts[0][0]].value
    pieces: list[str] = []
    end = 0
    for variable, start, stop in parts:
        pieces += (text[end:start], _spell(chosen[variable].value) or "")
        end = stop
    return "".join((*pieces, text[end:]))
