"""The reference's chain through a whole model: the balls of its outputs, with all roundings from its inputs on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.comparison.records import OutputResult
from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, collected
from dmlcheck.diagnostics.wording import figure
from dmlcheck.graphs.carry import Given, carried, constants_of
from dmlcheck.graphs.compute import Results, run_steps
from dmlcheck.graphs.records import Graph
from dmlcheck.graphs.tensor_bounds import Carried
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.models.cases import Loaded, NodeCase
from dmlcheck.models.node_values import arrays_of
from dmlcheck.models.node_verdict import KNOWN_TYPES, Mapped, NodeVerdict, Unjudged, by_rule, graph_in, map_node
from dmlcheck.models.step_verdict import as_numbers, judge_carried
from dmlcheck.reference.ball.roundings import has_wide_limit
from dmlcheck.reference.bindings import row
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.running.verdict import Limits, Verdict
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.layouts import Array, to_bytes
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES

_USELESS = 1.0  # of the largest element of an output: a tolerance that is wider says nothing
_MOST_SHARES = 10
_HALF = 0.5  # an error that takes a whole number to another one
_BLOCK = 1 << 18  # elements that become FLOAT64 at once


class NodeShare(NamedTuple):
    """A node, and its share of the squared relative errors that all nodes add."""

    node: str
    share: float


class OutputVerdict(NamedTuple):
    """How an output of the model compares with the reference's chain.

    `error` is the largest error, and `tolerance` the largest tolerance, both as shares of the largest element;
    `reason` says why the output is not judged. `choice` is the first node before it of which the chain took
    the implementation's results, since errors decide them.
    """

    name: str
    verdict: Verdict
    error: float
    tolerance: float
    reason: str | None = None
    choice: str | None = None


class Chain:
    """The reference's tensors of a model that nodes have still to read."""

    def __init__(self, inputs: Mapping[str, Array], limits: Limits) -> None:
        self.limits = limits
        self.held: dict[str, Array | Carried] = {}
        self.kinds: dict[str, TensorRef] = {}
        self.errors: dict[str, float] = {}
        self.lost: dict[str, str] = {}
        self.of_constants: set[str] = set()  # the tensors that follow from the model's constants alone
        self.taken: dict[str, str] = {}  # the tensors that are the implementation's, each with the reason
        self.chosen: dict[str, str] = {}  # those that follow from a choice of the implementation's, and its node
        for name, values in inputs.items():
            self.exact(name, values)

    def exact(self, name: str, values: Array) -> None:
        """Take a tensor without errors."""
        data = TensorRef.of(values).buffer.bytes
        if data is not None:
            self.held[name] = data

    def repeat(self, name: str, other: str) -> bool:
        """Take a tensor that has the elements of another one; False if the chain does not have that."""
        for reasons in (self.lost, self.taken):
            reasons.update({name: reasons[other]} if other in reasons else {})
        if other in self.held:
            self.held[name] = self.held[other]
        return other in self.held

    # ---- node by node

    def add(
        self,
        node: str,
        graph: Graph,
        actual: Mapping[str, Array],
        constants: Mapping[str, Array] = {},
        slack: Mapping[str, Carried] = {},
    ) -> None:
        """Compute a node from the chain's balls of its inputs.

        `actual` are the outputs of the implementation, `constants` the bytes of the inputs that the model has itself,
        and `slack` those that an implementation may round first.
        """
        before = next((self.lost[name] for name in graph.inputs if name in self.lost and self._is_lost(name)), None)
        held = {**self.held, **constants}
        missing = next((name for name in graph.inputs if name not in held), None)
        if missing is not None:
            self.give_up(actual, f"{node} is not computed: it reads {missing}, which no node gave")
            return
        given = {**constants_of(graph), **{name: held[name] for name in graph.inputs}}
        reads = [name for name in graph.inputs if name not in constants and name not in self.of_constants]
        if not reads:
            self.of_constants.update(actual)
        is_hopeless = before is not None and _is_hopeless(graph, held, reads)
        given |= {name: _rounded(given[name], one) for name, one in slack.items() if name in given}
        try:
            precision = self.limits.precision._replace(peer=self.limits.peer)
            made = (
                _without_bounds(graph, given)
                if is_hopeless
                else carried(graph.steps, given, graph.outputs, precision, wants_likely=False)
            )
        except (MemoryError, TooMuchWork, ValueError) as error:
            self.give_up(actual, f"{node} is not computed: {error or 'out of memory'}")
            return
        for name, values in actual.items():
            if name in made:
                self.held[name] = made[name]
                if before is not None or _has_infinite(made[name]):
                    self.lost[name] = before or f"the carried tolerance becomes infinite in {node}"
            else:
                self._give_up(name, values, f"{name} of {node} is not computed")

    def take(
        self,
        node: str,
        reads: Iterable[str],
        actual: Mapping[str, Array],
        why: str,
        *,
        is_of_sizes: bool = False,
        is_right: bool = False,
    ) -> None:
        """Take the implementation's outputs for a node that the reference does not compute.

        They count as exact if they depend only on sizes, are whole numbers of exact tensors, have no elements, or
        depend on no tensor at all; constants are not among `reads`. Outputs of the model that depend on others are not
        judged. `is_right` says that they are right from the tensors that the implementation read.
        """
        reads = tuple(reads)
        is_exact = all(name in self.held and not _is_inexact(self.held[name]) for name in reads)
        is_whole = all(values.dtype.kind not in "fc" for values in actual.values())
        is_certain = is_of_sizes or all(values.size == 0 for values in actual.values())
        if is_certain or (is_exact and (is_whole or not reads)):
            for name, values in actual.items():
                self.exact(name, values)
                if not (is_certain or is_right):
                    self.taken[name] = f"{node} is not computed: {why}"
        else:
            self.give_up(actual, f"{node} is not computed: {why}")

    def give_up(self, actual: Mapping[str, Array], why: str) -> None:
        """Go on with the implementation's outputs of a node, without any bound."""
        for name, values in actual.items():
            self._give_up(name, values, why)

    def _give_up(self, name: str, values: Array, why: str) -> None:
        flat = as_numbers(values).reshape(-1)
        none = np.full(flat.size, np.inf)
        self.held[name] = Carried(TensorRef.of(values).data_type, flat.astype(np.float64), none, none)
        self.lost[name] = why

    def drop(self, names: Iterable[str]) -> None:
        """Drop tensors that no node reads any more."""
        for name in names:
            self.held.pop(name, None)

    def _is_lost(self, name: str) -> bool:
        held = self.held.get(name)
        return isinstance(held, Carried) and _has_infinite(held)

    # ---- numbers that an implementation decides

    def copy(self) -> Chain:
        """Return a chain that goes on from here by itself."""
        other = Chain({}, self.limits)
        for name, value in vars(self).items():
            setattr(other, name, value if name == "limits" else value.copy())
        return other

    def uncertain(self, arrays: Mapping[str, Array], *, is_rough: bool = False) -> dict[str, float]:
        """Return the whole numbers among a node's outputs that roundings may change, and by how much.

        Of a node that is rough, all outputs, by any error.
        """
        held = {name: self.held.get(name) for name in arrays}
        radii = {name: one.radius for name, one in held.items() if isinstance(one, Carried) and one.radius is not None}
        if is_rough:
            return dict.fromkeys(radii, math.inf)
        whole = {name: radius for name, radius in radii.items() if self._is_whole(name, arrays[name])}
        most = {name: float(radius.max(initial=0.0)) for name, radius in whole.items()}
        return {name: each for name, each in most.items() if not each < _HALF}

    def _is_whole(self, name: str, values: Array) -> bool:
        """Whether a tensor has whole numbers: by its type, or, where nothing bounds it, by its elements."""
        held = self.held.get(name)
        if values.dtype.kind != "f" or name not in self.lost or not isinstance(held, Carried):
            return values.dtype.kind in "biu"
        return bool((held.value == np.rint(held.value)).all() and (values == np.rint(values)).all())

    def is_narrow(self, name: str, most: float, *, is_share: bool = False) -> bool:
        """Whether a tensor may be off by no more than a number, or by a share of its largest element."""
        held = self.held.get(name)
        if not isinstance(held, Carried) or held.radius is None:
            return True
        size = np.abs(held.value[np.isfinite(held.value)]).max(initial=0.0) if is_share else 1.0
        return bool(held.radius.max(initial=0.0) <= most * size)

    def allows(self, inputs: Mapping[str, Array]) -> bool:
        """Whether all elements of an implementation's tensors are within the bounds of the chain's."""
        return all(_is_within(values, self.held[name]) for name, values in inputs.items() if name in self.held)

    def choose(self, node: str, arrays: Mapping[str, Array]) -> None:
        """Take an implementation's numbers as they are, where it decides them."""
        for name, values in arrays.items():
            self.exact(name, values)
            self.chosen[name] = node

    def follow_choices(self, reads: Iterable[str], made: Iterable[str]) -> None:
        """Note that tensors follow from the choices that others follow from, of which they are made."""
        first = next((self.chosen[name] for name in reads if name in self.chosen), None)
        if first is not None:
            self.chosen.update((name, first) for name in made if name not in self.chosen)

    # ---- what comes out

    def output(self, name: str, actual: Array, nodes: int) -> OutputVerdict:
        """Compare an output of the model with the chain's ball of it."""
        right = self.held[name]
        limit = self.limits.of_formula(f"the formulas of all {nodes:,} nodes before it", is_capped=False)
        found = as_numbers(actual)
        if not isinstance(right, Carried):
            kind = TensorRef.of(actual)
            values = right.view(NUMPY_TYPES[kind.data_type])[: found.size]
            right = Carried(kind.data_type, values)
        dtype = np.dtype(NUMPY_TYPES[right.data_type])
        are_integers = {found.dtype.kind, dtype.kind} == {"i", "u"}  # indices are UINT64 where ONNX has INT64
        found = found.view(dtype) if are_integers and found.dtype.itemsize == dtype.itemsize else found
        verdict = judge_carried({name: right}, {name: found}, limit)
        error, tolerance = _relative(right, found)
        reason = self.taken.get(name)
        if not math.isfinite(tolerance):
            reason = self.lost.get(name, "the carried tolerance becomes infinite")
        elif tolerance > _USELESS:
            reason = f"the carried tolerance is too wide to be of use: {figure(tolerance)} times the largest element"
        return OutputVerdict(name, verdict, error, tolerance, reason, self.chosen.get(name))

    def note(self, node: str, outputs: Mapping[str, OutputResult], actual: Mapping[str, Array]) -> None:
        """Record the relative error that a node adds by itself: that of its outputs from its own inputs."""
        squares = [
            outputs[name].squares / total
            for name, values in actual.items()
            if name in outputs and (total := _square(values)) > 0
        ]
        self.errors[node] = max(squares, default=0.0)

    def shares(self) -> tuple[NodeShare, ...]:
        """Return the nodes that add the most to the errors of the outputs, the largest share first."""
        total = math.fsum(error for error in self.errors.values() if math.isfinite(error))
        ranked = sorted(self.errors.items(), key=lambda item: -item[1])[:_MOST_SHARES]
        return tuple(NodeShare(name, min(1.0, error / total)) for name, error in ranked if error > 0 and total > 0)


