"""The attributes of a node of ONNX, with their defaults. Needs the package onnx."""

from __future__ import annotations

from typing import Any

from dmlcheck.graphs.tensors import Array
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.reading import DOMAINS, valueless
from dmlcheck.onnx.schemas import defaults_of, schema_of


def attributes_of(node: Any, opset: int) -> dict[str, Any]:
    """Return the attributes of a node, and the defaults of the others where onnx knows the operator's domain.

    Unmapped where an attribute has no value.
    """
    from onnx import helper

    empty = valueless(node)
    if empty is not None:
        raise Unmapped(empty)
    schema = schema_of(node.op_type, opset) if node.domain in DOMAINS else None
    attributes = {} if schema is None else defaults_of(schema)
    attributes.update((attribute.name, attribute) for attribute in node.attribute if not is_graph(attribute))
    return {name: _plain(helper.get_attribute_value(attribute)) for name, attribute in attributes.items()}


def is_graph(attribute: Any) -> bool:
    """Whether the value of an attribute is a graph, or several."""
    return attribute.HasField("g") or bool(attribute.graphs)


def _plain(value: Any) -> Any:
    from onnx import TensorProto

    if isinstance(value, TensorProto):
        return _numbers(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) or hasattr(value, "extend") else value


def _numbers(tensor: Any) -> Array | None:
    """Return the values of a tensor, or None if the model does not have them all."""
    from onnx import numpy_helper

    try:
        return None if tensor.data_location else numpy_helper.to_array(tensor)
    except (TypeError, ValueError):
        return None
