"""Windows over spatial dimensions: pooling, whose count ONNX rounds down, or up with ceil_mode, and convolution.

Resampling is ONNX's Resize with the scales of the desc, if the offsets match one of its coordinate modes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.activation import fused
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import (
    BYTES,
    FLOATS,
    WINDOW_FIELDS,
    as_float32,
    require_type,
    window,
    window_attributes,
)
from dmlcheck.specs.names import MAX_ELEMENTS
from dmlcheck.specs.shapes import pooled

_MODES = {"NEAREST_NEIGHBOR": "nearest", "LINEAR": "linear"}
_LEAST = 2.0**-24  # a scale below this makes an element of more than any tensor has
_HALF = Fraction(1, 2)

# How the nearest element is found, by RoundingDirection: ONNX's name, and its addition before rounding.
_ROUNDINGS: dict[str | None, tuple[tuple[str, Fraction], ...]] = {
    "INCREASING": (("ceil", Fraction(0)), ("round_prefer_floor", _HALF)),
    "DECREASING": (("floor", Fraction(0)), ("round_prefer_ceil", -_HALF)),
    None: (("round_prefer_ceil", Fraction(0)),),
}
# How far a coordinate may be moved off an element that is still the nearest.
_STAYS: dict[str | None, Callable[[Fraction], bool]] = {
    "INCREASING": lambda moved: -1 < moved <= 0,
    "DECREASING": lambda moved: 0 <= moved < 1,
    None: lambda moved: -_HALF <= moved < _HALF,
}
# ONNX's addition to the position of an element / its scale.
_MOVED: dict[str, Callable[[Fraction], Fraction]] = {
    "half_pixel": lambda scale: _HALF / scale - _HALF,
    "asymmetric": lambda _: Fraction(0),
}


def resample(g: Builder, desc: OperatorDesc) -> None:
    """RESAMPLE to RESAMPLE3: pixel centres are in the middle where the desc has no offsets."""
    x = g.input("InputTensor")
    scales = [as_float32(value) for value in desc.values["Scales"]]
    before = [as_float32(value) for value in desc.values.get("InputPixelOffsets", [0.5] * len(scales))]
    after = [as_float32(value) for value in desc.values.get("OutputPixelOffsets", [-0.5] * len(scales))]
    if not all(_LEAST < scale < math.inf for scale in scales):
        raise Inexpressible("Scales has numbers that are not positive, or next to 0")
    if not all(map(math.isfinite, (*before, *after))):
        raise Inexpressible("an offset of pixels is not finite")
    mode = desc.values["InterpolationMode"]
    if desc.values.get("Antialiased") and mode == "LINEAR" and min(scales) < 0.5:
        raise Inexpressible("the filter of Antialiased is not documented")
    numbers = zip(map(Fraction, scales), before, after, strict=True)
    lines = [(scale, -Fraction(end) / scale - Fraction(start)) for scale, start, end in numbers]
    if mode == "LINEAR":
        coordinates, rounding = _words(lines, (("", Fraction(0)),))
    else:
        direction = desc.values.get("RoundingDirection")
        # Axes on which every element stays in its place fit any words.
        changed = [(scale, moved) for scale, moved in lines if scale != 1 or not _STAYS[direction](moved)]
        coordinates, rounding = _words(changed, _ROUNDINGS[direction])
    _resize(g, x, scales, mode, coordinates, rounding)


def _words(lines: Sequence[tuple[Fraction, Fraction]], roundings: Sequence[tuple[str, Fraction]]) -> tuple[str, str]:
    """Return ONNX's names for the coordinates (an element's position / scale plus a number) and for their rounding."""
    for rounding, more in roundings:
        for name, of in _MOVED.items():
            if all(moved + more == of(scale) for scale, moved in lines):
                return name, rounding
    raise Inexpressible("ONNX's Resize has no such InputPixelOffsets and OutputPixelOffsets")


def upsample(g: Builder, desc: OperatorDesc) -> None:
    """UPSAMPLE_2D: no place is halfway between two elements where scales are whole numbers."""
    x = g.input("InputTensor")
    factors = desc.values["ScaleSize"]
    scales = [*[1.0] * (len(x.sizes) - 2), float(factors.Height), float(factors.Width)]
    _resize(g, x, scales, desc.values["InterpolationMode"], "half_pixel", "round_prefer_floor")


def _resize(g: Builder, x: GraphValue, scales: Sequence[float], mode: str, coordinates: str, rounding: str) -> None:
    """Resize by the scales: a missing part of the input repeats the edge, a surplus part of the output is cut off."""
    sizes = g.tensor("OutputTensor").sizes
    more = []
    for have, want, scale in zip(x.sizes, sizes, scales, strict=True):
        count = have
        while _resized(count, scale) < want:
            if count > MAX_ELEMENTS:
                raise Inexpressible("Resize would need more input than a tensor can hold")
            count += max(1, math.floor((want - _resized(count, scale)) / scale))
        more.append(count - have)
    x = g.pad(x, [0] * len(more), more, mode="edge")
    made = tuple(_resized(size, scale) for size, scale in zip(x.sizes, scales, strict=True))
    result = g.node(
        "Resize",
        [x, None, g.constant(scales, "FLOAT32")],
        made,
        x.data_type,
        coordinate_transformation_mode=coordinates,
        mode=_MODES[mode],
        nearest_mode=rounding if mode == "NEAREST_NEIGHBOR" else None,
    )
    if made != sizes:
        result = g.slice(result, [0] * len(sizes), sizes, sizes)
    g.output("OutputTensor", result)


def _resized(size: int, scale: float) -> int:
    """Return the size that Resize gives, which multiplies in FLOAT32."""
    return math.floor(as_float32(as_float32(size) * scale))


def opset_of_sizes(desc: OperatorDesc) -> int:
    """Return the least opset that gives sizes that are rounded up: before 22 a window may begin in the end padding."""
    values = desc.values
    output = values["OutputTensor"].sizes[2:]
    end = [more + step - 1 for more, step in zip(values["EndPadding"], values["Strides"], strict=True)]
    given = [end if name == "EndPadding" else values[name] for name in WINDOW_FIELDS if name in values]
    return 1 if pooled(values["InputTensor"].sizes, *given) == output else 22


def average(g: Builder, desc: OperatorDesc) -> None:
    """AVERAGE_POOLING and AVERAGE_POOLING1: dilations came with opset 19."""
    _one(g, desc, "AveragePool", 19, count_include_pad=int(bool(desc.values["IncludePadding"])))


def lp(g: Builder, desc: OperatorDesc) -> None:
    """LP_POOLING and LP_POOLING1: dilations came with opset 18."""
    _one(g, desc, "LpPool", 18, p=desc.values["P"])


def _one(g: Builder, desc: OperatorDesc, type: str, opset: int, **attributes: Any) -> None:
    x = g.input("InputTensor")
    require_type(type, x, FLOATS)
    shape = window(desc)
    if shape["dilations"] or shape["ceil_mode"]:
        g.at_least(opset)
    if shape["ceil_mode"]:
        g.at_least(opset_of_sizes(desc))
    sizes = g.tensor("OutputTensor").sizes
    g.output("OutputTensor", g.node(type, [x], sizes, x.data_type, **shape, **attributes))


def maximum(g: Builder, desc: OperatorDesc) -> None:
    """MAX_POOLING to MAX_POOLING2: indices count in the whole tensor in both."""
    x = g.input("InputTensor")
    require_type("MaxPool", x, (*FLOATS, *BYTES))
    sizes, shape = g.tensor("OutputTensor").sizes, window(desc)
    if shape["ceil_mode"]:
        g.at_least(opset_of_sizes(desc))
    if not g.has("OutputIndicesTensor"):
        g.output("OutputTensor", g.node("MaxPool", [x], sizes, x.data_type, **shape))
        return
    values, places = g.nodes_of("MaxPool", [x], [(sizes, x.data_type, None), (sizes, "INT64", None)], **shape)
    g.output("OutputTensor", values)
    g.output("OutputIndicesTensor", places)


def region(g: Builder, desc: OperatorDesc) -> None:
    """ROI_POOLING: MaxRoiPool has the same formulas."""
    x, regions = g.input("InputTensor"), g.input("ROITensor")
    parts = desc.values["PooledSize"]
    made = g.node(
        "MaxRoiPool",
        [x, g.reshape(regions, regions.sizes[-2:])],
        g.tensor("OutputTensor").sizes,
        x.data_type,
        pooled_shape=[parts.Height, parts.Width],
        spatial_scale=as_float32(desc.values["SpatialScale"]),
    )
    g.output("OutputTensor", made)


def region_align(g: Builder, desc: OperatorDesc) -> None:
    """ROI_ALIGN and ROI_ALIGN1: the average of a fixed number of samples, with half-pixel coordinates.

    Within half an element of the input's edges the two differ, and DirectML's result is undefined.
    """
    _require_like_roi_align(desc)
    x, regions, images = (g.input(name) for name in ("InputTensor", "ROITensor", "BatchIndicesTensor"))
    sizes = g.tensor("OutputTensor").sizes
    made = g.node(
        "RoiAlign",
        [x, g.reshape(regions, regions.sizes[-2:]), g.cast(g.reshape(images, images.sizes[-1:]), "INT64")],
        sizes,
        x.data_type,
        coordinate_transformation_mode="half_pixel",
        mode="avg",
        output_height=sizes[2],
        output_width=sizes[3],
        sampling_ratio=desc.values["MinimumSamplesPerOutput"],
        spatial_scale=as_float32(desc.values["SpatialScaleX"]),
    )
    g.output("OutputTensor", made)


def _require_like_roi_align(desc: OperatorDesc) -> None:
    """Refuse fields for which ONNX's RoiAlign differs."""
    values = desc.values
    for name, wanted in (("ReductionFunction", "AVERAGE"), ("InterpolationMode", "LINEAR")):
        if values[name] != wanted:
            raise Inexpressible(f"ONNX's RoiAlign has no {name} {values[name]} like DirectML's")
    if as_float32(values["SpatialScaleY"]) != as_float32(values["SpatialScaleX"]):
        raise Inexpressible("ONNX's RoiAlign has one factor for both coordinates")
    if (values.get("InputPixelOffset", 0.5), values.get("OutputPixelOffset", -0.5)) != (0.5, -0.5):
        raise Inexpressible("ONNX's RoiAlign has no such InputPixelOffset and OutputPixelOffset")
    if values.get("AlignRegionsToCorners"):
        raise Inexpressible("ONNX's RoiAlign does not align regions to corners")
    if as_float32(values["OutOfBoundsInputValue"]) != 0:
        raise Inexpressible("ONNX's RoiAlign reads 0 outside of the input")
    least = values["MinimumSamplesPerOutput"]
    if not least or least != values["MaximumSamplesPerOutput"]:
        raise Inexpressible("ONNX's RoiAlign takes a fixed number of samples, or as many as the region is large")


