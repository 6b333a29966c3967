"""DxDispatch models: their dispatchables as cases, their resources, bindings and commands checked for form."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case, CaseFile, FileOrigin
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import NOTE, Diagnostic, Finding
from dmlcheck.diagnostics.wording import describe, did_you_mean, unknown_names
from dmlcheck.files.document import Document, Path
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import DATA_TYPE_PREFIX, DATA_TYPES, UINT64_MAX, UINT_MAX
from dmlcheck.specs.records import INPUT, OUTPUT, OperatorSpec

_OTHER_KINDS = ("hlsl", "onnx", "dmlserializedgraph")
_COMMANDS = ("dispatch", "print", "writefile")
_SECTIONS = (
    ("resources", dict, "a mapping"),
    ("dispatchables", dict, "a mapping"),
    ("commands", list, "a list"),
)
DEFERRED = "deferred"  # the initial values of a resource that an ONNX dispatchable makes


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

    def bindings(self, dispatch: Command) -> dict[str, Any]:
        """Return what is bound to the tensors of a dispatch: by its dispatchable, and by the command itself."""
        own = self.document.value["dispatchables"][dispatch.target].get("bindings")
        return {**(own if isinstance(own, dict) else {}), **dispatch.raw["bindings"]}


def is_model(value: Any) -> bool:
    """Whether a document's value is a DxDispatch model."""
    return isinstance(value, dict) and "dispatchables" in value and "cases" not in value


def read_model(document: Document) -> Model:
    """Read a model; whatever is wrong with its form is among its problems."""
    reader = _Reader(document)
    value = document.value
    sections: dict[str, Any] = {}
    for name, kind, expected in _SECTIONS:
        found = value.get(name)
        if found is None:
            reader.missing((name,), "a DxDispatch model", name)
        elif not isinstance(found, kind):
            reader.wrong((name,), name, found, expected)
        sections[name] = found if isinstance(found, kind) else None
    reader.dispatchables(sections["dispatchables"])
    reader.resources(sections["resources"])
    reader.initial_bindings()
    commands = tuple(reader.commands(sections["commands"] or []))
    origin = FileOrigin(document, ((),))
    problems = (*document.problems, *map(origin.diagnostic, reader.findings))
    return Model(document, reader.read_resources, reader.operators, reader.others, commands, problems)


def case_file(model: Model, name: str | None = None) -> CaseFile:
    """Return a model as a case file: one plain desc for each DirectML dispatchable, a note for each other."""
    prefix = name or model.document.name
    cases = tuple(case._replace(id=f"{prefix}::{case.name}") for case in model.operators.values())
    notes = []
    for other, kind in model.others.items():
        finding = Finding("not-directml", ("dispatchables", other), {"name": other, "type": kind})
        notes.append(FileOrigin(model.document, ((),)).diagnostic(finding)._replace(severity=NOTE))
    return CaseFile(model.document, cases, {}, model.problems, tuple(notes))


def data_type(raw: Any) -> str | None:
    """Return a data type's short name as a resource gives it, in full or short, or None."""
    name = raw.removeprefix(DATA_TYPE_PREFIX) if isinstance(raw, str) else None
    return name if name in DATA_TYPES else None


def bytes_needed(resource: Mapping[str, Any]) -> int:
    """Return how many bytes a well-formed resource takes at least, without reading its values or the file they are in.

    It is known before anything is allocated, so that a resource that no memory can hold is refused with its size.
    """
    initial = resource["initialValues"]
    kind = data_type(resource.get("initialValuesDataType")) or "UNKNOWN"
    count = 0
    if isinstance(initial, list):
        count = len(initial)
    elif isinstance(initial, dict) and _is_count(initial.get("valueCount"), UINT_MAX):
        count = initial["valueCount"]
    filled = (count * max(DATA_TYPES[kind].bits, 8) + 7) // 8
    offset: int = resource.get("initialValuesOffsetInBytes", 0)
    size: int = resource.get("sizeInBytes", 0)
    return max(offset + filled, size)


