"""The types that DirectML.h gives the members of an operator's struct."""

from __future__ import annotations

from dmlcheck.specs.records import Field

_TYPES = {
    "TENSOR_DESC": "const DML_TENSOR_DESC*",
    "TENSOR_DESC_ARRAY": "const DML_TENSOR_DESC*",
    "OPERATOR_DESC": "const DML_OPERATOR_DESC*",
    "OPERATOR_DESC_ARRAY": "const DML_OPERATOR_DESC*",
    "SCALE_BIAS": "const DML_SCALE_BIAS*",
    "SCALAR_UNION": "DML_SCALAR_UNION",
    "SIZE_2D": "DML_SIZE_2D",
    "UINT_ARRAY": "const UINT*",
    "INT_ARRAY": "const INT*",
    "FLOAT_ARRAY": "const FLOAT*",
}


def c_type(field: Field) -> str:
    """Return the type of a field in DirectML.h: `const UINT*`, `DML_AXIS_DIRECTION`, `BOOL`."""
    if field.enum is not None:
        return field.enum
    return "BOOL" if field.boolean else _TYPES.get(field.type, field.type)
