"""Descs that break exactly one constraint."""

from __future__ import annotations

from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing.broken import broken, broken_entry
from dmlcheck.drawing.chance import seeded
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate

ONE = {"DataType": "FLOAT32", "Sizes": [2, 3]}
REDUCE: dict[str, Any] = {
    "Function": "SUM",
    "InputTensor": ONE,
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 1]},
    "Axes": [1],
}


def entry(**fields: Any) -> str | None:
    return broken_entry("DML_OPERATOR_REDUCE", {**REDUCE, **fields}, NEWEST_LEVEL)


def reduce() -> OperatorDesc:
    desc, _ = validate("DML_OPERATOR_REDUCE", REDUCE, NEWEST_LEVEL)
    assert desc is not None
    return desc


def test_a_desc_with_one_mistake_has_an_entry_and_one_with_two_or_none_has_not() -> None:
    assert entry() is None
    alone = entry(OutputTensor={"DataType": "FLOAT32", "Sizes": [2, 2]})
    assert alone is not None
    assert alone.startswith("REDUCE/C")
    assert entry(OutputTensor={"DataType": "FLOAT32", "Sizes": [2, 2], "GuaranteedBaseOffsetAlignment": 3}) is None


def test_what_no_desc_in_memory_can_have_is_no_mistake_of_a_draw() -> None:
    assert entry(Nothing=1) is None
    assert entry(Function="NOTHING") is None


def test_changes_break_many_constraints_one_at_a_time() -> None:
    found = [broken(reduce(), seeded(seed), NEWEST_LEVEL) for seed in range(120)]
    entries = {one.entry for one in found if one is not None}
    assert None not in found
    assert {"unsupported-data-type", "invalid-alignment", "tensor-too-small"} <= entries
    assert sum(name.startswith("REDUCE/C") for name in entries) >= 3


def test_the_valid_desc_stays_as_it_is() -> None:
    desc = reduce()
    broken(desc, seeded(1), NEWEST_LEVEL)
    assert desc == reduce()
