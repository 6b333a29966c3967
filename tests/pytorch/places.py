"""Operators of indices: gathering, scattering, the places of the largest elements, sorting, and pooling by them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from acceptance import windowed
from pytorch.wide import indices, is_wide, turned
from torch import Tensor

Inputs = dict[str, Any]
Function = Callable[..., Any]


def _from_start(d: Any, x: Inputs, count: Any) -> Tensor:
    """Return the indices of a desc from the start of an axis, within it."""
    whole = indices(d, x, "IndicesTensor")
    return torch.where(whole < 0, whole + count, whole).clamp(min=0).minimum(torch.as_tensor(count) - 1)


def _last(x: Tensor, count: int) -> Tensor:
    """Return the last dimensions of a tensor, at the first place of those before."""
    return x[(0,) * (x.dim() - count)]


# ---- gathering and scattering


def _gather(d: Any, x: Inputs) -> Tensor:
    given = x["InputTensor"]
    at = _last(_from_start(d, x, given.shape[d["Axis"]]), d["IndexDimensions"])
    return given.index_select(d["Axis"], at.reshape(-1))


def _elements(d: Any, x: Inputs) -> Tensor:
    given, axis = x["InputTensor"], d["Axis"]
    return given.gather(axis, _from_start(d, x, given.shape[axis]))


def _scatter(d: Any, x: Inputs) -> Tensor:
    given, axis = x["InputTensor"], d["Axis"]
    return given.scatter(axis, _from_start(d, x, given.shape[axis]), x["UpdatesTensor"])


def _tuples(d: Any, x: Inputs) -> tuple[Tensor, Tensor]:
    """Return the input as batches of rows of slices, and of each batch the rows that the tuples name."""
    given = _last(x["InputTensor"], d["InputDimensionCount"])
    batches, length = d.get("BatchDimensionCount") or 0, x["IndicesTensor"].shape[-1]
    sizes = given.shape[batches : batches + length]
    steps = [math.prod(sizes[at + 1 :]) for at in range(length)]
    tuples = _last(_from_start(d, x, torch.tensor(sizes)), d["IndicesDimensionCount"])
    rows = (tuples * torch.tensor(steps)).sum(-1)
    count = math.prod(given.shape[:batches])
    return given.reshape(count, math.prod(sizes), -1), rows.reshape(count, -1)


def _gather_nd(d: Any, x: Inputs) -> Tensor:
    given, rows = _tuples(d, x)
    return given[torch.arange(len(given)).unsqueeze(1), rows]


def _scatter_nd(d: Any, x: Inputs) -> Tensor:
    given, rows = _tuples(d, x)
    updates = x["UpdatesTensor"].reshape(-1, given.shape[2])[: rows.shape[1]]
    found = given[0].index_put((rows[0],), updates)
    return found.reshape(-1).expand(d.tensor("OutputTensor").element_count // found.numel(), -1)


def _one_hot(d: Any, x: Inputs) -> Tensor:
    axis, out = d["Axis"], d.tensor("OutputTensor").sizes
    at = torch.arange(out[axis]).reshape([-1 if each == axis else 1 for each in range(len(out))])
    whole = indices(d, x, "IndicesTensor")
    whole = torch.where(whole < 0, whole + out[axis], whole)
    off, on = x["ValuesTensor"].reshape(-1)[:2]
    return torch.where(at == whole, on, off)


def _unpooled(d: Any, x: Inputs) -> Tensor:
    given = x["InputTensor"].reshape(-1)
    found = torch.zeros(math.prod(d.tensor("OutputTensor").sizes), dtype=given.dtype)
    return found.scatter(0, x["IndicesTensor"].reshape(-1).to(torch.int64).clamp(0, len(found) - 1), given)


def _nonzero(d: Any, x: Inputs) -> dict[str, Tensor]:
    found = torch.nonzero(x["InputTensor"])
    *_, most, wide = d.tensor("OutputCoordinatesTensor").sizes
    rows = torch.zeros(most, wide, dtype=torch.int64)
    rows[: len(found)] = found[:, found.shape[1] - wide :]
    return {"OutputCountTensor": torch.tensor(len(found)), "OutputCoordinatesTensor": rows}


# ---- the places of the largest elements


def flat(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return a tensor with the elements of its axes along a last one."""
    kept = [axis for axis in range(x.dim()) if axis not in axes]
    return x.permute(*kept, *sorted(axes)).reshape(*(x.shape[axis] for axis in kept), -1)


def first(x: Tensor, *, is_least: bool = False, is_last: bool = False) -> Tensor:
    """Return where along the last axis the first largest element is, or the least, or the last one of them."""
    best = x.amin(-1, keepdim=True) if is_least else x.amax(-1, keepdim=True)
    at = torch.arange(x.shape[-1]).expand_as(x)
    if is_last:
        return torch.where(x == best, at, -1).amax(-1)
    return torch.where(x == best, at, x.shape[-1]).amin(-1)


def _argument(*, is_least: bool) -> Function:
    def way(d: Any, x: Inputs) -> Tensor:
        given = flat(turned(x["InputTensor"], is_wide(d, "InputTensor")), tuple(d["Axes"]))
        return first(given, is_least=is_least, is_last=d.get("AxisDirection") == "DECREASING")

    return way


def _hardmax(d: Any, x: Inputs) -> Tensor:
    given = x["InputTensor"]
    axes = tuple(d["Axes"]) if "Axes" in d else (given.dim() - 1,)
    rows = flat(given, axes)
    ones = torch.nn.functional.one_hot(first(rows).clamp(max=rows.shape[-1] - 1), rows.shape[-1])
    order = [*(axis for axis in range(given.dim()) if axis not in axes), *sorted(axes)]
    return ones.reshape([given.shape[axis] for axis in order]).permute([*map(order.index, range(given.dim()))])


def _top(d: Any, x: Inputs) -> dict[str, Tensor]:
    is_up, wide = d.get("AxisDirection") == "INCREASING", is_wide(d, "InputTensor")
    values, at = torch.sort(turned(x["InputTensor"], wide), dim=d["Axis"], descending=not is_up, stable=True)
    values, at = (each.narrow(d["Axis"], 0, d["K"]) for each in (values, at))
    return {"OutputValueTensor": turned(values, wide), "OutputIndexTensor": at}


def _pooled(d: Any, x: Inputs) -> dict[str, Tensor]:
    wide = is_wide(d, "InputTensor")
    own = windowed.largest if x["InputTensor"].dtype in (torch.int8, torch.uint8) or wide else windowed.largest_by_torch
    found = own(d, {"InputTensor": turned(x["InputTensor"], wide)})
    return found | {"OutputTensor": turned(found["OutputTensor"], wide)}


OPERATORS: dict[str, Function] = {
    "ACTIVATION_HARDMAX": _hardmax,
    "ACTIVATION_HARDMAX1": _hardmax,
    "ARGMAX": _argument(is_least=False),
    "ARGMIN": _argument(is_least=True),
    "GATHER": _gather,
    "GATHER_ELEMENTS": _elements,
    "GATHER_ND": _gather_nd,
    "GATHER_ND1": _gather_nd,
    **dict.fromkeys(("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"), _pooled),
    "MAX_UNPOOLING": _unpooled,
    "NONZERO_COORDINATES": _nonzero,
    "ONE_HOT": _one_hot,
    "SCATTER": _scatter,
    "SCATTER_ND": _scatter_nd,
    "TOP_K": _top,
    "TOP_K1": _top,
}
