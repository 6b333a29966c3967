"""DirectML graphs that a DxDispatch model dispatches, computed from the resources bound to their inputs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from dmlcheck.descs.records import Part, TensorDesc
from dmlcheck.diagnostics.record import Checking, Diagnostic, Finding, collected
from dmlcheck.diagnostics.wording import unknown_names
from dmlcheck.formats.dml_graph.evaluate import evaluate_graph
from dmlcheck.formats.dml_graph.read import read_graph
from dmlcheck.formats.dml_graph.records import Graph
from dmlcheck.formats.dxdispatch.dispatch import bound_bytes
from dmlcheck.formats.dxdispatch.model import Command, Model
from dmlcheck.formats.dxdispatch.resources import Resource
from dmlcheck.graphs.buffers import Array, to_bytes


def dispatched_graph(command: Command, model: Model, resources: Mapping[str, Resource]) -> tuple[Diagnostic, ...]:
    """Compute a graph into the resources that are bound to its outputs; return what keeps it from that.

    What is wrong with the graph stands in its file, what is wrong with the bindings in the model.
    """
    path = model.graphs[command.target]
    graph = read_graph(path)
    if isinstance(graph, Diagnostic):
        return (graph,)
    _, findings = collected(_computed(graph, path, command, model, resources))
    file = path.replace(os.sep, "/")
    return tuple(
        model.origin.diagnostic(one) if one.path[:1] == command.path[:1] else one.diagnostic()._replace(file=file)
        for one in findings
    )


def _computed(
    graph: Graph, path: str, command: Command, model: Model, resources: Mapping[str, Resource]
) -> Checking[None]:
    """Compute a graph, and write its outputs once all of it is computed."""
    bindings = model.bindings(command)

    def bound(name: str, tensor: TensorDesc) -> Checking[Array | None]:
        return (yield from bound_bytes(Part(name, (name,), tensor), bindings, command, resources))

    unknown = list(_unknown(graph, bindings, command))
    if unknown:
        yield from unknown
        return
    results, findings = collected(evaluate_graph(graph, path, bound))
    yield from findings
    if findings:
        return
    for name, output in results.outputs.items():
        data = yield from bound(name, output.tensor)
        if data is not None:
            made = to_bytes(output.tensor, output.values)
            data[: made.size] = made


def _unknown(graph: Graph, bindings: Mapping[str, object], command: Command) -> Iterator[Finding]:
    """Yield what is bound and is neither an input nor an output of a graph."""
    for name, help in unknown_names(bindings, [name for name in (*graph.inputs, *graph.outputs) if name]):
        path = (*command.path, "bindings", name)
        yield Finding("unknown-key", path, {"where": f"the graph {command.target}", "key": name}, help, at_key=True)
