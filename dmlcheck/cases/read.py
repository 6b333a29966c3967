"""Case files and plain descs: documents to Case records, with everything that is wrong in their form."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import product
from typing import Any

from dmlcheck.cases.matrix import (
    MAX_MADE,
    Templates,
    Variable,
    is_variable,
    longest_text,
    variable_of,
)
from dmlcheck.cases.records import MERGED, Case, CaseFile, FileOrigin
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.diagnostics.wording import describe, did_you_mean, unknown_names
from dmlcheck.files.document import Document, Path
from dmlcheck.specs.names import LEVELS, parse_level
from dmlcheck.specs.records import Tolerance

MAX_CASES = 100_000


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
    broken = reader.broken()
    return CaseFile(document, tuple(reader.cases), broken, tuple(reader.problems))


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


_A_TOLERANCE = "exact, or a mapping with ulp, absolute or relative"
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
    "tolerance": (_is_tolerance, _A_TOLERANCE),
    "matrix": (_is_matrix, "a mapping of variables to lists of one value or more"),
    "note": (_is_text, "text"),
}
CASE_KEYS = tuple(_FORMS)


def _form_findings(case: Mapping[str, Any], *, templated: bool = False) -> Iterator[Finding]:
    """Yield what is wrong with the types of a case's values; `templated` lets text with variables pass."""
    for key, (holds, expected) in _FORMS.items():
        value = case.get(key)
        if value is None or holds(value) or (templated and key != "matrix" and is_variable(value)):
            continue
        if key == "tolerance":
            yield from _tolerance_findings(value, templated=templated)
        elif type(value) is list and key in ("invalid", "tags"):
            for index, element in enumerate(value):
                if type(element) is not str:
                    yield _wrong_type((key, index), f"{key}[{index}]", element, "text")
        elif type(value) is dict and key == "matrix":
            for name, values in value.items():
                if type(values) is not list or not values:
                    yield _wrong_type((key, name), f"matrix.{name}", values, "a list of one value or more")
        else:
            is_level = key == "feature_level" and isinstance(value, (str, float))
            yield _wrong_type((key,), key, value, expected, did_you_mean(str(value), LEVELS) if is_level else None)


_LIMITS = ("absolute", "relative", "ulp")


def _tolerance_findings(value: Any, *, templated: bool = False) -> Iterator[Finding]:
    if value == "exact":
        return
    if not isinstance(value, dict) or not value:
        yield _wrong_type(("tolerance",), "tolerance", value, _A_TOLERANCE)
        return
    if value.keys() == {"reason"}:
        params = {"what": "tolerance", "found": "a reason and no limit", "expected": _A_TOLERANCE}
        yield Finding("wrong-type", ("tolerance",), params)
    if not _is_text(value.get("reason", "none")):
        yield _wrong_type(("tolerance", "reason"), "tolerance.reason", value["reason"], "text")
    for finding in _unknown_keys(value, (*_LIMITS, "reason"), "a tolerance"):
        yield finding._replace(path=("tolerance", *finding.path))
    for key in _LIMITS:
        limit = value.get(key, 0)
        is_number = isinstance(limit, (int, float)) and not isinstance(limit, bool)
        if not (is_number and 0 <= limit <= sys.float_info.max) and not (templated and is_variable(limit)):
            yield _wrong_type(("tolerance", key), f"tolerance.{key}", limit, "a finite number of at least 0")


def _tolerance(value: Any) -> Tolerance:
    if value == "exact":
        return Tolerance(exact=True, source="the case")
    return Tolerance(source="the case", **value)


def _unknown_keys(value: Mapping[str, Any], known: Collection[str], where: str) -> Iterator[Finding]:
    for key, help in unknown_names(value, known):
        yield Finding("unknown-key", (key,), {"where": where, "key": key}, help=help, at_key=True)


def _wrong_type(path: Path, what: str, value: Any, expected: str, help: str | None = None) -> Finding:
    return Finding(
        "wrong-type",
        path,
        {"what": what, "found": describe(value), "expected": expected},
        help=help,
    )


def _too_many(path: Path, name: str, problem: str) -> Finding:
    params = {"path": name, "problem": problem}
    return Finding("file-too-large", path, params, help="split the file, or shorten the matrix")


_TOO_MANY_CASES = f"makes more than {MAX_CASES:,} cases"
_A_CASE_FILE = "a mapping with operator and desc, or with cases"


_MARSHAL = 2  # the version of marshal's format that depends on values and their types alone, not on who else has them
_MOST_SHARED = 4096  # bytes of a desc that other cases are likely to have

_FILE_KEYS = (*CASE_KEYS, "cases")
_KEYS_OF_CASES = frozenset(CASE_KEYS)
_DECISIVE = ("operator", "desc", "matrix")  # without these nothing can be said of a case


