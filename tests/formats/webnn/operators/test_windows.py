"""Convolutions, pooling and resampling: layouts are strides, and all fields those of Chromium's DirectML backend."""

from __future__ import annotations

from typing import Any

import pytest
from webnn_tests import desc, operator, reason, tensor

# Two channels of 2 x 2: [[1, 2], [3, 4]] and [[5, 6], [7, 8]].
PLANES = [1, 2, 3, 4, 5, 6, 7, 8]
PIXELS = [1, 5, 2, 6, 3, 7, 4, 8]


def test_a_convolution_reads_channels_last_through_strides() -> None:
    """The first channel of the output is 1 x + 10 y, the second 100 x + 1000 y, of the two of the input."""
    x = tensor(PIXELS, 1, 2, 2, 2)
    weights = tensor([1, 100, 10, 1000], 1, 1, 2, 2)  # hwio
    expected = [51, 5100, 62, 6200, 73, 7300, 84, 8400]
    called = operator("conv2d", "x", "w", inputLayout="nhwc", filterLayout="hwio")
    found = desc({"x": x, "w": weights}, called, tensor(expected, 1, 2, 2, 2))
    assert found["operator"] == "CONVOLUTION"
    assert found["InputTensor"] == found["OutputTensor"] == "FLOAT32 [1, 2, 2, 2] [8, 1, 4, 2]"
    assert found["FilterTensor"] == "FLOAT32 [2, 2, 1, 1] [1, 2, 4, 4]"
    assert (found["Mode"], found["Direction"], found["GroupCount"]) == ("CROSS_CORRELATION", "FORWARD", 1)


@pytest.mark.parametrize(("layout", "shape"), [("oihw", (2, 1, 1, 2)), ("ohwi", (2, 1, 2, 1)), ("ihwo", (1, 1, 2, 2))])
def test_a_convolution_has_groups_and_a_bias(layout: str, shape: tuple[int, ...]) -> None:
    """Each channel with a filter of its own: x - right neighbour in the first, 2 x in the second; biases 10 and 20."""
    filters = {"oihw": [1, -1, 2, 0], "ohwi": [1, -1, 2, 0], "ihwo": [1, 2, -1, 0]}[layout]
    inputs = {"x": tensor(PLANES, 1, 2, 2, 2), "w": tensor(filters, *shape), "b": tensor([10, 20], 2)}
    called = operator("conv2d", "x", "w", bias="b", groups=2, filterLayout=layout)
    found = desc(inputs, called, tensor([9, 9, 30, 34], 1, 2, 2, 1))
    assert (found["BiasTensor"], found["GroupCount"]) == ("FLOAT32 [1, 2, 1, 1]", 2)


def test_padding_strides_and_dilations_are_by_height_and_width() -> None:
    """Padded by a row above and two columns to the left, a pixel is summed with that two columns further."""
    inputs = {"x": tensor([1, 2, 3, 4], 1, 1, 2, 2), "w": tensor([1, 1], 1, 1, 1, 2)}
    called = operator("conv2d", "x", "w", padding=[1, 0, 2, 0], strides=[2, 1], dilations=[1, 2])
    found = desc(inputs, called, tensor([0, 0, 3, 4], 1, 1, 2, 2))
    assert (found["StartPadding"], found["EndPadding"]) == ([1, 2], [0, 0])
    assert (found["Strides"], found["Dilations"]) == ([2, 1], [1, 2])


def test_a_transposed_convolution_runs_backward() -> None:
    """Each pixel spreads over two: 1 and 2 with the filter (1, 10) give 1, 10 + 2, 20."""
    inputs = {"x": tensor([1, 2], 1, 1, 1, 2), "w": tensor([1, 10], 1, 1, 1, 2)}
    found = desc(inputs, operator("convTranspose2d", "x", "w"), tensor([1, 12, 20], 1, 1, 1, 3))
    assert (found["Direction"], found["OutputPadding"]) == ("BACKWARD", [0, 0])
    inputs = {"x": tensor([1, 2], 1, 1, 2, 1), "w": tensor([1, 10], 1, 2, 1, 1)}
    called = operator("convTranspose2d", "x", "w", inputLayout="nhwc", filterLayout="hwoi")
    assert desc(inputs, called, tensor([1, 12, 20], 1, 1, 3, 1))["FilterTensor"] == "FLOAT32 [1, 1, 1, 2] [1, 1, 2, 1]"


