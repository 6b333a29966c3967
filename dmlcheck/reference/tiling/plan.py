"""The tiles of an operator's results: its kernel's row declares them, and a module for each kind makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.ball.numbers import Arithmetic
from dmlcheck.reference.bindings import Inputs, attributes_of, fields_of, parameter, row, tensors_of
from dmlcheck.reference.results import PartlyUndefined
from dmlcheck.reference.rows import (
    Correlations,
    Cut,
    EachOutput,
    Elements,
    Groups,
    InWindows,
    Neighbours,
    Products,
    Recurrence,
    SeparateOutputs,
    Undefined,
    Windows,
)
from dmlcheck.reference.tiling.correlations import of_correlations
from dmlcheck.reference.tiling.cut import of_cut, of_each
from dmlcheck.reference.tiling.elements import of_elements
from dmlcheck.reference.tiling.groups import of_groups
from dmlcheck.reference.tiling.in_windows import of_in_windows
from dmlcheck.reference.tiling.neighbours import of_neighbours
from dmlcheck.reference.tiling.products import of_products
from dmlcheck.reference.tiling.recurrence import of_recurrence
from dmlcheck.reference.tiling.request import Request
from dmlcheck.reference.tiling.separate_outputs import of_separate_outputs
from dmlcheck.reference.tiling.tile import Tile
from dmlcheck.reference.tiling.windows import of_windows


def tiles_of(desc: OperatorDesc, inputs: Inputs, arithmetic: Arithmetic | None = None) -> Iterator[Tile]:
    """Yield the tiles of an operator's results; with an arithmetic, FLOAT attributes are balls of it."""
    first = inputs.get(desc.spec.inputs[0].name) if desc.spec.inputs else None
    first = first[0] if isinstance(first, list) else first
    is_integer = isinstance(first, np.ndarray) and first.dtype.kind in "iu"
    bound = row(desc.spec.operator, is_integer=is_integer)
    tensors, attributes = tensors_of(bound, inputs), attributes_of(bound, desc, arithmetic)
    formula = partial(bound.function, **attributes) if attributes else bound.function
    given = fields_of(desc) | {parameter(field.name): inputs.get(field.name) for field in desc.spec.inputs} | attributes
    tiles = bound.kernel.tiles
    declared = tiles(given) if callable(tiles) else tiles
    is_exact = bound.kernel.rounds_nothing(given)
    request = Request(desc, bound, formula, tensors, given, is_exact, is_integer, arithmetic)
    return _CUTTING[type(declared)](declared, request)


def of_undefined(_: Undefined, request: Request) -> Iterator[Tile]:
    """Yield one tile of undefined results."""
    outputs = request.outputs
    found = {name: PartlyUndefined(np.broadcast_to(np.zeros(()), sizes), where=True) for name, sizes in outputs.items()}
    yield Tile(request.where(dict.fromkeys(outputs, ())), lambda: request.where(found))


_CUTTING: Mapping[type, Callable[[Any, Request], Iterator[Tile]]] = {
    SeparateOutputs: of_separate_outputs,
    Correlations: of_correlations,
    Cut: of_cut,
    EachOutput: of_each,
    Elements: of_elements,
    Groups: of_groups,
    InWindows: of_in_windows,
    Neighbours: of_neighbours,
    Products: of_products,
    Recurrence: of_recurrence,
    Undefined: of_undefined,
    Windows: of_windows,
}
