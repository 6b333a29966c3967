"""Pooling and regions as ONNX graphs: which opset they need, and what has no words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_models import f32, made, whole

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.specs.names import NEWEST_LEVEL


@pytest.mark.parametrize("operator", ["AVERAGE_POOLING", "LP_POOLING", "MAX_POOLING1"])
def test_windows_that_would_begin_in_the_end_padding_need_opset_22(operator: str) -> None:
    """Along an axis of 4 the windows of 1 are at 0 and 2. Before opset 22 there was one at 4, which is outside.

    Along the axis of 2 with its padding, the windows of 3 begin at -1 and 1: rounded up, and inside the input.
    """
    fields = {"WindowSize": [1, 3], "Strides": [2, 2], "StartPadding": [0, 1], "EndPadding": [0, 1]}
    fields |= {"AVERAGE_POOLING": {"IncludePadding": 0}, "LP_POOLING": {"P": 2}}.get(operator, {})
    for sizes, opset in (([1, 1, 4, 2], 22), ([1, 1, 5, 2], None)):
        made = build(pooling_of(operator, sizes, [2 if opset else 3, 2], fields))
        assert made.nodes[-1].attributes["ceil_mode"] == 1
        assert (made.opset == 22) == (opset == 22)


def pooling_of(operator: str, sizes: list[int], output: list[int], fields: dict[str, Any]) -> OperatorDesc:
    tensors = {
        name: {"DataType": "FLOAT32", "Sizes": of} for name, of in (("Input", sizes), ("Output", [1, 1, *output]))
    }
    desc, problems = validation.validate(
        f"DML_OPERATOR_{operator}", {f"{name}Tensor": of for name, of in tensors.items()} | fields, NEWEST_LEVEL
    )
    assert desc is not None
    assert not problems
    return desc


ALIGN = {
    "ReductionFunction": "AVERAGE",
    "InterpolationMode": "LINEAR",
    "SpatialScaleX": 0.5,
    "SpatialScaleY": 0.5,
    "OutOfBoundsInputValue": 0,
    "MinimumSamplesPerOutput": 2,
    "MaximumSamplesPerOutput": 2,
    "InputPixelOffset": 0.5,
    "OutputPixelOffset": -0.5,
    "AlignRegionsToCorners": False,
}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"InterpolationMode": "NEAREST_NEIGHBOR"}, "InterpolationMode NEAREST_NEIGHBOR"),
        ({"ReductionFunction": "MAX"}, "ReductionFunction MAX"),
        ({"SpatialScaleY": 1}, "one factor"),
        ({"InputPixelOffset": 0}, "no such InputPixelOffset"),
        ({"AlignRegionsToCorners": True}, "corners"),
        ({"OutOfBoundsInputValue": 1}, "reads 0 outside"),
        ({"MaximumSamplesPerOutput": 3}, "fixed number of samples"),
    ],
)
def test_what_roi_align_does_otherwise_is_refused(changed: dict[str, Any], reason: str) -> None:
    x = whole(1, 1, 4, 4)
    inputs = {"InputTensor": x, "ROITensor": f32([[0, 0, 2, 2]]), "BatchIndicesTensor": np.array([0], np.uint32)}
    desc = made("ROI_ALIGN1", inputs, {"OutputTensor": x[:, :, :1, :1]}, **(ALIGN | changed))
    with pytest.raises(Inexpressible, match=reason):
        build(desc)
