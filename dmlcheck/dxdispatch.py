"""DxDispatch models: their dispatchables as cases, their resources and commands checked for form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases import CaseFile, Origin
from dmlcheck.diagnostics import NOTE, Diagnostic, Finding, describe, did_you_mean
from dmlcheck.document import Document, Path
from dmlcheck.header import DATA_TYPE_PREFIX, DATA_TYPES
from dmlcheck.model import Case

_OTHER_KINDS = ("hlsl", "onnx", "dmlserializedgraph")
_COMMANDS = ("dispatch", "print", "writefile")
_SECTIONS = (
    ("resources", dict, "a mapping"),
    ("dispatchables", dict, "a mapping"),
    ("commands", list, "a list"),
)


class Command(NamedTuple):
    """One command of a model: its kind in lower case, what it names, and where it stands."""

    kind: str
    target: str
    raw: Mapping[str, Any]
    path: Path


class Model(NamedTuple):
    """A DxDispatch model: resources as given, DirectML dispatchables as cases, the kinds of others, and commands."""

    document: Document
    resources: Mapping[str, Mapping[str, Any]]
    operators: Mapping[str, Case]
    others: Mapping[str, str]
    commands: tuple[Command, ...]
    problems: tuple[Diagnostic, ...]


def is_model(value: Any) -> bool:
    """Whether a document's value is a DxDispatch model."""
    return isinstance(value, dict) and "dispatchables" in value and "cases" not in value


def read_model(document: Document) -> Model:
    """Read a model; whatever is wrong with its form is among its problems."""
    value = document.value
    findings: list[Finding] = []
    sections: dict[str, Any] = {}
    for name, kind, expected in _SECTIONS:
        found = value.get(name)
        if found is None:
            findings.append(Finding("missing-key", (name,), {"where": "a DxDispatch model", "key": name}))
        elif not isinstance(found, kind):
            findings.append(_wrong((name,), name, found, expected))
        sections[name] = found if isinstance(found, kind) else kind()
    operators, others = _dispatchables(document, sections["dispatchables"], findings)
    resources = dict(_resources(sections["resources"], findings))
    names = {
        "dispatch": [*operators, *others],
        "print": list(resources),
        "writefile": list(resources),
    }
    commands = tuple(_commands(sections["commands"], names, findings))
    origin = Origin(document, ((),))
    problems = (*document.problems, *(origin.diagnostic(finding) for finding in findings))
    return Model(document, resources, operators, others, commands, problems)


def case_file(model: Model, name: str | None = None) -> CaseFile:
    """Return a model as a case file: one plain desc for each DirectML dispatchable, a note for each other."""
    prefix = name or model.document.name
    cases = tuple(case._replace(id=f"{prefix}::{case.name}") for case in model.operators.values())
    notes = []
    for other, kind in model.others.items():
        finding = Finding("not-directml", ("dispatchables", other), {"name": other, "type": kind})
        notes.append(Origin(model.document, ((),)).diagnostic(finding)._replace(severity=NOTE))
    return CaseFile(model.document, cases, {}, model.problems, tuple(notes))


def data_type(raw: Any) -> str | None:
    """Return a data type's short name as a resource gives it, in full or short, or None."""
    name = raw.removeprefix(DATA_TYPE_PREFIX) if isinstance(raw, str) else None
    return name if name in DATA_TYPES else None


