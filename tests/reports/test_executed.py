"""How many cases agree with DirectML itself, in words."""

from __future__ import annotations

import pytest

from dmlcheck.inspection.executed import CaseCounts, ExecutedRun, executed_dict
from dmlcheck.reports.executed import executed_lines, executed_report, executed_text
from dmlcheck.reports.layout import printed

GEMM, RNN = CaseCounts(agreed=1200, known_deviations=2), CaseCounts(agreed=3, skipped=1)
RUN = ExecutedRun("1.15.4", "a device", "2026-11-29", {"GEMM": GEMM, "RNN": RNN})
OPERATORS = ["DML_OPERATOR_GEMM", "DML_OPERATOR_JOIN", "DML_OPERATOR_RNN"]


WHERE = "with DirectML 1.15.4 itself (a device, 2026-11-29)"


@pytest.mark.parametrize(
    ("counts", "first", "rest"),
    [
        (CaseCounts(3), "3 of 3 cases agree", ""),
        (GEMM, "1,200 of 1,202 cases agree", " 2 differ in known ways."),
        (
            CaseCounts(1, 1, 1, 1, 1),
            "1 of 4 cases agrees",
            " 1 differs in a known way, 1 fails, 1 ends in an error, 1 was skipped.",
        ),
        (
            CaseCounts(0, 2, 2, 2, 2),
            "0 of 6 cases agree",
            " 2 differ in known ways, 2 fail, 2 end in errors, 2 were skipped.",
        ),
    ],
)
def test_a_run_is_told_with_what_does_not_agree(counts: CaseCounts, first: str, rest: str) -> None:
    assert executed_text(RUN, counts) == f"{first} {WHERE}.{rest}"


def test_a_run_is_a_table_with_a_row_for_each_operator_that_it_has() -> None:
    title, head, gemm, rnn, both, blank, *notes = printed(executed_lines([RUN], OPERATORS), None)
    assert (title, blank) == ("DirectML 1.15.4, a device, 2026-11-29", "")
    assert head.split() == ["operator", "cases", "agreed", "known", "failed", "errors", "skipped"]
    assert gemm.split() == ["GEMM", "1,202", "1,200", "2"]
    assert rnn.split() == ["RNN", "3", "3", "1"]
    assert both.split() == ["all", "1,205", "1,203", "2", "1"]
    assert [note.partition(":")[0] for note in notes] == ["agreed", "known", "skipped"]


def test_of_one_operator_there_is_no_sum() -> None:
    lines = list(printed(executed_lines([RUN], OPERATORS[:1]), None))
    assert [line.split()[0] for line in lines[1:3]] == ["operator", "GEMM"]
    assert lines[3] == ""


def test_the_report_has_every_operator() -> None:
    found = executed_report([RUN], OPERATORS)
    assert found["schema"] == "dmlcheck-executed/1"
    assert [row["operator"] for row in found["operators"]] == OPERATORS
    assert [row["executed"] for row in found["operators"]] == [
        [executed_dict(RUN, GEMM)],
        [],
        [executed_dict(RUN, RNN)],
    ]
