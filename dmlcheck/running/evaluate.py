"""Evaluation of the cases of a file by the reference engine, or by another implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.prepare import out_of_memory, prepare
from dmlcheck.cases.records import Case, in_order
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.diagnostics.wording import braces, did_you_mean
from dmlcheck.formats.registry import Opened, cases_in
from dmlcheck.implementations import make
from dmlcheck.implementations.protocol import Implementation, adapted
from dmlcheck.running.computed import Computed, NoOutputs, computed, failed, why_unsupported
from dmlcheck.running.events import is_named
from dmlcheck.running.legality import all_problems
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.literals import Array
from dmlcheck.values.number_formats import NUMPY_TYPES


class Evaluated(NamedTuple):
    """The evaluation of a case, a graph or a command: outputs, each with its data type, or a remark, or diagnostics.

    `undefined` has masks of the undefined elements, for outputs with such elements. The resources that a command
    prints have no name around them. `is_wrong` says that the file is wrong, `is_done` that something was done without
    outputs; `nothing` says why there is nothing to compute.
    """

    name: str | None
    outputs: Mapping[str, tuple[Array, str]] = {}
    remark: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    undefined: Mapping[str, Array] = {}
    is_wrong: bool = False
    is_done: bool = False
    nothing: str | None = None


class EvaluationRequest(NamedTuple):
    """The request of an evaluation: the ids of selected cases, of a file or only one, and the implementation.

    `inputs` is the place of the inputs of a graph or a model, `seed` makes other random ones for a model, and `sizes`
    are those for a model's symbolic dimensions.
    """

    implementation: Implementation
    case: str | None = None
    selected: Callable[[str], bool] = lambda _: True
    inputs: str | None = None
    seed: int = 0
    sizes: Mapping[str, int] = {}


def evaluated_cases(file: Opened, wanted: EvaluationRequest) -> Iterator[Evaluated]:
    """Yield the evaluation of each requested case, if the form of all cases is right."""
    found = cases_in(file)
    named = [case for case in found.cases if wanted.case is None or is_named(case.name, wanted.case)]
    if wanted.case is not None and not named:
        meant = did_you_mean(wanted.case, [case.name for case in found.cases])
        question = f"; {meant}" if meant else ""
        yield Evaluated(None, nothing=f"{file.document.name} has no case {wanted.case}{question}")
    cases = [case for case in named if wanted.selected(case.id)]
    problems = [*found.problems]
    for case in cases:
        problems += all_problems(case, found.broken[case.id]) if case.id in found.broken else ()
    if problems:
        yield Evaluated(None, diagnostics=tuple(problems), is_wrong=True)
    else:
        yield from (evaluate_case(case, wanted.implementation) for case in cases)


def evaluate_case(case: Case, implementation: Any = None) -> Evaluated:
    """Compute one case's outputs on an implementation, by default the reference engine; expected ones are ignored."""
    if case.is_negative:
        return Evaluated(case.name, remark="a negative case: nothing to compute")
    prepared = prepare(case._replace(outputs=None, invalid=None))
    desc, findings = prepared.desc, prepared.findings
    if desc is None or findings:
        return _refused(case, *findings)
    try:
        given = _given(desc, prepared.inputs, adapted(implementation or make("reference")))
    except MemoryError:
        return _refused(case, out_of_memory(desc))
    if isinstance(given, NoOutputs):
        return _refused(case, given.finding) if given.finding else Evaluated(case.name, remark=given.reason)
    outputs = {part.label: (given.values[part.label], part.tensor.data_type) for part in desc.tensors(OUTPUT)}
    return Evaluated(case.name, outputs, undefined=given.is_undefined or {})


def _given(desc: OperatorDesc, inputs: dict[str, Any], implementation: Any) -> Computed | NoOutputs:
    """Return the outputs of a desc, of its sizes and types, or why there are none."""
    unsupported = why_unsupported(desc, implementation)
    if unsupported is not None:
        return unsupported
    given = computed(desc, inputs, [part.label for part in desc.tensors(OUTPUT)], implementation)
    problem = None if isinstance(given, NoOutputs) else _misshapen(desc, given.values)
    return given if problem is None else failed(implementation, problem)


def _misshapen(desc: OperatorDesc, given: Mapping[str, Array]) -> str | None:
    """Return which output has other sizes or another type than its tensor, as the rest of a sentence."""
    for label, tensor in ((part.label, part.tensor) for part in desc.tensors(OUTPUT)):
        found, wanted = given[label], NUMPY_TYPES[tensor.data_type]
        if found.dtype != wanted or found.shape != tensor.sizes:
            shapes = f"{found.dtype} {braces(found.shape)} for {label} instead of {wanted} {braces(tensor.sizes)}"
            return f"returned {shapes}"
    return None


def _refused(case: Case, *findings: Finding) -> Evaluated:
    return Evaluated(case.name, diagnostics=in_order(case.origin, findings))
