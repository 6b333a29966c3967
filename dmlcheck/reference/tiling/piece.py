"""A tile: a part of an operator's results, with the formula and the operands that compute it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Piece(NamedTuple):
    """A part of an operator's results, and the formula that computes it from parts of the inputs.

    `where` is an index into the output. If an operator has several outputs, it is a dict of indices by parameter
    (`output`, `output_indices`, `outputs[0]`), and the formula returns a dict of results by the same names, or yields
    several, each with a part of some outputs. The engine passes the operands as float64, int64, uint64 or balls; if
    `is_exact`, in their own type. An operand may be None.

    For sums of products, `sizes` may be a function of the operands in their own type that estimates the sums in less
    time than the formula takes on balls, and `of_element` a function from the place of an element in the output to the
    tile of this element alone.
    """

    where: Any
    formula: Callable[..., Any]
    operands: tuple[Any, ...] = ()
    is_exact: bool = False
    sizes: Callable[..., Sizes] | None = None
    of_element: Callable[[tuple[int, ...]], Piece] | None = None


class Sizes(NamedTuple):
    """Estimates of sums of products: the sums of the absolute values of their terms, as FLOAT32.

    Each sum has `products` products. `added` is the largest absolute value that is added to a sum besides, or None.
    """

    sums: NDArray[np.float32]
    products: int
    added: float | None = None

    @property
    def terms(self) -> int:
        """The number of terms of each sum."""
        return self.products + (self.added is not None)


def sizes_of(sums: NDArray[np.float32], products: int, added: Any) -> Sizes:
    """Return estimates from the sums of the products' absolute values, and the array added to them, or None."""
    if added is None:
        return Sizes(sums, products)
    more = np.abs(added.astype(np.float32, copy=False))
    return Sizes(sums + more, products, float(more.max(initial=0)))


def parts_of(found: Any) -> Iterable[Any]:
    """Return the results of a formula as parts: the one that it returned, or those that it yields."""
    return found if isinstance(found, Iterator) else (found,)