@pytest.mark.parametrize(
    ("name", "expected", "made"),
    [
        ("maxPool2d", [4, 8], {"operator": "MAX_POOLING"}),
        ("averagePool2d", [2.5, 6.5], {"operator": "AVERAGE_POOLING", "IncludePadding": False}),
        ("l2Pool2d", [5.477226, 13.190906], {"operator": "LP_POOLING", "P": 2}),  # sqrt(30), sqrt(174)
    ],
)
def test_a_window_is_the_whole_image_by_default(name: str, expected: list[float], made: dict[str, Any]) -> None:
    found = desc({"x": tensor(PLANES, 1, 2, 2, 2)}, operator(name, "x"), tensor(expected, 1, 2, 1, 1))
    assert found["WindowSize"] == [2, 2]
    assert {key: found[key] for key in made} == made
    last = desc({"x": tensor(PIXELS, 1, 2, 2, 2)}, operator(name, "x", layout="nhwc"), tensor(expected, 1, 1, 1, 2))
    assert last["InputTensor"] == "FLOAT32 [1, 2, 2, 2] [8, 1, 4, 2]"


def test_dilated_windows_are_those_of_max_pooling_alone() -> None:
    x = {"x": tensor([1, 2, 9, 3, 5, 4], 1, 1, 1, 6)}
    options: dict[str, Any] = {"windowDimensions": [1, 2], "dilations": [1, 3]}
    found = desc(x, operator("maxPool2d", "x", **options), tensor([3, 5, 9], 1, 1, 1, 3))
    assert (found["operator"], found["Dilations"]) == ("MAX_POOLING2", [1, 3])
    left_out = reason(x, operator("averagePool2d", "x", **options), tensor([2, 3.5, 6.5], 1, 1, 1, 3))
    assert left_out == "Chromium's DirectML backend has no dilations for averagePool2d"


def test_scales_are_given_or_follow_from_the_sizes() -> None:
    x = {"x": tensor([1, 3], 1, 1, 1, 2)}
    expected = tensor([1, 1, 3, 3], 1, 1, 1, 4)
    found = desc(x, operator("resample2d", "x", sizes=[1, 4]), expected)
    assert (found["operator"], found["Scales"], found["InterpolationMode"]) == (
        "RESAMPLE",
        [1, 1, 1, 2],
        "NEAREST_NEIGHBOR",
    )
    found = desc(x, operator("resample2d", "x", scales=[1, 2], mode="linear"), tensor([1, 1.5, 2.5, 3], 1, 1, 1, 4))
    assert (found["Scales"], found["InterpolationMode"]) == ([1, 1, 1, 2], "LINEAR")
    found = desc(
        {"x": tensor([1, 3], 2, 1, 1, 1)},
        operator("resample2d", "x", scales=[2, 1], axes=[0, 1]),
        tensor([1, 1, 3, 3], 4, 1, 1, 1),
    )
    assert found["Scales"] == [2, 1, 1, 1]


def test_lists_of_another_length_are_a_reason() -> None:
    x = {"x": tensor(PLANES, 1, 2, 2, 2)}
    left_out = reason(x, operator("maxPool2d", "x", strides=[1]), tensor([4, 8], 1, 2, 1, 1))
    assert left_out == "`strides` of maxPool2d has 1 numbers, not 2"
    left_out = reason(x, operator("maxPool2d", "x", layout="chwn"), tensor([4, 8], 1, 2, 1, 1))
    assert left_out == "Chromium's DirectML backend does not take layout 'chwn'"
