"""Tiles of the row `Products`: each result depends on a row of one matrix and a column of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from dmlcheck.reference.arrays.blocks import blocks_along, steps
from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.functions.products import Magnitudes
from dmlcheck.reference.rows import Products
from dmlcheck.reference.tiling.request import Request, Tile

LARGEST = 1 << 20  # elements of a part of a factor or of the product: 8 megabytes of float64
LONG = 1 << 10  # columns of a factor and rows of the other: more of them come in blocks


def of_products(declared: Products, request: Request) -> Iterator[Tile]:
    """Yield tiles of the product of the tensors `a` and `b`; all others are broadcast to its sizes."""
    given = request.given
    tensors = {
        name: declared.views[name](x, given) if x is not None and name in declared.views else x
        for name, x in request.tensors.items()
    }
    magnitudes = None if declared.magnitudes is None else declared.magnitudes(given)
    return products(request.formula, tensors, whole=declared.whole(given), magnitudes=magnitudes)


def products(
    formula: Callable[..., Any],
    tensors: Mapping[str, Any],
    whole: Sequence[int] = (),
    magnitudes: Callable[..., Magnitudes] | None = None,
) -> Iterator[Tile]:
    """Yield tiles of results that depend on the matrix product of the tensors `a` and `b`.

    These have {..., M, K} and {..., K, N} elements, with the same sizes before. The formula gets parts of them, which
    it multiplies by `dot`, and the places of the tile of the others: tensors to broadcast to the result, or None. The
    axes `whole` are not cut. `magnitudes` returns the magnitudes of a tile's sums.
    """
    a, b = tensors["a"], tensors["b"]
    sizes = (*a.shape[:-1], b.shape[-1])
    cut = _Cut(formula, tensors, magnitudes, has_elements=not whole)
    return map(cut.tile, boxes(sizes, min(a.shape[-1], LONG), whole))


class _Cut(NamedTuple):
    """Products of which tiles are cut; functions that refer to each other would keep the tensors for long."""

    formula: Callable[..., Any]
    tensors: Mapping[str, Any]
    magnitudes: Callable[..., Magnitudes] | None
    has_elements: bool

    def tile(self, index: Index) -> Tile:
        """Return the tile at an index of the product."""
        *batch, rows, columns = index
        a, b = self.tensors["a"], self.tensors["b"]
        factors = {"a": a[(*batch, rows)], "b": b[(*batch, slice(None), columns)]}
        length = a.shape[-1]
        if length > LONG:
            step = max(1, LARGEST * length // max(part.size for part in factors.values()))
            factors = {name: blocks_along(part, _LONG_AXES[name], step) for name, part in factors.items()}
        operands = tuple(factors[name] if name in factors else _within(index, x) for name, x in self.tensors.items())
        of_element = self.of_element if self.has_elements else None
        return Tile(index, self.formula, operands, magnitudes=self.magnitudes, of_element=of_element)

    def of_element(self, place: tuple[int, ...]) -> Tile:
        """Return the tile of one element."""
        return self.tile(tuple(slice(at, at + 1) for at in place))


_LONG_AXES = {"a": -1, "b": -2}


def boxes(sizes: tuple[int, ...], length: int, whole: Sequence[int] = ()) -> Iterator[Index]:
    """Yield the indices of tiles of matrix products of these sizes; `length` is the number of products in each sum.

    The factors and the product of a tile have at most LARGEST elements each. The axes `whole` are not cut.
    """
    *batch, rows, columns = sizes
    kept = {axis % len(sizes) for axis in whole}
    least = [size if axis in kept else 1 for axis, size in enumerate(sizes)]
    width = max(least[-1], min(columns, LARGEST // length))
    height = max(least[-2], min(rows, LARGEST // max(length, width)))
    room = LARGEST // max(height * width, height * length, length * width) if (height, width) == sizes[-2:] else 0
    found = [height, width]
    for size, fewest in zip(reversed(batch), reversed(least[:-2]), strict=True):
        found.insert(0, max(fewest, min(size, room)))
        room = room // size if found[0] == size else 0
    yield from product(*map(steps, sizes, found))


def _within(index: Index, x: Any) -> Any:
    """Return the part of a tensor that a tile needs: the same places, and all of an axis of size 1."""
    if x is None:
        return None
    return x[tuple(slice(None) if size == 1 else at for at, size in zip(index, x.shape, strict=True))]
