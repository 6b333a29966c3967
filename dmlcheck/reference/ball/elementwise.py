"""The operations on elements, as rounding functions and comparisons, and NumPy functions that move or join them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.ball import errors as of
from dmlcheck.reference.ball.ball import Ball, Condition, NoBound
from dmlcheck.reference.ball.errors import Arithmetic, Array, Errors, plus
from dmlcheck.reference.ball.operands import LEAST, enclosing, operands, radius, raw, rounded
from dmlcheck.reference.ball.roundings import rounding


def elementary(function: Callable[..., Any], name: str, *inputs: Any) -> Any:
    """Return an elementary function of balls; its own error is the row of this name in ROUNDINGS.

    The radii of the operands are carried by the function itself, which must have its extremes over a ball at the ends.
    Plain arrays have the result of the function.
    """
    if not any(isinstance(x, Ball) for x in inputs):
        return function(*inputs)
    arithmetic, terms, values, errors = operands(inputs)
    largest = of.LARGEST_OPERANDS.get(name)
    if largest is not None and errors[0] is not None and of.crosses(largest, values[0], errors[0]).any():
        return _at_the_end(function, name, *inputs)
    result = np.asarray(function(*values))
    if result.dtype == bool:
        return result
    row = None if name in of.EXACT else rounding(name, arithmetic.function_type, is_likely=arithmetic.is_likely)
    if row is None:
        error = of.carried(function, name, values, errors, result)
    elif row.formula is None:
        error = of.of_a_row(row, function, name, values, errors, result, arithmetic)
    else:
        error = plus(
            _of_a_formula(row.formula, name, values, errors, result.shape, arithmetic),
            of.carried(function, name, values, errors, result),
        )
    if name in of.POLES:
        error = np.maximum(error, of.POLES[name](*values, *(np.zeros(()) if own is None else own for own in errors)))
    if name in of.HALF_POWERS:
        error = np.maximum(error, of.where_powers_overflow(values[0], errors[0], result, arithmetic))
    error = of.also_unbounded(error, errors, arithmetic)
    found = rounded(result, error, arithmetic, terms, partial(of.is_certain, function, values, errors))
    return found if name != "log" or errors[0] is None else _or_a_logarithm(found, *values, *errors)


def _at_the_end(function: Callable[..., Any], name: str, x: Any) -> Ball:
    """Return a function of balls that may cross an end of its domain: a number or NaN, and `beyond` the other one."""
    arithmetic, terms, (value,), (error,) = operands((x,))
    largest = of.LARGEST_OPERANDS[name]
    inside, low, high = (np.clip(end, -largest, largest) for end in (value, value - error, value + error))
    result = function(inside)
    moved = np.maximum(np.abs(function(low) - result), np.abs(function(high) - result))
    row = rounding(name, arithmetic.function_type, is_likely=arithmetic.is_likely)
    own = of.of_a_row(row, function, name, [inside], [None], result, arithmetic)
    numbers = rounded(result, plus(own, moved), arithmetic, terms, np.isfinite)
    is_out = np.isnan(function(value))
    found = _or_nan(numbers, is_out)
    found.beyond = _or_nan(numbers, is_out != of.crosses(largest, value, error))
    return found


def _or_a_logarithm(found: Ball, x: Array, error: Any) -> Ball:
    """Return logarithms; those of 0 and less may also be that of any number up to the end of the operand's ball."""
    most = x + error
    is_in_doubt = (x <= 0) & (most > 0)
    if is_in_doubt.any():
        low = np.log(found.arithmetic.smallest)
        high = np.log(np.where(is_in_doubt, np.fmax(most, found.arithmetic.smallest), 1.0))
        value, radius = np.where(is_in_doubt, ((low + high) / 2, (high - low) / 2), (found.value, found.radius))
        found.beyond = Ball.result(value, radius, found.arithmetic, found.terms)
    return found


def _or_nan(x: Ball, where: Array) -> Ball:
    """Return balls, or exactly NaN where a mask is true."""
    return Ball.result(np.where(where, np.nan, x.value), np.where(where, 0.0, x.radius), x.arithmetic, x.terms)


def _function(ufunc: np.ufunc, *inputs: Any) -> Any:
    return elementary(ufunc, ufunc.__name__, *inputs)


def _of_a_formula(
    formula: Callable[..., Ball],
    name: str,
    values: list[Array],
    errors: Errors,
    shape: tuple[int, ...],
    arithmetic: Arithmetic,
) -> Any:
    """Return the rounding error of a function that a formula computes: the largest at the ends of its operands."""
    if all(error is None for error in errors):
        return formula(*(Ball.result(x, None, arithmetic, 0) for x in values)).radius
    corners = ([np.broadcast_to(x, shape) for x in corner] for corner in of.corners(name, values, errors))
    ends = (np.stack(operand) for operand in zip(*corners, strict=True))
    return formula(*(Ball.result(x, np.full(x.shape, LEAST), arithmetic, 0) for x in ends)).radius.max(axis=0)


