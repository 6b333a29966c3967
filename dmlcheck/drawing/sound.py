"""Whether indices and lengths among the inputs are within the tensors that they are about."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorDesc

Array = np.ndarray[Any, Any]


def is_sound(desc: OperatorDesc, inputs: Mapping[str, Any]) -> bool:
    """Whether all indices, batch numbers and lengths of the inputs are within the other tensors."""
    return all(
        _is_within(values, limits(desc, part.tensor))
        for part, values in desc.inputs_with(inputs)
        for limits in [LIMITS.get(part.label)]
        if limits is not None
    )


def _is_within(values: Array, limits: tuple[Any, Any]) -> bool:
    """Whether values are between two numbers; if these are arrays, for as many places of the last dimension."""
    low, high = map(np.asarray, limits)
    some = values[..., : low.size] if low.ndim else values
    wide = some.astype(np.float64)
    return bool(np.all((wide >= low) & (wide <= high)))


def _indices(desc: OperatorDesc, tensor: TensorDesc) -> tuple[Any, Any]:
    fields, values = desc.spec.fields, desc.values
    is_beyond_allowed = "ValuesTensor" in fields  # where it is none of the values
    if "IndicesDimensionCount" in fields:
        sizes = _sizes(desc, "InputTensor")
        source = sizes[len(sizes) - values["InputDimensionCount"] :][values.get("BatchDimensionCount") or 0 :]
        counts = np.array(source[: tensor.sizes[-1]])
    elif "Axis" in fields:
        counts = np.array(_sizes(desc, "OutputTensor" if is_beyond_allowed else "InputTensor")[values["Axis"]])
    else:
        return 0, math.prod(_sizes(desc, "OutputTensor")) - 1
    last = counts * math.inf if is_beyond_allowed else counts - 1
    return (-counts if tensor.data_type.startswith("INT") else counts * 0), last


def _batches(desc: OperatorDesc, _: TensorDesc) -> tuple[Any, Any]:
    images = _sizes(desc, "InputTensor") or _sizes(desc, "OutputGradientTensor")
    return 0, images[0] - 1


def _regions(desc: OperatorDesc, tensor: TensorDesc) -> tuple[Any, Any]:
    if "BatchIndicesTensor" in desc.spec.fields:
        return -math.inf, math.inf
    _, last = _batches(desc, tensor)
    return np.array([0.0]), np.array([float(last)])


def _lengths(desc: OperatorDesc, _: TensorDesc) -> tuple[Any, Any]:
    """Return the lengths of sequences; a longer one to reverse is as long as the axis."""
    return 1, math.inf if "Axis" in desc.values else _sizes(desc, "InputTensor")[1]


def _sizes(desc: OperatorDesc, name: str) -> tuple[int, ...]:
    parts = desc.parts.get(name)
    return parts[0].tensor.sizes if parts else ()


LIMITS: dict[str, Callable[[OperatorDesc, TensorDesc], tuple[Any, Any]]] = {
    "BatchIndicesTensor": _batches,
    "IndicesTensor": _indices,
    "ROITensor": _regions,
    "SequenceLengthsTensor": _lengths,
}