def _dispatchables(
    document: Document, given: dict[str, Any], findings: list[Finding]
) -> tuple[dict[str, Case], dict[str, str]]:
    operators: dict[str, Case] = {}
    others: dict[str, str] = {}
    for name, raw in given.items():
        path: Path = ("dispatchables", name)
        if not isinstance(raw, dict):
            findings.append(_wrong(path, f"the dispatchable {name}", raw, "a mapping with type and desc"))
            continue
        type_key = "Type" if "Type" in raw else "type"
        kind = raw.get(type_key)
        if not isinstance(kind, str) or not kind:
            if kind is None:
                findings.append(
                    Finding(
                        "missing-key",
                        (*path, "type"),
                        {"where": f"the dispatchable {name}", "key": "type"},
                    )
                )
            else:
                findings.append(_wrong((*path, type_key), "type", kind, "an operator, hlsl or onnx"))
            continue
        if kind.lower() in _OTHER_KINDS:
            others[name] = kind
            continue
        desc_key = next((key for key in ("Desc", "desc") if key in raw), None)
        desc = raw[desc_key] if desc_key else {key: part for key, part in raw.items() if key not in _NOT_FIELDS}
        if not isinstance(desc, dict):
            findings.append(_wrong((*path, desc_key or ""), "desc", desc, "a mapping of fields to values"))
            continue
        renames: dict[str, Path] = {
            "operator": (type_key,),
            "desc": (desc_key,) if desc_key else (),
        }
        operators[name] = Case(
            id=f"{document.name}::{name}", name=name, file=document.name, operator=kind, feature_level=None, desc=desc,
            inputs=None, outputs=None, invalid=None, tolerance=None, source=None, tags=(), note=None,
            origin=Origin(document, (path,), renames=renames),
        )  # fmt: skip
    return operators, others


_NOT_FIELDS = ("type", "Type", "bindings", "dmlCompileType", "executionFlags")


def _resources(given: dict[str, Any], findings: list[Finding]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, raw in given.items():
        path: Path = ("resources", name)
        if not isinstance(raw, dict):
            findings.append(_wrong(path, f"the resource {name}", raw, "a mapping with initialValues"))
            continue
        if raw.get("initialValues") is None:
            params = {"where": f"the resource {name}", "key": "initialValues"}
            findings.append(Finding("missing-key", (*path, "initialValues"), params))
            continue
        given_type = raw.get("initialValuesDataType")
        if given_type is not None and data_type(given_type) is None:
            help = did_you_mean(str(given_type).removeprefix(DATA_TYPE_PREFIX), DATA_TYPES)
            params = {"found": given_type, "enum": "DML_TENSOR_DATA_TYPE"}
            findings.append(Finding("unknown-enum-value", (*path, "initialValuesDataType"), params, help=help))
            continue
        yield name, raw


def _commands(given: list[Any], names: Mapping[str, list[str]], findings: list[Finding]) -> Iterator[Command]:
    for index, raw in enumerate(given):
        path: Path = ("commands", index)
        if not isinstance(raw, dict):
            findings.append(_wrong(path, f"commands[{index}]", raw, "a mapping with type"))
            continue
        kind = str(raw.get("type") or "").lower()
        if kind not in _COMMANDS:
            if raw.get("type") is None:
                findings.append(
                    Finding(
                        "missing-key",
                        (*path, "type"),
                        {"where": f"commands[{index}]", "key": "type"},
                    )
                )
            else:
                findings.append(_wrong((*path, "type"), "type", raw["type"], "dispatch, print or writeFile"))
            continue
        key = "dispatchable" if kind == "dispatch" else "resource"
        target = raw.get(key)
        if not isinstance(target, str):
            if target is None:
                findings.append(
                    Finding(
                        "missing-key",
                        (*path, key),
                        {"where": f"a {raw['type']} command", "key": key},
                    )
                )
            else:
                findings.append(_wrong((*path, key), key, target, f"the name of a {key}"))
        elif target not in names[kind]:
            params = {"where": f"{key}s", "key": target}
            findings.append(Finding("unknown-key", (*path, key), params, help=did_you_mean(target, names[kind])))
        elif kind == "dispatch" and not isinstance(raw.get("bindings"), dict):
            params = {"where": "a dispatch command", "key": "bindings"}
            findings.append(Finding("missing-key", (*path, "bindings"), params))
        elif kind == "writefile" and not isinstance(raw.get("targetPath"), str):
            params = {"where": "a writeFile command", "key": "targetPath"}
            findings.append(Finding("missing-key", (*path, "targetPath"), params))
        else:
            yield Command(kind, target, raw, path)


def _wrong(path: Path, what: str, value: Any, expected: str) -> Finding:
    return Finding("wrong-type", path, {"what": what, "found": describe(value), "expected": expected})
