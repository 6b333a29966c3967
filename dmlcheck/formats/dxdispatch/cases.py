"""A DxDispatch model as cases: a plain desc for each operator, those of the graphs that it dispatches among them."""

from __future__ import annotations

from dmlcheck.cases.records import Case, CaseFile, FileOrigin
from dmlcheck.diagnostics.record import NOTE, Diagnostic, Finding
from dmlcheck.files.document import Document
from dmlcheck.formats.dxdispatch.model import Model
from dmlcheck.formats.dxdispatch.read import read_model


def read_cases(document: Document, name: str | None = None) -> CaseFile:
    """Read a model as cases; `name` is the path that ids start with."""
    from dmlcheck.formats.dml_graph.cases import node_cases

    model = read_model(document)
    file = operator_cases(model, name)
    cases, broken, problems = list(file.cases), dict(file.broken), list(file.problems)
    for given, graph in model.graphs.items():
        if isinstance(graph, Diagnostic):
            problems.append(graph)
            continue
        origin = FileOrigin(document, (("dispatchables", given),))
        dispatchable = Case(f"{name or document.name}::{given}", given, document.name, "", None, {}, origin=origin)
        own = node_cases(graph, dispatchable)
        cases += (case for case, _ in own)
        broken.update({case.id: tuple(map(origin.diagnostic, findings)) for case, findings in own if findings})
    return file._replace(cases=tuple(cases), broken=broken, problems=tuple(problems))


def operator_cases(model: Model, name: str | None = None) -> CaseFile:
    """Return the operators of a model as cases, and a note for each dispatchable that is not DirectML."""
    prefix = name or model.document.name
    cases = tuple(case._replace(id=f"{prefix}::{case.name}") for case in model.operators.values())
    notes = []
    for other, kind in model.others.items():
        finding = Finding("not-directml", ("dispatchables", other), {"name": other, "type": kind})
        notes.append(model.origin.diagnostic(finding)._replace(severity=NOTE))
    return CaseFile(model.document, cases, {}, model.problems, tuple(notes))
