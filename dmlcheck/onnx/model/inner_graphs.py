"""Graphs inside nodes: the types at the edges of those of If, Loop and Scan, and the functions that define operators.

Needs the package onnx.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, axis_of
from dmlcheck.onnx.model.file import MOST_VALUES
from dmlcheck.onnx.model.inference import Context, Scope, schema_of_node, type_of, values_of
from dmlcheck.onnx.model.values import Value, initial
from dmlcheck.onnx.reading import attributes_of, defaults_of, tensor_of

Size = int | str
_INT64, _BOOL = 7, 9
_WRONG = (LookupError, TypeError, ValueError, Unmapped)  # of a node: the visit of the node reports them


def types_given(node: Any, inputs: Sequence[Value], opset: int) -> list[Any]:
    """Return the types that a node gives to the inputs of its graph, None where they do not follow."""
    if node.domain:
        return []
    if node.op_type == "Loop":
        return [_type(_INT64, ()), _type(_BOOL, ()), *map(_unsized, inputs[2:])]
    if node.op_type != "Scan" or opset < 9:  # Scan-8 has batches
        return []
    try:
        states, axes = _scanned(node, len(inputs), opset)
        scanned = [_without(value, axis) for value, axis in zip(inputs[states:], axes, strict=True)]
    except _WRONG:
        return []
    return [*(value.type for value in inputs[:states]), *scanned]


def types_taken(node: Any, inputs: Sequence[Value], outputs: Sequence[Sequence[Value]], opset: int) -> list[Any]:
    """Return the types of a node's outputs by the outputs of its graphs, None where they do not follow."""
    if node.domain or not outputs:
        return []
    if node.op_type == "If":
        return [_common(values) for values in zip(*outputs, strict=False)]
    if node.op_type == "Scan" and opset >= 9:
        return _after_scan(node, inputs, outputs[0], opset)
    if node.op_type != "Loop":
        return []
    states, made = inputs[2:], outputs[0][1:]
    after = [_common(values) for values in zip(states, made, strict=False)]  # none where it does not turn
    return [*after, *(_with(value, 0, "") for value in made[len(states) :])]


def _after_scan(node: Any, inputs: Sequence[Value], made: Sequence[Value], opset: int) -> list[Any]:
    """Return the types of states, and of the outputs of all steps side by side along an axis."""
    try:
        states, axes = _scanned(node, len(inputs), opset)
        scanned = inputs[states].sizes
        length = "" if scanned is None else scanned[axis_of(axes[0], len(scanned))]
        stacked = made[states:]
        along = attributes_of(node, opset).get("scan_output_axes") or [0] * len(stacked)
        steps = [_with(value, axis, length) for value, axis in zip(stacked, along, strict=True)]
    except _WRONG:
        return []
    return [*(_common(pair) for pair in zip(inputs[:states], made, strict=False)), *steps]


def _scanned(node: Any, count: int, opset: int) -> tuple[int, list[int]]:
    """Return how many inputs of a Scan are states, and the axis along which each of the others is scanned."""
    attributes = attributes_of(node, opset)
    number = attributes["num_scan_inputs"]
    if not 0 < number <= count:
        raise ValueError(number)
    return count - number, attributes.get("scan_input_axes") or [0] * number


def _without(value: Value, axis: int) -> Any:
    if value.sizes is None:
        return _type(_kind(value), None)
    sizes = list(value.sizes)
    del sizes[axis_of(axis, len(sizes))]
    return _type(_kind(value), sizes)


def _with(value: Value, axis: int, size: Size) -> Any:
    """Return the type of a value with one more dimension."""
    if value.sizes is None:
        return _type(_kind(value), None)
    sizes = list(value.sizes)
    sizes.insert(axis_of(axis, len(sizes) + 1), size)
    return _type(_kind(value), sizes)


def _unsized(value: Value) -> Any:
    """Return the type of a value without its sizes; a sequence has those of none of its tensors."""
    from onnx import helper

    if value.type is None or not value.type.HasField("sequence_type"):
        return _type(_kind(value), None)
    part = Value(value.type.sequence_type.elem_type)
    return helper.make_sequence_type_proto(_unsized(part)) if part.element else None


def _common(values: Sequence[Value]) -> Any:
    """Return the type that includes several: with the sizes that all have."""
    first = values[0]
    whole = [_unsized(value) for value in values]
    if whole[0] is not None and whole[0].HasField("sequence_type"):
        return whole[0] if all(each == whole[0] for each in whole) else None
    if any(value.element != first.element for value in values) or not first.element:
        return None
    every = [value.sizes for value in values]
    if any(sizes is None or len(sizes) != len(every[0] or ()) for sizes in every):
        return _type(_kind(first), None)
    sizes = [same[0] if len(set(same)) == 1 else "" for same in zip(*(sizes or () for sizes in every), strict=True)]
    return _type(_kind(first), sizes)


def _kind(value: Value) -> int:
    """Return the number of the type of a value's elements, 0 if that is not known."""
    return int(value.type.tensor_type.elem_type) if value.element else 0


def _type(kind: int, sizes: Sequence[Size] | None) -> Any:
    """Return a type of tensors, None if the type of the elements is not known."""
    from onnx import helper

    if not kind:
        return None
    return helper.make_tensor_type_proto(
        kind, None if sizes is None else [None if size == "" else size for size in sizes]
    )


# ---- operators that ONNX defines by a function: the nodes that replace one
#
# ONNX Runtime inlines a node that no provider takes: InlineFunctionsAOTImpl in its core/framework/graph_partitioner.cc.
# The functions here come from the package onnx.


