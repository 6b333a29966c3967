"""The bytes of resources that a dispatch binds to the tensors of an operator or a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dmlcheck.descs.records import TensorPart
from dmlcheck.diagnostics.record import Checking, Finding
from dmlcheck.diagnostics.wording import counted, did_you_mean, unknown_names
from dmlcheck.files.document import Path
from dmlcheck.formats.dxdispatch.model import ModelCommand
from dmlcheck.formats.dxdispatch.resources import Resource
from dmlcheck.graphs.buffers import Array, byte_count
from dmlcheck.graphs.records import GraphFile
from dmlcheck.values.number_formats import NUMPY_TYPES


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
    needed = byte_count(part.tensor)
    if offset + needed > resource.data.size:
        held = max(0, resource.data.size - offset)
        what = f"{source.name}, bound to {part.label},"
        params = {"tensor": what, "found": counted(held, "byte"), "expected": f"the tensor takes {needed}"}
        yield Finding("element-count", path, params)
        return None
    return resource.data[offset : offset + needed]
