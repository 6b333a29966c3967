"""Graphs with 8-bit inputs and outputs in place of 4-bit ones, for programs that pass arrays: no array has 4 bits."""

from __future__ import annotations

from collections.abc import Sequence

from dmlcheck.onnx.export.records import BYTES_OF, TYPES, ExportedGraph, ExportedNode, GraphValue


def with_bytes(graph: ExportedGraph) -> ExportedGraph:
    """Return a graph that casts its 4-bit inputs from, and its 4-bit outputs to, 8-bit ones of the same names."""
    inner = {value.name: _inner(value) for value in (*graph.inputs, *graph.outputs) if value.data_type in BYTES_OF}
    if not inner:
        return graph
    names = {outer: value.name for outer, value in inner.items()}
    nodes = [
        node._replace(inputs=_renamed(node.inputs, names), outputs=_renamed(node.outputs, names))
        for node in graph.nodes
    ]
    inputs, outputs = tuple(map(_outer, graph.inputs)), tuple(map(_outer, graph.outputs))
    before = [_cast(outer, inner[outer.name]) for outer in inputs if outer.name in inner]
    after = [_cast(inner[outer.name], outer) for outer in outputs if outer.name in inner]
    values = (*graph.values, *inner.values())
    return graph._replace(nodes=(*before, *nodes, *after), inputs=inputs, outputs=outputs, values=values)


def _inner(value: GraphValue) -> GraphValue:
    return value._replace(name=f"{value.name} of 4 bits")


def _outer(value: GraphValue) -> GraphValue:
    return value._replace(data_type=BYTES_OF.get(value.data_type, value.data_type))


def _renamed(names: Sequence[str], new: dict[str, str]) -> tuple[str, ...]:
    return tuple(new.get(name, name) for name in names)


def _cast(before: GraphValue, after: GraphValue) -> ExportedNode:
    return ExportedNode("Cast", (before.name,), (after.name,), {"to": TYPES[after.data_type]})
