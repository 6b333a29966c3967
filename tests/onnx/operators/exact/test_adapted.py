"""Operators whose types, sizes or attributes DirectML does not have, as ones that it has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import agrees, node, zeros

from dmlcheck.onnx.descs.node import Counterpart, Refused
from dmlcheck.onnx.operators.exact.mapping import imported


def made(type: str, inputs: list[Any], *outputs: Any, opset: int = 22, **attributes: Any) -> Counterpart:
    return imported(node(type, inputs, *outputs, opset=opset, **attributes))


def floats(*values: Any) -> Any:
    return np.array(values, np.float32)


def test_before_opset_7_an_input_may_begin_at_an_axis() -> None:
    x, y = np.arange(18, dtype=np.float32).reshape(2, 3, 3), floats(10, 20, 30)
    assert agrees(made("Add", [x, y], x + y[:, None], opset=6, axis=1, broadcast=1))
    assert agrees(made("Add", [x, y], x + y, opset=6, broadcast=1))
    assert agrees(made("Add", [x, y], x + y, opset=7))
    assert agrees(made("Pow", [x, y[:2] / 10], x ** floats(1, 2)[:, None, None], opset=6, axis=0, broadcast=1))


def test_before_opset_7_slopes_are_those_of_channels() -> None:
    x, slope = -np.arange(18, dtype=np.float32).reshape(2, 3, 3), floats(1, 2, 3)
    assert agrees(made("PRelu", [x, slope], x * slope[:, None], opset=6))
    assert agrees(made("PRelu", [x, slope[1:2]], x * 2, opset=6))
    assert agrees(made("PRelu", [x, slope], x * slope, opset=7))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_signed_bits_are_shifted_as_unsigned_ones(dtype: str) -> None:
    x, by = np.array([-3, 5, 1], dtype), np.array([1, 2, 7], dtype)
    left = made("BitShift", [x, by], np.array([-6, 20, -128 if dtype == "i1" else 128], dtype), direction="LEFT")
    assert left.operator == "ELEMENT_WISE_BIT_SHIFT_LEFT"
    assert agrees(left)
    right = made("BitShift", [np.array([9, 5], dtype), by[:2]], np.array([4, 1], dtype), direction="RIGHT")
    assert right.operator == "ELEMENT_WISE_BIT_SHIFT_RIGHT"
    assert agrees(right)


def test_shifts_that_directml_does_not_have_are_refused() -> None:
    x, one = np.array([-8], np.int8), np.array([1], np.int8)
    for by in (-1, 8):
        with pytest.raises(Refused, match="by less than 0 bits, or by all"):
            made("BitShift", [x, np.array([by], np.int8)], x, direction="LEFT")
    with pytest.raises(Refused, match="of negative numbers to the right"):
        made("BitShift", [x, one], x, direction="RIGHT")


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_exponents_of_64_bits_are_those_of_32(dtype: Any) -> None:
    found = made("Pow", [floats(2, 3), np.array([3, 4], dtype)], floats(8, 81))
    assert found.fields["ExponentTensor"].dtype.itemsize == 4
    assert agrees(found)
    large = made("Pow", [floats(1), np.array([2**40], dtype)], floats(1))
    assert large.fields["ExponentTensor"].dtype == dtype


def test_scales_of_quantized_products_are_floats() -> None:
    """(4 - 0) * 0.5 * (3 - 1) * 2 = 8, and 8 / 4 + 1 = 3."""
    half, zero, one = np.array([0.5], np.float16), np.array([0], np.uint8), np.array([1], np.uint8)
    inputs = [np.array([[4]], np.uint8), half, zero, np.array([[3]], np.uint8), 4 * half, one, 8 * half, one]
    found = made("QLinearMatMul", inputs, np.array([[3]], np.uint8))
    assert found.fields["AScaleTensor"].dtype == np.float32
    assert agrees(found)


@pytest.mark.parametrize(
    ("type", "y", "attributes"),
    [
        ("AveragePool", [1.5, 3], {"kernel_shape": [2]}),
        ("MaxPool", [2, 4], {"kernel_shape": [2]}),
        ("LpPool", [3, 6], {"kernel_shape": [2], "p": 1}),
        ("GlobalAveragePool", [7 / 3], {}),
        ("GlobalMaxPool", [4], {}),
        ("GlobalLpPool", [7], {"p": 1}),
        ("LRN", [1, 2, 4], {"size": 1, "alpha": 0.0, "beta": 1.0, "bias": 1.0}),
    ],
)
def test_one_dimension_of_places_becomes_two(type: str, y: list[float], attributes: Any) -> None:
    found = made(type, [floats([[1, 2, 4]])], floats([y]), **attributes)
    assert found.fields["InputTensor"].shape == (1, 1, 1, 3)
    assert agrees(found)


def test_maxima_that_are_counted_by_columns_are_those_of_exchanged_rows_and_columns() -> None:
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    # Windows of 2 rows and 3 columns: the largest are in row 1, and 2, of column 2, and 3; 3 elements to a column.
    values, places = floats([[[6, 7], [10, 11]]]), np.array([[[[7, 10], [8, 11]]]])
    found = made("MaxPool", [x], values, places, kernel_shape=[2, 3], storage_order=1)
    assert found.fields["WindowSize"] == [3, 2]
    assert agrees(found)
    padded = made("MaxPool", [x], zeros(1, 1, 1, 1), places, pads=[1, 2, 3, 4], kernel_shape=[7, 10], storage_order=1)
    assert (padded.fields["StartPadding"], padded.fields["EndPadding"]) == ([2, 1], [4, 3])
    with pytest.raises(Refused, match="counts columns first, of other than two spatial dimensions"):
        made("MaxPool", [x[0]], values, places, kernel_shape=[2], storage_order=1)


def test_one_element_more_than_the_windows_reach_is_output_padding() -> None:
    x, weights = floats([[1, 2]]), floats([[10, 20, 30]])
    found = made("ConvTranspose", [x, weights], floats([[10, 20, 50, 40, 60, 0]]), strides=[2], output_shape=[6])
    assert found.fields["OutputPadding"] == [1]
    assert agrees(found)
    with pytest.raises(Refused, match="larger than what it reaches"):
        made("ConvTranspose", [x, weights], zeros(1, 1, 7), strides=[2], output_shape=[7])


def test_batch_normalization_in_training_compares_the_result() -> None:
    """Means 2 and 6, variances of 4; the root of 4 + 12 is 4."""
    x = floats([[0, 4], [4, 8]]).reshape(1, 2, 2)
    scale, bias, running = floats(1, 10), floats(0, 100), floats(0, 0)
    inputs, y = [x, scale, bias, running, running], floats([[-0.5, 0.5], [95, 105]]).reshape(1, 2, 2)
    found = made("BatchNormalization", inputs, y, running, running, training_mode=1, epsilon=12.0)
    assert found.operator == "BATCH_NORMALIZATION_TRAINING"
    assert found.uncompared == {"OutputMeanTensor", "OutputVarianceTensor"}
    assert found.note == "The running mean and variance are not compared."
    assert agrees(found)
    assert made("BatchNormalization", inputs, y).operator == "BATCH_NORMALIZATION"


def test_a_deviation_is_that_of_directml_where_a_small_number_more_does_not_show() -> None:
    x = floats(1, 1, 3, 3).reshape(2, 1, 2, 1)
    found = made("MeanVarianceNormalization", [x], x - 2, opset=13)
    assert (found.operator, found.fields["Epsilon"]) == ("MEAN_VARIANCE_NORMALIZATION1", 0)
    assert agrees(found)
    with pytest.raises(Refused, match="a deviation so small that 1e-9"):
        made("MeanVarianceNormalization", [x / 100], x, opset=13)
