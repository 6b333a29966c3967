"""The outputs of a model as cases: each is compared with the reference's chain, and with the whole model's."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np

from dmlcheck.cases.records import Case
from dmlcheck.comparison.compare import form_problem, has_form, have_equal_bytes
from dmlcheck.diagnostics.record import NOTE, WARNING, Diagnostic, Finding
from dmlcheck.diagnostics.wording import figure
from dmlcheck.graphs.carry import Given
from dmlcheck.models.cases import OF_OUTPUT, TOGETHER, Loaded, ModelOrigin, NodeCase
from dmlcheck.models.chain import (
    Chain,
    OutputVerdict,
    follow_node,
    is_of_sizes,
    is_rough,
    known_arrays,
    mapped_with,
    why_without_graph,
)
from dmlcheck.models.inner_chain import follow_inside
from dmlcheck.models.node_values import NodeTensors
from dmlcheck.models.node_verdict import Mapped, NodeVerdict, Unjudged, graph_in
from dmlcheck.models.process import tensors_of
from dmlcheck.models.step_verdict import Named, judge_steps
from dmlcheck.models.whole_model import as_given, takes_paths
from dmlcheck.onnx.model.parts import has_graphs, join_weights
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.running.computed import NoOutputs
from dmlcheck.running.one_case import ending_of
from dmlcheck.running.results import FAILED, MISSING, NO_ELEMENTS, PASSED, SKIPPED, CaseResult, ModelOutput
from dmlcheck.running.settings import Settings
from dmlcheck.running.verdict import Limits

_Item = TypeVar("_Item")
_MOST_BEHIND = 4  # calls that may be unfinished when the caller goes on; each keeps its arguments alive
_MOST_KEPT = 64 * 2**20  # bytes of the arguments of several such calls
_PATIENCE = 0.5  # seconds between two looks for an interrupt, which Windows does not tell a thread that waits
_OVER: Any = object()


def one_ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """Yield the items of an iterator, of which a thread makes the next one meanwhile.

    Closing the iterator early does not wait for that item.
    """
    pool = ThreadPoolExecutor(1)
    try:
        coming = pool.submit(next, items, _OVER)
        while (item := _result(coming)) is not _OVER:
            coming = pool.submit(next, items, _OVER)
            yield item
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Behind:
    """Calls that a thread makes in their order, a few behind the caller, or one whose arguments are large."""

    def __init__(self) -> None:
        """Prepare; the thread starts with the first call."""
        self._pool = ThreadPoolExecutor(1)
        self._calls: deque[tuple[int, Future[object]]] = deque()

    def call(self, function: Callable[..., object], *args: Any, size: int = 0) -> None:
        """Make a call later, whose arguments take `size` bytes; a later call, or the end, raises its exception."""
        self._calls.append((size, self._pool.submit(function, *args)))
        while len(self._calls) > _MOST_BEHIND or (len(self._calls) > 1 and self._kept() > _MOST_KEPT):
            self._wait()

    def _kept(self) -> int:
        return sum(size for size, _ in self._calls)

    def finish(self) -> None:
        """Wait for all calls."""
        while self._calls:
            self._wait()

    def _wait(self) -> None:
        _, first = self._calls.popleft()
        _result(first)

    def close(self) -> None:
        """Let the thread end after its present call."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[Any]) -> Any:
    while not wait([future], _PATIENCE).done:
        pass
    return future.result()


# ---- the outputs


def output_cases(model: Loaded, file: str) -> tuple[Case, ...]:
    """Return the outputs of a model as cases."""
    origin = ModelOrigin(file)
    names = (OF_OUTPUT + value.name for value in model.proto.graph.output)
    return tuple(Case(f"{file}::{name}", name, file, "", None, {}, origin=origin) for name in names)


