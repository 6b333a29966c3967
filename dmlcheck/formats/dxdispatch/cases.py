"""A DxDispatch model as cases: a plain desc for each operator, including the nodes of graphs that it dispatches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dmlcheck.cases.records import Case, CaseFile, FileOrigin
from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import NOTE, Diagnostic, Finding
from dmlcheck.diagnostics.wording import cut
from dmlcheck.files.document import Document
from dmlcheck.formats.dxdispatch.model import DxModel
from dmlcheck.formats.dxdispatch.read import read_model
from dmlcheck.graphs.check import CheckedDesc, checked
from dmlcheck.graphs.records import GraphFile, Node


def read_cases(document: Document, name: str | None = None) -> CaseFile:
    """Read a model as cases; `name` is the path that ids start with."""
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


def operator_cases(model: DxModel, name: str | None = None) -> CaseFile:
    """Return the operators of a model as cases, and a note for each dispatchable that is not DirectML."""
    prefix = name or model.document.name
    cases = tuple(case._replace(id=f"{prefix}::{case.name}") for case in model.operators.values())
    notes = []
    for other, kind in model.others.items():
        finding = Finding("not-directml", ("dispatchables", other), {"name": other, "type": kind})
        notes.append(model.origin.diagnostic(finding)._replace(severity=NOTE))
    return CaseFile(model.document, cases, {}, model.problems, tuple(notes))


# ---- graphs

_MOST = 200  # characters of a name


def node_cases(graph: GraphFile, dispatchable: Case) -> list[tuple[Case, list[Finding]]]:
    """Return a case for each node, like that of the graph's dispatchable, and the findings about its other parts.

    The findings about a constant go with the next node, those about an output of the graph with the last one.
    """
    names, found = set[str](), list[Finding]()
    cases: list[tuple[Case, list[Finding]]] = []
    for one in checked(graph, _read):
        found += one.findings
        if one.node is not None:
            name = cut(one.name, _MOST)
            name = f"{name} ({one.node.path[-1]})" if name in names else name
            names.add(name)
            cases.append((_case(name, one.node, dispatchable), found))
            found = []
    if cases:
        cases[-1][1].extend(found)
    return cases


def _read(operator: str, fields: Mapping[str, Any]) -> CheckedDesc:
    """Return a desc as it was read; the findings about it come when its case is validated."""
    return CheckedDesc(read_desc(operator, fields).desc, ())


def _case(name: str, node: Node, dispatchable: Case) -> Case:
    given = dispatchable._replace(id=f"{dispatchable.id}/{name}", name=f"{dispatchable.name}/{name}")
    return given._replace(operator=cut(node.operator, _MOST), desc=node.fields)
