"""A campaign of random graphs: each is an ONNX model, judged node by node and end to end, with its nodes together."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.cases.find import Target
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing.graphs import LEAST, DrawnGraph, drawn_graph, suits
from dmlcheck.folders.export_folder import Folder
from dmlcheck.formats.registry import opened
from dmlcheck.implementations import close
from dmlcheck.onnx.export.mappings import build, mappings
from dmlcheck.onnx.export.records import ExportedGraph, ExportedNode, GraphValue, Inexpressible, Initializer
from dmlcheck.onnx.proto import model_proto
from dmlcheck.running.answers import TrialAnswer, answer_of
from dmlcheck.running.campaign import CampaignFinding, CampaignRequest, CampaignTally
from dmlcheck.running.events import Done, Plan
from dmlcheck.running.finding_files import FORM, FindingFiles, FindingSource
from dmlcheck.running.known_findings import KnownFindings
from dmlcheck.running.model_cases import ModelRequest
from dmlcheck.running.model_run import ModelExecution, implementation_of
from dmlcheck.running.one_case import Settings
from dmlcheck.running.reduce_case import NotReducible, start_of
from dmlcheck.running.reducing import reduced
from dmlcheck.running.results import ERRORED, PASSED, SKIPPED, CaseResult
from dmlcheck.running.trials import Bench
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import short_operator

_REDUCING = 10.0  # seconds for a node that fails alone
_INPUTS = "inputs.npz"
_MODEL = "model.onnx"
_GRAPH = "graph"
_UNSUPPORTED = "unsupported-by-implementation"


class GraphDraw(NamedTuple):
    """A draw of a graph: its number."""

    number: int


@cache
def operators_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of some operators that may be steps of a graph, and that ONNX has."""
    return tuple(name for name in names if short_operator(name) in mappings() and suits(load_spec(name)))


def is_expressible(desc: OperatorDesc) -> bool:
    """Whether ONNX can express a desc exactly."""
    try:
        model_proto(build(desc))
    except Inexpressible:
        return False
    return True


def model_of(drawn: DrawnGraph) -> Any:
    """Return a graph as an onnx.ModelProto."""
    parts = [_renamed(build(step.desc), step.reads, step.writes, f"s{at}_") for at, step in enumerate(drawn.steps)]
    read = {name for step in drawn.steps for name in step.reads.values()}
    made = {step.writes: step.desc for step in drawn.steps}
    outputs = [value for part in parts for value in part.outputs if value.name not in read]
    between = [value for part in parts for value in (*part.values, *part.outputs) if value not in outputs]
    return model_proto(
        ExportedGraph(
            "graph",
            max(part.opset for part in parts),
            tuple(node for part in parts for node in part.nodes),
            tuple(
                GraphValue(name, tensor.data_type, tensor.sizes)
                for name, tensor in drawn.inputs.items()
                if name in read
            ),
            tuple(value for value in outputs if value.name in made),
            tuple(constant for part in parts for constant in part.constants),
            tuple(between),
        )
    )


def _renamed(graph: ExportedGraph, reads: Any, writes: str, prefix: str) -> ExportedGraph:
    """Return the graph of a step with the names that its tensors have in the whole."""
    names = {**dict(reads), graph.outputs[0].name: writes, "": ""}

    def name(old: str) -> str:
        return str(names.get(old, prefix + old))

    return graph._replace(
        nodes=tuple(
            ExportedNode(node.type, tuple(map(name, node.inputs)), tuple(map(name, node.outputs)), node.attributes)
            for node in graph.nodes
        ),
        outputs=tuple(value._replace(name=name(value.name)) for value in graph.outputs),
        constants=tuple(
            Initializer(one.value._replace(name=name(one.value.name)), one.elements) for one in graph.constants
        ),
        values=tuple(value._replace(name=name(value.name)) for value in graph.values),
    )


