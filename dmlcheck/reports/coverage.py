"""The coverage of the support tables by cases, and where their expected results come from, as commands print it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dmlcheck.diagnostics.wording import counted
from dmlcheck.inspection.bases import BasisCount
from dmlcheck.inspection.coverage import KINDS, Coverage, Evidence
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
        missing = {kind: part.missing for kind, part in one.parts.items() if part.missing}
        if missing:
            yield ""
            yield one.operator
        for kind, names in missing.items():
            yield f"  not among {kind}:"
            yield from (Text("    ", name) for name in names)
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


# ---- where the expected results come from, as `show --evidence` prints it


EVIDENCE_SCHEMA = "dmlcheck-evidence/1"

_NOTES = (
    "results: cases with expected results; a source may be of several kinds",
    "ONNX: ONNX has the operator, and --implementation onnxruntime runs its cases",
    "compared: cases without expected results, on which implementations are compared with the reference engine",
    "legality: cases that say whether a desc is valid, and give no results",
)


def evidence_lines(found: list[Evidence]) -> Iterator[Line]:
    """Yield how many cases there are for the results of each operator, by their sources; of one operator also these."""
    kinds = [kind for kind in KINDS if any(one.kinds[kind] for one in found)]
    rows = [_row(short_operator(one.operator), [one], kinds) for one in found]
    if len(found) > 1:
        rows.append(_row("all", found, kinds))
    yield Table(("operator", "results", *kinds, "ONNX", "compared", "legality"), rows)
    yield ""
    yield from (Text("", f"{kind}: {KINDS[kind]}") for kind in kinds)
    yield from (Text("", note) for note in _NOTES)
    if len(found) == 1:
        yield ""
        yield from (Text("", f"{counted(count, 'case')}: {source}") for source, count in _by_count(found[0]))


def _row(name: str, found: list[Evidence], kinds: list[str]) -> list[str]:
    counts = [sum(one.results for one in found), *(sum(one.kinds[kind] for one in found) for kind in kinds)]
    has_onnx = sum(one.has_onnx for one in found)
    others = [sum(one.compared for one in found), sum(one.legality for one in found)]
    return [name, *map(_count, counts), "yes" if has_onnx == 1 else _count(has_onnx), *map(_count, others)]


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def _by_count(one: Evidence) -> list[tuple[str, int]]:
    return sorted(one.sources.items(), key=lambda entry: -entry[1])


def evidence_dict(found: list[Evidence]) -> dict[str, Any]:
    """Return the report of `show --evidence --format json`."""
    return {
        "schema": EVIDENCE_SCHEMA,
        "operators": [
            {
                "operator": one.operator,
                "results": one.results,
                "kinds": {kind: count for kind, count in one.kinds.items() if count},
                "sources": dict(_by_count(one)),
                "onnx": one.has_onnx,
                "compared": one.compared,
                "legality": one.legality,
            }
            for one in found
        ],
    }


# ---- decided rules


BASES_SCHEMA = "dmlcheck-bases/1"


def bases_lines(counts: list[BasisCount]) -> Iterator[Line]:
    """Yield the numbers of constraints and errata on each basis."""
    total = BasisCount("all", *(sum(numbers) for numbers in zip(*(row[1:] for row in counts), strict=True)))
    rows = [[row.basis, *(f"{number:,}" for number in row[1:])] for row in (*counts, total)]
    yield Table(("basis", "constraints", "accepted", "errata"), rows)
    yield ""
    yield Text("", "accepted: of the constraints, those that some releases do not enforce")


def bases_dict(counts: list[BasisCount]) -> dict[str, Any]:
    """Return the report of `show --bases --format json`."""
    return {"schema": BASES_SCHEMA, "bases": [row._asdict() for row in counts]}
