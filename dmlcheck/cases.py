"""Case files, plain descs and matrices: documents to Case records, with everything that is wrong in their form."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from dmlcheck.diagnostics import Diagnostic, Finding, describe, did_you_mean
from dmlcheck.document import Document, Overflow, Path, Position
from dmlcheck.header import LEVELS, parse_level
from dmlcheck.model import Case, Tolerance

_MERGED = ("desc", "inputs")
MAX_CASES = 100_000


class Origin(NamedTuple):
    """Where a case's parts stand: the case's own place in its document first, then the defaults of the file."""

    document: Document
    places: tuple[Path, ...]
    item: tuple[list[Any], int] | None = None
    renames: Mapping[str, Path] = {}

    def position(self) -> Position:
        """Return where the case starts."""
        if self.item is not None:
            return self.document.item_position(("cases",), *self.item)
        return self.document.locate(self.places[0]) if self.places[0] else Position(1, 1)

    def locate(self, path: Path, *, key: bool = False) -> Position:
        """Return where the part of the case at `path` stands, or the nearest thing around it that is there."""
        if not path:
            return self.position()
        full = self._full(path)
        return self.position() if full is None else self.document.locate(full, key=key)

    def literal(self, path: Path) -> str | None:
        """Return the text of the plain scalar at `path` as the file spells it."""
        full = self._full(path)
        return None if full is None else self.document.literal(full)

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """Return a finding with its place in the file."""
        position = self.locate(finding.path, key=finding.at_key)
        return finding.diagnostic()._replace(
            file=self.document.name,
            line=position.line,
            column=position.column,
            width=position.width,
        )

    def _full(self, path: Path) -> Path | None:
        path = (*self.renames.get(str(path[0]), path[:1]), *path[1:])
        best, most = None, 0
        for place in self.places:
            depth = _depth(self.document.value, (*place, *path)) - len(place)
            if depth > most:
                best, most = (*place, *path), depth
        return best


def _depth(value: Any, path: Path) -> int:
    """Return how many steps of a path a value has."""
    for depth, step in enumerate(path):
        if not _has(value, step):
            return depth
        value = value[step]
    return len(path)


def _has(value: Any, step: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


class CaseFile(NamedTuple):
    """What a file holds: its cases, what is wrong with those that are not well formed, and problems of the file itself.

    `notes` speak of what is in the file and is none of dmlcheck's business.
    """

    document: Document
    cases: tuple[Case, ...]
    broken: Mapping[str, tuple[Diagnostic, ...]]
    problems: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...] = ()


def read_cases(document: Document, name: str | None = None) -> CaseFile:
    """Read a document as a case file; `name` is the path that ids start with, the document's own by default."""
    reader = _Reader(document, name or document.name)
    if document.value is not None or document.problems:
        reader.read()
    else:
        reader.problem(
            Finding(
                "wrong-type",
                (),
                {"what": document.name, "found": "empty", "expected": _A_CASE_FILE},
            )
        )
    return CaseFile(document, tuple(reader.cases), reader.broken, tuple(reader.problems))


# ---- the form of a case


def _is_text(value: Any) -> bool:
    return type(value) is str and value != ""


def _is_mapping(value: Any) -> bool:
    return type(value) is dict


def _is_texts(value: Any) -> bool:
    return type(value) is list and all(type(element) is str for element in value)


def _is_matrix(value: Any) -> bool:
    return type(value) is dict and all(type(values) is list and values for values in value.values())


def _is_level(value: Any) -> bool:
    return parse_level(value) is not None


def _is_tolerance(value: Any) -> bool:
    return value == "exact" or not any(True for _ in _tolerance_findings(value))


