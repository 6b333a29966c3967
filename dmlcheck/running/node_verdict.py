"""A node of a model judged: its operators of DirectML, computed from the tensors that the implementation gave it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck import validation
from dmlcheck.cases.prepare import Prepared, value_findings
from dmlcheck.cases.records import Case
from dmlcheck.comparison.records import OutputResult
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import braces, cut
from dmlcheck.onnx.backend_tests.foreign_models import attributes_of, fields_of, values_of
from dmlcheck.onnx.backend_tests.read import DOMAINS, first_line
from dmlcheck.onnx.descs.node import Array, Counterpart, Node, Refused, UnknownValues
from dmlcheck.onnx.descs.padded import padded
from dmlcheck.onnx.model.node_outputs import forms_of_outputs
from dmlcheck.onnx.model.parts import has_graphs
from dmlcheck.onnx.operators.exact.mapping import imported
from dmlcheck.onnx.operators.provider.mapping import counterparts
from dmlcheck.reference.work import TooMuchWork
from dmlcheck.running.verdict import Limits, Verdict, judge
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import OUTPUT

ONNX, PROVIDER = "onnx", "provider"  # what a node is judged by
_MOST_REASON = 500  # characters
_WITHOUT_EMPTY = ("Concat", "Resize")  # which leave out inputs that have no elements


class Step(NamedTuple):
    """A desc that a node becomes, with its inputs by field."""

    desc: OperatorDesc
    inputs: dict[str, Any]


class Judged(NamedTuple):
    """The verdict on a node, the descs that it became, in order, and what it was judged by: ONNX or PROVIDER.

    There are no descs where an output has not even the type or the sizes that the node's inputs give it. `actual` has
    what the implementation gave by the labels of the only desc, {} where there is not one.
    """

    verdict: Verdict
    steps: tuple[Step, ...]
    meaning: str
    actual: Mapping[str, Array] = {}

    @property
    def operators(self) -> tuple[str, ...]:
        """The full names of its operators of DirectML."""
        return tuple(step.desc.spec.operator for step in self.steps)


class Unjudged(NamedTuple):
    """Why a node is not judged: a rule, and the words."""

    rule: str
    reason: str


def judge_node(
    node: Any,
    opset: int,
    inputs: Sequence[Array | None],
    outputs: Sequence[Array | None],
    *,
    is_directml: bool,
    limits: Limits,
    file: str = "",
) -> Judged | Unjudged:
    """Judge what an implementation gave for a node, an onnx.NodeProto, from the inputs that it had.

    Inputs and outputs that are left out are None. DirectML is judged by the descs that its provider makes of the node,
    where they are known, others by ONNX's meaning. `file` is the model, by which guesses at causes are counted.
    """
    if has_graphs(node):
        return Unjudged("not-mapped", "it runs graphs of its own, and DirectML has operators only")
    tensors = [array for array in (*inputs, *outputs) if array is not None]
    if any(not array.size for array in tensors) and node.op_type not in _WITHOUT_EMPTY:
        return Unjudged("runs-elsewhere", "there is nothing to compute: a tensor has no elements")
    misshapen = _misshapen(node, opset, inputs, outputs)
    if misshapen is not None:
        return misshapen
    try:
        kind = node.op_type if node.domain in DOMAINS else f"{node.domain}.{node.op_type}"
        one = Node(kind, opset, attributes_of(node, opset), tuple(inputs), tuple(outputs))
        meaning, found = _mapped(one, is_directml=is_directml)
        differs = None if is_directml or meaning == ONNX else _difference(one, found)
        return _judged(found, meaning, limits, file) if differs is None else Unjudged("not-mapped", differs)
    except (Refused, TooMuchWork) as why:
        rule = "too-much-work" if isinstance(why, TooMuchWork) else "not-mapped"
        return Unjudged(rule, cut(str(why), _MOST_REASON))
    except MemoryError:
        return Unjudged("too-much-work", "the reference engine ran out of memory")


def _misshapen(node: Any, opset: int, inputs: Sequence[Any], outputs: Sequence[Any]) -> Judged | None:
    """Return the verdict on outputs of another type, or of other sizes, than the inputs give them, or None."""
    forms = forms_of_outputs(node, opset, inputs)
    findings, results = [], {}
    for name, array in zip(node.output, outputs, strict=True):
        form = forms.get(name)
        if form is None or array is None or (array.dtype, array.shape) == form:
            continue
        problem = f"is {array.dtype} {braces(array.shape)}; it must be {form.dtype} {braces(form.sizes)}"
        findings.append(Finding("output-mismatch", (), {"tensor": name, "problem": problem}))
        results[name] = OutputResult(array.size, array.size, shape=problem, sizes=form.sizes)
    return Judged(Verdict(results, tuple(findings)), (), ONNX) if findings else None


def _mapped(node: Node, *, is_directml: bool) -> tuple[str, Counterpart]:
    """Return the operator of a node and by what it is that; Refused, by the first of both, where there is none."""
    ways: dict[str, Callable[[Node], Counterpart]] = {ONNX: imported, PROVIDER: _only_counterpart}
    order = (PROVIDER, ONNX) if is_directml else (ONNX, PROVIDER)
    reasons = []
    for meaning in order:
        try:
            return meaning, ways[meaning](node)
        except (Refused, UnknownValues) as why:
            reasons.append(why)
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
            reasons.append(Refused(f"{node.type} does not go with its tensors: {first_line(error)}"))
    raise next((why for why in reasons if isinstance(why, _Several)), reasons[0])


def _difference(node: Node, found: Counterpart) -> str | None:
    """Return how what the provider computes differs from what ONNX means by an operator, or None."""
    differences = load_spec(full_name(found.operator) or found.operator).differences
    return next((row.text for row in differences if row.name == node.type), None)


class _Several(Refused):
    """A node that becomes several descs, which are not judged together."""


def _only_counterpart(node: Node) -> Counterpart:
    found = [padded(made) for made in counterparts(node)]
    if len(found) != 1:
        operators = ", ".join(made.operator for made in found)
        raise _Several(f"{node.type} becomes {len(found)} descs: {operators}")
    return found[0]


def _judged(found: Counterpart, meaning: str, limits: Limits, file: str) -> Judged:
    """Compare the outputs of an operator; Refused where it does not take what it was given."""
    fields, values = fields_of(found.fields), values_of(found.fields)
    desc, findings = validation.validate(found.operator, fields, NEWEST_LEVEL)
    if desc is None or findings:
        reasons = "; ".join(dict.fromkeys(finding.message for finding in findings))
        raise Refused(f"DML_OPERATOR_{found.operator} does not take it: {reasons}")
    inputs = {field.name: values[field.name] for field in desc.spec.inputs if field.name in values}
    wrong = value_findings(desc, inputs, NEWEST_LEVEL)
    if wrong:
        raise Refused(f"DML_OPERATOR_{found.operator} does not take it: {wrong[0].message}")
    compared = values.keys() - found.uncompared
    given = {field.name: values[field.name] for field in desc.spec.outputs if field.name in compared}
    actual = _by_label(desc, given)
    case = Case("", "", file, desc.spec.operator, None, fields, inputs)
    verdict = judge(case, Prepared(desc, inputs), {**_unseen(desc, inputs, actual), **actual}, limits)
    outputs = {label: output for label, output in verdict.outputs.items() if label in actual}
    return Judged(verdict._replace(outputs=outputs), (Step(desc, inputs),), meaning, actual)


def _unseen(desc: OperatorDesc, inputs: dict[str, Any], actual: Mapping[str, Array]) -> dict[str, Array]:
    """Return the right values of outputs that the node does not give, and that are therefore not compared."""
    labels = [part.label for part in desc.tensors(OUTPUT) if part.label not in actual]
    if not labels:
        return {}
    from dmlcheck.reference import engine

    values = engine.run(desc, inputs)
    return {label: values[label] for label in labels}


def _by_label(desc: OperatorDesc, given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays of fields by the labels of their tensors."""
    return {
        part.label: np.asarray(array)
        for field, values in given.items()
        for part, array in zip(desc.parts[field], values if isinstance(values, list) else [values], strict=True)
    }
