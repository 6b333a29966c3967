"""The mistakes of files, each reported once."""

from __future__ import annotations

import pytest
from results import MISMATCH

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.mistakes import ReportedMistakes, validated_problems
from dmlcheck.running.legality import Validated


def test_a_mistake_of_a_file_is_told_of_the_first_case_that_has_it() -> None:
    reported = ReportedMistakes()
    mistake = Diagnostic("size-mismatch", "is 4", file="a.yaml", line=4, column=47, pointer="desc.X.Sizes[1]")
    elsewhere = mistake._replace(line=5)
    assert reported.earlier(mistake, "a.yaml::a") is None
    assert reported.earlier(mistake, "a.yaml::b") == "a.yaml::a"
    assert reported.earlier(elsewhere, "a.yaml::b") is None
    assert reported.new([mistake, elsewhere, mistake._replace(message="is 5")], "a.yaml::c") == [
        mistake._replace(message="is 5")
    ]


@pytest.mark.parametrize("rule", ["output-mismatch", "timeout", "failed"])
def test_what_comes_out_of_a_run_is_told_of_every_case(rule: str) -> None:
    reported = ReportedMistakes()
    problem = Diagnostic(rule, "wrong", file="a.yaml", line=4, column=1)
    assert reported.new([problem], "a.yaml::a") == reported.new([problem], "a.yaml::b") == [problem]


def test_a_problem_without_a_place_is_told_of_every_case() -> None:
    reported = ReportedMistakes()
    assert reported.new([Diagnostic("size-mismatch", "is 4")] * 2, "a") == [Diagnostic("size-mismatch", "is 4")] * 2


def test_of_a_desc_all_is_shown_but_what_a_negative_case_lists() -> None:
    listed = MISMATCH._replace(severity="note")
    descs = [
        Validated("a.yaml", "a", "DML_OPERATOR_REDUCE", "6_4", None, (listed, Diagnostic("size-mismatch", "no"))),
        Validated("a.yaml", "note", None, None, None, (listed,)),
        Validated("b.yaml", "b", "DML_OPERATOR_REDUCE", "6_4", "1_0", (), notes=(Diagnostic("known-deviation", "no"),)),
    ]
    assert [(desc.name, problem.rule, problem.file) for desc, problem in validated_problems(descs)] == [
        ("a", "size-mismatch", "a.yaml"),
        ("note", "output-mismatch", "cases/sum.yaml"),
        ("b", "known-deviation", "b.yaml"),
    ]
