"""ONNX's products of matrices, convolutions and pooling as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import Desc, descs, fields, found, zeros

from dmlcheck.onnx.descs.node import Refused

X = zeros(1, 2, 5, 5)


def test_gemm_has_its_factors_and_repeats_the_summand() -> None:
    made = found("Gemm", [zeros(2, 3), zeros(4, 3), zeros(4)], zeros(2, 4), transB=1, alpha=0.5)
    assert made.operator == "GEMM"
    assert made.fields["CTensor"].strides == (0, 1)
    assert fields(made) == {"TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 0.5, "Beta": 1}
    assert "CTensor" not in found("Gemm", [zeros(2, 3), zeros(3, 4)], zeros(2, 4)).fields


def test_batches_of_matrices_repeat() -> None:
    made = found("MatMul", [zeros(2, 2, 3), zeros(3, 4)], zeros(2, 2, 4))
    assert made.fields["BTensor"].strides == (0, 4, 1)
    assert fields(made)["Beta"] == 0


@pytest.mark.parametrize(
    ("a", "b", "output", "expected"),
    [
        ((3,), (3, 4), (4,), ((1, 3), (3, 4), (1, 4))),
        ((2, 3), (3,), (2,), ((2, 3), (3, 1), (2, 1))),
        ((3,), (3,), (), ((1, 3), (3, 1), (1, 1))),
        ((5, 2, 3), (3,), (5, 2), ((5, 2, 3), (5, 3, 1), (5, 2, 1))),
        ((3,), (5, 3, 4), (5, 4), ((5, 1, 3), (5, 3, 4), (5, 1, 4))),
    ],
)
def test_a_vector_is_a_row_on_the_left_and_a_column_on_the_right(a: Any, b: Any, output: Any, expected: Any) -> None:
    made = found("MatMul", [zeros(*a), zeros(*b)], zeros(*output))
    tensors = [made.fields[f"{name}Tensor"] for name in ("A", "B", "Output")]
    assert tuple(getattr(tensor, "values", tensor).shape for tensor in tensors) == expected


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


def test_a_convolution_has_groups_and_a_bias_of_channels() -> None:
    made = found("Conv", [X, zeros(4, 1, 3, 3), zeros(4)], zeros(1, 4, 3, 3), group=2, dilations=[2, 1])
    assert made.operator == "CONVOLUTION"
    assert made.fields["BiasTensor"].shape == (1, 4, 1, 1)
    assert (made.fields["GroupCount"], made.fields["Dilations"]) == (2, [2, 1])
    assert (made.fields["Mode"], made.fields["Direction"]) == ("CROSS_CORRELATION", "FORWARD")
    made = found("ConvTranspose", [X, zeros(2, 1, 3, 3)], zeros(1, 1, 8, 8), output_padding=[1, 1])
    assert (made.fields["Direction"], made.fields["OutputPadding"]) == ("BACKWARD", [1, 1])


def test_pooling_takes_windows_or_all_that_follows_the_channels() -> None:
    made = found("AveragePool", [X], X, kernel_shape=[3, 3], count_include_pad=1)
    assert (made.operator, made.fields["WindowSize"], made.fields["IncludePadding"]) == ("AVERAGE_POOLING", [3, 3], 1)
    made = found("GlobalMaxPool", [X], zeros(1, 2, 1, 1))
    assert (made.operator, made.fields["WindowSize"]) == ("MAX_POOLING", [5, 5])
    made = found("LpPool", [X], X, kernel_shape=[2, 2], p=3)
    assert (made.operator, made.fields["P"]) == ("LP_POOLING", 3)
    made = found("MaxPool", [X], X, zeros(1, dtype="int64"), kernel_shape=[2, 2])
    assert (made.operator, made.fields["OutputIndicesTensor"].dtype) == ("MAX_POOLING2", np.uint64)


def test_pooling_with_dilations_needs_the_operators_that_have_them() -> None:
    for name, operator in (("AveragePool", "AVERAGE_POOLING1"), ("LpPool", "LP_POOLING1"), ("MaxPool", "MAX_POOLING2")):
        made = found(name, [X], X, kernel_shape=[2, 2], dilations=[2, 1])
        assert (made.operator, made.fields["Dilations"]) == (operator, [2, 1])


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


def test_maxima_go_back_to_indices_in_the_output_or_nowhere() -> None:
    x, indices = zeros(1, 1, 2, 2), np.array([[[[0, 3], [12, 15]]]])
    made = found("MaxUnpool", [x, indices], zeros(1, 1, 4, 4), kernel_shape=[2, 2], strides=[2, 2])
    assert made.operator == "MAX_UNPOOLING"
    assert (made.fields["IndicesTensor"].dtype, made.fields["IndicesTensor"].values.tolist()) == (
        np.uint64,
        indices.tolist(),
    )
    with pytest.raises(Refused, match="do not count in its output"):
        found("MaxUnpool", [x, indices], zeros(1, 1, 5, 5), kernel_shape=[2, 2], strides=[2, 2])


def test_regions_have_the_number_of_their_image() -> None:
    made = found("MaxRoiPool", [X, zeros(3, 5)], zeros(3, 2, 2, 4), pooled_shape=[2, 4], spatial_scale=0.5)
    assert (made.operator, made.fields["ROITensor"].shape) == ("ROI_POOLING", (1, 1, 3, 5))
    assert (made.fields["PooledSize"], made.fields["SpatialScale"]) == ({"Height": 2, "Width": 4}, 0.5)


@pytest.mark.parametrize(
    ("type", "inputs", "attributes", "reason"),
    [
        ("Conv", [X, zeros(2, 2, 3, 3)], {"strides": [1]}, "Conv whose attributes are not for 4 dimensions"),
        ("ConvTranspose", [X, zeros(2, 2, 2, 2)], {"output_shape": [9, 9]}, "larger than what it reaches"),
        ("MaxPool", [X], {"kernel_shape": [2, 2], "storage_order": 1}, "counts columns first"),
    ],
)
def test_what_directml_does_otherwise_is_refused(type: str, inputs: Any, attributes: Any, reason: str) -> None:
    outputs = {"MaxPool": [X, X], "ConvTranspose": [zeros(1, 2, 9, 9)]}.get(type, [X])
    with pytest.raises(Refused, match=reason):
        found(type, inputs, *outputs, **attributes)


# ---- onnxruntime's own

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
    with pytest.raises(Refused, match="only four are supported"):
        descs("com.microsoft.NhwcConv", [zeros(1, 7, 3), zeros(4, 3, 3)], zeros(1, 6, 4))


def test_the_padding_of_a_transposed_convolution_may_be_an_input() -> None:
    """DmlOperatorConvolution.cpp: input 2 is the padding, input 3 the bias."""
    pads = np.array([1, 0, 2, 1], np.int64)
    inputs = [zeros(1, 3, 4, 4), zeros(3, 5, 3, 3), pads, zeros(5)]
    (made,) = descs("com.microsoft.ConvTransposeWithDynamicPads", inputs, zeros(1, 5, 6, 8), strides=[2, 2])
    assert (made.fields["StartPadding"], made.fields["EndPadding"]) == ([1, 0], [2, 1])
    assert (made.fields["Direction"], made.fields["BiasTensor"]) == ("BACKWARD", "FLOAT32 1 5 1 1")
    assert made.level == "1_0"
    with pytest.raises(Refused, match="without four numbers of padding"):
        descs("com.microsoft.ConvTransposeWithDynamicPads", [*inputs[:2], pads[:2]], zeros(1, 5, 6, 8))
