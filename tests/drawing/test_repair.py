"""Descs repaired by the claims of findings: what is wrong becomes right, and nothing is read from messages."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from shipped import every_case

from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import (
    ABSENT,
    AT_LEAST,
    AT_MOST,
    BETWEEN,
    DISTINCT,
    DIVIDES,
    EQUAL,
    NOT_EQUAL,
    ONE_OF,
    PRESENT,
    Claim,
    Finding,
)
from dmlcheck.drawing.chance import Chance, seeded
from dmlcheck.drawing.repair import repaired
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import check

REDUCE = load_spec("DML_OPERATOR_REDUCE")
LAST = Chance(lambda _, high: high)
DESC: dict[str, Any] = {
    "Function": "SUM",
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [3, 1]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 1]},
    "Axes": [1, 1],
}


def after(*claim: Any, chance: Chance = LAST) -> dict[str, Any]:
    """Return the desc after a claim of some finding."""
    return repaired(REDUCE, DESC, [Finding("any", ("desc",), {}, claim=Claim(*claim))], chance)


@pytest.mark.parametrize(
    ("field", "relation", "limit", "expected"),
    [
        (("InputTensor", "Sizes", 0), EQUAL, 7, [7, 3]),
        (("InputTensor", "Sizes", 1), AT_LEAST, 5, [2, 5]),
        (("InputTensor", "Sizes", 0), AT_MOST, 9, [9, 3]),
        (("InputTensor", "Sizes", 0), BETWEEN, (4, 6), [6, 3]),
        (("InputTensor", "Sizes", 0), ONE_OF, (4, 8), [8, 3]),
        (("InputTensor", "Sizes", 0), DIVIDES, 12, [12, 3]),
        (("InputTensor", "Sizes", 0), NOT_EQUAL, 0, [1, 3]),
        (("InputTensor", "DimensionCount"), EQUAL, 4, [1, 1, 2, 3]),
        (("InputTensor", "DimensionCount"), ONE_OF, (1,), [3]),
        (("InputTensor", "element_count"), EQUAL, 5, [1, 5]),
    ],
)
def test_sizes_are_what_is_claimed(field: Any, relation: str, limit: Any, expected: list[int]) -> None:
    given = deepcopy(DESC)
    assert after(("desc", *field), relation, limit)["InputTensor"]["Sizes"] == expected
    assert given == DESC


def test_strides_go_with_the_number_of_dimensions() -> None:
    assert "Strides" not in after(("desc", "InputTensor", "DimensionCount"), EQUAL, 4)["InputTensor"]
    assert "Strides" in after(("desc", "InputTensor", "Sizes", 0), EQUAL, 7)["InputTensor"]


def test_lists_get_the_length_that_is_claimed() -> None:
    assert after(("desc", "Axes", "length"), EQUAL, 3)["Axes"] == [1, 1, 1]
    assert after(("desc", "Axes", "length"), EQUAL, 1)["Axes"] == [1]
    assert after(("desc", "Axes", 0), DISTINCT, ("Axes", 1))["Axes"] == [1]


def test_fields_come_and_go() -> None:
    assert "Axes" not in after(("desc", "Axes"), ABSENT)
    assert after(("desc", "Function"), PRESENT)["Function"] in ("ARGMAX", "MULTIPLY", "SUM_SQUARE", "SUM", "MIN")
    tensor = after(("desc", "OutputTensor"), PRESENT)["OutputTensor"]
    assert tensor == {"DataType": "FLOAT32", "Sizes": [2, 3]}


def test_a_claim_about_what_is_not_there_changes_nothing() -> None:
    assert after(("desc", "Nothing", "Sizes", 3), EQUAL, 7) == DESC
    assert after(("desc", "InputTensor", "Sizes", 9), EQUAL, 7) == DESC


def test_an_operator_inside_gets_the_fields_of_its_type() -> None:
    spec = load_spec("DML_OPERATOR_ELEMENT_WISE_ADD1")
    fields = {"FusedActivation": {"Type": "ACTIVATION_SOFTMAX", "Beta": 3}}
    claim = Claim(("desc", "FusedActivation", "Type"), ONE_OF, ("ACTIVATION_TANH", "ACTIVATION_LINEAR"))
    found = repaired(spec, fields, [Finding("any", (), {}, claim=claim)], LAST)["FusedActivation"]
    assert (found["Type"], sorted(found)) == ("ACTIVATION_LINEAR", ["Alpha", "Beta", "Type"])


@pytest.mark.slow
def test_what_the_shipped_cases_have_that_is_not_valid_becomes_valid() -> None:
    """All but a few: their claims are about one side of an equation that only the other side can fulfil."""
    wrong = list(filter(_is_wrong, every_case()))
    outcomes = [_is_valid_in_the_end(case) for case in wrong[::3]]
    assert len(outcomes) > 900
    assert sum(outcomes) / len(outcomes) > 0.99


def _is_wrong(case: Case) -> bool:
    """Whether the desc of a case is not valid at a level that has the operator."""
    name = full_name(case.operator) if isinstance(case.operator, str) else None
    if name is None or not isinstance(case.desc, dict):
        return False
    wrong = check(read_desc(name, case.desc), case.feature_level or NEWEST_LEVEL)
    return bool(wrong) and all(found.rule != "operator-unavailable" or len(found.path) > 1 for found in wrong)


def _is_valid_in_the_end(case: Any) -> bool:
    level, fields, chance = case.feature_level or NEWEST_LEVEL, case.desc, seeded(case.id)
    spec = load_spec(full_name(case.operator) or "")
    for _ in range(20):
        findings = check(read_desc(spec.operator, fields), level)
        if not findings:
            return True
        fields = repaired(spec, fields, findings, chance)
    return False
