"""The resources of a model: filled with their initial values, and their bytes where a dispatch binds them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.cases.form import wrong_type
from dmlcheck.cases.prepare import HEADROOM
from dmlcheck.descs.fields import is_uint
from dmlcheck.descs.records import TensorDesc, TensorPart
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.diagnostics.wording import counted, did_you_mean, size_text, unknown_names
from dmlcheck.files import npy
from dmlcheck.files.document import Path
from dmlcheck.files.plain import open_plain
from dmlcheck.formats.dxdispatch.form import data_type, missing_key
from dmlcheck.formats.dxdispatch.model import DEFERRED, DxModel, ModelCommand
from dmlcheck.graphs.records import GraphFile
from dmlcheck.specs.names import DATA_TYPES, UINT_MAX
from dmlcheck.values.layouts import to_bytes
from dmlcheck.values.literals import Array, Source
from dmlcheck.values.memory import available_bytes
from dmlcheck.values.number_formats import NUMPY_TYPES
from dmlcheck.values.read import read_values

_NPY_TYPES = [kind for kind in NUMPY_TYPES if kind not in ("UINT4", "INT4")]
_LARGE = 2**22  # bytes; for fewer the free memory is not asked for
_MOST_BYTES = 2**40


class Resource(NamedTuple):
    """A buffer: its bytes, the data type that it was filled with, and the number of bytes that were filled."""

    data: np.ndarray[Any, np.dtype[np.uint8]]
    data_type: str
    filled: int


def filled_resources(model: DxModel) -> Checking[dict[str, Resource]]:
    """Fill the resources of a model, except those that only another dispatchable fills."""
    excess = _too_large(model)
    if excess is not None:
        yield excess
        return {}
    resources = {}
    for name, raw in model.resources.items():
        resource = None if raw["initialValues"] == DEFERRED else (yield from _resource(name, raw, model))
        if resource is not None:
            resources[name] = resource
    return resources


# ---- memory


def _too_large(model: DxModel) -> Finding | None:
    """Return the finding about a model whose resources this machine cannot hold; nothing is allocated to find out."""
    need = sum(bytes_needed(raw) + _file_size(raw["initialValues"], model) for raw in model.resources.values())
    have = available_bytes() if need > _LARGE else None
    if have is None or need + HEADROOM <= have:
        return None
    params = {"tensors": f"the resources {', '.join(model.resources)}", "need": f"take {size_text(need)}"}
    return Finding("tensor-too-large", ("resources",), {**params, "have": size_text(have)})


def bytes_needed(resource: Mapping[str, Any]) -> int:
    """Return the least number of bytes of a well-formed resource, without reading its values or their file.

    It is known before anything is allocated, so that a resource that no memory can hold is refused with its size.
    """
    initial = resource["initialValues"]
    kind = data_type(resource.get("initialValuesDataType")) or "UNKNOWN"
    count = 0
    if isinstance(initial, list):
        count = len(initial)
    elif isinstance(initial, dict) and is_uint(initial.get("valueCount"), UINT_MAX):
        count = initial["valueCount"]
    filled = (count * DATA_TYPES[kind].bits + 7) // 8
    offset: int = resource.get("initialValuesOffsetInBytes", 0)
    size: int = resource.get("sizeInBytes", 0)
    return max(offset + filled, size)


def _file_size(initial: Any, model: DxModel) -> int:
    given = initial.get("sourcePath") if isinstance(initial, dict) else None
    if not isinstance(given, str):
        return 0
    full, problem = npy.find(os.path.dirname(model.document.name), given)
    return os.path.getsize(full) if problem is None else 0


# ---- one resource


class _Typed(NamedTuple):
    """Values, and the data type that they have."""

    values: Array
    data_type: str


def _resource(name: str, raw: Mapping[str, Any], model: DxModel) -> Checking[Resource | None]:
    path: Path = ("resources", name)
    initial = yield from _Initial(name, (*path, "initialValues"), model).values(raw)
    if initial is None:
        return None
    filled = initial.values.nbytes
    offset = raw.get("initialValuesOffsetInBytes", 0)
    size = raw.get("sizeInBytes", (offset + filled + 3) // 4 * 4)
    wrong = list(_size_findings(raw, path, size, offset + filled))
    if wrong:
        yield from wrong
        return None
    data = np.zeros(size, dtype=np.uint8)
    data[offset : offset + filled] = np.ascontiguousarray(initial.values).reshape(-1).view(np.uint8)
    return Resource(data, initial.data_type, filled)


def _size_findings(raw: Mapping[str, Any], path: Path, size: int, needed: int) -> Iterator[Finding]:
    for key in ("initialValuesOffsetInBytes", "sizeInBytes"):
        if raw.get(key, 0) >= _MOST_BYTES:
            yield wrong_type((*path, key), key, raw[key], "a whole number")
            return
    if size < needed:
        found, expected = f"sizeInBytes {size}", f"its initial values need {needed}"
        params = {"tensor": path[1], "found": found, "expected": expected}
        yield Finding("element-count", (*path, "sizeInBytes"), params)


class _Initial(NamedTuple):
    """The initial values of a resource: its name, where they stand, and the model that they are of."""

    name: str
    path: Path
    model: DxModel

    @property
    def label(self) -> str:
        return f"initialValues of {self.name}"

    def values(self, raw: Mapping[str, Any]) -> Checking[_Typed | None]:
        """Read values in any of their forms; None if something is wrong with them."""
        initial = raw["initialValues"]
        kind = data_type(raw.get("initialValuesDataType")) or "UNKNOWN"
        if isinstance(initial, dict) and "sourcePath" in initial:
            return (yield from self.of_file(initial["sourcePath"], kind))
        if kind == "UNKNOWN":
            values = yield from self.of_several_types(initial)
            return None if values is None else _Typed(values, "UINT8")
        values = yield from self.of_one_type(initial, kind)
        return None if values is None else _Typed(to_bytes(TensorDesc(kind, values.shape), values), kind)

    def of_one_type(self, initial: Any, kind: str) -> Checking[Array | None]:
        """Read a list, a constant or a sequence."""
        if isinstance(initial, list):
            return (yield from self.read(TensorDesc(kind, (len(initial),)), initial, self.path))
        if isinstance(initial, dict) and "value" in initial:
            return (yield from self.of_constant(initial, kind))
        if isinstance(initial, dict) and "valueStart" in initial:
            return (yield from self.of_sequence(initial, kind))
        yield wrong_type(self.path, self.label, initial, "a list, or a mapping with value, valueStart or sourcePath")
        return None

    def of_constant(self, initial: Mapping[str, Any], kind: str) -> Checking[Array | None]:
        count = yield from self.value_count(initial)
        if count is None:
            return None
        values, findings = collected(self.read(TensorDesc(kind, (count,)), {"fill": initial["value"]}, self.path))
        for finding in findings:
            yield finding._replace(path=tuple("value" if step == "fill" else step for step in finding.path))
        return values

    def of_sequence(self, initial: Mapping[str, Any], kind: str) -> Checking[Array | None]:
        """Add up a sequence: each value is the one before it plus the delta, rounded to the type, as in DxDispatch."""
        count = yield from self.value_count(initial)
        one = TensorDesc(kind, (1,))
        start = yield from self.read(one, [initial["valueStart"]], (*self.path, "valueStart"))
        step = yield from self.read(one, [initial["valueDelta"]], (*self.path, "valueDelta"))
        if count is None or start is None or step is None:
            return None
        values = np.full(count, step[0])
        values[0] = start[0]
        with np.errstate(all="ignore"):
            return np.add.accumulate(values, dtype=values.dtype)

    def value_count(self, initial: Mapping[str, Any]) -> Checking[int | None]:
        count = initial.get("valueCount")
        if is_uint(count, _MOST_BYTES - 1):
            return count
        yield wrong_type((*self.path, "valueCount"), "valueCount", count, "a whole number")
        return None

    def of_several_types(self, initial: Any) -> Checking[Array | None]:
        """Read the bytes of a list of {type, value}."""
        if not isinstance(initial, list) or not initial:
            expected = "a list of {type, value}"
            yield wrong_type(self.path, self.label, initial, expected, "or give initialValuesDataType")
            return None
        parts = []
        for index, element in enumerate(initial):
            kind = data_type(element.get("type")) if isinstance(element, dict) else None
            if kind is None or kind == "UNKNOWN" or element.get("value") is None:
                expected = "a mapping with type and value"
                yield wrong_type((*self.path, index), f"{self.name}[{index}]", element, expected)
                return None
            place = (*self.path, index, "value")
            parts.append((yield from self.read(TensorDesc(kind, (1,)), [element["value"]], place)))
        pieces = [part.view(np.uint8) for part in parts if part is not None]
        return np.concatenate(pieces) if len(pieces) == len(parts) else None

    def read(self, tensor: TensorDesc, raw: Any, path: Path) -> Checking[Array | None]:
        """Read values as a case file's are read; None if something is wrong with them."""
        if tensor.element_count == 0:
            params = {"what": self.label, "found": "empty", "expected": "one value or more"}
            yield Finding("wrong-type", path, params)
            return None
        document = self.model.document
        source = Source(document.name, document.literal)
        values, findings = collected(read_values(self.name, tensor, raw, path, source))
        yield from findings
        return None if findings else values

    def of_file(self, given: Any, kind: str) -> Checking[_Typed | None]:
        """Read a .npy file, or the bytes of a raw one."""
        folder = os.path.dirname(self.model.document.name)
        full, problem = npy.find(folder, given) if isinstance(given, str) else ("", "is not a path")
        if problem is None and full.lower().endswith((".png", ".jpg")):
            problem = "images are not read"
        is_npy = full.lower().endswith(".npy")
        if problem is None and kind == "UNKNOWN" and not is_npy:
            key = "initialValuesDataType"
            yield missing_key((*self.path[:-1], key), f"the resource {self.name}", key)
            return None
        values, problem = _elements(full, is_npy=is_npy) if problem is None else (None, problem)
        if values is None:
            yield Finding("file-not-found", (*self.path, "sourcePath"), {"path": given, "problem": problem})
            return None
        return (yield from self.of_npy(values, given, kind)) if is_npy else _Typed(values, kind)

    def of_npy(self, values: Array, given: str, kind: str) -> Checking[_Typed | None]:
        """Check that the values of a .npy file are of the resource's type, if it has one."""
        found = next((name for name in _NPY_TYPES if NUMPY_TYPES[name] == values.dtype), None)
        if found is not None and kind in ("UNKNOWN", found):
            return _Typed(values, found)
        params = {"element": given, "found": f"an array of {values.dtype}", "type": kind}
        yield Finding("value-not-representable", (*self.path, "sourcePath"), params)
        return None


