"""DxDispatch models read: their dispatchables as cases, their resources, bindings and commands checked for form."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.form import wrong_type
from dmlcheck.cases.records import Case, CaseFile, FileOrigin, in_order
from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import MAX_PROBLEMS, NOTE, Checking, Diagnostic, Finding, collected
from dmlcheck.diagnostics.wording import cut, describe, unknown_names
from dmlcheck.files.document import Document, Path
from dmlcheck.formats.dxdispatch.form import (
    count_findings,
    data_type,
    file_path_findings,
    missing_key,
    name_findings,
    plain_desc,
)
from dmlcheck.formats.dxdispatch.model import DEFERRED, BoundResource, DxModel, ModelBinding, ModelCommand
from dmlcheck.formats.registry import takers
from dmlcheck.graphs.check import CheckedDesc, checked
from dmlcheck.graphs.records import GraphFile
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import DATA_TYPES, UINT64_MAX, UINT_MAX
from dmlcheck.specs.records import INPUT, OUTPUT, OperatorSpec
from dmlcheck.specs.search import type_help

_GRAPH = "dmlserializedgraph"
_OTHER_KINDS = ("hlsl", "onnx", _GRAPH)
_COMMANDS = ("dispatch", "print", "writefile")
_SECTIONS: tuple[tuple[str, type, str], ...] = (
    ("resources", dict, "a mapping"),
    ("dispatchables", dict, "a mapping"),
    ("commands", list, "a list"),
)
_NOT_FIELDS = ("type", "Type", "bindings", "dmlCompileType", "executionFlags")


class _Dispatchables(NamedTuple):
    """The dispatchables of a model: as given, None if they cannot be read, and by kind.

    `descs` are the operators' descs as they were read, `bindings` the own bindings of operators and graphs.
    """

    given: Mapping[str, Any] | None
    operators: Mapping[str, Case]
    others: Mapping[str, str]
    graphs: Mapping[str, GraphFile | Diagnostic]
    descs: Mapping[str, Reading] = {}
    bindings: Mapping[str, Mapping[str, ModelBinding]] = {}


def read_model(document: Document) -> DxModel:
    """Read a model; its problems include everything that is wrong with its form."""
    model, findings = collected(_model(document))
    origin = model.origin
    found = in_order(origin, findings) if len(findings) > MAX_PROBLEMS else tuple(map(origin.diagnostic, findings))
    return model._replace(problems=(*document.problems, *found))


def _model(document: Document) -> Checking[DxModel]:
    sections = yield from _sections(document.value)
    dispatchables = yield from _dispatchables(sections["dispatchables"], document)
    resources = yield from _resources(sections["resources"])
    dispatchables = yield from _with_bindings(dispatchables, resources)
    commands = []
    told = 0
    for index, raw in enumerate(sections["commands"] or []):
        command, findings = collected(_command(raw, ("commands", index), dispatchables, resources))
        yield from findings
        if command is not None and not findings:
            commands.append(command)
        told += len(findings)
        if told > MAX_PROBLEMS:
            break
    model = DxModel(document, resources.readable, dispatchables.operators, dispatchables.others, tuple(commands))
    return model._replace(graphs=dispatchables.graphs, descs=dispatchables.descs)


def _sections(value: Mapping[str, Any]) -> Checking[dict[str, Any]]:
    """Read the parts of a model; None for a part that is missing or of the wrong type."""
    sections = {}
    for name, kind, expected in _SECTIONS:
        found = value.get(name)
        if found is None:
            yield missing_key((name,), "a DxDispatch model", name)
        elif not isinstance(found, kind):
            yield wrong_type((name,), name, found, expected)
        sections[name] = found if isinstance(found, kind) else None
    return sections


# ---- dispatchables


def _dispatchables(given: Mapping[str, Any] | None, document: Document) -> Checking[_Dispatchables]:
    operators: dict[str, Case] = {}
    others: dict[str, str] = {}
    graphs: dict[str, GraphFile | Diagnostic] = {}
    read: dict[str, GraphFile | Diagnostic] = {}  # by path: several dispatchables may be of one graph
    for name, raw in (given or {}).items():
        kind = yield from _kind(name, raw)
        if kind is not None and kind.lower() == _GRAPH and _ends_as_graph(raw):
            graph = yield from _graph(name, raw["sourcePath"], document, read)
            graphs.update({name: graph} if graph is not None else {})
        elif kind is not None and kind.lower() in _OTHER_KINDS:
            others[name] = kind
        elif kind is not None:
            case = yield from _operator(name, kind, raw, document)
            if case is not None:
                operators[name] = case
    return _Dispatchables(given, operators, others, graphs)


def _ends_as_graph(raw: Mapping[str, Any]) -> bool:
    """Whether a dispatchable is a DirectML graph as ONNX Runtime writes it, by its file's name."""
    return str(raw.get("sourcePath")).lower().endswith(takers("validated")["graph"].endings)


