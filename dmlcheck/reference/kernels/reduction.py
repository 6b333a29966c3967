"""REDUCE, ARGMAX, ARGMIN, HARDMAX and HARDMAX1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dmlcheck.reference.kernels._blocks import ALL, BLOCK, Array, Index, Result, Rows, Wide, grouped, rows, tiles
from dmlcheck.reference.kernels._sums import (
    MAX_EXACT_TERMS,
    Term,
    U,
    add_up,
    exact_log,
    exact_log_sum_exp,
    exact_mean,
    exact_product,
    exact_sqrt,
    exact_sum,
    exactly,
    identity,
    multiply_up,
    square,
    sum_error,
    tree_sum,
    wrap_product,
    wrap_sum,
)


def reduce(input: Array, *, function: str, axes: tuple[int, ...]) -> Result:
    """Reduce the elements along `axes` to one by a DML_REDUCE_FUNCTION."""
    return _reduced(input, axes, FUNCTIONS[function])


def argmax(input: Array, *, axes: tuple[int, ...], axis_direction: str) -> Result:
    """Find where the largest element along `axes` is; of equal ones the first, or with DECREASING the last."""
    return _reduced(input, axes, lambda group: _index_of(group, np.fmax, last=axis_direction == "DECREASING"))


def argmin(input: Array, *, axes: tuple[int, ...], axis_direction: str) -> Result:
    """Find where the smallest element along `axes` is; of equal ones the first, or with DECREASING the last."""
    return _reduced(input, axes, lambda group: _index_of(group, np.fmin, last=axis_direction == "DECREASING"))


def hardmax(input: Array) -> Result:
    """Mark the first largest element of each row of the last dimension with 1, all others with 0."""
    return hardmax1(input, axes=(input.ndim - 1,))


def hardmax1(input: Array, *, axes: tuple[int, ...]) -> Result:
    """Mark the first largest element of each group along `axes` with 1, all others with 0."""
    order, view = grouped(input, axes)
    return Result(
        order,
        lambda share=ALL: _marked(rows(view, len(axes), share), view.shape[view.ndim - len(axes) :], input.dtype),
    )


def _reduced(input: Array, axes: tuple[int, ...], function: Callable[[Rows], Wide]) -> Result:
    order, view = grouped(input, axes)
    return Result(order, lambda share=ALL: ((index, function(group)) for index, group in rows(view, len(axes), share)))


def _marked(
    groups: Iterator[tuple[Index, Rows]], inner: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[tuple[Index, Wide]]:
    for index, group in groups:
        found = _index_of(group, np.fmax)
        where, unspecified = found.value[:, None], np.asarray(found.unspecified)
        start = 0
        for part in tiles(inner, BLOCK):
            length = np.broadcast_to(0, inner)[part].size
            value = (np.arange(start, start + length) == where).astype(dtype)
            yield (*index, *part), Wide(value, unspecified=np.repeat(unspecified, length))
            start += length


# ---- indices


def _index_of(group: Rows, extreme: np.ufunc, *, last: bool = False) -> Wide:
    """Return where in each row its extreme element is, ignoring NaN; 0 in a row of nothing but NaN."""
    best: Any = None
    index: Any = None
    unspecified: Array | None = None
    for start, chunk in group.chunks():
        block, nan = _quiet(chunk.astype(np.float32) if chunk.dtype == np.float16 else chunk)
        top = extreme.reduce(block, axis=1)
        hit = block == top[:, None]
        at = start + (block.shape[1] - 1 - hit[:, ::-1].argmax(axis=1) if last else hit.argmax(axis=1))
        if best is None:
            best, index, unspecified = top, at, nan
            continue
        better = extreme(best, top) != best
        if last:
            better |= top == best
        if unspecified is not None and nan is not None:
            better |= np.isnan(best) & ~np.isnan(top)
            unspecified = unspecified | nan
        best, index = np.where(better, top, best), np.where(better, at, index)
    if unspecified is not None:
        index = np.where(np.isnan(best), 0, index)
    return Wide(index, unspecified=unspecified)


def _quiet(block: Array) -> tuple[Array, Array | None]:
    """Return rows with every NaN a quiet one, which is what np.fmax and np.fmin ignore, and which rows hold any."""
    if block.dtype.kind != "f":
        return block, None
    nan: Array = np.asarray(np.isnan(block).any(axis=1))
    return (block * block.dtype.type(1) if nan.any() else block), nan


# ---- functions of REDUCE


def _arg(extreme: np.ufunc) -> Callable[[Rows], Wide]:
    return lambda group: _index_of(group, extreme)


def _extreme(extreme: np.ufunc) -> Callable[[Rows], Wide]:
    """Return the largest or smallest of x1..xn, ignoring NaN."""

    def function(group: Rows) -> Wide:
        best: Any = None
        unspecified: Any = None
        for _, chunk in group.chunks():
            block, nan = _quiet(chunk)
            top = extreme.reduce(block, axis=1)
            best = top if best is None else extreme(best, top)
            if nan is not None:
                unspecified = nan if unspecified is None else unspecified | nan
        return Wide(best, unspecified=unspecified)

    return function


def _sum(term: Term, *, average: bool = False) -> Callable[[Rows], Wide]:
    """Return term(x1) + ... + term(xn), divided by n for AVERAGE."""

    def function(group: Rows) -> Wide:
        if _is_integer(group):
            return Wide(wrap_sum(group, term))
        divisor = group.length if average else 1
        total = add_up(group, term)
        error = _sum_error(group, term)
        return Wide(
            total / divisor,
            error=(error + 2 * U * np.abs(_finite(total))) / divisor if average and error is not None else error,
            exact=lambda indices: exact_mean(group, term, divisor, indices),
            magnitude=lambda: _magnitude(group, term, total) / divisor,
            terms=group.length,
        )

    return function


def _l2(group: Rows) -> Wide:
    """Return sqrt(x1^2 + ... + xn^2)."""
    total = add_up(group, square)
    value = np.sqrt(total)
    error = _sum_error(group, square)
    if error is not None:
        error = np.where(total > 0, error / (2 * value) + 2 * U * _finite(value), 0.0)
    return Wide(
        value,
        error,
        exactly(group, lambda row: exact_sqrt(exact_sum([x * x for x in row]))),
        magnitude=lambda: value / 2,
        terms=group.length,
    )


def _log_sum(group: Rows) -> Wide:
    """Return log(x1 + ... + xn)."""
    total = add_up(group, identity)
    value = np.log(total)
    error = _sum_error(group, identity)
    if error is not None:
        # A sum that its error may take to 0 or below says nothing of the logarithm; only the exact sum does.
        certain = error <= np.abs(total) / 4
        error = np.where(certain, 2 * error / np.abs(_finite(total)) + 4 * U * np.abs(_finite(value)), np.inf)
        error = np.where(np.isnan(total) | (certain & ~np.isfinite(value)), 0.0, error)
    return Wide(
        value,
        error,
        exactly(group, lambda row: exact_log(exact_sum(row))),
        magnitude=lambda: _magnitude(group, identity, total) / np.abs(total),
        terms=group.length,
    )


def _log_sum_exp(group: Rows) -> Wide:
    """Return log(exp(x1) + ... + exp(xn)), with the largest element taken out so that nothing overflows."""
    top = _fold(np.maximum, (chunk.max(axis=1).astype(np.float64) for _, chunk in group.chunks()))
    total = _shifted(group, top, lambda _, power: power)
    value = np.where(np.isfinite(top), top + np.log(total), top)
    error = None
    if group.length <= MAX_EXACT_TERMS:
        # Each power is off by its own rounding and by that of its exponent, at most 0.4 U; total is at least 1.
        depth = group.length.bit_length() + 5
        error = U * (depth + 0.4 * group.length / total + 2 * np.log(total) + np.abs(value))
        error = np.where(np.isfinite(top), error, 0.0)

    def magnitude() -> Array:
        return _shifted(group, top, lambda x, power: np.where(power > 0, (1 + np.abs(x)) * power, 0.0)) / total

    return Wide(value, error, exactly(group, exact_log_sum_exp), magnitude, group.length)


def _multiply(group: Rows) -> Wide:
    """Return x1 * ... * xn."""
    if _is_integer(group):
        return Wide(wrap_product(group))
    value = multiply_up(group)
    error = group.length * U * np.abs(_finite(value)) if group.length <= MAX_EXACT_TERMS else None
    return Wide(
        value,
        error,
        exactly(group, exact_product),
        magnitude=lambda: np.abs(value),
        terms=group.length,
    )


def _sum_error(group: Rows, term: Term) -> Array | None:
    """Bound the error of a sum, None for sums of more terms than are rounded correctly."""
    return sum_error(group, term) if group.length <= MAX_EXACT_TERMS else None


def _magnitude(group: Rows, term: Term, total: Array) -> Array:
    """Return |term(x1)| + ... + |term(xn)|."""
    return add_up(group, np.abs) if term is identity else total


def _finite(value: Array) -> Array:
    return np.where(np.isfinite(value), value, 0.0)


def _is_integer(group: Rows) -> bool:
    return next(iter(group.chunks()))[1].dtype.kind in "iu"


def _fold(function: np.ufunc, parts: Iterator[Array]) -> Array:
    total = next(parts)
    for part in parts:
        total = function(total, part)
    return total


def _shifted(group: Rows, top: Array, term: Callable[[Array, Array], Array]) -> Array:
    """Add up term(x, exp(x - top)) over each row."""
    finite = np.where(np.isfinite(top), top, 0.0)[:, None]
    sums = []
    for _, chunk in group.chunks():
        x = chunk.astype(np.float64)
        sums.append(tree_sum(term(x, np.exp(x - finite))).copy())
    return tree_sum(np.stack(sums, axis=1))


FUNCTIONS: dict[str, Callable[[Rows], Wide]] = {
    "ARGMAX": _arg(np.fmax),
    "ARGMIN": _arg(np.fmin),
    "AVERAGE": _sum(identity, average=True),
    "L1": _sum(np.abs),
    "L2": _l2,
    "LOG_SUM": _log_sum,
    "LOG_SUM_EXP": _log_sum_exp,
    "MAX": _extreme(np.fmax),
    "MIN": _extreme(np.fmin),
    "MULTIPLY": _multiply,
    "SUM": _sum(identity),
    "SUM_SQUARE": _sum(square),
}

KERNELS = {
    "REDUCE": reduce,
    "ARGMAX": argmax,
    "ARGMIN": argmin,
    "ACTIVATION_HARDMAX": hardmax,
    "ACTIVATION_HARDMAX1": hardmax1,
}
