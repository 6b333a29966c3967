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


def test_types_that_a_release_takes_before_the_tables_have_them_stand_beside_them() -> None:
    change = changes("5_0", "5_1")["ACTIVATION_SHRINK"]
    assert change.tensors
    assert change.taken == load_spec("DML_OPERATOR_ACTIVATION_SHRINK").taken


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


def test_the_levels_that_no_build_reports_are_those_that_were_not_found() -> None:
    unfound = [level for level in LEVELS if level_evidence(level).startswith("No build")]
    assert unfound == ["1_0", "2_0", "4_0", "5_1", "6_0"]
