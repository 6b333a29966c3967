"""The operators that a node becomes as steps: descs that are valid, and tensors by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.graphs.records import Graph, GraphFile, Node, Step
from dmlcheck.graphs.tensors import Array, Buffer, OwnNumbers, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Unmapped
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import NEWEST_LEVEL, OPERATOR_PREFIX
from dmlcheck.specs.records import INPUT, OUTPUT, OperatorSpec


def graph_of(made: Sequence[Counterpart], inputs: Mapping[str, TensorRef], outputs: Mapping[str, TensorRef]) -> Graph:
    """Return operators as a graph whose inputs and outputs have their names in the model.

    Tensors that are copies get a step that makes them; tensors of known values are constants. Unmapped if a desc is not
    valid, or a step reads a tensor that nothing writes.
    """
    builder = _Builder({x.buffer: name for name, x in (*inputs.items(), *outputs.items())}, set(inputs))
    for each in made:
        builder.add(each)
    written = {name for step in builder.steps for name in step.outputs.values()}
    kept = tuple(name for name in outputs if name in written)
    return Graph(tuple(builder.steps), tuple(inputs), kept, builder.constants, builder.computed)


def unchecked_graph(name: str, made: Sequence[Counterpart]) -> GraphFile:
    """Return the operators of a node as a graph to check: tensors that one writes are read by others.

    A tensor that no operator writes is an input of the graph: its values need not be known. A tensor that is read as
    another data type than it is written has a name of its own.
    """
    names: dict[tuple[Buffer, str], str] = {}
    nodes: list[Node] = []
    inputs: dict[str, None] = {}
    written: set[str] = set()
    for number, each in enumerate(made):
        spec = load_spec(OPERATOR_PREFIX + each.operator)
        sides: dict[str, dict[str, str]] = {INPUT: {}, OUTPUT: {}}
        for label, kind, x in _labelled(each, spec):
            sides[kind][label] = names.setdefault((x.buffer, x.data_type), f"tensor {len(names)}")
        inputs.update((read, None) for read in sides[INPUT].values() if read not in written)
        written.update(sides[OUTPUT].values())
        nodes.append(Node(f"{name} {number}", each.operator, fields_of(each.fields), sides[INPUT], sides[OUTPUT]))
    return GraphFile(name, tuple(inputs), (), tuple(nodes), ())


def _labelled(made: Counterpart, spec: OperatorSpec) -> Iterator[tuple[str, str, TensorRef]]:
    """Yield the tensors of an operator with their labels, and whether they are read or written."""
    for field, given in made.fields.items():
        kind = spec.fields[field].kind if field in spec.fields else ""
        if kind in (INPUT, OUTPUT) and is_of_tensors(given):
            each = (
                {f"{field}[{place}]": x for place, x in enumerate(given)} if isinstance(given, list) else {field: given}
            )
            yield from ((label, kind, x) for label, x in each.items())


class _Builder:
    """Steps so far, the names of buffers, and those that can be read."""

    def __init__(self, names: dict[Buffer, str], ready: set[str]) -> None:
        self.names = names
        self.ready = ready
        self.steps: list[Step] = []
        self.constants: dict[str, Array] = {}
        self.computed: dict[str, OwnNumbers] = {}

    def add(self, made: Counterpart) -> None:
        """Add an operator, after the copies that it reads and before the copies of its outputs."""
        for x in self._put(made):
            if x.buffer.copied is not None:
                self._copy(x.view(x.buffer.copied.shape), x.buffer.copied)

    def _put(self, made: Counterpart) -> list[TensorRef]:
        """Add an operator after the steps that make its inputs, and return the tensors that it writes."""
        desc, findings = validation.validate(made.operator, fields_of(made.fields), NEWEST_LEVEL)
        if desc is None or findings:
            reasons = "; ".join(dict.fromkeys(finding.message for finding in findings))
            raise Unmapped(f"DML_OPERATOR_{made.operator} does not take it: {reasons}")
        read, written = (list(_tensors(made, desc, side)) for side in (INPUT, OUTPUT))
        for _, x in read:
            self._bring(made, x)
        inputs, outputs = ({label: self._name(x) for label, x in side} for side in (read, written))
        self.steps.append(Step(desc.spec.short, desc, inputs, outputs))
        self.ready.update(outputs.values())
        return [x for _, x in written]

    def _bring(self, made: Counterpart, x: TensorRef) -> None:
        """Make a tensor readable, as a copy of another or as a constant."""
        name, source = self._name(x), x.buffer.copied
        if name in self.ready:
            return
        if source is not None:
            self._bring(made, source)
            self._copy(source, TensorRef(x.element, source.shape, None, x.buffer))
        elif (values := x.buffer.bytes) is not None:
            self.constants[name] = values
            if x.buffer.computed is not None:
                self.computed[name] = x.buffer.computed
            self.ready.add(name)
        else:
            raise Unmapped(f"{made.operator} reads a tensor that nothing in the node gives")

    def _copy(self, source: TensorRef, target: TensorRef) -> None:
        operator = "ELEMENT_WISE_IDENTITY" if source.data_type == target.data_type else "CAST"
        self._put(Counterpart(operator, {"InputTensor": source, "OutputTensor": target}, least=1))

    def _name(self, x: TensorRef) -> str:
        return self.names.setdefault(x.buffer, f"tensor {len(self.names)}")


def _tensors(made: Counterpart, desc: OperatorDesc, side: str) -> Iterator[tuple[str, TensorRef]]:
    """Yield the input tensors of a desc, or its output tensors, by label."""
    for field, parts in desc.parts.items():
        if desc.spec.fields[field].kind == side and parts:
            given = made.fields[field]
            each = given if isinstance(given, list) else [given]
            yield from ((part.label, x) for part, x in zip(parts, each, strict=True))


# ---- fields as descs have them


def fields_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with a tensor desc in place of every tensor."""
    return {name: _each(_tensor, value) if is_of_tensors(value) else value for name, value in given.items()}


def known_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the fields that are tensors, or None if they are not known."""
    return {name: _each(_logical, value) for name, value in given.items() if is_of_tensors(value)}


def is_of_tensors(value: Any) -> bool:
    """Whether a field is a tensor, or a list of them."""
    return isinstance(value[0] if isinstance(value, list) and value else value, TensorRef)


def _each(made: Callable[[Any], Any], value: Any) -> Any:
    return list(map(made, value)) if isinstance(value, list) else made(value)


def _tensor(x: TensorRef) -> dict[str, Any]:
    strides = {} if x.strides is None else {"Strides": list(x.strides)}
    return {"DataType": x.data_type, "Sizes": list(x.shape) or [1], **strides}


def _logical(x: TensorRef) -> Array | None:
    """Return the values of a tensor with at least one dimension, truth values as 0 and 1; None if none are known."""
    values = x.values
    if values is None:
        return None
    values = values.reshape(values.shape or (1,))
    return values.view("u1") if values.dtype == bool else values
