"""What cases use of the support tables, as text and as plain values."""

from __future__ import annotations

from dmlcheck.inspection.bases import BasisCount
from dmlcheck.inspection.coverage import KINDS, Coverage, Evidence, PartCoverage
from dmlcheck.reports.coverage import (
    bases_dict,
    bases_lines,
    coverage_dict,
    coverage_lines,
    evidence_dict,
    evidence_lines,
)
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


# ---- the table of where expected results come from


NONE = dict.fromkeys(KINDS, 0)
GEMM = Evidence(
    "DML_OPERATOR_GEMM", 1200, {**NONE, "page": 2, "hand": 1199}, {"a page": 1, "by hand, page 2": 1199}, 5, 7, True
)
ADAM = Evidence("DML_OPERATOR_ADAM_OPTIMIZER", 0, NONE, {}, 0, 3)


def test_operators_are_a_row_each_below_the_kinds_that_any_has() -> None:
    head, gemm, adam, both, *notes = printed(evidence_lines([GEMM, ADAM]), None)
    assert head.split() == ["operator", "results", "page", "hand", "ONNX", "compared", "legality"]
    assert gemm.split() == ["GEMM", "1,200", "2", "1,199", "yes", "5", "7"]
    assert adam.split() == ["ADAM_OPTIMIZER", "3"]
    assert both.split() == ["all", "1,200", "2", "1,199", "yes", "5", "10"]
    assert [note.partition(":")[0] for note in notes] == ["", "page", "hand", "results", "ONNX", "compared", "legality"]


def test_of_one_operator_the_sources_are_told() -> None:
    lines = list(printed(evidence_lines([GEMM]), None))
    assert lines[1].split()[0] == "GEMM"
    assert lines[-3:] == ["", "1,199 cases: by hand, page 2", "1 case: a page"]


def test_the_dict_has_the_kinds_that_there_are() -> None:
    assert evidence_dict([GEMM, ADAM]) == {
        "schema": "dmlcheck-evidence/1",
        "operators": [
            {
                "operator": "DML_OPERATOR_GEMM",
                "results": 1200,
                "kinds": {"page": 2, "hand": 1199},
                "sources": {"by hand, page 2": 1199, "a page": 1},
                "onnx": True,
                "compared": 5,
                "legality": 7,
            },
            {
                "operator": "DML_OPERATOR_ADAM_OPTIMIZER",
                "results": 0,
                "kinds": {},
                "sources": {},
                "onnx": False,
                "compared": 0,
                "legality": 3,
            },
        ],
    }


# ---- decided rules


COUNTS = [BasisCount("measured", 1200, 0, 3), BasisCount("our decision", 4, 2, 50)]


def test_the_bases_are_rows_above_their_sums() -> None:
    head, measured, decided, both, *notes = printed(bases_lines(COUNTS), None)
    assert head.split() == ["basis", "constraints", "accepted", "errata"]
    assert measured.split() == ["measured", "1,200", "0", "3"]
    assert decided.split() == ["our", "decision", "4", "2", "50"]
    assert both.split() == ["all", "1,204", "2", "53"]
    assert notes == ["", "accepted: of the constraints, those that some releases do not enforce"]


def test_as_plain_values_there_are_no_sums() -> None:
    assert bases_dict(COUNTS) == {
        "schema": "dmlcheck-bases/1",
        "bases": [
            {"basis": "measured", "constraints": 1200, "accepted": 0, "errata": 3},
            {"basis": "our decision", "constraints": 4, "accepted": 2, "errata": 50},
        ],
    }
