"""Reads case files and plain descs: makes Case records of a document, with findings about their form."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from dmlcheck.cases.form import (
    CASE_KEYS,
    MOST_TEXT,
    form_findings,
    has_form,
    missing_key,
    tolerance_of,
    too_many,
    unknown_keys,
    wrong_type,
)
from dmlcheck.cases.matrix import (
    MAX_CASES,
    TOO_MANY_CASES,
    Variables,
    case_template,
    combinations,
    duplicate_labels,
    filled,
    matrix_findings,
    templates_of,
    variables_of,
)
from dmlcheck.cases.records import Case, CaseFile, FileOrigin, in_order, merged
from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import MAX_PROBLEMS, Checking, Diagnostic, Finding, collected
from dmlcheck.diagnostics.wording import cut, misspelt
from dmlcheck.files.document import Document, diagnostic_at
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import parse_level

_A_CASE_FILE = "a mapping with operator and desc, or with cases"
_FILE_KEYS = (*CASE_KEYS, "cases")
_KEYS_OF_CASES = frozenset(CASE_KEYS)
_DECISIVE = ("operator", "desc", "matrix")  # without these a case cannot be checked


def read_cases(document: Document, name: str | None = None) -> CaseFile:
    """Read a document as a case file; `name` is the path at the start of ids, by default that of the document."""
    name = name or document.name
    read, findings = collected(_Reader(document, name).read())
    problems = [
        diagnostic_at(finding, document.name, document.locate(finding.path, key=finding.at_key)) for finding in findings
    ]
    cases, broken = _named(read, name)
    is_list = isinstance(document.value, dict) and document.value.get("cases") is not None
    return CaseFile(document, tuple(cases), broken, (*document.problems, *problems), is_list=is_list)


class _Broken(NamedTuple):
    """A case that is not well formed, and the findings about its form."""

    case: Case
    findings: tuple[Finding, ...]


_Read = Case | _Broken


class _Defaults(NamedTuple):
    """The defaults of a file: the well-formed values, and the keys of the others.

    `templated` are the keys whose form depends on the variables of a matrix.
    """

    values: dict[str, Any] = {}  # noqa: RUF012 - never written to
    unusable: frozenset[str] = frozenset()
    templated: tuple[str, ...] = ()


class _Reader:
    """The state of reading one case file: the names of its cases, and values that cases share."""

    def __init__(self, document: Document, name: str) -> None:
        self.document = document
        self.name = name
        self.origins: dict[str, FileOrigin] = {}  # of the cases, by name
        self.default_templates: dict[str, Any] | None = None  # made when a case has a matrix
        self.lists: dict[tuple[str, ...], tuple[str, ...]] = {}  # equal tuples, made once
        self.problems = 0  # found in cases so far

    def read(self) -> Checking[Sequence[_Read]]:
        """Return the cases of the file; yield the findings about the file itself, with paths in the file."""
        value = self.document.value
        if not isinstance(value, dict):
            if value is not None:
                yield wrong_type((), "the file", value, _A_CASE_FILE)
            elif not self.document.problems:
                params = {"what": self.document.name, "found": "empty", "expected": _A_CASE_FILE}
                yield Finding("wrong-type", (), params)
            return ()
        own = {key: given for key, given in value.items() if key != "$schema"}
        yield from _unknown_keys(own, _FILE_KEYS, "a case file", value.get("operator"))
        items, meant = value.get("cases"), set(misspelt(value, _FILE_KEYS).values())
        if "cases" in meant:
            return ()
        if items is None:
            read = list(self.case(value, _Defaults(), FileOrigin(self.document, ((),)), _stem(self.name)))
            yield from self.too_many_problems()
            return read
        if "name" in value:
            params = {"where": "a file with cases", "key": "name"}
            yield Finding("unknown-key", ("name",), params, "each case has its own name", at_key=True)
        if isinstance(items, list):
            return (yield from self.cases(items, value, meant))
        yield wrong_type(("cases",), "cases", items, "a list of cases")
        yield from form_findings(value, templated=True)
        return ()

    def cases(self, items: list[Any], file: dict[str, Any], meant: set[str]) -> Checking[list[_Read]]:
        """Return the cases of a list, with the defaults of the file; `meant` are the keys that it misspells."""
        defaults = yield from _defaults(file, meant)
        read: list[_Read] = []
        for index, item in enumerate(items):
            if isinstance(item, dict):
                origin = FileOrigin(self.document, (("cases", index), ()), (items, index))
                read.extend(self.case(item, defaults, origin, None, MAX_CASES - len(read)))
            else:
                yield wrong_type(("cases", index), f"cases[{index}]", item, "a mapping")
            if len(read) > MAX_CASES:
                yield too_many(("cases", index), self.document.name, TOO_MANY_CASES)
                break
            if self.problems > MAX_PROBLEMS:
                break
        yield from self.too_many_problems()
        return read

    def too_many_problems(self) -> Iterator[Finding]:
        """Yield a finding if further cases are not read because of the number of problems."""
        if self.problems > MAX_PROBLEMS:
            params = {"path": self.document.name, "most": MAX_PROBLEMS, "rest": "its other cases are not read"}
            yield Finding("too-many-problems", (), params)

    def case(
        self, own: dict[str, Any], defaults: _Defaults, origin: FileOrigin, stem: str | None, room: int = MAX_CASES
    ) -> Iterable[_Read]:
        """Return a case, or the cases of its matrix; `stem` is the name of a case that is a file of its own."""
        values = merged(defaults.values, own) if defaults.values else own
        name = own.get("name")
        if name is None:
            name = stem
        has_matrix = values.get("matrix") is not None
        findings: list[Finding] = []
        if not _is_well_formed(own, values, name, defaults):
            findings.extend(islice(_findings(own, values, name, defaults, is_file=stem is not None), MAX_PROBLEMS + 1))
        if findings:
            if type(name) is str and not has_matrix:
                findings.extend(self.duplicate(name, origin))
            return (self.broken(values, origin, name, findings),)
        if defaults.unusable and _lacks_decisive(own, defaults):
            return ()  # the findings about the defaults say so
        if stem is not None and any(key in _DECISIVE for key in misspelt(own, CASE_KEYS).values()):
            return ()  # the finding about the unknown key says so
        if has_matrix:
            return self.expanded(own, values, defaults, origin, str(name), room)
        return (self.whole(values, origin, str(name)),)

    def expanded(
        self, own: dict[str, Any], values: dict[str, Any], defaults: _Defaults, origin: FileOrigin, name: str, room: int
    ) -> Iterator[_Read]:
        """Yield a case for every combination of a matrix."""
        if self.default_templates is None:
            self.default_templates = templates_of(defaults.values)
        template, variables = case_template(self.default_templates, templates_of(own)), variables_of(values["matrix"])
        findings = list(matrix_findings(template, variables, self.document.name, room))
        if findings:
            yield self.broken(values, origin, name, findings)
            return
        for suffix, chosen in combinations(variables):
            case = filled(template, chosen)
            if self.problems > MAX_PROBLEMS:
                return
            findings = list(islice(form_findings(case), MAX_PROBLEMS + 1))
            if findings:
                yield self.broken(case, origin, name + suffix, findings)
            else:
                yield self.whole(case, origin, name + suffix, variables)

    def whole(self, values: dict[str, Any], origin: FileOrigin, name: str, variables: Variables | None = None) -> _Read:
        """Return a well-formed case; if another case has its name, a broken one. `variables` are its matrix's."""
        duplicate = self.duplicate(name, origin, variables)
        if duplicate:
            return self.broken(values, origin, name, duplicate)
        get = values.get
        level, tolerance, source = get("feature_level"), get("tolerance"), get("source")
        return Case(
            f"{self.name}::{name}",
            name,
            self.document.name,
            values["operator"],
            None if level is None else parse_level(level),
            values["desc"],
            get("inputs"),
            get("outputs"),
            self.shared_tuple(get("invalid")),
            None if tolerance is None else tolerance_of(tolerance),
            source if source is None or len(source) <= MOST_TEXT else cut(source, MOST_TEXT),
            self.shared_tuple(get("tags")) or (),
            get("note"),
            origin,
        )

    def broken(self, values: dict[str, Any], origin: FileOrigin, name: Any, findings: list[Finding]) -> _Broken:
        """Return a case with findings and its usable values: its desc too, unless it has a matrix or is negative."""
        self.problems += len(findings)
        usable = {key: value for key, value in values.items() if has_form(key, value)}
        is_legal = values.get("matrix") is None and values.get("invalid") is None
        level = usable.get("feature_level")
        case = Case(
            id="",
            name=name if type(name) is str else "",
            file=self.document.name,
            operator=usable.get("operator") or "",
            feature_level=None if level is None else parse_level(level),
            desc=(usable.get("desc") or {}) if is_legal else {},
            origin=origin,
        )
        return _Broken(case, tuple(findings))

    def duplicate(self, name: str, origin: FileOrigin, variables: Variables | None = None) -> list[Finding]:
        """Record the name of a case; return a finding if another case has it."""
        first = self.origins.get(name)
        if first is None:
            self.origins[name] = origin
            return []
        line = first.position().line
        alike = duplicate_labels(variables) if variables and line == origin.position().line else ""
        where = f" by the matrix: {alike}" if alike else f", first by the case on line {line}"
        help = "give each value of a variable once" if alike else "give each case a name of its own"
        return [Finding("duplicate-name", ("name",), {"name": name, "where": where}, help)]

    # ---- shared values

    def shared_tuple(self, texts: list[str] | None) -> tuple[str, ...] | None:
        """Return a list of text as a tuple; equal lists of several cases become the same tuple."""
        if texts is None:
            return None
        made = tuple(texts)
        return self.lists.setdefault(made, made)


