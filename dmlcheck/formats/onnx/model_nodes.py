"""The nodes of a model one by one, each as the descs that ONNX Runtime's DirectML provider makes of it, or why not.

Needs the package onnx.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple, TypeVar

from dmlcheck.diagnostics.wording import counted, dimensions_text
from dmlcheck.formats.onnx.backend_tests import KNOWN, first_line, tensor_of
from dmlcheck.formats.onnx.foreign_models import attributes_of
from dmlcheck.formats.onnx.from_onnx.families import experimental
from dmlcheck.formats.onnx.from_onnx.node import Counterpart, Node, Refused, UnknownValues
from dmlcheck.formats.onnx.from_onnx.padded import padded
from dmlcheck.formats.onnx.from_onnx.provider.mapping import counterparts
from dmlcheck.formats.onnx.from_onnx.provider.registrations import (
    Typed,
    is_registered,
    is_taken_by_cpu,
    left_to_others,
    row_of,
)
from dmlcheck.formats.onnx.inlined_functions import inlined
from dmlcheck.formats.onnx.model_file import Model, graphs_of
from dmlcheck.formats.onnx.model_values import CONSTANT, GIVEN, HOST, Value, computed, initial, of_numbers, parts_of
from dmlcheck.formats.onnx.own_shapes import own_types
from dmlcheck.formats.onnx.placement import origin_of_outputs, placed

_EMPTY = "there is nothing to compute: a tensor has no elements"
_OF_SEQUENCE = "ConcatFromSequence"
_PLACED = {
    CONSTANT: "ONNX Runtime computes it when it loads the model: all its inputs are constant",
    HOST: "ONNX Runtime keeps it on the CPU: it only computes sizes",
}
_SIZED_BY_INPUTS = ("Flatten", "NonZero", "Reshape", "Squeeze", "Unsqueeze")  # whose descs have no sizes of outputs
# Whose descs leave out inputs that have no elements.
_WITHOUT_EMPTY = ("Concat", "Scatter", "ScatterElements", "com.microsoft.MultiHeadAttention")
Scope = MutableMapping[str, Value]
_Made = TypeVar("_Made")


class Unusable(NamedTuple):
    """Why there is no desc of a node: the rule of the note, or of the error, and the words."""

    rule: str
    reason: str


class ModelNode(NamedTuple):
    """A node: its name, or that of its first output, its operator with the version, and what becomes of it."""

    name: str
    operator: str
    found: Sequence[Counterpart] | Unusable


class _Graph(NamedTuple):
    """What holds for all nodes of a graph: the versions of domains, the declared types, what its names begin with.

    `used` are the values that nodes read, or that the graph gives; `is_static` says that no size has a name.
    """

    opsets: Mapping[str, int]
    declared: Mapping[str, Any]
    ir_version: int
    used: frozenset[str] = frozenset()
    is_static: bool = False
    prefix: str = ""


def nodes_of(model: Model) -> Iterator[ModelNode]:
    """Yield the nodes of a model, those of inner graphs after the node that has them."""
    proto = model.proto
    opsets = {entry.domain: int(entry.version) for entry in proto.opset_import}
    graph = proto.graph
    if any(attribute.HasField("g") for node in graph.node for attribute in node.attribute):
        graph = _inferred(proto)
    used = frozenset(name for inner in graphs_of(graph) for name in _read_in(inner))
    yield from _walk(graph, _Graph(opsets, {}, proto.ir_version, used, not model.symbols), ChainMap(), model.weights)


def _read_in(graph: Any) -> Iterator[str]:
    yield from (value.name for value in graph.output)
    yield from (name for node in graph.node for name in node.input)


def _inferred(proto: Any) -> Any:
    """Return the graph with types that onnx infers: of inner graphs, whose inputs have them from outside."""
    from onnx import shape_inference

    try:
        return shape_inference.infer_shapes(proto, data_prop=True).graph
    except (shape_inference.InferenceError, ValueError, RuntimeError):  # the walk finds the node
        return proto.graph


def _walk(graph: Any, of: _Graph, outer: ChainMap[str, Value], weights: frozenset[str]) -> Iterator[ModelNode]:
    declared = {value.name: value.type for value in (*graph.value_info, *graph.output)}
    scope = outer.new_child({"": Value(None)})
    scope.update((value.name, Value(value.type, None, GIVEN)) for value in graph.input)
    scope.update((name, Value(declared[name], None, CONSTANT)) for name in declared.keys() & weights)
    scope.update((tensor.name, initial(tensor)) for tensor in graph.initializer)
    of = of._replace(declared=declared)
    for node, found in _visits(graph.node, of, scope):
        yield found
        name = f"{of.prefix}{_name(node)}/"
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _walk(attribute.g, of._replace(prefix=f"{name}{attribute.name}/"), scope, weights)


def _name(node: Any) -> str:
    return str(node.name or next(filter(None, node.output), node.op_type))


def _constant(node: Any) -> Value | None:
    """Return the value of a Constant, None of other nodes and of one that is wrong."""
    if node.op_type != "Constant" or node.domain or not node.output:
        return None
    try:
        given = tensor_of(node)
        return Value(None, None, CONSTANT) if given is None else initial(given)
    except (AttributeError, TypeError, ValueError):  # attributes of wrong types, which onnx tells
        return None


# ---- a node


def _visits(nodes: Iterable[Any], of: _Graph, scope: Scope) -> Iterator[tuple[Any, ModelNode]]:
    """Yield each node with what becomes of it; a constant gives the scope its value only."""
    for node in nodes:
        value = _constant(node)
        if value is None:
            yield node, _visited(node, of, scope)
        else:
            scope[node.output[0]] = value


def _visited(node: Any, of: _Graph, scope: Scope) -> ModelNode:
    """Return what becomes of a node, and give the scope its outputs."""
    name = of.prefix + _name(node)
    version = _version(node, of.opsets)
    operator = f"{_type(node)}-{version}"
    try:
        inputs, outputs = _values(node, of, scope)
    except Refused as wrong:
        scope.update((output, Value(of.declared.get(output))) for output in node.output)
        return ModelNode(name, operator, Unusable("onnx-syntax", str(wrong)))
    row = row_of(_type(node), version)
    place = placed(node, inputs, row.on_cpu if row else ())
    found = _found(node, version, of, inputs, outputs, place)
    if row is None:
        inside = ChainMap({}, scope)
        found = _of_function(node, of, inputs, inside) or found
        outputs = [
            value if value.is_sized else inside.get(name, value)
            for name, value in zip(node.output, outputs, strict=True)
        ]
    is_taken = not isinstance(found, Unusable) or found.rule != "runs-elsewhere"
    origin = origin_of_outputs(node, inputs, place, is_taken=is_taken, is_static=of.is_static)
    scope.update((name, value._replace(origin=origin)) for name, value in zip(node.output, outputs, strict=True))
    return ModelNode(name, operator, found)


def _values(node: Any, of: _Graph, scope: Scope) -> tuple[list[Value], list[Value]]:
    """Return the inputs and the outputs of a node; Refused where it is wrong."""
    broken = _broken(node, of, scope)
    if broken is not None:
        raise Refused(broken)
    inputs = [scope[input] for input in node.input]
    return inputs, _outputs(node, of, inputs)


def _type(node: Any) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain else str(node.op_type)


@cache
def _schema(type: str, opset: int) -> Any:
    """Return the schema of one of ONNX's own operators in an opset, or None."""
    from onnx import defs

    try:
        return defs.get_schema(type, opset)
    except defs.SchemaError:
        return None