def inputs_of(drawn: DrawnGraph, seed: int, number: int) -> dict[str, Any]:
    """Return values for the tensors that a graph is given."""
    import numpy as np

    from dmlcheck.drawing.values import plain

    generator = np.random.Generator(np.random.PCG64([seed, number]))
    return {name: plain(generator, tensor, "normal") for name, tensor in drawn.inputs.items()}


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
            close(implementation)

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
        with tempfile.TemporaryDirectory() as folder:
            path, inputs = os.path.join(folder, _MODEL), os.path.join(folder, _INPUTS)
            _save(model_of(drawn), inputs_of(drawn, self.asked.seed, number), path, inputs)
            results = self._results(path, inputs, implementation)
            wrong = [result for result in results if answer_of(result).is_finding]
            computed = any(result.is_computed for result in results)
            self.tally.take(
                answer_of(wrong[0]) if wrong else TrialAnswer(PASSED if computed else SKIPPED, "nothing ran")
            )
            yield GraphDraw(number)
            before, self._is_repeated = len(self.tally.findings), False
            for result in [result for result in wrong if result.node is not None] or wrong:
                found = self._found(result, number, path, inputs)
                if found is not None:
                    yield found
                self.tally.stop_if_interrupted()
            if self._is_repeated and len(self.tally.findings) == before:
                self.tally.repeated[_GRAPH] += 1

    def _results(self, path: str, inputs: str, implementation: Any) -> list[CaseResult]:
        """Return the results of the nodes of a model, of its outputs, and of nodes together."""
        asked = ModelRequest(inputs=inputs, is_bisecting=True)
        execution = ModelExecution(Target(path, _MODEL), self.plan, asked, implementation=implementation)
        return [event.result for event in execution.events() if isinstance(event, Done)]

    def _found(self, result: CaseResult, number: int, path: str, inputs: str) -> CampaignFinding | None:
        """Return the finding of a node, an output or nodes together; None where its fault is known."""
        answer = answer_of(result)
        operators = _operators_in(result)
        if not self._is_new(operators, answer):
            return None
        source = f"drawn by dmlcheck fuzz --graphs --seed {self.asked.seed}, graph {number}, {result.case.name}"
        found = None
        if result.node is not None:
            try:
                found = self._of_node(result, source, path, inputs)
            except NotReducible as error:
                if _UNSUPPORTED in str(error) and answer.outcome == ERRORED:  # of a model, it says so by an error
                    why = f"{operators}: {str(error).partition(': ')[2]}"
                    self._known[_fault(operators, answer)] = why
                    self.tally.reasons[why] += 1
                    return None
            else:
                if found is None:
                    return None
        if found is None and self.expected.is_known_in(f"graph-{number}/{_MODEL}", result.case.name, answer):
            return None
        operator = result.node.operator if result.node is not None else _GRAPH
        found = found or CampaignFinding(operator, source, answer, self._kept(number, path, inputs))
        self.tally.findings.append(found)
        return found

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

    def _of_node(self, result: CaseResult, source: str, path: str, inputs: str) -> CampaignFinding | None:
        """Return the finding of a node that fails alone, as a case; None where its fault is known.

        NotReducible where its desc does not fail alone.
        """
        start = start_of(opened(path), result.case.name, self.bench, {"inputs": inputs})
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

    def _kept(self, number: int, path: str, inputs: str) -> str:
        """Write a model with its inputs, and return its place."""
        place = self.files.place = self.files.place or Folder(self.files.path, FORM)
        for name, file in ((_MODEL, path), (_INPUTS, inputs)):
            if f"graph-{number}/{name}" not in place.files:
                with open(file, "rb") as given:
                    place.write(f"graph-{number}/{name}", given.read())
        return os.path.join(place.path, f"graph-{number}", _MODEL)


def _fault(operators: str, answer: TrialAnswer) -> Any:
    """Return the key of a fault. Names of tensors are not in it, since they differ by the graph."""
    difference, cause = answer.fault
    return None if difference is None else difference._replace(output=""), cause, operators


def _operators_in(result: CaseResult) -> str:
    """Return the operator of a node, or the distinct ones of nodes that are wrong together."""
    if result.node is not None:
        return result.node.operator
    return _GRAPH if result.together is None else " ".join(sorted({*result.together.operators}))


def _save(model: Any, values: dict[str, Any], path: str, inputs: str) -> None:
    import numpy as np

    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    np.savez(inputs, **values)