# ---- CONVOLUTION: Conv and ConvTranspose


def convolution(g: Builder, desc: OperatorDesc) -> None:
    """CONVOLUTION: Conv, and ConvTranspose for the backward direction, which flips the filter by itself."""
    x, kernel = g.input("InputTensor"), g.input("FilterTensor")
    if desc.values["Mode"] == "CONVOLUTION":
        kernel = _flipped(g, kernel)
    bias = g.optional("BiasTensor")
    if bias is not None:
        bias = g.reshape(bias, (bias.sizes[1],))
    is_forward = desc.values["Direction"] == "FORWARD"
    sizes = g.tensor("OutputTensor").sizes
    reached = _reached(x, kernel, desc, is_forward=is_forward)
    # OutputPadding is zeros after the result; the sizes that a backward one also has show what is cut.
    zeros = _surplus(sizes[2:], reached) if is_forward else list(desc.values["OutputPadding"])
    own = (*sizes[:2], *_surplus(sizes[2:], zeros))
    if min(own[2:]) < 1:
        raise Inexpressible("before OutputPadding the result has no elements, which ONNX does not allow")
    # ONNX's output_padding is less than the stride; a smaller end padding shows as much of what is cut.
    shown = _surplus(own[2:], reached)
    ends = desc.values["EndPadding"]
    cut = [max(end - more, 0) for end, more in zip(ends, shown, strict=True)]
    rest = [max(more - end, 0) for end, more in zip(ends, shown, strict=True)]
    made = g.node(
        "Conv" if is_forward else "ConvTranspose",
        [x, kernel, bias],
        own,
        x.data_type,
        **window_attributes(desc, kernel) | {"pads": [*desc.values["StartPadding"], *cut]},
        output_padding=rest if any(rest) else None,
    )
    g.output("OutputTensor", g.pad(fused(g, made, desc), [0] * len(sizes), [0, 0, *zeros]))