def inlined(node: Any, schema: Any, opset: int, types: Sequence[Any], prefix: str) -> list[Any]:
    """Return the nodes of the function that defines a node's operator, [] if there is none, or one with inner graphs.

    They have the node's inputs, outputs and attributes; the names of values inside begin with a prefix. `types` are the
    types of the inputs.
    """
    function = _function(node, schema, opset, types)
    if function is None or any(attribute.HasField("g") for part in function.node for attribute in part.attribute):
        return []
    names = dict.fromkeys(("", *function.input), "")
    names.update((*zip(function.input, node.input, strict=False), *zip(function.output, node.output, strict=False)))
    given = {**defaults_of(schema), **{attribute.name: attribute for attribute in node.attribute}}
    for part in function.node:
        for field in (part.input, part.output):
            field[:] = [names.get(name, prefix + name) for name in field]
        attributes = list(_attributes(part, given))
        del part.attribute[:]
        part.attribute.extend(attributes)
    return list(function.node)


def _function(node: Any, schema: Any, opset: int, types: Sequence[Any]) -> Any:
    """Return the newest function for an opset, or None; some depend on attributes and on types."""
    from onnx import FunctionProto

    plain = [version for version in schema.function_opset_versions if version <= opset]
    if plain:
        return FunctionProto.FromString(schema.get_function_with_opset_version(max(plain)))
    made = [version for version in schema.context_dependent_function_opset_versions if version <= opset]
    if not made or any(each is None for each in types):
        return None
    context = node.SerializeToString(), [each.SerializeToString() for each in types]
    try:
        text = schema.get_context_dependent_function_with_opset_version(max(made), *context)
    except (ValueError, RuntimeError):  # the types do not go with the operator
        return None
    return FunctionProto.FromString(text) if text else None


def _attributes(part: Any, given: dict[str, Any]) -> Iterator[Any]:
    """Yield the attributes of a node in a function, with values for references to the function's own."""
    from onnx import AttributeProto

    for attribute in part.attribute:
        if not attribute.ref_attr_name:
            yield attribute
        elif attribute.ref_attr_name in given:
            own = AttributeProto()
            own.CopyFrom(given[attribute.ref_attr_name])
            own.name = attribute.name
            yield own


# ---- an operator that ONNX defines by a function, as the steps of the function's nodes

# Needs the package onnx.


_IR = 10  # the version of ONNX's format in which the function's nodes are looked at
_INSIDE = "function/"  # the prefix of the names of values in the function

Mapping = Callable[[OnnxNode], Sequence[Counterpart]]


def steps_of_function(node: Any, one: OnnxNode, mapped: Mapping) -> list[Counterpart]:
    """Return the steps of the nodes by which ONNX defines the operator of an onnx.NodeProto.

    `one` is the node with its tensors, `mapped` makes steps of a node. Unmapped where ONNX has no such nodes, or one of
    them has no steps.
    """
    given = [Value(None) if x is None else _value(x) for x in one.inputs]
    tensors = dict(zip((*node.input, *node.output), (*one.inputs, *one.outputs), strict=True))
    return _walk(node, Context({"": one.opset}, {}, _IR, prefix=_INSIDE), given, tensors, mapped)


def _walk(
    node: Any, of: Context, given: Sequence[Value], tensors: dict[str, TensorRef | None], mapped: Mapping
) -> list[Counterpart]:
    """Return the steps of the nodes of a function, which may be functions themselves; `tensors` are put to."""
    schema, types = schema_of_node(node, of.opsets), [value.type for value in given]
    parts = [] if schema is None else inlined(node, schema, of.opsets[""], types, of.prefix)
    if not parts:
        raise Unmapped(f"ONNX defines {type_of(node)} by no other operators")
    scope: Scope = {"": Value(None), **dict(zip(node.input, given, strict=True))}
    inside = of._replace(prefix=of.prefix + _INSIDE)
    return [step for part in parts for step in _steps(part, inside, scope, tensors, mapped)]


def _value(x: TensorRef) -> Value:
    """Return an input: sizes may follow from whole numbers; floats have errors, and go through the steps."""
    from onnx import helper

    values: Array | None = x.values
    if values is None:
        raise Unmapped("an input of the node is not known")
    form = helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(values.dtype), values.shape)
    return Value(form, values if values.dtype.kind in "biu" and values.size <= MOST_VALUES else None)


def _steps(
    part: Any, of: Context, scope: Scope, tensors: dict[str, TensorRef | None], mapped: Mapping
) -> Sequence[Counterpart]:
    """Return the steps of a node of a function, [] if its outputs are known; its outputs are added to the others."""
    if part.op_type == "Constant":
        scope[part.output[0]] = initial(tensor_of(part))
        tensors[part.output[0]] = scope[part.output[0]].tensor()
        return []
    inputs, outputs = values_of(part, of, scope)
    scope.update(zip(part.output, outputs, strict=True))
    for name, value in zip(part.output, outputs, strict=True):
        if name and tensors.get(name) is None:
            tensors[name] = value.tensor()
    own = [tensors.get(name) if name else None for name in part.output]
    if all(x is not None and x.values is not None for x in own):
        return []
    unknown = next((name for name in (*part.input, *part.output) if name and tensors.get(name) is None), None)
    if unknown is not None:
        raise Unmapped(f"the sizes of {unknown} are not known")
    taken, opset = tuple(tensors[name] if name else None for name in part.input), of.opsets[""]
    try:
        return mapped(OnnxNode(type_of(part), opset, attributes_of(part, opset), taken, tuple(own)))
    except Unmapped as why:
        first = why
    try:
        return _walk(part, of, inputs, tensors, mapped)
    except Unmapped:
        raise first from None
