"""Descs that break exactly one constraint."""

from __future__ import annotations

from typing import Any

from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.drawing.broken import broken, broken_entry, varied
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
    return valid("REDUCE", REDUCE)


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


def test_a_desc_that_is_for_no_implementation_is_not_drawn() -> None:
    fields = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 2, 3]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 4, 6]},
    }
    operator = "DML_OPERATOR_DEPTH_TO_SPACE"
    assert broken_entry(operator, {**fields, "BlockSize": 0}, NEWEST_LEVEL) == "DEPTH_TO_SPACE/C2"
    assert broken_entry(operator, {**fields, "BlockSize": 1 << 16}, NEWEST_LEVEL) is None


def test_a_varied_desc_is_valid_and_no_larger_than_allowed() -> None:
    found = [varied(reduce(), seeded(seed), NEWEST_LEVEL, 40) for seed in range(60)]
    assert len({repr(desc) for desc in found}) > 20
    assert found == [varied(reduce(), seeded(seed), NEWEST_LEVEL, 40) for seed in range(60)]
    for desc in found:
        assert not validate("DML_OPERATOR_REDUCE", notation(desc), NEWEST_LEVEL)[1]
        assert all(part.tensor.element_count <= 40 for part in desc.tensors())
