"""What an operator's page is filled with."""

from __future__ import annotations

from typing import Any

from dmlcheck.inspection.operator_record import operator_record
from dmlcheck.reports.site.build import neighbours
from dmlcheck.reports.site.operators import operator_values
from dmlcheck.specs.load import load_spec


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
