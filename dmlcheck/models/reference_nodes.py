"""The nodes of a model in the reference: each is computed from the outputs of the nodes before it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, collected
from dmlcheck.diagnostics.wording import counted, cut, size_text
from dmlcheck.graphs.compute import Output, Results, run_steps
from dmlcheck.models.cases import Loaded, NodeCase, node_cases
from dmlcheck.models.node_values import arrays_of, needed
from dmlcheck.models.node_verdict import Mapped, Unjudged, map_node, remark_of, why_not
from dmlcheck.models.scanning import scanning
from dmlcheck.onnx.descs.node import NeverMapped, Unmapped
from dmlcheck.onnx.model.evaluator import RANDOM, evaluate_node
from dmlcheck.onnx.model.node_outputs import Form, forms_from_values
from dmlcheck.onnx.model.parts import has_graphs
from dmlcheck.onnx.reading import first_line
from dmlcheck.values.layouts import Array, laid_out, to_bytes
from dmlcheck.values.memory import available_bytes

_MOST_INSIDE = 20_000  # nodes inside of If, Loop and Scan that are computed for a model
_MOST_REASON = 500  # characters
_MOST_NAMES = 5
_SHARE = 0.5  # of the free memory that the outputs of a node may take
_TEXTS = "OSU"  # the kinds of arrays of texts
_EVALUATED = ("", "ai.onnx.ml")  # the domains that ONNX's evaluator has
_FATAL = ("too-much-work", "missing-tensor")  # which the evaluator of ONNX could not mend


class NodeOutputs(NamedTuple):
    """The outputs of a node: arrays by name, or lists of them for sequences, and masks of their undefined elements.

    `mapped` is its graph if the engine computed it; otherwise `evaluated` says why ONNX's evaluator did.
    """

    tensors: Mapping[str, Any]
    masks: Mapping[str, Array] = {}
    mapped: Mapped | None = None
    evaluated: str = ""


class Uncomputed(NamedTuple):
    """Why a node is not computed: a rule, and the words; other sizes may change it unless `is_for_good`."""

    rule: str
    reason: str
    is_for_good: bool = False


class ByEvaluator(NamedTuple):
    """A node that ONNX's evaluator computed: its name, its operator, and why the engine did not."""

    name: str
    operator: str
    reason: str


class ComputedNode(NamedTuple):
    """A node with its outputs; the name of its case begins with those of the nodes and graphs around it."""

    node: NodeCase
    found: NodeOutputs

    def inside(self, outer: str) -> ComputedNode:
        """Return the node inside of another one, whose name and graph are `outer`."""
        case = self.node.case._replace(name=f"{outer}/{self.node.case.name}")
        return ComputedNode(self.node._replace(case=case), self.found)


