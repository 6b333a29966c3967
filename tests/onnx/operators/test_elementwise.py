"""Element-wise operators of ONNX as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import Desc, agrees, descs, fields, floats, found, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped

X = zeros(2, 3)


@pytest.mark.parametrize(
    ("type", "attributes", "operator"),
    [
        ("Add", {}, "ADD"),
        ("Greater", {}, "LOGICAL_GREATER_THAN"),
        ("Mod", {}, "MODULUS_FLOOR"),
        ("Mod", {"fmod": 1}, "MODULUS_TRUNCATE"),
        ("BitShift", {"direction": "LEFT"}, "BIT_SHIFT_LEFT"),
    ],
)
def test_of_two_operands_the_smaller_is_repeated(type: str, attributes: Any, operator: str) -> None:
    made = found(type, [X, zeros(3)], X, **attributes)
    assert made.operator == f"ELEMENT_WISE_{operator}"
    assert made.fields["ATensor"].strides is None
    assert made.fields["BTensor"].strides == (0, 1)


@pytest.mark.parametrize(
    ("limits", "operator", "expected"),
    [
        ([np.array(-1, "f4"), np.array(2, "f4")], "CLIP1", (-1, 2)),
        ([np.array(3, "f4"), np.array(2, "f4")], "CLIP", (3, 2)),
        ([None, np.array(2, "f4")], "CLIP1", (float(str(np.finfo("f4").min)), 2)),
    ],
)
def test_limits_of_a_clip_are_inputs_or_those_of_the_type(limits: Any, operator: str, expected: Any) -> None:
    made = found("Clip", [X, *limits], X)
    assert made.operator == f"ELEMENT_WISE_{operator}"
    assert (made.fields["Min"], made.fields["Max"]) == expected


@pytest.mark.parametrize(
    ("type", "attributes", "operator", "expected"),
    [
        ("Round", {}, "ELEMENT_WISE_ROUND", {"RoundingMode": "HALVES_TO_NEAREST_EVEN"}),
        ("IsInf", {"detect_negative": 0}, "ELEMENT_WISE_IS_INFINITY", {"InfinityMode": "POSITIVE"}),
        ("IsInf", {}, "ELEMENT_WISE_IS_INFINITY", {"InfinityMode": "EITHER"}),
    ],
)
def test_attributes_become_fields(type: str, attributes: Any, operator: str, expected: Any) -> None:
    made = found(type, [X], X, **attributes)
    assert (made.operator, fields(made)) == (operator, expected)


def test_a_search_for_neither_infinity_is_refused() -> None:
    with pytest.raises(Unmapped, match="finds neither infinity"):
        found("IsInf", [X], X, detect_negative=0, detect_positive=0)


# ---- before opset 7, and of other types


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_signed_bits_are_shifted_as_unsigned_ones(dtype: str) -> None:
    x, by = np.array([-3, 5, 1], dtype), np.array([1, 2, 7], dtype)
    left = found("BitShift", [x, by], np.array([-6, 20, -128 if dtype == "i1" else 128], dtype), direction="LEFT")
    assert left.operator == "ELEMENT_WISE_BIT_SHIFT_LEFT"
    assert agrees(left)
    right = found("BitShift", [np.array([9, 5], dtype), by[:2]], np.array([4, 1], dtype), direction="RIGHT")
    assert right.operator == "ELEMENT_WISE_BIT_SHIFT_RIGHT"
    assert agrees(right)


def test_shifts_that_directml_does_not_have_are_refused() -> None:
    x, one = np.array([-8], np.int8), np.array([1], np.int8)
    for by in (-1, 8):
        with pytest.raises(Unmapped, match="by less than 0 bits, or by all"):
            found("BitShift", [x, np.array([by], np.int8)], x, direction="LEFT")
    with pytest.raises(Unmapped, match="of negative numbers to the right"):
        found("BitShift", [x, one], x, direction="RIGHT")


def test_a_rest_of_a_division_by_infinity_that_is_rounded_down_has_no_counterpart() -> None:
    """Version 28 of ONNX says 3 and infinity for 3 and -3, where DirectML subtracts infinity times 0."""
    given = [floats(3, -3), floats(np.inf, np.inf)]
    assert found("Mod", given, floats(3, -3), fmod=1).operator == "ELEMENT_WISE_MODULUS_TRUNCATE"
    with pytest.raises(Unmapped, match="Mod by infinity"):
        found("Mod", given, floats(3, np.inf))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_exponents_of_64_bits_are_those_of_32(dtype: Any) -> None:
    made = found("Pow", [floats(2, 3), np.array([3, 4], dtype)], floats(8, 81))
    assert made.fields["ExponentTensor"].dtype.itemsize == 4
    assert agrees(made)
    large = found("Pow", [floats(1), np.array([2**40], dtype)], floats(1))
    assert large.fields["ExponentTensor"].dtype == dtype


def test_whole_numbers_and_exponents_of_more_dimensions_have_powers_too() -> None:
    whole = node_of("Pow", [np.array([2, -3], np.int32), np.array(3, np.int32)], TensorRef("INT32", (2,)))
    assert computed(whole)[0].tolist() == [8, -27]
    raised = node_of("Pow", [floats(2, 3), np.full((1, 1), 2, np.float32)], float32(1, 2))
    assert computed(raised)[0].tolist() == [[4, 9]]


@pytest.mark.parametrize(
    ("attributes", "k", "span"),
    [
        ({}, None, (-(2**31), 0)),
        ({"upper": 1}, 1, (-(2**31), 1)),
        ({"upper": 1}, -9, (-(2**31), -9)),
        ({"upper": 0}, None, (1, 2**31 - 1)),
        ({"upper": 0}, -1, (0, 2**31 - 1)),
    ],
)
def test_a_triangle_is_what_is_not_filled_with_0(attributes: Any, k: int | None, span: tuple[int, int]) -> None:
    """A span ends before its end; the provider has the least or the largest INT32 where it has no other."""
    x = zeros(3, 4, dtype="int64")
    inputs = [x] if k is None else [x, np.array(k)]
    made = found("Trilu", inputs, x, **attributes)
    assert made.operator == "DIAGONAL_MATRIX1"
    expected = {"ValueDataType": "INT64", "Value": 0, "DiagonalFillBegin": span[0], "DiagonalFillEnd": span[1]}
    assert fields(made) == expected


def test_triangles_of_five_dimensions_are_those_of_their_matrices() -> None:
    x = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    made = node_of("Trilu", [x], float32(1, 1, 2, 2, 2), upper=0)
    assert computed(made)[0].reshape(-1).tolist() == [1, 0, 3, 4, 5, 0, 7, 8]


def test_the_channels_of_images_have_terms_of_their_own() -> None:
    image = zeros(1, 3, 4, 4)
    tensors = {"InputTensor": "FLOAT32 1 3 4 4", "OutputTensor": "FLOAT32 1 3 4 4"}
    assert descs("ImageScaler", [image], image, scale=2.0, bias=[1.0, 2.0, 3.0]) == [
        Desc("VALUE_SCALE_2D", {**tensors, "Scale": 2, "Bias": [1, 2, 3]}, "1_0")
    ]
    with pytest.raises(Unmapped, match="with 2 terms"):
        descs("ImageScaler", [image], image, bias=[1.0, 2.0])


@pytest.mark.parametrize(
    ("attributes", "sizes"), [({"border": [1, 2, 4, 1]}, [5, 3]), ({"border": [1, 2, 0, 0], "scale": [4, 6]}, [4, 6])]
)
def test_images_are_cropped_from_the_left_and_upper_border_on(attributes: dict[str, Any], sizes: list[int]) -> None:
    """Left, top, right and bottom: 8 - 2 - 1 rows are left, and 8 - 1 - 4 columns; or the height and width given."""
    made = descs("Crop", [zeros(1, 3, 8, 8)], zeros(1, 3, *sizes), opset=8, **attributes)
    output = f"FLOAT32 1 3 {sizes[0]} {sizes[1]}"
    windows = {"Offsets": [0, 0, 2, 1], "Sizes": [1, 3, *sizes], "Strides": [1, 1, 1, 1]}
    fields = {"InputTensor": "FLOAT32 1 3 8 8", "OutputTensor": output, **windows}
    assert made == [Desc("SLICE", fields, "1_0")]


def test_a_crop_without_a_border_is_refused() -> None:
    with pytest.raises(Unmapped, match=r"Crop of 4 dimensions with the border \[\]"):
        descs("Crop", [zeros(1, 3, 8, 8)], zeros(1, 3, 5, 3))
