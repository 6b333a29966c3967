"""A tile of an operator's results, with the formula that computes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Piece(NamedTuple):
    """A part of an operator's results, and the formula that computes it from parts of the inputs.

    `where` is an index into the output; where an operator has several, a dict of indices by parameter name (`output`,
    `output_indices`, `outputs[0]`), and the formula returns a dict of results by the same names. The engine passes the
    operands to the formula in the type that they are computed in, unless `is_exact` says that the formula rounds
    nothing: then as they are. An operand may be None. A formula that goes through long sequences yields such dicts, one
    after another, each with a part of some results.

    Of sums of products, `sizes` may give from the operands as they are what their bounds are at least, in less time
    than a formula on balls, and `of_element` the piece of one element alone, by its place in the output.
    """

    where: Any
    formula: Callable[..., Any]
    operands: tuple[Any, ...] = ()
    is_exact: bool = False
    sizes: Callable[..., Sizes] | None = None
    of_element: Callable[[tuple[int, ...]], Piece] | None = None


class Sizes(NamedTuple):
    """The sums of the sizes of `products` each and of what is added to them, as FLOAT32, and the largest of the latter.

    That is None where nothing is added.
    """

    sums: NDArray[np.float32]
    products: int
    added: float | None = None

    @property
    def terms(self) -> int:
        """How many terms each sum has."""
        return self.products + (self.added is not None)


def sizes_of(sums: NDArray[np.float32], products: int, added: Any) -> Sizes:
    """Return the sizes of sums of so many products, to which numbers are added, or None."""
    if added is None:
        return Sizes(sums, products)
    more = np.abs(added.astype(np.float32, copy=False))
    return Sizes(sums + more, products, float(more.max(initial=0)))


def parts_of(found: Any) -> Iterable[Any]:
    """Return what a formula gives: the whole of it, or the parts that it yields."""
    return found if isinstance(found, Iterator) else (found,)