class ModelOutputs:
    """The reference's chain through a model, built node by node, and the verdicts on the outputs."""

    def __init__(
        self,
        model: Loaded,
        cases: Collection[Case],
        limits: Limits,
        settings: Settings,
        *,
        is_directml: bool,
        recorded: Mapping[str, Any] | None = None,
    ) -> None:
        """Follow a model for the cases of some of its outputs; for none nothing is computed.

        `recorded` are those of a run elsewhere; without it the nodes give them.
        """
        self.model = model
        self.cases = tuple(cases)
        self.settings = settings
        self.is_directml = is_directml
        self._chains = [Chain(known_arrays(model.inputs), limits)]  # and one that takes choices, if there are hard ones
        self._behind = Behind()
        self.wanted = frozenset(case.name.removeprefix(OF_OUTPUT) for case in cases)
        self.last = {name: node.case.name for node in model.nodes for name in node.reads}
        self.actual: dict[str, Any] = {} if recorded is None else known_arrays(recorded)
        self._stood_in: dict[str, Any] = {}  # the reference's outputs in place of nodes that recorded nothing
        self._wrong: set[str] = set()  # the tensors that follow from nodes that are wrong
        self.help = _HELP if recorded is None else _HELP_RECORDED

    @property
    def chain(self) -> Chain:
        """The chain up to the last node that was taken."""
        self._behind.finish()
        return self._chains[0]

    def output(self, name: str, actual: Any) -> OutputVerdict | None:
        """Compare an output of the model with the chain's, or, where that is of no use, with one that follows choices.

        None if the chain does not have it.
        """
        if name not in self.chain.held:
            return None
        found = [chain.output(name, actual, len(self.model.nodes)) for chain in self._chains]
        return next((one for one in found if one.reason is None), found[-1])

    def choice_before(self, name: str) -> str | None:
        """Return the node before an output of which a chain took the implementation's results, or None."""
        self._behind.finish()
        return next((chain.chosen[name] for chain in self._chains if name in chain.chosen), None)

    def close(self) -> None:
        """Go on no more."""
        self._behind.close()

    def follow(self, node: NodeCase, values: NodeTensors, verdict: NodeVerdict | Unjudged | None) -> None:
        """Take a node with its tensors; without a verdict it is mapped only for the chain.

        The chain follows in a thread of its own.
        """
        if not self.cases:
            return
        outputs = {name: values.tensors[name] for name in node.node.output if name in values.tensors}
        arrays = known_arrays(outputs)
        if values.is_stood_in:
            self._stood_in.update((name, array) for name, array in arrays.items() if name in self.wanted)
        if values.is_own:  # otherwise the reference stands in
            self.actual.update((name, array) for name, array in arrays.items() if name in self.wanted)
        size = sum(array.nbytes for array in known_arrays(values.tensors).values())
        self._behind.call(self._follow, node, values, verdict, arrays, size=size)

    def _follow(
        self,
        node: NodeCase,
        values: NodeTensors,
        verdict: NodeVerdict | Unjudged | None,
        arrays: Mapping[str, Any],
    ) -> None:
        """Take a node into the chain, and drop what no node reads any more; `arrays` are its outputs."""
        inputs = known_arrays({name: values.tensors[name] for name in node.reads if name in values.tensors})
        follows_wrong = not self._wrong.isdisjoint(node.reads)
        if follows_wrong or _is_wrong(verdict):
            self._wrong.update(node.node.output)
        for chain in tuple(self._chains):
            mapped = self._take(chain, node, values, verdict, arrays, inputs)
            errors = chain.uncertain(arrays, is_rough=is_rough(chain, mapped))
            is_possible = values.is_own and not follows_wrong and self._is_choice(chain, errors.values())
            if is_possible and chain.allows(inputs) and self._is_right(mapped, arrays):
                if chain is self._chains[0]:
                    self._chains.append(chain.copy())
                self._chains[1].choose(node.case.name, {name: arrays[name] for name in errors})
        done = (
            name for name in (*node.reads, *node.node.output) if self.last.get(name, node.case.name) == node.case.name
        )
        dropped = [name for name in done if name not in self.wanted]
        for chain in self._chains:
            chain.drop(dropped)

    def _is_choice(self, chain: Chain, errors: Collection[float]) -> bool:
        """Whether roundings change numbers so much that a second chain begins, or at all in the second one."""
        if chain is not self._chains[0]:
            return bool(errors)
        return len(self._chains) == 1 and any(not error <= _HARD for error in errors)

    def _is_right(self, mapped: Mapped | NodeVerdict | Unjudged, actual: Mapping[str, Any]) -> bool:
        """Whether a node's outputs are right from the inputs that it had."""
        if isinstance(mapped, Mapped):
            known = {name: actual[name] for name in mapped.graph.outputs if name in actual}
            given: Given = {**mapped.data, **mapped.slack}
            try:
                return not judge_steps(mapped.graph, given, known, self._chains[0].limits, Named("", "")).findings
            except (MemoryError, TooMuchWork):
                return False
        return isinstance(mapped, NodeVerdict) and not mapped.verdict.findings

    def _take(
        self,
        chain: Chain,
        node: NodeCase,
        values: NodeTensors,
        verdict: NodeVerdict | Unjudged | None,
        arrays: Mapping[str, Any],
        inputs: Mapping[str, Any],
    ) -> Mapped | NodeVerdict | Unjudged:
        """Take a node into a chain, and return its graph, with its verdict if it has one."""
        mapped = verdict if verdict is not None and values.is_own else self._mapped(node, values)
        if has_graphs(node.node) and values.nothing is None:
            before = len(chain.chosen)
            self._follow_inside(chain, node, values, arrays)
            chain.follow_choices([*chain.chosen][before:], arrays)
        elif graph_in(mapped) is None and not is_of_sizes(node) and not chain.allows(inputs):
            chain.give_up(arrays, f"{node.case.name} is not computed: {why_without_graph(mapped)}")
        else:
            follow_node(chain, node, mapped, arrays, self.model)
        chain.follow_choices(node.reads, arrays)
        known = () if isinstance(verdict, Unjudged) or verdict is None else verdict.verdict.known
        if known and not all(row.errors for row in known):  # which are among the tolerances
            chain.give_up(arrays, f"{node.case.name} is off in a known way")
        if isinstance(verdict, NodeVerdict):
            chain.note(node.case.name, verdict.verdict.outputs, arrays)
        return mapped

    def _follow_inside(self, chain: Chain, node: NodeCase, values: NodeTensors, arrays: Mapping[str, Any]) -> None:
        """Take a node with graphs of its own; as it is where they cannot be followed, or give something else."""
        made = follow_inside(chain, node, values.tensors, self.model)
        if isinstance(made, Unjudged):
            follow_node(chain, node, made, arrays, self.model)
        elif any(getattr(made.get(name), "shape", None) != array.shape for name, array in arrays.items()):
            chain.give_up(arrays, f"{node.case.name} gives other sizes than the reference")

    def _mapped(self, node: NodeCase, values: NodeTensors) -> Mapped | NodeVerdict | Unjudged:
        if values.skipped is not None and not values.is_stood_in:
            return values.skipped
        if values.nothing is not None and not all(name in values.tensors for name in node.node.output if name):
            return Unjudged("missing-tensor", "the implementation gave nothing for it")
        return mapped_with(node, values.tensors, self.model, is_directml=self.is_directml)

    def results(self, chosen: Collection[str]) -> Iterator[CaseResult]:
        """Yield the results of the outputs whose cases have some names, in the order of the model."""
        for case in self.cases:
            if case.name not in chosen:
                continue
            start = time.perf_counter()
            yield self._of_case(case)._replace(seconds=time.perf_counter() - start)

    def _of_case(self, case: Case) -> CaseResult:
        name = case.name.removeprefix(OF_OUTPUT)
        actual, instead = self.actual.get(name, self.model.inputs.get(name)), self._stood_in.get(name)
        if actual is not None and instead is not None and not has_form(actual, instead):
            return _failed(case, name, form_problem(actual, instead), help=self.help)
        judged = None if actual is None else self.output(name, actual)
        if judged is not None and actual is not None:
            empty = CaseResult(case, SKIPPED, NO_ELEMENTS, output=ModelOutput(name, None, None))
            return self._result(case, judged) if actual.size else empty
        is_constant = name in self.model.constants
        why = _CONSTANT if is_constant else Unjudged(MISSING, "the implementation gave nothing for it")
        note = Diagnostic(why.rule, why.reason, NOTE, case.file)
        output = None if is_constant else ModelOutput(name, None, None)
        return CaseResult(case, SKIPPED, f"{why.rule}: {why.reason}", (note,), output=output)

    def _result(self, case: Case, found: OutputVerdict) -> CaseResult:
        shares = tuple((share.node, share.share) for share in self.chain.shares())
        output = ModelOutput(found.name, _finite(found.error), _finite(found.tolerance), shares, found.choice)
        if found.reason is not None:
            reason = f"{found.reason}; {_error_text(found.error)}"
            note = Diagnostic("unlimited-tolerance", reason, NOTE, case.file)
            return CaseResult(case, SKIPPED, reason, (note,), found.verdict.outputs, output=output)
        ending = ending_of(found.verdict, self.settings)
        diagnostics = tuple(map(case.origin.diagnostic, ending.findings))
        if ending.outcome == PASSED:
            diagnostics = tuple(one._replace(severity=WARNING) for one in diagnostics)
        if ending.outcome == FAILED and diagnostics:
            diagnostics = (diagnostics[0]._replace(help=self.help), *diagnostics[1:])
        return CaseResult(case, ending.outcome, ending.reason, diagnostics, ending.outputs, output=output)