def _graph(
    name: str, given: Any, document: Document, read: dict[str, GraphFile | Diagnostic]
) -> Checking[GraphFile | Diagnostic | None]:
    """Read a graph, whose file must lie in the folder tree of the model."""
    from dmlcheck.files.npy import find  # which imports NumPy
    from dmlcheck.formats.dml_graph.graph import read_graph

    path: Path = ("dispatchables", name, "sourcePath")
    wrong = list(file_path_findings(given, path))
    if wrong:
        yield from wrong
        return None
    folder = os.path.dirname(document.name)
    full, problem = find(folder, given)
    if problem is None:
        if full not in read:
            read[full] = read_graph(os.path.join(folder, given))
        return read[full]
    yield Finding("file-not-found", path, {"path": given, "problem": problem})
    return None


def _kind(name: str, raw: Any) -> Checking[str | None]:
    """Read the kind of a dispatchable: an operator, or the name of another kind."""
    path: Path = ("dispatchables", name)
    if not isinstance(raw, dict):
        yield wrong_type(path, f"the dispatchable {name}", raw, "a mapping with type and desc")
        return None
    key = _type_key(raw)
    kind = raw.get(key)
    if kind is None:
        yield missing_key((*path, "type"), f"the dispatchable {name}", "type")
    elif not isinstance(kind, str) or not kind:
        yield wrong_type((*path, key), "type", kind, "an operator, hlsl or onnx")
    else:
        return kind
    return None


def _type_key(raw: Mapping[str, Any]) -> str:
    return "Type" if "Type" in raw else "type"


def _operator(name: str, kind: str, raw: dict[str, Any], document: Document) -> Checking[Case | None]:
    """Read a dispatchable of DirectML as a case: its desc stands under a key, or next to its other settings."""
    path: Path = ("dispatchables", name)
    key = next((key for key in ("Desc", "desc") if key in raw), None)
    desc = raw[key] if key else {field: part for field, part in raw.items() if field not in _NOT_FIELDS}
    if not isinstance(desc, dict):
        yield wrong_type((*path, key or ""), "desc", desc, "a mapping of fields to values")
        return None
    renames: dict[str, Path] = {"operator": (_type_key(raw),), "desc": (key,) if key else ()}
    origin = FileOrigin(document, (path,), renames=renames)
    file = document.name
    return Case(f"{file}::{name}", name, file, kind, None, plain_desc(kind, desc), origin=origin)


def _with_bindings(dispatchables: _Dispatchables, resources: Resources) -> Checking[_Dispatchables]:
    """Read the own bindings of dispatchables, which every dispatch has."""
    bindings: dict[str, Mapping[str, ModelBinding]] = {}
    for name in (*dispatchables.operators, *dispatchables.graphs):
        own = (dispatchables.given or {})[name].get("bindings")
        path: Path = ("dispatchables", name, "bindings")
        read = None if own is None else (yield from read_bindings(own, path, resources))
        bindings[name] = read or {}
    descs = {name: read_desc(case.operator, case.desc) for name, case in dispatchables.operators.items()}
    return dispatchables._replace(descs=descs, bindings=bindings)


# ---- resources


def _resources(given: Mapping[str, Any] | None) -> Checking[Resources]:
    readable = {}
    for name, raw in (given or {}).items():
        findings = list(_resource_findings(name, raw))
        yield from findings
        if not findings:
            readable[name] = raw
    return Resources(given, readable)


