"""ONNX's operators on quantized numbers as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import descs, fields, found, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Refused

Array = np.ndarray[Any, Any]


def whole(*sizes: int) -> Array:
    return zeros(*sizes, dtype="uint8")


def shapes(made: Any) -> dict[str, tuple[int, ...]]:
    return {
        name.removesuffix("Tensor"): value.shape for name, value in made.fields.items() if isinstance(value, TensorRef)
    }


def test_numbers_of_rows_and_columns_lie_along_them() -> None:
    a, b, one = whole(5, 2, 3), whole(3, 4), zeros()
    inputs = [a, zeros(2), whole(2), b, zeros(4), whole(1), one, whole()]
    made = found("QLinearMatMul", inputs, whole(5, 2, 4))
    assert made.operator == "QUANTIZED_LINEAR_MATRIX_MULTIPLY"
    assert shapes(made) == {
        "A": (5, 2, 3), "B": (5, 3, 4), "Output": (5, 2, 4),
        "AScale": (1, 2, 1), "AZeroPoint": (1, 2, 1),
        "BScale": (1, 1, 4), "BZeroPoint": (1, 1, 1),
        "OutputScale": (1, 1, 1), "OutputZeroPoint": (1, 1, 1),
    }  # fmt: skip
    assert made.fields["BTensor"].strides == (0, 4, 1)
    with pytest.raises(Refused, match="QLinearMatMul of a vector"):
        found("QLinearMatMul", [whole(3), *inputs[1:]], whole(4))


def test_zero_points_of_integer_products_may_be_left_out() -> None:
    a, b, output = whole(2, 3), whole(3, 4), zeros(2, 4, dtype="int32")
    assert shapes(found("MatMulInteger", [a, b], output)) == {"A": (2, 3), "B": (3, 4), "Output": (2, 4)}
    made = found("MatMulInteger", [a, b, None, whole(4)], output)
    assert made.operator == "MATRIX_MULTIPLY_INTEGER"
    assert shapes(made)["BZeroPoint"] == (1, 4)
    assert "AZeroPointTensor" not in made.fields
    assert shapes(found("MatMulInteger", [a, b, whole(2, 1), None], output))["AZeroPoint"] == (2, 1)


def test_convolutions_have_one_scale_or_one_for_each_channel() -> None:
    x, weights, output = whole(1, 4, 5, 5), whole(6, 2, 3, 3), whole(1, 6, 3, 3)
    one, bias = zeros(), zeros(6, dtype="int32")
    inputs = [x, one, whole(), weights, zeros(6), whole(6), one, whole(), bias]
    made = found("QLinearConv", inputs, output, group=2, pads=[1, 0, 0, 1])
    assert made.operator == "QUANTIZED_LINEAR_CONVOLUTION"
    ones, channels = (1, 1, 1, 1), (1, 6, 1, 1)
    assert shapes(made) == {
        "Input": x.shape, "InputScale": ones, "InputZeroPoint": ones,
        "Filter": weights.shape, "FilterScale": channels, "FilterZeroPoint": channels, "Bias": channels,
        "Output": output.shape, "OutputScale": ones, "OutputZeroPoint": ones,
    }  # fmt: skip
    window = {"Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [1, 0], "EndPadding": [0, 1], "GroupCount": 2}
    assert fields(made) == window
    made = found("ConvInteger", [x, weights, whole(), whole(6)], output.astype("i4"), group=2, pads=[1, 0, 0, 1])
    assert (made.operator, fields(made)) == ("CONVOLUTION_INTEGER", window)
    assert (shapes(made)["InputZeroPoint"], shapes(made)["FilterZeroPoint"]) == (ones, channels)


def test_a_range_gives_a_scale_and_a_zero_point_of_one_element() -> None:
    made = found("DynamicQuantizeLinear", [zeros(2, 3)], whole(2, 3), zeros(), whole())
    assert made.operator == "DYNAMIC_QUANTIZE_LINEAR"
    assert shapes(made) == {"Input": (2, 3), "Output": (2, 3), "OutputScale": (1, 1), "OutputZeroPoint": (1, 1)}


def test_a_product_to_floats_repeats_its_bias() -> None:
    a, b, one = whole(5, 2, 3), whole(3, 4), zeros()
    made = found("com.microsoft.MatMulIntegerToFloat", [a, b, one, zeros(4), whole(), None, zeros(4)], zeros(5, 2, 4))
    assert made.operator == "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"
    assert shapes(made) == {
        "A": (5, 2, 3), "AScale": (1, 1, 1), "AZeroPoint": (1, 1, 1),
        "B": (5, 3, 4), "BScale": (1, 1, 4), "Bias": (5, 2, 4), "Output": (5, 2, 4),
    }  # fmt: skip
    assert made.fields["BiasTensor"].strides == (0, 0, 1)


def test_a_quantized_sum_repeats_its_addends() -> None:
    one, point = zeros(), whole(1)
    inputs = [whole(2, 3), one, point, whole(3), one, None, one, point]
    made = found("com.microsoft.QLinearAdd", inputs, whole(2, 3))
    assert made.operator == "ELEMENT_WISE_QUANTIZED_LINEAR_ADD"
    assert shapes(made) == {
        "A": (2, 3), "AScale": (1, 1), "AZeroPoint": (1, 1), "B": (2, 3), "BScale": (1, 1), "Output": (2, 3),
        "OutputScale": (1, 1), "OutputZeroPoint": (1, 1),
    }  # fmt: skip
    assert made.fields["BTensor"].strides == (0, 1)


def test_a_quantized_average_has_a_window() -> None:
    x, one, point = whole(1, 2, 5, 5), zeros(), whole()
    attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "count_include_pad": 1}
    made = found("com.microsoft.QLinearAveragePool", [x, one, point, one, point], whole(1, 2, 2, 2), **attributes)
    assert made.operator == "QUANTIZED_LINEAR_AVERAGE_POOLING"
    assert fields(made) == {
        "WindowSize": [3, 3], "Strides": [2, 2], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0],
        "IncludePadding": 1,
    }  # fmt: skip
    assert shapes(made)["OutputScale"] == (1, 1, 1, 1)


def test_an_average_of_channels_last_reads_and_writes_through_strides() -> None:
    """DmlOperatorQLinearAveragePooling.cpp: 8x6 pixels of 3 channels."""
    x, one, point = whole(2, 8, 6, 3), zeros(), whole()
    made = found(
        "com.microsoft.QLinearGlobalAveragePool", [x, one, point, one, point], whole(2, 1, 1, 3), channels_last=1
    )
    assert fields(made)["WindowSize"] == [8, 6]
    assert shapes(made)["Input"] == (2, 3, 8, 6)
    assert made.fields["InputTensor"].strides == (144, 1, 18, 3)
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2], "channels_last": 1}
    made = found("com.microsoft.QLinearAveragePool", [x, one, point, one, point], whole(2, 4, 3, 3), **attributes)
    assert (shapes(made)["Output"], made.fields["OutputTensor"].strides) == ((2, 3, 4, 3), (36, 1, 9, 3))


def test_a_global_average_takes_all_pixels() -> None:
    x, one, point = whole(2, 3, 8, 6), zeros(), whole()
    (made,) = descs("com.microsoft.QLinearGlobalAveragePool", [x, one, point, one, point], whole(2, 3, 1, 1))
    assert (made.fields["WindowSize"], made.fields["InputTensor"], made.level) == ([8, 6], "UINT8 2 3 8 6", "6_2")
