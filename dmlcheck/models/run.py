"""A model judged node by node: each node is a case, run by the implementation on the same inputs as its reference."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dmlcheck.cases.prepare import Prepared
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.diagnostics.record import NOTE, Diagnostic
from dmlcheck.diagnostics.wording import counted
from dmlcheck.formats.find import Target, inputs_file_of
from dmlcheck.implementations import Failure, make
from dmlcheck.implementations.protocol import Adapted
from dmlcheck.models.bisect import ModelBisection
from dmlcheck.models.cases import Loaded, ModelOrigin, ModelRequest, NodeCase, UnusableModel, loaded, node_cases
from dmlcheck.models.chain import mapped_with
from dmlcheck.models.inner_chain import judge_inside
from dmlcheck.models.inputs import contradiction, of_any_numbers
from dmlcheck.models.node_files import FailedNode, NodeFiles
from dmlcheck.models.node_values import (
    NodeTensors,
    arrays_of,
    by_node,
    largest_halves,
    no_stand_in,
    not_finite,
    of_whole,
    recorded,
    run_node,
)
from dmlcheck.models.node_verdict import Mapped, NodeVerdict, Unjudged, deviation_of, graph_in, judge_node
from dmlcheck.models.outputs import (
    ModelOutputs,
    not_together,
    one_ahead,
    output_cases,
    outputs_together,
    together_case,
    together_result,
)
from dmlcheck.models.process import ModelProcess
from dmlcheck.models.reference_nodes import ReferenceNodes, Uncomputed, stand_in, stand_in_for_all, uncomputed_too
from dmlcheck.models.whole_model import optimized
from dmlcheck.onnx.metadata import origin_of
from dmlcheck.onnx.model.parts import element_types, has_graphs, join_weights, model_of_node
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.running.computed import NoOutputs
from dmlcheck.running.events import (
    DEFAULT_TIMEOUT,
    WRONG_FILE,
    Done,
    Ended,
    Event,
    NotRun,
    Plan,
    asks_for,
    case_of_file,
    digest,
    how_it_ended,
    in_shard,
    malformed,
)
from dmlcheck.running.execution import Execution
from dmlcheck.running.keep import keep
from dmlcheck.running.known_failures import with_known, with_known_of_provider
from dmlcheck.running.one_case import Run, above, ending_of, ending_without_outputs, result_of
from dmlcheck.running.results import ERRORED, FAILED, PASSED, SKIPPED, CaseResult, NodeOfCase
from dmlcheck.running.verdict import evidence_of
from dmlcheck.specs.names import highest
from dmlcheck.validation import minimum_level
from dmlcheck.values.memory import reuse_freed_memory


class ModelExecution:
    """The run of a model: its events, in the order of its nodes, and the node that runs now."""

    def __init__(
        self,
        target: Target,
        plan: Plan,
        asked: ModelRequest,
        files: NodeFiles | None = None,
        implementation: Any = None,
    ) -> None:
        """Read the model and its inputs; nodes that fail are written to `files`.

        An implementation that is given runs further models afterwards; the plan's own is closed at the end.
        """
        self.target = target
        self.plan = plan
        self.asked = asked
        self.files = files
        reuse_freed_memory()
        self.is_given = implementation is not None
        is_whole = asked.is_whole or asked.is_optimized
        self.implementation = implementation if self.is_given else implementation_of(plan, is_whole=is_whole)
        self.tensor = self.implementation.tensor
        self.run = Run(self.implementation, plan.settings)
        self.run.limits.once_a_kind = True
        self.model = self._loaded()
        self.output_cases = () if isinstance(self.model, UnusableModel) else output_cases(self.model, target.name)
        is_selected = self.plan.selection.of(self.target)
        cases = (*(node.case for node in self.nodes), *self.output_cases)
        self.selected = [case for case in cases if asks_for(self.target, case.name) and is_selected(case)]
        self.chosen = frozenset(case.name for case in self.selected if in_shard(case.id, plan.shard))
        self.runs_together = self._runs_together()
        self.together: CaseResult | None = None
        self.outputs: ModelOutputs | None = None
        self._now: tuple[str, float] | None = None

    def _loaded(self) -> Loaded | UnusableModel:
        """Return the model, as ONNX Runtime optimizes it where that is asked for."""
        found = loaded(self.target, self.asked, self.implementation)
        if isinstance(found, UnusableModel) or not self.asked.is_optimized:
            return found
        proto = optimized(join_weights(found.proto, found.constants), self.implementation)
        if isinstance(proto, NoOutputs):
            return UnusableModel(tuple(map(ModelOrigin(self.target.name).diagnostic, filter(None, [proto.finding]))))
        constants = {tensor.name: tensor for tensor in proto.graph.initializer}
        nodes = node_cases(proto, self.target.name, constants)
        return found._replace(proto=proto, constants=constants, nodes=nodes, kinds=element_types(proto))

    def _runs_together(self) -> bool:
        """Whether the whole model runs once in addition to its nodes: where its case is selected.

        It does not where the whole model runs anyway, nor where a search runs nodes together; nor in a shard, since
        the others could not know of a case that is there only if it fails.
        """
        if not self.nodes or not self.is_by_node:
            return False
        case = together_case(self.target.name)
        is_other = self.asked.is_bisecting or self.asked.is_listing or self.plan.shard
        return not is_other and asks_for(self.target, case.name) and self.plan.selection.of(self.target)(case)

    @property
    def nodes(self) -> tuple[NodeCase, ...]:
        """The nodes of the model."""
        return () if isinstance(self.model, UnusableModel) else self.model.nodes

    @property
    def total(self) -> int:
        """The number of cases of the run."""
        return 1 if isinstance(self.model, UnusableModel) else len(self.chosen) + (self.together is not None)

    @property
    def is_by_node(self) -> bool:
        """Whether each node runs alone."""
        return self.tensor is None and not (self.asked.is_whole or self.asked.is_optimized)

    def slowest(self) -> tuple[str, float] | None:
        """Return the node that is running, and for how many seconds."""
        now = self._now
        return None if now is None else (now[0], time.monotonic() - now[1])

    def events(self) -> Iterator[Event]:
        """Yield the events."""
        try:
            if isinstance(self.model, UnusableModel):
                case = case_of_file(self.target.name, ModelOrigin(self.target.name))
                yield Done(malformed(case, WRONG_FILE, self.model.diagnostics))
                yield Ended(digest([self.target.name]) if self.plan.digests else None)
            else:
                yield from self._events(self.model)
        finally:
            if self.outputs is not None:
                self.outputs.close()
            if not self.is_given:
                self.implementation.close()
            if self.files is not None:
                self.files.close()

    def _events(self, model: Loaded) -> Iterator[Event]:
        outputs = self.outputs = self._outputs(model)
        bisection = self._bisection(model) if self.asked.is_bisecting else None
        bisected, is_complete = None, True
        for node, values in self._values(model, outputs):
            is_complete = is_complete and _ran(values)
            if node.case.name not in self.chosen:
                outputs.follow(node, values, None)
                yield NotRun(node.case.id, node.case.file)
                continue
            result, verdict = self._result(node, values, model)
            if bisection is not None:
                bisection.follow(values)
                bisection.note(result)
            yield Done(result)
            outputs.follow(node, values, verdict)
        self._now = None
        if self.runs_together:
            self.together = self._together(model, outputs, is_complete=is_complete)
        yield from (NotRun(case.id, case.file) for case in self.output_cases if case.name not in self.chosen)
        for result in outputs.results(self.chosen):
            if bisection is not None:
                bisection.note(result)
            yield Done(result)
        if bisection is not None:
            self.together, bisected = bisection.searched(self._begin_group, self.files)
        yield from () if self.together is None else [Done(self.together)]
        if not self.runs_together or (self.together is None and not is_complete):
            case = together_case(self.target.name)
            yield NotRun(case.id, case.file)
        ids = [*(case.id for case in self.selected), *([] if self.together is None else [self.together.case.id])]
        empty = None if self.nodes or self.output_cases else self.target.name
        yield Ended(digest(ids) if self.plan.digests else None, empty, bisected)

    def _outputs(self, model: Loaded) -> ModelOutputs:
        chosen = [case for case in self.output_cases if case.name in self.chosen or self.runs_together]
        is_directml = self.run.directml is not None
        recorded = None
        if self.tensor is not None and chosen:
            given = self._recorded(value.name for value in model.proto.graph.input if value.name not in model.inputs)
            model = model._replace(inputs={**model.inputs, **given})
            recorded = self._recorded(value.name for value in model.proto.graph.output)
        settings = self.plan.settings
        return ModelOutputs(model, chosen, self.run.limits, settings, is_directml=is_directml, recorded=recorded)

    def _recorded(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the recorded tensors of some names, without those that are missing or cannot be read."""
        found = {}
        for name in names:
            with contextlib.suppress(Failure):
                found[name] = None if self.tensor is None else self.tensor(name)
        return {name: array for name, array in found.items() if array is not None}

    def _values(self, model: Loaded, outputs: ModelOutputs) -> Iterator[tuple[NodeCase, NodeTensors]]:
        """Yield the nodes in order with the tensors of each; outputs that are judged need all of them."""
        needed = frozenset(node.case.name for node in model.nodes) if outputs.cases else self.chosen
        if self.tensor is not None:
            is_followed = bool(outputs.cases and outputs.actual)
            return recorded(outputs.model, self.tensor, stand_in_for_all if is_followed else no_stand_in)
        if self.is_by_node:
            nodes = by_node(model, needed, self.implementation, self._begin, stand_in)
            return one_ahead(nodes) if self._is_apart else nodes
        return of_whole(model, needed, self.implementation, self.asked.keep_bytes, self._begin)

    @property
    def _is_apart(self) -> bool:
        """Whether nodes run in a process of their own, which no verdict asks for more."""
        return isinstance(self.implementation, ModelProcess) and not self.plan.retries

    def _bisection(self, model: Loaded) -> ModelBisection:
        """Return the search for nodes that are wrong only together."""
        is_directml, file = self.run.directml is not None, self.target.name
        return ModelBisection(model, file, self.implementation, self.run.limits, self.asked, is_directml=is_directml)

    def _together(self, model: Loaded, outputs: ModelOutputs, *, is_complete: bool) -> CaseResult | None:
        """Run the whole model once, and return its case if there is something to say, or if it was asked for by name.

        It does not run if one of its nodes did not.
        """
        case = together_case(self.target.name)
        self._begin_group(case.id)
        start = time.perf_counter()
        found = not_together(case, "a node of it did not run alone")
        if is_complete:
            whole = outputs_together(model, self.target.file, list(outputs.actual), self.implementation)
            found = together_result(case, model, whole, outputs)
        self._now = None
        is_silent = self.target.case is None and (found.outcome == PASSED or not is_complete)
        return None if is_silent else found._replace(seconds=time.perf_counter() - start)

    def _begin_group(self, name: str) -> None:
        self._now = (name, time.monotonic())

    def _begin(self, node: NodeCase) -> None:
        self._now = (node.case.id, time.monotonic())

    # ---- one node

    def _result(
        self, node: NodeCase, values: NodeTensors, model: Loaded
    ) -> tuple[CaseResult, NodeVerdict | Unjudged | None]:
        """Return the result of a node, and its verdict; one that fails runs again if the run asks for it.

        One that asks for a higher feature level than the run's is skipped, without a verdict.
        """
        start = time.perf_counter()
        tried: tuple[str, ...] = ()
        while True:
            result, verdict = self._once(node, values, model)
            if result.outcome not in (FAILED, ERRORED) or len(tried) >= self.plan.retries or not self.is_by_node:
                break
            tried = (*tried, how_it_ended(result))
            values = run_node(node, model, values.tensors, self.implementation)
        if result.outcome == FAILED and isinstance(verdict, NodeVerdict):
            written = self._written(node, verdict, values, model)
            result = result._replace(kept=", ".join(filter(None, (written, result.kept))))
        if tried and result.outcome == PASSED:
            result = result._replace(is_flaky=True, reason=f"flaky: {', '.join(tried)}, then passed")
        return result._replace(seconds=time.perf_counter() - start), verdict

    def _once(
        self, node: NodeCase, values: NodeTensors, model: Loaded
    ) -> tuple[CaseResult, NodeVerdict | Unjudged | None]:
        origin = origin_of(node.node)
        name = node.node.name or node.case.name
        about = NodeOfCase(name, node.operator, module=origin.module, line=origin.line)
        if values.nothing is not None:
            nothing = Unjudged("missing-tensor", "the implementation gave nothing for it")
            beyond = self._above_and_lost(node, values, model)
            if beyond is not None:
                return _skipped(node, beyond, about), None
            ending = ending_without_outputs(values.nothing)
            help = None if values.nothing.is_unsupported else self._help(node, values, model)
            if help is not None:
                ending = ending._replace(findings=tuple(found._replace(help=help) for found in ending.findings))
            return result_of(node.case, ending)._replace(node=about), nothing
        inputs = arrays_of(node.node.input, values.tensors, model)
        outputs = arrays_of(node.node.output, values.tensors, model)
        skipped = next((each for each in (values.skipped, inputs, outputs) if isinstance(each, Unjudged)), None)
        if isinstance(inputs, Unjudged) or isinstance(outputs, Unjudged) or skipped is not None:
            why = skipped or Unjudged("missing-tensor", "")
            return _skipped(node, why, about), why
        about = about._replace(not_finite=not_finite(node.node, inputs, outputs))
        if self.asked.wants_headroom:
            about = about._replace(largest=largest_halves(node.node, outputs))
        verdict = self._verdict(node, values, inputs, outputs, model)
        if isinstance(verdict, Unjudged):
            return _skipped(node, verdict, about), verdict
        beyond = self._above(verdict)
        if beyond is not None:
            return _skipped(node, beyond, about), None
        result = self._of_verdict(node, verdict, about)
        if self.run.directml is not None and result.outcome == FAILED:
            text = deviation_of(node.node, model.opset(node.node), inputs, outputs)
            result = with_known_of_provider(result, text)
        return result, verdict

    def _above(self, found: NodeVerdict | Mapped | Unjudged) -> Unjudged | None:
        """Return why a node is skipped that asks for a higher feature level than the run's, or None."""
        most = self.run.settings.feature_level
        graph = graph_in(found)
        if most is None or graph is None:
            return None
        reason = above(_level(step.desc for step in graph.steps), most)
        return None if reason is None else Unjudged("operator-unavailable", reason)

    def _above_and_lost(self, node: NodeCase, values: NodeTensors, model: Loaded) -> Unjudged | None:
        """Return the same for a node that the implementation gave nothing for; the reference stands in for it."""
        if self.run.settings.feature_level is None:
            return None
        tensors = {**stand_in(node, model, values.tensors), **values.tensors}
        return self._above(mapped_with(node, tensors, model, is_directml=self.run.directml is not None))

    def _help(self, node: NodeCase, values: NodeTensors, model: Loaded) -> str | None:
        """Return the help for a node that gave nothing because its inputs are not valid, or None."""
        numbers = model.any_numbers_of(node)
        said = contradiction(self.asked.sizes) or (of_any_numbers(numbers) if numbers else None)
        has_sizes = bool(self.asked.sizes)
        return said or uncomputed_too(node, model, values.tensors, has_sizes=has_sizes)

    def _verdict(
        self, node: NodeCase, values: NodeTensors, inputs: Sequence[Any], outputs: Sequence[Any], model: Loaded
    ) -> NodeVerdict | Unjudged:
        if has_graphs(node.node):
            return judge_inside(node, values.tensors, model, self.run.limits)
        return judge_node(
            node.node,
            model.opset(node.node),
            inputs,
            outputs,
            is_directml=self.run.directml is not None,
            limits=self.run.limits,
            file=self.target.name,
            elements={name: kind for name in node.reads if (kind := model.four_bits(name)) is not None},
        )

    def _of_verdict(self, node: NodeCase, verdict: NodeVerdict, about: NodeOfCase) -> CaseResult:
        about = about._replace(dml_operators=verdict.operators, meaning=verdict.meaning)
        ending = ending_of(verdict.verdict, self.plan.settings)
        case = node.case._replace(source=f"{node.operator} of {self.target.name}")
        if verdict.descs:
            desc = verdict.descs[-1]
            case = case._replace(operator=desc.spec.operator, desc=notation(desc) if ending.outcome == FAILED else {})
            ending = with_known(ending, desc, self.run.directml, self.run.limits.peer)
        if ending.outcome == FAILED:
            about = about._replace(level=_level(verdict.descs))
            if self.plan.settings.keep is not None:
                ending = ending._replace(kept=self._evidence(node, verdict, self.plan.settings.keep))
        return result_of(case, ending)._replace(node=about)

    def _written(self, node: NodeCase, verdict: NodeVerdict, values: NodeTensors, model: Loaded) -> str:
        """Write the files of a node that failed if the run asks for them, and return the path of the first, else ""."""
        if self.files is None:
            return ""
        inputs = {name: values.tensors[name] for name in node.reads if name not in model.constants}
        alone = model_of_node(node.node, model.proto, model.constants, inputs)
        return self.files.write(FailedNode(node.case.name, node.operator, verdict, alone, inputs))

    def _evidence(self, node: NodeCase, verdict: NodeVerdict, folder: str) -> str:
        """Write the inputs, and the expected, allowed and actual outputs of a node that failed."""
        actual = verdict.labelled()
        if not actual:
            return f"nothing: the node becomes {counted(len(verdict.descs), 'desc')}"
        ((desc, inputs),) = verdict.steps()
        case = node.case._replace(operator=desc.spec.operator, inputs=inputs)
        try:
            evidence = evidence_of(case, Prepared(desc, inputs), actual, self.run.limits)
            return keep(folder, case, desc, evidence)
        except (OSError, MemoryError, TooMuchWork) as error:
            return f"nothing: {error or 'out of memory'}"