def _resource_findings(name: str, raw: Any) -> Iterator[Finding]:
    path: Path = ("resources", name)
    if not isinstance(raw, dict):
        yield wrong_type(path, f"the resource {name}", raw, "a mapping with initialValues")
        return
    yield from _initial_findings(name, raw.get("initialValues"), (*path, "initialValues"))
    kind = raw.get("initialValuesDataType")
    if kind is not None and data_type(kind) is None:
        found = kind if isinstance(kind, str) else describe(kind)
        help = type_help(found)
        yield Finding(
            "unknown-enum-value",
            (*path, "initialValuesDataType"),
            {"found": found or "''", "enum": "DML_TENSOR_DATA_TYPE"},
            help=help,
        )
    yield from count_findings(raw, "sizeInBytes", path, UINT64_MAX)
    yield from count_findings(raw, "initialValuesOffsetInBytes", path, UINT64_MAX)


def _initial_findings(name: str, initial: Any, path: Path) -> Iterator[Finding]:
    if initial is None:
        yield missing_key(path, f"the resource {name}", "initialValues")
    elif isinstance(initial, dict):
        yield from count_findings(initial, "valueCount", path, UINT_MAX, least=1)
        if "valueStart" in initial and initial.get("valueDelta") is None:
            yield missing_key((*path, "valueDelta"), f"a sequence of initialValues of {name}", "valueDelta")
        if "sourcePath" in initial:
            yield from file_path_findings(initial["sourcePath"], (*path, "sourcePath"))
    elif not isinstance(initial, list) and initial != DEFERRED:
        expected = "a list, a mapping with value, valueStart or sourcePath, or deferred"
        yield wrong_type(path, f"initialValues of {name}", initial, expected)


# ---- commands


def _command(
    raw: Any, path: Path, dispatchables: _Dispatchables, resources: Resources
) -> Checking[ModelCommand | None]:
    name = f"commands[{path[-1]}]"
    if not isinstance(raw, dict):
        yield wrong_type(path, name, raw, "a mapping with type")
        return None
    given_kind = raw.get("type")
    kind = given_kind.lower() if isinstance(given_kind, str) else ""
    if given_kind is None:
        yield missing_key((*path, "type"), name, "type")
        return None
    if kind not in _COMMANDS:
        yield wrong_type((*path, "type"), "type", given_kind, "dispatch, print or writeFile")
        return None
    if kind == "dispatch":
        readable = dispatchables.operators, dispatchables.others, dispatchables.graphs
        target = yield from _target(raw, "dispatchable", path, dispatchables.given, *readable)
        bindings = yield from _bindings(raw, target, path, dispatchables, resources)
        return None if target is None else ModelCommand(kind, target, raw, path, bindings)
    target = yield from _target(raw, "resource", path, resources.given, resources.readable)
    if kind == "writefile":
        yield from _write_findings(raw, path)
    return None if target is None else ModelCommand(kind, target, raw, path)


def _target(
    raw: Mapping[str, Any], key: str, path: Path, names: Mapping[str, Any] | None, *readable: Mapping[str, Any]
) -> Checking[str | None]:
    """Read the name that a command is about; None if it is not the name of something that could be read."""
    target = raw.get(key)
    if target is None:
        yield missing_key((*path, key), f"a {raw['type']} command", key)
        return None
    if not isinstance(target, str):
        yield wrong_type((*path, key), key, target, f"the name of a {key}")
        return None
    yield from name_findings(f"{key}s", target, names, (*path, key))
    return target if any(target in known for known in readable) else None


