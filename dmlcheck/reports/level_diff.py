"""The additions of a feature level to a lower one, as `diff` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dmlcheck.diagnostics.wording import dimension_counts_text, plural
from dmlcheck.inspection.level_diff import OperatorChange, level_evidence
from dmlcheck.inspection.operator_pages import taken_dict
from dmlcheck.reports.conditions import condition_text, taken_values_text
from dmlcheck.reports.layout import Line, Text
from dmlcheck.specs.names import level_name
from dmlcheck.specs.records import Constraint, TakenValues

DIFF_SCHEMA = "dmlcheck-diff/1"


def diff_lines(changes: list[OperatorChange], low: str, high: str) -> Iterator[Line]:
    """Yield the additions of a level to a lower one, operator by operator."""
    new = [change for change in changes if change.is_new]
    others = [change for change in changes if not change.is_new]
    wider = [change for change in others if change.is_of_level]
    added = f"{len(new)} {plural(len(new), 'new operator')}"
    more = f"{len(wider)} that {'accepts' if len(wider) == 1 else 'accept'} more"
    yield Text("", f"{level_name(low)} to {level_name(high)}: {added}, {more}")
    yield Text("", level_evidence(high))
    if new:
        yield ""
        yield "New operators"
        yield from ("  " + change.operator for change in new)
    for change in others:
        yield ""
        yield change.operator
        yield from (Text("  ", line) for line in change_texts(change))


def change_texts(change: OperatorChange) -> Iterator[str]:
    """Yield the changes of an operator from a lower level: descs that are newly accepted, or no longer accepted."""
    merged: dict[tuple[Any, ...], list[str]] = {}
    for tensor in change.tensors:
        where = f" when {condition_text(tensor.when)}" if tensor.when else ""
        merged.setdefault((where, tensor.types, tensor.dims), []).append(tensor.tensor)
    for (where, types, dims), names in merged.items():
        parts = [" ".join(types)] if types else []
        if dims:
            parts.append(f"{dimension_counts_text(dims)} {plural(max(dims), 'dimension')}")
        yield f"{', '.join(names)}{where}: {'; '.join(parts)}"
    yield from (f"accepted at all: {condition_text(values)}" for values in change.values)
    yield from (f"no longer required: {row.text} ({row.id})" for row in change.lifted)
    yield from (f"required from {row.since}: {row.text} ({row.id})" for row in change.added)
    yield from map(_taken_text, change.taken)


def _taken_text(row: Constraint | TakenValues) -> str:
    """Return a row of values beyond the tables, or of descs that break a constraint, with its releases in words."""
    if isinstance(row, TakenValues):
        return f"{row.releases.accept} beyond the tables: {taken_values_text(row)}"
    return f"{row.taken.accept} a desc that breaks {row.id}: {row.text}" if row.taken else ""


def diff_dict(changes: list[OperatorChange], low: str, high: str) -> dict[str, Any]:
    """Return the report of `diff --format json`."""
    return {"schema": DIFF_SCHEMA, "from": low, "to": high, "operators": [_change_dict(change) for change in changes]}


def _change_dict(change: OperatorChange) -> dict[str, Any]:
    return {
        "operator": change.operator,
        "new": change.is_new,
        "tensors": [
            {"tensor": part.tensor, "when": _lists(part.when), "types": list(part.types), "dims": list(part.dims)}
            for part in change.tensors
        ],
        "values": [_lists(values) for values in change.values],
        "lifted": [{"id": row.id, "text": row.text} for row in change.lifted],
        "added": [{"id": row.id, "text": row.text} for row in change.added],
        "taken": [_taken_dict(row) for row in change.taken],
    }


def _taken_dict(row: Constraint | TakenValues) -> dict[str, Any]:
    """Return a row of values beyond the tables, or the constraint that descs break, with its releases."""
    if isinstance(row, TakenValues):
        return taken_dict(row)
    return {"id": row.id, "text": row.text, "releases": list(row.taken.all) if row.taken else []}


def _lists(condition: Mapping[str, tuple[Any, ...]] | None) -> dict[str, list[Any]] | None:
    return None if condition is None else {field: list(values) for field, values in condition.items()}
