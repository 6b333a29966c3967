"""Operators that ONNX defines by a function: the nodes that replace one.

ONNX Runtime inlines a node that no provider takes: InlineFunctionsAOTImpl in its core/framework/graph_partitioner.cc.
The functions here are those of the package onnx.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dmlcheck.onnx.schemas import defaults_of


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