_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (_is_text, "text"),
    "operator": (_is_text, "the name of an operator"),
    "feature_level": (_is_level, f"one of {' '.join(LEVELS)}"),
    "desc": (_is_mapping, "a mapping of fields to values"),
    "inputs": (_is_mapping, "a mapping of tensors to values"),
    "outputs": (_is_mapping, "a mapping of tensors to values"),
    "invalid": (_is_texts, "a list of rules or constraints"),
    "source": (_is_text, "text"),
    "tags": (_is_texts, "a list of text"),
    "tolerance": (_is_tolerance, "exact, or a mapping with ulp, absolute or relative"),
    "matrix": (_is_matrix, "a mapping of variables to lists of one value or more"),
    "note": (_is_text, "text"),
}
CASE_KEYS = tuple(_FORMS)


def _form_findings(case: Mapping[str, Any], *, templated: bool = False) -> Iterator[Finding]:
    """Yield what is wrong with the types of a case's values; `templated` lets text with variables pass."""
    for key, (holds, expected) in _FORMS.items():
        value = case.get(key)
        if value is None or holds(value) or (templated and _is_variable(value)):
            continue
        if key == "tolerance":
            yield from _tolerance_findings(value)
        elif type(value) is list and key in ("invalid", "tags"):
            for index, element in enumerate(value):
                if type(element) is not str:
                    yield _wrong_type((key, index), f"{key}[{index}]", element, "text")
        elif type(value) is dict and key == "matrix":
            for name, values in value.items():
                if type(values) is not list or not values:
                    yield _wrong_type((key, name), f"matrix.{name}", values, "a list of one value or more")
        else:
            help = did_you_mean(str(value), LEVELS) if key == "feature_level" else None
            yield _wrong_type((key,), key, value, expected, help)


_LIMITS = ("ulp", "absolute", "relative")


def _tolerance_findings(value: Any) -> Iterator[Finding]:
    if value == "exact":
        return
    if not isinstance(value, dict) or not value:
        expected = "exact, or a mapping with ulp, absolute or relative"
        yield _wrong_type(("tolerance",), "tolerance", value, expected)
        return
    for finding in _unknown_keys(value, frozenset(_LIMITS), "a tolerance"):
        yield finding._replace(path=("tolerance", *finding.path))
    for key in _LIMITS:
        limit = value.get(key, 0)
        is_number = isinstance(limit, (int, float)) and not isinstance(limit, bool)
        if not (is_number and 0 <= limit < float("inf")):
            yield _wrong_type(("tolerance", key), f"tolerance.{key}", limit, "a number of at least 0")


def _tolerance(value: Any) -> Tolerance:
    if value == "exact":
        return Tolerance(exact=True, source="the case")
    return Tolerance(source="the case", **value)


def _unknown_keys(value: Mapping[str, Any], known: frozenset[str], where: str) -> Iterator[Finding]:
    for key in value:
        if key not in known:
            help = did_you_mean(key, known) or f"its keys are {', '.join(sorted(known - {'$schema'}))}"
            yield Finding("unknown-key", (key,), {"where": where, "key": key}, help=help, at_key=True)


def _wrong_type(path: Path, what: str, value: Any, expected: str, help: str | None = None) -> Finding:
    return Finding(
        "wrong-type",
        path,
        {"what": what, "found": describe(value), "expected": expected},
        help=help,
    )


def _too_many(path: Path, name: str) -> Finding:
    params = {"path": name, "problem": f"makes more than {MAX_CASES:,} cases"}
    return Finding("file-too-large", path, params, help="split the file, or shorten the matrix")


_A_CASE_FILE = "a mapping with operator and desc, or with cases"


_FILE_KEYS = frozenset((*CASE_KEYS, "cases", "$schema"))
_KEYS_OF_CASES = frozenset(CASE_KEYS)


