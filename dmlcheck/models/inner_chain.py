"""The reference's chain through the graphs of If, Loop and Scan, and the verdict on such a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.comparison.compare import has_form
from dmlcheck.comparison.records import OutputResult
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import braces, cut
from dmlcheck.graphs.tensor_bounds import Carried
from dmlcheck.models.cases import Loaded, NodeCase
from dmlcheck.models.chain import Chain, follow_node, known_arrays
from dmlcheck.models.node_verdict import ONNX, NodeVerdict, Unjudged
from dmlcheck.models.reference_nodes import (
    ReferenceNodes,
    Uncomputed,
    constant_values,
    empty_result,
    graph_named,
    inner_model,
)
from dmlcheck.models.scanning import Held, scanning
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.parts import has_graphs
from dmlcheck.running.verdict import Limits, Verdict
from dmlcheck.values.number_formats import NUMPY_TYPES

_MOST = 2_000  # nodes inside of one that are followed
_MOST_REASON = 500  # characters


class _Results(NamedTuple):
    """The outputs of a graph in order: the reference's arrays, and what the chain holds of each, None if nothing."""

    arrays: list[Any]
    held: list[Held]


def follow_inside(chain: Chain, node: NodeCase, tensors: Mapping[str, Any], model: Loaded) -> dict[str, Any] | Unjudged:
    """Take an If, a Loop or a Scan into a chain, with its graphs, and return the reference's outputs for some tensors.

    The tensors inside are the reference's, since the implementation gives none of them.
    """
    inner = Chain({}, chain.limits)
    inner.held = {name: chain.held[name] for name in node.reads if name in chain.held}
    inner.lost, inner.taken = dict(chain.lost), dict(chain.taken)
    try:
        made = _Inside(inner, iter(range(_MOST))).outputs(node, tensors, model)
    except Unmapped as why:
        return Unjudged("not-mapped", cut(str(why), _MOST_REASON))
    named = [(name, *each) for name, *each in zip(node.node.output, made.arrays, made.held, strict=False) if name]
    for name, _, held in named:
        if held is not None:
            chain.held[name] = held
    outside = {*chain.lost, *chain.taken}
    for name, _, held in named:
        if held is not None:
            _pass_on(inner.lost, chain.lost, name, held, inner, outside)
            _pass_on(inner.taken, chain.taken, name, held, inner, outside)
    return {name: array for name, array, _ in named}


def _pass_on(
    found: Mapping[str, str], into: dict[str, str], name: str, held: Any, inner: Chain, outside: set[str]
) -> None:
    """Give an output the reason why its tensor inside has no bound, or is not the reference's."""
    source = next((each for each, one in inner.held.items() if one is held and each in found), None)
    if source is not None and (source not in outside or name not in into):
        into[name] = found[source]


