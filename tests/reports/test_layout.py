"""Text on a page."""

from __future__ import annotations

from dmlcheck.reports.layout import PLAIN, Style, Text, columns_of, indent, printed


def test_a_text_goes_on_under_its_own_beginning() -> None:
    lines = ["a line of its own that is longer", Text("  C1  ", "one two three " * 5), Text("  C2  ", "")]
    assert list(printed(lines, None)) == [lines[0], "  C1  " + ("one two three " * 5).rstrip(), "  C2"]
    assert list(printed(lines, 50)) == [
        lines[0],
        "  C1  one two three one two three one two three",
        "      one two three one two three",
        "  C2",
    ]


def test_columns_stand_under_their_heads() -> None:
    rows = [["REDUCE", "12", "x"], ["GEMM", "3", "yyy"]]
    assert columns_of(("operator", "cases", "z"), rows) == [
        "operator  cases    z",
        "REDUCE       12    x",
        "GEMM          3  yyy",
    ]
    assert columns_of(("operator", "cases", "z"), rows, right=False) == [
        "operator  cases  z",
        "REDUCE    12     x",
        "GEMM      3      yyy",
    ]


def test_a_text_is_indented_line_by_line_and_empty_lines_stay_empty() -> None:
    assert indent("a\n\n b") == "  a\n\n   b"


def test_a_style_colours_only_where_it_has_colour() -> None:
    assert Style(colour=True)("text", "red") == "\x1b[31mtext\x1b[0m"
    assert PLAIN("text", "red") == "text"
