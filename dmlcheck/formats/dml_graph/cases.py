"""The operators of a graph as cases: plain descs, for a model that dispatches the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import cut
from dmlcheck.graphs.check import CheckedDesc, checked
from dmlcheck.graphs.records import Graph, Node

_MOST = 200  # characters of a name


def node_cases(graph: Graph, dispatchable: Case) -> list[tuple[Case, list[Finding]]]:
    """Return a case for each node, which is like that of the graph's dispatchable, and what is wrong beside descs.

    What is wrong with a constant goes with the next node, with an output of the graph with the last.
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
    """Return a desc as it was read: what is wrong with it is found where its case is validated."""
    return CheckedDesc(read_desc(operator, fields).desc, ())


def _case(name: str, node: Node, dispatchable: Case) -> Case:
    given = dispatchable._replace(id=f"{dispatchable.id}/{name}", name=f"{dispatchable.name}/{name}")
    return given._replace(operator=cut(node.operator, _MOST), desc=node.fields)
