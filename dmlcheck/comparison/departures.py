"""Results as DirectML computes them where it departs from the formula: what its known deviations give."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dmlcheck.descs.strides import packed_strides
from dmlcheck.reference.arrays.data_types import beginning
from dmlcheck.reference.arrays.places import with_ones_after
from dmlcheck.reference.ball.numbers import Array
from dmlcheck.reference.functions.interpolation import clamped, neighbours
from dmlcheck.reference.kernels.indexing import last_dimensions, within_all
from dmlcheck.reference.kernels.regions.samples import (
    Sampling,
    bounded,
    places_of_samples,
    readings,
    rounding_of,
    sample_counts,
)
from dmlcheck.reference.results import PartlyUndefined, separated

# ---- resampling

BLOCK, BLOCKS = 8, (8, 4, 1)  # elements of a block along the last axes, and along the axis before those

AlongAxis = Callable[[Array, int, Array, Any, bool, int], Array]


def low_as_signed(x: Any) -> Any:
    """Return 64-bit integers in whose order the lower halves of these count as signed numbers."""
    return np.bitwise_xor(x, 2**31)


def lower(x: Array, like: Array, scales: Any, input_offsets: Any, output_offsets: Any) -> Array:
    """Return the elements at floor(x), in the sizes of another array."""
    fields = scales, input_offsets, output_offsets
    return _resampled(_lower, x, like, fields, range(x.ndim), _stay(like, *fields), [1] * x.ndim)


def extended(
    x: Array,
    like: Array,
    scales: Any,
    input_offsets: Any,
    output_offsets: Any,
    strides: Any = None,
    staying: Any = None,
) -> Array:
    """Return the places on lines through two elements, in the sizes of another array with strides.

    The axes of size 1 come first, then the others as they lie in memory, the last of which changes fastest. Along some
    axes the elements are `staying`: by default where the scale is 1 and the offsets cancel, but if all axes are so, the
    first is not.
    """
    fields, steps = (scales, input_offsets, output_offsets), packed_strides(like.shape) if strides is None else strides
    lines = sorted(range(x.ndim), key=lambda axis: -steps[axis])
    order = sorted(lines, key=lambda axis: like.shape[axis] > 1)
    stay = _stay(like, *fields) if staying is None else np.array(staying)
    if staying is None and stay.all():
        stay[order[0]] = False
    return _resampled(_extended, x.astype(np.float32), like, fields, order, stay, _blocks(like.shape, lines))


def _stay(like: Array, scales: Any, input_offsets: Any, output_offsets: Any) -> Array:
    stays = (np.asarray(scales) == 1) & (np.float32(input_offsets) + np.float32(output_offsets) == 0)
    return np.broadcast_to(stays, like.ndim).copy()


def _blocks(sizes: Sequence[int], lines: Sequence[int]) -> list[int]:
    """Return the elements of a block along each axis; `lines` are the axes as they lie in memory.

    The neighbours of a place are the elements that an InputPixelOffset limited to [0, 1] gives. Along one axis that is
    so only for the first element of each block: the others are on the line through the neighbours of its place. It is
    the last axis of one block, or of two or more, after which the sizes make up a BLOCK, or else the first one.
    """
    blocks = [next(own for own in BLOCKS if size == own or size >= 2 * own) for size in sizes]
    after = (math.prod(sizes[other] for other in lines[place + 1 :]) for place in range(len(lines)))
    wide = [axis for axis, behind in zip(lines, after, strict=True) if blocks[axis] > 1 and behind >= BLOCK]
    return [own if axis == (wide or lines[:1])[-1] else 1 for axis, own in enumerate(blocks)]


def _resampled(
    along: AlongAxis, x: Array, like: Array, fields: Any, order: Sequence[int], stay: Array, blocks: Sequence[int]
) -> Array:
    """Return an array resampled along one axis after the other; offsets are numbers, or one for each axis."""
    each = [np.broadcast_to(np.asarray(own, np.float32), x.ndim) for own in fields]
    for axis in order:
        scale, before, after = (own[axis] for own in each)
        scaled = (np.arange(like.shape[axis], dtype=np.float32) - after) / scale
        x = along(x, axis, scaled, before, bool(stay[axis]), blocks[axis])
    return x


def _lower(x: Array, axis: int, scaled: Array, offset: Any, is_still: bool, _: int) -> Array:  # noqa: FBT001
    at = np.arange(scaled.size) if is_still else np.floor(scaled - offset)
    return np.take(x, clamped(at, x.shape[axis]), axis)


def _extended(x: Array, axis: int, scaled: Array, offset: Any, is_still: bool, block: int) -> Array:  # noqa: FBT001
    is_first = np.arange(scaled.size) % block == 0
    at = np.floor(scaled - np.where(is_first, np.clip(offset, 0, 1), offset))
    low, high = (np.take(x, clamped(index, x.shape[axis]), axis) for index in (at, at + 1))
    part = with_ones_after(scaled - offset - at, x.ndim - axis - 1)
    found: Array = low if is_still else low + (high - low) * part
    return found


# ---- regions


def cropped(x: Array, regions: Array, images: Array, like: Array, outside: Any, *fields: Any) -> Array:
    """Return the crops of regions in FLOAT32, with averages as low + (high - low) * part along height, then width.

    The sum of samples begins with 0, the largest sample with the least number; NaN is left out of it. The fields are
    those of `Sampling`, in order.
    """
    sampling, each = Sampling(*fields), zip(images.reshape(-1).tolist(), regions.reshape(-1, 4), strict=True)
    return np.stack([_crop(x[number], corners, like, sampling, outside) for number, corners in each])


def _crop(image: Array, corners: Array, like: Array, sampling: Sampling, outside: Any) -> Array:
    sizes, plane = like.shape[2:], image.shape[1:]
    (own,) = sample_counts(corners[None], sizes, sampling)
    if own is None:
        return np.full((len(image), *sizes), np.nan)
    at = places_of_samples(corners, [range(size) for size in sizes], sizes, own.counts, sampling)
    samples = image.astype(np.float32)
    for axis, x in ((1, at[0]), (2, at[1])):
        samples = _sampled_along(samples, axis, x.astype(np.float32), rounding_of(sampling))
    inside = bounded(PartlyUndefined(samples, where=False), at, plane, readings(at, plane, sampling)[0], outside)
    (rows, columns), numbers = own.counts, separated(inside)[0].astype(np.float32)
    each = numbers.reshape(len(image), sizes[0], rows, sizes[1], columns).swapaxes(2, 3)
    every = each.reshape(len(image), *sizes, rows * columns)
    if sampling.reduction_function == "MAX":
        return np.asarray(np.fmax.reduce(every, axis=-1, initial=beginning(like.dtype.name.upper())))
    found: Array = np.cumsum(every, axis=-1)[..., -1] / np.float32(rows * columns)
    return found


def _sampled_along(x: Array, axis: int, places: Array, rounding: Any) -> Array:
    if rounding is not None:
        return np.take(x, clamped(rounding(places), x.shape[axis]), axis)
    near = neighbours(places, x.shape[axis])[0]
    low, high = (np.take(x, index, axis) for index in (near.low, near.high))
    found: Array = low + (high - low) * with_ones_after(near.part, 2 - axis)
    return found


# ---- scattering


def scattered(x: Array, indices: Array, updates: Array, axis: int) -> Array:
    """Return a tensor with updates along an axis; an index outside it is counted on into the other lines."""
    grid = np.ogrid[tuple(map(slice, indices.shape))]
    return _replaced(x, (*grid[:axis], indices, *grid[axis + 1 :]), updates)


def scattered_nd(x: Array, indices: Array, updates: Array, x_count: int, indices_count: int) -> Array:
    """Return a tensor with updates at tuples of indices; those outside are counted on, all dimensions together."""
    tuples = last_dimensions(indices, indices_count)
    slices = np.ogrid[tuple(map(slice, x.shape[x.ndim - x_count + tuples.shape[-1] :]))]
    at = [with_ones_after(one, len(slices)) for one in np.moveaxis(tuples, -1, 0)]
    return _replaced(x, (*[0] * (x.ndim - x_count), *at, *slices), updates)


def _replaced(x: Array, indices: Sequence[Any], updates: Array) -> Array:
    """Return a tensor with updates at indices of all its dimensions, where their place is inside it."""
    place, is_inside = within_all(indices, x.shape)
    found = x.copy()
    found.flat[place[is_inside]] = updates.reshape(place.shape)[is_inside]
    return found


# ---- attention


def opened(mask: Array) -> Array:
    """Return a mask of lengths, or of ends and starts, that hides nothing in a batch where it would leave no key."""
    ends, starts = _ends_and_starts(mask)
    is_empty = ends <= starts
    widest = [np.iinfo(np.int32).max, 0][: mask.shape[-2]]
    return np.where(is_empty, np.reshape(widest, (-1, 1)), mask)


def of_visible(position: Array, mask: Array) -> Array:
    """Return biases of positions, 0 for the keys that a mask of lengths, or of ends and starts, hides."""
    ends, starts = (each.reshape(-1, 1, 1, 1) for each in _ends_and_starts(opened(mask)))
    keys = np.arange(position.shape[-1])
    return np.where((keys >= ends) | (keys < starts), np.zeros((), position.dtype), position)


def _ends_and_starts(mask: Array) -> tuple[Array, Array]:
    """Return the rows of a mask: ends, and starts, which are 0 where it has lengths."""
    ends = mask[..., :1, :]
    return ends, mask[..., 1:, :] if mask.shape[-2] > 1 else np.zeros_like(ends)
