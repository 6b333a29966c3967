"""A node of a model judged: its operators of DirectML, computed from the tensors that the implementation gave it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.cases.prepare import value_findings
from dmlcheck.comparison.records import OutputResult
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import braces, cut
from dmlcheck.graphs.compute import step_inputs
from dmlcheck.graphs.records import Graph
from dmlcheck.graphs.tensor_bounds import Carried, off_by
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.models.step_verdict import Named, judge_steps, labelled
from dmlcheck.onnx.descs.graph import graph_of
from dmlcheck.onnx.descs.node import Counterpart, NeverMapped, OnnxNode, Unmapped
from dmlcheck.onnx.model.inner_graphs import steps_of_function
from dmlcheck.onnx.model.node_outputs import forms_of_outputs
from dmlcheck.onnx.model.parts import has_graphs
from dmlcheck.onnx.operators import table
from dmlcheck.onnx.operators.table import exact_steps, provider_steps, row_of
from dmlcheck.onnx.reading import DOMAINS, attributes_of, first_line
from dmlcheck.reference import engine
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.running.verdict import Limits, Verdict
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.layouts import Array, to_bytes
from dmlcheck.values.number_formats import NUMPY_TYPES

ONNX, PROVIDER = "onnx", "provider"  # the two bases of a verdict
_MOST_REASON = 500  # characters
KNOWN_TYPES = frozenset([np.dtype(bool), *map(np.dtype, NUMPY_TYPES.values())])  # of tensors that DirectML has
_MISFITS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError)


class NodeVerdict(NamedTuple):
    """The verdict on a node, the graph that it became, and the basis of the verdict: ONNX or PROVIDER.

    There is no graph if an output lacks the type or the sizes that follow from the node's inputs. `data` has the bytes
    of the inputs, `actual` the implementation's outputs, and `slack` the inputs that it may round first with these
    errors, all by the names of the model.
    """

    verdict: Verdict
    graph: Graph | None
    meaning: str
    data: Mapping[str, Array] = {}
    actual: Mapping[str, Array] = {}
    slack: Mapping[str, Carried] = {}

    @property
    def descs(self) -> tuple[OperatorDesc, ...]:
        """Its operators of DirectML, in order."""
        return () if self.graph is None else tuple(step.desc for step in self.graph.steps)

    @property
    def operators(self) -> tuple[str, ...]:
        """The full names of its operators of DirectML."""
        return tuple(desc.spec.operator for desc in self.descs)

    def steps(self) -> Iterator[tuple[OperatorDesc, dict[str, Any]]]:
        """Yield each operator with its inputs by field: the reference gives the outputs of steps before it."""
        return iter(()) if self.graph is None else operators_of(self.graph, self.data)

    def labelled(self) -> dict[str, Array]:
        """Return the implementation's outputs by the labels of the only desc, {} if there are several."""
        if self.graph is None or len(self.graph.steps) != 1:
            return {}
        return labelled(self.graph.steps[0], self.actual)


def operators_of(graph: Graph, data: Mapping[str, Array]) -> Iterator[tuple[OperatorDesc, dict[str, Any]]]:
    """Yield each operator of a graph with its inputs by field, from the bytes of the graph's own inputs."""
    held = {**graph.constants, **data}
    for number, step in enumerate(graph.steps, start=1):
        inputs = step_inputs(step.desc, {label: held[name] for label, name in step.inputs.items()})
        yield step.desc, inputs
        if number < len(graph.steps):
            values = engine.run(step.desc, inputs)
            written = ((part, step.outputs.get(part.label)) for part in step.desc.tensors(OUTPUT))
            held |= {name: to_bytes(part.tensor, values[part.label]) for part, name in written if name}


class Unjudged(NamedTuple):
    """The reason why a node is not judged: a rule and the words; other sizes may change it unless `is_for_good`."""

    rule: str
    reason: str
    is_for_good: bool = False


def graph_in(found: NodeVerdict | Mapped | Unjudged) -> Graph | None:
    """Return the graph that a node became, None if it has none."""
    return None if isinstance(found, Unjudged) else found.graph