def implementation_of(plan: Plan, *, is_whole: bool) -> Any:
    """Return the implementation of a run: one that runs models has a process of its own if nodes have a time limit.

    A whole model has no time limit but the user's.
    """
    here = make(plan.implementation)
    if plan.timeout is None or here.tensor is not None or here.run_model is None:
        return here
    limit = None if is_whole and plan.timeout == DEFAULT_TIMEOUT else plan.timeout
    return ModelProcess(here, plan.implementation, limit)


def _ran(values: NodeTensors) -> bool:
    return values.nothing is None and (values.skipped is None or values.skipped.rule == "runs-elsewhere")


def _level(descs: Iterable[OperatorDesc]) -> str | None:
    """Return the level from which all descs of a node are valid, or None if one never is."""
    return highest(minimum_level(read_desc(desc.spec.operator, notation(desc))) for desc in descs)


def _skipped(node: NodeCase, why: Unjudged, about: NodeOfCase) -> CaseResult:
    note = Diagnostic(why.rule, why.reason, NOTE, node.case.file)
    return CaseResult(node.case, SKIPPED, f"{why.rule}: {why.reason}", (note,), node=about)


# ---- the models among the findings of a folder: each runs after the cases, on the inputs next to it


class ReferenceModels(Adapted):
    """The reference engine as an implementation that runs models, node by node."""

    def run_model(self, model: bytes, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        """Return tensors of a model; ValueError for a node that is not computed."""
        import onnx

        proto = onnx.load_from_string(model)
        constants = {tensor.name: tensor for tensor in proto.graph.initializer}
        nodes = ReferenceNodes(Loaded(proto, constants, node_cases(proto, "", constants), inputs), keep)
        problems = [found.reason for _, found in nodes.nodes() if isinstance(found, Uncomputed)]
        if problems:
            raise ValueError(problems[0])
        return {name: nodes.value(name) for name in keep}


class WithModels:
    """The run of cases, and then of models, each node by node and with its nodes together."""

    def __init__(self, cases: Execution, models: list[Target], plan: Plan) -> None:
        made = implementation_of(plan, is_whole=False)
        self.implementation = ReferenceModels(made) if plan.implementation == "reference" else made
        self.cases = cases
        self.models = [self._model(target, plan) for target in models]
        self._now: ModelExecution | None = None

    def _model(self, target: Target, plan: Plan) -> ModelExecution:
        asked = ModelRequest(inputs=inputs_file_of(target.file), is_bisecting=True)
        return ModelExecution(target, plan, asked, implementation=self.implementation)

    @property
    def total(self) -> int:
        """The number of cases of the run; nodes and outputs of models are cases."""
        return self.cases.total + sum(model.total for model in self.models)

    def events(self) -> Iterator[Event]:
        """Yield the events of the cases, then those of each model."""
        try:
            yield from self.cases.events()
            for model in self.models:
                self._now = model
                for event in model.events():
                    yield event._replace(bisected=None) if isinstance(event, Ended) else event
        finally:
            self.implementation.close()

    def slowest(self) -> tuple[str, float] | None:
        """Return the case or node that has run longest, and for how many seconds."""
        return self.cases.slowest() if self._now is None else self._now.slowest()
