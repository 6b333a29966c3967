"""Operators that ONNX had up to opset 9 as experiments: what ONNX Runtime's DirectML provider makes of them."""

from __future__ import annotations

from typing import Any

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


@pytest.mark.parametrize(
    ("attributes", "sizes"), [({"border": [1, 2, 4, 1]}, [5, 3]), ({"border": [1, 2, 0, 0], "scale": [4, 6]}, [4, 6])]
)
def test_images_are_cropped_from_the_left_and_upper_border_on(attributes: dict[str, Any], sizes: list[int]) -> None:
    """Left, top, right and bottom: 8 - 2 - 1 rows are left, and 8 - 1 - 4 columns; or the height and width given."""
    made = descs("Crop", [zeros(1, 3, 8, 8)], zeros(1, 3, *sizes), opset=8, **attributes)
    output = f"FLOAT32 1 3 {sizes[0]} {sizes[1]}"
    windows = {"Offsets": [0, 0, 2, 1], "Sizes": [1, 3, *sizes], "Strides": [1, 1, 1, 1]}
    fields = {"InputTensor": "FLOAT32 1 3 8 8", "OutputTensor": output, **windows}
    assert made == [Desc("SLICE", fields, "1_0")]


def test_a_crop_without_a_border_is_refused() -> None:
    with pytest.raises(Unmapped, match=r"Crop of 4 dimensions with the border \[\]"):
        descs("Crop", [zeros(1, 3, 8, 8)], zeros(1, 3, 5, 3))
