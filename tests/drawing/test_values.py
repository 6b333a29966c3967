"""Random values for inputs: of several styles, in range, the same for a seed, and alike where strides repeat them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing.sound import is_sound
from dmlcheck.drawing.units import Unit, drawn_unit
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


def test_some_regions_are_of_the_last_of_many_images() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1031, 1, 1, 1]}
    desc = valid(
        "DML_OPERATOR_ROI_ALIGN",
        InputTensor=tensor,
        ROITensor={"DataType": "FLOAT32", "Sizes": [20, 4]},
        BatchIndicesTensor={"DataType": "UINT32", "Sizes": [20]},
        OutputTensor={"DataType": "FLOAT32", "Sizes": [20, 1, 1, 1]},
        ReductionFunction="AVERAGE",
        InterpolationMode="LINEAR",
        SpatialScaleX=1.0,
        SpatialScaleY=1.0,
        OutOfBoundsInputValue=0.0,
        MinimumSamplesPerOutput=1,
        MaximumSamplesPerOutput=1,
    )
    found = drawn_values(desc, np.random.default_rng(0), "normal")
    assert found is not None
    images = found["BatchIndicesTensor"].tolist()
    assert 2 < images.count(1030) < 12
    assert len(set(images)) > 5


def test_some_regions_reach_more_than_an_element_beyond_the_edges() -> None:
    drawn = [drawn_unit(Unit("DML_OPERATOR_ROI_ALIGN", 0, number)) for number in range(60)]
    scaled = [
        (one.inputs["ROITensor"] * one.desc.values["SpatialScaleX"], one.desc["InputTensor"].sizes[3])
        for one in drawn
        if one is not None
    ]
    is_far = [bool((x[..., 0].min() < -1) and (x[..., 2].max() > size + 1)) for x, size in scaled]
    assert 2 < sum(is_far) < len(is_far) / 2


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


def quantizing(short: str, *, is_to_float: bool) -> OperatorDesc:
    whole, real = {"DataType": "UINT8", "Sizes": [1, 6]}, {"DataType": "FLOAT16", "Sizes": [1, 6]}
    given, made = (whole, real) if is_to_float else (real, whole)
    return valid(short, InputTensor=given, ScaleTensor=real, ZeroPointTensor=whole, OutputTensor=made)


def scales_of(desc: OperatorDesc) -> np.ndarray[Any, Any]:
    drawn = [drawn_values(desc, np.random.default_rng(seed)) for seed in range(60)]
    return np.stack([each["ScaleTensor"] for each in drawn if each is not None]).astype(np.float64)


def test_scales_are_powers_of_two_small_for_float16_and_to_floats_infinite_or_nan() -> None:
    to_floats = scales_of(quantizing("ELEMENT_WISE_DEQUANTIZE_LINEAR", is_to_float=True))
    from_floats = scales_of(quantizing("ELEMENT_WISE_QUANTIZE_LINEAR", is_to_float=False))
    for found in (to_floats, from_floats):
        assert 20 < (np.frexp(found)[0] == 0.5).all(axis=(1, 2)).sum() < 40
        assert 2 <= ((found > 0) & (found < 2.0**-14)).all(axis=(1, 2)).sum() < 15
    assert np.isnan(to_floats).any()
    assert np.isinf(to_floats).any()
    assert np.isfinite(from_floats).all()


@pytest.mark.parametrize("data_type", ["INT32", "UINT64"])
def test_few_numbers_are_beyond_those_of_one_hot(data_type: str) -> None:
    desc = valid(
        "ONE_HOT",
        IndicesTensor={"DataType": data_type, "Sizes": [40, 1]},
        ValuesTensor={"DataType": "FLOAT32", "Sizes": [1, 2]},
        OutputTensor={"DataType": "FLOAT32", "Sizes": [40, 5]},
        Axis=1,
    )
    drawn = [drawn_values(desc, np.random.default_rng(seed)) for seed in range(40)]
    rows = [each["IndicesTensor"] for each in drawn if each is not None]
    beyond = [row for row in rows if (row > 4).any()]
    assert 2 <= len(beyond) <= 16
    most = 2**31 - 1 if data_type == "INT32" else 2**64 - 1
    assert {5, 6, 1 << 16, most // 2 + 1, most} == {int(x) for row in beyond for x in row[row > 4]}


def test_sequences_are_whole_in_every_second_draw_and_those_to_reverse_may_be_longer() -> None:
    desc = valid(
        "REVERSE_SUBSEQUENCES",
        InputTensor={"DataType": "FLOAT32", "Sizes": [20, 9]},
        SequenceLengthsTensor={"DataType": "UINT32", "Sizes": [20, 1]},
        OutputTensor={"DataType": "FLOAT32", "Sizes": [20, 9]},
        Axis=1,
    )
    drawn = [drawn_values(desc, np.random.default_rng(seed)) for seed in range(60)]
    rows = [each["SequenceLengthsTensor"] for each in drawn if each is not None]
    assert 20 < sum((row >= 9).all() for row in rows) < 40
    assert 3 < sum((row > 9).any() for row in rows) < 25
    assert max(int(row.max()) for row in rows) == 2**32 - 1


def test_what_tests_for_special_numbers_gets_many() -> None:
    tensors = {
        "InputTensor": {"DataType": "FLOAT16", "Sizes": [400]},
        "OutputTensor": {"DataType": "UINT8", "Sizes": [400]},
    }
    found = values_of(valid("ELEMENT_WISE_IS_NAN", **tensors), "edges")
    assert found.dtype == np.float16
    assert 30 < np.isnan(found).sum() < 120
    assert np.isinf(found).sum() > 60


def test_the_largest_element_of_a_long_row_is_often_among_its_last() -> None:
    tensors = {name: {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 900]} for name in ("InputTensor", "OutputTensor")}
    drawn = [values_of(valid("ACTIVATION_HARDMAX", **tensors), "normal", seed) for seed in range(60)]
    assert 5 < sum((row[0, 0].argmax(axis=-1) >= 896).all() for row in drawn) < 30