def _rounded(held: Array | Carried, by: Carried) -> Carried:
    """Return a tensor that is rounded before it is read, with the errors of both."""
    if not isinstance(held, Carried) or held.radius is None or by.radius is None:
        return by
    radius = held.radius + by.radius
    shared = by.radius if held.shared is None else held.shared + by.radius
    return held._replace(radius=radius, likely=radius, shared=shared)  # likely errors are not used in a chain


def _is_within(values: Array, held: Array | Carried) -> bool:
    flat = as_numbers(values).reshape(-1)
    if not isinstance(held, Carried):
        return np.array_equal(held.view(np.uint8)[: flat.nbytes], flat.view(np.uint8))
    value = held.value[: flat.size].astype(np.float64)
    radius = np.zeros(()) if held.radius is None else held.radius[: flat.size]
    with np.errstate(all="ignore"):
        off = np.abs(flat.astype(np.float64) - value)
        is_within = (flat == value) | (off <= radius) | (np.isnan(flat.astype(np.float64)) & np.isnan(value))
    return bool(np.isfinite(radius).all() and is_within.all())


def _has_infinite(made: Carried) -> bool:
    return made.radius is not None and not np.isfinite(made.radius).all()


def _has_no_bound(held: Array | Carried) -> bool:
    """Whether nothing bounds any element of a tensor."""
    return isinstance(held, Carried) and held.radius is not None and bool(np.isinf(held.radius).all())


