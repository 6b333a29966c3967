"""Convolutions, pooling and resampling of images; other layouts than DirectML's are read through strides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.onnx.descs.node import Counterpart, Unmapped, axis_of, shortest
from dmlcheck.onnx.descs.tensors import channels, permuted

# Where the dimensions of NCHW, of OIHW and of IOHW are in other layouts.
LAYOUTS: Mapping[str, list[int]] = {"nchw": [0, 1, 2, 3], "nhwc": [0, 3, 1, 2]}
_FILTERS = {layout: [layout.index(one) for one in "oihw"] for layout in ("oihw", "hwio", "ohwi", "ihwo")}
_TRANSPOSED = {layout: [layout.index(one) for one in "iohw"] for layout in ("iohw", "hwoi", "ohwi")}
_ONES = [1, 1]


def _convolution(direction: str, filters: Mapping[str, list[int]], layout: str, call: Call) -> Counterpart:
    """CONVOLUTION; as in Chromium, no field has the output sizes beyond the windows."""
    order = call.choice("inputLayout", LAYOUTS, "nchw")
    bias = call.optional("bias")
    tensors = {
        "InputTensor": permuted(call.tensor("input"), order),
        "FilterTensor": permuted(call.tensor("filter"), call.choice("filterLayout", filters, layout)),
        **({} if bias is None else {"BiasTensor": channels(bias, 4)}),
        "OutputTensor": permuted(call.output, order),
    }
    start, end = call.padding()
    fields = {
        "Mode": "CROSS_CORRELATION",
        "Direction": direction,
        "Strides": call.pair("strides", _ONES),
        "Dilations": call.pair("dilations", _ONES),
        "StartPadding": start,
        "EndPadding": end,
        "OutputPadding": [0, 0],
        "GroupCount": call.whole("groups", 1),
    }
    return Counterpart("CONVOLUTION", {**tensors, **fields, **call.fused})


def _pooling(operator: str, more: Mapping[str, Any], call: Call) -> Counterpart:
    """AVERAGE_POOLING, LP_POOLING or MAX_POOLING; of these only the last has a successor for dilations."""
    order = call.choice("layout", LAYOUTS, "nchw")
    x, output = permuted(call.tensor("input"), order), permuted(call.output, order)
    start, end = call.padding()
    dilations = call.pair("dilations", _ONES)
    fields = {
        "Strides": call.pair("strides", _ONES),
        "WindowSize": call.pair("windowDimensions", list(x.shape[2:])),
        "StartPadding": start,
        "EndPadding": end,
        **more,
    }
    if dilations != _ONES:
        if operator != "MAX_POOLING":
            raise Unmapped(f"Chromium's DirectML backend has no dilations for {call.name}")
        operator, fields = "MAX_POOLING2", {**fields, "Dilations": dilations}
    return Counterpart(operator, {"InputTensor": x, "OutputTensor": output, **fields})


_INTERPOLATIONS = {"nearest-neighbor": "NEAREST_NEIGHBOR", "linear": "LINEAR"}


def _resample(call: Call) -> Counterpart:
    """RESAMPLE with the scales of the options, or those that follow from the sizes."""
    x = call.tensor("input")
    axes = [axis_of(axis, x.ndim) for axis in call.pair("axes", [2, 3])]
    scales = [after / before for before, after in zip(x.shape, call.output.shape, strict=True)]
    given = call.given.get("scales")
    if given is not None and not call.has("sizes"):
        if not isinstance(given, list) or len(given) != len(axes):
            raise Unmapped("`scales` of resample2d are not two numbers")
        scales = [1.0] * x.ndim
        for axis, scale in zip(axes, given, strict=True):
            scales[axis] = float(scale)
    fields = {
        "InterpolationMode": call.choice("mode", _INTERPOLATIONS, "nearest-neighbor"),
        "Scales": [shortest(scale) for scale in scales],
    }
    return Counterpart("RESAMPLE", {"InputTensor": x, "OutputTensor": call.output, **fields})


_CONVOLUTION = ("input", "filter")
OPERATORS: dict[str, WebnnRow] = {
    "averagePool2d": WebnnRow(
        ("input",), partial(_pooling, "AVERAGE_POOLING", {"IncludePadding": False}), ("AVERAGE_POOLING",)
    ),
    "conv2d": WebnnRow(
        _CONVOLUTION, partial(_convolution, "FORWARD", _FILTERS, "oihw"), ("CONVOLUTION",), takes_activation=True
    ),
    "convTranspose2d": WebnnRow(
        _CONVOLUTION, partial(_convolution, "BACKWARD", _TRANSPOSED, "iohw"), ("CONVOLUTION",), takes_activation=True
    ),
    "l2Pool2d": WebnnRow(("input",), partial(_pooling, "LP_POOLING", {"P": 2}), ("LP_POOLING",)),
    "maxPool2d": WebnnRow(("input",), partial(_pooling, "MAX_POOLING", {}), ("MAX_POOLING", "MAX_POOLING2")),
    "resample2d": WebnnRow(("input",), _resample, ("RESAMPLE",)),
}
