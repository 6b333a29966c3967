"""The difference between the outputs of two implementations, and the difference that their tolerances allow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.comparison.compare import Differing
from dmlcheck.comparison.records import LARGEST
from dmlcheck.descs.records import TensorDesc
from dmlcheck.values.number_formats import FORMATS, ulp

Array = NDArray[Any]


class OutputDifference(NamedTuple):
    """The difference between two results of one output.

    `differing` counts the elements that differ, `beyond` how many of these the tolerances do not explain. `ulp` is
    the largest difference, in units for integers: of the elements that are beyond, if there are any. `place`, `first`
    and `second` are where it is, and the two values; None without a difference.
    """

    data_type: str
    elements: int
    differing: int = 0
    beyond: int = 0
    ulp: int | float = 0
    place: tuple[int, ...] | None = None
    first: int | float | None = None
    second: int | float | None = None


def difference(
    tensor: TensorDesc, first: Array, second: Array, ignored: Array | None, allowed: Array | None
) -> OutputDifference:
    """Return the difference between two results of an output, which have its shape and its type.

    `ignored` marks the undefined elements. `allowed` is how far each result may be from the
    right one for the difference to be explained; None if all differences are.
    """
    none = OutputDifference(tensor.data_type, tensor.element_count)
    is_float = tensor.data_type in FORMATS
    at = np.flatnonzero(Differing(first, second, ignored, is_float=is_float)[()])
    if not at.size:
        return none
    one, other = first.reshape(-1)[at], second.reshape(-1)[at]
    with np.errstate(all="ignore"):
        gaps = _gaps(one, other)
        is_beyond = np.zeros(at.size, bool) if allowed is None else ~(gaps <= 2 * allowed.reshape(-1)[at])
        units = _in_ulp(gaps, one, other, tensor.data_type) if is_float else gaps
    asked = np.flatnonzero(is_beyond) if is_beyond.any() else np.arange(at.size)
    most = asked[np.argmax(units[asked])]
    return none._replace(
        differing=int(at.size),
        beyond=int(is_beyond.sum()),
        ulp=min(units[most].item(), LARGEST),
        place=tuple(int(index) for index in np.unravel_index(at[most], first.shape)),
        first=one[most].item(),
        second=other[most].item(),
    )


def _gaps(one: Array, other: Array) -> Array:
    """Return how far elements are from each other: exactly for integers, infinity where one is not finite."""
    if one.dtype.kind != "f":
        gaps: Array = np.maximum(one, other).astype(np.uint64) - np.minimum(one, other).astype(np.uint64)
        return gaps
    one, other = one.astype(np.float64), other.astype(np.float64)
    return np.where(np.isfinite(one) & np.isfinite(other), np.abs(one - other), np.inf)


def _in_ulp(gaps: Array, one: Array, other: Array, data_type: str) -> Array:
    larger = np.fmax(np.abs(one.astype(np.float64)), np.abs(other.astype(np.float64)))
    units: Array = gaps / ulp(larger, data_type)
    return np.where(np.isfinite(gaps), units, np.inf)
