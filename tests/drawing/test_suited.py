"""Descs changed where their results would not be defined."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dmlcheck.drawing.chance import Chance, seeded
from dmlcheck.drawing.suited import _CHANGES, suit
from dmlcheck.specs.load import load_spec, operator_names

LAST = Chance(lambda _, high: high)


def suited(operator: str, **fields: Any) -> dict[str, Any]:
    suit(load_spec(f"DML_OPERATOR_{operator}"), fields, LAST)
    return fields


def of(*sizes: int, data_type: str = "FLOAT32") -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes)}


def test_numbers_for_integers_are_whole() -> None:
    made = suited("ACTIVATION_LINEAR", InputTensor=of(3, data_type="INT32"), Alpha=0.25, Beta=2.5)
    assert (made["Alpha"], made["Beta"]) == (1.0, 3.0)
    assert suited("ACTIVATION_LINEAR", InputTensor=of(3), Alpha=0.25)["Alpha"] == 0.25


def test_statistics_have_one_element_or_all_along_an_axis() -> None:
    tensors = {"InputTensor": of(2, 3, 4, 5), "ScaleTensor": of(2, 3, 7, 1), "BiasTensor": of(1, 1, 1, 5)}
    made = suited("BATCH_NORMALIZATION_TRAINING", **tensors)
    assert made["ScaleTensor"]["Sizes"] == made["BiasTensor"]["Sizes"] == [2, 3, 1, 1]


def test_images_have_1_or_3_channels() -> None:
    assert suited("VALUE_SCALE_2D", InputTensor=of(1, 5, 2, 2))["InputTensor"]["Sizes"] == [1, 3, 2, 2]
    assert suited("VALUE_SCALE_2D", InputTensor=of(1, 1, 2, 2))["InputTensor"]["Sizes"] == [1, 1, 2, 2]


def test_regions_of_gradients_are_small_and_those_of_results_are_any() -> None:
    assert suited("LOCAL_RESPONSE_NORMALIZATION_GRAD", LocalSize=65535)["LocalSize"] == 128
    assert suited("LOCAL_RESPONSE_NORMALIZATION_GRAD", LocalSize=5)["LocalSize"] == 5
    assert suited("LOCAL_RESPONSE_NORMALIZATION", LocalSize=65535)["LocalSize"] == 65535


def test_no_more_is_scattered_along_an_axis_than_there_are_places() -> None:
    made = suited("SCATTER", InputTensor=of(2, 3), IndicesTensor=of(2, 9), UpdatesTensor=of(2, 9), Axis=1)
    assert made["IndicesTensor"]["Sizes"] == made["UpdatesTensor"]["Sizes"] == [2, 3]


def test_tuples_are_no_longer_than_a_tensor_has_dimensions() -> None:
    tensors = {"InputTensor": of(4, 5), "IndicesTensor": of(3, 7), "OutputTensor": of(3)}
    made = suited("GATHER_ND", **tensors, InputDimensionCount=2, IndicesDimensionCount=2)
    assert made["IndicesTensor"]["Sizes"] == [3, 2]


def test_what_has_no_such_rule_stays_as_it_is() -> None:
    fields = {"InputTensor": of(2, 3), "OutputTensor": of(2, 3)}
    suit(load_spec("DML_OPERATOR_ACTIVATION_RELU"), fields, seeded(1))
    assert fields == {"InputTensor": of(2, 3), "OutputTensor": of(2, 3)}


def test_the_length_of_a_whole_is_that_of_its_parts_and_without_parts_it_stays() -> None:
    made = suited("JOIN", InputTensors=[of(2, 3), of(2, 4)], OutputTensor=of(2, 9), Axis=1)
    assert made["OutputTensor"]["Sizes"] == [2, 10]
    assert [part["Sizes"] for part in made["InputTensors"]] == [[2, 5], [2, 5]]
    assert suited("JOIN", InputTensors=[], OutputTensor=of(2, 9), Axis=1)["OutputTensor"]["Sizes"] == [2, 9]


def test_a_tensor_that_is_null_stays_so() -> None:
    always = Chance(lambda low, _: low)
    fields: dict[str, Any] = {"ATensor": of(2, 3, data_type="INT8"), "AZeroPointTensor": None, "InputScaleTensor": None}
    for operator in ("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", "QUANTIZED_LINEAR_AVERAGE_POOLING"):
        suit(load_spec(f"DML_OPERATOR_{operator}"), fields, always)
        assert (fields["AZeroPointTensor"], fields["InputScaleTensor"]) == (None, None)


def test_a_window_outside_of_its_tensor_gets_most_of_it_and_one_inside_stays() -> None:
    given = {"InputTensor": of(40, 9), "OutputTensor": of(50, 2), "InputWindowStrides": [3, -1]}
    outside = suited("SLICE1", **given, InputWindowOffsets=[38, 0], InputWindowSizes=[5, 9])
    (start, _), (size, _) = outside["InputWindowOffsets"], outside["InputWindowSizes"]
    assert start <= 2
    assert 36 <= start + size <= 40
    assert outside["OutputTensor"]["Sizes"][0] == (size - 1) // 3 + 1
    inside = {**given, "OutputTensor": of(2, 2)}
    kept = suited("SLICE1", **inside, InputWindowOffsets=[30, 0], InputWindowSizes=[5, 9])
    assert (kept["InputWindowOffsets"], kept["OutputTensor"]) == ([30, 0], of(2, 2))


def gradient(operator: str, *sizes: int, **fields: list[int]) -> dict[str, Any]:
    tensors = {f"{name}Tensor": of(*sizes) for name in ("Input", "InputGradient", "OutputGradient")}
    return suited(operator, **tensors, **fields)


def test_windows_of_pooling_gradients_fit_and_have_a_gradient_for_each_place() -> None:
    """A window of 3 with dilation 3 spans 7 of 3 elements and 2 of padding; then 2 elements span 4, with padding 1."""
    pads = {"StartPadding": [2, 1], "EndPadding": [0, 1]}
    found = gradient("MAX_POOLING_GRAD", 1, 2, 3, 9, WindowSize=[3, 2], Strides=[1, 2], Dilations=[3, 1], **pads)
    assert (found["WindowSize"], found["StartPadding"], found["EndPadding"]) == ([2, 2], [1, 1], [0, 1])
    assert found["InputGradientTensor"]["Sizes"] == [1, 2, 1, 5]  # (3 + 1 - 4) / 1 + 1, and (9 + 2 - 2) // 2 + 1
    found = gradient("AVERAGE_POOLING_GRAD", 1, 2, 3, 9, WindowSize=[3, 2], Strides=[1, 2], **pads)
    assert (found["WindowSize"], found["StartPadding"]) == ([3, 2], [2, 1])
    assert found["InputGradientTensor"]["Sizes"] == [1, 2, 3, 5]


def test_windows_of_too_many_dimensions_stay_until_they_are_repaired() -> None:
    of_four = {name: [1, 2, 3, 3] for name in ("WindowSize", "Strides", "StartPadding", "EndPadding")}
    found = gradient("AVERAGE_POOLING_GRAD", 1, 2, 3, 9, **of_four)
    assert (found["WindowSize"], found["InputGradientTensor"]["Sizes"]) == ([1, 2, 3, 3], [1, 2, 3, 9])


def drawn_fields(operator: str, count: int = 200, **fields: Any) -> list[dict[str, Any]]:
    """Return fields after many suits, each by another seed."""
    made = [dict(fields) for _ in range(count)]
    for seed, raw in enumerate(made):
        suit(load_spec(f"DML_OPERATOR_{operator}"), raw, seeded(seed))
    return made


def test_limits_of_integers_are_from_all_of_their_type_and_those_of_floats_infinite_too() -> None:
    made = drawn_fields("ELEMENT_WISE_CLIP1", MinMaxDataType="INT64", Min=3, Max=1)
    wide = [(raw["Min"], raw["Max"]) for raw in made if raw["Min"] != 3]
    assert 50 < len(wide) < 150
    assert all(-(2**63) <= low <= high < 2**63 for low, high in wide)
    assert max(abs(high) for _, high in wide) > 2**60
    floats = drawn_fields("ELEMENT_WISE_CLIP1", MinMaxDataType="FLOAT32", Min=3, Max=1)
    assert {raw["Min"] for raw in floats} >= {-1.25, -math.inf}
    assert all(isinstance(raw["Max"], float) for raw in floats)


def test_diagonals_reach_the_last_rows_and_columns_and_values_the_ends_of_their_type() -> None:
    made = drawn_fields("DIAGONAL_MATRIX", OutputTensor=of(1, 900, 7, data_type="UINT8"), Offset=2, Value=1.5)
    offsets = {raw["Offset"] for raw in made}
    assert offsets == {2, *range(-899, -895), *range(3, 7)}  # 900 rows and 7 columns, up to three from the end
    assert {raw["Value"] for raw in made} > {1.5}
    assert all(0 <= raw["Value"] <= 255 for raw in made)
    assert max(raw["Value"] for raw in made) > 150
    floats = drawn_fields("DIAGONAL_MATRIX", OutputTensor=of(3, 3, data_type="FLOAT16"), Offset=2, Value=1.5)
    assert {raw["Value"] for raw in floats} == {1.5, math.inf, -math.inf, 2.0**-20, -3 * 2.0**-24}


def test_scaled_images_now_and_then_get_no_bias() -> None:
    made = drawn_fields("VALUE_SCALE_2D", InputTensor=of(1, 3, 2, 2), Scale=0.5, Bias=[0.5, 1.0, 2.0])
    assert 20 < sum(raw["Bias"] == [0.0, 0.0, 0.0] for raw in made) < 70


def test_few_constants_of_floats_are_infinite() -> None:
    made = drawn_fields("FILL_VALUE_CONSTANT", ValueDataType="FLOAT32", Value=1)
    infinite = [raw for raw in made if math.isinf(raw["Value"])]
    assert 1 <= len(infinite) <= 30


def test_a_limit_of_integers_is_whole_and_fits_them() -> None:
    fields = {
        "InputTensor": of(2, data_type="INT8"),
        "OutputTensor": of(2, data_type="INT8"),
        "Min": -3e38,
        "Max": 3e38,
    }
    assert suited("ELEMENT_WISE_CLIP", **fields) == {**fields, "Min": 1.0, "Max": 64.0}
    unsigned = {name: of(2, data_type="UINT8") for name in ("InputTensor", "OutputTensor")}
    assert suited("ELEMENT_WISE_CLIP", **{**fields, **unsigned})["Max"] == 192.0  # negative as a signed number


@pytest.mark.parametrize(("channels", "least", "most"), [(1031, 60, 80), (12, 0, 0)])
def test_most_gradients_of_regions_of_many_channels_are_interpolated(channels: int, least: int, most: int) -> None:
    """Gradients of the nearest elements are undefined where readings differ."""
    spec, changed = load_spec("DML_OPERATOR_ROI_ALIGN_GRAD"), 0
    for seed in range(100):
        fields = {
            "InputGradientTensor": of(1, channels, 2, 2),
            "MinimumSamplesPerOutput": 1,
            "MaximumSamplesPerOutput": 1,
            "InterpolationMode": "NEAREST_NEIGHBOR",
            "ReductionFunction": "MAX",
        }
        suit(spec, fields, seeded(str(seed)))
        changed += (fields["InterpolationMode"], fields["ReductionFunction"]) == ("LINEAR", "AVERAGE")
    assert least <= changed <= most


def test_every_change_is_made_to_the_descs_of_some_operator() -> None:
    specs = [load_spec(operator) for operator in operator_names()]
    first = {next((change for change in _CHANGES if change.is_for(spec)), None) for spec in specs}
    assert first - {None} == {*_CHANGES}
    assert len(specs) > 4 * len(_CHANGES)  # most need none