_HARD = 2.0  # whole numbers that may be more than this off widen what follows until it is of no use
_CONSTANT = Unjudged("not-mapped", "it is a constant of the model, which no node computes")
_HELP = "look at the nodes that fail; if none does, run with --bisect"
_HELP_RECORDED = "look at the nodes that fail; those that are skipped are judged if their tensors are recorded, too"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _error_text(error: float) -> str:
    """Return how far an output is from the reference's."""
    if not math.isfinite(error):
        return "the error is not finite"
    return "no error is measured" if error == 0 else f"the largest error is {figure(error)} of the largest element"


def _is_wrong(verdict: NodeVerdict | Unjudged | None) -> bool:
    return isinstance(verdict, NodeVerdict) and bool(verdict.verdict.findings) and not verdict.verdict.known


# ---- a model run once as a whole with only its outputs kept, which are compared with those of its separate nodes


_HELP_TOGETHER = "run with --bisect: it finds the smallest group of nodes that is wrong only together"


def together_case(file: str) -> Case:
    """Return the case of a model that runs as a whole."""
    return Case(f"{file}::{TOGETHER}", TOGETHER, file, "", None, {}, origin=ModelOrigin(file))


def outputs_together(model: Loaded, path: str, names: list[str], implementation: Any) -> Mapping[str, Any] | NoOutputs:
    """Return outputs of a model that runs as a whole: of its file, or, for who takes no paths, of its bytes."""
    if takes_paths(implementation):
        return tensors_of(path, model.inputs, names, implementation, is_optimized=True)
    whole = model.proto if model.proto.graph.initializer else join_weights(model.proto, model.constants)
    with as_given(whole) as given:
        if isinstance(given, str):
            return NoOutputs("it takes models of up to 2 GiB")
        return tensors_of(given, model.inputs, names, implementation, is_optimized=True)


