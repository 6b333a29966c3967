"""The tiles of an operator's results, as its kernel's row declares them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.ball.numbers import Arithmetic
from dmlcheck.reference.bindings import Inputs, fields_of, given_to, row
from dmlcheck.reference.rows import Cut, Elements, Groups, Products, Windows
from dmlcheck.reference.tiling.cut import of_cut
from dmlcheck.reference.tiling.elements import of_elements
from dmlcheck.reference.tiling.groups import of_groups
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.reference.tiling.products import of_products
from dmlcheck.reference.tiling.request import Request
from dmlcheck.reference.tiling.windows import of_windows


def pieces(desc: OperatorDesc, inputs: Inputs, arithmetic: Arithmetic | None = None) -> Iterator[Piece]:
    """Return the tiles of an operator's results; with an arithmetic its attributes are balls of it."""
    first = inputs.get(desc.spec.inputs[0].name) if desc.spec.inputs else None
    first = first[0] if isinstance(first, list) else first
    is_integer = isinstance(first, np.ndarray) and first.dtype.kind in "iu"
    bound = row(desc.spec.operator, is_integer=is_integer)
    given = given_to(bound, desc, inputs, arithmetic)
    tiles = bound.kernel.tiles
    if tiles is None:
        return iter(bound.function(**given))
    tensors = {to: given.pop(to) for to, _ in bound.tensors}
    formula = partial(bound.function, **given) if given else bound.function
    given = fields_of(desc) | given | tensors
    if not isinstance(tiles, (Cut, Elements, Groups, Products, Windows)):
        tiles = tiles(given)
    is_exact = bound.kernel.rounds_nothing(given)
    request = Request(desc, bound, formula, tensors, given, is_exact, is_integer, arithmetic)
    return _TILINGS[type(tiles)](tiles, request)


_TILINGS: Mapping[type, Callable[..., Iterator[Piece]]] = {
    Cut: of_cut,
    Elements: lambda _, request: of_elements(request),
    Groups: of_groups,
    Products: of_products,
    Windows: of_windows,
}
