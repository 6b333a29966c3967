"""Operators of integers and of numbers quantized to 8 bits: reductions, products of matrices, convolutions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import torch
from acceptance.products import FORWARD
from acceptance.quantized import LIMITS
from acceptance.reductions import NATURAL
from pytorch.places import first, flat
from pytorch.wide import is_integral, is_wide, turned
from torch import Tensor
from torch.nn import functional

Inputs = dict[str, Any]
Function = Callable[..., Any]

# ---- reductions

# of integers along the last axis, in INT64, which wraps
WHOLE: dict[str, Function] = {
    "L1": lambda x: x.abs().sum(-1),
    "MULTIPLY": lambda x: x.prod(-1),
    "SUM": lambda x: x.sum(-1),
    "SUM_SQUARE": lambda x: (x * x).sum(-1),
}
ORDERED: dict[str, Function] = {"MAX": lambda x: x.amax(-1), "MIN": lambda x: x.amin(-1)}
PLACES: dict[str, Function] = {"ARGMAX": first, "ARGMIN": lambda x: first(x, is_least=True)}


def _reduced(d: Any, x: Inputs) -> Tensor:
    rows, name, wide = flat(x["InputTensor"], tuple(d["Axes"])), d["Function"], is_wide(d, "InputTensor")
    if name in PLACES:
        return PLACES[name](turned(rows, wide))
    if not is_integral(d, "InputTensor"):
        return NATURAL[name](rows, (-1,))
    if name in ORDERED:
        return turned(ORDERED[name](turned(rows, wide)), wide)
    rows = rows.to(torch.int64)
    return WHOLE["SUM" if wide and name == "L1" else name](rows)


# ---- products


def _less(x: Inputs, name: str, shape: Callable[[Tensor], Tensor]) -> Tensor:
    """Return integers less their zero points, in FLOAT64, where their sums are exact."""
    zero = x.get(f"{name}ZeroPointTensor")
    whole = x[f"{name}Tensor"].to(torch.float64)
    return whole if zero is None else whole - shape(zero.to(torch.float64))


def _column(x: Tensor) -> Tensor:
    return x.reshape(-1, 1)


def _row(x: Tensor) -> Tensor:
    return x.reshape(-1)


def _matrices(_: Any, x: Inputs) -> Tensor:
    return _less(x, "A", _column) @ _less(x, "B", _row)


def _filter(d: Any) -> Callable[[Tensor], Tensor]:
    rank = len(d["Strides"])
    return lambda x: x.reshape(-1, 1, *[1] * rank)


def _convolution(d: Any, x: Inputs) -> Tensor:
    """Return the convolution of integers that are padded by zeros after their zero points are taken off."""
    given, taps, rank = _less(x, "Input", _row), _less(x, "Filter", _filter(d)), len(d["Strides"])
    pairs = zip(reversed(d["StartPadding"]), reversed(d["EndPadding"]), strict=True)
    padded = functional.pad(given, list(chain.from_iterable(pairs)))
    options = {"stride": list(d["Strides"]), "dilation": list(d["Dilations"]), "groups": d["GroupCount"]}
    return FORWARD[rank - 1](padded, taps, None, **options)


def _quantized(d: Any, x: Inputs, found: Tensor, shape: Callable[[Tensor], Tensor]) -> Tensor:
    """Return numbers divided by the scale of the output, rounded, and in the limits of its type."""
    zero = x.get("OutputZeroPointTensor")
    whole = torch.round(found / shape(x["OutputScaleTensor"]))
    whole = whole if zero is None else whole + shape(zero.to(torch.float32))
    return whole.clamp(*LIMITS[d.tensor("OutputTensor").data_type])


def _quantized_matrices(d: Any, x: Inputs) -> Tensor:
    scales = _column(x["AScaleTensor"]) * _row(x["BScaleTensor"])
    return _quantized(d, x, _matrices(d, x).to(torch.float32) * scales, _column)


def _quantized_convolution(d: Any, x: Inputs) -> Tensor:
    channels = [1, -1, *[1] * len(d["Strides"])]
    sums = _convolution(d, x)
    sums = sums + x["BiasTensor"].reshape(channels) if "BiasTensor" in x else sums
    scales = x["InputScaleTensor"].reshape(-1) * x["FilterScaleTensor"].reshape(channels)
    return _quantized(d, x, sums.to(torch.float32) * scales, _row)


def _quantized_sum(d: Any, x: Inputs) -> Tensor:
    a, b = (_less(x, name, _row).to(torch.float32) * _row(x[f"{name}ScaleTensor"]) for name in "AB")
    return _quantized(d, x, a + b, _row)


def whole(function: Function) -> Function:
    """Return a function whose results are INT32, beyond which they wrap."""
    return lambda d, x: function(d, x).to(torch.int64)


OPERATORS: dict[str, Function] = {
    "CONVOLUTION_INTEGER": whole(_convolution),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": _quantized_sum,
    "MATRIX_MULTIPLY_INTEGER": whole(_matrices),
    "QUANTIZED_LINEAR_CONVOLUTION": _quantized_convolution,
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": _quantized_matrices,
    "REDUCE": _reduced,
}
