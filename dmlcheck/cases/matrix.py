"""The matrix of a case: variables `${name}`, and the values put in their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any, NamedTuple

from dmlcheck.cases.form import is_variable, too_many
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import cut, did_you_mean
from dmlcheck.files.document import Overflow, Path

MAX_CASES = 100_000  # of a file
MAX_MADE = 32_000_000  # values and characters that the matrix of a case writes out, in all its combinations
TOO_MANY_CASES = f"makes more than {MAX_CASES:,} cases"
_TOO_MUCH = f"has a matrix that writes out more than {MAX_MADE:,} values and characters"
_MAX_LABEL = 200
_MOST_NAMED = 20  # variables, known or not
_LONG_TEXT = 1000


class Variable(NamedTuple):
    """One value of a matrix, and its label in the names of cases."""

    value: Any
    label: str


Variables = Mapping[str, list[Variable]]


def variables_of(matrix: Mapping[str, list[Any]]) -> Variables:
    """Return the values of each variable; one that is too long for a name goes by its number from 1: `#3`."""
    return {name: [_variable(value, index) for index, value in enumerate(values)] for name, values in matrix.items()}


def duplicate_labels(variables: Variables) -> str:
    """Return the first two values of a variable that have one label, in words: `Axis has both 1 and "1"`, or ""."""
    import json

    for name, values in variables.items():
        first: dict[str, Any] = {}
        for value, label in values:
            if label in first:
                one, other = (cut(json.dumps(each, default=str), _MAX_LABEL) for each in (first[label], value))
                return f"{name} has {one} twice" if one == other else f"{name} has both {one} and {other}"
            first[label] = value
    return ""


def _variable(value: Any, index: int) -> Variable:
    label = _spell(value, _MAX_LABEL)
    return Variable(value, f"#{index + 1}" if label is None else label)


def combinations(variables: Variables) -> Iterator[tuple[str, dict[str, Variable]]]:
    """Yield every combination of values, with its addition to the name of the case: `[Axis=0,DataType=FLOAT16]`."""
    for values in product(*variables.values()):
        chosen = dict(zip(variables, values, strict=True))
        yield f"[{','.join(f'{name}={variable.label}' for name, variable in chosen.items())}]", chosen


def _spell(value: Any, most: int = MAX_MADE) -> str | None:
    """Return a matrix value as text: itself, or JSON; None if that is longer than it may be."""
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


def _longest_text(values: list[Variable]) -> int:
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


class Templates:
    """Values with variables `${name}` in them; parts without variables are shared by all combinations, not copied.

    Aliases may share values inside a file too; these are searched and copied once.
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
            # Every part is looked at, so that each is known.
            parts = value.values() if isinstance(value, dict) else value
            answer = is_variable(value) if is_text else sum(map(self.holds, parts)) > 0
            found = self.known[id(value)] = (value, answer)
        return found[1]

    def findings(self, case: Mapping[str, Any], variables: Variables, file: str, room: int) -> Iterator[Finding]:
        """Yield the reasons why a case cannot be made for every combination; nothing is made to find out.

        `room` is the number of cases that the file may still have.
        """
        count = 1
        for values in variables.values():
            count *= len(values)
        if count > room:
            yield too_many(("matrix",), file, TOO_MANY_CASES)
            return
        unknown = self._unknown(case, variables)
        for variable, path in islice(unknown.items(), _MOST_NAMED):
            params = {"where": "the matrix", "key": variable}
            more = ", ..." if len(variables) > _MOST_NAMED else ""
            help = did_you_mean(variable, variables) or f"it has {', '.join(islice(variables, _MOST_NAMED))}{more}"
            yield Finding("unknown-key", path, params, help)
        if not unknown and count * self._size(case, variables) > MAX_MADE:
            yield too_many(("matrix",), file, _TOO_MUCH)

    def fill(self, case: Mapping[str, Any], chosen: Mapping[str, Variable]) -> dict[str, Any]:
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

        return {key: filled(value) for key, value in case.items()}

    # ---- what a combination makes

    def _copied(self, case: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
        """Yield the parts that are copied for a combination, each with its path."""
        seen: set[int] = set()
        todo = [_parts(case, ())]
        while todo:
            for path, value in todo[-1]:
                yield path, value
                if isinstance(value, (dict, list)) and self.holds(value) and id(value) not in seen:
                    seen.add(id(value))
                    todo.append(_parts(value, path))
                    break
            else:
                todo.pop()

    def _unknown(self, case: Mapping[str, Any], variables: Variables) -> dict[str, Path]:
        """Return the variables that the matrix does not have, each with the first place that names it."""
        unknown: dict[str, Path] = {}
        for path, value in self._copied(case):
            for variable, _, _ in _named(value):
                if variable not in variables:
                    unknown.setdefault(variable, path)
        return unknown

    def _size(self, case: Mapping[str, Any], variables: Variables) -> int:
        """Return how many values and characters one combination makes at most, its name among them."""
        inside: Counter[str] = Counter()
        size = sum(len(name) + max(len(value.label) for value in values) for name, values in variables.items())
        for _, value in self._copied(case):
            named = _named(value)
            size += 1 + (len(value) if named else 4 * isinstance(value, (dict, list)))
            for variable, start, end in named:
                if end - start < len(value):  # text that is only a variable becomes its value
                    inside[variable] += 1
        return size + sum(times * _longest_text(variables[variable]) for variable, times in inside.items())


def _parts(value: Mapping[str, Any] | list[Any], path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the parts of a mapping or a list, each with its path."""
    for key, part in value.items() if isinstance(value, Mapping) else enumerate(value):
        yield (*path, key), part


def _named(value: Any) -> list[tuple[str, int, int]]:
    """Return the variables `${name}` of a text with their starts and ends; a value that is no text has none."""
    found = []
    end = 0
    text = value if isinstance(value, str) else ""
    while (start := text.find("${", end)) >= 0 and (close := text.find("}", start)) >= 0:
        end = close + 1
        found.append((text[start + 2 : close], start, end))
    return found


def _replaced(text: str, chosen: Mapping[str, Variable]) -> Any:
    parts = _named(text)
    if len(parts) == 1 and parts[0][1:] == (0, len(text)):
        return chosen[parts[0][0]].value
    pieces: list[str] = []
    end = 0
    for variable, start, stop in parts:
        pieces += (text[end:start], _spell(chosen[variable].value) or "")
        end = stop
    return "".join((*pieces, text[end:]))
