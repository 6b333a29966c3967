"""Changes to descs: which fields, tensors and numbers they lead to."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.changes import change, edges
from dmlcheck.specs.load import load_spec

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