class _Reader:
    """The state of reading one model."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.findings: list[Finding] = []
        self.operators: dict[str, Case] = {}
        self.others: dict[str, str] = {}
        self.read_resources: dict[str, dict[str, Any]] = {}
        # The names that there are, also of what is broken; None where their section cannot be read.
        self.names: dict[str, Mapping[str, Any] | None] = {"dispatchable": None, "resource": None}
        self.descs: dict[str, OperatorDesc | None] = {}
        self.initial: dict[str, dict[str, _Binding]] = {}

    def wrong(self, path: Path, what: str, value: Any, expected: str, help: str | None = None) -> None:
        params = {"what": what, "found": describe(value), "expected": expected}
        self.findings.append(Finding("wrong-type", path, params, help=help))

    def missing(self, path: Path, where: str, key: str) -> None:
        self.findings.append(Finding("missing-key", path, {"where": where, "key": key}))

    # ---- dispatchables

    def dispatchables(self, given: dict[str, Any] | None) -> None:
        self.names["dispatchable"] = given
        for name, raw in (given or {}).items():
            path: Path = ("dispatchables", name)
            if not isinstance(raw, dict):
                self.wrong(path, f"the dispatchable {name}", raw, "a mapping with type and desc")
                continue
            type_key = "Type" if "Type" in raw else "type"
            kind = raw.get(type_key)
            if kind is None:
                self.missing((*path, "type"), f"the dispatchable {name}", "type")
            elif not isinstance(kind, str) or not kind:
                self.wrong((*path, type_key), "type", kind, "an operator, hlsl or onnx")
            elif kind.lower() in _OTHER_KINDS:
                self.others[name] = kind
            else:
                self.operator(name, kind, type_key, raw, path)

    def operator(self, name: str, kind: str, type_key: str, raw: dict[str, Any], path: Path) -> None:
        desc_key = next((key for key in ("Desc", "desc") if key in raw), None)
        desc = raw[desc_key] if desc_key else {key: part for key, part in raw.items() if key not in _NOT_FIELDS}
        if not isinstance(desc, dict):
            self.wrong((*path, desc_key or ""), "desc", desc, "a mapping of fields to values")
            return
        renames: dict[str, Path] = {
            "operator": (type_key,),
            "desc": (desc_key,) if desc_key else (),
        }
        self.operators[name] = Case(
            id=f"{self.document.name}::{name}", name=name, file=self.document.name, operator=kind, feature_level=None,
            desc=_plain_scalars(kind, _normal(desc)), inputs=None, outputs=None, invalid=None, tolerance=None,
            source=None, tags=(), note=None, origin=FileOrigin(self.document, (path,), renames=renames),
        )  # fmt: skip

    # ---- resources

    def resources(self, given: dict[str, Any] | None) -> None:
        self.names["resource"] = given
        for name, raw in (given or {}).items():
            path: Path = ("resources", name)
            before = len(self.findings)
            if isinstance(raw, dict):
                self.resource(name, raw, path)
            else:
                self.wrong(path, f"the resource {name}", raw, "a mapping with initialValues")
            if len(self.findings) == before:
                self.read_resources[name] = raw

    def resource(self, name: str, raw: dict[str, Any], path: Path) -> None:
        initial = raw.get("initialValues")
        place = (*path, "initialValues")
        if initial is None:
            self.missing(place, f"the resource {name}", "initialValues")
        elif isinstance(initial, dict):
            self.initializer(initial, place)
        elif not isinstance(initial, list) and initial != DEFERRED:
            expected = "a list, a mapping with value, valueStart or sourcePath, or deferred"
            self.wrong(place, f"initialValues of {name}", initial, expected)
        given_type = raw.get("initialValuesDataType")
        if given_type is not None and data_type(given_type) is None:
            found = given_type if isinstance(given_type, str) else describe(given_type)
            params = {"found": found or "''", "enum": "DML_TENSOR_DATA_TYPE"}
            help = did_you_mean(found.removeprefix(DATA_TYPE_PREFIX), DATA_TYPES)
            self.findings.append(Finding("unknown-enum-value", (*path, "initialValuesDataType"), params, help=help))
        self.count(raw, "sizeInBytes", path, UINT64_MAX)
        self.count(raw, "initialValuesOffsetInBytes", path, UINT64_MAX)

    def initializer(self, initial: dict[str, Any], path: Path) -> None:
        self.count(initial, "valueCount", path, UINT_MAX, least=1)
        if "valueStart" in initial and initial.get("valueDelta") is None:
            self.missing((*path, "valueDelta"), f"a sequence of initialValues of {path[1]}", "valueDelta")
        if "sourcePath" in initial:
            self.file_path(initial["sourcePath"], (*path, "sourcePath"))

    def count(self, raw: Mapping[str, Any], key: str, path: Path, most: int, *, least: int = 0) -> None:
        """Check a whole number that may be left out."""
        value = raw.get(key, least)
        if not _is_count(value, most) or value < least:
            self.wrong((*path, key), key, value, f"a whole number from {least} to {most:,}")

    def file_path(self, value: Any, path: Path) -> None:
        if not _is_name(value) or "\0" in value:
            self.wrong(path, str(path[-1]), value, "the path of a file")

    # ---- commands

    def commands(self, given: list[Any]) -> Iterator[Command]:
        for index, raw in enumerate(given):
            path: Path = ("commands", index)
            if not isinstance(raw, dict):
                self.wrong(path, f"commands[{index}]", raw, "a mapping with type")
                continue
            given_kind = raw.get("type")
            kind = given_kind.lower() if isinstance(given_kind, str) else ""
            if given_kind is None:
                self.missing((*path, "type"), f"commands[{index}]", "type")
            elif kind not in _COMMANDS:
                self.wrong((*path, "type"), "type", given_kind, "dispatch, print or writeFile")
            else:
                before = len(self.findings)
                target = self.target(raw, kind, path)
                if kind == "dispatch":
                    self.dispatch(raw, target, path)
                elif kind == "writefile":
                    self.write_file(raw, path)
                if target is not None and len(self.findings) == before:
                    yield Command(kind, target, raw, path)

    def target(self, raw: Mapping[str, Any], kind: str, path: Path) -> str | None:
        """Return the name that a command is about, where it is the name of something that could be read."""
        key = "dispatchable" if kind == "dispatch" else "resource"
        target = raw.get(key)
        if target is None:
            self.missing((*path, key), f"a {raw['type']} command", key)
            return None
        if not isinstance(target, str):
            self.wrong((*path, key), key, target, f"the name of a {key}")
            return None
        self.known(key, target, (*path, key))
        readable = (self.read_resources,) if key == "resource" else (self.operators, self.others)
        return target if any(target in names for names in readable) else None

    def known(self, key: str, name: str, path: Path) -> None:
        """Check that there is a dispatchable or a resource of a name; one that is broken has a problem of its own."""
        names = self.names[key]
        if names is not None and name not in names:
            params = {"where": f"{key}s", "key": name}
            self.findings.append(Finding("unknown-key", path, params, help=did_you_mean(name, names)))

    def write_file(self, raw: Mapping[str, Any], path: Path) -> None:
        if raw.get("targetPath") is None:
            self.missing((*path, "targetPath"), "a writeFile command", "targetPath")
        else:
            self.file_path(raw["targetPath"], (*path, "targetPath"))

    def dispatch(self, raw: Mapping[str, Any], target: str | None, path: Path) -> None:
        path = (*path, "bindings")
        if raw.get("bindings") is None:
            self.missing(path, "a dispatch command", "bindings")
            return
        bound = self.bindings(raw["bindings"], path)
        case = self.operators.get(target or "")
        if case is not None and bound is not None:
            self.bound(case, {**self.initial.get(case.name, {}), **bound}, path)

    # ---- bindings

    def initial_bindings(self) -> None:
        """Read what dispatchables bind themselves, for every dispatch."""
        for name in self.operators:
            path: Path = ("dispatchables", name, "bindings")
            given = self.document.value["dispatchables"][name].get("bindings")
            self.initial[name] = (None if given is None else self.bindings(given, path)) or {}

    def bindings(self, given: Any, path: Path) -> dict[str, _Binding] | None:
        if isinstance(given, dict):
            return {name: self.binding(part, (*path, name)) for name, part in given.items()}
        self.wrong(path, "bindings", given, "a mapping of tensors to resources")
        return None

    def binding(self, given: Any, path: Path) -> _Binding:
        """Read what is bound to a name: a resource, or a list of them."""
        if not isinstance(given, list):
            return _Binding((self.source(given, path),), path)
        return _Binding(tuple(self.source(part, (*path, index)) for index, part in enumerate(given)), path)

    def source(self, given: Any, path: Path) -> _Source | None:
        settings = given if isinstance(given, dict) else {"name": given}
        name = settings.get("name")
        before = len(self.findings)
        if not isinstance(name, str):
            expected = "the name of a resource, a mapping with name, or a list of those"
            self.wrong(path, f"the binding {path[-1]}", given, expected)
            return None
        self.known("resource", name, (*path, "name") if isinstance(given, dict) else path)
        for key, help in unknown_names(settings, _BINDING_KEYS):
            params = {"where": "a binding", "key": key}
            self.findings.append(Finding("unknown-key", (*path, key), params, help=help, at_key=True))
        for key in _BINDING_COUNTS:
            self.count(settings, key, path, UINT64_MAX)
        resource = self.read_resources.get(name)
        if resource is None or len(self.findings) > before:
            return None
        kind = data_type(resource.get("initialValuesDataType")) or "UNKNOWN"
        size = settings.get("elementSizeInBytes") or max(1, DATA_TYPES[kind].bits // 8)
        return _Source(name, settings.get("elementOffset", 0) * size, path, resource["initialValues"] == DEFERRED)

    def bound(self, case: Case, bound: Mapping[str, _Binding], path: Path) -> None:
        """Check what is bound to an operator's tensors."""
        operator = full_name(case.operator)
        if operator is None:
            return
        spec = load_spec(operator)
        tensors = [field.name for field in (*spec.inputs, *spec.outputs)]
        for key, help in unknown_names(bound, tensors, "its tensors are"):
            params = {"where": operator, "key": key}
            self.findings.append(Finding("unknown-key", (*path, key), params, help=help, at_key=True))
        for source in (source for binding in bound.values() for source in binding.sources if source is not None):
            if source.is_deferred:
                params = {
                    "what": f"the resource {source.name}",
                    "found": "deferred, and has no memory until an ONNX dispatchable makes it",
                    "expected": "one with initial values where it is bound to a DirectML operator",
                }
                self.findings.append(Finding("wrong-type", source.path, params))
        if case.name not in self.descs:
            reading = read_desc(case.operator, case.desc)
            self.descs[case.name] = None if reading.findings else reading.desc
        desc = self.descs[case.name]
        if desc is not None:
            self.overlaps(spec, list(self.regions(desc, bound)))

    def regions(self, desc: OperatorDesc, bound: Mapping[str, _Binding]) -> Iterator[_Region]:
        """Yield the bytes that each tensor of a desc is bound to."""
        for field in (*desc.spec.inputs, *desc.spec.outputs):
            parts, binding = desc.parts[field.name], bound.get(field.name)
            if not parts or binding is None:
                continue
            if len(binding.sources) != len(parts):
                expected = "1 resource" if len(parts) == 1 else f"a list of {len(parts)}, one for each tensor"
                self.wrong(binding.path, f"the binding {field.name}", binding.sources, expected)
                continue
            for part, source in zip(parts, binding.sources, strict=True):
                if source is not None:
                    length = (part.tensor.extent * DATA_TYPES[part.tensor.data_type].bits + 7) // 8
                    yield _Region(part.label, field.kind, source, source.offset, source.offset + length)

    def overlaps(self, spec: OperatorSpec, regions: list[_Region]) -> None:
        """Report every output that shares bytes with another tensor, unless the operator works in place on them."""
        for region in regions:
            if region.kind != OUTPUT:
                continue
            for other in regions:
                is_same = (region.start, region.end) == (other.start, other.end)
                may_share = other.kind == INPUT and spec.in_place and is_same
                if other is region or may_share or not _overlap(region, other):
                    continue
                does = "reads" if other.kind == INPUT else "writes"
                params = {
                    "what": f"the binding {region.label}",
                    "found": f"the resource {region.source.name}, in bytes that {other.label} {does} too",
                    "expected": "a resource of its own, or another part of that one",
                }
                works = "only on exactly the bytes of an input" if spec.in_place else "never"
                help = f"{spec.operator} works in place {works}"
                self.findings.append(Finding("wrong-type", region.source.path, params, help=help))
                break


