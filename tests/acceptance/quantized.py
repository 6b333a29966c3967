"""Right ways to quantize and dequantize, in float32."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

Inputs = dict[str, Any]
LIMITS = {"UINT8": (0, 255), "INT8": (-128, 127)}


def dequantized(_: Any, x: Inputs) -> Tensor:
    whole = x["InputTensor"].to(torch.int64)
    whole = whole - x["ZeroPointTensor"].to(torch.int64) if "ZeroPointTensor" in x else whole
    return whole.to(torch.float32) * x["ScaleTensor"]


def dequantized_in_floats(_: Any, x: Inputs) -> Tensor:
    found = x["InputTensor"].to(torch.float32) * x["ScaleTensor"]
    return found - x["ZeroPointTensor"].to(torch.float32) * x["ScaleTensor"] if "ZeroPointTensor" in x else found


def quantized(d: Any, x: Inputs, *, is_divided: bool) -> Tensor:
    scale = x["ScaleTensor"]
    found = torch.round(x["InputTensor"] / scale if is_divided else x["InputTensor"] * torch.reciprocal(scale))
    found = found + x["ZeroPointTensor"].to(torch.float32) if "ZeroPointTensor" in x else found
    return found.clamp(*LIMITS[d.tensor("OutputTensor").data_type])


WAYS = {
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": (dequantized,),
    "ELEMENT_WISE_QUANTIZE_LINEAR": (
        lambda d, x: quantized(d, x, is_divided=True),
        lambda d, x: quantized(d, x, is_divided=False),
    ),
}