def _surplus(sizes: tuple[int, ...], reached: list[int]) -> list[int]:
    return [size - end for size, end in zip(sizes, reached, strict=True)]


def _flipped(g: Builder, kernel: GraphValue) -> GraphValue:
    """Return a filter reversed along its spatial dimensions."""
    axes = range(2, len(kernel.sizes))
    starts = [kernel.sizes[axis] - 1 for axis in axes]
    ends = [-kernel.sizes[axis] - 1 for axis in axes]
    return g.slice(kernel, starts, ends, kernel.sizes, axes, [-1 for _ in axes])


def _reached(x: GraphValue, kernel: GraphValue, desc: OperatorDesc, *, is_forward: bool) -> list[int]:
    """Return the spatial sizes of a convolution without OutputPadding and without ONNX's own addition."""
    names = ("Strides", "Dilations", "StartPadding", "EndPadding")
    steps = zip(*(desc.values[name] for name in names), strict=True)
    reached = []
    for size, reach, (step, gap, before, after) in zip(x.sizes[2:], kernel.sizes[2:], steps, strict=True):
        span = (reach - 1) * gap + 1
        if is_forward:
            reached.append((size + before + after - span) // step + 1)
        else:
            reached.append((size - 1) * step + span - before - after)
    return reached


MAPPINGS: dict[str, Maker] = {
    "AVERAGE_POOLING": average,
    "AVERAGE_POOLING1": average,
    "LP_POOLING": lp,
    "LP_POOLING1": lp,
    "MAX_POOLING": maximum,
    "MAX_POOLING1": maximum,
    "MAX_POOLING2": maximum,
    "ROI_ALIGN": region_align,
    "ROI_ALIGN1": region_align,
    "ROI_POOLING": region,
    "CONVOLUTION": convolution,
    **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"), resample),
    "UPSAMPLE_2D": upsample,
}
