"""Resize and Upsample as ONNX Runtime's DirectML provider makes them.

Each row is worked out from DmlOperatorResize.cpp and ResizeHelper in OperatorHelper.cpp, release 1.24.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import node, zeros
from provider_descs import Made, differences, is_legal

from dmlcheck.onnx.descs.node import OnnxNode, RefusedNode, Unmapped
from dmlcheck.onnx.operators.table import provider_steps

IMAGE = zeros(2, 3, 8, 6)
LARGEST = 3.4028235e38  # of FLOAT32


def numbers(*values: float, dtype: str = "int64") -> Any:
    return np.array(values, dtype)


ROWS: dict[str, tuple[OnnxNode, list[Made]]] = {
    "Resize has no dimensions of size 1, and the same offsets for those that it gets": (
        node("Resize", [zeros(1, 1, 4, 6), None, numbers(1, 1, 2, 2, dtype="float32")], zeros(1, 1, 8, 12), opset=13,
             mode="nearest"),
        [("RESAMPLE3", {"InputTensor": (1, 1, 4, 6), "OutputTensor": (1, 1, 8, 12)},
          {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "INCREASING", "Scales": [1, 1, 2, 2],
           "InputPixelOffsets": [1, 1, 1, 1], "OutputPixelOffsets": [-0.5] * 4, "Antialiased": 0})],
    ),
    "Resize of five dimensions may have four": (
        node("Resize", [zeros(1, 2, 3, 4, 6), None, None, numbers(1, 2, 3, 8, 3)], zeros(1, 2, 3, 8, 3), opset=18,
             mode="linear", antialias=1),
        [("RESAMPLE3", {"InputTensor": (2, 3, 4, 6), "OutputTensor": (2, 3, 8, 3)},
          {"InterpolationMode": "LINEAR", "RoundingDirection": "DECREASING", "Scales": [1, 1, 2, 0.5],
           "InputPixelOffsets": [0.5] * 4, "OutputPixelOffsets": [-0.5] * 4, "Antialiased": 1})],
    ),
    "corners of one element read it everywhere": (
        node("Resize", [zeros(2, 3, 1, 4), None, None, numbers(2, 3, 5, 7)], zeros(2, 3, 5, 7), opset=13,
             mode="linear", coordinate_transformation_mode="align_corners"),
        [("RESAMPLE3", {"InputTensor": (2, 3, 1, 4), "OutputTensor": (2, 3, 5, 7)},
          {"InterpolationMode": "LINEAR", "RoundingDirection": "DECREASING", "Scales": [1, 1, LARGEST, 2],
           "InputPixelOffsets": [0] * 4, "OutputPixelOffsets": [0] * 4, "Antialiased": 0})],
    ),
    "Upsample is by half pixels": (
        node("Upsample", [IMAGE], zeros(2, 3, 16, 12), opset=7, mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]),
        [("RESAMPLE3", {"InputTensor": (2, 3, 8, 6), "OutputTensor": (2, 3, 16, 12)},
          {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "INCREASING", "Scales": [1, 1, 2, 2],
           "InputPixelOffsets": [1] * 4, "OutputPixelOffsets": [-0.5] * 4, "Antialiased": 0})],
    ),
    "one element is read everywhere by PyTorch's half pixels": (
        node("Resize", [zeros(2, 3, 1, 4), None, numbers(1, 1, 3, 1.5, dtype="float32")], zeros(2, 3, 3, 6), opset=13,
             mode="nearest", coordinate_transformation_mode="pytorch_half_pixel", nearest_mode="floor"),
        [("RESAMPLE3", {"InputTensor": (2, 3, 1, 4), "OutputTensor": (2, 3, 3, 6)},
          {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "DECREASING",
           "Scales": [1, 1, LARGEST, 1.5], "InputPixelOffsets": [0.5, 0.5, 0, 0.5],
           "OutputPixelOffsets": [-0.5, -0.5, 0, -0.5], "Antialiased": 0})],
    ),
    "the middle stays where it is by symmetric half pixels": (
        # 5 * 0.5 is 2.5, 2 after rounding: the offset is 5 / 2 * (1 - 2 / 2.5) less, in FLOAT32 2**-25 below 0.5.
        node("Resize", [zeros(2, 5), None, numbers(1, 0.5, dtype="float32")], zeros(2, 2), opset=19, mode="linear",
             coordinate_transformation_mode="half_pixel_symmetric"),
        [("RESAMPLE3", {"InputTensor": (1, 1, 2, 5), "OutputTensor": (1, 1, 2, 2)},
          {"InterpolationMode": "LINEAR", "RoundingDirection": "DECREASING", "Scales": [1, 1, 1, 0.5],
           "InputPixelOffsets": [0.5, 0.5, 0.5, 2.9802322e-08], "OutputPixelOffsets": [-0.5] * 4, "Antialiased": 0})],
    ),
    "a part that is taken begins at an offset": (
        # (7 - 1) / ((0.75 - 0.25) * (5 - 1)) = 3, and 0.25 * 4 = 1 to the left; whole axes are (n - 1) / (n - 1).
        # A part of less than one element, (4 - 1) / (0 * 2), is divided by 1; it begins 0.5 * 2 = 1 to the left.
        node("Resize", [zeros(2, 3, 3, 5), numbers(0, 0, 0.5, 0.25, 1, 1, 0.5, 0.75, dtype="float32"), None,
                        numbers(2, 3, 4, 7)], zeros(2, 3, 4, 7), opset=13, mode="nearest",
             coordinate_transformation_mode="tf_crop_and_resize", nearest_mode="ceil"),
        [("RESAMPLE3", {"InputTensor": (2, 3, 3, 5), "OutputTensor": (2, 3, 4, 7)},
          {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "INCREASING", "Scales": [1, 1, 3, 3],
           "InputPixelOffsets": [0, 0, -1, -1], "OutputPixelOffsets": [0] * 4, "Antialiased": 0})],
    ),
    "axes that are not named stay": (
        node("Resize", [zeros(2, 3, 4, 6), None, None, numbers(12, 2)], zeros(2, 3, 2, 12), opset=18, mode="nearest",
             axes=[-1, 2], coordinate_transformation_mode="asymmetric", nearest_mode="round_prefer_ceil"),
        [("RESAMPLE3", {"InputTensor": (2, 3, 4, 6), "OutputTensor": (2, 3, 2, 12)},
          {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "DECREASING", "Scales": [1, 1, 0.5, 2],
           "InputPixelOffsets": [-0.5] * 4, "OutputPixelOffsets": [0] * 4, "Antialiased": 0})],
    ),
    "of sizes 1 alone the last dimension stays": (
        node("Resize", [zeros(1, 1, 1), None, numbers(1, 1, 1, dtype="float32")], zeros(1, 1, 1), opset=13,
             mode="linear", coordinate_transformation_mode="asymmetric"),
        [("RESAMPLE3", {"InputTensor": (1, 1, 1, 1), "OutputTensor": (1, 1, 1, 1)},
          {"InterpolationMode": "LINEAR", "RoundingDirection": "DECREASING", "Scales": [1] * 4,
           "InputPixelOffsets": [0.5, 0.5, 0.5, 0], "OutputPixelOffsets": [-0.5, -0.5, -0.5, 0], "Antialiased": 0})],
    ),
    "Upsample of opset 9 has its scales as an input": (
        node("Upsample", [zeros(3, 4), numbers(2, 1, dtype="float32")], zeros(6, 4), opset=9, mode="linear"),
        [("RESAMPLE3", {"InputTensor": (1, 1, 3, 4), "OutputTensor": (1, 1, 6, 4)},
          {"InterpolationMode": "LINEAR", "RoundingDirection": "DECREASING", "Scales": [1, 1, 2, 1],
           "InputPixelOffsets": [0.5] * 4, "OutputPixelOffsets": [-0.5] * 4, "Antialiased": 0})],
    ),
}  # fmt: skip


def test_descs_are_those_of_the_provider_and_legal_at_some_level() -> None:
    assert {name: found for name, row in ROWS.items() if (found := differences(*row))} == {}
    assert [name for name, (one, *_) in ROWS.items() if not is_legal(one)] == []


def test_a_part_of_some_axes_alone_is_not_mapped() -> None:
    part = numbers(0, 1, dtype="float32")
    one = node("Resize", [zeros(2, 4), part, None, numbers(8)], zeros(2, 8), opset=18, axes=[1],
               coordinate_transformation_mode="tf_crop_and_resize")  # fmt: skip
    with pytest.raises(Unmapped, match=r"^Resize with tf_crop_and_resize whose roi does not name all dimensions$"):
        provider_steps(one)


@pytest.mark.parametrize("scale", [0.0, -1.0, 1e-7, float("nan"), float("inf")])
def test_a_scale_that_the_provider_refuses_has_no_desc(scale: float) -> None:
    one = node("Resize", [zeros(2, 4), None, numbers(1, scale, dtype="float32")], zeros(2, 4), opset=13)
    with pytest.raises(RefusedNode, match=r"^the DirectML provider refuses Resize by the scale \S+$"):
        provider_steps(one)


@pytest.mark.parametrize(
    ("inputs", "attributes", "said"),
    [
        ([numbers(1, 2, dtype="float32")], {"nearest_mode": "up"}, "with the nearest_mode up, not ceil, floor, "),
        ([numbers(1, 2, dtype="float32")], {"mode": "area"}, "in mode area, not bilinear, linear, nearest$"),
        (
            [numbers(1, 2, dtype="float32")],
            {"coordinate_transformation_mode": "middle"},
            "with the coordinate_transformation_mode middle, not align_corners, ",
        ),
        ([numbers(2, dtype="float32")], {}, "of 2 dimensions with 1 scale"),
        ([numbers(1, 2, 3, dtype="float32")], {}, "of 2 dimensions with 3 scales"),
        ([None, numbers(8)], {}, "of 2 dimensions with 1 size"),
        ([None], {}, "of 2 dimensions with 0 sizes"),
        ([None, numbers(2, 8)], {"axes": [1]}, "of 1 dimension with 2 sizes"),
    ],
)
def test_attributes_and_numbers_that_do_not_fit_are_named(
    inputs: list[Any], attributes: dict[str, Any], said: str
) -> None:
    one = node("Resize", [zeros(2, 4), None, *inputs], zeros(2, 8), opset=18, **attributes)
    with pytest.raises(Unmapped, match=f"^Resize {said}"):
        provider_steps(one)
