"""Positions of elements in their groups, which may come in blocks, and in order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import Axes, Blocks, blockwise, in_rows
from dmlcheck.reference.arrays.data_types import as_bits, is_float, width
from dmlcheck.reference.arrays.places import Index, with_ones_after
from dmlcheck.reference.results import PartlyUndefined


def grouped(x: Any, count: int, axis: int) -> Any:
    """Return a tensor with an axis of channels split into groups and channels of a group."""
    return x.reshape(*x.shape[:axis], count, x.shape[axis] // count, *x.shape[axis + 1 :])


def split_channels(x: Any, block_size: int, order: str) -> Any:
    """Return a tensor with its channels as three dimensions: row and column of a block, and depth, by `order`."""
    batch, channels, height, width = x.shape
    sizes = [block_size] * 3
    sizes[AXES_OF_BLOCKS[order][2] - 1] = channels // block_size**2
    return x.reshape(batch, *sizes, height, width)


# The axes of row, column and depth.
AXES_OF_BLOCKS = {"DEPTH_COLUMN_ROW": (1, 2, 3), "COLUMN_ROW_DEPTH": (2, 3, 1)}


def comparable(x: Any) -> Any:
    """Return elements in a type that NumPy compares fast: FLOAT16 as FLOAT32."""
    return blockwise(lambda part: part.astype(np.float32) if part.dtype == np.float16 else part, x)


def extreme(x: Any, axes: Axes, with_nan: np.ufunc, without_nan: np.ufunc) -> PartlyUndefined:
    """Return the largest or smallest element of each group; undefined where there is NaN, which it ignores."""
    x = comparable(x)
    found = with_nan.reduce(x, axis=axes, keepdims=True)
    is_nan = np.isnan(found)
    if is_nan.any():
        found = without_nan.reduce(x * 1, axis=axes, keepdims=True)  # the product makes signaling NaN quiet
    return PartlyUndefined(found, is_nan)


def beginnings(x: Any, axes: Axes) -> Any:
    """Return the first element of each group, or None if DirectML compares groups of this size in parts."""
    if math.prod(x.shape[axis] for axis in axes) > ONE_BY_ONE:
        return None
    firsts = tuple(slice(1) if axis in axes else slice(None) for axis in range(x.ndim))
    return (next(x.parts()) if isinstance(x, Blocks) else x)[firsts]


ONE_BY_ONE = 512  # elements of a group: larger ones were seen to be compared in parts


def positions(x: Any, axes: Axes) -> Any:
    """Return the row-major position of each element in its group along `axes`."""

    def numbers(index: Index) -> Any:
        total: Any = np.zeros([1] * x.ndim, np.int64)
        step = 1
        for axis in sorted(axes, reverse=True):
            start, stop, _ = index[axis].indices(x.shape[axis])
            shape = [-1 if other == axis else 1 for other in range(x.ndim)]
            total = total + step * np.arange(start, stop).reshape(shape)
            step *= x.shape[axis]
        return total

    return Blocks(x.shape, x.cuts, numbers) if isinstance(x, Blocks) else numbers((slice(None),) * x.ndim)


def first(hits: Any, axes: Axes, *, last: bool = False) -> Any:
    """Return the position of the first true element of each group, or of the last; 0 without one."""
    if not isinstance(hits, Blocks):
        rows = in_rows(hits, axes)
        at = (rows.shape[1] - 1 - rows[:, ::-1].argmax(axis=1)) * rows.any(axis=1) if last else rows.argmax(axis=1)
        return at.reshape([1 if axis in axes else size for axis, size in enumerate(hits.shape)])
    found: Any = np.zeros((), bool)
    place: Any = 0
    start = 0
    for part in hits.parts():
        here = np.logical_or.reduce(part, axis=axes, keepdims=True)
        place = np.where(here & (last | ~found), start + first(part, axes, last=last), place)
        found, start = found | here, start + part.size // here.size
    return place


# ---- the order of elements


def first_in_order(x: Any, axis: int, k: int, *, is_decreasing: bool, has_order: bool = False) -> Any:
    """Return the positions of the k least or largest elements along an axis, in order; NaN has no place in it.

    If zeros have an order, -0 is less than 0.
    """
    part = (*[slice(None)] * axis, slice(k))
    keys = sorting_keys(x, is_decreasing=is_decreasing, has_order=has_order)
    if keys.dtype.itemsize == 8:
        return np.argsort(keys, axis=axis, kind="stable")[part]
    pairs = np.empty((*keys.shape, 2), "<u4")  # key and position as one number: argsort takes twice the memory
    pairs[..., 1] = keys
    del keys
    pairs[..., 0] = with_ones_after(np.arange(pairs.shape[axis], dtype=np.uint32), pairs.ndim - axis - 2)
    numbers = pairs.view("<u8")[..., 0]
    numbers.sort(axis=axis)
    return (numbers[part] & np.uint64(0xFFFFFFFF)).astype(np.intp)


def sorting_keys(x: Any, *, is_decreasing: bool, has_order: bool) -> Any:
    """Return unsigned integers with the order of the elements, equal for equal elements."""
    if is_float(x):
        zero = x.dtype.type(-0.0 if has_order else 0)  # 0 + -0 is 0
        bits = as_bits(zero - x if is_decreasing else zero + x)
        return np.where(bits & _sign_bit(x), ~bits, bits | _sign_bit(x))
    found = as_bits(x) ^ _sign_bit(x) if x.dtype.kind == "i" else x
    return ~found if is_decreasing else found


def _sign_bit(x: Any) -> Any:
    """Return the unsigned integer with only the sign bit."""
    return as_bits(x).dtype.type(1 << width(x) - 1)
