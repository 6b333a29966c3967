"""The bases of constraints and errata, as `show --bases` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dmlcheck.inspection.bases import BasisCount
from dmlcheck.reports.layout import Line, Table, Text

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
