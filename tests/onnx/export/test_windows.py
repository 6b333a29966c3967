"""Pooling and regions as ONNX graphs: the values of their formulas in plain loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx_models import expect, f32, made, whole

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("operator", ["AVERAGE_POOLING", "LP_POOLING", "MAX_POOLING1"])
def test_sizes_that_are_rounded_up_in_all_dimensions_with_a_rest_are_ceil_mode(operator: str) -> None:
    fields = {"WindowSize": [2, 2], "Strides": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    fields |= {"AVERAGE_POOLING": {"IncludePadding": 0}, "LP_POOLING": {"P": 2}}.get(operator, {})
    for sizes, output, mode in (([1, 1, 5, 4], [3, 2], 1), ([1, 1, 5, 5], [3, 3], 1), ([1, 1, 5, 5], [2, 2], None)):
        graph = build(pooling_of(operator, sizes, output, fields))
        assert [node.attributes.get("ceil_mode") for node in graph.nodes if node.type.endswith("Pool")] == [mode]
    with pytest.raises(Inexpressible, match="all dimensions up, or of none"):
        build(pooling_of(operator, [1, 1, 5, 5], [3, 2], fields))


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


def test_a_region_is_split_into_height_and_width() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    wanted = f32([[[[13, 15]]]])  # one row of two halves
    fields = {"SpatialScale": 1, "PooledSize": {"Height": 1, "Width": 2}}
    inputs = {"InputTensor": x, "ROITensor": f32([[[[0, 0, 0, 3, 3]]]])}
    expect("ROI_POOLING", inputs, {"OutputTensor": wanted}, by=("onnxruntime",), **fields)


ALIGN = {
    "ReductionFunction": "AVERAGE",
    "InterpolationMode": "LINEAR",
    "SpatialScaleX": 0.5,
    "SpatialScaleY": 0.5,
    "OutOfBoundsInputValue": 0,
    "MinimumSamplesPerOutput": 2,
    "MaximumSamplesPerOutput": 2,
}


ALIGN1 = {"InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "AlignRegionsToCorners": False}


def aligned(x: Array, regions: Array, images: Array, sizes: Sequence[int], scale: float, samples: int) -> Array:
    """Follow the page's formulas for samples inside of the input, with the y scale taken from the y sizes."""
    made = np.empty((len(regions), x.shape[1], *sizes))
    for r, (region, image) in enumerate(zip(regions * scale, images, strict=True)):
        steps = [(region[2 + axis] - region[axis]) / (sizes[1 - axis] * samples) for axis in (0, 1)]
        for row, column in np.ndindex(*sizes):
            total = np.zeros(x.shape[1])
            for j, i in np.ndindex(samples, samples):
                across = (column * samples + i + 0.5) * steps[0] + region[0] - 0.5
                down = (row * samples + j + 0.5) * steps[1] + region[1] - 0.5
                for y, wy in ((math.floor(down), 1 - down % 1), (math.floor(down) + 1, down % 1)):
                    for z, wz in ((math.floor(across), 1 - across % 1), (math.floor(across) + 1, across % 1)):
                        total += x[image, :, min(y, x.shape[2] - 1), min(z, x.shape[3] - 1)] * wy * wz
            made[r, :, row, column] = total / samples**2
    return made.astype(np.float32)


@pytest.mark.parametrize(("operator", "fields"), [("ROI_ALIGN", ALIGN), ("ROI_ALIGN1", ALIGN | ALIGN1)])
def test_a_region_is_aligned_by_samples_between_elements(operator: str, fields: dict[str, Any]) -> None:
    x = whole(2, 2, 5, 6)
    regions = f32([[1, 2, 9, 8], [2, 1, 7, 4]])
    images = np.array([1, 0], np.uint32)
    wanted = aligned(x, regions, images, (2, 3), 0.5, 2)
    inputs = {"InputTensor": x, "ROITensor": regions, "BatchIndicesTensor": images}
    expect(operator, inputs, {"OutputTensor": wanted}, 1e-5, **fields)


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
    desc = made("ROI_ALIGN1", inputs, {"OutputTensor": x[:, :, :1, :1]}, **(ALIGN | ALIGN1 | changed))
    with pytest.raises(Inexpressible, match=reason):
        build(desc)


def resampled(
    x: Array,
    sizes: Sequence[int],
    scales: Sequence[float],
    offsets: Sequence[tuple[float, float]],
    mode: str,
    to_floor: bool,
) -> Array:
    """Follow the formula of the page: where an output element lies in the input, beyond whose edges these repeat."""
    made = np.empty(sizes)
    for place in np.ndindex(*sizes):
        at = [(o - after) / s - before for o, s, (before, after) in zip(place, scales, offsets, strict=True)]
        if mode == "NEAREST_NEIGHBOR":
            near = [math.floor(each) if to_floor else math.ceil(each) for each in at]
            made[place] = x[tuple(min(max(each, 0), size - 1) for each, size in zip(near, x.shape, strict=True))]
            continue
        total = 0.0
        for ends in itertools.product((0, 1), repeat=len(at)):
            weight, index = 1.0, []
            for each, end, size in zip(at, ends, x.shape, strict=True):
                weight *= each % 1 if end else 1 - each % 1
                index.append(min(max(math.floor(each) + end, 0), size - 1))
            total += weight * x[tuple(index)]
        made[place] = total
    return made