def together_result(
    case: Case, model: Loaded, found: Mapping[str, Any] | NoOutputs, outputs: ModelOutputs
) -> CaseResult:
    """Compare the outputs of a model that ran as a whole with those of its separate nodes.

    A difference within the tolerance of the chain is none.
    """
    if isinstance(found, NoOutputs):
        why = found.finding.message if found.finding else found.reason
        return not_together(case, f"the whole model does not run: {why}")
    if not found:
        return not_together(case, "none of its outputs can be compared")
    reasons = []
    for name, actual in found.items():
        judged = _judged_together(case, name, actual, outputs)
        drawn = model.random_before(name) if isinstance(judged, CaseResult) else None
        if drawn is not None:
            judged = f"{name} is another one in each run: {drawn} draws random numbers"
        if isinstance(judged, CaseResult):
            return judged
        reasons += [judged] if judged else []
    return not_together(case, "; ".join(reasons)) if reasons else CaseResult(case, PASSED)


def _follows(choice: str) -> str:
    return f"follows from what {choice} chooses or rounds"


def _judged_together(case: Case, name: str, actual: Any, outputs: ModelOutputs) -> CaseResult | str:
    """Return the failure of an output, or the reason why it is not judged; "" where it is as that of the nodes."""
    alone = outputs.actual[name]
    if not (isinstance(actual, np.ndarray) and isinstance(alone, np.ndarray)):
        return f"{name} is no tensor"
    if not has_form(actual, alone):
        problem = f"is {_form(actual)} when the whole model runs; the nodes alone give {_form(alone)}"
        choice = outputs.choice_before(name) if (actual.dtype, actual.ndim) == (alone.dtype, alone.ndim) else None
        return _failed(case, name, problem) if choice is None else f"{name} {problem}, and {_follows(choice)}"
    if have_equal_bytes(alone, actual):
        return ""
    distance = f"differs by {_difference(actual, alone)} when the whole model runs"
    by_whole, by_nodes = (outputs.output(name, values) for values in (actual, alone))
    if by_whole is None or by_nodes is None:
        return f"{name} {distance}"
    return _by_the_chain(case, name, distance, by_whole, by_nodes)


