"""Values as DirectML's tensors have them: repeated, in another order, with more dimensions; by strides where it can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.strides import packed_strides
from dmlcheck.diagnostics.wording import dimensions_text
from dmlcheck.onnx.descs.node import Array, Refused, axis_of
from dmlcheck.values.number_formats import NUMPY_TYPES


class Strided(NamedTuple):
    """Values in their logical shape, with the strides of the buffer that they lie in."""

    values: Array
    strides: tuple[int, ...]


def repeated(values: Array | Strided, shape: Sequence[int]) -> Array | Strided:
    """Return values broadcast to a shape, with strides of 0 where they have size 1."""
    shape = tuple(shape) or (1,)
    array, steps = values if isinstance(values, Strided) else (values, packed_strides(values.shape))
    if array.shape == shape:
        return values
    more = len(shape) - array.ndim
    try:
        padded = array.reshape((1,) * more + array.shape)
        full = np.broadcast_to(padded, shape)
    except ValueError:
        raise Refused(f"sizes {list(array.shape)} do not repeat to {list(shape)}") from None
    own = zip(padded.shape, (*(0 for _ in range(more)), *steps), strict=True)
    return Strided(full, tuple(0 if size == 1 else step for size, step in own))


def along(values: Array, axis: int, shape: Sequence[int]) -> Array | Strided:
    """Return a scalar, or a vector along one axis, repeated to a shape."""
    if values.size == 1:
        return repeated(values.reshape(()), shape)
    if values.ndim == 1 and len(shape):
        rank = len(shape)
        place = axis_of(axis, rank)
        return repeated(values.reshape([-1 if i == place else 1 for i in range(rank)]), shape)
    return repeated(values, shape)


def converted(values: Array, dtype: Any) -> Array:
    """Return values in another type; one element that repeats everywhere is converted once."""
    if values.size > 1 and not any(values.strides):
        return np.broadcast_to(values[(0,) * values.ndim].astype(dtype), values.shape)
    return values.astype(dtype)


def ranked(values: Array, rank: int) -> Array:
    """Return values with leading dimensions of size 1 up to a rank."""
    return values.reshape((1,) * (rank - values.ndim) + values.shape)


def sized(values: Array, sizes: Sequence[int]) -> Array:
    """Return values in other sizes."""
    try:
        return values.reshape(tuple(sizes))
    except ValueError:
        raise Refused(f"values of the sizes {list(values.shape)} are not of {list(sizes)}") from None


def permuted(values: Array, order: Sequence[int]) -> Array | Strided:
    """Return values whose axes are in another order, in the buffer that they lie in."""
    if sorted(order) != list(range(values.ndim)):
        raise Refused(f"{list(order)} is no order of {dimensions_text(values.ndim)}")
    if list(order) == sorted(order):
        return values
    packed = packed_strides(values.shape)
    return Strided(values.transpose(order), tuple(packed[axis] for axis in order))


def channels_second(values: Array) -> Strided:
    """Return values whose channels are last with the channels after the first dimension, read through strides."""
    steps = packed_strides(values.shape)
    return Strided(np.moveaxis(values, -1, 1), (steps[0], steps[-1], *steps[1:-1]))


def four_bits(values: Array, data_type: str) -> Array:
    """Return values as bytes that are known to be elements of a 4-bit type."""
    dtype = np.dtype(NUMPY_TYPES[data_type], metadata={_TYPE: data_type})
    return values.astype(dtype.base).view(dtype)


_TYPE = "DirectML's data type"


def empty(sizes: Sequence[int], dtype: Any) -> Array:
    """Return a tensor of which only type and sizes count; it takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), tuple(sizes))


def empty_like(x: Array, sizes: Sequence[int]) -> Array:
    """Return a tensor of another's type, of which only the sizes count."""
    return empty(sizes, x.dtype)


def plain(values: Array) -> Array:
    """Return values without what an array can say of a 4-bit type."""
    return values.view(values.dtype.str)


def type_name(values: Array) -> str:
    """Return the data type of values; truth values are UINT8."""
    marks: Any = values.dtype.metadata
    if marks and _TYPE in marks:
        return str(marks[_TYPE])
    dtype = np.dtype(np.uint8) if values.dtype == bool else values.dtype
    return next(name for name, known in NUMPY_TYPES.items() if known == dtype)


def channels(values: Array, rank: int) -> Array:
    """Return a vector of channels as a tensor of a rank, its dimension 1."""
    return values.reshape((1, -1) + (1,) * (rank - 2))


def unsigned(indices: Array) -> Array:
    """Return indices, none of them negative, as the type that DirectML has for them."""
    return converted(indices, np.uint64)
