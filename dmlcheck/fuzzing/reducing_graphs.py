"""Reduction of a graph that an implementation computes wrongly: to the fewest steps, the smallest sizes, simple values.

Values of tensors between steps are the reference engine's: where a step is left out, its output becomes an input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from dmlcheck.drawing.fitted import cut
from dmlcheck.drawing.graphs import DrawnGraph
from dmlcheck.drawing.shrink_graphs import GRAPH_STEPS, GraphStep, part_of, simpler_graphs, weight_of
from dmlcheck.drawing.simpler_values import weight_of as weight_of_values
from dmlcheck.fuzzing.answers import FailureKind, TrialAnswer, answer_of
from dmlcheck.fuzzing.drawn_models import values_of
from dmlcheck.fuzzing.reducing import Reducing, Weight
from dmlcheck.models.smallest_group import Group, Smallest
from dmlcheck.running.results import CaseResult

Judge = Callable[[DrawnGraph, Mapping[str, Any]], Sequence[CaseResult]]  # the results of a graph as a model
_OUTPUT, _TOGETHER = "output", "nodes together"


class FailingGraph(NamedTuple):
    """A graph with inputs that an implementation fails on, and the result that shows it."""

    graph: DrawnGraph
    inputs: Mapping[str, Any]
    result: CaseResult

    @property
    def answer(self) -> TrialAnswer:
        """The answer of the implementation."""
        return answer_of(self.result)

    @property
    def weight(self) -> Weight:
        """Its complexity: that of the graph first."""
        return weight_of(self.graph), weight_of_values(self.inputs)


def kind_of(result: CaseResult) -> tuple[str, FailureKind | None]:
    """Return how a model fails: in a node of an operator, in nodes together or at its end, and the difference.

    The name of the tensor is left out: it differs by the graph.
    """
    difference = answer_of(result).difference
    where = result.node.operator if result.node is not None else _OUTPUT if result.together is None else _TOGETHER
    return where, None if difference is None else difference._replace(output="")


class GraphReducer(Reducing):
    """Searches for simpler graphs that fail in the same way; a node fails alone only if that is what is reduced."""

    now: FailingGraph

    def __init__(self, judge: Judge, start: FailingGraph, level: str, seconds: float | None) -> None:
        """Prepare to judge graphs, at a level, with a time limit in seconds for all of them."""
        super().__init__(start, seconds)
        self.judge = judge
        self.level = level
        self.kind = kind_of(start.result)

    def kinds(self) -> Iterator[Callable[[], Iterator[FailingGraph]]]:
        """Yield functions that yield simpler graphs of one kind each: of fewer steps first."""
        yield self._fewer_steps
        for step in GRAPH_STEPS:
            yield partial(self._graphs, step)

    def with_inputs(self, inputs: Mapping[str, Any]) -> FailingGraph | None:
        """Return the graph so far with other inputs, None if it does not fail alike."""
        return self._alike(self.now.graph, inputs)

    def _fewer_steps(self) -> Iterator[FailingGraph]:
        """Yield the smallest group of steps that fails alike, if that has fewer steps."""
        now = self.now
        count = len(now.graph.steps)
        values = {**values_of(now.graph, now.inputs), **now.inputs}
        found: dict[Group, FailingGraph | None] = {}

        def check(group: Group) -> bool | None:
            part = part_of(now.graph, group)
            if self.is_late or not part.inputs.keys() <= values.keys():
                return None
            found[group] = self._alike(part, {name: values[name] for name in part.inputs})
            return found[group] is not None

        search = Smallest(count, check, least=1)
        search.known[tuple(range(count))] = True
        smallest = search.found()
        smaller = None if smallest is None else found.get(smallest)
        yield from () if smaller is None else [smaller]

    def _graphs(self, step: GraphStep) -> Iterator[FailingGraph]:
        """Yield simpler graphs that fail alike, with the first or the last of the values."""
        now = self.now
        for graph in simpler_graphs(now.graph, self.level, step):
            for is_from_end in (False, True):
                if self.is_late:
                    return
                given = ((name, tensor, now.inputs.get(name)) for name, tensor in graph.inputs.items())
                inputs = {name: cut(tensor, values, is_from_end=is_from_end) for name, tensor, values in given}
                found = self._alike(graph, inputs)
                if found is not None:
                    yield found

    def _alike(self, graph: DrawnGraph, inputs: Mapping[str, Any]) -> FailingGraph | None:
        """Return a graph if it fails like the simplest so far; None if it does not, or the time is up."""
        found: FailingGraph | None = self.once(repr(graph), inputs, lambda: self._run(graph, inputs))
        return found

    def _run(self, graph: DrawnGraph, inputs: Mapping[str, Any]) -> FailingGraph | None:
        wrong = [result for result in self.judge(graph, inputs) if answer_of(result).is_finding]
        if self.now.result.node is None and any(result.node is not None for result in wrong):
            return None
        alike = next((result for result in wrong if kind_of(result) == self.kind), None)
        return None if alike is None else FailingGraph(graph, inputs, alike)
