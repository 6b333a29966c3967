"""Evaluation of a graph by the reference engine: its nodes in order, its outputs by name."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.graphs.buffers import Array
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.compute import Load, Results, run_steps
from dmlcheck.graphs.constants import Constants, constants_of
from dmlcheck.graphs.records import GraphFile


class _Sources(NamedTuple):
    """Where the tensors come from that no node writes: constants, and the inputs of the graph."""

    constants: Constants
    inputs: tuple[str, ...]
    given: Load

    def load(self, name: str, tensor: TensorDesc) -> Checking[Array | None]:
        if name in self.constants.tensors:
            return (yield from self.constants.load(name, tensor))
        checking = self.given(name, tensor)
        while True:
            try:
                yield _at_input(next(checking), self.inputs.index(name))
            except StopIteration as end:
                found: Array | None = end.value
                return found


def _at_input(finding: Finding, index: int) -> Finding:
    return finding._replace(path=finding.path or ("graphInputNames", index))


def evaluate_graph(graph: GraphFile, given: Load) -> Checking[Results]:
    """Compute a graph; `given` brings its inputs. A graph with mistakes is not computed."""
    steps, findings = collected(valid_steps(graph))
    if findings:
        yield from findings
        return Results({})
    sources = _Sources(constants_of(graph), graph.inputs, given)
    return (yield from run_steps(steps, [name for name in graph.outputs if name], sources.load))