def _elements(path: str, *, is_npy: bool) -> tuple[Array | None, str | None]:
    """Return the elements of a file, and the reason why it cannot be read, or None."""
    try:
        with open_plain(path) as file:
            if not is_npy:
                return np.fromfile(file, dtype=np.uint8), None
            return npy.read_elements(file, npy.Header(file)), None
    except (OSError, ValueError) as error:
        return None, str(error)


# ---- the bytes of resources that a dispatch binds to the tensors of an operator or a graph


def unknown_bindings(graph: GraphFile, command: ModelCommand) -> Iterator[Finding]:
    """Yield the findings about bindings to names that are neither inputs nor outputs of a graph."""
    for name, help in unknown_names(command.bindings, [name for name in (*graph.inputs, *graph.outputs) if name]):
        path = (*command.path, "bindings", name)
        yield Finding("unknown-key", path, {"where": f"the graph {command.target}", "key": name}, help, at_key=True)


def bound_bytes(
    parts: Iterable[TensorPart], command: ModelCommand, resources: Mapping[str, Resource]
) -> Checking[dict[str, Array]]:
    """Return the bytes that are bound to tensors, by label, without missing and too short ones."""
    bound = {}
    for part in parts:
        data = yield from _bytes(part, command, resources)
        if data is not None:
            bound[part.label] = data
    return bound


def _bytes(part: TensorPart, command: ModelCommand, resources: Mapping[str, Resource]) -> Checking[Array | None]:
    name, index = (*part.path, 0)[:2]
    path: Path = (*command.path, "bindings", name)
    binding = command.bindings.get(str(name))
    source = None if binding is None else binding.source(int(index))
    if source is None:
        params = {"tensor": part.label, "section": "bindings"}
        yield Finding("missing-tensor", path, params, help=f"bind a resource to {name}")
        return None
    resource = resources.get(source.name)
    if resource is None:
        help = did_you_mean(source.name, resources)
        yield Finding("unknown-key", path, {"where": "resources", "key": source.name}, help=help)
        return None
    offset = source.start * (source.size or NUMPY_TYPES[resource.data_type].itemsize)
    needed = part.tensor.span_bytes
    if offset + needed > resource.data.size:
        held = max(0, resource.data.size - offset)
        what = f"{source.name}, bound to {part.label},"
        params = {"tensor": what, "found": counted(held, "byte"), "expected": f"the tensor takes {needed}"}
        yield Finding("element-count", path, params)
        return None
    return resource.data[offset : offset + needed]