def _lacks_decisive(own: Mapping[str, Any], defaults: _Defaults) -> bool:
    """Whether a case would need a default of the wrong form for its operator, desc or matrix."""
    return any(key in defaults.unusable and (key == "desc" or key not in own) for key in _DECISIVE)


def _defaults(file: dict[str, Any], meant: set[str]) -> Checking[_Defaults]:
    """Return the defaults of a file; yield the findings about their form. `meant` are the keys that it misspells."""
    given = {key: file[key] for key in file if key in _KEYS_OF_CASES and key != "name"}
    unusable = set(meant)
    for finding in form_findings(given, templated=True):
        unusable.add(str(finding.path[0]))
        yield finding
    usable = {key: value for key, value in given.items() if key not in unusable}
    templated = tuple(key for key, value in usable.items() if not has_form(key, value))
    return _Defaults(usable, frozenset(unusable), templated)


def _is_well_formed(own: dict[str, Any], values: dict[str, Any], name: Any, defaults: _Defaults) -> bool:
    """Whether a case is certainly well formed: no key is missing or unknown, and every value has a type of its key."""
    if name is None or values.get("operator") is None or values.get("desc") is None:
        return False
    if defaults.templated or not own.keys() <= _KEYS_OF_CASES:
        return False
    for key, value in own.items():
        if type(value) is not _USUAL_TYPES.get(key) and not has_form(key, value):
            return False
    return True


