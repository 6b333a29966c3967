"""Windows over spatial dimensions: pooling, whose count ONNX rounds down, or up with ceil_mode, and convolution."""

from __future__ import annotations

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
from dmlcheck.specs.shapes import pooled


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
}
