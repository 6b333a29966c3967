"""ONNX's normalizations as DirectML's."""

from __future__ import annotations

import pytest
from onnx_nodes import fields, found, zeros

from dmlcheck.formats.onnx.from_onnx.node import Refused

X = zeros(2, 3, 4, 4)


def test_statistics_of_channels_lie_along_them() -> None:
    made = found("BatchNormalization", [X, *[zeros(3)] * 4], X, epsilon=0.5)
    assert made.operator == "BATCH_NORMALIZATION"
    for name in ("ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor"):
        assert made.fields[name].shape == (1, 3, 1, 1)
    assert fields(made) == {"Spatial": 1, "Epsilon": 0.5}
    with pytest.raises(Refused, match="in training"):
        found("BatchNormalization", [X, *[zeros(3)] * 4], X, training_mode=1)


def test_an_instance_is_what_follows_batch_and_channel() -> None:
    made = found("InstanceNormalization", [X, zeros(3), zeros(3)], X)
    assert made.operator == "MEAN_VARIANCE_NORMALIZATION1"
    assert fields(made) == {"Axes": [2, 3], "NormalizeVariance": 1, "Epsilon": 1e-5}


def test_a_local_response_is_one_across_channels() -> None:
    made = found("LRN", [X], X, size=3, alpha=0.5, beta=0.75, bias=1.0)
    assert made.operator == "LOCAL_RESPONSE_NORMALIZATION"
    assert fields(made) == {"CrossChannel": 1, "LocalSize": 3, "Alpha": 0.5, "Beta": 0.75, "Bias": 1}


def test_a_norm_has_an_axis_and_an_order() -> None:
    made = found("LpNormalization", [X], X, p=1)
    assert (made.operator, fields(made)) == ("LP_NORMALIZATION", {"Axis": 3, "Epsilon": 0, "P": 1})
