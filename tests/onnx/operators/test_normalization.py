"""ONNX's normalizations as DirectML's, and as the provider makes them."""

from __future__ import annotations

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import Desc, agrees, descs, fields, floats, found, node, zeros

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import provider_steps

X = zeros(2, 3, 4, 4)


def test_statistics_of_channels_lie_along_them() -> None:
    made = found("BatchNormalization", [X, *[zeros(3)] * 4], X, epsilon=0.5)
    assert made.operator == "BATCH_NORMALIZATION"
    for name in ("ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor"):
        assert made.fields[name].shape == (1, 3, 1, 1)
    assert fields(made) == {"Spatial": 1, "Epsilon": 0.5}
    with pytest.raises(Unmapped, match="in training"):
        descs("BatchNormalization", [X, *[zeros(3)] * 4], X, training_mode=1)
    with pytest.raises(Unmapped, match="no counterpart to output 1"):
        descs("BatchNormalization", [X, *[zeros(3)] * 4], X, zeros(3), opset=9)


def test_an_instance_is_what_follows_batch_and_channel() -> None:
    made = found("InstanceNormalization", [X, zeros(3), zeros(3)], X)
    assert made.operator == "MEAN_VARIANCE_NORMALIZATION1"
    assert fields(made) == {"Axes": [2, 3], "NormalizeVariance": 1, "Epsilon": 1e-5}


def test_a_layer_is_what_follows_its_axis() -> None:
    made = found("LayerNormalization", [X, zeros(4, 4), zeros(4)], X, axis=-2, epsilon=0.5)
    assert made.operator == "MEAN_VARIANCE_NORMALIZATION2"
    assert (made.fields["ScaleTensor"].shape, made.fields["BiasTensor"].shape) == ((1, 1, 4, 4), (1, 1, 1, 4))
    assert fields(made) == {"Axes": [2, 3], "UseMean": 1, "UseVariance": 1, "Epsilon": 0.5}
    assert made.note is None
    made = found("LayerNormalization", [X, zeros(4)], X, zeros(2, 3, 4, 1), zeros(2, 3, 4, 1))
    assert "BiasTensor" not in made.fields
    assert made.note == "Mean and InvStdDev are not compared."


def test_a_mean_square_needs_no_mean() -> None:
    made = found("RMSNormalization", [X, zeros(4, 4)], X, axis=2, epsilon=0.5)
    assert made.operator == "MEAN_VARIANCE_NORMALIZATION2"
    assert made.fields["ScaleTensor"].shape == (1, 1, 4, 4)
    assert fields(made) == {"Axes": [2, 3], "UseMean": 0, "UseVariance": 1, "Epsilon": 0.5}


@pytest.mark.parametrize(("opset", "count", "shape"), [(18, 2, (1, 2, 1, 1, 1)), (21, 6, (1, 2, 3, 1, 1))])
def test_groups_of_channels_are_a_dimension_of_their_own(opset: int, count: int, shape: tuple[int, ...]) -> None:
    x = np.arange(2 * 6 * 4, dtype=np.float32).reshape(2, 6, 2, 2)
    made = found("GroupNormalization", [x, zeros(count), zeros(count)], -x, opset=opset, num_groups=2)
    assert made.operator == "MEAN_VARIANCE_NORMALIZATION1"
    assert (made.fields["ScaleTensor"].shape, made.fields["BiasTensor"].shape) == (shape, shape)
    assert made.fields["InputTensor"].values.tolist() == x.reshape(2, 2, 3, 2, 2).tolist()
    assert made.fields["OutputTensor"].values.tolist() == (-x).reshape(2, 2, 3, 2, 2).tolist()
    assert fields(made) == {"Axes": [2, 3, 4], "NormalizeVariance": 1, "Epsilon": 1e-5}
    with pytest.raises(Unmapped, match=r"GroupNormalization of 4 groups, which sizes \[2, 6, 2, 2\] do not have"):
        found("GroupNormalization", [x, zeros(6), zeros(6)], x, opset=21, num_groups=4)


def test_a_local_response_is_one_across_channels() -> None:
    made = found("LRN", [X], X, size=3, alpha=0.5, beta=0.75, bias=1.0)
    assert made.operator == "LOCAL_RESPONSE_NORMALIZATION"
    assert fields(made) == {"CrossChannel": 1, "LocalSize": 3, "Alpha": 0.5, "Beta": 0.75, "Bias": 1}


def test_a_norm_has_an_axis_and_an_order() -> None:
    made = found("LpNormalization", [X + 1], X, p=1)
    assert (made.operator, fields(made)) == ("LP_NORMALIZATION", {"Axis": 3, "Epsilon": 0, "P": 1})


def test_what_has_the_norm_0_stays_0() -> None:
    """As the text of LpNormalization has it: 3 and 4 have the norm 5."""
    one = node_of("LpNormalization", [floats([3, 0, -4], [0, 0, 0])], float32(2, 3))
    assert np.allclose(computed(one), [[[0.6, 0, -0.8], [0, 0, 0]]])


