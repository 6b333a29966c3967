"""Operators that move elements: slices, joins, padding, tiles, blocks of channels, diagonals and windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain
from typing import Any

import torch
from acceptance.products import windows
from pytorch.wide import indices, number
from torch import Tensor
from torch.nn import functional

Inputs = dict[str, Any]
Function = Callable[..., Any]


def _picked(x: Tensor, places: list[Tensor]) -> Tensor:
    """Return the elements at some places along every axis."""
    for axis, at in enumerate(places):
        x = x.index_select(axis, at)
    return x


# ---- slices and joins


def _window(d: Any, sizes: tuple[int, ...]) -> list[Tensor]:
    """Return the places of a window along each axis, from its end where a stride is negative."""
    each = zip(d["InputWindowOffsets"], d["InputWindowSizes"], d["InputWindowStrides"], sizes, strict=True)
    return [
        (start if by > 0 else start + size - 1) + by * torch.arange(count)
        for start, size, by, count in each
    ]  # fmt: skip


def _slice(d: Any, x: Inputs) -> Tensor:
    each = zip(d["Offsets"], d["Strides"], d.tensor("OutputTensor").sizes, strict=True)
    return _picked(x["InputTensor"], [start + by * torch.arange(count) for start, by, count in each])


def _slice1(d: Any, x: Inputs) -> Tensor:
    return _picked(x["InputTensor"], _window(d, d.tensor("OutputTensor").sizes))


def _slice_grad(d: Any, x: Inputs) -> Tensor:
    gradient = x["InputGradientTensor"]
    found = torch.zeros(d.tensor("OutputGradientTensor").sizes, dtype=gradient.dtype)
    grid = torch.meshgrid(*_window(d, tuple(gradient.shape)), indexing="ij")
    return found.index_put(grid, gradient)


def _split(d: Any, x: Inputs) -> dict[str, Tensor]:
    sizes = [tensor.sizes[d["Axis"]] for tensor in d["OutputTensors"]]
    parts = x["InputTensor"].split(sizes, d["Axis"])
    return {f"OutputTensors[{at}]": part for at, part in enumerate(parts)}


# ---- padding

# the index inside of an axis of so many elements that stands for one outside
OUTSIDE: dict[str, Callable[[Tensor, int], Tensor]] = {
    "EDGE": lambda at, count: at.clamp(0, count - 1),
    "REFLECTION": lambda at, count: count - 1 - (at.remainder(max(1, 2 * count - 2)) - (count - 1)).abs(),
    "SYMMETRIC": lambda at, count: torch.minimum(at.remainder(2 * count), 2 * count - 1 - at.remainder(2 * count)),
    "WRAP": lambda at, count: at.remainder(count),
}


def _padding(d: Any, x: Inputs) -> Tensor:
    given, out, starts = x["InputTensor"], d.tensor("OutputTensor"), d["StartPadding"]
    if d["PaddingMode"] == "CONSTANT":
        found = number(d, "PaddingValue", out.data_type).to(given.dtype).repeat(out.sizes)
        found[tuple(slice(s, s + n) for s, n in zip(starts, given.shape, strict=True))] = given
        return found
    function = OUTSIDE[d["PaddingMode"]]
    each = zip(starts, given.shape, out.sizes, strict=True)
    return _picked(given, [function(torch.arange(count) - s, n) for s, n, count in each])


# ---- blocks of channels


def _depth_to_space(d: Any, x: Inputs) -> Tensor:
    given, size = x["InputTensor"], d["BlockSize"]
    if d.get("Order") == "COLUMN_ROW_DEPTH":
        return functional.pixel_shuffle(given, size)
    return given.unflatten(1, (size, size, -1)).permute(0, 3, 4, 1, 5, 2).reshape(d.tensor("OutputTensor").sizes)


def _space_to_depth(d: Any, x: Inputs) -> Tensor:
    given, size = x["InputTensor"], d["BlockSize"]
    if d.get("Order") == "COLUMN_ROW_DEPTH":
        return functional.pixel_unshuffle(given, size)
    blocks = given.unflatten(3, (-1, size)).unflatten(2, (-1, size))
    return blocks.permute(0, 3, 5, 1, 2, 4).reshape(d.tensor("OutputTensor").sizes)


# ---- diagonals and sequences


def _offsets(out: Any) -> Tensor:
    """Return by how much the column of each element of a matrix is larger than its row."""
    *_, rows, columns = (1, *out.sizes)
    return torch.arange(columns) - torch.arange(rows).unsqueeze(1)


def _diagonal(d: Any, _: Inputs) -> Tensor:
    out = d.tensor("OutputTensor")
    value = number(d, "Value", out.data_type)
    return torch.where(_offsets(out) == d["Offset"], value, torch.zeros_like(value)).expand(out.sizes)


def _diagonals(d: Any, x: Inputs) -> Tensor:
    out, first, end = d.tensor("OutputTensor"), d["DiagonalFillBegin"], d["DiagonalFillEnd"]
    value, at = number(d, "Value", out.data_type), _offsets(out)
    within = (at < end) | (first <= at) if first > end else (first <= at) & (at < end)
    given = x.get("InputTensor", torch.zeros_like(value))
    return torch.where(within, value.to(given.dtype), given).expand(out.sizes)


def _reversed(d: Any, x: Inputs) -> Tensor:
    given, axis = x["InputTensor"], d["Axis"]
    lengths = indices(d, x, "SequenceLengthsTensor").clamp(max=given.shape[axis])
    at = torch.arange(given.shape[axis]).reshape([-1 if each == axis else 1 for each in range(given.dim())])
    return given.gather(axis, torch.where(at < lengths, lengths - 1 - at, at).expand_as(given))


# ---- windows


def unfolded(d: Any, x: Tensor) -> Tensor:
    """Return the windows of an image as columns: their elements after the channels, one column for each place."""
    rank = len(d["WindowSizes"])
    pairs = zip(reversed(d["StartPadding"]), reversed(d["EndPadding"]), strict=True)
    seen = windows(functional.pad(x, list(chain.from_iterable(pairs))), d, tuple(d["WindowSizes"]))
    order = (0, 1, *range(rank + 2, 2 * rank + 2), *range(2, rank + 2))
    return seen.permute(order).reshape(len(x), -1, math.prod(seen.shape[2 : rank + 2]))


def _folded(d: Any, x: Inputs) -> Tensor:
    """Return the sums of what UNFOLD would take from each element; element 0 stands for the padding."""
    given, count = x["InputTensor"], d.tensor("OutputTensor").element_count
    numbers = torch.arange(1, count + 1).reshape(d.tensor("OutputTensor").sizes)
    sums = torch.zeros(count + 1, dtype=given.dtype)
    return sums.index_add(0, unfolded(d, numbers).reshape(-1), given.reshape(-1))[1:]


OPERATORS: dict[str, Function] = {
    "DEPTH_TO_SPACE": _depth_to_space,
    "DEPTH_TO_SPACE1": _depth_to_space,
    "DIAGONAL_MATRIX": _diagonal,
    "DIAGONAL_MATRIX1": _diagonals,
    "FOLD": _folded,
    "JOIN": lambda d, x: torch.cat(x["InputTensors"], d["Axis"]),
    "PADDING": _padding,
    "PADDING1": _padding,
    "REVERSE_SUBSEQUENCES": _reversed,
    "SLICE": _slice,
    "SLICE1": _slice1,
    "SLICE_GRAD": _slice_grad,
    "SPACE_TO_DEPTH": _space_to_depth,
    "SPACE_TO_DEPTH1": _space_to_depth,
    "SPLIT": _split,
    "TILE": lambda d, x: x["InputTensor"].repeat(tuple(d["Repeats"])),
    "UNFOLD": lambda d, x: unfolded(d, x["InputTensor"]),
}
