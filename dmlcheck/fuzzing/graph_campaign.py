"""A campaign of random graphs: each is an ONNX model, judged node by node and end to end, with its nodes together."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.write import without_counts
from dmlcheck.diagnostics.record import Checking, collected
from dmlcheck.drawing.draft import Raw
from dmlcheck.drawing.fitted import cut
from dmlcheck.drawing.graphs import LEAST, DrawnGraph, DrawnStep, drawn_graph, suits
from dmlcheck.drawing.shrink import (
    ShrinkStep,
    counts_in,
    fewer_groups,
    made_valid,
    resizings,
    weight,
    with_defaults,
    without_fields,
)
from dmlcheck.drawing.simpler_values import weight_of as weight_of_values
from dmlcheck.folders.export_folder import Folder, free_name
from dmlcheck.formats.find import FOUND_GRAPH, Target, inputs_file_of
from dmlcheck.formats.registry import opened
from dmlcheck.fuzzing.answers import FailureKind, TrialAnswer, answer_of
from dmlcheck.fuzzing.campaign import CampaignFinding, CampaignRequest, CampaignTally
from dmlcheck.fuzzing.finding_files import FORM, FindingFiles, FindingSource, KnownFindings
from dmlcheck.fuzzing.reduce_case import NotReducible, start_of
from dmlcheck.fuzzing.reducing import Reducing, Weight, reduced
from dmlcheck.fuzzing.trials import Bench
from dmlcheck.graphs.compute import run_steps
from dmlcheck.graphs.records import Step
from dmlcheck.models.bisect import Group, Smallest
from dmlcheck.models.cases import ModelRequest
from dmlcheck.models.run import ModelExecution, implementation_of
from dmlcheck.onnx.export.mappings import build, mappings
from dmlcheck.onnx.export.records import ExportedGraph, ExportedNode, GraphValue, Inexpressible, Initializer
from dmlcheck.onnx.proto import model_proto
from dmlcheck.running.events import Done, Plan
from dmlcheck.running.results import ERRORED, PASSED, SKIPPED, CaseResult
from dmlcheck.running.settings import Settings
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import short_operator
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.layouts import to_bytes

# ---- random graphs as ONNX models with inputs

MODEL = "model.onnx"


@cache
def operators_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the given operators that may be steps of a graph, and that ONNX has."""
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


