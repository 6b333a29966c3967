"""What a higher level accepts that a lower one does not."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from dmlcheck.inspection.level_diff import OperatorChange, differences
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


@pytest.mark.slow
def test_steps_add_up_to_the_whole() -> None:
    for low, high in combinations(LEVELS, 2):
        whole = {name for name, change in changes(low, high).items() if change.is_new}
        steps = LEVELS[LEVEL_ORDER[low] : LEVEL_ORDER[high] + 1]
        parts = {
            name for below, above in pairwise(steps) for name, change in changes(below, above).items() if change.is_new
        }
        assert whole == parts
