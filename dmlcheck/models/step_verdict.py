"""The implementation's outputs for a graph of steps, compared with the reference's for the same inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.cases.prepare import Prepared
from dmlcheck.cases.records import Case
from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.records import OutputResult
from dmlcheck.comparison.tolerances import Limit
from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.graphs.carry import Given, carried, constants_of
from dmlcheck.graphs.compute import step_inputs
from dmlcheck.graphs.records import Graph, Step
from dmlcheck.graphs.tensor_bounds import Carried
from dmlcheck.graphs.tensors import element_of
from dmlcheck.reference.bindings import row
from dmlcheck.reference.bounds import Bound
from dmlcheck.reference.rows import VARIANCE
from dmlcheck.running.verdict import Limits, Verdict, judge, verdict_of
from dmlcheck.specs.records import OUTPUT
from dmlcheck.validation.deviations import of_peer
from dmlcheck.values.layouts import Array, from_bytes, to_bytes
from dmlcheck.values.number_formats import NUMPY_TYPES


class Named(NamedTuple):
    """The case in a report's words: its id, and its file."""

    id: str
    file: str


def judge_steps(graph: Graph, data: Given, actual: Mapping[str, Array], limits: Limits, named: Named) -> Verdict:
    """Compare the outputs of a graph with the reference's, whose tolerance is carried through its steps.

    `data` has the bytes of the inputs, or their bounds, `actual` the outputs as arrays, by name. TooMuchWork and
    MemoryError if the reference cannot compute a step.
    """
    held = {**constants_of(graph), **data}
    exact = {name: x for name, x in held.items() if not isinstance(x, Carried)}
    if len(graph.steps) == 1 and len(exact) == len(held):
        return _judged_alone(graph.steps[0], exact, actual, limits, named)
    limit = limit_of(graph, limits)
    verdict = _judged_together(graph, held, actual, limit)
    found = (row for step in graph.steps for row in of_peer(step.desc, limits.peer) if row.errors)
    rows = {row.text: row for row in found}
    if not (rows and verdict.findings):
        return verdict
    wider = _judged_together(graph, held, actual, limit._replace(precision=limit.precision._replace(peer=limits.peer)))
    return verdict if wider.findings else verdict._replace(known=tuple(rows.values()))


def _judged_together(graph: Graph, held: Given, actual: Mapping[str, Array], limit: Limit) -> Verdict:
    made = carried(graph.steps, held, graph.outputs, limit.precision)
    return judge_carried({name: made[name] for name in graph.outputs}, actual, limit)


def limit_of(graph: Graph, limits: Limits) -> Limit:
    """Return the tolerance of the outputs of several steps: the one that follows from their formulas."""
    has_variance = any(row(step.desc.spec.operator).kernel.sums == VARIANCE for step in graph.steps)
    whose = f"the formulas of {len(graph.steps)} operators, one after the other"
    return limits.of_formula(whose, is_capped=not has_variance)


def judge_carried(right: Mapping[str, Carried], actual: Mapping[str, Array], limit: Limit) -> Verdict:
    """Compare outputs with the bounds carried to them; truth values are bytes."""
    found = {name: as_numbers(actual[name]) for name in right}
    expected = {name: _expected(right[name], found[name]) for name in right}

    def bounds(asked: Mapping[str, Any], *, is_likely: bool = False) -> Iterator[tuple[str, Array, Bound]]:
        for name, differs in asked.items():
            at = np.flatnonzero(differs[()])
            yield name, at, _bound(right[name], at, is_likely=is_likely)

    compared = compare(expected, found, limit, bounds)
    return verdict_of({name: output for name, (output, _) in compared.items()})


def as_numbers(values: Array) -> Array:
    """Return values with at least one dimension, truth values as 0 and 1."""
    values = np.ascontiguousarray(values).reshape(values.shape or (1,))
    return values.view(np.uint8) if values.dtype == bool else values


def _expected(right: Carried, found: Array) -> tuple[TensorDesc, Array]:
    """Return the tensor of an output, and its values, rounded to its type."""
    dtype = NUMPY_TYPES[right.data_type]
    value = right.value[: found.size].reshape(found.shape)
    with np.errstate(all="ignore"):
        is_rounded = dtype.kind == "f" or value.dtype.kind != "f"
        values = (value if is_rounded else np.rint(np.nan_to_num(value))).astype(dtype)
    return TensorDesc(right.data_type, found.shape), values


def _bound(right: Carried, at: Array, *, is_likely: bool) -> Bound:
    side = right.likely if is_likely else right.radius
    radius = np.zeros(at.shape) if side is None else side[at]
    unlimited = ~np.isfinite(radius)
    is_undefined = np.zeros(at.shape, dtype=bool)
    radius = np.where(np.isnan(radius), np.inf, radius)
    bound = Bound(right.value[at], radius, is_undefined, right.terms, is_rounded=side is not None)
    return bound._replace(unlimited=unlimited) if unlimited.any() else bound


# ---- one step


def _judged_alone(
    step: Step, held: Mapping[str, Array], actual: Mapping[str, Array], limits: Limits, named: Named
) -> Verdict:
    """Compare the outputs of one operator as a case's outputs, and call them by their names in the graph."""
    desc = step.desc
    inputs = step_inputs(desc, {label: held[name] for label, name in step.inputs.items()})
    case = Case(named.id, named.id, named.file, desc.spec.operator, None, {}, inputs)
    verdict = judge(case, Prepared(desc, inputs), labelled(step, actual), limits)
    return _renamed(verdict, {label: name for label, name in step.outputs.items() if name in actual})


def labelled(step: Step, actual: Mapping[str, Array]) -> dict[str, Array]:
    """Return outputs of a graph by the labels of the step that writes them, in the types and sizes of its tensors."""
    given = {}
    for part in step.desc.tensors(OUTPUT):
        name = step.outputs.get(part.label, "")
        if name in actual:
            values = as_numbers(actual[name])
            data = to_bytes(TensorDesc(element_of(values.dtype), values.shape), values)
            given[part.label] = from_bytes(part.tensor, data)
    return given


def _renamed(verdict: Verdict, names: Mapping[str, str]) -> Verdict:
    """Return a verdict with the outputs' names in the graph instead of their labels in the desc."""

    def renamed(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        return tuple(
            found._replace(path=(), params={**found.params, "tensor": names[found.params["tensor"]]})
            if found.params.get("tensor") in names
            else found
            for found in findings
        )

    outputs: dict[str, OutputResult] = {names.get(label, label): output for label, output in verdict.outputs.items()}
    return verdict._replace(
        outputs=outputs,
        findings=renamed(verdict.findings),
        unlikely=renamed(verdict.unlikely),
        unlimited=renamed(verdict.unlimited),
    )
