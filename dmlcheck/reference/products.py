"""Matrix products a piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmlcheck.reference.ball.numbers import product_of_parts
from dmlcheck.reference.places import Index
from dmlcheck.reference.tiling.blocks import Blocks
from dmlcheck.reference.tiling.piece import Piece, Sizes

LARGEST = 1 << 20  # elements of a part of a factor or of the product: 8 megabytes of float64
LONG = 1 << 10  # columns of a factor and rows of the other: more of them come in blocks


def products(
    formula: Callable[..., Any],
    a: Any,
    b: Any,
    *more: Any,
    whole: Sequence[int] = (),
    sizes: Callable[..., Sizes] | None = None,
) -> Iterator[Piece]:
    """Yield the pieces of an operator that computes something of the matrix products of `a` and `b`.

    Both have {..., M, K} and {..., K, N} elements, and the same sizes before. The formula takes parts of them, whose
    product is `dot`, and the same parts of `more`: tensors that are broadcast to the sizes of the result, or None. The
    result is whole along the axes `whole`. `sizes` is that of the pieces.
    """
    length = a.shape[-1]

    def piece(index: Index) -> Piece:
        *batch, rows, columns = index
        factors = [a[(*batch, rows)], b[(*batch, slice(None), columns)]]
        if length > LONG:
            step = max(1, LARGEST * length // max(part.size for part in factors))
            factors = [_in_blocks(part, step, axis) for part, axis in zip(factors, (-1, -2), strict=True)]
        others = (x if x is None else x[_within(index, x.shape)] for x in more)
        return Piece(index, formula, (*factors, *others), sizes=sizes, of_element=None if whole else of_element)

    def of_element(place: tuple[int, ...]) -> Piece:
        return piece(tuple(slice(at, at + 1) for at in place))

    return map(piece, boxes((*a.shape[:-1], b.shape[-1]), min(length, LONG), whole))


def dot(a: Any, b: Any) -> Any:
    """Return the matrix products of two parts that `products` yields."""
    return product_of_parts(zip(a.parts(), b.parts(), strict=True)) if isinstance(a, Blocks) else a @ b


def absolute(a: Any, b: Any) -> NDArray[np.float32]:
    """Return the sums of the absolute values of the products of FLOAT32 or FLOAT16 matrices, as FLOAT32."""
    parts = zip(a.parts(), b.parts(), strict=True) if isinstance(a, Blocks) else ((a, b),)
    found: NDArray[np.float32] = reduce(np.add, (_single(x) @ _single(y) for x, y in parts))
    return found


def _single(x: Any) -> NDArray[np.float32]:
    return np.asarray(np.abs(x.astype(np.float32, copy=False)))


def boxes(sizes: tuple[int, ...], length: int, whole: Sequence[int] = ()) -> Iterator[Index]:
    """Yield indices that cut the products of matrices with `length` elements in common into parts that are not large.

    They are whole along the axes `whole`.
    """
    *batch, rows, columns = sizes
    kept = {axis % len(sizes) for axis in whole}
    least = [size if axis in kept else 1 for axis, size in enumerate(sizes)]
    width = max(least[-1], min(columns, LARGEST // length))
    height = max(least[-2], min(rows, LARGEST // max(length, width)))
    room = LARGEST // max(height * width, height * length, length * width) if (height, width) == sizes[-2:] else 0
    steps = [height, width]
    for size, fewest in zip(reversed(batch), reversed(least[:-2]), strict=True):
        steps.insert(0, max(fewest, min(size, room)))
        room = room // size if steps[0] == size else 0
    yield from product(*(map(slice, *_ends(size, step)) for size, step in zip(sizes, steps, strict=True)))


def _ends(size: int, step: int) -> tuple[range, list[int]]:
    """Return the starts and the ends of parts of an axis."""
    starts = range(0, size, step)
    return starts, [min(size, start + step) for start in starts]


def _in_blocks(x: Any, step: int, axis: int) -> Blocks:
    """Return a long factor in blocks of its columns or rows."""
    rest = [slice(None)] * (-1 - axis)
    cuts = [(..., at, *rest) for at in map(slice, *_ends(x.shape[axis], step))]
    return Blocks(x.shape, cuts, x.__getitem__)


def _within(index: Index, shape: tuple[int, ...]) -> Index:
    """Return the part of a broadcast tensor that is needed for a part of the result."""
    return tuple(slice(None) if size == 1 else at for at, size in zip(index, shape, strict=True))
