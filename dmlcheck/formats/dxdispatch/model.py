"""A DxDispatch model as records: its resources, dispatchables and commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case, CaseFile, FileOrigin
from dmlcheck.diagnostics.record import NOTE, Diagnostic, Finding
from dmlcheck.files.document import Document, Path

DEFERRED = "deferred"  # the initial values of a resource that an ONNX dispatchable makes


class Command(NamedTuple):
    """One command of a model: its kind in lower case, what it names, and where it stands."""

    kind: str
    target: str
    raw: Mapping[str, Any]
    path: Path


class Model(NamedTuple):
    """A DxDispatch model: resources as given, DirectML dispatchables as cases, the kinds of others, and commands.

    `graphs` has the files of DirectML graphs, by the names of their dispatchables.
    """

    document: Document
    resources: Mapping[str, Mapping[str, Any]]
    operators: Mapping[str, Case]
    others: Mapping[str, str]
    commands: tuple[Command, ...]
    problems: tuple[Diagnostic, ...] = ()
    graphs: Mapping[str, str] = {}

    @property
    def origin(self) -> FileOrigin:
        """Where findings about the model as a whole stand."""
        return FileOrigin(self.document, ((),))

    def bindings(self, dispatch: Command) -> dict[str, Any]:
        """Return what is bound to the tensors of a dispatch: by its dispatchable, and by the command itself."""
        own = self.document.value["dispatchables"][dispatch.target].get("bindings")
        return {**(own if isinstance(own, dict) else {}), **dispatch.raw["bindings"]}


def is_model(value: Any) -> bool:
    """Whether a document's value is a DxDispatch model."""
    return isinstance(value, dict) and "dispatchables" in value and "cases" not in value


def case_file(model: Model, name: str | None = None) -> CaseFile:
    """Return a model as a case file: one plain desc for each DirectML dispatchable, a note for each other."""
    prefix = name or model.document.name
    cases = tuple(case._replace(id=f"{prefix}::{case.name}") for case in model.operators.values())
    notes = []
    for other, kind in model.others.items():
        finding = Finding("not-directml", ("dispatchables", other), {"name": other, "type": kind})
        notes.append(model.origin.diagnostic(finding)._replace(severity=NOTE))
    file = CaseFile(model.document, cases, {}, model.problems, tuple(notes))
    return _with_graphs(file, model, prefix) if model.graphs else file


def _with_graphs(file: CaseFile, model: Model, prefix: str) -> CaseFile:
    """Return a case file with the operators of the graphs that its model dispatches."""
    from dmlcheck.formats.dml_graph.cases import node_cases
    from dmlcheck.formats.dml_graph.read import read_graph

    cases, broken, problems = list(file.cases), dict(file.broken), list(file.problems)
    graphs: dict[str, frozenset[str]] = {}
    for name, path in model.graphs.items():
        graph = read_graph(path)
        if isinstance(graph, Diagnostic):
            problems.append(graph)
            continue
        origin = FileOrigin(model.document, (("dispatchables", name),))
        own = node_cases(graph, Case(f"{prefix}::{name}", name, model.document.name, "", None, {}, origin=origin))
        cases += (case for case, _ in own)
        broken.update({case.id: tuple(map(origin.diagnostic, findings)) for case, findings in own if findings})
        graphs[path] = graphs.get(path, frozenset()) | {case.id for case, _ in own}
    return file._replace(cases=tuple(cases), broken=broken, problems=tuple(problems), graphs=graphs)
