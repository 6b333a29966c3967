"""An operator of DirectML with all its values as a case to write."""

from __future__ import annotations

from typing import Any

from dmlcheck import validation
from dmlcheck.cases.prepare import value_findings
from dmlcheck.folders.case_file import Written
from dmlcheck.onnx.descs.graph import fields_of, known_values
from dmlcheck.onnx.descs.node import Counterpart, Unmapped
from dmlcheck.specs.names import NEWEST_LEVEL


def case_of(found: Counterpart, **more: Any) -> Written:
    """Return an operator and its fields as a case without a name; Unmapped where the operator does not take them."""
    fields, values = fields_of(found.fields), known_values(found.fields)
    desc, findings = validation.validate(found.operator, fields, NEWEST_LEVEL)
    if desc is None or findings:
        reasons = "; ".join(dict.fromkeys(finding.message for finding in findings))
        raise Unmapped(f"DML_OPERATOR_{found.operator} does not take it: {reasons}")
    inputs = {field.name: values[field.name] for field in desc.spec.inputs if field.name in values}
    compared = values.keys() - found.uncompared
    outputs = {field.name: values[field.name] for field in desc.spec.outputs if field.name in compared}
    wrong = value_findings(desc, inputs, NEWEST_LEVEL)
    if wrong:
        raise Unmapped(f"DML_OPERATOR_{found.operator} does not take it: {wrong[0].message}")
    return Written("", desc, inputs, outputs, {**more, "note": found.note})
