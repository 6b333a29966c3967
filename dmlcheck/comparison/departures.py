"""Results as DirectML computes them where it departs from the formula: what its known deviations give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.places import with_ones_after
from dmlcheck.reference.ball.numbers import Array
from dmlcheck.reference.functions.interpolation import clamped
from dmlcheck.reference.kernels.indexing import within_all

# ---- resampling

AlongAxis = Callable[[Array, int, Array, Any, bool], Array]


def lower(x: Array, like: Array, scales: Any, input_offsets: Any, output_offsets: Any) -> Array:
    """Return the elements at floor(x), in the sizes of another array."""
    return _resampled(_lower, x, like, scales, input_offsets, output_offsets)


def extended(x: Array, like: Array, scales: Any, input_offsets: Any, output_offsets: Any) -> Array:
    """Return the places on lines through two elements, in the sizes of another array.

    The elements are the neighbours of the place that an InputPixelOffset limited to [0, 1] gives.
    """
    return _resampled(_extended, x.astype(np.float32), like, scales, input_offsets, output_offsets)


def _resampled(along: AlongAxis, x: Array, like: Array, scales: Any, input_offsets: Any, output_offsets: Any) -> Array:
    """Return an array resampled along one axis after the other; offsets are numbers, or one for each axis."""
    each = (np.broadcast_to(np.asarray(own, np.float32), x.ndim) for own in (scales, input_offsets, output_offsets))
    for axis, (size, scale, before, after) in enumerate(zip(like.shape, *each, strict=True)):
        is_still = bool(scale == 1 and before + after == 0)
        x = along(x, axis, (np.arange(size, dtype=np.float32) - after) / scale, before, is_still)
    return x


def _lower(x: Array, axis: int, scaled: Array, offset: Any, is_still: bool) -> Array:  # noqa: FBT001
    at = np.arange(scaled.size) if is_still else np.floor(scaled - offset)
    return np.take(x, clamped(at, x.shape[axis]), axis)


def _extended(x: Array, axis: int, scaled: Array, offset: Any, is_still: bool) -> Array:  # noqa: FBT001
    at = np.floor(scaled - np.clip(offset, 0, 1))
    low, high = (np.take(x, clamped(index, x.shape[axis]), axis) for index in (at, at + 1))
    part = with_ones_after(scaled - offset - at, x.ndim - axis - 1)
    found: Array = low if is_still else low + (high - low) * part
    return found


# ---- scattering


def scattered(x: Array, indices: Array, updates: Array, axis: int) -> Array:
    """Return a tensor with updates along an axis; an index outside it is counted on into the other lines."""
    grid = np.ogrid[tuple(map(slice, indices.shape))]
    place, is_inside = within_all((*grid[:axis], indices, *grid[axis + 1 :]), x.shape)
    found = x.copy()
    found.flat[place[is_inside]] = updates[is_inside]
    return found
