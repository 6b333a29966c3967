"""Tiles of results of which each is a sum of products, of a row of one tensor and a column of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from dmlcheck.reference.places import Index
from dmlcheck.reference.rows import Products
from dmlcheck.reference.tiling.blocks import Blocks
from dmlcheck.reference.tiling.piece import Piece, Sizes
from dmlcheck.reference.tiling.request import Request

LARGEST = 1 << 20  # elements of a part of a factor or of the product: 8 megabytes of float64
LONG = 1 << 10  # columns of a factor and rows of the other: more of them come in blocks


def of_products(declared: Products, request: Request) -> Iterator[Piece]:
    """Yield tiles of the products of the tensors `a` and `b`; all others are broadcast to the sizes of these."""
    given = request.given
    tensors = {name: as_it_lies(x, declared, name, given) for name, x in request.tensors.items()}
    sizes = None if declared.sizes is None else declared.sizes(given)
    return products(request.formula, tensors, whole=declared.whole(given), sizes=sizes)


def as_it_lies(x: Any, declared: Products, name: str, given: Mapping[str, Any]) -> Any:
    """Return a tensor as the row has it beside the products."""
    return declared.views[name](x, given) if x is not None and name in declared.views else x


def products(
    formula: Callable[..., Any],
    tensors: Mapping[str, Any],
    whole: Sequence[int] = (),
    sizes: Callable[..., Sizes] | None = None,
) -> Iterator[Piece]:
    """Yield the tiles of an operator that computes something of the matrix products of the tensors `a` and `b`.

    Both have {..., M, K} and {..., K, N} elements, and the same sizes before. The formula takes parts of them, whose
    product is `dot`, and the same parts of the others: tensors that are broadcast to the sizes of the result, or None.
    The result is whole along the axes `whole`. `sizes` is that of the tiles.
    """
    a, b = tensors["a"], tensors["b"]
    length = a.shape[-1]

    def piece(index: Index) -> Piece:
        *batch, rows, columns = index
        factors = {"a": a[(*batch, rows)], "b": b[(*batch, slice(None), columns)]}
        if length > LONG:
            step = max(1, LARGEST * length // max(part.size for part in factors.values()))
            factors = {name: _in_blocks(part, step, _LONG_AXES[name]) for name, part in factors.items()}
        operands = tuple(factors[name] if name in factors else _within(index, x) for name, x in tensors.items())
        return Piece(index, formula, operands, sizes=sizes, of_element=None if whole else of_element)

    def of_element(place: tuple[int, ...]) -> Piece:
        return piece(tuple(slice(at, at + 1) for at in place))

    return map(piece, boxes((*a.shape[:-1], b.shape[-1]), min(length, LONG), whole))


_LONG_AXES = {"a": -1, "b": -2}


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


def _within(index: Index, x: Any) -> Any:
    """Return the part of a broadcast tensor that is needed for a part of the result."""
    if x is None:
        return None
    return x[tuple(slice(None) if size == 1 else at for at, size in zip(index, x.shape, strict=True))]