class ReferenceNodes:
    """A model that the reference computes node by node; a tensor is dropped after its last reader.

    `tensors` are those with readers to come, `evaluated` the nodes that ONNX's evaluator computed, `undefined` the
    tensors with undefined elements that nodes read, `remarks` what there is to say of the results of nodes. `inner` has
    the nodes inside of the last node, if they are to be kept: of a loop those of its first and of its last turn.
    """

    def __init__(
        self,
        model: Loaded,
        kept: Collection[str] = (),
        outer: ReferenceNodes | None = None,
        *,
        keeps_inner: bool = False,
    ) -> None:
        """Take a model with its inputs, and the names of tensors to keep; `outer` has the node that the model is in."""
        self.keeps_inner: bool = keeps_inner if outer is None else outer.keeps_inner
        self.inner: list[ComputedNode] = []
        self._turns: list[list[ComputedNode]] = []
        self.model = model
        self.kept = frozenset(kept)
        self.read = self.kept.union(*(node.reads for node in model.nodes))
        self.tensors: dict[str, Any] = dict(model.inputs)
        self.masks: dict[str, Array] = {}
        self.left: Iterator[int] = iter(range(_MOST_INSIDE)) if outer is None else outer.left
        self.is_inside = outer is not None
        self.evaluated: list[ByEvaluator] = [] if outer is None else outer.evaluated
        self.undefined: dict[str, None] = {} if outer is None else outer.undefined
        self.remarks: dict[str, str] = {} if outer is None else outer.remarks

    def nodes(self, chosen: Collection[str] | None = None) -> Iterator[tuple[NodeCase, NodeOutputs | Uncomputed]]:
        """Yield nodes in order with their outputs: the nodes with some names, and their ancestors; by default all."""
        wanted = None if chosen is None else needed(self.model.nodes, chosen)
        last = {name: node.case.name for node in self.model.nodes for name in node.reads}
        for node in self.model.nodes:
            if wanted is not None and node.case.name not in wanted:
                continue
            found = self.computed(node)
            if isinstance(found, NodeOutputs):
                self.tensors.update(found.tensors)
                self.masks.update(found.masks)
                if found.evaluated:
                    self.evaluated.append(ByEvaluator(node.case.name, node.operator, found.evaluated))
            yield node, found
            for name in (*node.reads, *node.node.output):
                if last.get(name, node.case.name) == node.case.name and name not in self.kept:
                    self.tensors.pop(name, None)
                    self.masks.pop(name, None)

    def value(self, name: str) -> Any:
        """Return a tensor that was kept, or a constant; Unmapped if there is none."""
        if name in self.tensors:
            return self.tensors[name]
        if name in self.model.constants:
            return constant_values(self.model.constants[name], name)
        raise Unmapped(f"nothing gives {name}")

    def computed(self, node: NodeCase) -> NodeOutputs | Uncomputed:
        """Return the outputs of a node for the present tensors, or why there are none."""
        missing = next((name for name in node.reads if not self._is_there(name)), None)
        if missing is not None:
            return Uncomputed("missing-tensor", f"it reads {missing}, which nothing gives")
        if self.is_inside and next(self.left, None) is None:
            return Uncomputed("too-much-work", f"more than {_MOST_INSIDE:,} nodes inside of others are computed")
        self.undefined.update(dict.fromkeys(name for name in node.reads if name in self.masks))
        self.inner, self._turns = [], []
        try:
            return self._inside(node) if has_graphs(node.node) else self._plain(node)
        except Unmapped as why:
            return Uncomputed("not-mapped", cut(str(why), _MOST_REASON), isinstance(why, NeverMapped))
        except MemoryError:
            return Uncomputed("too-much-work", "it does not fit into memory")

    def _is_there(self, name: str) -> bool:
        return name in self.tensors or name in self.model.constants

    # ---- one operator

    def _plain(self, node: NodeCase) -> NodeOutputs | Uncomputed:
        opsets = {entry.domain: int(entry.version) for entry in self.model.proto.opset_import}
        if self._is_random(node.node):
            raise Unmapped("it draws random numbers")
        forms = forms_from_values(node.node, opsets, {name: self._known(name) for name in node.node.input if name})
        too_large = _too_large(forms)
        if too_large is not None:
            return Uncomputed("too-much-work", too_large)
        mapped = self._mapped(node, forms)
        if isinstance(mapped, Mapped):
            return _of_engine(mapped, forms)
        if mapped.rule in _FATAL:
            return Uncomputed(*mapped)
        made = self._by_evaluator(node, opsets, mapped)
        named = zip(node.node.output, made, strict=False)
        return NodeOutputs(
            {name: value for name, value in named if name and value is not None}, evaluated=mapped.reason
        )

    def _by_evaluator(self, node: NodeCase, opsets: Mapping[str, int], lacking: Unjudged) -> list[Any]:
        """Return the outputs of ONNX's evaluator for a node; `lacking` says why the engine gives none."""
        kind = NeverMapped if lacking.is_for_good else Unmapped
        given = [self.value(name) if name else None for name in node.node.input]
        if any(isinstance(each, np.ndarray) and each.dtype.kind in _TEXTS for each in given):
            raise NeverMapped("it reads texts, whose length has no limit")
        if node.node.domain not in _EVALUATED:
            raise kind(lacking.reason)
        try:
            return evaluate_node(node.node, given, opsets)
        except Unmapped as why:
            raise kind(f"{lacking.reason}; {why}") from None

    def _is_random(self, node: Any) -> bool:
        """Whether a node gives other numbers each time; Dropout does if its third input asks for training."""
        if node.domain or node.op_type not in RANDOM:
            return False
        if node.op_type != "Dropout":
            return True
        return len(node.input) > 2 and bool(node.input[2]) and bool(np.any(self.value(node.input[2])))

    def _known(self, name: str) -> Any:
        return self.tensors[name] if name in self.tensors else self.model.constants[name]

    def _mapped(self, node: NodeCase, forms: Mapping[str, Form]) -> Mapped | Unjudged:
        """Return the graph of a node, or why it has none with all outputs that are read."""
        inputs = arrays_of(node.node.input, self.tensors, self.model)
        if isinstance(inputs, Unjudged):
            return inputs
        outputs = [np.empty(forms[name].sizes, forms[name].dtype) if name in forms else None
                   for name in node.node.output]  # fmt: skip
        early = why_not(node.node, [*inputs, *outputs])
        if early is not None:
            return early
        elements = {name: kind for name in node.reads if (kind := self.model.four_bits(name)) is not None}
        opset = self.model.opset(node.node)
        mapped = map_node(node.node, opset, inputs, outputs, is_directml=False, elements=elements)
        if isinstance(mapped, Unjudged):
            return mapped
        remark = remark_of(node.node, opset, inputs, outputs)
        if remark is not None:
            self.remarks[node.case.name] = remark
        lost = next((name for name in node.node.output if name in self.read and name not in mapped.graph.outputs), None)
        return mapped if lost is None else Unjudged("not-mapped", f"no operator of DirectML gives {lost}")

    # ---- graphs inside of a node

    def _inside(self, node: NodeCase) -> NodeOutputs | Uncomputed:
        graphs = {attribute.name: attribute.g for attribute in node.node.attribute if attribute.HasField("g")}
        if node.node.domain or node.node.op_type not in ("If", "Loop", "Scan"):
            raise Unmapped(f"dmlcheck does not compute {node.node.op_type}")
        if node.node.op_type == "If":
            condition = bool(np.asarray(self.value(node.node.input[0])).reshape(-1)[:1].any())
            branch = "then_branch" if condition else "else_branch"
            made = self._body(graph_named(graphs, branch), [], f"{node.case.name}/{branch}")
        elif node.node.op_type == "Loop":
            made = self._loop(node, graph_named(graphs, "body"))
        else:
            made = self._scan(node, graph_named(graphs, "body"))
        self.inner = [one for turn in self._turns for one in turn]
        if isinstance(made, Uncomputed):
            return made
        return NodeOutputs({name: value for name, value in zip(node.node.output, made, strict=False) if name})

    def _body(self, graph: Any, given: Sequence[Any], name: str) -> list[Any] | Uncomputed:
        """Return the outputs of a graph of some name inside of a node, for its inputs in order."""
        names = [value.name for value in graph.input]
        inner = inner_model(self.model, graph, {**self.tensors, **dict(zip(names, given, strict=False))})
        outputs = [value.name for value in graph.output]
        way = ReferenceNodes(inner, outputs, self)
        seen: list[ComputedNode] = []
        for node, found in way.nodes():
            if self.keeps_inner and isinstance(found, NodeOutputs):
                seen += [one.inside(name) for one in (ComputedNode(node, found), *way.inner)]
            if isinstance(found, Uncomputed):
                where = f"{node.case.name} ({node.operator}), which is inside of it, is not computed"
                return found._replace(reason=cut(f"{where}: {found.reason}", _MOST_REASON))
        self._turns[1:] = [seen] if self._turns else []
        self._turns = self._turns or [seen]
        self.undefined.update(dict.fromkeys(name for name in outputs if name in way.masks))
        return [way.value(name) for name in outputs]

    def _loop(self, node: NodeCase, body: Any) -> list[Any] | Uncomputed:
        """Return the outputs of a Loop: the values after its last round, and the results of all rounds, joined."""
        trips, condition, *carried = [self.value(name) if name else None for name in node.node.input]
        most = None if trips is None else int(np.asarray(trips).reshape(-1)[0])
        goes_on = condition is None or bool(np.asarray(condition).reshape(-1)[0])
        rounds: list[list[Any]] = []
        for number in count() if most is None else islice(count(), max(0, most)):
            if not goes_on:
                break
            if not body.node and next(self.left, None) is None:
                return Uncomputed("too-much-work", f"it takes more than {_MOST_INSIDE:,} rounds")
            given = [np.array(number, np.int64), np.array(True), *carried]  # noqa: FBT003
            made = self._body(body, given, _turn(node, number))
            if isinstance(made, Uncomputed):
                return made
            goes_on = bool(np.asarray(made[0]).reshape(-1)[:1].any())
            carried, given = made[1 : 1 + len(carried)], made[1 + len(carried) :]
            rounds.append(given)
        if rounds:
            return [*carried, *(np.stack(each) for each in zip(*rounds, strict=True))]
        return [*carried, *(empty_result(value) for value in body.output[1 + len(carried) :])]

    def _scan(self, node: NodeCase, body: Any) -> list[Any] | Uncomputed:
        """Return the outputs of a Scan: its states after the last turn, and the results of all turns, side by side."""
        way = scanning(node.node, self.model.opset(node.node), body)
        given = [np.asarray(self.value(name)) for name in node.node.input]
        states, turns = list(given[: way.states]), []
        for number in range(way.turns(given)):
            if not body.node and next(self.left, None) is None:
                return Uncomputed("too-much-work", f"it takes more than {_MOST_INSIDE:,} turns")
            made = self._body(body, [*states, *way.slices(given, number)], _turn(node, number))
            if isinstance(made, Uncomputed):
                return made
            states = made[: way.states]
            turns.append(made[way.states :])
        return [*states, *(way.joined(turns) if turns else map(empty_result, body.output[way.states :]))]


