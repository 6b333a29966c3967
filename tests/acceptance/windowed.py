"""Right ways to compute pooling, resampling and their gradients, in float32."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import numpy as np
import torch
from acceptance.products import FORWARD, windows
from torch import Tensor
from torch.nn import functional

Inputs = dict[str, Any]

# ---- pooling


def _room(d: Any, sizes: tuple[int, ...], places: tuple[int, ...]) -> list[int]:
    """Return how much padding there must be at the end for all places; places may be rounded up."""
    dilations = d.get("Dilations") or (1,) * len(places)
    each = zip(sizes, places, d["WindowSize"], d["Strides"], dilations, d["StartPadding"], strict=True)
    return [max(0, (p - 1) * s + (k - 1) * by + 1 - start - size) for size, p, k, s, by, start in each]


def _padded(d: Any, x: Tensor, places: tuple[int, ...], value: float = 0.0) -> Tensor:
    ends = _room(d, tuple(x.shape[2:]), places)
    pairs = zip(reversed(d["StartPadding"]), reversed(ends), strict=True)
    return functional.pad(x, list(chain.from_iterable(pairs)), value=value)


def _cut(found: Tensor, places: tuple[int, ...]) -> Tensor:
    return found[(..., *map(slice, places))]


def sums_by_convolution(d: Any, x: Tensor, places: tuple[int, ...]) -> Tensor:
    """Return the sums of windows, by a convolution of each channel with ones."""
    count, rank = x.shape[1], len(places)
    ones = torch.ones(count, 1, *d["WindowSize"])
    dilation = list(d.get("Dilations") or (1,) * rank)
    padded = _padded(d, x, places)
    return _cut(FORWARD[rank - 1](padded, ones, stride=list(d["Strides"]), dilation=dilation, groups=count), places)


def sums_of_windows(d: Any, x: Tensor, places: tuple[int, ...]) -> Tensor:
    """Return the sums of windows, a row after the other."""
    seen = _cut_places(windows(_padded(d, x, places), d, tuple(d["WindowSize"])), places)
    for _ in places:
        seen = seen.sum(-1)
    return seen


def _cut_places(seen: Tensor, places: tuple[int, ...]) -> Tensor:
    return seen[(slice(None), slice(None), *map(slice, places))]


def _places(d: Any, name: str = "OutputTensor") -> tuple[int, ...]:
    return tuple(d.tensor(name).sizes[2:])


def _divisors(d: Any, x: Tensor, places: tuple[int, ...]) -> Tensor:
    """Return how many elements each window has, its padding among them where that counts."""
    if not d["IncludePadding"]:
        return sums_of_windows(d, torch.ones_like(x), places)
    ends = zip(reversed(d["StartPadding"]), reversed(d["EndPadding"]), strict=True)
    ones = functional.pad(torch.ones(1, 1, *x.shape[2:]), list(chain.from_iterable(ends)), value=1.0)
    room = _room(d, tuple(x.shape[2:]), places)
    more = [max(0, want - have) for want, have in zip(room, d["EndPadding"], strict=True)]
    ones = functional.pad(ones, list(chain.from_iterable((0, each) for each in reversed(more))))
    seen = _cut_places(windows(ones, d, tuple(d["WindowSize"])), places)
    return seen.flatten(len(places) + 2).sum(-1)


def average(sums: Any) -> Any:
    def way(d: Any, x: Inputs) -> Tensor:
        given, places = x["InputTensor"], _places(d)
        return sums(d, given, places) / _divisors(d, given, places)

    return way


def average_of_parts(d: Any, x: Inputs) -> Tensor:
    """Divide each element before it is added up."""
    given, places = x["InputTensor"], _places(d)
    seen = _cut_places(windows(_padded(d, given, places), d, tuple(d["WindowSize"])), places)
    divisors = _divisors(d, given, places)
    return (seen / divisors.reshape(*divisors.shape, *[1] * len(places))).flatten(len(places) + 2).sum(-1)


def average_grad(sums: Any) -> Any:
    """Return the gradient of the average, by PyTorch's automatic differentiation."""

    def way(d: Any, x: Inputs) -> Tensor:
        zeros = torch.zeros(d.tensor("OutputGradientTensor").sizes, requires_grad=True)
        places = _places(d, "InputGradientTensor")
        found = sums(d, zeros, places) / _divisors(d, zeros.detach(), places)
        return torch.autograd.grad(found, zeros, x["InputGradientTensor"])[0]

    return way


