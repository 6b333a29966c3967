"""The metadata of a model that dmlcheck writes, from which its case comes back unchanged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.specs.records import Tolerance

PREFIX = "dmlcheck."  # the prefix of the keys in a model's metadata

_KEPT: dict[str, type | tuple[type, ...]] = {
    "case": str,
    "operator": str,
    "desc": dict,
    "feature_level": str,
    "source": str,
    "note": str,
    "tags": list,
    "tolerance": (str, dict),
    "given": list,
}


def add(model: Any, case: Case, desc: OperatorDesc, given: Sequence[str]) -> None:
    """Add to a model the metadata of its case: above all its operator and desc; `given` are its own outputs."""
    kept: dict[str, Any] = {
        "case": case.id,
        "operator": desc.spec.operator,
        "desc": notation(desc),
        "feature_level": case.feature_level,
        "source": case.source,
        "note": case.note,
        "tags": list(case.tags) or None,
        "tolerance": None if case.tolerance is None else tolerance_notation(case.tolerance),
        "given": list(given),
    }
    for key, value in kept.items():
        if value is not None:
            entry = model.metadata_props.add()
            entry.key, entry.value = PREFIX + key, json.dumps(value, sort_keys=True)


def case_metadata(model: Any) -> dict[str, Any]:
    """Return the metadata that an export has added to a model; nothing if it is not in an export's form."""
    kept: dict[str, Any] = {}
    for entry in model.metadata_props:
        if not isinstance(entry.key, str):  # protobuf gives bytes for text that is not UTF-8
            return {}
        key = entry.key.removeprefix(PREFIX)
        if key == entry.key:
            continue
        try:
            kept[key] = json.loads(entry.value)
        except (ValueError, RecursionError):
            return {}
        if not isinstance(kept[key], _KEPT.get(key, ())):
            return {}
    return kept


def tolerance_notation(own: Tolerance) -> Any:
    """Return a case's own tolerance as a case file has it."""
    if own.exact:
        return "exact"
    limits = {"ulp": own.ulp, "absolute": own.absolute, "relative": own.relative, "reason": own.reason or None}
    return {key: value for key, value in limits.items() if value is not None}
