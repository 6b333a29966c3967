"""Checked graphs as text: the mistakes, the operators, and the level from which the whole graph is valid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from dmlcheck.diagnostics.wording import counted, visible
from dmlcheck.models.graphs import GraphResult
from dmlcheck.reports.diagnostics import at_pointer, diagnostic_text
from dmlcheck.reports.layout import Line, Style, Table
from dmlcheck.running.legality import Validated, WholeCheck
from dmlcheck.specs.names import LEVEL_ORDER, highest, level_and_version, level_name

if TYPE_CHECKING:
    from dmlcheck.models.legality import ModelResult

_MOST = 10  # nodes that are named


def whole_lines(whole: WholeCheck, style: Style) -> Iterator[Line]:
    """Yield the text of `validate` for a graph or an ONNX model."""
    if isinstance(whole, GraphResult):
        return graph_lines(whole, style)
    from dmlcheck.reports.models import model_lines

    return model_lines(cast("ModelResult", whole), style)


def answer_lines(entries: Iterable[Validated]) -> Iterator[str]:
    """Yield the answers of DirectML's library to the descs of nodes: each refusal, and how many it accepts."""
    asked = [(entry, entry.answer) for entry in entries if entry.answer is not None]
    for entry, answer in asked:
        if not answer.is_accepted:
            operator = visible(entry.operator or "")
            yield f"{visible(entry.label)}: {operator}: DirectML {answer.version} {answer.text}"
    if asked:
        accepted = sum(answer.is_accepted for _, answer in asked)
        yield f"DirectML {asked[0][1].version} accepts {accepted:,} of {counted(len(asked), 'desc')}"


def graph_lines(graph: GraphResult, style: Style) -> Iterator[Line]:
    """Yield the text of `validate` for a graph."""
    if graph.problem is not None:
        yield diagnostic_text(graph.problem, None, style)
        return
    for entry in graph.entries:
        if entry.operator is not None and entry.diagnostics:
            yield f"{visible(entry.label)}: {visible(entry.operator)} is not valid{_at(entry)}:"
        for problem in (*entry.diagnostics, *entry.notes):
            yield diagnostic_text(at_pointer(problem), None, style)
    yield ""
    if graph.checked:
        yield f"{visible(graph.file)}:"
        yield Table(("DirectML operator", "nodes", "from"), _rows(graph), right=False, lead="  ")
        yield ""
    yield from _verdict(graph)


def _at(desc: Validated) -> str:
    if desc.minimum is None:
        return " at any level"
    if LEVEL_ORDER[desc.minimum] <= LEVEL_ORDER[desc.feature_level or desc.minimum]:
        return " in this graph"
    return f" at {level_name(desc.feature_level or '')}, only from {level_and_version(desc.minimum)}"


def _rows(graph: GraphResult) -> list[tuple[str, str, str]]:
    """Return a row for each operator: how many nodes there are, and from which level on all of them are valid."""
    kinds: dict[str, list[Validated]] = {}
    for desc in graph.descs:
        kinds.setdefault(desc.operator or "", []).append(desc)
    levels = {operator: highest(desc.minimum for desc in descs) for operator, descs in kinds.items()}
    rows = sorted(kinds.items())
    return [(visible(operator), f"{len(descs):,}", levels[operator] or "never") for operator, descs in rows]


def _verdict(graph: GraphResult) -> Iterator[str]:
    """Yield the level from which the graph is valid, the nodes that need it, and the numbers of the check."""
    if graph.minimum is not None:
        names = ", ".join(map(visible, graph.demanding[:_MOST])) + (", ..." if len(graph.demanding) > _MOST else "")
        because = f"because of {counted(len(graph.demanding), 'node')}: {names}"
        yield f"{visible(graph.file)} is valid from {level_and_version(graph.minimum)}, {because}"
    elif graph.checked:
        yield f"{visible(graph.file)} is valid at no level"
    yield f"{counted(graph.checked, 'node')} checked, {counted(graph.constants, 'constant')}"
