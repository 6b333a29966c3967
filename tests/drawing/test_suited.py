"""Descs changed where their results would not be defined."""

from __future__ import annotations

from typing import Any

from dmlcheck.drawing.chance import Chance, seeded
from dmlcheck.drawing.suited import suit
from dmlcheck.specs.load import load_spec

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


def test_a_limit_of_integers_is_whole_and_fits_them() -> None:
    fields = {
        "InputTensor": of(2, data_type="INT8"),
        "OutputTensor": of(2, data_type="INT8"),
        "Min": -3e38,
        "Max": 3e38,
    }
    assert suited("ELEMENT_WISE_CLIP", **fields) == {**fields, "Min": 1.0, "Max": 64.0}
