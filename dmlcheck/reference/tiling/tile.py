"""A tile: a part of an operator's results, with the formula and the operands that compute it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from dmlcheck.reference.functions.magnitudes import Magnitudes


class Tile(NamedTuple):
    """A part of an operator's results, and the formula that computes it from parts of the inputs.

    `where` is an index into the output. If an operator has several outputs, it is a dict of indices by parameter
    (`output`, `output_indices`, `outputs[0]`), and the formula returns a dict of results by the same names, or yields
    several, each with a part of some outputs. The engine passes the operands as float64, int64, uint64 or balls; if
    `is_exact`, in their own type. An operand may be None.

    For sums of products, `magnitudes` may be a function of the operands in their own type that estimates the sums in
    less time than the formula takes on balls, and `of_element` a function from the place of an element in the output to
    the tile of only this element.
    """

    where: Any
    formula: Callable[..., Any]
    operands: tuple[Any, ...] = ()
    is_exact: bool = False
    magnitudes: Callable[..., Magnitudes] | None = None
    of_element: Callable[[tuple[int, ...]], Tile] | None = None


def parts_of(found: Any) -> Iterable[Any]:
    """Return the results of a formula as parts: the one that it returned, or those that it yields."""
    return found if isinstance(found, Iterator) else (found,)
