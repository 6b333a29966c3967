"""ONNX's convolutions as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, node_of
from onnx_nodes import Desc, agrees, descs, floats, found, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped

X = zeros(1, 2, 5, 5)


@pytest.mark.parametrize(
    ("attributes", "start", "end"),
    [
        ({"pads": [1, 2, 3, 4]}, [1, 2], [3, 4]),
        ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, [0, 1], [1, 1]),
        ({"auto_pad": "SAME_LOWER", "strides": [2, 2]}, [1, 1], [0, 1]),
        ({"auto_pad": "VALID", "pads": [1, 1, 1, 1]}, [0, 0], [0, 0]),
    ],
)
def test_padding_is_given_or_follows_from_sizes(attributes: Any, start: list[int], end: list[int]) -> None:
    made = found("Conv", [X, zeros(2, 2, 2, 3)], X, **attributes)
    assert (made.fields["StartPadding"], made.fields["EndPadding"]) == (start, end)


@pytest.mark.parametrize(
    ("attributes", "start", "end"),
    [
        ({"auto_pad": "SAME_UPPER"}, [0, 1], [1, 1]),
        ({"auto_pad": "SAME_LOWER"}, [1, 1], [0, 1]),
        ({"output_shape": [10, 10]}, [1, 1], [0, 1]),
        ({"auto_pad": "VALID"}, [0, 0], [0, 0]),
    ],
)
def test_a_transposed_convolution_may_be_padded_to_its_output(
    attributes: Any, start: list[int], end: list[int]
) -> None:
    """(5 - 1) * 2 + 3 - 10 is 1, and with a filter of 4 it is 2."""
    made = found("ConvTranspose", [X, zeros(2, 1, 3, 4)], zeros(1, 1, 10, 10), strides=[2, 2], **attributes)
    assert (made.fields["StartPadding"], made.fields["EndPadding"]) == (start, end)


@pytest.mark.parametrize(
    ("pads", "added", "bias", "right"),
    [
        ([0, 1], 1, None, [10, 20, 50, 40, 60]),
        ([1, 2], 1, None, [20, 50, 40]),
        ([0, 0], 1, None, [10, 20, 50, 40, 60, 0]),
        ([0, 0], 1, 7, [17, 27, 57, 47, 67, 7]),
        ([1, 1], 2, 7, [27, 57, 47, 67, 7]),
    ],
)
def test_what_output_padding_adds_are_sums(pads: list[int], added: int, bias: int | None, right: list[float]) -> None:
    """1 and 2 times 10, 20, 30, two apart, are 10, 20, 30 + 20, 40, 60; what is added is not cut off at the end."""
    inputs = [floats([[1, 2]]), floats([[10, 20, 30]]), None if bias is None else floats(bias)]
    attributes = {"strides": [2], "pads": pads, "output_padding": [added]}
    (made,) = computed(node_of("ConvTranspose", inputs, TensorRef("FLOAT32", (1, 1, len(right))), **attributes))
    assert made.tolist() == [[right]]


def test_one_element_more_than_the_windows_reach_is_output_padding() -> None:
    x, weights = floats([[1, 2]]), floats([[10, 20, 30]])
    made = found("ConvTranspose", [x, weights], floats([[10, 20, 50, 40, 60, 0]]), strides=[2], output_shape=[6])
    assert made.fields["OutputPadding"] == [1]
    assert agrees(made)
    with pytest.raises(Unmapped, match="larger than what it reaches"):
        found("ConvTranspose", [x, weights], zeros(1, 1, 7), strides=[2], output_shape=[7])


def test_attributes_are_for_the_dimensions_of_the_images() -> None:
    with pytest.raises(Unmapped, match="Conv whose attributes are not for 4 dimensions"):
        found("Conv", [X, zeros(2, 2, 3, 3)], X, strides=[1])


WINDOW = {"Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}


def test_a_convolution_of_channels_last_reads_and_writes_through_strides() -> None:
    """DmlOperatorConvolution.cpp: input 7x8 of 3 channels, 4 filters of 2x3, output 6x6 of 4 channels."""
    tensors = {
        "InputTensor": "FLOAT32 1 3 7 8 by 168 1 24 3",
        "FilterTensor": "FLOAT32 4 3 2 3 by 18 1 9 3",
        "BiasTensor": "FLOAT32 1 4 1 1",
        "OutputTensor": "FLOAT32 1 4 6 6 by 144 1 24 4",
    }
    kind = {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD"}
    more = {"OutputPadding": [0, 0], "GroupCount": 1}
    inputs = [zeros(1, 7, 8, 3), zeros(4, 2, 3, 3), zeros(4)]
    assert descs("com.microsoft.NhwcConv", inputs, zeros(1, 6, 6, 4)) == [
        Desc("CONVOLUTION", {**tensors, **kind, **WINDOW, **more}, "1_0")
    ]
    with pytest.raises(Unmapped, match="only four are supported"):
        descs("com.microsoft.NhwcConv", [zeros(1, 7, 3), zeros(4, 3, 3)], zeros(1, 6, 4))


def test_the_padding_of_a_transposed_convolution_may_be_an_input() -> None:
    """DmlOperatorConvolution.cpp: input 2 is the padding, input 3 the bias."""
    pads = np.array([1, 0, 2, 1], np.int64)
    inputs = [zeros(1, 3, 4, 4), zeros(3, 5, 3, 3), pads, zeros(5)]
    (made,) = descs("com.microsoft.ConvTransposeWithDynamicPads", inputs, zeros(1, 5, 6, 8), strides=[2, 2])
    assert (made.fields["StartPadding"], made.fields["EndPadding"]) == ([1, 0], [2, 1])
    assert (made.fields["Direction"], made.fields["BiasTensor"]) == ("BACKWARD", "FLOAT32 1 5 1 1")
    assert made.level == "1_0"
    with pytest.raises(Unmapped, match="without four numbers of padding"):
        descs("com.microsoft.ConvTransposeWithDynamicPads", [*inputs[:2], pads[:2]], zeros(1, 5, 6, 8))
