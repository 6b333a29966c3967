"""CONVOLUTION: ONNX's Conv and ConvTranspose."""

from __future__ import annotations

from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.activation import fused
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import positive


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


def window_attributes(desc: OperatorDesc, kernel: GraphValue) -> dict[str, Any]:
    """Return the attributes of ONNX's convolutions for the fields of a window."""
    return {
        "dilations": positive(desc, "Dilations"),
        "group": desc.values["GroupCount"],
        "kernel_shape": list(kernel.sizes[2:]),
        "pads": [*desc.values["StartPadding"], *desc.values["EndPadding"]],
        "strides": list(desc.values["Strides"]),
    }


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


MAPPINGS: dict[str, Maker] = {"CONVOLUTION": convolution}
