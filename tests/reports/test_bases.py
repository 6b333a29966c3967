"""The table of bases."""

from __future__ import annotations

from dmlcheck.inspection.bases import BasisCount
from dmlcheck.reports.bases import bases_dict, bases_lines
from dmlcheck.reports.layout import printed

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
