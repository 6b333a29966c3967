"""The bindings of a model: resources for the tensors of its dispatchables, their offsets, and their overlaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.form import wrong_type
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.diagnostics.wording import unknown_names
from dmlcheck.files.document import Path
from dmlcheck.formats.dxdispatch.form import count_findings, data_type, name_findings
from dmlcheck.formats.dxdispatch.model import DEFERRED, BoundResource, ModelBinding
from dmlcheck.specs.names import DATA_TYPES, UINT64_MAX
from dmlcheck.specs.records import INPUT, OUTPUT, OperatorSpec

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
                start = _start(source, resources)
                regions.append(_Region(part.label, field.kind, source, start, start + length))
    return regions


def _start(source: BoundResource, resources: Resources) -> int:
    """Return the byte that a tensor starts at, from the type of its resource, if that is known without its values."""
    kind = data_type(resources.readable[source.name].get("initialValuesDataType")) or "UNKNOWN"
    return source.start * (source.size or max(1, DATA_TYPES[kind].bits // 8))


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
