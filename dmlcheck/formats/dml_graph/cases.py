"""The operators of a DirectML graph as cases: plain descs, for a model that dispatches the graph."""

from __future__ import annotations

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import cut
from dmlcheck.formats.dml_graph.descs import NodeDesc, desc_of
from dmlcheck.formats.dml_graph.edges import Edges
from dmlcheck.formats.dml_graph.records import Graph, Operator

_MOST = 200  # characters of a name


def node_cases(graph: Graph, dispatchable: Case) -> list[tuple[Case, list[Finding]]]:
    """Return a case for each operator, which is like that of the graph's dispatchable, and what is wrong beside descs.

    What is wrong with a constant goes with the next operator, with an output of the graph with the last.
    """
    edges, names, found = Edges(graph), set[str](), list[Finding]()
    cases: list[tuple[Case, list[Finding]]] = []
    for index, node in enumerate(graph.nodes):
        made = desc_of(node, node.desc, edges.owned) if isinstance(node.desc, Operator) else None
        wrong = (*(made.findings if made else ()), *edges.findings(node, made))
        found += (finding._replace(path=("nodes", index, *finding.path)) for finding in wrong)
        if made is not None:
            name = cut(node.name, _MOST)
            name = f"{name} ({index})" if name in names else name
            names.add(name)
            cases.append((_case(name, made, dispatchable), found))
            found = []
    if cases:
        cases[-1][1].extend((*found, *edges.outputs()))
    return cases


def _case(name: str, made: NodeDesc, dispatchable: Case) -> Case:
    given = dispatchable._replace(id=f"{dispatchable.id}/{name}", name=f"{dispatchable.name}/{name}")
    return given._replace(operator=cut(made.operator, _MOST), desc=made.fields)
