"""The order of elements: the positions of the first ones, of which equal elements keep theirs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.arrays.data_types import as_bits, is_float, width
from dmlcheck.reference.arrays.places import with_ones_after


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
