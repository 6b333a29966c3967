"""Large tensors in pieces: what a kernel returns before it is rounded, and the cutting of tensors into blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Index = tuple[Any, ...]
Item = TypeVar("Item")

BLOCK = 1 << 17  # elements: a megabyte of float64, which stays in a core's cache


class Wide(NamedTuple):
    """Results before their one rounding.

    `value` is float64, int64 or uint64, or already of the output's type. Where `error` bounds how far float64 may be
    from the mathematical result, `exact` gives the results at some positions (in row-major order) as float64 rounded
    to odd, which rounds to any shorter format as the mathematical result does.
    `magnitude()` and `terms` are what an accumulation's error bound grows with; `unspecified` marks results that the
    documentation leaves open.
    """

    value: Array
    error: Array | None = None
    exact: Callable[[Array], Array] | None = None
    magnitude: Callable[[], Array] | None = None
    terms: int = 0
    unspecified: Array | None = None


class Share(NamedTuple):
    """One of several threads' part of the work on a tensor: the pieces from `first` on in steps of `step`."""

    first: int = 0
    step: int = 1

    def of(self, pieces: Iterable[Item]) -> Iterator[Item]:
        """Yield the pieces that are in the share."""
        return islice(pieces, self.first, None, self.step)


ALL = Share()


class Result(NamedTuple):
    """One output as a kernel computes it: piece by piece, each piece an index into the output transposed to `axes`.

    `tiles` takes a Share, and computes all pieces if it is left out.
    """

    axes: tuple[int, ...]
    tiles: Callable[..., Iterator[tuple[Index, Wide]]]


def tiles(sizes: tuple[int, ...], limit: int) -> Iterator[Index]:
    """Yield indices that cut a tensor into row-major runs of at most `limit` elements (one element at the least)."""
    inner, axis = 1, len(sizes)
    while axis and inner * sizes[axis - 1] <= limit:
        axis -= 1
        inner *= sizes[axis]
    if axis == 0:
        yield ()
        return
    step = max(1, limit // inner)
    for lead in np.ndindex(*sizes[: axis - 1]):
        for start in range(0, sizes[axis - 1], step):
            yield (*lead, slice(start, start + step))


class Rows(NamedTuple):
    """Groups of elements that are reduced to one each: `chunks` yields them as rows, with where in the row each starts.

    The whole row comes in one chunk when it fits into a block, as every row of up to 65,536 elements does.
    """

    length: int
    chunks: Callable[[], Iterator[tuple[int, Array]]]


def grouped(tensor: Array, axes: tuple[int, ...]) -> tuple[tuple[int, ...], Array]:
    """Return the axis order that puts `axes` last, in the order of the tensor's dimensions, and the tensor in it."""
    order = (*[axis for axis in range(tensor.ndim) if axis not in axes], *sorted(axes))
    return order, tensor.transpose(order)


def rows(view: Array, count: int, share: Share = ALL) -> Iterator[tuple[Index, Rows]]:
    """Yield the groups of elements along the last `count` axes, each with its index in the axes before them.

    A row holds its elements in row-major order.
    """
    outer, inner = view.shape[: view.ndim - count], view.shape[view.ndim - count :]
    length = math.prod(inner)
    if length <= BLOCK:
        for index in share.of(tiles(outer, BLOCK // length)):
            block = view[index].reshape(-1, length)
            yield index, Rows(length, lambda block=block: iter(((0, block),)))  # type: ignore[misc]
    else:
        for index in share.of(np.ndindex(*outer)):
            yield index, Rows(length, lambda row=view[index]: _chunks(row))  # type: ignore[misc]


def _chunks(row: Array) -> Iterator[tuple[int, Array]]:
    start = 0
    for index in tiles(row.shape, BLOCK):
        part = row[index].reshape(1, -1)
        yield start, part
        start += part.shape[1]
