"""What the schemas of the package onnx say of ONNX's own operators."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def schema_of(type: str, opset: int) -> Any:
    """Return the schema of one of ONNX's own operators in an opset, or None."""
    from onnx import defs

    try:
        return defs.get_schema(type, opset)
    except defs.SchemaError:
        return None


def defaults_of(schema: Any) -> dict[str, Any]:
    """Return the attributes that have a default, by their names, each as an onnx.AttributeProto."""
    return {name: each.default_value for name, each in schema.attributes.items() if each.default_value.type}
