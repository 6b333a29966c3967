"""NumPy's functions of arrays for balls and conditions: functions that move, join, choose or count elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.reference.ball.ball import Ball, NoBound
from dmlcheck.reference.ball.operands import radius, raw


def _selected(conditions: Any, choices: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = np.where(condition, choice, result)
    return result


def _clipped(x: Any, low: Any = None, high: Any = None, **_: Any) -> Any:
    above = x if low is None else np.maximum(x, low)
    return above if high is None else np.minimum(above, high)


def _moving(function: Any) -> Callable[..., Any]:
    """Return a NumPy function that moves, picks or repeats elements, for balls and conditions."""
    return lambda x, *args, **kwargs: x.moved(lambda values: function(values, *args, **kwargs))


def _joining(function: Any) -> Callable[..., Any]:
    """Return a NumPy function that puts several arrays together, for balls."""

    def joined(parts: Any, *args: Any, **kwargs: Any) -> Ball:
        balls = [part for part in parts if isinstance(part, Ball)]
        if not balls:
            raise NoBound("conditions are not put together")
        value = function([raw(part) for part in parts], *args, **kwargs)
        is_exact = all(part.is_exact for part in balls)
        error = None if is_exact else function([radius(part) for part in parts], *args, **kwargs)
        return Ball(value, error, balls[0].arithmetic, max(part.terms for part in balls))

    return joined


def _splitting(function: Any) -> Callable[..., list[Ball]]:
    """Return a NumPy function that takes an array apart, for balls."""

    def split(x: Ball, *args: Any, **kwargs: Any) -> list[Ball]:
        values, errors = function(x.value, *args, **kwargs), function(x.radius, *args, **kwargs)
        return [Ball(value, error, x.arithmetic, x.terms) for value, error in zip(values, errors, strict=True)]

    return split


def _padded(x: Ball, width: Any, mode: Any = "constant", **options: Any) -> Ball:
    """Return padded numbers; a constant of the padding is exact."""
    error = np.pad(x.radius, width) if mode == "constant" else np.pad(x.radius, width, mode, **options)
    return Ball(np.pad(x.value, width, mode, **options), error, x.arithmetic, x.terms)


def _of_values(function: Any) -> Callable[..., Any]:
    """Return a NumPy function whose result has no radius, such as a position, computed from the values."""
    return lambda x, *args, **kwargs: function(raw(x), *args, **kwargs)


def _method(name: str) -> Callable[..., Any]:
    """Return a NumPy function that is a method of balls or conditions."""
    return lambda x, axis=None, keepdims=False, **_: getattr(x, name)(axis, keepdims=keepdims)


def _accumulating(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda x, axis=None, **_: ufunc.accumulate(x.reshape(-1) if axis is None else x, axis=axis or 0)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.select: _selected,
    np.clip: _clipped,
    np.pad: _padded,
    np.prod: lambda x, axis=None, keepdims=False, **_: np.multiply.reduce(x, axis=axis, keepdims=keepdims),
    np.cumsum: _accumulating(np.add),
    np.cumprod: _accumulating(np.multiply),
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x, axis=None: x.size if axis is None else x.shape[axis],
    np.zeros_like: lambda x, **_: np.zeros(x.shape),
    np.ones_like: lambda x, **_: np.ones(x.shape),
    np.full_like: lambda x, fill, **_: np.full(x.shape, fill, np.float64),
    **{
        function: _method(name)
        for function, name in (
            (np.sum, "sum"), (np.mean, "mean"), (np.any, "any"), (np.all, "all"),
            (np.max, "max"), (np.amax, "max"), (np.min, "min"), (np.amin, "min"),
        )
    },
    **{function: _joining(function) for function in (np.concatenate, np.stack)},
    **{function: _splitting(function) for function in (np.split, np.array_split)},
    **{
        function: _of_values(function)
        for function in (np.argmax, np.argmin, np.argsort, np.nonzero, np.count_nonzero, np.isposinf, np.isneginf)
    },
    **{
        function: _moving(function)
        for function in (
            np.broadcast_to, np.copy, np.diagonal, np.expand_dims, np.flip, np.moveaxis, np.ravel, np.repeat,
            np.reshape, np.roll, np.squeeze, np.swapaxes, np.take, np.take_along_axis, np.tile, np.transpose,
            np.lib.stride_tricks.sliding_window_view,
        )
    },
}  # fmt: skip