def judge_node(
    node: Any,
    opset: int,
    inputs: Sequence[Array | None],
    outputs: Sequence[Array | None],
    *,
    is_directml: bool,
    limits: Limits,
    file: str = "",
    elements: Mapping[str, str] = {},
) -> NodeVerdict | Unjudged:
    """Judge an implementation's outputs of a node, an onnx.NodeProto, from the inputs that it had.

    Missing inputs and outputs are None. DirectML is judged by the descs that its provider makes of the node, if they
    are known, others by ONNX's meaning. `file` is the model, since likely causes are searched for only the first few
    wrong outputs of a file; `elements` has the types of inputs with 4-bit numbers, which are in bytes.
    """
    ruled = by_rule(node, opset, inputs, outputs)
    if ruled is not None:
        return _misshapen(node, opset, inputs, outputs) or ruled
    early = why_not(node, [*inputs, *outputs]) or _misshapen(node, opset, inputs, outputs)
    if early is not None:
        return early
    mapped = map_node(node, opset, inputs, outputs, is_directml=is_directml, elements=elements)
    if isinstance(mapped, Unjudged):
        return mapped
    given = zip(node.output, outputs, strict=True)
    actual = {name: array for name, array in given if array is not None and name in mapped.graph.outputs}
    try:
        verdict = judge_steps(
            mapped.graph, {**mapped.data, **mapped.slack}, actual, limits, Named(f"{file}::{node.name}", file)
        )
    except (MemoryError, TooMuchWork) as why:
        return Unjudged("too-much-work", cut(str(why), _MOST_REASON) or "the reference engine ran out of memory")
    return NodeVerdict(verdict, mapped.graph, mapped.meaning, mapped.data, actual, mapped.slack)


