"""What a feature level accepts that a lower one does not, as text and as plain values."""

from __future__ import annotations

from dmlcheck.inspection.level_diff import OperatorChange, TensorChange
from dmlcheck.reports.layout import printed
from dmlcheck.reports.level_diff import diff_dict, diff_lines
from dmlcheck.specs.records import Constraint, Releases, TakenValues

NEW = OperatorChange("DML_OPERATOR_NEW", is_new=True)
WIDER = OperatorChange(
    "DML_OPERATOR_OLD",
    is_new=False,
    tensors=(
        TensorChange("InputTensor", None, ("INT64", "UINT64"), ()),
        TensorChange("OutputTensor", None, ("INT64", "UINT64"), ()),
        TensorChange("ScaleTensor", {"Mode": ("X", "Y")}, (), (1,)),
        TensorChange("BiasTensor", None, ("INT8",), (1, 2, 3)),
    ),
    values=({"Mode": ("Z",)},),
    lifted=(Constraint("C1", "A is B.", "sizes", {}, until="5_0"),),
    added=(Constraint("C2", "C is D.", "sizes", {}, since="4_1"),),
    taken=(
        TakenValues(("InputTensor", "OutputTensor"), ("INT8", "UINT8"), (), {}, Releases(until="1.7.0")),
        TakenValues(("ScaleTensor",), (), (1,), {"Fused": ("OLD",)}, Releases(since="1.15.4")),
        Constraint("C1", "A is B.", "sizes", {}, until="5_0", taken=Releases(since="1.7.0")),
    ),
)
OF_RELEASES = OperatorChange("DML_OPERATOR_ELSE", is_new=False, taken=WIDER.taken[:1])


def test_new_operators_are_listed_and_the_others_say_what_they_gain() -> None:
    assert list(printed(diff_lines([NEW, WIDER, OF_RELEASES], "4_0", "5_0"), None)) == [
        "DML_FEATURE_LEVEL_4_0 to DML_FEATURE_LEVEL_5_0: 1 new operator, 1 that accepts more",
        "DirectML 1.8.2 has this level, and was asked which descs it accepts.",
        "",
        "New operators",
        "  DML_OPERATOR_NEW",
        "",
        "DML_OPERATOR_OLD",
        "  InputTensor, OutputTensor: INT64 UINT64",
        "  ScaleTensor when Mode is X or Y: 1 dimension",
        "  BiasTensor: INT8; 1 to 3 dimensions",
        "  accepted at all: Mode is Z",
        "  no longer required: A is B. (C1)",
        "  required from 4_1: C is D. (C2)",
        "  DirectML 1.4.0 to 1.5.1 accept beyond the tables: InputTensor, OutputTensor: INT8 UINT8",
        "  DirectML 1.15.4 accepts beyond the tables: ScaleTensor: 1 dimension; Fused: OLD",
        "  DirectML 1.7.0 to 1.15.4 accept a desc that breaks C1: A is B.",
        "",
        "DML_OPERATOR_ELSE",
        "  DirectML 1.4.0 to 1.5.1 accept beyond the tables: InputTensor, OutputTensor: INT8 UINT8",
    ]


def test_levels_that_do_not_differ_say_so_in_a_line() -> None:
    assert list(printed(diff_lines([], "4_0", "4_0"), None)) == [
        "DML_FEATURE_LEVEL_4_0 to DML_FEATURE_LEVEL_4_0: 0 new operators, 0 that accept more",
        "No build of DirectML that reports this level was found. Its rows come from the documentation.",
    ]


def test_as_plain_values_nothing_is_put_together() -> None:
    read = diff_dict([NEW, WIDER], "4_0", "5_0")
    assert (read["schema"], read["from"], read["to"]) == ("dmlcheck-diff/1", "4_0", "5_0")
    new, wider = read["operators"]
    assert (new["new"], new["tensors"], wider["new"]) == (True, [], False)
    assert len(wider["tensors"]) == 4
    assert wider["tensors"][2] == {"tensor": "ScaleTensor", "when": {"Mode": ["X", "Y"]}, "types": [], "dims": [1]}
    assert (wider["values"], wider["lifted"]) == ([{"Mode": ["Z"]}], [{"id": "C1", "text": "A is B."}])
    values, _, row = wider["taken"]
    assert values == {
        "tensors": ["InputTensor", "OutputTensor"],
        "types": ["INT8", "UINT8"],
        "dims": [],
        "operators": {},
        "releases": ["1.4.0", "1.5.1"],
    }
    assert (row["id"], row["text"], row["releases"][0]) == ("C1", "A is B.", "1.7.0")
