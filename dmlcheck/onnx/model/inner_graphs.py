"""The types at the edges of inner graphs: the inputs and outputs that an If, a Loop or a Scan exchanges with them.

Needs the package onnx.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dmlcheck.onnx.descs.node import Unmapped, axis_of
from dmlcheck.onnx.model.values import Value
from dmlcheck.onnx.reading import attributes_of

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