class _Inside:
    """The nodes inside of others, followed while there are some left of a number of them."""

    def __init__(self, chain: Chain, left: Iterator[int]) -> None:
        self.chain = chain
        self.left = left

    def outputs(self, node: NodeCase, tensors: Mapping[str, Any], model: Loaded) -> _Results:
        """Follow a node with graphs; Unmapped if it is not computed."""
        graphs = {attribute.name: attribute.g for attribute in node.node.attribute if attribute.HasField("g")}
        given = [_value(name, tensors, model) if name else None for name in node.node.input]
        if node.node.op_type == "If" and not node.node.domain:
            is_true = bool(np.asarray(given[0]).reshape(-1)[:1].any())
            return self._body(graph_named(graphs, "then_branch" if is_true else "else_branch"), {}, tensors, model)
        if node.node.op_type == "Loop" and not node.node.domain:
            return self._loop(node, graph_named(graphs, "body"), given, tensors, model)
        if node.node.op_type == "Scan" and not node.node.domain:
            return self._scan(node, graph_named(graphs, "body"), given, tensors, model)
        raise Unmapped(f"dmlcheck does not compute {node.node.op_type}")

    def _body(self, graph: Any, given: Mapping[str, Any], tensors: Mapping[str, Any], model: Loaded) -> _Results:
        """Follow the nodes of a graph; `given` are its inputs, which the chain holds."""
        inner = inner_model(model, graph, {**tensors, **given})
        names = [value.name for value in graph.output]
        way = ReferenceNodes(inner, names)
        way.left, way.is_inside = self.left, True
        values = {**tensors, **given}
        for node, found in way.nodes():
            if isinstance(found, Uncomputed) and next(self.left, None) is None:
                raise Unmapped(f"more than {_MOST:,} nodes inside of it are not followed")
            if isinstance(found, Uncomputed):
                raise Unmapped(
                    f"{node.case.name} ({node.operator}), which is inside of it, is not computed: {found.reason}"
                )
            values.update(found.tensors)
            self._follow(node, found.mapped or Unjudged("not-mapped", found.evaluated), values, inner)
        return _Results([_value(name, values, inner) for name in names], [self._held(name, inner) for name in names])

    def _follow(self, node: NodeCase, mapped: Any, values: Mapping[str, Any], model: Loaded) -> None:
        if has_graphs(node.node):
            made = self.outputs(node, values, model)
            self.chain.held.update(
                (name, held)
                for name, held in zip(node.node.output, made.held, strict=False)
                if name and held is not None
            )
            return
        outputs = {name: values[name] for name in node.node.output if name in values}
        follow_node(self.chain, node, mapped, known_arrays(outputs), model)

    def _held(self, name: str, model: Loaded) -> Held:
        if name in model.constants and name not in self.chain.held:
            self.chain.exact(name, constant_values(model.constants[name], name))
        return self.chain.held.get(name)

    def _loop(
        self, node: NodeCase, body: Any, given: Sequence[Any], tensors: Mapping[str, Any], model: Loaded
    ) -> _Results:
        """Follow all turns of a Loop: the values after the last one, and the results of all of them, joined."""
        trips, condition, *carried = given
        formal = [value.name for value in body.input]
        most = None if trips is None else int(np.asarray(trips).reshape(-1)[0])
        goes_on = condition is None or bool(np.asarray(condition).reshape(-1)[0])
        held = [self._held(name, model) for name in node.node.input[2:]]
        turns: list[_Results] = []
        for number in count() if most is None else islice(count(), max(0, most)):
            if not goes_on:
                break
            if not body.node and next(self.left, None) is None:
                raise Unmapped(f"more than {_MOST:,} rounds of it are not followed")
            arrays = [np.array(number, np.int64), np.array(True), *carried]  # noqa: FBT003
            self._give(formal, arrays, [None, None, *held], formal if not turns else formal[:2])
            made = self._body(body, dict(zip(formal, arrays, strict=False)), tensors, model)
            goes_on = bool(np.asarray(made.arrays[0]).reshape(-1)[:1].any())
            carried, held = made.arrays[1 : 1 + len(carried)], made.held[1 : 1 + len(carried)]
            turns.append(_Results(made.arrays[1 + len(carried) :], made.held[1 + len(carried) :]))
        if not turns:
            empty = [empty_result(value) for value in body.output[1 + len(carried) :]]
            return _Results([*carried, *empty], [*held, *(None for _ in empty)])
        arrays = [np.stack(each) for each in zip(*(turn.arrays for turn in turns), strict=True)]
        joined = [_joined(each) for each in zip(*(turn.held for turn in turns), strict=True)]
        return _Results([*carried, *arrays], [*held, *joined])

    def _give(self, names: Sequence[str], arrays: Sequence[Any], held: Sequence[Held], exact: Sequence[str]) -> None:
        """Give the chain the inputs of a turn; those in `exact` of which it holds nothing have no errors."""
        for name, array, one in zip(names, arrays, held, strict=False):
            self.chain.held.pop(name, None)
            if one is not None:
                self.chain.held[name] = one
            elif name in exact:
                self.chain.exact(name, np.asarray(array))

    def _scan(
        self, node: NodeCase, body: Any, given: Sequence[Any], tensors: Mapping[str, Any], model: Loaded
    ) -> _Results:
        """Follow all turns of a Scan: the states after the last one, and the results of all of them, side by side."""
        way = scanning(node.node, model.opset(node.node), body)
        formal = [value.name for value in body.input]
        inputs = [np.asarray(each) for each in given]
        held = [self._held(name, model) for name in node.node.input]
        states, states_held = list(inputs[: way.states]), held[: way.states]
        turns: list[_Results] = []
        for number in range(way.turns(inputs)):
            if not body.node and next(self.left, None) is None:
                raise Unmapped(f"more than {_MOST:,} turns of it are not followed")
            arrays = [*states, *way.slices(inputs, number)]
            slices = way.held_slices(held, inputs, number)
            self._give(formal, arrays, [*states_held, *slices], formal[way.states :] if turns else formal)
            made = self._body(body, dict(zip(formal, arrays, strict=True)), tensors, model)
            states, states_held = made.arrays[: way.states], made.held[: way.states]
            turns.append(_Results(made.arrays[way.states :], made.held[way.states :]))
        if not turns:
            empty = [empty_result(value) for value in body.output[way.states :]]
            return _Results([*states, *empty], [*states_held, *(None for _ in empty)])
        results = [turn.arrays for turn in turns]
        stacked = [_joined(each) for each in zip(*(turn.held for turn in turns), strict=True)]
        return _Results([*states, *way.joined(results)], [*states_held, *way.held_joined(stacked, results)])