def _turn(node: NodeCase, number: int) -> str:
    """Return the name of a body in a turn of a loop, which the first one does not say."""
    return f"{node.case.name}/body" + (f"/turn {number + 1}" if number else "")


def inner_model(model: Loaded, graph: Any, tensors: Mapping[str, Any]) -> Loaded:
    """Return a graph inside of a node as a model, whose inputs are its own and all tensors around it."""
    from onnx import ModelProto

    proto = ModelProto(opset_import=model.proto.opset_import, ir_version=model.proto.ir_version)
    proto.graph.CopyFrom(graph)
    names = {value.name for value in graph.input}
    constants = {name: tensor for name, tensor in model.constants.items() if name not in names}
    constants.update((tensor.name, tensor) for tensor in graph.initializer)
    file = model.nodes[0].case.file if model.nodes else ""
    nodes = node_cases(proto, file, constants)
    return model._replace(proto=proto, constants=constants, nodes=nodes, inputs=tensors)


def stand_in(node: NodeCase, model: Loaded, tensors: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the outputs of a node for tensors that it reads, {} where the engine does not compute it."""
    found = ReferenceNodes(model._replace(inputs=tensors)).computed(node)
    return found.tensors if isinstance(found, NodeOutputs) and found.mapped is not None else {}


def stand_in_for_all(node: NodeCase, model: Loaded, tensors: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the outputs of a node for tensors that it reads, also those that ONNX's evaluator computes, else {}."""
    found = ReferenceNodes(model._replace(inputs=tensors)).computed(node)
    return found.tensors if isinstance(found, NodeOutputs) else {}


def uncomputed_too(node: NodeCase, model: Loaded, tensors: Mapping[str, Any], *, has_sizes: bool) -> str | None:
    """Return the help for a node that an implementation does not compute, and the reference neither; else None.

    `has_sizes` says that the model got sizes for its names.
    """
    found = ReferenceNodes(model._replace(inputs=tensors)).computed(node)
    if isinstance(found, NodeOutputs) or found.rule != "not-mapped":
        return None
    may_be_sizes = has_sizes and not found.is_for_good
    doubt = "; the sizes given with --dim may not fit the model" if may_be_sizes else ""
    return f"the reference does not compute it either: {found.reason}{doubt}"


def graph_named(graphs: Mapping[str, Any], name: str) -> Any:
    """Return a graph of a node by its attribute; Unmapped if the node lacks it."""
    if name not in graphs:
        raise Unmapped(f"it has no {name}")
    return graphs[name]


def empty_result(value: Any) -> Array:
    """Return the joined results of no rounds: no elements, of the type that the body declares."""
    from onnx import helper

    tensor = value.type.tensor_type
    if not tensor.elem_type:
        raise Unmapped(f"the type of {value.name} is not known")
    sizes = (0, *(dim.dim_value for dim in tensor.shape.dim))
    return np.empty(sizes, helper.tensor_dtype_to_np_dtype(tensor.elem_type))


def constant_values(tensor: Any, name: str) -> Array:
    """Return the values of a constant; Unmapped if they cannot be read."""
    from onnx import numpy_helper

    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError) as error:
        raise Unmapped(f"the values of {name} cannot be read: {first_line(error)}") from None


