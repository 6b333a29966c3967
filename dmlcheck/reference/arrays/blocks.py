"""Runs of elements, arrays that come in blocks since they are too long for memory, and operands of formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import chain
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.ball import numbers
from dmlcheck.reference.ball.numbers import Arithmetic, Ball, of_array, total_of_parts
from dmlcheck.reference.limits.work import ELEMENTS_OF_BLOCK

BLOCK = ELEMENTS_OF_BLOCK
BLOCK_AS_IS = 8 * BLOCK  # of elements in their own type, which take less memory and little work
COLUMNS = 16  # groups side by side in memory, so that a line of the cache has an element of each

Axes = tuple[int, ...]


def tiles(sizes: tuple[int, ...], limit: int) -> Iterator[Index]:
    """Yield the indices of row-major runs of at most `limit` elements, and at least one, that make up a tensor."""
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


def runs(sizes: tuple[int, ...], limit: int | None = None) -> Iterator[tuple[Index, int, tuple[int, ...]]]:
    """Yield row-major runs of at most `limit` elements, or a block: index, position of the first element, and sizes."""
    start, elements = 0, np.broadcast_to(np.int8(0), sizes)
    for index in tiles(sizes, BLOCK if limit is None else limit):
        part = elements[index]
        yield index, start, part.shape
        start += part.size


def ranges(index: Index, sizes: tuple[int, ...]) -> list[range]:
    """Return the places that an index of slices selects, as a range for each dimension."""
    return [range(size)[at] for at, size in zip(index, sizes, strict=True)]


def tiles_along(axes: Any, sizes: tuple[int, ...], limit: int) -> Iterator[Index]:
    """Yield the indices of parts that are row-major runs along some axes and have all of the others."""
    for tile in tiles(tuple(size if axis in axes else 1 for axis, size in enumerate(sizes)), limit):
        index = [slice(None)] * len(sizes)
        for axis, at in enumerate(tile):
            if axis in axes:
                index[axis] = at if isinstance(at, slice) else slice(at, at + 1)
        yield tuple(index)


class Blocks(np.lib.mixins.NDArrayOperatorsMixin):
    """A lazy array that comes in blocks: operations on its elements run when a block is asked for.

    `cuts` are the indices of the blocks, and `block` computes the elements at one of them. A reduction goes through all
    blocks and returns an array; the blocks are then row-major runs of each group.
    """

    def __init__(self, shape: tuple[int, ...], cuts: list[Index], block: Callable[[Index], Any]) -> None:
        self.shape, self.cuts, self.block = shape, cuts, block

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    def parts(self) -> Iterator[Any]:
        """Yield the blocks."""
        return map(self.block, self.cuts)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce":
            parts = self.parts()
            part = next(parts)
            if ufunc is np.add and isinstance(part, Ball):  # sums of balls depend on all terms
                return total_of_parts(chain([part], parts), **options)
            return reduce(ufunc, (ufunc.reduce(part, **options) for part in chain([part], parts)))
        return blockwise(ufunc, *inputs) if method == "__call__" and not options else NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return blockwise(function, *args, **kwargs) if function in (np.where, np.clip) else NotImplemented


def steps(size: int, step: int) -> Iterator[slice]:
    """Yield the parts of an axis, each of `step` places; the last may have fewer."""
    return (slice(start, min(size, start + step)) for start in range(0, size, step))


def blocks_along(x: Any, axis: int, step: int) -> Blocks:
    """Return an array as Blocks, each of `step` places along an axis, which is counted from the last (-1)."""
    rest = [slice(None)] * (-1 - axis)
    return Blocks(x.shape, [(..., at, *rest) for at in steps(x.shape[axis], step)], x.__getitem__)


def blockwise(function: Callable[..., Any], *operands: Any, **options: Any) -> Any:
    """Return a function of elements for arrays; if there are Blocks among them, Blocks of its results."""
    long = next((x for x in operands if isinstance(x, Blocks)), None)
    if long is None:
        return function(*operands, **options)

    def block(index: Index) -> Any:
        return function(*(x.block(index) if isinstance(x, Blocks) else x for x in operands), **options)

    return Blocks(long.shape, long.cuts, block)


def hull(*ways: Callable[[], Any]) -> Any:
    """Return the hull of the results of several ways to compute something, for Blocks block by block.

    For plain arrays it is the result of the first way, and the others are not computed.
    """
    first, *others = ways[0](), *ways[1:]
    if not isinstance(first, Blocks):
        return numbers.hull(lambda: first, *others)

    def block(index: Index) -> Any:
        return numbers.hull(lambda: first.block(index), *(lambda way=way: way().block(index) for way in others))

    return Blocks(first.shape, first.cuts, block)


def in_rows(x: Any, axes: Axes) -> Any:
    """Return a matrix with a row for each group along `axes`, in row-major order."""
    others = [axis for axis in range(x.ndim) if axis not in axes]
    return x.transpose(*others, *sorted(axes)).reshape(-1, math.prod(x.shape[axis] for axis in axes))


# ---- operands


Numbers = Callable[[Any], Any]


def as_numbers(x: Any, numbers: Numbers | None) -> Any:
    """Return an operand, or each tensor of a list, as float64, int64 or uint64, or as other numbers made of them."""
    if isinstance(x, list):
        return [as_numbers(part, numbers) for part in x]
    wide = widened(x)
    if numbers is None:
        return wide
    return blockwise(numbers, wide) if isinstance(wide, Blocks) else numbers(wide)


def widened(x: Any) -> Any:
    """Return elements as float64, int64 or uint64."""
    if isinstance(x, Blocks):
        return blockwise(widened, x)
    return x.astype(_WIDE[x.dtype.kind], copy=False) if isinstance(x, np.ndarray) else x


_WIDE: dict[str, Any] = {"f": np.float64, "i": np.int64, "u": np.uint64, "b": np.uint64}


def as_balls(x: Any, arithmetic: Arithmetic, *, is_exact: bool = False) -> Any:
    """Return an operand as balls if it has floats; integers as int64 or uint64, and exact operands as they are."""
    if isinstance(x, list):
        return [as_balls(part, arithmetic, is_exact=is_exact) for part in x]
    if isinstance(x, Blocks):
        return blockwise(partial(as_balls, arithmetic=arithmetic, is_exact=is_exact), x)
    if is_exact or not isinstance(x, np.ndarray):
        return x
    return of_array(x, arithmetic) if x.dtype.kind == "f" else widened(x)
