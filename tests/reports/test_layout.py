"""Text on a page."""

from __future__ import annotations

import pytest

from dmlcheck.reports.layout import Table, Text, printed


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
