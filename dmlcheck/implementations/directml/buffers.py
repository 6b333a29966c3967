"""Tensors as DirectML's buffers: the bytes of inputs in the order of their bindings, and arrays of outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values.layouts import Array, laid_out, viewed
from dmlcheck.values.number_formats import NUMPY_TYPES

_FOUR_BITS = 4


def input_bytes(desc: OperatorDesc, inputs: dict[str, Any]) -> list[tuple[bytes, bool] | None]:
    """Return for each input binding its bytes and whether DirectML owns it, None for one that is left out."""
    bound: list[tuple[bytes, bool] | None] = []
    for field in desc.spec.inputs:
        parts = desc.parts[field.name]
        given = inputs.get(field.name)
        arrays = given if isinstance(given, list) else [given]
        pairs = zip(parts, arrays, strict=False)
        bound += [(_bytes(part.tensor, array), part.tensor.flags == "OWNED_BY_DML") for part, array in pairs] or [None]
    return bound


def _bytes(tensor: TensorDesc, values: Array) -> bytes:
    elements = laid_out(tensor, values)
    if DATA_TYPES[tensor.data_type].bits == _FOUR_BITS:
        elements = _packed(elements.view(np.uint8))
    data = elements.tobytes()
    return data + bytes(max(tensor.implied_bytes, tensor.total_size or 0) - len(data))


def _packed(elements: Array) -> Array:
    """Return two 4-bit elements a byte, the first in its low half."""
    padded = np.zeros(-(-elements.size // 2) * 2, np.uint8)
    padded[: elements.size] = elements & 0xF
    packed: Array = padded[::2] | padded[1::2] << 4
    return packed


def output_of(tensor: TensorDesc, data: bytes) -> Array:
    """Return the array of an output, in the shape of its sizes, from the bytes of its buffer."""
    if DATA_TYPES[tensor.data_type].bits == _FOUR_BITS:
        elements = _unpacked(np.frombuffer(data, np.uint8), tensor.data_type)
    else:
        dtype = NUMPY_TYPES[tensor.data_type]
        elements = np.frombuffer(data, dtype, len(data) // dtype.itemsize)
    return viewed(tensor, elements).copy()


def _unpacked(data: Array, data_type: str) -> Array:
    halves = np.stack([data & 0xF, data >> 4], axis=1).ravel()
    if DATA_TYPES[data_type].kind == "uint":
        return halves
    signed: Array = (halves ^ 8).astype(np.int8) - np.int8(8)
    return signed
