"""Places of tensors: a range for each dimension, the index of them, and their row-major positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Index = tuple[Any, ...]
Places = Sequence[range]


def numbers_of(at: range) -> Any:
    """Return some places of a dimension as an array."""
    return np.arange(at.start, at.stop, at.step)


def slices(places: Places) -> Index:
    """Return the index of some places, which are in rising order."""
    return tuple(slice(at.start, at.stop, at.step) for at in places)


def part_at(x: Any, places: Places) -> Any:
    """Return the elements of an optional tensor at some places of its first axes; all of an axis of size 1."""
    if x is None:
        return None
    return x[
        tuple(
            slice(None) if size == 1 else slice(at.start, at.stop)
            for at, size in zip(places, x.shape[: len(places)], strict=True)
        )
    ]


def picked(x: Any, at: Any, axis: int) -> Any:
    """Return the elements at positions along an axis."""
    return np.take(x, at, axis) if x.flags.c_contiguous else x[(*[slice(None)] * axis, at)]  # take copies others first


def whole_along(axis: int, index: Index) -> Index:
    """Return an index with all of an axis."""
    return (*index[:axis], slice(None), *index[axis + 1 :])


def with_ones_after(x: Any, count: int) -> Any:
    """Return an array with `count` dimensions of size 1 after its own."""
    return x[(..., *[None] * count)]


def right_aligned(index: Index, rank: int) -> Index:
    """Return an index of `rank` dimensions: with whole dimensions before its own, or without its first ones."""
    return (slice(None),) * (rank - len(index)) + index[max(0, len(index) - rank) :]


def row_major(places: Places, sizes: Sequence[int], dtype: Any = np.int64) -> Any:
    """Return the row-major positions of the elements at some places that are a run."""
    start, shape = first_number(places, sizes), tuple(map(len, places))
    return np.arange(start, start + math.prod(shape), dtype=dtype).reshape(shape)


def first_number(places: Places, sizes: Sequence[int]) -> int:
    """Return the row-major position of the first element at some places."""
    return int(np.ravel_multi_index([at.start for at in places], tuple(sizes)))


def columns_less_rows(places: Places) -> Any:
    """Return x - y for each element at some places, with column x and row y."""
    rows, columns = (np.arange(at.start, at.stop) for at in places[-2:])
    return np.broadcast_to(columns - rows[:, None], [*map(len, places)])


def numbers_at(places: Places, sizes: Sequence[int]) -> Any:
    """Return the row-major positions of the elements at some places, which may have steps."""
    return np.ravel_multi_index(np.ix_(*places), tuple(sizes))


def last_dimensions(x: Any, count: int) -> Any:
    """Return the part of a tensor at index 0 of all dimensions but the last `count`."""
    return x[(*[0] * (x.ndim - count), ...)]


def within_all(indices: Sequence[Any], sizes: Sequence[int]) -> tuple[Any, Any]:
    """Return the places of indices in row-major order, modulo 2^32 as DirectML counts them, and which are inside."""
    place = np.zeros((), np.int64)
    for index, size in zip(indices, sizes, strict=True):
        at = np.asarray(index).astype(np.int64)
        place = place * size + np.where(at < 0, at + size, at)
    place = place % 2**32
    return place, place < math.prod(sizes)
