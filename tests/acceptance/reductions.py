"""Right ways to compute reductions, softmax and scans, in float32: sums in several orders, one-line formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

Inputs = dict[str, Any]
Axes = tuple[int, ...]

# ---- sums along axes, in several orders


def by_torch(x: Tensor, axes: Axes) -> Tensor:
    return x.sum(axes, keepdim=True)


def one_by_one(x: Tensor, axes: Axes) -> Tensor:
    """Add up one after the other, which PyTorch does in no function of its own: its cumsum adds up in float64."""
    return _along_last(lambda rows: np.cumsum(rows, axis=-1, dtype=np.float32)[:, -1], x, axes)


def in_lanes(x: Tensor, axes: Axes) -> Tensor:
    """Add up every 64th term one after the other, and then the 64 sums in pairs: as a workgroup does."""

    def added(rows: Any) -> Any:
        rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 64))).reshape(len(rows), -1, 64)
        sums = np.cumsum(rows, axis=1, dtype=np.float32)[:, -1]
        while sums.shape[1] > 1:
            sums = sums[:, ::2] + sums[:, 1::2]
        return sums[:, 0]

    return _along_last(added, x, axes)


def _along_last(function: Any, x: Tensor, axes: Axes) -> Tensor:
    kept = [axis for axis in range(x.dim()) if axis not in axes]
    rows = x.permute(*kept, *axes).reshape(math.prod(x.shape[axis] for axis in kept), -1).numpy()
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    return torch.from_numpy(np.ascontiguousarray(function(rows))).reshape(sizes)


ADDERS = (by_torch, one_by_one, in_lanes)


def _l2(x: Tensor, axes: Axes) -> Tensor:
    return torch.linalg.vector_norm(x, dim=axes, keepdim=True)


def _product(x: Tensor, axes: Axes) -> Tensor:
    for axis in axes:
        x = x.prod(axis, keepdim=True)
    return x


NATURAL: dict[str, Any] = {
    "AVERAGE": lambda x, axes: x.mean(axes, keepdim=True),
    "L1": lambda x, axes: torch.linalg.vector_norm(x, 1, dim=axes, keepdim=True),
    "L2": _l2,
    "LOG_SUM": lambda x, axes: torch.log(x.sum(axes, keepdim=True)),
    "LOG_SUM_EXP": lambda x, axes: torch.logsumexp(x, axes, keepdim=True),
    "MAX": lambda x, axes: x.amax(axes, keepdim=True),
    "MIN": lambda x, axes: x.amin(axes, keepdim=True),
    "MULTIPLY": _product,
    "SUM": by_torch,
    "SUM_SQUARE": lambda x, axes: (x * x).sum(axes, keepdim=True),
}


def _by(adder: Any) -> dict[str, Any]:
    """Return the functions with sums in an order."""
    return {
        "AVERAGE": lambda x, axes: adder(x, axes) / math.prod(x.shape[axis] for axis in axes),
        "L1": lambda x, axes: adder(x.abs(), axes),
        "L2": lambda x, axes: torch.sqrt(adder(x * x, axes)),
        "LOG_SUM": lambda x, axes: torch.log(adder(x, axes)),
        "LOG_SUM_EXP": lambda x, axes: (
            torch.log(adder(torch.exp(x - x.amax(axes, keepdim=True)), axes)) + x.amax(axes, keepdim=True)
        ),
        "MULTIPLY": lambda x, axes: _along_last(lambda rows: np.multiply.reduce(rows, axis=1), x, axes),
        "SUM": adder,
        "SUM_SQUARE": lambda x, axes: adder(x * x, axes),
    }


def _reduce(functions: dict[str, Any]) -> Any:
    def way(d: Any, x: Inputs) -> Any:
        function = functions.get(d["Function"], NATURAL.get(d["Function"]))
        return function(x["InputTensor"], tuple(d["Axes"]))

    return way


def _axes(d: Any) -> Axes:
    return tuple(d["Axes"]) if "Axes" in d else (len(d.tensor("InputTensor").sizes) - 1,)


def _softmax(adder: Any) -> Any:
    def way(d: Any, x: Inputs) -> Tensor:
        axes = _axes(d)
        powers = torch.exp(x["InputTensor"] - x["InputTensor"].amax(axes, keepdim=True))
        return powers / adder(powers, axes)

    return way


def _log_softmax(adder: Any) -> Any:
    def way(d: Any, x: Inputs) -> Tensor:
        axes = _axes(d)
        less = x["InputTensor"] - x["InputTensor"].amax(axes, keepdim=True)
        return less - torch.log(adder(torch.exp(less), axes))

    return way


def _by_rows(function: Any) -> Any:
    """Return a softmax of PyTorch, which takes one axis, of the group along several."""

    def way(d: Any, x: Inputs) -> Tensor:
        axes, given = _axes(d), x["InputTensor"]
        kept = [axis for axis in range(given.dim()) if axis not in axes]
        order = [*kept, *axes]
        turned = given.permute(order)
        found = function(turned.reshape(*turned.shape[: len(kept)], -1), dim=-1).reshape(turned.shape)
        return found.permute([order.index(axis) for axis in range(given.dim())])

    return way


# ---- scans


def _scan(function: Any, empty: float) -> Any:
    def way(d: Any, x: Inputs) -> Tensor:
        given, axis = x["InputTensor"], d["Axis"]
        given = given.flip(axis) if d["AxisDirection"] == "DECREASING" else given
        found = function(given, axis)
        if d.get("HasExclusiveSum") or d.get("HasExclusiveProduct"):
            first = torch.full_like(found.narrow(axis, 0, 1), empty)
            found = torch.cat([first, found.narrow(axis, 0, found.shape[axis] - 1)], axis)
        return found.flip(axis) if d["AxisDirection"] == "DECREASING" else found

    return way


def _in_blocks(x: Tensor, axis: int) -> Tensor:
    """Add up in blocks of 256, and add the sums of the blocks before."""
    found, before = [], 0.0
    for block in x.split(256, axis):
        sums = torch.from_numpy(np.cumsum(block.numpy(), axis=axis, dtype=np.float32)) + before
        before = sums.narrow(axis, sums.shape[axis] - 1, 1)
        found.append(sums)
    return torch.cat(found, axis)


def _accumulated(ufunc: np.ufunc) -> Any:
    return lambda x, axis: torch.from_numpy(ufunc.accumulate(x.numpy(), axis=axis, dtype=np.float32))


WAYS = {
    "REDUCE": (_reduce(NATURAL), *(_reduce(_by(adder)) for adder in ADDERS[1:])),
    "ACTIVATION_SOFTMAX": (_by_rows(torch.softmax), *map(_softmax, ADDERS)),
    "ACTIVATION_SOFTMAX1": (_by_rows(torch.softmax), *map(_softmax, ADDERS)),
    "ACTIVATION_LOG_SOFTMAX": (_by_rows(torch.log_softmax), *map(_log_softmax, ADDERS)),
    "ACTIVATION_LOG_SOFTMAX1": (_by_rows(torch.log_softmax), *map(_log_softmax, ADDERS)),
    "CUMULATIVE_SUMMATION": (_scan(torch.cumsum, 0), _scan(_accumulated(np.add), 0), _scan(_in_blocks, 0)),
    "CUMULATIVE_PRODUCT": (_scan(torch.cumprod, 1), _scan(_accumulated(np.multiply), 1)),
}