class _Reader:
    """The state of reading one case file."""

    def __init__(self, document: Document, name: str) -> None:
        self.document = document
        self.name = name
        self.cases: list[Case] = []
        self.findings: dict[int, list[Diagnostic]] = {}  # of the cases that are not well formed, by their index
        self.problems: list[Diagnostic] = list(document.problems)
        self.names: dict[str, int] = {}
        self.unusable: set[str] = set()  # defaults of the wrong form
        self.unsettled: tuple[str, ...] = ()  # defaults that are right only if a matrix replaces their variables
        self.templates = Templates()
        self.descs: dict[bytes, dict[str, Any]] = {}
        self.tuples: dict[int, tuple[list[str], tuple[str, ...]]] = {}

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
        for finding in _unknown_keys({key: None for key in value if key != "$schema"}, _FILE_KEYS, "a case file"):
            self.problem(finding)
        items = value.get("cases")
        if items is None:
            self.read_case(value, {}, FileOrigin(self.document, ((),)), _stem(self.name))
            return
        if "name" in value:
            params = {"where": "a file with cases", "key": "name"}
            self.problem(Finding("unknown-key", ("name",), params, help="each case has its own name", at_key=True))
        if isinstance(items, list):
            known = _KEYS_OF_CASES - {"name"}
            self.read_list(items, {key: part for key, part in value.items() if key in known})
        else:
            self.problem(_wrong_type(("cases",), "cases", items, "a list of cases"))
            for finding in _form_findings(value, templated=True):
                self.problem(finding)

    def read_list(self, items: list[Any], defaults: dict[str, Any]) -> None:
        for finding in _form_findings(defaults, templated=True):
            self.problem(finding)
            self.unusable.add(str(finding.path[0]))
        usable = {key: part for key, part in defaults.items() if key not in self.unusable}
        self.unsettled = tuple(key for key, part in usable.items() if part is not None and not _FORMS[key][0](part))
        for index, item in enumerate(items):
            if isinstance(item, dict):
                origin = FileOrigin(self.document, (("cases", index), ()), (items, index))
                self.read_case(item, usable, origin, None)
            else:
                self.problem(_wrong_type(("cases", index), f"cases[{index}]", item, "a mapping"))
            if len(self.cases) > MAX_CASES:
                self.problem(_too_many(("cases", index), self.document.name, _TOO_MANY_CASES))
                return

    def read_case(self, own: dict[str, Any], defaults: dict[str, Any], origin: FileOrigin, stem: str | None) -> None:
        merged = _merge(defaults, own) if defaults else own
        name: Any = own.get("name")
        if name is None:
            name = stem
        findings = [
            Finding("missing-key", (key,), {"where": "a case", "key": key})
            for key, value in (("name", name), ("operator", merged.get("operator")), ("desc", merged.get("desc")))
            if value is None and key not in self.unusable
        ]
        if stem is None and not own.keys() <= _KEYS_OF_CASES:
            findings.extend(_unknown_keys(own, CASE_KEYS, "a case"))
        if self.has_wrong_form(own, merged):
            findings.extend(_form_findings(merged, templated=merged.get("matrix") is not None))
        if findings:
            taken = self.taken(origin, name) if type(name) is str and merged.get("matrix") is None else None
            self.add_broken(merged, origin, name, findings if taken is None else [*findings, taken])
        elif any(key in self.unusable and (key == "desc" or key not in own) for key in _DECISIVE):
            return  # the defaults are wrong, and their problem says so
        elif merged.get("matrix") is None:
            self.add(merged, origin, name)
        else:
            for suffix, values in self.expand(merged, origin, name):
                self.add(values, origin, name + suffix)

    def has_wrong_form(self, own: dict[str, Any], merged: dict[str, Any]) -> bool:
        for key, value in own.items():
            if value is not None and key in _FORMS and not _FORMS[key][0](value):
                return True
        return any(merged[key] is not None and not _FORMS[key][0](merged[key]) for key in self.unsettled)

    def add_broken(self, merged: dict[str, Any], origin: FileOrigin, name: Any, findings: list[Finding]) -> None:
        """Add what can be used of a case: its desc too, where nothing is to be filled in and it is to be legal."""
        usable = {key: value for key, value in merged.items() if key in _FORMS and _FORMS[key][0](value)}
        is_settled = merged.get("matrix") is None and merged.get("invalid") is None
        level = usable.get("feature_level")
        case = Case(
            id="", name=name if type(name) is str else "", file=self.document.name,
            operator=usable.get("operator", ""), feature_level=None if level is None else parse_level(level),
            desc=usable.get("desc", {}) if is_settled else {}, inputs=None, outputs=None,
            invalid=None, tolerance=None, source=None, tags=(), note=None, origin=origin,
        )  # fmt: skip
        self.findings[len(self.cases)] = sorted(map(origin.diagnostic, findings), key=Diagnostic.place)
        self.cases.append(case)

    def broken(self) -> dict[str, tuple[Diagnostic, ...]]:
        """Give every case that is not well formed a name that no other has; return what is wrong with each by id."""
        taken = {case.name for index, case in enumerate(self.cases) if index not in self.findings}
        broken = {}
        again: dict[str, int] = {}
        for index, found in self.findings.items():
            case = self.cases[index]
            name = base = _label(case, taken)
            while name in taken:
                again[base] = again.get(base, 1) + 1
                name = f"{base} ({again[base]})"
            taken.add(name)
            self.cases[index] = case._replace(id=f"{self.name}::{name}", name=name)
            broken[self.cases[index].id] = tuple(found)
        return broken

    def taken(self, origin: FileOrigin, name: str) -> Finding | None:
        """Take a name for a case; what is wrong if another case has it."""
        first = self.names.get(name)
        if first is None:
            self.names[name] = origin.position().line
            return None
        return Finding("duplicate-name", ("name",), {"name": name, "first": first})

    def texts(self, value: list[str] | None) -> tuple[str, ...] | None:
        """Return a list of text as a tuple, a long one that many cases share as one tuple."""
        if value is None or len(value) < 100:
            return None if value is None else tuple(value)
        return self.tuples.setdefault(id(value), (value, tuple(value)))[1]

    def shared(self, desc: dict[str, Any]) -> dict[str, Any]:
        """Return a desc, as the same object for all cases that have the same: it is worked on once."""
        try:
            written = marshal.dumps(desc, _MARSHAL)
        except ValueError:  # a number that float64 does not hold
            return desc
        return self.descs.setdefault(written, desc) if len(written) <= _MOST_SHARED else desc

    def add(self, merged: dict[str, Any], origin: FileOrigin, name: str) -> None:
        taken = self.taken(origin, name)
        if taken is not None:
            self.add_broken(merged, origin, name, [taken])
            return
        get = merged.get
        level, tolerance = get("feature_level"), get("tolerance")
        self.cases.append(
            Case(
                f"{self.name}::{name}",
                name,
                self.document.name,
                merged["operator"],
                None if level is None else parse_level(level),
                self.shared(merged["desc"]),
                get("inputs"),
                get("outputs"),
                self.texts(get("invalid")),
                None if tolerance is None else _tolerance(tolerance),
                get("source"),
                self.texts(get("tags")) or (),
                get("note"),
                origin,
            )
        )

    def expand(self, merged: dict[str, Any], origin: FileOrigin, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield one set of values for every combination of a matrix, with the suffix of its name."""
        matrix: dict[str, list[Any]] = merged["matrix"]
        rest = {key: value for key, value in merged.items() if key != "matrix"}
        variables = {key: [variable_of(value, index) for index, value in enumerate(matrix[key])] for key in matrix}
        findings = self.matrix_findings(rest, variables)
        if findings:
            self.add_broken(merged, origin, name, findings)
            return
        for combination in product(*variables.values()):
            chosen = dict(zip(variables, combination, strict=True))
            suffix = f"[{','.join(f'{key}={variable.label}' for key, variable in chosen.items())}]"
            replaced = self.templates.fill(rest, chosen)
            findings = list(_form_findings(replaced))
            if findings:
                self.add_broken(replaced, origin, name + suffix, findings)
            else:
                yield suffix, replaced

    def matrix_findings(self, rest: dict[str, Any], variables: dict[str, list[Variable]]) -> list[Finding]:
        """Return what keeps a matrix from being expanded; nothing is made to find out."""
        count = 1
        for values in variables.values():
            count *= len(values)
        if len(self.cases) + count > MAX_CASES:
            return [_too_many(("matrix",), self.document.name, _TOO_MANY_CASES)]
        survey = self.templates.survey(rest, variables)
        findings = [
            Finding(
                "unknown-key",
                path,
                {"where": "the matrix", "key": variable},
                help=did_you_mean(variable, variables) or f"it has {', '.join(variables)}",
            )
            for variable, path in survey.unknown.items()
        ]
        if findings:
            return findings
        names = sum(len(key) + max(len(variable.label) for variable in values) for key, values in variables.items())
        texts = sum(times * longest_text(variables[variable]) for variable, times in survey.inside.items())
        if count * (survey.size + names + texts) > MAX_MADE:
            problem = f"has a matrix that writes out more than {MAX_MADE:,} values and characters"
            findings.append(_too_many(("matrix",), self.document.name, problem))
        return findings


def _label(case: Case, taken: Collection[str]) -> str:
    """Return what to call a case that is not well formed: its name, or where it stands, or both."""
    line, column, _ = case.position
    places = (f"line {line}", f"line {line}, column {column}")
    labels = (case.name, *(f"{case.name} ({place})" for place in places)) if case.name else places
    return next((label for label in labels if label not in taken), labels[-1])


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _merge(defaults: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    merged = {**defaults, **own}
    for key in MERGED:
        base, over = defaults.get(key), own.get(key)
        if isinstance(base, dict) and isinstance(over, dict):
            merged[key] = {**base, **over}
    return merged
