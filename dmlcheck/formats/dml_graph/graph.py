"""A DirectML graph on disk as a graph of nodes, with their descs in the notation of case files."""

from __future__ import annotations

import os

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.formats.dml_graph import records
from dmlcheck.formats.dml_graph.descs import desc_of, label_of
from dmlcheck.formats.dml_graph.read import read_stored
from dmlcheck.graphs.records import Constant, GraphFile, Node


def read_graph(path: str) -> GraphFile | Diagnostic:
    """Return the graph of a file, or the findings about the file."""
    stored = read_stored(path)
    return stored if isinstance(stored, Diagnostic) else graph_of(stored, path.replace(os.sep, "/"))


def graph_of(stored: records.Stored, file: str = "") -> GraphFile:
    """Return the graph of a file as a Graph: constants in files next to it are owned by DirectML."""
    constants = tuple(
        Constant(name, node.name, ("nodes", index), node.desc.data, node.desc.file)
        for index, node in enumerate(stored.nodes)
        if isinstance(node.desc, records.FileConstant)
        for name in node.outputs
        if name
    )
    owned = frozenset(constant.tensor for constant in constants if constant.file)
    nodes = tuple(
        _node(node, node.desc, index, owned)
        for index, node in enumerate(stored.nodes)
        if isinstance(node.desc, records.Operator)
    )
    return GraphFile(file, stored.inputs, constants, nodes, stored.outputs)


def _node(node: records.FileNode, operator: records.Operator, index: int, owned: frozenset[str]) -> Node:
    made = desc_of(node, operator, owned)
    inputs, outputs = ({label_of(end): end.edge for end in ends} for ends in (made.inputs, made.outputs))
    others = tuple(name for name in node.outputs if name and name not in outputs.values())
    return Node(node.name, made.operator, made.fields, inputs, outputs, ("nodes", index), others, made.findings)
