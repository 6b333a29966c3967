"""Tensors as DirectML has them: repeated, in another order, with more dimensions; by strides where it can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlcheck.diagnostics.wording import dimensions_text
from dmlcheck.graphs.tensors import TensorRef, element_of
from dmlcheck.onnx.descs.node import Unmapped, axis_of


def repeated(x: TensorRef, shape: Sequence[int]) -> TensorRef:
    """Return a tensor broadcast to a shape, with strides of 0 if it has size 1."""
    try:
        return x.broadcast_to(tuple(shape) or (1,))
    except ValueError as problem:
        raise Unmapped(str(problem)) from None


def along(x: TensorRef, axis: int, shape: Sequence[int]) -> TensorRef:
    """Return a scalar, or a vector along one axis, repeated to a shape."""
    if x.size == 1:
        return repeated(x.reshape(()), shape)
    if x.ndim == 1 and len(shape):
        return repeated(x.reshape(along_axis(axis, len(shape))), shape)
    return repeated(x, shape)


def along_axis(axis: int, rank: int) -> tuple[int, ...]:
    """Return the sizes of a vector that lies along an axis: -1 there, and 1 in all other dimensions."""
    place = axis_of(axis, rank)
    return tuple(-1 if i == place else 1 for i in range(rank))


def converted(x: TensorRef, dtype: Any) -> TensorRef:
    """Return a tensor in another type: the same bytes where both are whole numbers of one width, else a copy."""
    element, new = element_of(dtype), np.dtype(dtype)
    if element == x.element:
        return x
    is_whole = "f" not in (x.dtype.kind, new.kind)
    return x.bits(element) if is_whole and x.dtype.itemsize == new.itemsize else x.astype(element)


def vector(x: TensorRef) -> TensorRef:
    """Return a scalar as a vector of one element, all else as it is."""
    return x if x.ndim else x.reshape((1,))


def ranked(x: TensorRef, rank: int) -> TensorRef:
    """Return a tensor with leading dimensions of size 1 up to a rank."""
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def sized(x: TensorRef, sizes: Sequence[int]) -> TensorRef:
    """Return a tensor in other sizes."""
    try:
        return x.reshape(tuple(sizes))
    except ValueError:
        raise Unmapped(f"values of the sizes {list(x.shape)} are not of {list(sizes)}") from None


def permuted(x: TensorRef, order: Sequence[int]) -> TensorRef:
    """Return a tensor whose axes are in another order, in the buffer that it lies in."""
    if sorted(order) != list(range(x.ndim)):
        raise Unmapped(f"{list(order)} is no order of {dimensions_text(x.ndim)}")
    return x.transpose(order)


def channels_second(x: TensorRef) -> TensorRef:
    """Return a tensor whose channels are last with the channels after the first dimension, read through strides."""
    return x.transpose((0, x.ndim - 1, *range(1, x.ndim - 1)))


def channels(x: TensorRef, rank: int) -> TensorRef:
    """Return a vector of channels as a tensor of a rank, its dimension 1."""
    return x.reshape((1, -1) + (1,) * (rank - 2))


def unsigned(indices: TensorRef) -> TensorRef:
    """Return indices, none of them negative, as the type that DirectML has for them."""
    return converted(indices, np.uint64)