def _version(node: Any, opsets: Mapping[str, int]) -> int:
    opset = opsets.get(node.domain, 1)
    schema = None if node.domain else _schema(node.op_type, opset)
    if schema is None:
        is_gone = node.op_type in experimental.OPERATORS and not node.domain and opset > experimental.LAST_OPSET
        return 1 if is_registered(_type(node)) and not is_gone else opset  # onnxruntime's own are of version 1
    return int(schema.since_version)


def _broken(node: Any, of: _Graph, scope: Scope) -> str | None:
    """Return what is wrong with a node itself, or None."""
    from onnx import checker

    missing = next((name for name in node.input if name not in scope), None)
    if missing is not None:
        return f"it reads {missing!r}, which is no input and no initializer, and no node before it makes it"
    twice = next((name for name in node.output if name and name in scope), None)
    if twice is not None:
        return f"it makes {twice!r}, and another value has that name"
    if node.domain or (_schema(node.op_type, of.opsets.get("", 1)) is None and is_registered(node.op_type)):
        return None  # onnx knows nothing of onnxruntime's own
    if any(attribute.HasField("g") for attribute in node.attribute):
        return None
    context = checker.C.CheckerContext()
    try:
        context.ir_version, context.opset_imports = of.ir_version, dict(of.opsets)
        checker.check_node(node, context)
    except (checker.ValidationError, ValueError, RuntimeError, TypeError) as error:
        return first_line(error)
    return None


