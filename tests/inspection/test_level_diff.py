"""What a higher level accepts that a lower one does not."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from dmlcheck.inspection.level_diff import OperatorChange, differences, level_evidence
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER, LEVELS

KNOWN = [load_spec(operator) for operator in operator_names()]


def changes(low: str, high: str) -> dict[str, OperatorChange]:
    return {change.operator.removeprefix("DML_OPERATOR_"): change for change in differences(KNOWN, low, high)}


def test_a_level_differs_from_itself_in_nothing() -> None:
    assert [level for level in LEVELS if changes(level, level)] == []


def test_what_argmax_gained() -> None:
    assert changes("2_1", "3_0")["ARGMAX"] == OperatorChange("DML_OPERATOR_ARGMAX", is_new=True)
    (tensor,) = changes("3_0", "4_1")["ARGMAX"].tensors
    assert (tensor.tensor, tensor.types, tensor.dims) == ("InputTensor", ("INT64", "UINT64"), ())
    assert "ARGMAX" not in changes("4_1", "6_4")


def test_tables_of_a_fields_values_are_compared_each_for_itself() -> None:
    found = changes("4_1", "5_0")["REDUCE"].tensors
    assert [(change.tensor, dict(change.when or {})["Function"], change.types) for change in found] == [
        ("InputTensor", ("L1", "SUM_SQUARE"), ("INT64", "INT32", "UINT64", "UINT32")),
        ("OutputTensor", ("L1", "SUM_SQUARE"), ("INT64", "INT32", "UINT64", "UINT32")),
        ("InputTensor", ("MIN", "MAX"), ("INT64", "UINT64")),
        ("OutputTensor", ("MIN", "MAX"), ("INT64", "UINT64")),
        ("InputTensor", ("MULTIPLY", "SUM"), ("INT64", "UINT64")),
        ("OutputTensor", ("MULTIPLY", "SUM"), ("INT64", "UINT64")),
    ]


def test_constraints_that_no_longer_hold_are_gains() -> None:
    (row,) = changes("6_3", "6_4")["ACTIVATION_SOFTPLUS"].lifted
    assert (row.word, row.until) == ("at_least", "6_4")
    assert [row.word for row in changes("6_1", "6_2")["ELEMENT_WISE_QUANTIZE_LINEAR"].lifted] == ["required"]


def test_releases_that_begin_or_end_between_levels_are_changes() -> None:
    (ending,) = changes("3_0", "3_1")["LOCAL_RESPONSE_NORMALIZATION"].taken
    assert (getattr(ending, "id", None), changes("3_1", "6_4").get("LOCAL_RESPONSE_NORMALIZATION")) == ("C3", None)
    assert not changes("3_0", "3_1")["LOCAL_RESPONSE_NORMALIZATION"].is_of_level
    assert "LOCAL_RESPONSE_NORMALIZATION" not in changes("2_0", "2_1")  # no release of these was asked


def test_types_that_a_release_takes_before_the_tables_have_them_stand_beside_them() -> None:
    change = changes("5_0", "5_1")["ACTIVATION_SHRINK"]
    assert change.tensors
    assert change.taken == load_spec("DML_OPERATOR_ACTIVATION_SHRINK").taken


def test_a_constraint_that_is_lifted_names_the_releases_that_took_its_descs_before() -> None:
    change = changes("3_1", "4_1")["BATCH_NORMALIZATION"]
    assert [row.id for row in change.lifted] == ["C5"]
    assert change.taken == change.lifted


@pytest.mark.slow
def test_steps_add_up_to_the_whole() -> None:
    for low, high in combinations(LEVELS, 2):
        whole = {name for name, change in changes(low, high).items() if change.is_new}
        steps = LEVELS[LEVEL_ORDER[low] : LEVEL_ORDER[high] + 1]
        parts = {
            name for below, above in pairwise(steps) for name, change in changes(below, above).items() if change.is_new
        }
        assert whole == parts


# ---- the evidence for the rows of a feature level


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("6_3", "DirectML 1.14.2 has this level, and was asked which descs it accepts."),
        (
            "5_1",
            (
                "No build of DirectML that reports this level was found. "
                "DirectML 1.9.1 reports 5_0, takes the descs of this level, and was asked."
            ),
        ),
        (
            "2_1",
            "Of the builds that report this level, only a pre-release was found and asked: 1.0.200610.",
        ),
        (
            "4_0",
            "No build of DirectML that reports this level was found. Its rows come from the documentation.",
        ),
    ],
)
def test_a_level_says_who_was_asked_about_its_rows(level: str, text: str) -> None:
    assert level_evidence(level) == text


def test_the_levels_that_no_build_reports_are_those_that_were_not_found() -> None:
    unfound = [level for level in LEVELS if level_evidence(level).startswith("No build")]
    assert unfound == ["1_0", "2_0", "4_0", "5_1", "6_0"]
