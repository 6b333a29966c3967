"""The coverage of the support tables by cases, as `coverage` prints it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dmlcheck.inspection.coverage import Coverage
from dmlcheck.reports.layout import Line, Table, Text
from dmlcheck.specs.names import short_operator

COVERAGE_SCHEMA = "dmlcheck-coverage/1"
_HEADS = {
    "support rows accepted": "rows",
    "types and dimensions accepted": "types, dims",
    "table edges rejected": "edges",
    "constraints rejected": "constraints",
    "enumeration values accepted": "values",
}


def coverage_lines(found: list[Coverage]) -> Iterator[Line]:
    """Yield the coverage of each operator's cases, and the gaps."""
    yield _table(found)
    for one in found:
        yield from _missing_lines(one)
    yield ""
    yield from _layout_lines(found)


def _table(found: list[Coverage]) -> Table:
    kinds = list(found[0].parts)
    rows = [
        [short_operator(one.operator), str(one.cases), *(f"{part.covered}/{part.total}" for part in one.parts.values())]
        for one in found
    ]
    totals = [
        f"{sum(one.parts[kind].covered for one in found)}/{sum(one.parts[kind].total for one in found)}"
        for kind in kinds
    ]
    rows.append(["all", str(sum(one.cases for one in found)), *totals])
    return Table(("operator", "cases", *(_HEADS[kind] for kind in kinds)), rows)


def _missing_lines(one: Coverage) -> Iterator[Line]:
    missing = {kind: part.missing for kind, part in one.parts.items() if part.missing}
    if missing:
        yield ""
        yield one.operator
    for kind, names in missing.items():
        yield f"  not among {kind}:"
        yield from (Text("    ", name) for name in names)


def _layout_lines(found: Iterable[Coverage]) -> Iterator[Line]:
    layouts: dict[str, int] = {}
    for one in found:
        for layout in one.layouts:
            layouts[layout] = layouts.get(layout, 0) + 1
    yield Text("", f"layouts, by number of operators: {', '.join(f'{name} {layouts[name]}' for name in layouts)}")


def coverage_dict(found: list[Coverage]) -> dict[str, Any]:
    """Return the report of `coverage --format json`."""
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
