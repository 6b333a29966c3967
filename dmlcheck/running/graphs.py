"""DirectML graphs checked node by node: what `dmlcheck validate` says of each, and what the whole graph needs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import NamedTuple

from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import MAX_PROBLEMS, NOTE, Diagnostic, Finding
from dmlcheck.diagnostics.wording import counted, cut, is_or_are
from dmlcheck.formats.dml_graph.descs import NodeDesc, desc_of
from dmlcheck.formats.dml_graph.edges import Edges
from dmlcheck.formats.dml_graph.read import read_graph
from dmlcheck.formats.dml_graph.records import Constant, Graph, Operator
from dmlcheck.running.legality import Asked, Validated, too_many
from dmlcheck.specs.names import LEVEL_ORDER, NEWEST_LEVEL, highest
from dmlcheck.validation import check, deviations, minimum_level

_MOST_SHOWN = 1000  # characters of a name
GRAPH_RULES = frozenset(("graph-syntax", "dangling-edge", "edge-mismatch"))


class GraphResult(NamedTuple):
    """What was found of a graph: an entry for each operator, and for what is wrong with a constant or an output.

    `problem` says why the file is no graph.
    """

    file: str
    entries: tuple[Validated, ...] = ()
    constants: int = 0
    problem: Diagnostic | None = None

    @property
    def descs(self) -> tuple[Validated, ...]:
        """The entries of the operators."""
        return tuple(entry for entry in self.entries if entry.operator is not None)

    @property
    def is_wrong(self) -> bool:
        """Whether the file is no graph, or a node of it is not as its operator is."""
        return self.problem is not None or any(found.rule == "graph-syntax" for found in self.errors)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the nodes and the edges."""
        return tuple(found for entry in self.entries for found in entry.diagnostics)

    @property
    def checked(self) -> int:
        """The number of operators."""
        return len(self.descs)

    @property
    def minimum(self) -> str | None:
        """The level from which the whole graph is valid, None where it never is."""
        if any(found.rule in _ALWAYS for found in self.errors):
            return None
        return highest(desc.minimum for desc in self.descs)

    @property
    def demanding(self) -> tuple[str, ...]:
        """The names of the nodes that ask for the highest level of all."""
        levels = [desc.minimum for desc in self.descs if desc.minimum is not None]
        highest = max(levels, key=LEVEL_ORDER.__getitem__, default=None)
        return tuple(desc.name for desc in self.descs if highest is not None and desc.minimum == highest)


_ALWAYS = GRAPH_RULES | {"too-many-problems"}  # what is wrong at every level, or may be


class _Checked(NamedTuple):
    """What is found of a desc, whatever node has it."""

    minimum: str | None
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]


def validated_graph(path: str, asked: Asked) -> GraphResult:
    """Check every operator of a graph, at a level or at the newest, and its edges."""
    name = path.replace(os.sep, "/")
    graph = read_graph(path)
    if isinstance(graph, Diagnostic):
        entry = Validated(name, os.path.basename(name), None, None, None, (graph,))
        return GraphResult(name, (entry,), problem=graph)
    constants = sum(isinstance(node.desc, Constant) for node in graph.nodes)
    return GraphResult(name, tuple(_entries(graph, name, asked)), constants)


def _entries(graph: Graph, file: str, asked: Asked) -> Iterator[Validated]:
    """Yield the entry of each operator, and of what else is wrong; those after too many errors are not checked."""
    edges, known, errors = Edges(graph), dict[str, _Checked](), 0
    for index, node in enumerate(graph.nodes):
        if errors > MAX_PROBLEMS:
            rest = len(graph.nodes) - index
            yield too_many(file, f"{counted(rest, 'more node')} {is_or_are(rest)} not checked")
            return
        made = desc_of(node, node.desc, edges.owned) if isinstance(node.desc, Operator) else None
        wrong = tuple(edges.findings(node, made))
        entry = _entry(file, cut(node.name, _MOST_SHOWN), ("nodes", index), wrong)
        if made is not None:
            entry = _of_operator(entry, made, wrong, ("nodes", index), _checked(made, asked, known), asked)
        if entry.operator is not None or entry.diagnostics:
            yield entry
        errors += entry.errors
    for finding in edges.outputs():
        yield _entry(file, cut(graph.outputs[int(finding.path[-1])], _MOST_SHOWN), (), (finding,))


def _entry(file: str, name: str, prefix: tuple[str | int, ...], wrong: tuple[Finding, ...]) -> Validated:
    placed = tuple(_placed(finding, prefix, file) for finding in wrong)
    return Validated(file, name, None, None, None, placed, is_plain=False)


def _of_operator(
    entry: Validated,
    made: NodeDesc,
    wrong: tuple[Finding, ...],
    prefix: tuple[str | int, ...],
    checked: _Checked,
    asked: Asked,
) -> Validated:
    """Return the entry of an operator: what the file has wrong of it is told instead of what follows from that."""
    findings = made.findings or checked.findings
    notes = () if findings or wrong else checked.notes
    return entry._replace(
        operator=cut(made.operator, _MOST_SHOWN),
        feature_level=asked.level or NEWEST_LEVEL,
        minimum=None if made.findings else checked.minimum,
        diagnostics=tuple(_placed(finding, prefix, entry.file) for finding in (*findings, *wrong)),
        notes=tuple(_placed(note, prefix, entry.file)._replace(severity=NOTE) for note in notes),
    )


def _checked(made: NodeDesc, asked: Asked, known: dict[str, _Checked]) -> _Checked:
    """Return what is wrong with a desc, and what is known of it in a graph; a graph has many that are the same."""
    key = json.dumps([made.operator, made.fields])
    if key not in known:
        reading = read_desc(made.operator, made.fields)
        findings = tuple(check(reading, asked.level or NEWEST_LEVEL))
        desc = reading.desc
        is_noted = not findings and desc is not None
        notes = tuple(deviations.notes(desc, asked.directml_version, in_graph=True)) if is_noted and desc else ()
        known[key] = _Checked(minimum_level(reading), findings, notes)
    return known[key]


def _placed(finding: Finding, prefix: tuple[str | int, ...], file: str) -> Diagnostic:
    return finding.diagnostic(prefix)._replace(file=file)