class _Binding(NamedTuple):
    """What is bound to a name: its resources, None for one that is wrong, and where the binding stands."""

    sources: tuple[_Source | None, ...]
    path: Path


class _Source(NamedTuple):
    """A resource where it is bound: its name, the byte that the tensor starts at, and where the binding stands."""

    name: str
    offset: int
    path: Path
    is_deferred: bool


class _Region(NamedTuple):
    """The bytes of a resource that a tensor takes."""

    label: str
    kind: str
    source: _Source
    start: int
    end: int


def _overlap(one: _Region, other: _Region) -> bool:
    return one.source.name == other.source.name and one.start < other.end and other.start < one.end


_NOT_FIELDS = ("type", "Type", "bindings", "dmlCompileType", "executionFlags")
_BINDING_COUNTS = ("elementCount", "elementSizeInBytes", "elementStride", "elementOffset", "counterOffsetBytes")
_BINDING_KEYS = ("name", *_BINDING_COUNTS, "format", "counter", "shape")


def _is_count(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _normal(desc: dict[str, Any]) -> dict[str, Any]:
    """Return a desc whose tensors leave out what DxDispatch takes as left out: no strides, and a total size of 0."""
    normal = {key: _normal_tensor(value) for key, value in desc.items()}
    return desc if all(normal[key] is desc[key] for key in desc) else normal


def _normal_tensor(value: Any) -> Any:
    if isinstance(value, list):
        parts = [_normal_tensor(part) for part in value]
        return value if all(part is given for part, given in zip(parts, value, strict=True)) else parts
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("Desc"), dict):
        inner = _normal_tensor(value["Desc"])
        return value if inner is value["Desc"] else {**value, "Desc": inner}
    if "Sizes" not in value or "DataType" not in value:
        return value
    absent = [key for key, empty in _EMPTY if key in value and value[key] == empty and type(value[key]) is type(empty)]
    return {key: part for key, part in value.items() if key not in absent} if absent else value


def _plain_scalars(operator: str, desc: dict[str, Any]) -> dict[str, Any]:
    """Return a desc whose scalar unions are numbers, where one is given by its member: {Float32: inf}."""
    name = full_name(operator)
    unions = [field for field in load_spec(name).fields.values() if field.data_type is not None] if name else []
    plain = {}
    for field in unions:
        union, kind = desc.get(field.name), data_type(desc.get(field.data_type or ""))
        member = "UInt16" if kind == "FLOAT16" else (kind or "").capitalize().replace("Uint", "UInt")
        if isinstance(union, dict) and list(union) == [member]:
            value = union[member]
            if kind == "FLOAT16" and _is_count(value, 0xFFFF):  # the union has no half floats, but their bits
                value = struct.unpack("<e", struct.pack("<H", value))[0]
            plain[field.name] = value
    return {**desc, **plain} if plain else desc


_EMPTY: tuple[tuple[str, Any], ...] = (("Strides", []), ("TotalTensorSizeInBytes", 0))
