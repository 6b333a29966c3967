"""A campaign of random graphs: each is an ONNX model, judged node by node and end to end, with its nodes together."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from dmlcheck.drawing.graphs import LEAST, DrawnGraph, drawn_graph
from dmlcheck.folders.export_folder import Folder, free_name
from dmlcheck.formats.find import FOUND_GRAPH, Target
from dmlcheck.formats.registry import opened
from dmlcheck.fuzzing.answers import TrialAnswer, answer_of
from dmlcheck.fuzzing.campaign import CampaignFinding, CampaignRequest, CampaignTally
from dmlcheck.fuzzing.drawn_models import MODEL, inputs_of, is_expressible, model_of, operators_of, save
from dmlcheck.fuzzing.finding_files import FORM, FindingFiles, FindingSource, KnownFindings
from dmlcheck.fuzzing.reduce_case import NotReducible, start_of
from dmlcheck.fuzzing.reducing import reduced
from dmlcheck.fuzzing.reducing_graphs import FailingGraph, GraphReducer, kind_of
from dmlcheck.fuzzing.trials import Bench
from dmlcheck.models.cases import ModelRequest
from dmlcheck.models.run import ModelExecution, implementation_of
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.running.events import Done, Plan
from dmlcheck.running.results import ERRORED, PASSED, SKIPPED, CaseResult
from dmlcheck.running.settings import Settings

_REDUCING = 10.0  # seconds for one finding
_GRAPH = "graph"
_UNSUPPORTED = "unsupported-by-implementation"


class GraphDraw(NamedTuple):
    """A draw of a graph: its number."""

    number: int


class GraphCampaign:
    """Draws graphs, judges them and writes what fails, until the draws or the time are over."""

    def __init__(
        self,
        asked: CampaignRequest,
        bench: Bench,
        files: FindingFiles,
        settings: Settings,
        timeout: float | None,
        expected: KnownFindings | None = None,
    ) -> None:
        """Prepare to judge graphs of the operators that are asked for; the bench judges nodes that are reduced."""
        self.asked = asked
        self.bench = bench
        self.files = files
        self.expected = expected or KnownFindings(None, files.path)
        self.plan = Plan(asked.implementation, settings, timeout=timeout)
        self.operators = operators_of(tuple(asked.operators))
        self.tally = CampaignTally()
        self._known: dict[Any, str] = {}  # of each fault why the implementation does not support it, if it does not
        self._is_repeated = False  # whether a draw failed by a known fault

    def events(self) -> Iterator[GraphDraw | CampaignFinding]:
        """Yield each draw when it is judged, and after it the findings that it shows first."""
        number = 0
        implementation = implementation_of(self.plan, is_whole=False)
        try:
            while not self._is_over(number):
                yield from self._of_draw(number, implementation)
                number += 1
        finally:
            implementation.close()

    def _is_over(self, number: int) -> bool:
        asked = self.asked
        is_late = asked.seconds is not None and self.tally.seconds > asked.seconds
        return is_late or not self.operators or (asked.examples is not None and number >= asked.examples)

    def _of_draw(self, number: int, implementation: Any) -> Iterator[GraphDraw | CampaignFinding]:
        drawn = drawn_graph(self.operators, self.asked.seed, number, self.asked.level, is_expressible)
        self.tally.now = f"graph {number}"
        if len(drawn.steps) < LEAST:
            self.tally.take(TrialAnswer(SKIPPED, "no operators that fit together"))
            yield GraphDraw(number)
            return
        inputs = inputs_of(drawn, self.asked.seed, number)
        results = self._results(implementation, drawn, inputs)
        wrong = [result for result in results if answer_of(result).is_finding]
        computed = any(result.is_computed for result in results)
        self.tally.take(answer_of(wrong[0]) if wrong else TrialAnswer(PASSED if computed else SKIPPED, "nothing ran"))
        yield GraphDraw(number)
        before, self._is_repeated = len(self.tally.findings), False
        for result in [result for result in wrong if result.node is not None] or wrong:
            found = self._found(FailingGraph(drawn, inputs, result), number, implementation)
            if found is not None:
                self.tally.findings.append(found)
                yield found
            self.tally.stop_if_interrupted()
        if self._is_repeated and len(self.tally.findings) == before:
            self.tally.repeated[_GRAPH] += 1

    def _results(self, implementation: Any, drawn: DrawnGraph, inputs: Mapping[str, Any]) -> list[CaseResult]:
        """Return the results of the nodes of a graph's model, of its outputs, and of nodes together."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                path, given = save(model_of(drawn), inputs, folder)
            except Inexpressible:
                return []
            asked = ModelRequest(inputs=given, is_bisecting=True)
            execution = ModelExecution(Target(path, MODEL), self.plan, asked, implementation=implementation)
            return [event.result for event in execution.events() if isinstance(event, Done)]

    def _found(self, failing: FailingGraph, number: int, implementation: Any) -> CampaignFinding | None:
        """Return the finding of a node, an output or nodes together; None where its fault is known."""
        answer, result = failing.answer, failing.result
        operators = _operators_in(result)
        if not self._is_new(operators, answer):
            return None
        source = f"drawn by dmlcheck fuzz --graphs --seed {self.asked.seed}, graph {number}, {result.case.name}"
        if result.node is not None:
            try:
                return self._of_node(failing, source)
            except NotReducible as error:
                if _UNSUPPORTED in str(error) and answer.outcome == ERRORED:  # of a model, it says so by an error
                    why = f"{operators}: {str(error).partition(': ')[2]}"
                    self._known[_fault(operators, answer)] = why
                    self.tally.reasons[why] += 1
                    return None
        return self._of_graph(failing, source, number, implementation)

    def _is_new(self, operators: str, answer: TrialAnswer) -> bool:
        """Whether a fault of operators is new; it is known from now on."""
        fault = _fault(operators, answer)
        if fault not in self._known:
            self._known[fault] = ""
            return True
        if why := self._known[fault]:
            self.tally.reasons[why] += 1
        else:
            self._is_repeated = True
        return False

    def _of_node(self, failing: FailingGraph, source: str) -> CampaignFinding | None:
        """Return the finding of a node that fails by itself, as a case; None where its fault is known.

        NotReducible where its desc does not fail by itself.
        """
        with tempfile.TemporaryDirectory() as folder:
            path, inputs = save(model_of(failing.graph), failing.inputs, folder)
            start = start_of(opened(path), failing.result.case.name, self.bench, {"inputs": inputs})
        found = reduced(self.bench, start.failing, start.level, _REDUCING)
        self.tally.is_interrupted = found.is_interrupted
        answer = found.failing.answer
        if self.expected.is_known(found.failing.desc, answer):
            return None
        if not self._is_new(found.failing.desc.spec.operator, answer._replace(cause="")):
            return None
        about = FindingSource(source, start.level, self.asked.implementation, answer.cause)
        file, _ = self.files.write(found.failing, about)
        return CampaignFinding(found.failing.desc.spec.operator, source, answer, file, found.trials, found.is_whole)

    def _of_graph(self, failing: FailingGraph, source: str, number: int, implementation: Any) -> CampaignFinding | None:
        """Return the finding of nodes that fail in a model only, as a model; None where its fault is known."""
        judge = partial(self._results, implementation)
        reducer = GraphReducer(judge, failing, self.asked.level, _REDUCING)
        ending = reducer.ended()
        self.tally.is_interrupted = ending.is_interrupted
        found = reducer.now
        name = free_name(f"{FOUND_GRAPH}{number}", self.files.taken)
        if self.expected.is_known_in(f"{name}/{MODEL}", found.result.case.name, found.answer):
            return None
        where, _ = kind_of(found.result)
        if not self._is_new(f"{where}: {_steps_of(found.graph)}", found.answer._replace(cause="")):
            return None
        path = self._kept(name, found)
        operator = _GRAPH if found.result.node is None else found.result.node.operator
        return CampaignFinding(operator, source, found.answer, path, reducer.trials, ending.is_whole)

    def _kept(self, name: str, found: FailingGraph) -> str:
        """Write the model of a graph with its inputs into a folder of a name, and return its path."""
        place = self.files.place = self.files.place or Folder(self.files.path, FORM)
        with tempfile.TemporaryDirectory() as folder:
            for path in save(model_of(found.graph), found.inputs, folder):
                with open(path, "rb") as given:
                    place.write(f"{name}/{os.path.basename(path)}", given.read())
        return os.path.join(place.path, name, MODEL)


def _fault(operators: str, answer: TrialAnswer) -> Any:
    """Return the key of a fault. Names of tensors are not in it, since they differ by the graph."""
    difference, cause = answer.fault
    return None if difference is None else difference._replace(output=""), cause, operators


def _operators_in(result: CaseResult) -> str:
    """Return the operator of a node, or the distinct ones of nodes that are wrong together."""
    if result.node is not None:
        return result.node.operator
    return _GRAPH if result.together is None else " ".join(sorted({*result.together.operators}))


def _steps_of(graph: DrawnGraph) -> str:
    """Return the distinct operators of a graph's steps."""
    return " ".join(sorted({step.desc.spec.short for step in graph.steps}))