def _outputs(node: Any, of: _Graph, inputs: Sequence[Value]) -> list[Value]:
    """Return the outputs of a node, their numbers where they are few and known; Refused where onnx finds it wrong."""
    types = _inferred_types(node, of, inputs)
    parts = None if node.domain else parts_of(node, inputs)
    outputs = [Value(_merged(types.get(name), of.declared.get(name)), parts=parts) for name in node.output]
    numbers = computed(node, [value for value in inputs if value.type is not None], outputs, of.opsets)
    return [of_numbers(values) for values in numbers] if len(numbers) == len(outputs) else outputs


def _tensors(node: Any, inputs: Sequence[Value]) -> list[Value | None]:
    """Return the inputs of a node, None for those left out; of ConcatFromSequence the tensors of the sequence."""
    if node.op_type == _OF_SEQUENCE and inputs and inputs[0].parts is not None:
        return list(inputs[0].parts)
    return [value if name else None for value, name in zip(inputs, node.input, strict=True)]


def _inferred_types(node: Any, of: _Graph, inputs: Sequence[Value]) -> Mapping[str, Any]:
    from onnx import checker, helper, numpy_helper, shape_inference

    opset = of.opsets.get("", 1)
    schema = None if node.domain else _schema(node.op_type, opset)
    if schema is None or node.op_type == _OF_SEQUENCE:
        return own_types(_type(node), node, _tensors(node, inputs), opset)
    named = dict(zip(node.input, inputs, strict=True))
    types = {name: value.type for name, value in named.items() if value.type is not None}
    is_open = any(name and name not in types for name in node.input)
    if is_open or any(attribute.HasField("g") for attribute in node.attribute):
        return {}
    data = {name: numpy_helper.from_array(value.numbers) for name, value in named.items() if value.numbers is not None}
    opsets = [helper.make_opsetid(domain, version) for domain, version in of.opsets.items()]
    try:
        inferred: Mapping[str, Any] = shape_inference.infer_node_outputs(
            schema, node, types, data, opset_imports=opsets, ir_version=of.ir_version
        )
    except (shape_inference.InferenceError, checker.ValidationError, ValueError, RuntimeError, KeyError) as error:
        raise Refused(first_line(error)) from None
    return inferred


def _merged(inferred: Any, declared: Any) -> Any:
    """Return the type of an output: what is inferred of it, and what is declared where less is inferred."""
    if inferred is None or declared is None:
        return declared if inferred is None else inferred
    return inferred if Value(inferred).is_sized or not Value(declared).is_sized else declared


# ---- what becomes of it


def _found(
    node: Any, version: int, of: _Graph, inputs: Sequence[Value], outputs: Sequence[Value], place: str
) -> Sequence[Counterpart] | Unusable:
    """Return the descs of a node that nothing is wrong with, or why it has none."""
    made = _node(node, of, inputs, outputs)
    typed = _typed(node, version, of, inputs, outputs)
    reason = _PLACED.get(place) or _mapped(made, lambda one: left_to_others(one, version, typed))
    if isinstance(reason, Unusable):
        return reason
    if reason is not None:
        return Unusable("runs-elsewhere", reason)
    read, given = (
        [(name, value) for name, value in zip(names, values, strict=True) if name and name in of.used]
        for names, values in ((node.input, inputs), (node.output, outputs))
    )
    needed = read if made.type in _SIZED_BY_INPUTS else [*read, *given]
    left_open = next(filter(None, (_left_open(name, value) for name, value in needed)), None)
    if left_open is not None:
        return Unusable("unknown-sizes", left_open)
    full = given if made.type in _WITHOUT_EMPTY else [*read, *given]
    if any(0 in (value.sizes or ()) for _, value in full):
        return Unusable("runs-elsewhere", _EMPTY)
    return _mapped(made, lambda one: tuple(map(padded, counterparts(one))))