_USUAL_TYPES = {"desc": dict, "inputs": dict, "outputs": dict}  # of values whose type is all of their form


def _findings(
    own: dict[str, Any], values: dict[str, Any], name: Any, defaults: _Defaults, *, is_file: bool
) -> Iterator[Finding]:
    """Yield the findings about the form of a case: about its own keys, and about its values with the defaults."""
    operator, desc = values.get("operator"), values.get("desc")
    if name is None or operator is None or desc is None:
        meant = misspelt(own, CASE_KEYS).values()
        for key, value in (("name", name), ("operator", operator), ("desc", desc)):
            if value is None and key not in defaults.unusable and key not in meant:
                yield missing_key(key, "a case")
        is_alone = desc is None and values.get("matrix") is None and values.get("invalid") is None
        if is_alone and type(operator) is str and full_name(operator) is None:
            yield from read_desc(operator, {}).findings
    if not is_file and not own.keys() <= _KEYS_OF_CASES:
        yield from _unknown_keys(own, CASE_KEYS, "a case", operator)
    yield from form_findings(values, templated=values.get("matrix") is not None)


def _unknown_keys(own: Mapping[str, Any], known: Collection[str], where: str, operator: Any) -> Iterator[Finding]:
    """Yield findings about unknown keys; for a field of the operator the help says that it belongs under desc."""
    for finding in unknown_keys(own, known, where):
        name = full_name(operator) if isinstance(operator, str) else None
        fields = () if name is None else load_spec(name).fields
        field = next((field for field in fields if field.casefold() == str(finding.path[0]).casefold()), None)
        yield finding if field is None else finding._replace(help=f"write {field} under desc")


# ---- names of broken cases


def _named(read: Sequence[_Read], file: str) -> tuple[list[Case], dict[str, tuple[Diagnostic, ...]]]:
    """Return all cases with unique ids, and the diagnostics of the broken ones by id."""
    taken = {one.name for one in read if isinstance(one, Case)}
    again: Counter[str] = Counter()
    cases = []
    broken = {}
    for one in read:
        if isinstance(one, Case):
            cases.append(one)
            continue
        case, findings = one
        name = base = _label(case, taken)
        while name in taken:
            again[base] += 1
            name = f"{base} ({again[base] + 1})"
        taken.add(name)
        cases.append(case._replace(id=f"{file}::{name}", name=name))
        broken[cases[-1].id] = in_order(case.origin, findings)
    return cases, broken


def _label(case: Case, taken: Collection[str]) -> str:
    """Return a name for a broken case that is not taken: its own, or its place, or both."""
    line, column, _ = case.position
    places = (f"line {line}", f"line {line}, column {column}")
    labels = (case.name, *(f"{case.name} ({place})" for place in places)) if case.name else places
    return next((label for label in labels if label not in taken), labels[-1])


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
