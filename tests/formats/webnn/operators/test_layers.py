"""Normalization and quantization: the operators and fields that Chromium's DirectML backend gives them."""

from __future__ import annotations

from webnn_tests import desc, operator, reason, tensor


def test_a_batch_is_normalized_along_an_axis() -> None:
    """(x - mean) / sqrt(variance) with variances 4 and 9 and no epsilon, then the scale (2, 3) and no bias."""
    inputs = {
        "x": tensor([5, 7, 10, 16], 1, 2, 2),
        "m": tensor([1, 4], 2),
        "v": tensor([4, 9], 2),
        "s": tensor([2, 3], 2),
    }
    called = operator("batchNormalization", "x", "m", "v", scale="s", epsilon=0)
    found = desc(inputs, called, tensor([4, 6, 6, 12], 1, 2, 2))
    assert (found["operator"], found["MeanTensor"]) == ("BATCH_NORMALIZATION", "FLOAT32 [1, 2, 1]")
    assert (found["BiasTensor"], found["Spatial"], found["Epsilon"]) == ("FLOAT32 [1, 1, 1]", True, 0)
    last = {**inputs, "x": tensor([5, 10, 7, 16], 2, 2)}
    assert desc(last, called, tensor([4, 6, 6, 12], 2, 2))["ScaleTensor"] == "FLOAT32 [1, 2]"


def test_an_instance_is_normalized_over_its_image() -> None:
    """Mean 3 and variance 1 in one channel, 12 and 4 in the other; bias (10, 20) and no scale."""
    inputs = {"x": tensor([2, 10, 4, 14], 1, 1, 2, 2), "b": tensor([10, 20], 2)}
    called = operator("instanceNormalization", "x", layout="nhwc", bias="b", epsilon=0)
    found = desc(inputs, called, tensor([9, 19, 11, 21], 1, 1, 2, 2))
    assert (found["operator"], found["Axes"]) == ("MEAN_VARIANCE_NORMALIZATION1", [2, 3])
    assert found["InputTensor"] == "FLOAT32 [1, 2, 1, 2] [4, 1, 4, 2]"
    assert (found["ScaleTensor"], found["BiasTensor"]) == ("FLOAT32 [1, 1, 1, 1]", "FLOAT32 [1, 2, 1, 1]")
    assert found["NormalizeVariance"] is True


def test_a_layer_is_normalized_over_all_but_the_first_dimension_by_default() -> None:
    found = desc(
        {"x": tensor([2, 4, 10, 14], 2, 2)},
        operator("layerNormalization", "x", epsilon=0),
        tensor([-1, 1, -1, 1], 2, 2),
    )
    assert (found["Axes"], "ScaleTensor" in found) == ([1], False)
    assert (
        desc({"x": tensor([2, 4], 1, 2)}, operator("layerNormalization", "x"), tensor([-0.999995, 0.999995], 1, 2))[
            "Epsilon"
        ]
        == 1e-5
    )


def test_a_scale_has_the_order_of_the_axes() -> None:
    """The scale's first dimension is axis 1 of the input: it is read by columns."""
    x = tensor([-1, 1, -1, 1], 1, 2, 2)
    inputs = {"x": x, "s": tensor([1, 2, 3, 4], 2, 2)}
    found = desc(
        inputs, operator("layerNormalization", "x", scale="s", axes=[2, 1], epsilon=0), tensor([-1, 3, -2, 4], 1, 2, 2)
    )
    assert (found["Axes"], found["ScaleTensor"]) == ([2, 1], "FLOAT32 [1, 2, 2] [0, 1, 2]")
    left_out = reason({"x": x, "s": tensor([1, 2], 2)}, operator("layerNormalization", "x", scale="s", axes=[1, 2]), x)
    assert left_out == "a tensor of 1 dimensions stands for 2 axes"


def test_quantization_has_four_dimensions_and_blocks() -> None:
    """Blocks of two elements: 1 and 5 with scale 0.5 and zero point 1, 8 and -8 with scale 4 and zero point 0."""
    inputs = {
        "x": tensor([1, 5, 8, -8], 4),
        "s": tensor([0.5, 4], 2),
        "z": tensor([1, 0], 2, type="int8"),
    }
    found = desc(inputs, operator("quantizeLinear", "x", "s", "z"), tensor([3, 11, 2, -2], 4, type="int8"))
    assert (found["operator"], found["QuantizationType"]) == ("QUANTIZE", "SCALE_ZERO_POINT")
    assert found["QuantizationTensors"] == ["FLOAT32 [1, 1, 1, 2]", "INT8 [1, 1, 1, 2]"]
    inputs = {"x": tensor([-8, 7], 2, type="int4"), "s": tensor([0.5], 1), "z": tensor([1], 1, type="int4")}
    found = desc(inputs, operator("dequantizeLinear", "x", "s", "z"), tensor([-4.5, 3], 2))
    assert (found["operator"], found["InputTensor"]) == ("DEQUANTIZE", "INT4 [1, 1, 1, 2]")