def test_batch_normalization_in_training_compares_the_result() -> None:
    """Means 2 and 6, variances of 4; the root of 4 + 12 is 4."""
    x = floats([[0, 4], [4, 8]]).reshape(1, 2, 2)
    scale, bias, running = floats(1, 10), floats(0, 100), floats(0, 0)
    inputs, y = [x, scale, bias, running, running], floats([[-0.5, 0.5], [95, 105]]).reshape(1, 2, 2)
    made = found("BatchNormalization", inputs, y, running, running, training_mode=1, epsilon=12.0)
    assert made.operator == "BATCH_NORMALIZATION_TRAINING"
    assert made.uncompared == {"OutputMeanTensor", "OutputVarianceTensor"}
    assert made.note == "The running mean and variance are not compared."
    assert agrees(made)
    assert found("BatchNormalization", inputs, y).operator == "BATCH_NORMALIZATION"


def test_a_deviation_is_that_of_directml_where_a_small_number_more_does_not_show() -> None:
    x = floats(1, 1, 3, 3).reshape(2, 1, 2, 1)
    made = found("MeanVarianceNormalization", [x], x - 2, opset=13)
    assert (made.operator, made.fields["Epsilon"]) == ("MEAN_VARIANCE_NORMALIZATION1", 0)
    assert agrees(made)
    with pytest.raises(Unmapped, match="a deviation so small that 1e-9"):
        found("MeanVarianceNormalization", [x / 100], x, opset=13)


def test_a_local_response_of_one_dimension_of_places_has_two() -> None:
    made = found("LRN", [floats([[1, 2, 4]])], floats([[1, 2, 4]]), size=1, alpha=0.0, beta=1.0, bias=1.0)
    assert made.fields["InputTensor"].shape == (1, 1, 1, 3)
    assert agrees(made)


# ---- as the provider makes them


def test_axes_of_a_normalization_leave_the_channels_out() -> None:
    x = zeros(2, 3, 4, 5)
    (made,) = provider_steps(node("MeanVarianceNormalization", [x], x))
    assert (made.operator, made.fields["Axes"]) == ("MEAN_VARIANCE_NORMALIZATION1", [0, 2, 3])
    (made,) = provider_steps(node("MeanVarianceNormalization", [x], x, axes=[-1]))
    assert made.fields["Axes"] == [3]


STEPS, VECTOR = zeros(2, 5, 32), zeros(32)


def normalized(epsilon: float, *, use_mean: int, **factors: str) -> Desc:
    whole = "FLOAT32 2 5 32 1"
    tensors = {"InputTensor": whole, **factors, "OutputTensor": whole}
    fields = {"Axes": [2, 3], "UseMean": use_mean, "UseVariance": 1, "Epsilon": epsilon}
    return Desc("MEAN_VARIANCE_NORMALIZATION2", {**tensors, **fields}, "6_3")


FACTORS = {"ScaleTensor": "FLOAT32 1 1 32 1", "BiasTensor": "FLOAT32 1 1 32 1"}


def test_a_layer_has_its_new_dimension_at_the_end() -> None:
    assert descs("LayerNormalization", [STEPS, VECTOR, VECTOR], STEPS) == [normalized(1e-5, use_mean=1, **FACTORS)]
    (made,) = descs("LayerNormalization", [STEPS, zeros(5, 32)], STEPS, axis=1, epsilon=0.5)
    assert (made.fields["Axes"], made.fields["Epsilon"]) == ([1, 2, 3], 0.5)
    assert made.fields["ScaleTensor"] == "FLOAT32 1 5 32 1"


def test_a_simplified_layer_keeps_the_mean() -> None:
    scale = {"ScaleTensor": FACTORS["ScaleTensor"]}
    assert descs("SimplifiedLayerNormalization", [STEPS, VECTOR], STEPS) == [normalized(1e-5, use_mean=0, **scale)]


@pytest.mark.parametrize(
    ("x", "scale", "casts"),
    [
        ("float16", "float32", [("FLOAT16 2 5 32 1", "FLOAT32 2 5 32 1")]),
        (
            "float32",
            "float16",
            [("FLOAT16 1 1 32 1", "FLOAT32 1 1 32 1")] * 2 + [("FLOAT32 2 5 32 1", "FLOAT16 2 5 32 1")],
        ),
    ],
)
def test_types_that_differ_are_computed_in_float32(x: str, scale: str, casts: list[tuple[str, str]]) -> None:
    """The output has the type of the scale."""
    inputs = [zeros(2, 5, 32, dtype=x), zeros(32, dtype=scale), zeros(32, dtype=scale)]
    made = descs("LayerNormalization", inputs, zeros(2, 5, 32, dtype=scale), opset=16)
    assert [tuple(each.fields.values()) for each in made if each.operator == "CAST"] == casts
    (normal,) = (each for each in made if each.operator != "CAST")
    assert normal == normalized(1e-5, use_mean=1, **FACTORS)
    assert [each.operator for each in made].index("MEAN_VARIANCE_NORMALIZATION2") == len(casts) - (scale == "float16")