def _joined(parts: Sequence[Held]) -> Held:
    """Return the tensors of all turns of a Loop one after the other; None if one is missing."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    kind = next((part.data_type for part in known if isinstance(part, Carried)), None)
    if kind is None:
        return np.concatenate([np.asarray(part) for part in known])
    each = [part if isinstance(part, Carried) else Carried(kind, part.view(NUMPY_TYPES[kind])) for part in known]
    value = np.concatenate([part.value for part in each])
    radius, likely = (
        np.concatenate(
            [np.zeros(part.value.size) if own is None else own for part, own in zip(each, errors, strict=True)]
        )
        for errors in ([part.radius for part in each], [part.likely for part in each])
    )
    return Carried(kind, value, radius, likely, max(part.terms for part in each))


def _value(name: str, tensors: Mapping[str, Any], model: Loaded) -> Any:
    if name in tensors:
        return tensors[name]
    if name in model.constants:
        return constant_values(model.constants[name], name)
    raise Unmapped(f"nothing gives {name}")


# ---- the verdict


def judge_inside(node: NodeCase, tensors: Mapping[str, Any], model: Loaded, limits: Limits) -> NodeVerdict | Unjudged:
    """Judge the outputs of an If, a Loop or a Scan by the chain through its graphs, from the tensors that it read."""
    chain = Chain(known_arrays({name: tensors[name] for name in node.reads if name in tensors}), limits)
    made = follow_inside(chain, node, tensors, model)
    if isinstance(made, Unjudged):
        return made
    found: list[Verdict] = []
    nodes = sum(1 for _ in _nodes_inside(node.node))
    for name, expected in made.items():
        actual = tensors.get(name)
        if not isinstance(actual, np.ndarray) or not isinstance(expected, np.ndarray) or name not in chain.held:
            return Unjudged("not-mapped", f"its output {name} is no tensor that the reference has")
        if not has_form(actual, expected):
            why = chain.taken.get(name) or chain.lost.get(name)
            if why and (actual.dtype, actual.ndim) == (expected.dtype, expected.ndim):
                return Unjudged("unlimited-tolerance", why)
            problem = f"is {actual.dtype} {braces(actual.shape)}; it must be {expected.dtype} {braces(expected.shape)}"
            result = OutputResult(actual.size, actual.size, shape=problem, sizes=expected.shape)
            found.append(
                Verdict({name: result}, (Finding("output-mismatch", (), {"tensor": name, "problem": problem}),))
            )
            continue
        output = chain.output(name, actual, nodes)
        if output.reason is not None:
            return Unjudged("unlimited-tolerance", output.reason)
        found.append(output.verdict)
    return NodeVerdict(_together(found), None, ONNX)


def _nodes_inside(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            for inner in attribute.g.node:
                yield inner
                yield from _nodes_inside(inner)


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    outputs = {name: result for verdict in verdicts for name, result in verdict.outputs.items()}
    findings, unlikely, unlimited = (
        tuple(finding for verdict in verdicts for finding in getattr(verdict, name))
        for name in ("findings", "unlikely", "unlimited")
    )
    return Verdict(outputs, findings, unlikely, unlimited=unlimited)