def _is_hopeless(graph: Graph, held: Given, reads: Iterable[str]) -> bool:
    """Whether nothing bounds any element of an input, nor of the others that count; a condition may leave it out."""
    if any("ConditionTensor" in step.inputs for step in graph.steps):
        return False
    is_lost = any(_has_no_bound(held[name]) for name in graph.inputs)
    return is_lost and all(_has_no_bound(held[name]) for name in reads if _is_inexact(held[name]))


def _without_bounds(graph: Graph, given: Given) -> dict[str, Carried]:
    """Return the results of a node without any bound: nothing bounds its inputs, and only values are computed."""
    data = {name: _bytes(one) for name, one in given.items()}

    def load(name: str, tensor: TensorDesc) -> Checking[Array | None]:  # noqa: ARG001 - steps take what they need
        yield from ()
        return data[name]

    results: Results
    results, _ = collected(run_steps(graph.steps, graph.outputs, load))
    return {name: _unbounded(one.tensor, to_bytes(one.tensor, one.values)) for name, one in results.outputs.items()}


def _bytes(held: Array | Carried) -> Array:
    """Return the bytes of a tensor, as it is stored."""
    if not isinstance(held, Carried):
        return held
    dtype = NUMPY_TYPES[held.data_type]
    value = held.value if dtype.kind == "f" else np.rint(held.value)
    with np.errstate(all="ignore"):
        return value.astype(dtype).view(np.uint8)