def values_of(drawn: DrawnGraph, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference engine's values of the outputs of a graph's steps by name, without any it cannot compute."""
    made = {step.writes: step.desc.tensors(OUTPUT)[0].label for step in drawn.steps}
    steps = tuple(
        Step(name, step.desc, step.reads, {made[name]: name}) for step in drawn.steps for name in [step.writes]
    )

    def load(name: str, tensor: TensorDesc) -> Checking[Any]:
        yield from ()
        return to_bytes(tensor, inputs[name])

    results, _ = collected(run_steps(steps, made, load))
    return {name: output.values for name, output in results.outputs.items()}


def save(model: Any, values: Mapping[str, Any], folder: str) -> tuple[str, str]:
    """Write a model and the values of its inputs into a folder, and return the paths of both."""
    import numpy as np

    path = os.path.join(folder, MODEL)
    inputs = inputs_file_of(path)

    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    np.savez(inputs, **{value.name: values[value.name] for value in model.graph.input})
    return path, inputs


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


# ---- reduction of a graph that is computed wrongly: to the fewest steps, the smallest sizes, simple values
# Values of tensors between steps are the reference engine's: where a step is left out, its output becomes an input.


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
    """Searches for simpler graphs that fail in the same way; a node fails by itself only if that is what is reduced."""

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


# ---- smaller graphs


GraphStep = Callable[[DrawnGraph, str], Iterator[DrawnGraph]]
Sizes = Mapping[str, tuple[int, ...]]
_OF_ONE: tuple[ShrinkStep, ...] = (without_fields, fewer_groups, with_defaults)


def weight_of(graph: DrawnGraph) -> tuple[int, ...]:
    """Return how complicated a graph is: the number of its steps counts most, then what counts for their descs."""
    return len(graph.steps), *map(sum, zip(*(weight(step.desc) for step in graph.steps), strict=True))


def part_of(graph: DrawnGraph, group: Sequence[int]) -> DrawnGraph:
    """Return some steps of a graph, by their positions; a tensor that none of them writes is an input."""
    return _of_steps([graph.steps[at] for at in group], tensors_of(graph))


def tensors_of(graph: DrawnGraph) -> dict[str, TensorDesc]:
    """Return the tensors of a graph by name: its inputs, and the outputs of its steps."""
    return {**graph.inputs, **{step.writes: step.desc.tensors(OUTPUT)[0].tensor for step in graph.steps}}


def _of_steps(steps: Sequence[DrawnStep], tensors: Mapping[str, TensorDesc]) -> DrawnGraph:
    made = {step.writes for step in steps}
    read = dict.fromkeys(name for step in steps for name in step.reads.values() if name not in made)
    return DrawnGraph(tuple(steps), {name: tensors[name] for name in read})


def smaller(graph: DrawnGraph, level: str) -> Iterator[DrawnGraph]:
    """Yield the graph with a smaller size: wherever it is, in all tensors along a dimension, or in one tensor."""
    tensors = tensors_of(graph)
    names, sizes = list(tensors), [tensor.sizes for tensor in tensors.values()]
    counts = (count for step in graph.steps for count in counts_in(step.desc.spec, without_counts(step.desc)))
    for places, size in resizings(sizes, counts):
        changed = [list(each) for each in sizes]
        for index, axis in places:
            changed[index][axis] = size
        made = _remade(graph, dict(zip(names, map(tuple, changed), strict=True)), level)
        if made is not None:
            yield made


def simpler_steps(graph: DrawnGraph, level: str) -> Iterator[DrawnGraph]:
    """Yield the graph with one step without an optional field, with fewer groups, or with a simpler attribute."""
    sizes = {name: tensor.sizes for name, tensor in tensors_of(graph).items()}
    for at, step in enumerate(graph.steps):
        for change in _OF_ONE:
            for raw in change(step.desc.spec, without_counts(step.desc)):
                desc = made_valid(step.desc.spec, raw, level)
                made = None if desc is None else _with_desc(graph, at, desc, sizes, level)
                if made is not None:
                    yield made


def _with_desc(graph: DrawnGraph, at: int, desc: OperatorDesc, sizes: Sizes, level: str) -> DrawnGraph | None:
    """Return a graph with another desc of a step; those that read its output get the sizes that it has then."""
    step = graph.steps[at]
    reads = {part.label: step.reads.get(part.label, "") for part in desc.tensors(INPUT)}
    if not all(reads.values()):
        return None
    steps = [*graph.steps[:at], DrawnStep(desc, reads, step.writes), *graph.steps[at + 1 :]]
    tensors = tensors_of(graph)
    given = {reads[part.label]: part.tensor.sizes for part in desc.tensors(INPUT)}
    made = {step.writes: desc.tensors(OUTPUT)[0].tensor.sizes}
    return _remade(_of_steps(steps, tensors), {**sizes, **given, **made}, level)


def _remade(graph: DrawnGraph, sizes: Sizes, level: str) -> DrawnGraph | None:
    """Return a graph whose tensors have other sizes; the output of a step has those that follow from its inputs.

    None where a step takes no such sizes.
    """
    now, tensors = dict(sizes), tensors_of(graph)
    steps = []
    for step in graph.steps:
        desc = made_valid(step.desc.spec, _resized(step, now), level)
        parts = [] if desc is None else desc.tensors(INPUT)
        if desc is None or {part.label for part in parts} != step.reads.keys():
            return None
        output = desc.tensors(OUTPUT)[0].tensor
        now[step.writes] = output.sizes
        read = [(part.tensor, step.reads[part.label]) for part in parts]
        if not all(_is_of(tensor, name, now, tensors) for tensor, name in (*read, (output, step.writes))):
            return None
        steps.append(step._replace(desc=desc))
    resized = {name: tensor._replace(sizes=now[name]) for name, tensor in tensors.items()}
    return _of_steps(steps, resized)


def _is_of(tensor: TensorDesc, name: str, sizes: Sizes, tensors: Mapping[str, TensorDesc]) -> bool:
    """Whether a tensor has the data type of the graph's tensor of a name, and its new sizes."""
    return (tensor.data_type, tensor.sizes) == (tensors[name].data_type, sizes[name])


def _resized(step: DrawnStep, sizes: Sizes) -> Raw:
    """Return the fields of a step's desc with other sizes of its tensors."""
    raw = without_counts(step.desc)
    names = {**step.reads, step.desc.tensors(OUTPUT)[0].label: step.writes}
    for part in step.desc.tensors():
        raw[part.label] = {"DataType": part.tensor.data_type, "Sizes": list(sizes[names[part.label]])}
    return raw


GRAPH_STEPS: tuple[GraphStep, ...] = (smaller, simpler_steps)


def simpler_graphs(graph: DrawnGraph, level: str, step: GraphStep) -> Iterator[DrawnGraph]:
    """Yield the valid graphs that a step makes of one, each of them simpler."""
    now = weight_of(graph)
    known: set[str] = set()
    for made in step(graph, level):
        text = repr(made)
        if weight_of(made) < now and text not in known:
            known.add(text)
            yield made
