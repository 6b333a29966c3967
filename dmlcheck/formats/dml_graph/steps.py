"""A DirectML graph as steps: every operator checked, and the edges between them."""

from __future__ import annotations

import json
from typing import NamedTuple

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Checking, Finding
from dmlcheck.formats.dml_graph.descs import NodeDesc, desc_of
from dmlcheck.formats.dml_graph.edges import Edges, label_of
from dmlcheck.formats.dml_graph.records import Graph, Operator
from dmlcheck.graphs.records import Step
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import check


def steps_of(graph: Graph) -> Checking[tuple[Step, ...]]:
    """Return the steps of a graph, without those that something is wrong with."""
    edges, known, steps = Edges(graph), dict[str, _Read](), []
    for index, node in enumerate(graph.nodes):
        made = desc_of(node, node.desc, edges.owned) if isinstance(node.desc, Operator) else None
        findings = list(edges.findings(node, made))
        if made is not None:
            read = _Read(None, made.findings) if made.findings else _read(made, known)
            findings += read.findings
            if read.desc is not None and not findings:
                steps.append(_step(node.name, read.desc, made, index))
        for finding in findings:
            yield finding._replace(path=("nodes", index, *finding.path))
    yield from edges.outputs()
    return tuple(steps)


class _Read(NamedTuple):
    """A desc as it was read, and what is wrong with it."""

    desc: OperatorDesc | None
    findings: tuple[Finding, ...]


def _read(made: NodeDesc, known: dict[str, _Read]) -> _Read:
    """Return a desc checked at the newest level; a graph has many that are the same."""
    key = json.dumps([made.operator, made.fields])
    if key not in known:
        reading = read_desc(made.operator, made.fields)
        known[key] = _Read(reading.desc, tuple(check(reading, NEWEST_LEVEL)))
    return known[key]


def _step(name: str, desc: OperatorDesc, made: NodeDesc, index: int) -> Step:
    inputs, outputs = ({label_of(end): end.edge for end in ends} for ends in (made.inputs, made.outputs))
    return Step(name, desc, inputs, outputs, ("nodes", index))
