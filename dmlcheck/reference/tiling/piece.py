"""A tile of an operator's results, with the formula that computes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple


class Piece(NamedTuple):
    """A part of an operator's results, and the formula that computes it from parts of the inputs.

    `where` is an index into the output; where an operator has several, a dict of indices by parameter name (`output`,
    `output_indices`, `outputs[0]`), and the formula returns a dict of results by the same names. The engine passes the
    operands to the formula in the type that they are computed in, unless `is_exact` says that the formula rounds
    nothing: then as they are. An operand may be None. A formula that goes through long sequences yields such dicts, one
    after another, each with a part of some results.
    """

    where: Any
    formula: Callable[..., Any]
    operands: tuple[Any, ...] = ()
    is_exact: bool = False


exact_piece = partial(Piece, is_exact=True)


def parts_of(found: Any) -> Iterable[Any]:
    """Return what a formula gives: the whole of it, or the parts that it yields."""
    return found if isinstance(found, Iterator) else (found,)
