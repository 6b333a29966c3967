"""Text on a page."""

from __future__ import annotations

import pytest

from dmlcheck.reports.layout import PLAIN, Style, Table, Text, columns_of, indent, printed


def test_a_text_goes_on_under_its_own_beginning() -> None:
    lines = ["a line of its own that is longer", Text("  C1  ", "one two three " * 5), Text("  C2  ", "")]
    assert list(printed(lines, None)) == [lines[0], "  C1  " + ("one two three " * 5).rstrip(), "  C2"]
    assert list(printed(lines, 50)) == [
        lines[0],
        "  C1  one two three one two three one two three",
        "      one two three one two three",
        "  C2",
    ]


def test_a_text_without_room_beside_its_lead_goes_below_it() -> None:
    lines = [Text("  FusedActivation  OPERATOR_DESC  ", "The activation that is applied to the sum.")]
    assert list(printed(lines, 50)) == [
        "  FusedActivation  OPERATOR_DESC",
        "      The activation that is applied to the sum.",
    ]
    assert list(printed(lines, 58)) == [
        "  FusedActivation  OPERATOR_DESC  The activation that is",
        "                                  applied to the sum.",
    ]
    assert list(printed([Text("  Axes          UINT[]          ", "")], 20)) == ["  Axes          UINT[]"]


def test_of_words_only_addresses_are_cut_after_a_slash() -> None:
    text = "https://learn.microsoft.com/windows/directml/ns-directml-gemm (2022)"
    assert list(printed([Text("  page: ", text)], 40)) == [
        "  page: https://learn.microsoft.com/",
        "        windows/directml/",
        "        ns-directml-gemm (2022)",
    ]
    assert list(printed([Text("  page: ", text)], 80)) == ["  page: " + text]
    name = "DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD"
    assert list(printed([Text("", f"as {name} has it")], 20)) == ["as", name, "has it"]


TABLE = Table(("operator", "passed", "failed", "seconds"), [["MEAN_VARIANCE_NORMALIZATION1", "3", "0", "0.12"]])


WHOLE = [
    "operator                      passed  failed  seconds",
    "MEAN_VARIANCE_NORMALIZATION1       3       0     0.12",
]


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        (None, WHOLE),
        (53, WHOLE),
        (52, ["operator                      passed  failed", "MEAN_VARIANCE_NORMALIZATION1       3       0"]),
        (36, ["operator                      passed", "MEAN_VARIANCE_NORMALIZATION1       3"]),
        (10, ["operator", "MEAN_VARIANCE_NORMALIZATION1"]),
    ],
)  # fmt: skip
def test_a_table_leaves_out_its_last_columns_and_never_cuts_the_first(columns: int | None, lines: list[str]) -> None:
    assert list(printed([TABLE], columns)) == lines


def test_the_last_column_of_a_table_may_go_on_below_itself() -> None:
    table = Table(("level", "types"), [["4_1", " ".join(["FLOAT32"] * 6)], ["", "INT8"]], lead="  ", wraps=True)
    assert list(printed([table], 38)) == [
        "  level  types",
        "  4_1    FLOAT32 FLOAT32 FLOAT32",
        "         FLOAT32 FLOAT32 FLOAT32",
        "         INT8",
    ]
    assert list(printed([table], None))[1] == "  4_1    " + " ".join(["FLOAT32"] * 6)


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