class _Reader:
    """The state of reading one case file."""

    def __init__(self, document: Document, name: str) -> None:
        self.document = document
        self.name = name
        self.cases: list[Case] = []
        self.broken: dict[str, tuple[Diagnostic, ...]] = {}
        self.problems: list[Diagnostic] = list(document.problems)
        self.names: dict[str, int] = {}

    def problem(self, finding: Finding, place: Path = ()) -> None:
        position = self.document.locate((*place, *finding.path), key=finding.at_key)
        self.problems.append(
            finding.diagnostic(place)._replace(
                file=self.document.name,
                line=position.line,
                column=position.column,
                width=position.width,
            )
        )

    def read(self) -> None:
        value = self.document.value
        if value is None:
            return
        if not isinstance(value, dict):
            self.problem(_wrong_type((), "the file", value, _A_CASE_FILE))
            return
        for finding in _unknown_keys(value, _FILE_KEYS, "a case file"):
            self.problem(finding)
        items = value.get("cases")
        if items is None:
            self.read_case(value, {}, Origin(self.document, ((),)), _stem(self.name))
        elif not isinstance(items, list):
            self.problem(_wrong_type(("cases",), "cases", items, "a list of cases"))
        elif "name" in value:
            params = {"where": "a file with cases", "key": "name"}
            self.problem(Finding("unknown-key", ("name",), params, at_key=True))
        else:
            self.read_list(items, {key: part for key, part in value.items() if key in _KEYS_OF_CASES})

    def read_list(self, items: list[Any], defaults: dict[str, Any]) -> None:
        wrong_defaults = list(_form_findings(defaults, templated=True))
        for finding in wrong_defaults:
            self.problem(finding)
        if wrong_defaults:
            return
        for index, item in enumerate(items):
            if isinstance(item, dict):
                origin = Origin(self.document, (("cases", index), ()), (items, index))
                self.read_case(item, defaults, origin, None)
            else:
                self.problem(_wrong_type(("cases", index), f"cases[{index}]", item, "a mapping"))
            if len(self.cases) > MAX_CASES:
                self.problem(_too_many(("cases", index), self.document.name))
                return

    def read_case(self, own: dict[str, Any], defaults: dict[str, Any], origin: Origin, stem: str | None) -> None:
        findings: list[Finding] = []
        if stem is None and not own.keys() <= _KEYS_OF_CASES:
            findings.extend(_unknown_keys(own, _KEYS_OF_CASES, "a case"))
        merged = _merge(defaults, own) if defaults else own
        name: Any = own.get("name", stem)
        if name is None:
            findings.append(Finding("missing-key", ("name",), {"where": "a case", "key": "name"}))
        absent = [key for key in ("operator", "desc") if merged.get(key) is None]
        findings.extend(Finding("missing-key", (key,), {"where": "a case", "key": key}) for key in absent)
        for key, value in merged.items():
            if value is not None and key in _FORMS and not _FORMS[key][0](value):
                findings.extend(_form_findings(merged, templated=merged.get("matrix") is not None))
                break
        if findings:
            self.add_broken(merged, origin, name, findings)
        elif merged.get("matrix") is None:
            self.add(merged, origin, name)
        else:
            for suffix, values in self.expand(merged, origin, name):
                self.add(values, origin, name + suffix)

    def add_broken(self, merged: dict[str, Any], origin: Origin, name: Any, findings: list[Finding]) -> None:
        position = origin.position()
        label = name if isinstance(name, str) else f"line {position.line}"
        case = Case(
            id=f"{self.name}::{label}", name=label, file=self.document.name, operator=str(merged.get("operator") or ""),
            feature_level=None, desc={}, inputs=None, outputs=None, invalid=None, tolerance=None, source=None, tags=(),
            note=None, origin=origin,
        )  # fmt: skip
        self.cases.append(case)
        found = [origin.diagnostic(finding) for finding in findings]
        self.broken[case.id] = tuple(sorted(found, key=Diagnostic.place))

    def add(self, merged: dict[str, Any], origin: Origin, name: str) -> None:
        if name in self.names:
            finding = Finding("duplicate-name", ("name",), {"name": name, "first": self.names[name]})
            self.add_broken(merged, origin, f"{name} (line {origin.position().line})", [finding])
            return
        self.names[name] = origin.position().line
        get = merged.get
        level, invalid, tolerance = get("feature_level"), get("invalid"), get("tolerance")
        self.cases.append(
            Case(
                f"{self.name}::{name}",
                name,
                self.document.name,
                merged["operator"],
                None if level is None else parse_level(level),
                merged["desc"],
                get("inputs"),
                get("outputs"),
                None if invalid is None else tuple(invalid),
                None if tolerance is None else _tolerance(tolerance),
                get("source"),
                tuple(get("tags") or ()),
                get("note"),
                origin,
            )
        )

    def expand(self, merged: dict[str, Any], origin: Origin, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield one set of values for every combination of a matrix, with the suffix of its name."""
        matrix = merged["matrix"]
        count = 1
        for values in matrix.values():
            count *= len(values)
        if len(self.cases) + count > MAX_CASES:
            self.add_broken(merged, origin, name, [_too_many(("matrix",), self.document.name)])
            return
        rest = {key: value for key, value in merged.items() if key != "matrix"}
        unknown: dict[str, Path] = {}
        _find_variables(rest, matrix, (), unknown)
        if unknown:
            findings = [
                Finding(
                    "unknown-key",
                    path,
                    {"where": "the matrix", "key": variable},
                    help=did_you_mean(variable, matrix) or f"it has {', '.join(matrix)}",
                )
                for variable, path in unknown.items()
            ]
            self.add_broken(merged, origin, name, findings)
            return
        for combination in product(*matrix.values()):
            values = dict(zip(matrix, combination, strict=True))
            suffix = ",".join(f"{key}={_spell(value)}" for key, value in values.items())
            replaced = {key: _substitute(value, values) for key, value in rest.items()}
            findings = list(_form_findings(replaced))
            if findings:
                self.add_broken(merged, origin, f"{name}[{suffix}]", findings)
            else:
                yield f"[{suffix}]", replaced


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _merge(defaults: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    merged = {**defaults, **own}
    for key in _MERGED:
        base, over = defaults.get(key), own.get(key)
        if isinstance(base, dict) and isinstance(over, dict):
            merged[key] = {**base, **over}
    return merged


# ---- matrices


def _is_variable(value: Any) -> bool:
    return isinstance(value, str) and "${" in value


def _variables(text: str) -> list[tuple[str, int, int]]:
    """Return the variables `${name}` of a text with where each starts and ends."""
    found = []
    end = 0
    while (start := text.find("${", end)) >= 0 and (close := text.find("}", start)) >= 0:
        end = close + 1
        found.append((text[start + 2 : close], start, end))
    return found


def _find_variables(value: Any, matrix: Mapping[str, Any], path: Path, unknown: dict[str, Path]) -> None:
    if isinstance(value, str):
        for variable, _, _ in _variables(value):
            if variable not in matrix:
                unknown.setdefault(variable, path)
    elif isinstance(value, dict):
        for key, part in value.items():
            _find_variables(part, matrix, (*path, key), unknown)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            _find_variables(part, matrix, (*path, index), unknown)


def _substitute(value: Any, values: Mapping[str, Any]) -> Any:
    """Put matrix values in for their variables; a text that is only a variable takes the value with its type."""
    if isinstance(value, str):
        parts = _variables(value)
        if not parts:
            return value
        if len(parts) == 1 and parts[0][1:] == (0, len(value)):
            return values[parts[0][0]]
        text, end = "", 0
        for variable, start, stop in parts:
            text += value[end:start] + _spell(values[variable])
            end = stop
        return text + value[end:]
    if isinstance(value, dict):
        return {key: _substitute(part, values) for key, part in value.items()}
    if isinstance(value, list):
        return [_substitute(part, values) for part in value]
    return value


def _spell(value: Any) -> str:
    """Return a matrix value as it stands in a case's name."""
    if isinstance(value, str):
        return value
    if isinstance(value, Overflow):
        return value.text
    import json

    return json.dumps(value, separators=(",", ":"))