def _unbounded(tensor: TensorDesc, data: Array) -> Carried:
    values = data.view(NUMPY_TYPES[tensor.data_type])
    none = np.full(values.size, np.inf)
    return Carried(tensor.data_type, values, none, none)


def _is_inexact(held: Array | Carried) -> bool:
    return isinstance(held, Carried) and held.radius is not None


def _square(values: Array) -> float:
    flat = as_numbers(values).reshape(-1)
    with np.errstate(all="ignore"):
        blocks = (flat[start : start + _BLOCK].astype(np.float64) for start in range(0, flat.size, _BLOCK))
        total = sum(float(block @ block) for block in blocks)
    return total if math.isfinite(total) else 0.0


def _relative(right: Carried, found: Array) -> tuple[float, float]:
    """Return the largest error and the largest tolerance of an output as shares of its largest element."""
    with np.errstate(all="ignore"):
        value = right.value[: found.size].astype(np.float64)
        finite = value[np.isfinite(value)]
        size = float(np.abs(finite).max()) if finite.size else 0.0
        off = np.abs(found.reshape(-1).astype(np.float64) - value)
        error = float(off[np.isfinite(off)].max(initial=0.0))
        radius = 0.0 if right.radius is None else float(right.radius.max(initial=0.0))
    return (error / size, radius / size) if size else (error, radius)


_LIMIT = 2.0**-10  # of functions whose published limit is wide
_STEPS = 2.0**-5  # several of the steps to which the largest element is rounded


def is_rough(chain: Chain, mapped: Mapped | NodeVerdict | Unjudged) -> bool:
    """Whether right results of a node differ by far more than roundings, and than what its inputs' errors make.

    They do where the published limits of a function are wide, and where numbers become integers on the way.
    """
    graph = graph_in(mapped)
    if isinstance(mapped, Unjudged) or graph is None:
        return False
    operators = [step.desc.spec.operator for step in graph.steps]
    if len(operators) == 1 and has_wide_limit(row(operators[0]).kernel.function):
        return all(chain.is_narrow(name, _LIMIT) for name in graph.inputs)
    has_integers = bool(mapped.slack) or _has_integers_inside(graph)
    return has_integers and all(chain.is_narrow(name, _STEPS, is_share=True) for name in graph.inputs)


