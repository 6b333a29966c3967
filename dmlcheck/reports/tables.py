"""What the support tables say across levels and cases: `diff` and `coverage`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dmlcheck.diagnostics.wording import dimension_counts_text, plural
from dmlcheck.inspection.coverage import Coverage
from dmlcheck.inspection.level_diff import OperatorChange
from dmlcheck.reports.page import condition_text
from dmlcheck.reports.text import columns_of
from dmlcheck.specs.names import level_name, short_operator

DIFF_SCHEMA = "dmlcheck-diff/1"
COVERAGE_SCHEMA = "dmlcheck-coverage/1"


# ---- diff


def diff_lines(changes: list[OperatorChange], low: str, high: str) -> Iterator[str]:
    """Yield what a level accepts that a lower one does not, operator by operator."""
    new = [change for change in changes if change.is_new]
    wider = [change for change in changes if not change.is_new]
    added = f"{len(new)} {plural(len(new), 'new operator')}"
    yield f"{level_name(low)} to {level_name(high)}: {added}, {len(wider)} that accept more"
    if new:
        yield ""
        yield "New operators"
        yield from ("  " + change.operator for change in new)
    for change in wider:
        yield ""
        yield change.operator
        yield from ("  " + line for line in _change_lines(change))


def _change_lines(change: OperatorChange) -> Iterator[str]:
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


def diff_dict(changes: list[OperatorChange], low: str, high: str) -> dict[str, Any]:
    """Return what `diff --format json` prints."""
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
    }


def _lists(condition: Mapping[str, tuple[Any, ...]] | None) -> dict[str, list[Any]] | None:
    return None if condition is None else {field: list(values) for field, values in condition.items()}


# ---- coverage


def coverage_lines(found: list[Coverage], *, names: bool) -> Iterator[str]:
    """Yield how much the cases of each operator cover; with `names` what they leave out, too."""
    if not found:
        return
    kinds = list(found[0].parts)
    rows = [
        [
            short_operator(one.operator),
            str(one.cases),
            *(f"{part.covered}/{part.total}" for part in one.parts.values()),
        ]
        for one in found
    ]
    totals = [
        f"{sum(one.parts[kind].covered for one in found)}/{sum(one.parts[kind].total for one in found)}"
        for kind in kinds
    ]
    rows.append(["all", str(sum(one.cases for one in found)), *totals])
    yield from columns_of(("operator", "cases", *(_HEADS[kind] for kind in kinds)), rows)
    for one in found if names else ():
        if any(part.missing for part in one.parts.values()):
            yield ""
            yield one.operator
        for kind, part in one.parts.items():
            if part.missing:
                yield f"  not among {kind}:"
                yield from (f"    {name}" for name in part.missing)
    yield ""
    yield from _layout_lines(found)


_HEADS = {
    "support rows accepted": "rows",
    "types and dimensions accepted": "types, dims",
    "table edges rejected": "edges",
    "constraints rejected": "constraints",
    "enumeration values accepted": "values",
}


def _layout_lines(found: Iterable[Coverage]) -> Iterator[str]:
    layouts: dict[str, int] = {}
    for one in found:
        for layout in one.layouts:
            layouts[layout] = layouts.get(layout, 0) + 1
    yield "layouts, by number of operators: " + ", ".join(f"{name} {number}" for name, number in layouts.items())


def coverage_dict(found: list[Coverage]) -> dict[str, Any]:
    """Return what `coverage --format json` prints."""
    return {
        "schema": COVERAGE_SCHEMA,
        "operators": [
            {
                "operator": one.operator,
                "cases": one.cases,
                "parts": {
                    kind: {"total": part.total, "covered": part.covered, "missing": list(part.missing)}
                    for kind, part in one.parts.items()
                },
                "layouts": list(one.layouts),
            }
            for one in found
        ],
    }
