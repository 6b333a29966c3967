"""The matrix of a case: variables `${name}`, and the values put in their place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any, NamedTuple

from dmlcheck.cases.form import is_variable, too_many
from dmlcheck.cases.records import MERGED, merged
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import cut, did_you_mean
from dmlcheck.files.document import Overflow, Path

MAX_CASES = 100_000  # of a file
MAX_MADE = 32_000_000  # values and characters that the matrix of a case writes out, in all its combinations
TOO_MANY_CASES = f"makes more than {MAX_CASES:,} cases"
_TOO_MUCH = f"has a matrix that writes out more than {MAX_MADE:,} values and characters"
_MAX_LABEL = 200
_MOST_NAMED = 20  # variables, known or not
_NUMBERS = frozenset((bool, int, float))


class Variable(NamedTuple):
    """One value of a matrix, and its label in the names of cases."""

    value: Any
    label: str


Variables = Mapping[str, list[Variable]]


def variables_of(matrix: Mapping[str, list[Any]]) -> Variables:
    """Return the values of each variable; one that is too long for a name is labelled by its number from 1: `#3`."""
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


class Template:
    """A text, list or mapping with variables `${name}` in it.

    `parts` has the parts of a list or mapping by index or key: those with variables are templates, and the others are
    values that all combinations share.
    """

    __slots__ = ("parts", "value")

    def __init__(self, value: Any, parts: Mapping[Any, Any] | None = None) -> None:
        self.value = value
        self.parts = parts or {}


def templates_of(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a case by key, as templates where they have variables, without the matrix.

    `desc` and `inputs` have templates by field. A value that aliases repeat is searched once, and is one template.
    """
    known: dict[int, Any] = {}  # by the ids of lists and mappings, which `case` keeps alive

    def template(value: Any) -> Any:
        if isinstance(value, str):
            return Template(value) if is_variable(value) else value
        if not isinstance(value, (dict, list)) or (isinstance(value, list) and _NUMBERS.issuperset(map(type, value))):
            return value
        if id(value) not in known:
            items = value.items() if isinstance(value, dict) else enumerate(value)
            parts = {key: template(part) for key, part in items}
            known[id(value)] = Template(value, parts) if _has_templates(parts) else value
        return known[id(value)]

    def by_field(value: Any) -> Any:
        return {name: template(part) for name, part in value.items()} if isinstance(value, dict) else template(value)

    values = ((key, value) for key, value in case.items() if key != "matrix")
    return {key: (by_field if key in MERGED else template)(value) for key, value in values}


def case_template(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> Template:
    """Return the template of a case from the `templates_of` the defaults of its file, and of its own values."""
    case = merged(defaults, own)
    for key in MERGED:
        fields = case.get(key)
        if isinstance(fields, dict) and _has_templates(fields):
            case[key] = Template(fields, fields)
    return Template(case, case)


def _has_templates(parts: Mapping[Any, Any]) -> bool:
    return any(isinstance(part, Template) for part in parts.values())


def filled(template: Template, chosen: Mapping[str, Variable]) -> Any:
    """Return a value with values in place of its variables; text that is only a variable takes the value's type."""
    made: dict[Template, Any] = {}

    def fill(part: Any) -> Any:
        if not isinstance(part, Template):
            return part
        if part not in made:
            if isinstance(part.value, str):
                made[part] = _replaced(part.value, chosen)
            elif isinstance(part.value, dict):
                made[part] = {key: fill(inner) for key, inner in part.parts.items()}
            else:
                made[part] = list(map(fill, part.parts.values()))
        return made[part]

    return fill(template)


# ---- limits


def matrix_findings(template: Template, variables: Variables, file: str, room: int) -> Iterator[Finding]:
    """Yield the reasons why a case cannot be made for every combination; nothing is made to find out.

    `room` is the number of cases that the file may still have.
    """
    count = math.prod(map(len, variables.values()))
    if count > room:
        yield too_many(("matrix",), file, TOO_MANY_CASES)
        return
    unknown = _unknown(template, variables)
    for variable, path in islice(unknown.items(), _MOST_NAMED):
        params = {"where": "the matrix", "key": variable}
        more = ", ..." if len(variables) > _MOST_NAMED else ""
        known = f"it has {', '.join(islice(variables, _MOST_NAMED))}{more}" if variables else "it is empty"
        help = did_you_mean(variable, variables) or known
        yield Finding("unknown-key", path, params, help)
    if not unknown and count * _size(template, variables) > MAX_MADE:
        yield too_many(("matrix",), file, _TOO_MUCH)


def _copied(template: Template) -> Iterator[tuple[Path, Any]]:
    seen: set[Template] = set()
    todo = [_parts(template, ())]
    while todo:
        for path, part in todo[-1]:
            yield path, part
            if isinstance(part, Template) and part not in seen:
                seen.add(part)
                todo.append(_parts(part, path))
                break
        else:
            todo.pop()


def _parts(template: Template, path: Path) -> Iterator[tuple[Path, Any]]:
    for key, part in template.parts.items():
        yield (*path, key), part


def _unknown(template: Template, variables: Variables) -> dict[str, Path]:
    """Return the variables that the matrix does not have, each with the path of its first use."""
    unknown: dict[str, Path] = {}
    for path, part in _copied(template):
        for variable, _, _ in _named(part):
            if variable not in variables:
                unknown.setdefault(variable, path)
    return unknown


def _size(template: Template, variables: Variables) -> int:
    """Return how many values and characters one combination makes at most, its name among them."""
    inside: Counter[str] = Counter()
    size = sum(len(name) + max(len(value.label) for value in values) for name, values in variables.items())
    for _, part in _copied(template):
        named, value = _named(part), part.value if isinstance(part, Template) else part
        size += 1 + (len(value) if named else 4 * isinstance(value, (dict, list)))
        for variable, start, end in named:
            if end - start < len(value):  # text that is only a variable becomes its value
                inside[variable] += 1
    return size + sum(times * _longest_text(variables[variable]) for variable, times in inside.items())


def _named(part: Any) -> list[tuple[str, int, int]]:
    """Return the variables `${name}` of a text or its template, with their starts and ends; other parts have none."""
    found = []
    end = 0
    value = part.value if isinstance(part, Template) else part
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
