"""What cases use of the support tables, as text and as plain values."""

from __future__ import annotations

from dmlcheck.inspection.coverage import Coverage, PartCoverage
from dmlcheck.reports.coverage import coverage_dict, coverage_lines
from dmlcheck.reports.layout import printed


def covered(operator: str, *missing: str) -> Coverage:
    """Return what covers two of everything, and the names that it leaves out of the constraints."""
    parts = {
        "support rows accepted": PartCoverage(2, 2, ()),
        "types and dimensions accepted": PartCoverage(2, 2, ()),
        "table edges rejected": PartCoverage(2, 2, ()),
        "constraints rejected": PartCoverage(2 + len(missing), 2, missing),
        "enumeration values accepted": PartCoverage(2, 2, ()),
    }
    return Coverage(f"DML_OPERATOR_{operator}", 10, parts, ("packed", "strided") if missing else ("packed",))


def test_the_table_adds_up_and_what_is_left_out_is_named() -> None:
    assert list(printed(coverage_lines([covered("GEMM"), covered("REDUCE", "REDUCE/C1")]), None)) == [
        "operator  cases  rows  types, dims  edges  constraints  values",
        "GEMM         10   2/2          2/2    2/2          2/2     2/2",
        "REDUCE       10   2/2          2/2    2/2          2/3     2/2",
        "all          20   4/4          4/4    4/4          4/5     4/4",
        "",
        "DML_OPERATOR_REDUCE",
        "  not among constraints rejected:",
        "    REDUCE/C1",
        "",
        "layouts, by number of operators: packed 2, strided 1",
    ]


def test_as_plain_values_every_part_is_there() -> None:
    (operator,) = coverage_dict([covered("REDUCE", "REDUCE/C1")])["operators"]
    assert (operator["operator"], operator["cases"], operator["layouts"]) == (
        "DML_OPERATOR_REDUCE",
        10,
        ["packed", "strided"],
    )
    assert operator["parts"]["constraints rejected"] == {"total": 3, "covered": 2, "missing": ["REDUCE/C1"]}
    assert len(operator["parts"]) == 5
