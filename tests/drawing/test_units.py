"""Draws by their numbers: the same whatever was drawn before, and typed in here as every machine must have them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from valid_descs import valid

from dmlcheck.descs.strides import packed_strides
from dmlcheck.descs.write import notation
from dmlcheck.drawing.broken import broken_entry
from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.units import Unit, drawn_broken, drawn_desc, drawn_unit, laid, strides
from dmlcheck.specs.load import operator_names

RELU = "DML_OPERATOR_ACTIVATION_RELU"


def test_a_draw_is_the_same_in_any_order_and_another_for_another_seed_or_number() -> None:
    units = [Unit(RELU, 0, number) for number in range(6)]
    forwards = [drawn_desc(unit) for unit in units]
    assert forwards == [drawn_desc(unit) for unit in reversed(units)][::-1]
    assert len({repr(desc) for desc in forwards}) == 6
    assert drawn_desc(Unit(RELU, 1, 0)) != forwards[0]


def test_a_draw_has_the_desc_that_its_number_alone_stands_for() -> None:
    unit = Unit(RELU, 7, 3)
    drawn = drawn_unit(unit)
    assert drawn is not None
    assert drawn.desc == drawn_desc(unit)


def test_a_seed_draws_this_on_every_platform() -> None:
    desc = drawn_desc(Unit(RELU, 2026, 2))
    assert desc is not None
    assert notation(desc) == SEED_2026


SEED_2026 = {
    "InputTensor": {
        "DataType": "INT8",
        "Sizes": [2],
        "Strides": [3],
        "TotalTensorSizeInBytes": 16,
        "GuaranteedBaseOffsetAlignment": 16,
    },
    "OutputTensor": {"DataType": "INT8", "Sizes": [2], "Strides": [2]},
}


@pytest.mark.slow
def test_sizes_around_workgroups_are_drawn() -> None:
    descs = [drawn_desc(Unit(RELU, 0, number)) for number in range(150)]
    sizes = {size for desc in descs if desc is not None for size in desc["InputTensor"].sizes}
    assert {31, 32, 33, 255, 256, 257, 1031} <= sizes


@pytest.mark.slow
def test_some_recurrent_networks_have_long_sequences_batches_or_states() -> None:
    drawn = [drawn_desc(Unit("DML_OPERATOR_LSTM", 0, number)) for number in range(400)]
    tensors = ("InputTensor", "RecurrenceTensor")
    inputs, weights = zip(*([desc[name].sizes for name in tensors] for desc in drawn if desc is not None), strict=True)
    most = [*(max(sizes[axis] for sizes in inputs) for axis in (1, 2)), max(sizes[3] for sizes in weights)]
    assert most == [1031] * 3
    counts = [desc["RecurrenceTensor"].element_count for desc in drawn if desc is not None]
    assert max(sizes[1] * count for sizes, count in zip(inputs, counts, strict=True)) <= 20_000_000


@pytest.mark.slow
def test_some_draws_with_indices_have_more_places_than_16_bits_can_name() -> None:
    drawn = [drawn_unit(Unit("DML_OPERATOR_GATHER", 0, number)) for number in range(400)]
    assert any(int(one.inputs["IndicesTensor"].max()) > 0xFFFF for one in drawn if one is not None)
    others = [drawn_desc(Unit("DML_OPERATOR_JOIN", 0, number)) for number in range(100)]
    assert max(max(desc["OutputTensor"].sizes) for desc in others if desc is not None) < 0xFFFF


@pytest.mark.slow
def test_values_come_with_special_ones_and_without() -> None:
    drawn = [drawn_unit(Unit("DML_OPERATOR_ACTIVATION_SIGMOID", 0, number)) for number in range(150)]
    is_special = [bool((~np.isfinite(one.inputs["InputTensor"])).any()) for one in drawn if one is not None]
    assert 4 < sum(is_special) < len(is_special) - 10


@pytest.mark.slow
def test_an_invalid_draw_breaks_one_constraint_of_any_operator() -> None:
    for number, operator in enumerate(operator_names()):
        broken = drawn_broken(Unit(operator, 0, number))
        assert broken is not None, operator
        assert broken_entry(operator, broken.fields, Unit(operator, 0, 0).level) == broken.entry


# ---- random layouts


def kind(sizes: tuple[int, ...], found: list[int]) -> str:
    extent = 1 + sum((size - 1) * stride for size, stride in zip(sizes, found, strict=True))
    if any(stride == 0 for stride in found):
        return "broadcast"
    if extent > 2 * 3 * 4 * 5:
        return "padded"
    if found == [60, 1, 15, 3]:
        return "channels last"
    return "packed" if tuple(found) == packed_strides(sizes) else "permuted"


def test_strides_are_permuted_padded_channels_last_and_broadcast() -> None:
    sizes = (2, 3, 4, 5)
    found = Counter(kind(sizes, strides(sizes, seeded(seed), repeats=seed % 2 == 1)) for seed in range(600))
    assert set(found) == {"broadcast", "padded", "channels last", "packed", "permuted"}
    assert min(found.values()) >= 5


def test_the_elements_of_a_single_row_may_have_gaps_between_them() -> None:
    found = {tuple(strides((1, 6), seeded(seed), repeats=False)) for seed in range(50)}
    assert {row[1] for row in found} == {1, 2, 3}


def test_no_stride_is_0_where_nothing_may_repeat() -> None:
    assert all(0 not in strides((2, 3, 4), seeded(seed), repeats=False) for seed in range(50))


def test_a_desc_with_other_strides_is_valid_and_its_outputs_never_overlap() -> None:
    tensor: dict[str, Any] = {"DataType": "FLOAT32", "Sizes": [2, 3, 4, 5]}
    desc = valid("ACTIVATION_RELU", {"InputTensor": tensor, "OutputTensor": tensor})
    made = [laid(desc, seeded(seed)) for seed in range(40)]
    assert sum(one["InputTensor"].strides is not None for one in made) > 20
    assert any(0 in (one["InputTensor"].strides or ()) for one in made)
    assert not any(0 in (one["OutputTensor"].strides or ()) for one in made)