def _write_findings(raw: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    if raw.get("targetPath") is None:
        yield missing_key((*path, "targetPath"), "a writeFile command", "targetPath")
    else:
        yield from file_path_findings(raw["targetPath"], (*path, "targetPath"))


def _bindings(
    raw: Mapping[str, Any], target: str | None, path: Path, dispatchables: _Dispatchables, resources: Resources
) -> Checking[Mapping[str, ModelBinding]]:
    """Read the bindings of a dispatch, in addition to the dispatchable's."""
    path = (*path, "bindings")
    if raw.get("bindings") is None:
        yield missing_key(path, "a dispatch command", "bindings")
        return {}
    bindings = yield from read_bindings(raw["bindings"], path, resources)
    if bindings is None:
        return {}
    every = {**dispatchables.bindings.get(target or "", {}), **bindings}
    case = dispatchables.operators.get(target or "")
    operator = None if case is None else full_name(case.operator)
    if case is not None and operator is not None:
        reading = dispatchables.descs[case.name]
        desc = None if reading.findings else reading.desc
        yield from binding_findings(load_spec(operator), desc, every, resources, path)
    return every


# ---- a model as cases: a plain desc for each operator, including the nodes of graphs that it dispatches


def read_cases(document: Document, name: str | None = None) -> CaseFile:
    """Read a model as cases; `name` is the path that ids start with."""
    model = read_model(document)
    file = operator_cases(model, name)
    cases, broken, problems = list(file.cases), dict(file.broken), list(file.problems)
    for given, graph in model.graphs.items():
        if isinstance(graph, Diagnostic):
            problems.append(graph)
            continue
        origin = FileOrigin(document, (("dispatchables", given),))
        dispatchable = Case(f"{name or document.name}::{given}", given, document.name, "", None, {}, origin=origin)
        own = node_cases(graph, dispatchable)
        cases += (case for case, _ in own)
        broken.update({case.id: tuple(map(origin.diagnostic, findings)) for case, findings in own if findings})
    return file._replace(cases=tuple(cases), broken=broken, problems=tuple(problems))


def operator_cases(model: DxModel, name: str | None = None) -> CaseFile:
    """Return the operators of a model as cases, and a note for each dispatchable that is not DirectML."""
    prefix = name or model.document.name
    cases = tuple(case._replace(id=f"{prefix}::{case.name}") for case in model.operators.values())
    notes = []
    for other, kind in model.others.items():
        finding = Finding("not-directml", ("dispatchables", other), {"name": other, "type": kind})
        notes.append(model.origin.diagnostic(finding)._replace(severity=NOTE))
    return CaseFile(model.document, cases, {}, model.problems, tuple(notes))


# ---- graphs

_MOST = 200  # characters of a name


def node_cases(graph: GraphFile, dispatchable: Case) -> list[tuple[Case, list[Finding]]]:
    """Return a case for each node, like that of the graph's dispatchable, and the findings about its other parts.

    The findings about a constant go with the next node, those about an output of the graph with the last one.
    """
    names, found = set[str](), list[Finding]()
    cases: list[tuple[Case, list[Finding]]] = []
    for one in checked(graph, _read):
        found += one.findings
        if one.node is not None:
            name = cut(one.name, _MOST)
            name = f"{name} ({one.node.path[-1]})" if name in names else name
            names.add(name)
            given = dispatchable._replace(id=f"{dispatchable.id}/{name}", name=f"{dispatchable.name}/{name}")
            cases.append((given._replace(operator=cut(one.node.operator, _MOST), desc=one.node.fields), found))
            found = []
    if cases:
        cases[-1][1].extend(found)
    return cases


def _read(operator: str, fields: Mapping[str, Any]) -> CheckedDesc:
    """Return a desc as it was read; the findings about it come when its case is validated."""
    return CheckedDesc(read_desc(operator, fields).desc, ())


_COUNTS = ("elementCount", "elementSizeInBytes", "elementStride", "elementOffset", "counterOffsetBytes")
_KEYS = ("name", *_COUNTS, "format", "counter", "shape")


class Resources(NamedTuple):
    """The resources of a model: as given, None if they cannot be read, and the well-formed ones."""

    given: Mapping[str, Any] | None
    readable: Mapping[str, Mapping[str, Any]]


def read_bindings(given: Any, path: Path, resources: Resources) -> Checking[dict[str, ModelBinding] | None]:
    """Read the bindings of each name; None if they are no mapping."""
    if not isinstance(given, dict):
        yield wrong_type(path, "bindings", given, "a mapping of tensors to resources")
        return None
    bindings = {}
    for name, part in given.items():
        bindings[name] = yield from _binding(part, (*path, name), resources)
    return bindings


def _binding(given: Any, path: Path, resources: Resources) -> Checking[ModelBinding]:
    """Read the binding of a name: a resource, or a list of them."""
    if not isinstance(given, list):
        return ModelBinding(((yield from _source(given, path, resources)),), path)
    sources = []
    for index, part in enumerate(given):
        sources.append((yield from _source(part, (*path, index), resources)))
    return ModelBinding(tuple(sources), path)


def _source(given: Any, path: Path, resources: Resources) -> Checking[BoundResource | None]:
    settings = given if isinstance(given, dict) else {"name": given}
    name = settings.get("name")
    if not isinstance(name, str):
        expected = "the name of a resource, a mapping with name, or a list of those"
        yield wrong_type(path, f"the binding {path[-1]}", given, expected)
        return None
    findings = list(name_findings("resources", name, resources.given, (*path, "name") if settings is given else path))
    findings += _unknown_key_findings(settings, path)
    for key in _COUNTS:
        findings += count_findings(settings, key, path, UINT64_MAX)
    yield from findings
    if name not in resources.readable or findings:
        return None
    return BoundResource(name, path, settings.get("elementOffset", 0), settings.get("elementSizeInBytes") or None)


def _unknown_key_findings(settings: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    for key, help in unknown_names(settings, _KEYS):
        yield Finding("unknown-key", (*path, key), {"where": "a binding", "key": key}, help=help, at_key=True)


# ---- what is bound to an operator


def binding_findings(
    spec: OperatorSpec,
    desc: OperatorDesc | None,
    bindings: Mapping[str, ModelBinding],
    resources: Resources,
    path: Path,
) -> Iterator[Finding]:
    """Yield the findings about an operator's bindings; without a desc, those that need none."""
    tensors = [field.name for field in (*spec.inputs, *spec.outputs)]
    for key, help in unknown_names(bindings, tensors, "its tensors are"):
        yield Finding("unknown-key", (*path, key), {"where": spec.operator, "key": key}, help=help, at_key=True)
    for source in (source for binding in bindings.values() for source in binding.sources if source):
        if resources.readable[source.name]["initialValues"] == DEFERRED:
            params = {
                "what": f"the resource {source.name}",
                "found": "deferred, and has no memory until an ONNX dispatchable makes it",
                "expected": "one with initial values where it is bound to a DirectML operator",
            }
            yield Finding("wrong-type", source.path, params)
    if desc is not None:
        regions, findings = collected(_regions(desc, bindings, resources))
        yield from findings
        yield from _overlap_findings(spec, regions)


# ---- overlaps


class _Region(NamedTuple):
    """The bytes of a resource that a tensor takes."""

    label: str
    kind: str
    source: BoundResource
    start: int
    end: int

    def overlaps(self, other: _Region) -> bool:
        return self.source.name == other.source.name and self.start < other.end and other.start < self.end


def _regions(desc: OperatorDesc, bindings: Mapping[str, ModelBinding], resources: Resources) -> Checking[list[_Region]]:
    """Return the bytes that each tensor of a desc is bound to."""
    regions = []
    for field in (*desc.spec.inputs, *desc.spec.outputs):
        parts, binding = desc.parts[field.name], bindings.get(field.name)
        if not parts or binding is None:
            continue
        if len(binding.sources) != len(parts):
            expected = "1 resource" if len(parts) == 1 else f"a list of {len(parts)}, one for each tensor"
            yield wrong_type(binding.path, f"the binding {field.name}", binding.sources, expected)
            continue
        for part, source in zip(parts, binding.sources, strict=True):
            if source is not None:
                length = (part.tensor.extent * DATA_TYPES[part.tensor.data_type].bits + 7) // 8
                kind = data_type(resources.readable[source.name].get("initialValuesDataType")) or "UNKNOWN"
                start = source.start * (source.size or max(1, DATA_TYPES[kind].bits // 8))
                regions.append(_Region(part.label, field.kind, source, start, start + length))
    return regions


def _overlap_findings(spec: OperatorSpec, regions: list[_Region]) -> Iterator[Finding]:
    """Yield every output that shares bytes with another tensor, unless the operator works in place on them."""
    for region in regions:
        if region.kind == OUTPUT:
            others = (other for other in regions if other is not region and region.overlaps(other))
            other = next((other for other in others if not _may_share(spec, region, other)), None)
            if other is not None:
                yield _overlap(spec, region, other)


def _may_share(spec: OperatorSpec, region: _Region, other: _Region) -> bool:
    is_same = (region.start, region.end) == (other.start, other.end)
    return other.kind == INPUT and spec.in_place and is_same


def _overlap(spec: OperatorSpec, region: _Region, other: _Region) -> Finding:
    params = {
        "what": f"the binding {region.label}",
        "found": f"resource {region.source.name!r}, where it overlaps {other.label}",
        "expected": "a resource, or a part of one, that no other tensor is bound to",
    }
    advice = f"bind {region.label} to another resource"
    if other.kind == INPUT:
        advice = f"{spec.short} cannot run in place: {advice}"
        if spec.in_place:
            advice = f"{spec.short} runs in place only on exactly the bytes of an input: bind {region.label} to those"
    return Finding("wrong-type", region.source.path, params, help=advice)
