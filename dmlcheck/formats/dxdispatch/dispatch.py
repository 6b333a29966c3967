"""A dispatch as a graph: an operator, or a DirectML graph, whose tensors are bound to bytes of resources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from dmlcheck.descs.records import OperatorDesc, Part, TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.diagnostics.wording import counted, did_you_mean, unknown_names
from dmlcheck.files.document import Path
from dmlcheck.formats.dxdispatch.model import Command
from dmlcheck.formats.dxdispatch.resources import Resource
from dmlcheck.graphs.buffers import Array, byte_count, to_bytes
from dmlcheck.graphs.check import steps_of
from dmlcheck.graphs.compute import run_steps
from dmlcheck.graphs.constants import Constants, constants_of
from dmlcheck.graphs.records import GraphFile, Step
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.layouts import viewed
from dmlcheck.values.number_formats import NUMPY_TYPES


class Dispatched(NamedTuple):
    """What a dispatch computes: steps with their constants, and the tensors to bind, by the names of the steps."""

    steps: tuple[Step, ...]
    inputs: Mapping[str, Part]
    outputs: Mapping[str, Part]
    constants: Constants = Constants({}, "")


def of_operator(desc: OperatorDesc, path: Path = ()) -> Dispatched:
    """Return an operator as one step, whose tensors have their labels for names."""
    inputs, outputs = ({part.label: part for part in desc.tensors(kind)} for kind in (INPUT, OUTPUT))
    read, written = ({label: label for label in parts} for parts in (inputs, outputs))
    return Dispatched((Step(desc.spec.operator, desc, read, written, path),), inputs, outputs)


def of_graph(graph: GraphFile) -> Checking[Dispatched]:
    """Return the steps of a graph, and those of its inputs and outputs that they read and write."""
    steps = yield from steps_of(graph)
    inputs: dict[str, Part] = {}
    outputs: dict[str, Part] = {}
    for step in steps:
        for part in step.desc.tensors(INPUT):
            name = step.inputs[part.label]
            known = inputs.get(name)
            if name in graph.inputs and (known is None or byte_count(known.tensor) < byte_count(part.tensor)):
                inputs[name] = Part(name, (name,), part.tensor)
        for part in step.desc.tensors(OUTPUT):
            name = step.outputs.get(part.label, "")
            if name and name in graph.outputs:
                outputs[name] = Part(name, (name,), part.tensor)
    return Dispatched(steps, inputs, outputs, constants_of(graph))


def dispatch(made: Dispatched, command: Command, resources: Mapping[str, Resource]) -> Checking[None]:
    """Compute a dispatch, and write its outputs into the resources that are bound, once all of it is computed."""
    bound, wrong = collected(bound_bytes((*made.inputs.values(), *made.outputs.values()), command, resources))
    if wrong:
        yield from wrong
        return

    def load(name: str, tensor: TensorDesc) -> Checking[Array | None]:
        if name in made.constants.tensors:
            return (yield from made.constants.load(name, tensor))
        return bound[name]

    results, wrong = collected(run_steps(made.steps, made.outputs, load))
    yield from wrong
    for name, output in results.outputs.items() if not wrong else ():
        _write(output.tensor, output.values, bound[name])


def _write(tensor: TensorDesc, values: Array, data: Array) -> None:
    """Write the elements of a tensor into bytes; what lies between them stays."""
    if DATA_TYPES[tensor.data_type].bits < 8:
        data[...] = to_bytes(tensor, values)
    else:
        viewed(tensor, data.view(NUMPY_TYPES[tensor.data_type]))[...] = values


def unknown_bindings(graph: GraphFile, command: Command) -> Iterator[Finding]:
    """Yield what is bound and is neither an input nor an output of a graph."""
    for name, help in unknown_names(command.bindings, [name for name in (*graph.inputs, *graph.outputs) if name]):
        path = (*command.path, "bindings", name)
        yield Finding("unknown-key", path, {"where": f"the graph {command.target}", "key": name}, help, at_key=True)


def bound_bytes(
    parts: Iterable[Part], command: Command, resources: Mapping[str, Resource]
) -> Checking[dict[str, Array]]:
    """Return the bytes that are bound to tensors, by label, without those of which there are none or too few."""
    bound = {}
    for part in parts:
        data = yield from _bytes(part, command, resources)
        if data is not None:
            bound[part.label] = data
    return bound


def _bytes(part: Part, command: Command, resources: Mapping[str, Resource]) -> Checking[Array | None]:
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
