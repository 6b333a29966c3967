"""The outputs of a model as cases: each is compared with the reference's chain through the whole model."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import NOTE, WARNING, Diagnostic
from dmlcheck.diagnostics.wording import figure
from dmlcheck.running.model_cases import Loaded, ModelOrigin, NodeCase
from dmlcheck.running.model_chain import Chain, OutputVerdict
from dmlcheck.running.node_values import NodeTensors, arrays_of
from dmlcheck.running.node_verdict import KNOWN_TYPES, Mapped, NodeVerdict, Unjudged, map_node
from dmlcheck.running.one_case import ending_of
from dmlcheck.running.results import FAILED, PASSED, SKIPPED, CaseResult, ModelOutput
from dmlcheck.running.settings import Settings
from dmlcheck.running.verdict import Limits

PREFIX = "output:"  # of the names of their cases
_OF_SIZES = ("Shape", "Size")


def output_cases(model: Loaded, file: str) -> tuple[Case, ...]:
    """Return the outputs of a model as cases."""
    origin = ModelOrigin(file)
    names = (PREFIX + value.name for value in model.proto.graph.output)
    return tuple(Case(f"{file}::{name}", name, file, "", None, {}, origin=origin) for name in names)


class ModelOutputs:
    """The reference's chain through a model, built node by node, and the verdicts on the outputs."""

    def __init__(
        self, model: Loaded, cases: Collection[Case], limits: Limits, settings: Settings, *, is_directml: bool
    ) -> None:
        """Follow a model for the cases of some of its outputs; for none nothing is computed."""
        self.model = model
        self.cases = tuple(cases)
        self.settings = settings
        self.is_directml = is_directml
        self.chain = Chain(known_arrays(model.inputs), limits)
        self.wanted = frozenset(case.name.removeprefix(PREFIX) for case in cases)
        self.last = {name: node.case.name for node in model.nodes for name in node.reads}
        self.actual: dict[str, Any] = {}

    def follow(self, node: NodeCase, values: NodeTensors, verdict: NodeVerdict | Unjudged | None) -> None:
        """Take a node with its tensors; without a verdict it is mapped for the chain alone."""
        if not self.cases:
            return
        outputs = {name: values.tensors[name] for name in node.node.output if name in values.tensors}
        arrays = known_arrays(outputs)
        self.actual.update((name, array) for name, array in arrays.items() if name in self.wanted)
        mapped = self._mapped(node, values) if verdict is None or values.nothing is not None else verdict
        follow_node(self.chain, node, mapped, arrays, self.model)
        if isinstance(verdict, NodeVerdict):
            self.chain.note(node.case.name, verdict.verdict.outputs, arrays)
        done = (name for name in (*node.reads, *outputs) if self.last.get(name, node.case.name) == node.case.name)
        self.chain.drop(name for name in done if name not in self.wanted)

    def _mapped(self, node: NodeCase, values: NodeTensors) -> Mapped | Unjudged:
        if values.skipped is not None:
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
            name = case.name.removeprefix(PREFIX)
            actual = self.actual.get(name, self.model.inputs.get(name))
            if actual is None or name not in self.chain.held:
                note = Diagnostic("missing-tensor", "the implementation gave nothing for it", NOTE, case.file)
                yield CaseResult(case, SKIPPED, f"missing-tensor: {note.message}", (note,))
                continue
            result = self._result(case, self.chain.output(name, actual, len(self.model.nodes)))
            yield result._replace(seconds=time.perf_counter() - start)

    def _result(self, case: Case, found: OutputVerdict) -> CaseResult:
        shares = tuple((share.node, share.share) for share in self.chain.shares())
        output = ModelOutput(found.name, _finite(found.error), _finite(found.tolerance), shares)
        if found.reason is not None:
            reason = f"{found.reason}; {_error_text(found.error)}"
            note = Diagnostic("unlimited-tolerance", reason, NOTE, case.file)
            return CaseResult(case, SKIPPED, reason, (note,), found.verdict.outputs, output=output)
        ending = ending_of(found.verdict, self.settings)
        diagnostics = tuple(map(case.origin.diagnostic, ending.findings))
        if ending.outcome == PASSED:
            diagnostics = tuple(one._replace(severity=WARNING) for one in diagnostics)
        if ending.outcome == FAILED and diagnostics:
            diagnostics = (diagnostics[0]._replace(help=_HELP), *diagnostics[1:])
        return CaseResult(case, ending.outcome, ending.reason, diagnostics, ending.outputs, output=output)


def mapped_with(node: NodeCase, tensors: Mapping[str, Any], model: Loaded, *, is_directml: bool) -> Mapped | Unjudged:
    """Return the graph of a node with the tensors that it read and gave, or why it has none."""
    inputs = arrays_of(node.node.input, tensors, model)
    outputs = arrays_of(node.node.output, tensors, model)
    if isinstance(inputs, Unjudged) or isinstance(outputs, Unjudged):
        return Unjudged("not-mapped", "one of its tensors is a sequence, or missing")
    elements = {name: kind for name in node.reads if (kind := model.four_bits(name)) is not None}
    return map_node(node.node, model.opset(node.node), inputs, outputs, is_directml=is_directml, elements=elements)


def follow_node(
    chain: Chain, node: NodeCase, mapped: Mapped | NodeVerdict | Unjudged, actual: Mapping[str, Any], model: Loaded
) -> None:
    """Take a node into a chain; `actual` are the arrays that the implementation gave for it."""
    if isinstance(mapped, Unjudged) or mapped.graph is None:
        why = mapped.reason if isinstance(mapped, Unjudged) else "its outputs do not have the sizes that they must have"
        reads = [name for name in node.reads if name not in model.constants]
        chain.take(node.case.name, reads, actual, why, is_of_sizes=is_of_sizes(node))
    else:
        constants = {name: data for name, data in mapped.data.items() if name in model.constants}
        chain.add(node.case.name, mapped.graph, actual, constants)


def is_of_sizes(node: NodeCase) -> bool:
    """Whether a node's outputs depend on the sizes of its inputs alone."""
    return node.node.op_type in _OF_SIZES and not node.node.domain


def known_arrays(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tensors that are arrays of types that DirectML has."""
    return {name: array for name, array in tensors.items() if _is_known(array)}


_HELP = "look at the nodes that fail; if none does, run with --bisect"


def _is_known(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype in KNOWN_TYPES


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _error_text(error: float) -> str:
    """Return how far an output is from the reference's."""
    if not math.isfinite(error):
        return "the error is not finite"
    return "nothing is off" if error == 0 else f"the largest error is {figure(error)} of the largest element"