def _has_integers_inside(graph: Graph) -> bool:
    """Whether a step makes integers of floats, which are no outputs."""
    for step in graph.steps:
        kinds = (part.tensor.data_type for part in step.desc.tensors(INPUT))
        written = ((part.tensor.data_type, step.outputs.get(part.label)) for part in step.desc.tensors(OUTPUT))
        inside = (kind for kind, name in written if name is not None and name not in graph.outputs)
        if any(kind in FORMATS for kind in kinds) and any(kind not in FORMATS for kind in inside):
            return True
    return False


# ---- nodes of a model taken into the reference's chain, with the tensors that an implementation gave for them


_OF_SIZES = ("Shape", "Size")


def mapped_with(
    node: NodeCase, tensors: Mapping[str, Any], model: Loaded, *, is_directml: bool
) -> Mapped | NodeVerdict | Unjudged:
    """Return the graph of a node with the tensors that it read and gave, or the verdict by a rule, or why not."""
    inputs = arrays_of(node.node.input, tensors, model)
    outputs = arrays_of(node.node.output, tensors, model)
    if isinstance(inputs, Unjudged) or isinstance(outputs, Unjudged):
        return Unjudged("not-mapped", "one of its tensors is a sequence, or missing")
    ruled = by_rule(node.node, model.opset(node.node), inputs, outputs)
    if ruled is not None:
        return ruled
    elements = {name: kind for name in node.reads if (kind := model.four_bits(name)) is not None}
    return map_node(node.node, model.opset(node.node), inputs, outputs, is_directml=is_directml, elements=elements)


def follow_node(
    chain: Chain, node: NodeCase, mapped: Mapped | NodeVerdict | Unjudged, actual: Mapping[str, Any], model: Loaded
) -> None:
    """Take a node into a chain; `actual` are the arrays that the implementation gave for it."""
    if isinstance(mapped, Unjudged) or mapped.graph is None:
        if _follow_nothing(chain, node, actual):
            return
        reads = [name for name in node.reads if name not in model.constants]
        is_right = isinstance(mapped, NodeVerdict) and not mapped.verdict.findings
        chain.take(
            node.case.name, reads, actual, why_without_graph(mapped), is_of_sizes=is_of_sizes(node), is_right=is_right
        )
    else:
        constants = {name: data for name, data in mapped.data.items() if name in model.constants}
        chain.add(node.case.name, mapped.graph, actual, constants, mapped.slack)


def why_without_graph(mapped: Mapped | NodeVerdict | Unjudged) -> str:
    """Return why a node has no graph."""
    if not isinstance(mapped, NodeVerdict):
        return mapped.reason if isinstance(mapped, Unjudged) else ""
    if any(output.shape for output in mapped.verdict.outputs.values()):
        return "its outputs do not have the sizes that they must have"
    return "its outputs are wrong" if mapped.verdict.findings else "errors of its inputs may change what it selects"


# What operators give that add or multiply no elements at all.
_OF_NOTHING = {"MatMul": 0, "ReduceL1": 0, "ReduceL2": 0, "ReduceProd": 1, "ReduceSum": 0, "ReduceSumSquare": 0}


_SCATTERING = ("ScatterElements", "ScatterND")  # their last input has the elements that take the place of others


def _follow_nothing(chain: Chain, node: NodeCase, actual: Mapping[str, Any]) -> bool:
    """Take the exact outputs of a node that has no elements to compute with; False where they are not known."""
    if node.node.domain:
        return False
    if node.node.op_type in _SCATTERING and _has_none(chain, node.node.input[-1]):
        return all(chain.repeat(name, node.node.input[0]) for name in actual)
    number = _OF_NOTHING.get(node.node.op_type)
    if number is None or not _has_none(chain, node.node.input[0]):
        return False
    for name, values in actual.items():
        chain.exact(name, np.full_like(values, number))
    return True


def _has_none(chain: Chain, name: str) -> bool:
    held = chain.held.get(name)
    elements = held.value if isinstance(held, Carried) else held
    return elements is not None and not elements.size


def is_of_sizes(node: NodeCase) -> bool:
    """Whether a node's outputs depend only on the sizes of its inputs."""
    return node.node.op_type in _OF_SIZES and not node.node.domain


def known_arrays(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tensors that are arrays of types that DirectML has."""
    return {name: array for name, array in tensors.items() if _is_known(array)}


def _is_known(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype in KNOWN_TYPES
