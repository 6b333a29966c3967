"""Simpler descs: each step makes what it says, all of them are valid, and each is simpler than the one before."""

from __future__ import annotations

from typing import Any

import pytest
from valid_descs import valid

from dmlcheck.descs.write import notation
from dmlcheck.drawing.shrink import (
    STEPS,
    fewer_groups,
    flatter,
    made_valid,
    simpler_descs,
    smaller,
    weight,
    with_defaults,
    without_fields,
    without_layouts,
    without_pairs,
)
from dmlcheck.drawing.units import Unit, drawn_desc
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate

GEMM: dict[str, Any] = {
    "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 6], "Strides": [30, 30, 7, 1]},
    "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 5, 6]},
    "CTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 5]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 5]},
    "TransA": "NONE",
    "TransB": "TRANSPOSE",
    "Alpha": 0.3,
    "Beta": 2.5,
    "FusedActivation": {"Type": "ACTIVATION_RELU"},
}
SPEC = load_spec("DML_OPERATOR_GEMM")


def test_strides_are_dropped_and_optional_fields_are_left_out() -> None:
    assert all("Strides" not in raw["ATensor"] for raw in list(without_layouts(SPEC, GEMM))[:1])
    left_out = [set(GEMM) - set(raw) for raw in without_fields(SPEC, GEMM)]
    assert left_out == [{"CTensor"}, {"FusedActivation"}]


def test_optional_fields_are_left_out_in_pairs_or_with_the_attribute_that_speaks_of_one() -> None:
    spec = load_spec("DML_OPERATOR_MULTIHEAD_ATTENTION")
    names = ("QueryTensor", "MaskTensor", "PastKeyTensor", "PastValueTensor")
    fields = {**{name: {} for name in names}, "MaskType": "KEY_SEQUENCE_LENGTH"}
    found = [({*names} - {*raw}, raw["MaskType"]) for raw in without_pairs(spec, fields)]
    assert ({"PastKeyTensor", "PastValueTensor"}, "KEY_SEQUENCE_LENGTH") in found
    assert ({"MaskTensor"}, "NONE") in found


def test_attributes_go_to_0_1_and_earlier_values() -> None:
    found = [(name, raw[name]) for raw in with_defaults(SPEC, GEMM) for name in raw if raw[name] != GEMM[name]]
    assert {("TransB", "NONE"), ("Alpha", 0.0), ("Alpha", 1.0), ("Beta", 2.0)} <= set(found)


def test_sizes_become_1_a_half_or_one_less_wherever_they_are() -> None:
    found = [made_valid(SPEC, raw, NEWEST_LEVEL) for raw in smaller(SPEC, GEMM)]
    products = {(desc["ATensor"].sizes[2:], desc["BTensor"].sizes[2:]) for desc in found if desc is not None}
    assert {((4, 1), (5, 1)), ((4, 3), (5, 3)), ((1, 6), (5, 6)), ((4, 6), (4, 6))} <= products


def test_dimensions_of_one_element_go_with_what_speaks_of_them() -> None:
    spec = load_spec("DML_OPERATOR_REDUCE")
    fields = {
        "Function": "SUM",
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 3]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 1]},
        "Axes": [2],
    }
    first = next(iter(flatter(spec, fields)))
    assert (first["InputTensor"]["Sizes"], first["OutputTensor"]["Sizes"], first["Axes"]) == ([2, 3], [2, 1], [1])


def test_groups_go_with_their_channels() -> None:
    spec = load_spec("DML_OPERATOR_CONVOLUTION")

    def sized(*sizes: int) -> dict[str, Any]:
        return {"DataType": "FLOAT32", "Sizes": [*sizes]}

    fields = {
        "InputTensor": sized(1, 8, 1, 1),
        "FilterTensor": sized(12, 2, 1, 1),
        "BiasTensor": sized(1, 12, 1, 1),
        "OutputTensor": sized(1, 12, 1, 1),
        "Mode": "CONVOLUTION",
        "Direction": "FORWARD",
        **{name: [1, 1] for name in ("Strides", "Dilations")},
        **{name: [0, 0] for name in ("StartPadding", "EndPadding", "OutputPadding")},
        "GroupCount": 4,
    }

    def channels(raw: dict[str, Any]) -> tuple[int, ...]:
        places = (("InputTensor", 1), ("FilterTensor", 0), ("FilterTensor", 1), ("BiasTensor", 1), ("OutputTensor", 1))
        return (raw["GroupCount"], *(raw[name]["Sizes"][axis] for name, axis in places))

    found = list(fewer_groups(spec, fields))
    assert [channels(raw) for raw in found] == [(1, 2, 3, 2, 3, 3), (2, 4, 6, 2, 6, 6)]
    assert not any(validate(spec.operator, raw, NEWEST_LEVEL)[1] for raw in found)
    assert (4, 8, 4, 2, 4, 4) in {channels(raw) for raw in smaller(spec, fields)}  # one in each group


def test_every_step_yields_valid_descs_that_are_simpler() -> None:
    desc = valid("DML_OPERATOR_GEMM", **GEMM)
    for step in STEPS:
        for found in simpler_descs(desc, NEWEST_LEVEL, step):
            assert weight(found) < weight(desc)
            assert not validate("DML_OPERATOR_GEMM", notation(found), NEWEST_LEVEL)[1]


@pytest.mark.slow
@pytest.mark.parametrize("operator", operator_names()[::11])
def test_descs_become_as_small_as_an_operator_allows(operator: str) -> None:
    desc = drawn_desc(Unit(operator, 0, 1))
    assert desc is not None
    before = weight(desc)
    is_simpler = True
    while is_simpler:
        found = next((one for step in STEPS for one in simpler_descs(desc, NEWEST_LEVEL, step)), None)
        is_simpler, desc = found is not None, found or desc
    assert weight(desc) <= before
    assert max(part.tensor.element_count for part in desc.tensors()) <= 8
