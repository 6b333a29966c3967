"""The table of where expected results come from."""

from __future__ import annotations

from dmlcheck.inspection.bases import BasisCount
from dmlcheck.inspection.coverage import KINDS, Evidence
from dmlcheck.reports.coverage import bases_dict, bases_lines, evidence_dict, evidence_lines
from dmlcheck.reports.layout import printed

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
