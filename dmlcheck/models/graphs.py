"""Graphs checked node by node: the findings of `dmlcheck validate` about each, and the level of the whole graph."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import MAX_PROBLEMS, NOTE, WARNING, Diagnostic, Finding
from dmlcheck.diagnostics.wording import counted, cut, is_or_are
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.formats.dxdispatch.read import operator_cases, read_model
from dmlcheck.formats.registry import Opened
from dmlcheck.graphs.check import CheckDesc, Checked, CheckedDesc, checked
from dmlcheck.graphs.records import GraphFile
from dmlcheck.running.legality import LevelRequest, Validated, ValidatedFile, answer_to, unchecked_rest, validated_cases
from dmlcheck.specs.names import LEVEL_ORDER, NEWEST_LEVEL, highest
from dmlcheck.validation import check, deviations, minimum_level
from dmlcheck.validation.deviations import accepted_by

_MOST_SHOWN = 1000  # characters of a name
GRAPH_RULES = frozenset(("graph-syntax", "dangling-edge", "edge-mismatch"))


class GraphResult(NamedTuple):
    """The check of a graph: an entry for each operator, and for each wrong constant or output.

    `problem` says why the file is no graph.
    """

    file: str
    entries: tuple[Validated, ...] = ()
    constants: int = 0
    problem: Diagnostic | None = None
    is_refused: bool = False

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
        """The number of errors about the nodes and the edges."""
        return tuple(found for entry in self.entries for found in entry.diagnostics)

    @property
    def checked(self) -> int:
        """The number of operators."""
        return len(self.descs)

    @property
    def minimum(self) -> str | None:
        """The level from which the whole graph is valid, or None if it never is."""
        if any(found.rule in _ALWAYS for found in self.errors):
            return None
        return highest(desc.minimum for desc in self.descs)

    @property
    def demanding(self) -> tuple[str, ...]:
        """The names of the nodes that ask for the highest level of all."""
        levels = [desc.minimum for desc in self.descs if desc.minimum is not None]
        highest = max(levels, key=LEVEL_ORDER.__getitem__, default=None)
        return tuple(desc.name for desc in self.descs if highest is not None and desc.minimum == highest)


_ALWAYS = GRAPH_RULES | {"too-many-problems"}  # findings that do not depend on the level, or may not


def validated_file(file: Opened, asked: LevelRequest, _: Mapping[str, int]) -> ValidatedFile:
    """Check the graph of a file as a whole."""
    found = validated_graph(file.path, asked)
    return ValidatedFile(file.document, wholes=(found,), is_wrong=found.is_wrong)


def validated_dispatches(file: Opened, asked: LevelRequest, _: Mapping[str, int]) -> ValidatedFile:
    """Check the dispatches of a DxDispatch model: operators by themselves, each graph as a whole."""
    model = read_model(file.document)
    graphs = {graph.file: graph for graph in model.graphs.values()}
    wholes = tuple(found_of(graph, asked) for graph in graphs.values())
    return validated_cases(operator_cases(model), asked, wholes)


def validated_graph(path: str, asked: LevelRequest) -> GraphResult:
    """Check every node of a graph, at a level or at the newest, and its edges."""
    return found_of(read_graph(path), asked)


def found_of(graph: GraphFile | Diagnostic, asked: LevelRequest) -> GraphResult:
    """Return the check of a graph, or of a file that is none."""
    file = graph.file or ""
    if isinstance(graph, Diagnostic):
        entry = Validated(file, os.path.basename(file), None, None, None, (graph,))
        return GraphResult(file, (entry,), problem=graph)
    return GraphResult(file, tuple(_entries(graph, asked)), len({one.path for one in graph.constants}))


def checker(asked: LevelRequest) -> CheckDesc:
    """Return a checker of descs for a request: it returns the findings, the lowest level, and the notes."""

    def check_desc(operator: str, fields: Mapping[str, Any]) -> CheckedDesc:
        reading = read_desc(operator, fields)
        findings = tuple(check(reading, asked.level or NEWEST_LEVEL))
        notes: tuple[Finding, ...] = ()
        if reading.desc is not None and not findings:
            notes = tuple(deviations.notes(reading.desc, asked.directml_version, in_graph=True))
        answer, doubts = (None, ()) if asked.library is None else answer_to(reading, asked.library)
        releases = accepted_by(reading) if asked.with_releases else ()
        return CheckedDesc(reading.desc, findings, minimum_level(reading), notes, answer, doubts, releases)

    return check_desc


def _entries(graph: GraphFile, asked: LevelRequest) -> Iterator[Validated]:
    """Yield the entry of each node, and of other mistakes; nodes after too many errors are not checked."""
    errors, nodes = 0, 0
    for one in checked(graph, checker(asked)):
        if errors > MAX_PROBLEMS and (rest := len(graph.nodes) - nodes):
            yield unchecked_rest(graph.file, f"{counted(rest, 'more node')} {is_or_are(rest)} not checked")
            return
        entry = _entry(one, graph.file, asked)
        nodes += one.node is not None
        errors += entry.errors
        yield entry


def _entry(one: Checked, file: str, asked: LevelRequest) -> Validated:
    """Return the entry of a node, or of a wrong constant or output."""
    wrong = tuple(finding.diagnostic()._replace(file=file) for finding in one.findings)
    entry = Validated(file, cut(one.name, _MOST_SHOWN), None, None, None, wrong, is_plain=False)
    if one.node is None or one.desc is None:
        return entry
    notes = () if wrong else tuple(note.diagnostic(one.node.path)._replace(file=file) for note in one.desc.notes)
    doubts = [doubt.diagnostic(one.node.path)._replace(file=file, severity=WARNING) for doubt in one.desc.doubts]
    return entry._replace(
        operator=cut(one.node.operator, _MOST_SHOWN),
        feature_level=asked.level or NEWEST_LEVEL,
        minimum=one.desc.minimum,
        notes=(*(note._replace(severity=NOTE) for note in notes), *doubts),
        answer=one.desc.answer,
        accepted_by=one.desc.accepted_by,
    )
