"""The schemas of ONNX's own operators, from the package onnx."""

from __future__ import annotations

from functools import cache
from typing import Any

MISJUDGED = ("STFT",)  # operators whose sizes the package infers otherwise than its own tests have them


@cache
def schema_of(type: str, opset: int, domain: str = "") -> Any:
    """Return the schema of one of ONNX's own operators in an opset of a domain, or None."""
    from onnx import defs

    try:
        return defs.get_schema(type, opset, domain)
    except defs.SchemaError:
        return None


@cache
def versions_of_operators() -> dict[str, set[int]]:
    """Return the versions of all operators of ONNX's own domain."""
    from onnx import defs

    versions: dict[str, set[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if not schema.domain:
            versions.setdefault(schema.name, set()).add(schema.since_version)
    return versions


def defaults_of(schema: Any) -> dict[str, Any]:
    """Return the attributes that have a default, by their names, each as an onnx.AttributeProto."""
    return {name: each.default_value for name, each in schema.attributes.items() if each.default_value.type}
