"""Random values for inputs: of several styles, in range, the same for a seed, and alike where strides repeat them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing.sound import is_sound
from dmlcheck.drawing.values import drawn_values


def relu(*sizes: int, data_type: str = "FLOAT32", **more: Any) -> OperatorDesc:
    tensor = {"DataType": data_type, "Sizes": list(sizes)}
    return valid("DML_OPERATOR_ACTIVATION_RELU", InputTensor={**tensor, **more}, OutputTensor=tensor)


def values_of(desc: OperatorDesc, style: str, seed: int = 0) -> Any:
    found = drawn_values(desc, np.random.default_rng(seed), style)
    assert found is not None
    return found["InputTensor"]


def test_edges_have_zeros_of_both_signs_denormals_limits_infinities_nan_and_ties() -> None:
    found = np.concatenate([values_of(relu(2000), "edges", seed) for seed in range(4)])
    tiny = np.finfo(np.float32).smallest_normal
    assert np.isnan(found).any()
    assert {np.inf, -np.inf, 0.5, 2.5, float(np.finfo(np.float32).max)} <= set(found.tolist())
    assert set(np.signbit(found[found == 0]).tolist()) == {True, False}
    assert ((np.abs(found) < tiny) & (found != 0)).any()


def test_cancelling_values_come_in_pairs_whose_sum_is_nearly_0() -> None:
    found = values_of(relu(1000), "cancelling").astype(np.float64)
    assert np.abs(found[::2] + found[1::2]).max() < 0.01 * np.abs(found).max()


def test_integers_reach_their_limits() -> None:
    found = values_of(relu(3000, data_type="INT8"), "normal")
    assert (found.min(), found.max()) == (-128, 127)


def test_values_are_the_same_for_a_seed_and_others_for_another() -> None:
    first, again, other = (values_of(relu(50), "normal", seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_elements_that_strides_put_in_one_place_have_one_value() -> None:
    found = values_of(relu(4, 3, Strides=[0, 1]), "normal")
    assert (found == found[:1]).all()
    assert len(set(found[0].tolist())) == 3


@pytest.mark.parametrize("data_type", ["INT32", "UINT32"])
def test_indices_are_within_the_axis_and_negative_ones_count_from_its_end(data_type: str) -> None:
    desc = valid(
        "GATHER",
        InputTensor={"DataType": "FLOAT32", "Sizes": [5, 4]},
        IndicesTensor={"DataType": data_type, "Sizes": [1, 300]},
        OutputTensor={"DataType": "FLOAT32", "Sizes": [300, 4]},
        Axis=0,
        IndexDimensions=1,
    )
    found = drawn_values(desc, np.random.default_rng(0))
    assert found is not None
    indices = found["IndicesTensor"].astype(np.int64)
    assert (indices.min(), indices.max()) == ((-5, 4) if data_type == "INT32" else (0, 4))
    assert is_sound(desc, found)
