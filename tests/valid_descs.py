"""Descs that tests begin with: valid at the newest feature level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate


def tensor(*sizes: int, data_type: str = "FLOAT32") -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes)}


def valid(operator: str, fields: Mapping[str, Any] = {}, **others: Any) -> OperatorDesc:
    """Return the desc of these fields."""
    desc, findings = validate(operator, {**fields, **others}, NEWEST_LEVEL)
    assert desc is not None, findings
    assert findings == []
    return desc
