"""Operators made for tests: one with a field of every type, and others to stand inside it.

A module that uses them asks for the fixture `made_operators`, which puts their specs beside the shipped ones.
"""

from __future__ import annotations

from typing import Any

from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.specs.load import _constraint

FIELDS = {
    "A": {"kind": "input_tensor"},
    "B": {"kind": "input_tensor", "optional": True},
    "Parts": {"kind": "input_tensor", "type": "TENSOR_DESC_ARRAY", "optional": True},
    "Out": {"kind": "output_tensor", "optional": True},
    "Count": {"type": "UINT", "counts": ["Windows", "Strides"]},
    "Windows": {"type": "UINT_ARRAY", "optional": True},
    "Strides": {"type": "INT_ARRAY", "optional": True},
    "Axis": {"type": "UINT", "optional": True},
    "Mode": {"type": "UINT", "enum": "DML_PADDING_MODE", "optional": True},
    "Kind": {"type": "UINT", "enum": "DML_TENSOR_DATA_TYPE", "optional": True},
    "Flag": {"type": "UINT", "boolean": True, "optional": True},
    "Alpha": {"type": "FLOAT", "optional": True},
    "Scale": {"type": "SIZE_2D", "optional": True},
    "ScaleBias": {"type": "SCALE_BIAS", "optional": True},
    "Value": {"type": "SCALAR_UNION", "data_type": "Kind", "optional": True},
    "Fused": {"type": "OPERATOR_DESC", "optional": True},
    "Many": {"type": "OPERATOR_DESC_ARRAY", "optional": True},
}
OPERATOR = "DML_OPERATOR_MADE_FOR_TESTS"
NESTED = "DML_OPERATOR_NESTED_FOR_TESTS"
LATER = "DML_OPERATOR_LATER_FOR_TESTS"
OF_VALUES = "DML_OPERATOR_OF_VALUES_FOR_TESTS"


def _spec(
    name: str, fields: dict[str, Any], constraints: list[dict[str, Any]], introduced: str = "1_0"
) -> dict[str, Any]:
    """Return a spec as its YAML file has it."""
    types = ["FLOAT32", "FLOAT16", "INT64", "UINT8"]
    tensors = {key: {"dims": "1..8", "types": types} for key, field in fields.items() if "kind" in field}
    return {
        "operator": name,
        "number": 178,
        "introduced": introduced,
        "in_place": False,
        "kernel": "unary",
        "page": {"folder": "", "file": "", "date": ""},
        "fields": fields,
        "support": [{"levels": {introduced: tensors}}],
        "let": {"half": "A.Sizes[0] // 2", "quarter": "half // 2"},
        "constraints": constraints,
    }


_X = {"InputTensor": {"kind": "input_tensor"}, "Steepness": {"type": "FLOAT"}}
_PAIR = {"A": {"kind": "input_tensor"}, "B": {"kind": "input_tensor"}, "Out": {"kind": "output_tensor"}}
_STEEP = {"id": "C1", "text": "Steepness is at least 1.", "at_least": {"Steepness": 1}, "until": "6_4"}
_NOT_ZERO = {"id": "C1", "text": "No element of B is 0.", "elements_not_zero": ["B"], "help": "write 1"}
SPECS = [
    _spec(OPERATOR, FIELDS, []),
    _spec(NESTED, _X, [_STEEP]),
    _spec(LATER, _X, [], introduced="5_1"),
    _spec(OF_VALUES, _PAIR, [_NOT_ZERO]),
]


def tensor(*sizes: int, data_type: str = "FLOAT32", **more: Any) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes), **more}


def read(**fields: Any) -> tuple[OperatorDesc, list[Finding]]:
    """Return a desc of the operator, whose tensor A is 4 by 6, and what is wrong with its fields."""
    found = read_desc(OPERATOR, {"A": tensor(4, 6), **fields})
    assert found.desc is not None
    return found.desc, list(found.findings)


def desc(**fields: Any) -> OperatorDesc:
    """Return a desc of the operator that nothing is wrong with."""
    subject, findings = read(**fields)
    assert findings == []
    return subject


def with_rows(*rows: dict[str, Any], **fields: Any) -> Reading:
    """Return a desc as it would be read if the operator had these constraints."""
    subject, findings = read(**fields)
    spec = subject.spec._replace(constraints=tuple(map(_constraint, rows)))
    return Reading(subject._replace(spec=spec), tuple(findings))
