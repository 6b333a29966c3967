"""Tensors as they lie in buffers: elements put where the strides of a desc want them, and taken from there; bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.strides import packed_strides
from dmlcheck.diagnostics.wording import counted, size_text
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = NDArray[Any]
_MOST_SPAN = 64 * 2**20  # bytes that a tensor's strides may always span
_MOST_GAPS = 8  # times its elements: the largest span beyond that
_GAP = 0xFF  # a NaN or -1 where no element is: a kernel that reads there does not pass by chance


def laid_out(tensor: TensorDesc, values: Array) -> Array:
    """Return the elements of a tensor's buffer, flat, from its values in the shape of its sizes.

    Between the elements of a strided tensor every byte is 0xFF.
    """
    if tensor.strides is None:
        return np.ascontiguousarray(values).reshape(-1)
    elements = empty_buffer(tensor)
    viewed(tensor, elements)[...] = values
    return elements


def wide_span(desc: OperatorDesc) -> str | None:
    """Return which tensor's strides span far more memory than its elements take, so that no buffer is made for it."""
    for label, _, tensor in desc.tensors():
        span = tensor.extent * NUMPY_TYPES[tensor.data_type].itemsize
        if span > _MOST_SPAN and tensor.extent > _MOST_GAPS * tensor.element_count:
            elements = counted(tensor.element_count, "element")
            return f"the strides of {label} spread {elements} over {size_text(span)}, for which no buffer is made"
    return None


def viewed(tensor: TensorDesc, elements: Array) -> Array:
    """Return the elements of a flat buffer in the shape of a tensor's sizes, to read or to write; they are not copied.

    ValueError if the buffer is shorter than the tensor's extent.
    """
    if elements.size < tensor.extent:
        raise ValueError(f"{elements.size} elements instead of {tensor.extent}")
    strides = tensor.strides or packed_strides(tensor.sizes)
    steps = tuple(stride * elements.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(elements, tensor.sizes, steps)


def empty_buffer(tensor: TensorDesc) -> Array:
    """Return a flat buffer for a tensor, every byte of it 0xFF."""
    dtype = NUMPY_TYPES[tensor.data_type]
    return np.full(tensor.extent * dtype.itemsize, _GAP, dtype=np.uint8).view(dtype)


# ---- bytes, two elements of 4 bits in one


def to_bytes(tensor: TensorDesc, values: Array) -> Array:
    """Return the bytes of a tensor; 0xFF lies between the elements of a strided one."""
    return element_bytes(tensor.data_type, laid_out(tensor, values))


def element_bytes(data_type: str, elements: Array) -> Array:
    """Return the bytes of elements that lie one after the other, two of 4 bits in a byte."""
    if DATA_TYPES[data_type].bits >= 8:
        return elements.view(np.uint8)
    halves = np.zeros(elements.size + elements.size % 2, dtype=np.uint8)
    halves[: elements.size] = elements.view(np.uint8) & 15
    return halves[::2] | halves[1::2] << 4


def from_bytes(tensor: TensorDesc, data: Array) -> Array:
    """Return the elements of a tensor in its bytes, in the shape of its sizes; of two 4-bit ones the low is first."""
    dtype = NUMPY_TYPES[tensor.data_type]
    data = data[: tensor.span_bytes]
    if DATA_TYPES[tensor.data_type].bits >= 8:
        return viewed(tensor, data.view(dtype))
    halves = np.stack((data & 15, data >> 4), axis=-1).reshape(-1)
    if DATA_TYPES[tensor.data_type].kind == "int":
        halves = (halves ^ 8) - 8
    return viewed(tensor, halves.view(dtype))
