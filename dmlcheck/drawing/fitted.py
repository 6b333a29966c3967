"""Values made to fit a desc: cut to the sizes of a simpler one, and equal where strides give elements one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.values.layouts import laid_out, viewed
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = np.ndarray[Any, Any]


def consistent(desc: OperatorDesc, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs as their buffers have them: elements that strides put in one place have the same value."""
    found: dict[str, Any] = {}
    for field in desc.spec.inputs:
        given = inputs.get(field.name)
        if given is not None:
            arrays = given if isinstance(given, list) else [given]
            made = [_as_laid(part.tensor, values) for part, values in zip(desc.parts[field.name], arrays, strict=True)]
            found[field.name] = made if isinstance(given, list) else made[0]
    return found


def _as_laid(tensor: TensorDesc, values: Array) -> Array:
    if tensor.strides is None or (0 not in tensor.strides and not tensor.shares_places):
        return values
    return viewed(tensor, laid_out(tensor, values)).copy()


def fitted(desc: OperatorDesc, inputs: Mapping[str, Any], *, is_from_end: bool = False) -> dict[str, Any]:
    """Return values for the inputs of a desc from a similar desc's: their first elements, or their last."""
    found: dict[str, Any] = {}
    for field in desc.spec.inputs:
        parts = desc.parts[field.name]
        if not parts:
            continue
        is_array = field.type == "TENSOR_DESC_ARRAY"
        given = inputs.get(field.name)
        arrays = given if isinstance(given, list) else [given]
        made = [
            cut(part.tensor, arrays[min(index, len(arrays) - 1)], is_from_end=is_from_end)
            for index, part in enumerate(parts)
        ]
        found[field.name] = made if is_array else made[0]
    return consistent(desc, found)


def cut(tensor: TensorDesc, values: Array | None, *, is_from_end: bool) -> Array:
    """Return values cut to the sizes of a tensor; ones if there are no values."""
    dtype, sizes = NUMPY_TYPES[tensor.data_type], tensor.sizes
    if values is None or not values.size:
        return np.ones(sizes, dtype)
    if len(sizes) == 1 and values.size == sizes[0]:
        return values.reshape(sizes).astype(dtype)
    missing = len(sizes) - values.ndim
    if missing > 0:
        values = values.reshape((1,) * missing + values.shape)
    while values.ndim > len(sizes):
        values = values[-1 if is_from_end else 0]
    for axis, size in enumerate(sizes):
        there = values.shape[axis]
        order = np.arange(size) % there if size > there else np.arange(size) + (there - size) * is_from_end
        values = np.take(values, order, axis=axis)
    return values.astype(dtype)
