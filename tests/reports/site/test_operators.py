"""What an operator's page is filled with."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from lxml import etree

from dmlcheck.inspection.operator_pages import operator_record
from dmlcheck.reports.site.build import neighbours
from dmlcheck.reports.site.mistakes import Mistake
from dmlcheck.reports.site.operators import (
    corrections_values,
    level_values,
    levels_of,
    levels_values,
    messages_values,
    operator_values,
    rule_groups,
    rule_values,
    supports,
    takers,
    type_values,
)
from dmlcheck.specs.about import load_about
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVELS
from dmlcheck.specs.records import OperatorSpec


def values_of(operator: str) -> dict[str, Any]:
    record = operator_record(load_spec(f"DML_OPERATOR_{operator}"))
    (around,) = neighbours([record])
    return operator_values(record, [], around)


def test_a_page_says_what_the_newest_level_takes() -> None:
    values = values_of("ARGMAX")
    assert values["struct"] == "DML_ARGMAX_OPERATOR_DESC"
    assert values["directml"] == "1.4.0"
    assert values["newest"]["dims"] == "1 to 8"
    assert "INT64" in values["newest"]["types"]


def test_conditions_of_constraints_are_in_words() -> None:
    words = {row["id"]: row["words"] for row in values_of("GEMM")["constraints"]}
    assert words["C1"] == ""
    assert words["C8"] == "from 6_1, before 6_2"


def test_conditions_that_a_constraint_says_itself_are_not_said_again() -> None:
    words = {row["id"]: row["words"] for row in values_of("MULTIHEAD_ATTENTION")["constraints"]}
    assert (words["C5"], words["C37"]) == ("", "")  # With QueryTensor, ...; ... for KEY_SEQUENCE_LENGTH
    assert words["C3"] == "without PastKeyTensor"
    assert words["C31"] == "with ValueTensor, without PastKeyTensor and PastValueTensor"


def test_an_expression_of_a_deviation_is_code() -> None:
    assert values_of("CONVOLUTION")["affected"] == [
        (
            "`'ScaleBias' in FusedActivation and (FusedActivation['ScaleBias'].Scale != 1"
            " or FusedActivation['ScaleBias'].Bias != 0)`, and elements where `(actual >="
            " rounded(float32(FusedActivation['Min']))) & (actual <= rounded(float32(FusedActivation['Max'])))`"
        ),
        "`GroupCount > 1 and len(InputTensor.Sizes) == 4`",
        "DataType is FLOAT32, and `InputTensor.Sizes == (4, 16, 32, 32) and FilterTensor.Sizes == (16, 16, 3, 3)`",
        "`FusedActivation.spec.short == 'ACTIVATION_RELU'`, and elements where `(expected == 0) & ~finite`",
        (
            "`FusedActivation.spec.short == 'ELEMENT_WISE_CLIP' and FusedActivation['Min'] > FusedActivation['Max']`,"
            " and elements where `expected == expected`"
        ),
        (
            "`FusedActivation.spec.short == 'ACTIVATION_SOFTPLUS' and FusedActivation['Steepness'] == 0`,"
            " and elements where `expected == expected`"
        ),
        "elements where `~isfinite(actual) & may_overflow()`",
        *(
            (
                "Mode is CROSS_CORRELATION and Direction is FORWARD, and `GroupCount == 1"
                " and InputTensor.Sizes[2:] == FilterTensor.Sizes[2:] and max(OutputTensor.Sizes[2:]) == 1"
                f" and {padding}`, and elements where `expected == expected`"
            )
            for padding in ("max(StartPadding) > 0", "max(StartPadding) == 0 and max(Dilations) > 1")
        ),
        *(
            (
                "Mode is CONVOLUTION and Direction is BACKWARD, and `GroupCount == 1 and max(Strides) == 1"
                " and min(FilterTensor.Sizes[:2]) == 1 and InputTensor.Sizes[2:] == FilterTensor.Sizes[2:]"
                f" and max(OutputTensor.Sizes[2:]) == 1 and {but} all((FilterTensor.Sizes[i + 2] - 1) * Dilations[i]"
                " == StartPadding[i] for i in range(DimensionCount))`, and elements where `expected == expected`"
            )
            for but in ("not", "max(Dilations) > 1 and")
        ),
    ]


def test_evidence_is_counted_from_the_cases() -> None:
    evidence = values_of("ARGMAX")["evidence"]
    assert (evidence["results"], evidence["kinds"], evidence["has_onnx"]) == ("0 cases", [], True)


def test_counterparts_are_by_library_with_their_numbers() -> None:
    libraries = dict(values_of("GEMM")["libraries"])
    assert libraries.keys() == {"ONNX", "WebNN", "PyTorch", "TensorFlow"}
    record = values_of("GEMM")["record"]
    assert all(record["counterparts"][number] == row for rows in libraries.values() for number, row in rows)


def test_equations_are_drawn_beside_their_text() -> None:
    (text, drawn), *_ = values_of("GEMM")["equations"]
    assert "\\cdot" in text
    assert drawn.startswith("<math")


def test_a_field_leads_to_the_constraints_that_name_it_and_are_not_its_limits() -> None:
    values = values_of("GEMM")
    assert "C5" in values["naming"]["CTensor"]
    shown = {field["name"]: [one["constraint"] for one in field["limits"]] for field in values["record"]["fields"]}
    assert all(set(ids).isdisjoint(shown[name]) for name, ids in values["naming"].items())


# ---- equations as MathML


mathml = pytest.importorskip("dmlcheck.reports.site.operators").mathml

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


def parts(equation: str, tag: str) -> list[str]:
    return [element.text or "" for element in etree.fromstring(mathml(equation)).iter(NAMESPACE + tag)]


def test_words_are_set_as_one_and_letters_as_variables() -> None:
    assert parts(r"y = Alpha \cdot x", "mtext") == ["Alpha"]
    assert parts(r"y = Alpha \cdot x", "mi") == ["y", "x"]
    assert parts(r"\text{two words} \cdot \max(Beta1, x)", "mtext") == ["two\xa0words", "Beta1"]


def test_an_equation_stands_on_a_line_of_its_own_and_fractions_stay_fractions() -> None:
    element = etree.fromstring(mathml(r"y = \frac{x}{Scale}"))
    assert element.get("display") == "block"
    assert len(list(element.iter(NAMESPACE + "mfrac"))) == 1


def test_every_equation_becomes_mathml_without_a_command_left() -> None:
    equations = [equation for operator in operator_names() for equation in load_about(operator).equations]
    left = [each for each in equations if "\\" in "".join(etree.fromstring(mathml(each)).itertext())]
    assert left == []


# ---- support tables as matrices of types and levels


def test_tensors_of_the_same_support_share_a_matrix() -> None:
    (support,) = supports(load_spec("DML_OPERATOR_GEMM"))
    (matrix,) = support.matrices
    assert matrix.tensors == ("ATensor", "BTensor", "CTensor", "OutputTensor")
    assert matrix.dimensions == (("1_0", "4"), ("4_0", "2 to 4"))
    assert [row.data_type for row in matrix.rows] == ["FLOAT32", "FLOAT16"]


def test_the_level_that_added_a_type_is_marked() -> None:
    spec = load_spec("DML_OPERATOR_ARGMAX")
    input, output = supports(spec)[0].matrices
    rows = {row.data_type: dict(zip(levels_of(spec), row.marks, strict=True)) for row in input.rows}
    assert (input.tensors, output.tensors) == (("InputTensor",), ("OutputTensor",))
    assert [rows["INT64"][level] for level in ("3_0", "4_0", "4_1", "5_0")] == ["", "", "new", "on"]
    assert [rows["FLOAT32"][level] for level in ("3_0", "4_0")] == ["new", "on"]


@pytest.mark.parametrize(
    ("operator", "expected"), [("GEMM", LEVELS), ("RESAMPLE3", ("6_4",)), ("QUANTIZE", ("6_3", "6_4"))]
)
def test_levels_before_the_operator_have_no_column(operator: str, expected: tuple[str, ...]) -> None:
    spec = load_spec(f"DML_OPERATOR_{operator}")
    assert levels_of(spec) == expected
    marks = {len(row.marks) for support in supports(spec) for matrix in support.matrices for row in matrix.rows}
    assert marks == {len(expected)}


def test_a_table_that_is_for_some_descs_says_for_which() -> None:
    whens = [support.when for support in supports(load_spec("DML_OPERATOR_REDUCE"))]
    assert any(when.startswith("Function is ") for when in whens)


# ---- the pages that list something across operators


@cache
def specs() -> tuple[OperatorSpec, ...]:
    return tuple(load_spec(name) for name in operator_names())


def test_a_level_has_its_new_operators_and_those_that_accept_more() -> None:
    found = level_values(specs(), "4_1")
    assert (found["value"], found["directml"], found["before"], found["after"]) == ("0x4100", "1.7.0", "4_0", "5_0")
    assert "ROI_ALIGN_GRAD" in found["new"]
    changed = dict(found["changed"])
    assert any("INT64" in text for text in changed["ARGMAX"])
    assert not set(found["new"]) & changed.keys()


def test_the_first_level_has_none_before_it_and_the_last_none_after() -> None:
    first, last = (level_values(specs(), level) for level in (LEVELS[0], LEVELS[-1]))
    assert (first["before"], first["changed"], last["after"]) == (None, [], None)


def test_new_operators_of_all_levels_are_all_operators() -> None:
    assert sum(row["new"] for row in levels_values(specs())["levels"]) == len(specs())


def test_levels_name_the_windows_that_has_them() -> None:
    windows = {row["level"]: row["windows"] for row in levels_values(specs())["levels"]}
    assert windows["1_0"].name == "Windows 10 1903"
    assert windows["6_4"] is None
    assert level_values(specs(), "2_0")["windows"] == windows["2_0"]


def test_a_data_type_lists_who_takes_it_from_which_level_on() -> None:
    rows = {operator: (level, tensors) for operator, level, tensors in takers(specs(), "INT64")}
    assert rows["ARGMAX"] == ("3_0", ["InputTensor", "OutputTensor"])
    assert type_values(specs(), "INT4")["lede"].startswith("An element is a signed integer of 4 bits.")


def test_rules_are_in_groups_with_their_summaries() -> None:
    groups = rule_groups()
    assert ("size-mismatch", "a tensor has a size that does not fit the other tensors and the attributes") in groups[
        "operator"
    ]


def test_a_rule_lists_the_constraints_that_give_it() -> None:
    found = {"GEMM": {"C1": Mistake((), "data-type-mismatch", ""), "C10": Mistake((), "size-mismatch", "")}}
    found["GEMM"]["C3"] = Mistake((), "size-mismatch", "")
    values = rule_values("size-mismatch", found)
    assert values["constraints"] == [("GEMM", ["C3", "C10"])]
    assert values["output"].startswith("desc.yaml:4:47: error[size-mismatch]")
    assert values["lede"] == "A tensor has a size that does not fit the other tensors and the attributes."


@pytest.mark.slow
def test_corrections_are_by_kind_and_deviations_by_operator() -> None:
    found = corrections_values(specs())
    listed = [(operator, row.id) for rows in found["told"].values() for operator, row in rows]
    assert sorted(listed) == sorted((spec.short, row.id) for spec in specs() for row in spec.errata)
    assert {row.kind for _, row in found["told"]["error"]} == {"error"}
    assert found["silences"]["ACTIVATION_CELU"] == ["E1", "E2"]
    shown = [(one["operator"], one["id"], one["row"]) for one in found["deviations"]]
    assert len(shown) == sum(len(spec.known_deviations) for spec in specs()) > 30
    convolution = [row for row in shown if row[0] == "CONVOLUTION"]
    assert [(label, row.until, row.device) for _, label, row in convolution] == [
        ("D1", None, None),
        ("D2", "1.8.2", None),
        ("D3", None, "Intel(R) Iris(R) Xe"),
        ("D4", None, None),
        ("D5", None, None),
        ("D6", "1.15.0", None),
        ("D7", None, None),
        ("D8", None, None),
        ("D9", None, None),
        ("D10", None, None),
        ("D11", None, None),
    ]


def test_messages_have_places_of_their_own_and_no_bars() -> None:
    rows = messages_values()["messages"]
    assert [row["id"] for row in rows[:2]] == ["M1", "M2"]
    assert not any(" | " in pattern for row in rows for pattern in row["patterns"])