def _too_large(forms: Mapping[str, Form]) -> str | None:
    """Return the error about outputs of a node that take too much memory, or None."""
    need, have = sum(form.bytes for form in forms.values()), available_bytes()
    if have is None or need <= have * _SHARE:
        return None
    return f"its outputs take {size_text(need)}, and {size_text(have)} of memory are free"


def _of_engine(mapped: Mapped, forms: Mapping[str, Form]) -> NodeOutputs | Uncomputed:
    graph = mapped.graph
    data: Mapping[str, Array] = {**graph.constants, **mapped.data}

    def load(name: str, tensor: TensorDesc) -> Checking[Array | None]:  # noqa: ARG001 - steps take what they need
        yield from ()
        return data[name]

    results: Results
    results, findings = collected(run_steps(graph.steps, graph.outputs, load))
    if findings:
        rule = findings[0].rule if findings[0].rule == "too-much-work" else "not-mapped"
        return Uncomputed(rule, cut(findings[0].message, _MOST_REASON))
    tensors = {name: _array(results.outputs[name], forms[name]) for name in graph.outputs}
    masks = {
        name: _mask(output.tensor, mask, forms[name])
        for name, output in results.outputs.items()
        if (mask := output.undefined) is not None and mask.any()
    }
    return NodeOutputs(tensors, masks, mapped)


def _array(output: Output, form: Form) -> Array:
    """Return the buffer of an output as the array in the model, since its desc may have strides."""
    elements = to_bytes(output.tensor, output.values).view(output.values.dtype)
    return elements[: math.prod(form.sizes)].reshape(form.sizes).astype(form.dtype, copy=False)


def _mask(tensor: TensorDesc, mask: Array, form: Form) -> Array:
    elements: Array = laid_out(tensor, mask.astype(np.uint8)) == 1
    return elements[: math.prod(form.sizes)].reshape(form.sizes)


# ---- words


def evaluator_text(evaluated: Sequence[ByEvaluator]) -> Iterator[str]:
    """Yield which nodes ONNX's evaluator computed, a line for each operator and reason."""
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for one in evaluated:
        groups.setdefault((one.operator, one.reason), {})[one.name] = None
    for (operator, reason), names in groups.items():
        yield f"{operator} ({names_text(list(names))}) is computed by ONNX's own evaluator: {reason}"


def names_text(names: Sequence[str]) -> str:
    """Return how many nodes there are, and the names of the first few: `7 nodes: a, b, c, d, e and 2 more`."""
    shown = ", ".join(cut(name, 100) for name in names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return f"{counted(len(names), 'node')}: {shown}{more}"
