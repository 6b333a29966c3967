"""The outputs of a model as cases: each against the reference's way through the whole model."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import NOTE, WARNING, Diagnostic
from dmlcheck.diagnostics.wording import figure
from dmlcheck.running.model_cases import Loaded, ModelOrigin, NodeCase
from dmlcheck.running.model_chain import Chain, OutputVerdict
from dmlcheck.running.node_values import Values, arrays_of
from dmlcheck.running.node_verdict import KNOWN_TYPES, Judged, Mapped, Unjudged, map_node
from dmlcheck.running.one_case import Settings, ending_of
from dmlcheck.running.results import FAILED, PASSED, SKIPPED, CaseResult, ModelOutput
from dmlcheck.running.verdict import Limits

PREFIX = "output:"  # of the names of their cases
_OF_SIZES = ("Shape", "Size")


def output_cases(model: Loaded, file: str) -> tuple[Case, ...]:
    """Return the outputs of a model as cases."""
    origin = ModelOrigin(file)
    names = (PREFIX + value.name for value in model.proto.graph.output)
    return tuple(Case(f"{file}::{name}", name, file, "", None, {}, origin=origin) for name in names)


class ModelOutputs:
    """The chain of the reference through a model, as its nodes go by, and what becomes of the outputs."""

    def __init__(
        self, model: Loaded, cases: Collection[Case], limits: Limits, settings: Settings, *, is_directml: bool
    ) -> None:
        """Follow a model for the cases of some of its outputs; for none nothing is computed."""
        self.model = model
        self.cases = tuple(cases)
        self.settings = settings
        self.is_directml = is_directml
        self.chain = Chain({name: x for name, x in model.inputs.items() if _is_known(x)}, limits)
        self.wanted = frozenset(case.name.removeprefix(PREFIX) for case in cases)
        self.last = {name: node.case.name for node in model.nodes for name in node.reads}
        self.actual: dict[str, Any] = {}

    def follow(self, node: NodeCase, values: Values, verdict: Judged | Unjudged | None) -> None:
        """Take in a node with its tensors; without a verdict it is mapped for the chain alone."""
        if not self.cases:
            return
        outputs = {name: values.tensors[name] for name in node.node.output if name in values.tensors}
        arrays = {name: array for name, array in outputs.items() if _is_known(array)}
        self.actual.update((name, array) for name, array in arrays.items() if name in self.wanted)
        mapped = self._mapped(node, values) if verdict is None or values.nothing is not None else verdict
        if isinstance(mapped, Unjudged) or mapped.graph is None:
            why = (
                mapped.reason if isinstance(mapped, Unjudged) else "its outputs have not the sizes that they must have"
            )
            reads = [name for name in node.reads if name not in self.model.constants]
            is_of_sizes = node.node.op_type in _OF_SIZES and not node.node.domain
            self.chain.take(node.case.name, reads, arrays, why, is_of_sizes=is_of_sizes)
        else:
            constants = {name: data for name, data in mapped.data.items() if name in self.model.constants}
            self.chain.add(node.case.name, mapped.graph, arrays, constants)
        if isinstance(verdict, Judged):
            self.chain.note(node.case.name, verdict.verdict.outputs, arrays)
        done = (name for name in (*node.reads, *outputs) if self.last.get(name, node.case.name) == node.case.name)
        self.chain.drop(name for name in done if name not in self.wanted)

    def _mapped(self, node: NodeCase, values: Values) -> Mapped | Unjudged:
        if values.skipped is not None:
            return values.skipped
        if values.nothing is not None and not all(name in values.tensors for name in node.node.output if name):
            return Unjudged("missing-tensor", "the implementation gave nothing for it")
        inputs = arrays_of(node.node.input, values.tensors, self.model)
        outputs = arrays_of(node.node.output, values.tensors, self.model)
        if isinstance(inputs, Unjudged) or isinstance(outputs, Unjudged):
            return Unjudged("not-mapped", "a tensor of it is a sequence, or nothing")
        elements = {name: kind for name in node.reads if (kind := self.model.four_bits(name)) is not None}
        opset = self.model.opset(node.node)
        return map_node(node.node, opset, inputs, outputs, is_directml=self.is_directml, elements=elements)

    def results(self) -> Iterator[CaseResult]:
        """Yield what became of the outputs, in the order of the model."""
        for case in self.cases:
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


_HELP = "look at the nodes that fail; if none does, run with --whole --bisect"


def _is_known(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype in KNOWN_TYPES


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _error_text(error: float) -> str:
    """Say how far an output is from the reference's."""
    if not math.isfinite(error):
        return "the error is not finite"
    return "nothing is off" if error == 0 else f"the largest error is {figure(error)} of the largest element"
