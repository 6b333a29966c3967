"""Tensors between steps, as DirectML has them: flat bytes, which each step reads with its own sizes and strides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmlcheck.descs.records import TensorDesc
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values.layouts import laid_out, viewed
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = NDArray[Any]


def byte_count(tensor: TensorDesc) -> int:
    """Return how many bytes a tensor spans, without the padding of its size."""
    return (tensor.extent * DATA_TYPES[tensor.data_type].bits + 7) // 8


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
    data = data[: byte_count(tensor)]
    if DATA_TYPES[tensor.data_type].bits >= 8:
        return viewed(tensor, data.view(dtype))
    halves = np.stack((data & 15, data >> 4), axis=-1).reshape(-1)
    if DATA_TYPES[tensor.data_type].kind == "int":
        halves = (halves ^ 8) - 8
    return viewed(tensor, halves.view(dtype))
