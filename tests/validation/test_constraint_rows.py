"""The labelled rows of specs: those of five operators, when a row applies, and what a finding says of its row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from five_operators import GOOD_ARG, GOOD_HARDMAX, GOOD_HARDMAX1, GOOD_SUM, hardmax
from five_operators import tensor as tensor_of
from made_operator import NESTED, OPERATOR, tensor, with_rows

from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.specs.load import load_spec
from dmlcheck.validation import check, minimum_level, validate

pytestmark = pytest.mark.usefixtures("made_operators")


# ---- the rows of five operators

IN, OUT = "desc.InputTensor", "desc.OutputTensor"
GOOD = [
    ("ARGMAX", GOOD_ARG), ("ARGMIN", GOOD_ARG), ("REDUCE", GOOD_SUM), ("ACTIVATION_HARDMAX", GOOD_HARDMAX),
    ("ACTIVATION_HARDMAX1", GOOD_HARDMAX1),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "desc"), GOOD)
def test_a_good_desc_breaks_nothing(operator: str, desc: Any) -> None:
    assert validate(operator, desc, "6_4")[1] == []


def broken() -> Iterator[tuple[str, dict[str, Any], set[tuple[str, str, str]]]]:
    """Yield a desc for every way to break a constraint, with what must be found: constraint, rule, place."""
    for operator in ("ARGMAX", "ARGMIN"):
        yield operator, {**GOOD_ARG, "OutputTensor": tensor_of("UINT32", 2)}, {("C1", "rank-mismatch", f"{OUT}.Sizes")}
        yield (
            operator,
            {**GOOD_ARG, "OutputTensor": tensor_of("UINT32", 2, 1, 1)},
            {("C1", "rank-mismatch", f"{OUT}.Sizes")},
        )
        yield operator, {**GOOD_ARG, "Axes": [2]}, {("C2", "axis-out-of-range", "desc.Axes[0]")}
        yield (
            operator,
            {**GOOD_ARG, "Axes": [1, 2, 4294967295]},
            {("C2", "axis-out-of-range", "desc.Axes[1]"), ("C2", "axis-out-of-range", "desc.Axes[2]")},
        )
        yield (
            operator,
            {**GOOD_ARG, "OutputTensor": tensor_of("UINT32", 2, 3)},
            {("C3", "size-mismatch", f"{OUT}.Sizes[1]")},
        )
        yield (
            operator,
            {**GOOD_ARG, "OutputTensor": tensor_of("UINT32", 1, 1)},
            {("C3", "size-mismatch", f"{OUT}.Sizes[0]")},
        )
        yield operator, {**GOOD_ARG, "Axes": []}, {("C3", "size-mismatch", f"{OUT}.Sizes[1]")}
        yield operator, {**GOOD_ARG, "Axes": [1, 1]}, {("C4", "duplicate-axis", "desc.Axes[1]")}
    yield "REDUCE", {**GOOD_SUM, "OutputTensor": tensor_of("FLOAT32", 2)}, {("C1", "rank-mismatch", f"{OUT}.Sizes")}
    yield "REDUCE", {**GOOD_SUM, "Axes": [2]}, {("C2", "axis-out-of-range", "desc.Axes[0]")}
    yield "REDUCE", {**GOOD_SUM, "Axes": [0]}, {
        ("C3", "size-mismatch", f"{OUT}.Sizes[0]"), ("C3", "size-mismatch", f"{OUT}.Sizes[1]"),
    }  # fmt: skip
    yield (
        "REDUCE",
        {**GOOD_SUM, "OutputTensor": tensor_of("FLOAT16", 2, 1)},
        {("C4", "data-type-mismatch", f"{OUT}.DataType")},
    )
    yield "REDUCE", {**GOOD_SUM, "Axes": [1, 1, 1]}, {
        ("C5", "duplicate-axis", "desc.Axes[1]"), ("C5", "duplicate-axis", "desc.Axes[2]"),
    }  # fmt: skip
    for operator, good, last in (("ACTIVATION_HARDMAX", GOOD_HARDMAX, 3), ("ACTIVATION_HARDMAX1", GOOD_HARDMAX1, 1)):
        sizes = good["InputTensor"]["Sizes"]
        other = tensor_of("FLOAT16", *sizes)
        yield operator, {**good, "OutputTensor": other}, {("C1", "data-type-mismatch", f"{OUT}.DataType")}
        more = tensor_of("FLOAT32", 1, *sizes)
        yield operator, {**good, "OutputTensor": more}, {("C2", "rank-mismatch", f"{OUT}.Sizes")}
        narrow = tensor_of("FLOAT32", *sizes[:-1], 1)
        yield operator, {**good, "OutputTensor": narrow}, {("C3", "size-mismatch", f"{OUT}.Sizes[{last}]")}
    yield (
        "ACTIVATION_HARDMAX",
        hardmax("FLOAT32", 4, 1, 2, 3),
        {("C4", "size-mismatch", f"{IN}.Sizes[0]")},
    )
    yield "ACTIVATION_HARDMAX", hardmax("FLOAT32", 2, 2, 3), {("C4", "size-mismatch", f"{IN}.Sizes[0]")}
    yield "ACTIVATION_HARDMAX1", {**GOOD_HARDMAX1, "Axes": [0, 2]}, {("C4", "axis-out-of-range", "desc.Axes[1]")}
    yield "ACTIVATION_HARDMAX1", {**GOOD_HARDMAX1, "Axes": [0, 1, 0]}, {("C5", "duplicate-axis", "desc.Axes[2]")}


@pytest.mark.parametrize(("operator", "desc", "expected"), list(broken()))
def test_a_constraint_that_is_broken_is_named_with_its_row_and_place(
    operator: str, desc: Any, expected: set[tuple[str, str, str]]
) -> None:
    findings = validate(operator, desc, "6_4")[1]
    found = {(finding.constraint or "", finding.rule, pointer(finding.path)) for finding in findings}
    assert found == {(f"{operator}/{label}", rule, path) for label, rule, path in expected}
    texts = {row.id: row.text for row in load_spec("DML_OPERATOR_" + operator).constraints}
    assert all(finding.note == texts[str(finding.constraint).partition("/")[2]] for finding in findings)


def test_every_constraint_of_the_five_operators_is_broken_above() -> None:
    seen = {(operator, label) for operator, _, expected in broken() for label, _, _ in expected}
    operators = ["ARGMAX", "ARGMIN", "REDUCE", "ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1"]
    assert seen == {(name, row.id) for name in operators for row in load_spec("DML_OPERATOR_" + name).constraints}


# ---- what a finding says of its row


def test_a_row_that_a_higher_level_lifts_says_which() -> None:
    row = {"id": "C1", "text": "B is given.", "required": ["B"], "until": "6_2"}
    same = {"id": "C2", "text": "B is given.", "required": ["B"], "since": "6_2", "until": "6_3"}
    for_ever = {**same, "until": None}
    for rows, help in (
        ([row], "accepted from DML_FEATURE_LEVEL_6_2 (DirectML 1.13.0)"),
        ([row, same], "accepted from DML_FEATURE_LEVEL_6_3 (DirectML 1.14.0)"),
        ([row, for_ever], None),
    ):
        (finding,) = check(with_rows(*rows), "6_1")
        assert (finding.rule, finding.help) == ("missing-field", help)


def test_a_value_that_needs_a_higher_level_is_unsupported_below_it() -> None:
    first = {"id": "C1", "text": "Mode is EDGE.", "one_of": {"Mode": ["EDGE"]}, "until": "4_0"}
    then = {"id": "C2", "text": "Mode is EDGE or SYMMETRIC.", "one_of": {"Mode": ["EDGE", "SYMMETRIC"]}, "since": "4_0"}
    (finding,) = check(with_rows(first, then, Mode="SYMMETRIC"), "2_0")
    assert (finding.rule, finding.help) == (
        "unsupported-value",
        "accepted from DML_FEATURE_LEVEL_4_0 (DirectML 1.6.0)",
    )
    assert finding.message.endswith(
        "Mode is SYMMETRIC, which DML_OPERATOR_MADE_FOR_TESTS does not take at DML_FEATURE_LEVEL_2_0"
    )
    (finding,) = check(with_rows(first, then, Mode="CONSTANT"), "2_0")
    assert (finding.rule, finding.help) == ("value-out-of-range", None)


def test_a_claim_without_a_word_of_its_own_is_told_by_its_text() -> None:
    row = {"id": "C1", "text": "Axis is odd.", "holds": {"Axis": "Axis % 2 == 1"}}
    (finding,) = check(with_rows(row, Axis=2), "1_0")
    assert finding.message == "Axis is 2; it must be such that Axis is odd"
    assert finding.note is None


def test_a_field_that_another_one_rules_out_is_told_with_it() -> None:
    row = {"id": "C1", "text": "Axis or B.", "excluded": ["Axis"], "present": ["B"]}
    (finding,) = check(with_rows(row, Axis=2, B=tensor(1)), "1_0")
    assert (finding.message, finding.help) == ("Axis may not be given together with B", "leave Axis out")


def test_a_finding_names_its_row_and_shows_its_text_and_its_help() -> None:
    row = {"id": "X0", "text": "A claim.", "axes_within": {"Axis": "A"}, "help": "a remedy"}
    (finding,) = check(with_rows(row, Axis=2), "6_4")
    assert (finding.help, finding.note, finding.constraint) == ("a remedy", "A claim.", "MADE_FOR_TESTS/X0")


def test_the_help_of_a_row_goes_before_that_of_its_word() -> None:
    row = {"id": "C1", "text": "Both or none.", "all_or_none": ["B", "Out"], "until": "5_2", "help": "give both"}
    (finding,) = check(with_rows(row, B=tensor(1)), "5_1")
    assert finding.help == "give both; accepted from DML_FEATURE_LEVEL_5_2 (DirectML 1.10.0)"


def test_a_row_suggests_only_the_types_that_the_level_takes() -> None:
    row = {"id": "C1", "text": "A is an INT32 or FLOAT16.", "data_type": {"A": ["INT32", "FLOAT16"]}}
    (finding,) = check(with_rows(row, A=tensor(1)), "6_4")
    assert (finding.message, finding.help) == ("A is FLOAT32, and it must be INT32 or FLOAT16", "use FLOAT16")
    row = {"id": "C1", "text": "A is a UINT8 or FLOAT16.", "data_type": {"A": ["UINT8", "FLOAT16"]}}
    (finding,) = check(with_rows(row, A=tensor(1)), "6_4")
    assert finding.help is None
    row = {"id": "C1", "text": "A and B have one type.", "same_data_type": ["A", "B"]}
    (finding,) = check(with_rows(row, B=tensor(1, data_type="INT64")), "6_4")
    assert finding.help == "use FLOAT32 for both"


@pytest.mark.parametrize(
    "row",
    [
        {"data_type": {"A": ["FLOAT32"]}},
        {"same_data_type": ["A", "B", "Out"]},
        {"data_type_of": {"Kind": "A"}},
        {"holds": {"A.DataType": "A.DataType == B.DataType"}},
        {"holds": {"B.DataType": "B.DataType == A.DataType"}},
    ],
    ids=str,
)
def test_a_row_says_nothing_of_a_type_that_the_table_refuses(row: Any) -> None:
    rows = [{"id": "C1", "text": "Types.", **row}, {"id": "C2", "text": "2.", "value": {"Axis": 2}, "given": ["C1"]}]
    subject = with_rows(*rows, A=tensor(1, data_type="INT16"), B=tensor(1), Out=tensor(1), Kind="FLOAT32", Axis=2)
    (finding,) = check(subject, "6_4")
    assert (finding.rule, finding.path) == ("unsupported-data-type", ("desc", "A", "DataType"))


@pytest.mark.parametrize(
    "row",
    [
        {"same_dimension_count": ["A", "B"]},
        {"same_sizes": ["A", "B"]},
        {"dimension_count": {"A": 4}},
        {"value": {"Axis": "len(A.Sizes)"}},
        {"sizes": {"B": ["A.Sizes[0]", None]}},
        {"element_count": {"A": 7}},
        {"required": ["A"]},
    ],
    ids=str,
)
def test_a_row_says_nothing_of_the_sizes_where_the_table_refuses_their_number(row: Any) -> None:
    rows = [{"id": "C1", "text": "Sizes.", **row}]
    (finding,) = check(with_rows(*rows, A=tensor(*(1,) * 9), B=tensor(2, 2), Axis=3), "6_4")
    assert (finding.rule, finding.path) == ("unsupported-dimension-count", ("desc", "A", "Sizes"))


def test_a_row_about_types_is_judged_where_the_table_refuses_the_number_of_dimensions() -> None:
    row = {"id": "C1", "text": "One type.", "same_data_type": ["A", "B"]}
    found = check(with_rows(row, A=tensor(*(1,) * 9), B=tensor(2, data_type="INT64")), "6_4")
    assert [finding.rule for finding in found] == ["unsupported-dimension-count", "data-type-mismatch"]


def test_a_count_that_disagrees_is_one_mistake() -> None:
    row = {"id": "C1", "text": "There are two.", "value": {"Count": 2}}
    (finding,) = check(with_rows(row, Count=3, Windows=[1, 2]), "1_0")
    assert finding.rule == "count-mismatch"


# ---- operators inside others


def test_the_rows_of_an_operator_inside_another_hold_for_it() -> None:
    raw = {"A": tensor(4, 6), "Fused": {"Type": NESTED, "Steepness": 0.5}}
    for level, expected in (("6_3", ["desc.Fused.Steepness"]), ("6_4", [])):
        _, findings = validate(OPERATOR, raw, level)
        assert [pointer(finding.path) for finding in findings] == expected
    _, (finding,) = validate(OPERATOR, {**raw, "Fused": None, "Many": [raw["Fused"]]}, "1_0")
    assert pointer(finding.path) == "desc.Many[0].Steepness"
    assert (finding.rule, finding.constraint) == ("unsupported-value", "NESTED_FOR_TESTS/C1")
    assert finding.help == "accepted from DML_FEATURE_LEVEL_6_4 (DirectML 1.15.0)"
    assert minimum_level(read_desc(OPERATOR, raw)) == "6_4"


def test_a_finding_inside_an_operator_in_its_long_form_stands_in_its_desc() -> None:
    raw = {"A": tensor(4, 6), "Fused": {"Type": NESTED, "Desc": {"Steepness": 0.5}}}
    _, (finding,) = validate(OPERATOR, raw, "1_0")
    assert pointer(finding.path) == "desc.Fused.Desc.Steepness"


def test_the_rows_of_a_desc_with_more_dimensions_than_any_level_takes_are_not_looked_at() -> None:
    row = {"id": "C1", "text": "A has 9 rows.", "sizes": {"A": "9"}}
    for rank, expected in ((64, ["size-mismatch"] * 64), (65, [])):
        desc = with_rows(row, A=tensor(*[1] * rank)).desc
        assert desc is not None
        without_tables = desc._replace(spec=desc.spec._replace(support=()))
        findings = check(Reading(without_tables, ()), "6_4")
        assert [finding.rule for finding in findings] == expected
