"""The conditions of a spec in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dmlcheck.specs.records import Constraint, Deviation


def condition_text(condition: Mapping[str, tuple[Any, ...]]) -> str:
    """Return a condition in words: `Function is ARGMIN or ARGMAX`."""
    return " and ".join(f"{field} is {' or '.join(map(_word, values))}" for field, values in condition.items())


def deviation_text(row: Deviation) -> str:
    """Return in words the descs that a deviation is about; an expression stays as it is."""
    parts = [condition_text(row.when)] if row.when else []
    if row.strided:
        parts.append(f"{' or '.join(row.strided)} has strides")
    if row.where is not None:
        parts.append(row.where)
    if row.values is not None:
        parts.append(f"elements where {row.values}")
    if row.is_of_graphs:
        parts.append("in a compiled graph")
    return ", and ".join(parts)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def constraint_text(row: Constraint) -> str:
    """Return the text of a constraint, with its conditions."""
    parts = []
    if row.when:
        parts.append(f"when {condition_text(row.when)}")
    if row.unless:
        parts.append(f"unless {condition_text(row.unless)}")
    if row.present:
        parts.append(f"with {' and '.join(row.present)}")
    if row.absent:
        parts.append(f"without {' and '.join(row.absent)}")
    if row.since:
        parts.append(f"from {row.since}")
    if row.until:
        parts.append(f"before {row.until}")
    return f"{row.text} ({', '.join(parts)})" if parts else row.text
