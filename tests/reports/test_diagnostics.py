"""Diagnostics as people read them."""

from __future__ import annotations

from typing import Any

import pytest
from results import MISMATCH

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.diagnostics import ReportedMistakes, diagnostic_text, validated_problems
from dmlcheck.reports.layout import PLAIN, Style
from dmlcheck.running.legality import Validated

LONG = "desc: {" + ", ".join(f"Field{number}: {number}" for number in range(40)) + "}"


def marked(columns: int | None) -> list[str]:
    """Return the source line and the line of carets of a diagnostic about Field20."""
    found = Diagnostic("unknown-field", "no", file="a.yaml", line=1, column=LONG.index("Field20") + 1, width=7)
    style = PLAIN if columns is None else Style(columns=columns)
    return diagnostic_text(found, lambda _: LONG, style).split("\n")[1:3]


@pytest.mark.parametrize("columns", [None, 40, 80, 200])
def test_a_caret_is_under_what_it_marks_however_much_room_there_is(columns: int | None) -> None:
    source, carets = marked(columns)
    assert source[carets.index("^") : carets.index("^") + 7] == "Field20"
    assert carets.count("^") == 7
    assert len(source) <= (columns or len(LONG)) + len("  1 | ......")


def test_a_line_is_whole_where_no_terminal_limits_it() -> None:
    assert marked(None)[0] == f"  1 | {LONG}"
    assert "..." in marked(200)[0]


def test_all_that_there_is_to_say_stands_under_one_another() -> None:
    place: dict[str, Any] = {"file": "a.yaml", "line": 3, "column": 3, "width": 2}
    found = Diagnostic("unknown-field", "no", help="leave it out", constraint="REDUCE/C2", note="X", **place)
    assert diagnostic_text(found, lambda _: "  Ax: 3").split("\n") == [
        "a.yaml:3:3: error[unknown-field]: no   (REDUCE/C2)",
        "  3 |   Ax: 3",
        "    |   ^^ X",
        "  help: leave it out",
    ]


def test_without_a_line_the_note_stands_alone() -> None:
    assert diagnostic_text(Diagnostic("timeout", "slow", note="a second")) == "error[timeout]: slow\n  a second"
    assert diagnostic_text(Diagnostic("timeout", "slow", line=3), lambda _: "") == "3: error[timeout]: slow"


def test_a_note_for_which_there_is_no_room_stands_below() -> None:
    found = Diagnostic("unknown-field", "no", line=1, column=1, note="n" * 100)
    assert diagnostic_text(found, lambda _: "Ax: 3").split("\n")[2:] == ["    | ^", f"    | {'n' * 100}"]


def test_a_caret_stands_under_wide_characters() -> None:
    found = Diagnostic("unknown-field", "no", line=1, column=3, width=1)
    assert diagnostic_text(found, lambda _: "総和x").split("\n")[2] == "    |     ^"


def test_errors_are_red_and_others_yellow() -> None:
    style = Style(colour=True)
    assert diagnostic_text(Diagnostic("a", "b"), None, style) == "\x1b[31merror[a]\x1b[0m: b"
    assert diagnostic_text(Diagnostic("a", "b", "warning"), None, style) == "\x1b[33mwarning[a]\x1b[0m: b"


# ---- the mistakes of files, each reported once


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