def lp(sums: Any) -> Any:
    def way(d: Any, x: Inputs) -> Tensor:
        size, power = x["InputTensor"].abs(), d["P"]
        if power == 1:
            return sums(d, size, _places(d))
        if power == 2:
            return torch.sqrt(sums(d, size * size, _places(d)))
        return sums(d, size**power, _places(d)) ** (1 / power)

    return way


def lp_by_exp(d: Any, x: Inputs) -> Tensor:
    size, power = x["InputTensor"].abs(), d["P"]
    if power < 3:
        return lp(sums_of_windows)(d, x)
    total = sums_of_windows(d, torch.exp2(power * torch.log2(size)), _places(d))
    return torch.exp2(torch.log2(total) / power)


def least(x: Tensor) -> float:
    """Return the least number of a tensor's type, which padding has."""
    return -math.inf if x.is_floating_point() else torch.iinfo(x.dtype).min


def largest(d: Any, x: Inputs) -> dict[str, Tensor]:
    """Return the largest element of each window, and where it is."""
    given, places = x["InputTensor"], _places(d)
    rank = len(places)

    def seen(values: Tensor, fill: float) -> Tensor:
        found = windows(_padded(d, values, places, fill), d, tuple(d["WindowSize"]))
        return _cut_places(found, places).flatten(rank + 2)

    own = seen(given, least(given))
    numbers = seen(torch.arange(given.numel(), dtype=torch.int64).reshape(given.shape), -1)
    is_largest = ((own == own.amax(-1, keepdim=True)) | own.isnan()) & (numbers >= 0)
    at = is_largest.to(torch.int8).argmax(-1, keepdim=True)
    where = numbers.gather(-1, at).squeeze(-1)
    outputs = {"OutputTensor": own.gather(-1, at).squeeze(-1)}
    return outputs | {"OutputIndicesTensor": where.clamp(min=0)}


def largest_by_torch(d: Any, x: Inputs) -> dict[str, Tensor]:
    given, places = x["InputTensor"], _places(d)
    function = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[len(places) - 1]
    dilation = list(d.get("Dilations") or (1,) * len(places))
    padded = _padded(d, given, places, least(given))
    found = function(padded, list(d["WindowSize"]), list(d["Strides"]), dilation=dilation)
    return largest(d, x) | {"OutputTensor": _cut(found, places)}


def largest_grad(d: Any, x: Inputs) -> Tensor:
    given = x["InputTensor"].clone().requires_grad_()
    places = _places(d, "InputGradientTensor")
    function = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[len(places) - 1]
    padded = _padded(d, given, places, -math.inf)
    found = function(padded, list(d["WindowSize"]), list(d["Strides"]), dilation=list(d["Dilations"]))
    return torch.autograd.grad(_cut(found, places), given, x["InputGradientTensor"])[0]


# ---- resampling


def _beside(d: Any, axis: int, size: int, count: int) -> tuple[Any, Any, Any]:
    """Return the elements before and after each place along an axis, and how far it is from the first, in float32."""
    scale = np.float32(d["Scales"][axis])
    own = np.float32(d["InputPixelOffsets"][axis] if "InputPixelOffsets" in d else 0.5)
    other = np.float32(d["OutputPixelOffsets"][axis] if "OutputPixelOffsets" in d else -0.5)
    at = (np.arange(count, dtype=np.float32) - other) / scale - own
    first = np.floor(at)
    low, high = (np.clip(each, 0, size - 1).astype(np.int64) for each in (first, first + 1))
    return torch.from_numpy(low), torch.from_numpy(high), torch.from_numpy((at - first).astype(np.float32))


def _nearest(d: Any, axis: int, size: int, count: int) -> Tensor:
    low, high, part = _beside(d, axis, size, count)
    direction = d.get("RoundingDirection")
    if direction == "INCREASING":
        return torch.where(part > 0, high, low)
    return low if direction == "DECREASING" else torch.where(part >= 0.5, high, low)


def _along(d: Any, x: Tensor, axis: int, count: int, way: str) -> Tensor:
    if d["InterpolationMode"] == "NEAREST_NEIGHBOR":
        return x.index_select(axis, _nearest(d, axis, x.shape[axis], count))
    low, high, part = _beside(d, axis, x.shape[axis], count)
    before, after = x.index_select(axis, low), x.index_select(axis, high)
    part = part.reshape([-1 if each == axis else 1 for each in range(x.dim())])
    if way == "lerp":
        return before + part * (after - before)
    return before * (1 - part) + after * part