def _by_the_chain(case: Case, name: str, distance: str, whole: OutputVerdict, alone: OutputVerdict) -> CaseResult | str:
    """Judge an output that differs; within the tolerance of the chain it need not be equal."""
    if whole.reason is not None:
        return f"{name} {distance}, and {whole.reason}"
    if not whole.verdict.findings:
        return ""
    if alone.verdict.findings:
        return f"{name} {distance}, and is wrong when each node runs alone, too"
    if whole.choice is not None:
        return f"{name} {distance}, and {_follows(whole.choice)}"
    return _failed(case, name, f"{distance}: it is right when each node runs alone", whole)


def _form(values: Any) -> str:
    return f"{values.dtype} {list(values.shape)}"


def _difference(actual: Any, alone: Any) -> str:
    """Return the largest difference of two outputs as a share of the largest element, in words."""
    if actual.dtype.kind not in "fiub":
        return "its values"
    with np.errstate(all="ignore"):
        one, other = (values.astype(np.float64) for values in (actual, alone))
        off, size = np.abs(one - other), np.abs(other)
        largest = float(size[np.isfinite(size)].max(initial=0.0))
        most = float(off[np.isfinite(off)].max(initial=0.0))
    if not np.isfinite(off).all() and not most:
        return "values that are not finite"
    return f"{figure(most / largest)} of the largest element" if largest else figure(most)


def _failed(
    case: Case, name: str, problem: str, output: OutputVerdict | None = None, help: str = _HELP_TOGETHER
) -> CaseResult:
    finding = Finding("output-mismatch", (), {"tensor": name, "problem": problem}, help=help)
    found = () if output is None else output.verdict.findings
    outputs = {} if output is None else output.verdict.outputs
    return CaseResult(case, FAILED, "output mismatch", tuple(map(case.origin.diagnostic, (finding, *found))), outputs)


def not_together(case: Case, reason: str) -> CaseResult:
    """Return the case of a model that is not judged as a whole."""
    return CaseResult(case, SKIPPED, reason, (Diagnostic("unlimited-tolerance", reason, NOTE, case.file),))
