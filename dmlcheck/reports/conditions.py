"""The conditions of a spec in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dmlcheck.diagnostics.wording import dimension_counts_text, plural
from dmlcheck.specs.names import LEVEL_PREFIX
from dmlcheck.specs.records import Constraint, Deviation, TakenValues


def condition_text(condition: Mapping[str, tuple[Any, ...]]) -> str:
    """Return a condition in words: `Function is ARGMIN or ARGMAX`."""
    return " and ".join(f"{field} is {' or '.join(map(_word, values))}" for field, values in condition.items())


def deviation_text(row: Deviation) -> str:
    """Return in words the descs that a deviation is about; an expression stays as it is."""
    parts = [condition_text(row.when)] if row.when else []
    if row.absent:
        parts.append(f"without {' and '.join(row.absent)}")
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


def _is_said(text: str, values: tuple[Any, ...]) -> bool:
    """Whether a text has all values of a condition in its own words: `in a forward convolution` for FORWARD."""
    said = text.casefold()
    return all(re.search(rf"\b{re.escape(_word(value).casefold())}\b", said) is not None for value in values)


def constraint_text(row: Constraint) -> str:
    """Return the text of a constraint, with the conditions that it does not say itself."""
    parts = []
    when = {field: values for field, values in (row.when or {}).items() if not _is_said(row.text, values)}
    if when:
        parts.append(f"when {condition_text(when)}")
    if row.unless:
        parts.append(f"unless {condition_text(row.unless)}")
    if row.present:
        parts.append(f"with {' and '.join(row.present)}")
    if row.absent:
        parts.append(f"without {' and '.join(row.absent)}")
    if row.since and not _is_said(row.text, (f"from {LEVEL_PREFIX}{row.since}",)):
        parts.append(f"from {row.since}")
    if row.until and not _is_said(row.text, (f"before {LEVEL_PREFIX}{row.until}",)):
        parts.append(f"before {row.until}")
    untold = [part for part in parts if part.casefold() not in row.text.casefold()]
    return f"{row.text} ({', '.join(untold)})" if untold else row.text


def taken_text(row: Constraint) -> str:
    """Return in words which releases take a desc that breaks a constraint, "" for none."""
    if row.taken:
        return f"{row.taken.accept} a desc that breaks it"
    return f"{row.taken_inside.accept} an operator that breaks it inside another one" if row.taken_inside else ""


def taken_values_text(row: TakenValues) -> str:
    """Return the values that releases take beyond the tables: `ATensor: INT8 UINT8; FusedActivation: SWISH`."""
    parts = [" ".join(row.types)] if row.types else []
    if row.dims:
        parts.append(f"{dimension_counts_text(row.dims)} {plural(max(row.dims), 'dimension')}")
    tensors = [f"{', '.join(row.tensors)}: {'; '.join(parts)}"] if row.tensors else []
    return "; ".join([*tensors, *(f"{field}: {' '.join(names)}" for field, names in row.operators.items())])
