"""Operators that ONNX had up to opset 9 as experiments: what ONNX Runtime's DirectML provider makes of them."""

from __future__ import annotations

import pytest
from onnx_nodes import Desc, descs, zeros

from dmlcheck.onnx.descs.node import Unmapped


def test_the_channels_of_images_have_terms_of_their_own() -> None:
    image = zeros(1, 3, 4, 4)
    tensors = {"InputTensor": "FLOAT32 1 3 4 4", "OutputTensor": "FLOAT32 1 3 4 4"}
    assert descs("ImageScaler", [image], image, scale=2.0, bias=[1.0, 2.0, 3.0]) == [
        Desc("VALUE_SCALE_2D", {**tensors, "Scale": 2, "Bias": [1, 2, 3]}, "1_0")
    ]
    with pytest.raises(Unmapped, match="with 2 terms"):
        descs("ImageScaler", [image], image, bias=[1.0, 2.0])


def test_a_crop_without_a_border_is_refused() -> None:
    with pytest.raises(Unmapped, match=r"Crop of 4 dimensions with the border \[\]"):
        descs("Crop", [zeros(1, 3, 8, 8)], zeros(1, 3, 5, 3))