def sum_of_two(ufunc: np.ufunc, x: Any, y: Any) -> Ball:
    """Return a sum or a difference."""
    arithmetic, terms, values, errors = operands((x, y))
    value = ufunc(*values)
    size, moved = np.abs(value), plus(*errors)
    error = of.correctly_rounded(value, size, moved, arithmetic)
    if moved is None or not of.least(moved) > 0:
        error = np.fmax(error, np.fmin(error + of.lost(ufunc, *values), arithmetic.unit_roundoff * size))
    return rounded(value, error, arithmetic, terms, partial(of.is_certain, ufunc, values, errors), size)


def _product_of_two(ufunc: np.ufunc, x: Any, y: Any) -> Ball:
    arithmetic, terms, values, errors = operands((x, y))
    (a, b), (s, t) = values, errors
    value = ufunc(a, b)
    size = np.abs(value)
    moved = None if s is None else s * np.abs(b)
    if t is not None:
        moved = plus(moved, t * plus(np.abs(a), s))
    error = of.correctly_rounded(value, size, moved, arithmetic)
    return rounded(value, error, arithmetic, terms, partial(of.is_certain, ufunc, values, errors), size)


def _quotient(ufunc: np.ufunc, *inputs: Any) -> Ball:
    """Return a quotient, or a reciprocal."""
    arithmetic, terms, values, errors = operands(inputs)
    value = ufunc(*values)
    size, row = np.abs(value), rounding(ufunc.__name__, arithmetic.function_type)
    error = of.of_a_quotient(values[-1], size, value, errors, row, arithmetic)
    return rounded(value, error, arithmetic, terms, partial(of.is_certain, ufunc, values, errors), size)


def _growing(ufunc: np.ufunc, *inputs: Any) -> Ball:
    """Return a function that rounds nothing and does not decrease with any operand."""
    arithmetic, terms, values, errors = operands(inputs)
    value = ufunc(*values)
    if all(error is None for error in errors):
        return Ball.result(value, None, arithmetic, terms)
    ends = (
        ufunc(*(x if error is None else change(x, error) for x, error in zip(values, errors, strict=True)))
        for change in (np.subtract, np.add)
    )
    low, high = ends
    error = np.maximum(np.abs(low - value), np.abs(high - value))
    if ufunc in _JUMPS:
        midpoint, reach = enclosing(low, high)
        value, error = np.where(np.isfinite(reach), midpoint, value), np.where(np.isfinite(reach), reach, error)
    return rounded(value, error, arithmetic, terms, partial(of.is_certain, ufunc, values, errors))


_JUMPS = {
    np.ceil,
    np.floor,
    np.rint,
    np.sign,
    np.trunc,
}  # near a jump the ball contains the results of both sides


def _compared(ufunc: np.ufunc, x: Any, y: Any) -> Condition:
    _, _, (a, b), errors = operands((x, y))
    margin = plus(*errors)
    return Condition(ufunc(a, b), False if margin is None else (np.abs(a - b) <= margin) & (margin > 0))


def _sign_bit(ufunc: np.ufunc, x: Ball) -> Condition:
    value, error = x.operand()
    return Condition(ufunc(value), False if error is None else (np.abs(value) <= error) & (error > 0))


def _remainder(ufunc: np.ufunc, x: Any, y: Any) -> Ball:
    """Return the hull of the exact remainder and the remainder by the formula in ROUNDINGS."""
    arithmetic = x.arithmetic if isinstance(x, Ball) else y.arithmetic
    formula: Any = rounding(ufunc.__name__, arithmetic.function_type).formula
    found, exact = formula(x, y), ufunc(raw(x), raw(y))
    midpoint, reach = enclosing(
        np.minimum(found.value - found.radius, exact), np.maximum(found.value + found.radius, exact)
    )
    is_bounded = np.isfinite(reach)
    value, error = np.where(is_bounded, midpoint, exact), np.where(is_bounded, reach, found.radius)
    return Ball(value, error, found.arithmetic, found.terms)


def _gives_a_float(ufunc: np.ufunc) -> bool:
    """Whether a function of NumPy returns one float."""
    return ufunc.nout == 1 and any(kinds.endswith("->d") for kinds in ufunc.types)


RULES: dict[np.ufunc, Callable[..., Any]] = {
    **{ufunc: _function for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc) and _gives_a_float(ufunc)},
    **dict.fromkeys((np.add, np.subtract), sum_of_two),
    np.multiply: _product_of_two,
    np.square: lambda _, x: _product_of_two(np.multiply, x, x),
    **dict.fromkeys((np.divide, np.reciprocal), _quotient),
    **dict.fromkeys((np.fmod, np.remainder), _remainder),
    **dict.fromkeys(
        (np.maximum, np.minimum, np.fmax, np.fmin, np.floor, np.ceil, np.rint, np.trunc, np.sign), _growing
    ),
    **dict.fromkeys((np.negative, np.positive, np.absolute, np.fabs), lambda ufunc, x: x.around(ufunc(raw(x)))),
    np.signbit: _sign_bit,
    **dict.fromkeys((np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal), _compared),
    **dict.fromkeys((np.isnan, np.isinf, np.isfinite), lambda ufunc, x: ufunc(x.value)),
}


# ---- functions that move, join, choose or count elements


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
