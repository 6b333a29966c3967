"""Graphs whose inputs and outputs are bound to memory, as DirectML binds them: computed from bytes into others."""

from __future__ import annotations

from collections.abc import Mapping

from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import Checking, collected
from dmlcheck.files.document import Path
from dmlcheck.graphs.buffers import Array, byte_count, to_bytes
from dmlcheck.graphs.compute import Load, run_steps
from dmlcheck.graphs.records import Graph, Step
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.layouts import viewed
from dmlcheck.values.number_formats import NUMPY_TYPES


def graph_of_desc(desc: OperatorDesc, path: Path = ()) -> Graph:
    """Return a desc as a graph of one step, whose tensors have their labels for names."""
    inputs, outputs = ([part.label for part in desc.tensors(kind)] for kind in (INPUT, OUTPUT))
    step = Step(desc.spec.operator, desc, {name: name for name in inputs}, {name: name for name in outputs}, path)
    return Graph((step,), tuple(inputs), tuple(outputs))


def tensors_to_bind(graph: Graph) -> list[TensorPart]:
    """Return the inputs of a graph, each as its largest reader takes it, and its outputs, without unused tensors."""
    inputs: dict[str, TensorPart] = {}
    outputs: dict[str, TensorPart] = {}
    for step in graph.steps:
        for part in step.desc.tensors(INPUT):
            name = step.inputs[part.label]
            known = inputs.get(name)
            if name in graph.inputs and (known is None or byte_count(known.tensor) < byte_count(part.tensor)):
                inputs[name] = TensorPart(name, (name,), part.tensor)
        for part in step.desc.tensors(OUTPUT):
            name = step.outputs.get(part.label, "")
            if name and name in graph.outputs:
                outputs[name] = TensorPart(name, (name,), part.tensor)
    return [*inputs.values(), *outputs.values()]


def run_bound(graph: Graph, memory: Mapping[str, Array], constants: Load | None = None) -> Checking[None]:
    """Compute a graph, then write its outputs into the memory that is bound to them.

    `memory` has the bytes of inputs and outputs by their names, and `constants` loads the other tensors.
    """

    def load(name: str, tensor: TensorDesc) -> Checking[Array | None]:
        if name in memory or constants is None:
            return memory[name]
        return (yield from constants(name, tensor))

    results, wrong = collected(run_steps(graph.steps, graph.outputs, load))
    yield from wrong
    for name, output in results.outputs.items() if not wrong else ():
        write_tensor(output.tensor, output.values, memory[name])


def write_tensor(tensor: TensorDesc, values: Array, data: Array) -> None:
    """Write the elements of a tensor into bytes; the bytes between them stay."""
    if DATA_TYPES[tensor.data_type].bits < 8:
        data[...] = to_bytes(tensor, values)
    else:
        viewed(tensor, data.view(NUMPY_TYPES[tensor.data_type]))[...] = values
