"""ONNX's normalizations as DirectML's, and as the provider makes them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_nodes import agrees, descs, fields, floats, found, zeros

from dmlcheck.onnx.descs.node import Unmapped

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


def test_a_deviation_is_that_of_directml_where_a_small_number_more_does_not_show() -> None:
    x = floats(1, 1, 3, 3).reshape(2, 1, 2, 1)
    made = found("MeanVarianceNormalization", [x], x - 2, opset=13)
    assert (made.operator, made.fields["Epsilon"]) == ("MEAN_VARIANCE_NORMALIZATION1", 0)
    assert agrees(made)
    with pytest.raises(Unmapped, match="a deviation so small that 1e-9"):
        found("MeanVarianceNormalization", [x / 100], x, opset=13)