def by_rule(
    node: Any, opset: int, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> NodeVerdict | Unjudged | None:
    """Return the verdict on the values of a node's first output by a rule of its row, None if there is none."""
    rule, values = row_of(_type(node)).rule, outputs[0] if outputs else None
    if rule is None:
        return None
    if values is None:
        return Unjudged("not-mapped", f"there are no values for output 0 of {node.op_type}")
    try:
        problem = rule(_node(node, opset, inputs, outputs, {}), values)
    except (Unmapped, *_MISFITS) as why:
        return Unjudged("not-mapped", cut(first_line(why), _MOST_REASON))
    finding = Finding("output-mismatch", (), {"tensor": node.output[0], "problem": problem})
    findings = () if problem is None else (finding,)
    return NodeVerdict(Verdict({node.output[0]: OutputResult(values.size, len(findings))}, findings), None, ONNX)


class Mapped(NamedTuple):
    """The graph of a node, its basis, ONNX or PROVIDER, and the bytes of its inputs by name.

    `slack` has the inputs that an implementation may round first, with these errors.
    """

    graph: Graph
    meaning: str
    data: Mapping[str, Array]
    slack: Mapping[str, Carried] = {}


def map_node(
    node: Any,
    opset: int,
    inputs: Sequence[Array | None],
    outputs: Sequence[Array | None],
    *,
    is_directml: bool,
    elements: Mapping[str, str] = {},
) -> Mapped | Unjudged:
    """Return the graph of a node with its actual inputs, or the reason why it has none."""
    try:
        one = _node(node, opset, inputs, outputs, elements)
        meaning, graph = _graph(one, node, is_directml=is_directml)
        refs = {name: x for name, x in zip(node.input, one.inputs, strict=True) if x is not None}
        data = {name: values for name in graph.inputs if (values := refs[name].buffer.bytes) is not None}
        _check_values(graph, data)
    except Unmapped as why:
        return Unjudged("not-mapped", cut(str(why), _MOST_REASON), isinstance(why, NeverMapped))
    except LookupError:
        return Unjudged("not-mapped", "a tensor is of a type that DirectML does not have", is_for_good=True)
    except MemoryError:
        return Unjudged("too-much-work", "the reference engine ran out of memory")
    return Mapped(graph, meaning, data, _slack(one, node, data) if meaning == ONNX else {})


def _slack(one: OnnxNode, node: Any, data: Mapping[str, Array]) -> dict[str, Carried]:
    """Return the inputs of a node that implementations may round before they compute, with these errors."""
    query = row_of(one.type).slack
    found = {} if query is None else query(one)
    made = {}
    for index, errors in found.items():
        name, x = node.input[index], one.input(index)
        values = data[name].view(NUMPY_TYPES[x.data_type])
        made[name] = off_by(x.data_type, values, errors)
    return made


def remark_of(node: Any, opset: int, inputs: Sequence[Array | None], outputs: Sequence[Array | None]) -> str | None:
    """Return the remark on the results of a node, or None."""
    return _said(row_of(_type(node)).remark, node, opset, inputs, outputs)


def deviation_of(node: Any, opset: int, inputs: Sequence[Array | None], outputs: Sequence[Array | None]) -> str | None:
    """Return the known mistake of ONNX Runtime's DirectML provider in a node, or None."""
    return _said(table.deviation_of, node, opset, inputs, outputs)


def _said(
    query: Callable[[OnnxNode], str | None] | None,
    node: Any,
    opset: int,
    inputs: Sequence[Array | None],
    outputs: Sequence[Array | None],
) -> str | None:
    if query is None:
        return None
    try:
        return query(_node(node, opset, inputs, outputs, {}))
    except (Unmapped, LookupError, *_MISFITS):
        return None


def _node(
    node: Any,
    opset: int,
    inputs: Sequence[Array | None],
    outputs: Sequence[Array | None],
    elements: Mapping[str, str],
) -> OnnxNode:
    """Return a node with known inputs, and outputs of which only types and sizes are known."""
    refs: dict[str, TensorRef] = {}
    for name, array in zip(node.input, inputs, strict=True):
        if name and array is not None and name not in refs:
            refs[name] = TensorRef.of(array, elements.get(name))
    given = (None if array is None else TensorRef.of(array).unknown() for array in outputs)
    return OnnxNode(
        _type(node), opset, attributes_of(node, opset), tuple(refs.get(name) for name in node.input), tuple(given)
    )


def _type(node: Any) -> str:
    return node.op_type if node.domain in DOMAINS else f"{node.domain}.{node.op_type}"


def _check_values(graph: Graph, data: Mapping[str, Array]) -> None:
    """Refuse values that an operator does not take, of inputs that no step gives."""
    held = {**graph.constants, **data}
    for step in graph.steps:
        if all(name in held for name in step.inputs.values()):
            inputs = step_inputs(step.desc, {label: held[name] for label, name in step.inputs.items()})
            wrong = value_findings(step.desc, inputs, NEWEST_LEVEL)
            if wrong:
                raise Unmapped(f"{step.desc.spec.operator} does not take it: {wrong[0].message}")


def why_not(node: Any, arrays: Sequence[Array | None]) -> Unjudged | None:
    """Return why a node has no descs, regardless of its operator, or None."""
    if has_graphs(node):
        return Unjudged("not-mapped", "it runs graphs of its own, and DirectML has operators only")
    tensors = [array for array in arrays if array is not None]
    row = row_of(_type(node))
    numbers = row.may_be_empty if len(node.input) > (row.may_be_empty or 0) else None
    full = [array for index, array in enumerate(arrays) if array is not None and index != numbers]
    if any(not array.size for array in full) and not row.leaves_out_empty:
        return Unjudged("runs-elsewhere", "there is nothing to compute: a tensor has no elements")
    odd = next((array.dtype for array in tensors if array.dtype not in KNOWN_TYPES), None)
    if odd is not None:
        reason = f"a tensor has elements of {odd}, which DirectML does not have"
        return Unjudged("not-mapped", reason, is_for_good=True)
    return None


def _misshapen(node: Any, opset: int, inputs: Sequence[Any], outputs: Sequence[Any]) -> NodeVerdict | None:
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
    return NodeVerdict(Verdict(results, tuple(findings)), None, ONNX) if findings else None


def _graph(one: OnnxNode, node: Any, *, is_directml: bool) -> tuple[str, Graph]:
    """Return the graph of a node and its basis; Unmapped if there is none.

    The provider's graph may differ from ONNX's meaning, so it is used only for DirectML.
    """
    ways: dict[str, Callable[[OnnxNode], Sequence[Counterpart]]] = {ONNX: exact_steps, PROVIDER: provider_steps}
    names = [{name: x for name, x in zip(side, tensors, strict=True) if x is not None}
             for side, tensors in ((node.input, one.inputs), (node.output, one.outputs))]  # fmt: skip
    reasons: list[Unmapped] = []
    for meaning in (PROVIDER, ONNX) if is_directml else (ONNX,):
        try:
            graph = graph_of(ways[meaning](one), *names)
            if graph.outputs:
                return meaning, graph
            reasons.append(Unmapped(f"no operator of DirectML gives the outputs of {one.type}"))
        except Unmapped as why:
            reasons.append(why)
        except _MISFITS as error:
            reasons.append(Unmapped(f"{one.type} does not go with its tensors: {first_line(error)}"))
    try:
        graph = graph_of(steps_of_function(node, one, exact_steps), *names)
    except (Unmapped, *_MISFITS):
        raise reasons[0] from None
    if not graph.outputs:
        raise reasons[0]
    return ONNX, graph