def separable(way: str, *, is_last_first: bool) -> Any:
    """Return resampling along an axis after the other."""

    def of(d: Any, x: Inputs) -> Tensor:
        found, sizes = x["InputTensor"], d.tensor("OutputTensor").sizes
        axes = [axis for axis in range(found.dim()) if not _is_kept(d, axis, found.shape[axis], sizes[axis])]
        for axis in reversed(axes) if is_last_first else axes:
            found = _along(d, found, axis, sizes[axis], way)
        return found

    return of


def _is_kept(d: Any, axis: int, before: int, after: int) -> bool:
    own = d["InputPixelOffsets"][axis] if "InputPixelOffsets" in d else 0.5
    other = d["OutputPixelOffsets"][axis] if "OutputPixelOffsets" in d else -0.5
    return before == after and d["Scales"][axis] == 1 and own + other == 0


def of_all_corners(d: Any, x: Inputs) -> Tensor:
    """Return the sum over all corners of the products of the weights, times the elements."""
    given, sizes = x["InputTensor"], d.tensor("OutputTensor").sizes
    if d["InterpolationMode"] == "NEAREST_NEIGHBOR":
        return separable("", is_last_first=True)(d, x)
    found: Any = torch.zeros(())
    beside = [_beside(d, axis, given.shape[axis], count) for axis, count in enumerate(sizes)]
    axes = [axis for axis in range(given.dim()) if not _is_kept(d, axis, given.shape[axis], sizes[axis])]
    for corner in range(2 ** len(axes)):
        part, weight = given, torch.ones(())
        for at, axis in enumerate(axes):
            low, high, share = beside[axis]
            is_high = corner >> at & 1
            shape = [-1 if each == axis else 1 for each in range(given.dim())]
            part = part.index_select(axis, high if is_high else low)
            weight = weight * (share if is_high else 1 - share).reshape(shape)
        found = found + weight * part
    return found


class _Turned:
    """The desc of a gradient, as that of the forward operator."""

    def __init__(self, d: Any) -> None:
        self.d = d

    def __contains__(self, name: str) -> bool:
        return name in self.d

    def __getitem__(self, name: str) -> Any:
        other = {"InputPixelOffsets": "OutputPixelOffsets", "OutputPixelOffsets": "InputPixelOffsets"}
        return self.d[other.get(name, name)]

    def get(self, name: str) -> Any:
        return self[name] if name in self.d else None

    def tensor(self, _: str) -> Any:
        return self.d.tensor("InputGradientTensor")


def resampling_grad(forward: Any) -> Any:
    """Return the gradient, by PyTorch's automatic differentiation."""

    def way(d: Any, x: Inputs) -> Tensor:
        zeros = torch.zeros(d.tensor("OutputGradientTensor").sizes, requires_grad=True)
        found = forward(_Turned(d), {"InputTensor": zeros})
        if not found.requires_grad:
            return x["InputGradientTensor"].clone()
        return torch.autograd.grad(found, zeros, x["InputGradientTensor"])[0]

    return way


RESAMPLING = (
    separable("", is_last_first=False),
    separable("", is_last_first=True),
    separable("lerp", is_last_first=True),
    of_all_corners,
)


def by_interpolate(d: Any, x: Inputs) -> Tensor:
    """Return UPSAMPLE_2D by PyTorch's function."""
    factor = (d["ScaleSize"].Height, d["ScaleSize"].Width)
    given = x["InputTensor"]
    flat = given.reshape(-1, 1, *given.shape[-2:])
    mode = "nearest" if d["InterpolationMode"] == "NEAREST_NEIGHBOR" else "bilinear"
    found = functional.interpolate(flat, scale_factor=tuple(map(float, factor)), mode=mode)
    return found.reshape(d.tensor("OutputTensor").sizes)


AVERAGES = (average(sums_by_convolution), average(sums_of_windows), average_of_parts)
NORMS = (lp(sums_by_convolution), lp(sums_of_windows))
WAYS = {
    "AVERAGE_POOLING": AVERAGES,
    "AVERAGE_POOLING1": AVERAGES,
    "AVERAGE_POOLING_GRAD": tuple(map(average_grad, (sums_by_convolution, sums_of_windows))),
    "LP_POOLING": (*NORMS, lp_by_exp),
    "LP_POOLING1": (*NORMS, lp_by_exp),
    "MAX_POOLING": (largest_by_torch, largest),
    "MAX_POOLING1": (largest_by_torch, largest),
    "MAX_POOLING2": (largest_by_torch, largest),
    "MAX_POOLING_GRAD": (largest_grad,),
    **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"), RESAMPLING),
    **dict.fromkeys(("RESAMPLE_GRAD", "RESAMPLE_GRAD1"), tuple(map(resampling_grad, RESAMPLING[:2]))),
    "UPSAMPLE_2D": (by_interpolate,),
}