def _of_function(
    node: Any, of: _Graph, inputs: Sequence[Value], scope: Scope
) -> Sequence[Counterpart] | Unusable | None:
    """Return the descs of the nodes that ONNX Runtime puts in the place of one that it has no kernel for, or None.

    The scope is given their values.
    """
    opset = of.opsets.get("", 1)
    schema = None if node.domain else _schema(node.op_type, opset)
    if schema is None or (inputs and is_taken_by_cpu(node.op_type, inputs[0].element)):
        return None
    parts = inlined(node, schema, opset, [value.type for value in inputs], f"{_name(node)}/")
    used = frozenset(name for part in parts for name in (*part.input, *part.output))
    made: list[Counterpart] = []
    for _, one in _visits(parts, of._replace(declared={}, used=used), scope):
        if not isinstance(one.found, Unusable):
            made += one.found
        elif one.found.rule == "unknown-sizes":
            return one.found
        elif one.found.rule != "runs-elsewhere":
            return Unusable("not-mapped", f"of {one.operator}, which comes in its place: {one.found.reason}")
    return made or None


def _typed(node: Any, version: int, of: _Graph, inputs: Sequence[Value], outputs: Sequence[Value]) -> list[Typed]:
    """Return the values of a node with the type parameters that they are of."""
    schema = None if node.domain else _schema(node.op_type, of.opsets.get("", 1))
    taken, given = _parameters(_type(node), version) if schema is None else (schema.inputs, schema.outputs)
    typed = []
    for kind, values, names, parameters in (
        ("input", inputs, node.input, taken), ("output", outputs, node.output, given)
    ):  # fmt: skip
        for index, (value, name) in enumerate(zip(values, names, strict=True)):
            parameter = parameters[min(index, len(parameters) - 1)]
            if name and value.element:
                typed.append(Typed(parameter.type_str, value.element, f"{kind} {parameter.name or index}"))
    return typed


class _Parameter(NamedTuple):
    """What stands in for a parameter of a schema: its type parameter; it has no name."""

    type_str: str
    name: str = ""


def _parameters(operator: str, version: int) -> tuple[list[_Parameter], list[_Parameter]]:
    row = row_of(operator, version)
    inputs, outputs = (("",), ("",)) if row is None else (row.inputs, row.outputs)
    return [_Parameter(name) for name in inputs], [_Parameter(name) for name in outputs]


def _left_open(name: str, value: Value) -> str | None:
    """Return what is not known of a value's sizes, or None."""
    if value.parts is not None:
        return next(filter(None, (_left_open(f"a tensor of {name}", part) for part in value.parts)), None)
    if value.is_sized:
        return None
    if value.sizes is None:
        return f"the sizes of {name} are not known"
    if all(isinstance(size, int) for size in value.sizes):
        number = counted(prod(map(int, value.sizes)), "element")
        return f"{name} has {dimensions_text(len(value.sizes))} and {number}, more than a tensor can have"
    shown = ", ".join(str(size) if size != "" else "?" for size in value.sizes)
    return f"the sizes of {name} are [{shown}]"


def _node(node: Any, of: _Graph, inputs: Sequence[Value], outputs: Sequence[Value]) -> Node:
    def array(value: Value | None) -> Any:
        return value.array() if value is not None and value.is_sized and value.element in KNOWN else None

    taken = _tensors(node, inputs)
    unknown = frozenset(index for index, value in enumerate(taken) if value is not None and value.numbers is None)
    opset = of.opsets.get("", 1)
    made = [value if name else None for name, value in zip(node.output, outputs, strict=True)]
    given = tuple(map(array, taken)), tuple(map(array, made))
    untyped = frozenset(index for index, name in enumerate(node.output) if name and given[1][index] is None)
    return Node(_type(node), opset, attributes_of(node, opset), *given, unknown, has_outputs=False, untyped=untyped)


def _mapped(node: Node, make: Callable[[Node], _Made]) -> _Made | Unusable:
    """Return what is made of a node, or why nothing is: its attributes and inputs are not what they should be."""
    try:
        return make(node)
    except UnknownValues as reason:
        return Unusable("unknown-sizes", str(reason))
    except Refused as reason:
        return Unusable("not-mapped", str(reason))
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        return Unusable("not-mapped", f"{node.type} does not go with its inputs: {first_line(error)}")
