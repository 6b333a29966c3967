"""Descs that break exactly one constraint."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.drawing.broken import broken, broken_entry, change, edges, varied
from dmlcheck.drawing.chance import seeded
from dmlcheck.specs.load import load_spec
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


@pytest.mark.slow
def test_a_varied_desc_is_valid_and_no_larger_than_allowed() -> None:
    found = [varied(reduce(), seeded(seed), NEWEST_LEVEL, 40) for seed in range(60)]
    assert len({repr(desc) for desc in found}) > 20
    assert found == [varied(reduce(), seeded(seed), NEWEST_LEVEL, 40) for seed in range(60)]
    for desc in found:
        assert not validate("DML_OPERATOR_REDUCE", notation(desc), NEWEST_LEVEL)[1]
        assert all(part.tensor.element_count <= 40 for part in desc.tensors())


# ---- changes to descs


ADD = load_spec("DML_OPERATOR_ELEMENT_WISE_ADD1")
TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 2, 3]}
FIELDS: dict[str, Any] = {name: deepcopy(TENSOR) for name in ("ATensor", "BTensor", "OutputTensor")}
GEMM = load_spec("DML_OPERATOR_GEMM")
TILE = load_spec("DML_OPERATOR_TILE")


def changed(spec: Any, fields: dict[str, Any], count: int = 400) -> list[dict[str, Any]]:
    found = []
    for seed in range(count):
        raw = deepcopy(fields)
        change(spec, raw, seeded(seed))
        found.append(raw)
    return found


def test_a_seed_changes_a_desc_in_one_way() -> None:
    assert changed(ADD, FIELDS, 50) == changed(ADD, FIELDS, 50)


def test_one_tensor_or_all_of_them_get_other_leading_ones() -> None:
    sizes = [tuple(tuple(raw[name]["Sizes"]) for name in FIELDS) for raw in changed(ADD, FIELDS)]
    one, none, two = (1, 2, 3), (2, 3), (1, 1, 2, 3)
    for expected in ((none, one, one), (one, none, one), (two, one, one), (one, one, two), (two,) * 3, (none,) * 3):
        assert expected in sizes


def test_a_tensor_gets_the_sizes_of_another() -> None:
    fields = {**FIELDS, "BTensor": {"DataType": "FLOAT32", "Sizes": [7], "Strides": [1]}}
    found = [raw["BTensor"] for raw in changed(ADD, fields) if raw["BTensor"]["Sizes"] == [2, 3]]
    assert found
    assert all("Strides" not in tensor for tensor in found)


def test_optional_fields_come_and_go_alone_and_together() -> None:
    tensors = {name: {"DataType": "FLOAT32", "Sizes": [2, 2]} for name in ("ATensor", "BTensor", "OutputTensor")}
    numbers = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 1.0}
    optional = [field.name for field in GEMM.fields.values() if field.optional]
    assert len(optional) == 2
    found = {tuple(name in raw for name in optional) for raw in changed(GEMM, {**tensors, **numbers})}
    assert found == {(False, False), (False, True), (True, False), (True, True)}


def test_numbers_are_at_the_ends_of_their_type_and_around_powers_of_two() -> None:
    fields = {"InputTensor": deepcopy(TENSOR), "OutputTensor": deepcopy(TENSOR), "Repeats": [1, 1, 1]}
    found = {number for raw in changed(TILE, fields, 2000) for number in raw["Repeats"]}
    assert {0, 255, 256, 257, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1} <= found


def test_each_type_has_edges_that_it_can_hold() -> None:
    assert all(0 <= number < 2**32 for number in edges("UINT"))
    assert all(-(2**31) <= number < 2**31 for number in edges("INT"))
    assert {-(2**31), 2**31 - 1, -1, 65536} <= set(edges("INT"))
    assert {0.0, 2.0**-149, float("inf")} <= set(edges("FLOAT"))


def test_a_whole_number_of_a_float_field_may_become_infinite() -> None:
    spec = load_spec("DML_OPERATOR_ACTIVATION_LINEAR")
    fields = {"InputTensor": TENSOR, "OutputTensor": TENSOR, "Alpha": 2, "Beta": 1}
    found = {raw["Alpha"] for raw in changed(spec, fields, 1000)}
    assert {float("inf"), float("-inf"), 0.0} <= found