CENTRES = [(0.5, -0.5)] * 2


@pytest.mark.parametrize(("before", "after"), [(0.5, -0.5), (0, 0)], ids=["half_pixel", "asymmetric"])
@pytest.mark.parametrize(("direction", "moved", "rounding"), [
    ("INCREASING", 0.5, "round_prefer_floor"),
    ("DECREASING", -0.5, "round_prefer_ceil"),
    ("INCREASING", 0, "ceil"),
    ("DECREASING", 0, "floor"),
])  # fmt: skip
def test_an_offset_of_half_an_element_more_prefers_a_side(
    before: float, after: float, direction: str, moved: float, rounding: str
) -> None:
    x, scales, offsets = whole(3, 4, wrap=13), (2, 0.5), [(before + moved, after)] * 2
    wanted = resampled(x, (6, 2), scales, offsets, "NEAREST_NEIGHBOR", direction == "DECREASING")
    fields = {"InputPixelOffsets": [before + moved] * 2, "OutputPixelOffsets": [after] * 2, "Scales": list(scales)}
    fields |= {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": direction}
    expect("RESAMPLE2", {"InputTensor": x}, {"OutputTensor": f32(wanted)}, **fields)
    graph = build(made("RESAMPLE2", {"InputTensor": x}, {"OutputTensor": f32(wanted)}, **fields))
    assert [node.attributes["nearest_mode"] for node in graph.nodes] == [rounding]


@pytest.mark.parametrize(("direction", "offset"), [("INCREASING", 0), ("INCREASING", 0.75), ("DECREASING", -0.75)])
def test_an_axis_that_stays_as_it_is_may_have_any_offset_that_keeps_it_so(direction: str, offset: float) -> None:
    x, scales = whole(3, 4, wrap=13), (1, 2)
    before = [offset, 0.5 if direction == "INCREASING" else -0.5]
    wanted = resampled(x, (3, 8), scales, [(each, 0) for each in before], "NEAREST_NEIGHBOR", direction == "DECREASING")
    fields = {"InputPixelOffsets": before, "OutputPixelOffsets": [0, 0], "Scales": list(scales)}
    fields |= {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": direction}
    expect("RESAMPLE2", {"InputTensor": x}, {"OutputTensor": f32(wanted)}, **fields)


@pytest.mark.parametrize("offset", [1, -0.25])
def test_other_offsets_are_refused(offset: float) -> None:
    x = whole(3, 4)
    fields = {"InputPixelOffsets": [offset, 0], "OutputPixelOffsets": [0, 0], "Scales": [1, 2]}
    fields |= {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "INCREASING"}
    with pytest.raises(Inexpressible, match="no such InputPixelOffsets and OutputPixelOffsets"):
        build(made("RESAMPLE2", {"InputTensor": x}, {"OutputTensor": whole(3, 8)}, **fields))


@pytest.mark.parametrize(
    ("operator", "fields"),
    [("RESAMPLE", {}), ("RESAMPLE1", {}), ("RESAMPLE3", {"RoundingDirection": "DECREASING", "Antialiased": True})],
)
def test_every_version_of_resampling_takes_the_same_centres(operator: str, fields: dict[str, Any]) -> None:
    x = whole(3, 4, wrap=13)
    wanted = resampled(x, (6, 6), (2, 1.5), CENTRES, "LINEAR", to_floor=True)
    if operator != "RESAMPLE":
        fields = fields | {"InputPixelOffsets": [0.5, 0.5], "OutputPixelOffsets": [-0.5, -0.5]}
    fields = fields | {"InterpolationMode": "LINEAR", "Scales": [2, 1.5]}
    expect(operator, {"InputTensor": x}, {"OutputTensor": f32(wanted)}, 1e-5, **fields)


def test_a_filter_that_takes_effect_is_refused() -> None:
    x = whole(8, 4)
    fields = {"InputPixelOffsets": [0.5, 0.5], "OutputPixelOffsets": [-0.5, -0.5], "RoundingDirection": "DECREASING"}
    fields |= {"InterpolationMode": "LINEAR", "Scales": [0.25, 1], "Antialiased": True}
    desc = made("RESAMPLE3", {"InputTensor": x}, {"OutputTensor": x[:2]}, **fields)
    with pytest.raises(Inexpressible, match="the filter of Antialiased is not documented"):
        build(desc)
