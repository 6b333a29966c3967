"""Diagnostics as people read them."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.diagnostics import diagnostic_text
from dmlcheck.reports.layout import PLAIN, Style

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
