"""The tiles of an operator's results, which its kernel's row declares, and how much there is to compute for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.ball.numbers import Arithmetic
from dmlcheck.reference.bindings import Binding, Inputs, attributes_of, fields_of, parameter, row, tensors_of
from dmlcheck.reference.functions.neighbours import has_everything, region
from dmlcheck.reference.functions.phases import most_places
from dmlcheck.reference.limits.deadline import in_time
from dmlcheck.reference.limits.work import Work, multiplications, terms
from dmlcheck.reference.rows import (
    Correlations,
    Cut,
    EachOutput,
    Elements,
    Given,
    Groups,
    InWindows,
    Neighbours,
    Products,
    Recurrence,
    SeparateOutputs,
    Tiles,
    Windows,
)
from dmlcheck.reference.tiling.request import Request, Tile
from dmlcheck.reference.tiling.windows import terms_of


class TilePlan(NamedTuple):
    """The tiles that a row declares for a desc, and the request for them."""

    declared: Tiles
    request: Request

    @property
    def work(self) -> Work | None:
        """How much there is to compute; None where it is about as much as the tensors have elements."""
        return amount_of(self.declared, self.request.given)

    def tiles(self) -> Iterator[Tile]:
        """Yield the tiles, as long as there is time."""
        kind: type = type(self.declared)
        return in_time(_cutting(kind)(self.declared, self.request))


def plan_of(desc: OperatorDesc, inputs: Inputs, arithmetic: Arithmetic | None = None) -> TilePlan:
    """Return the plan for an operator's results; with an arithmetic, FLOAT attributes are balls of it."""
    first = inputs.get(desc.spec.inputs[0].name) if desc.spec.inputs else None
    first = first[0] if isinstance(first, list) else first
    is_integer = isinstance(first, np.ndarray) and first.dtype.kind in "iu"
    binding = row(desc.spec.operator, is_integer=is_integer)
    bound = _bound(desc, binding, arithmetic)
    tensors = tensors_of(binding, inputs)
    given = bound.fields | {parameter(field.name): inputs.get(field.name) for field in desc.spec.inputs}
    tiles = binding.kernel.tiles
    declared = tiles(given) if callable(tiles) else tiles
    is_exact = binding.kernel.rounds_nothing(given)
    return TilePlan(declared, Request(desc, binding, bound.formula, tensors, given, is_exact, is_integer, arithmetic))


class _Bound(NamedTuple):
    """A formula with the attributes of a desc, and the desc's fields by parameter."""

    desc: OperatorDesc
    binding: Binding
    arithmetic: Arithmetic | None
    formula: Callable[..., Any]
    fields: dict[str, Any]


def _bound(desc: OperatorDesc, binding: Binding, arithmetic: Arithmetic | None) -> _Bound:
    """Return the formula of a desc; the last one of its operator is kept, since cases often share their desc."""
    last = _LAST.get(desc.spec.operator)
    if last is not None and last.desc is desc and last.binding is binding and last.arithmetic == arithmetic:
        return last
    attributes = attributes_of(binding, desc, arithmetic)
    formula = partial(binding.function, **attributes) if attributes else binding.function
    made = _LAST[desc.spec.operator] = _Bound(desc, binding, arithmetic, formula, fields_of(desc) | attributes)
    return made


_LAST: dict[str, _Bound] = {}  # by operator


def tiles_of(desc: OperatorDesc, inputs: Inputs, arithmetic: Arithmetic | None = None) -> Iterator[Tile]:
    """Yield the tiles of an operator's results."""
    return plan_of(desc, inputs, arithmetic).tiles()


def work_of(desc: OperatorDesc, inputs: Inputs) -> Work | None:
    """Return how much there is to compute for a desc; no plan is made if its row tells that it is not much."""
    return plan_of(desc, inputs).work if may_be_much(row(desc.spec.operator).kernel.tiles) else None


@cache
def _cutting(declared: type) -> Callable[[Any, Request], Iterator[Tile]]:
    """Return the function that cuts tiles of a kind, whose module is imported when the first is cut."""
    module, function = _CUTTING[declared]
    cut: Callable[[Any, Request], Iterator[Tile]] = getattr(import_module(f"{__package__}.{module}"), function)
    return cut


_CUTTING: Mapping[type, tuple[str, str]] = {
    SeparateOutputs: ("cut", "of_separate_outputs"),
    Correlations: ("correlations", "of_correlations"),
    Cut: ("cut", "of_cut"),
    EachOutput: ("cut", "of_each"),
    Elements: ("elements", "of_elements"),
    Groups: ("cut", "of_groups"),
    InWindows: ("windows", "of_in_windows"),
    Neighbours: ("windows", "of_neighbours"),
    Products: ("products", "of_products"),
    Recurrence: ("recurrence", "of_recurrence"),
    Windows: ("windows", "of_windows"),
}


# ---- how much there is to compute


def amount_of(declared: Tiles, given: Given) -> Work | None:
    """Return the work of a desc; None where it is about as much as its tensors have elements."""
    if isinstance(declared, (Cut, EachOutput)):
        return declared.work
    amount = _AMOUNTS.get(type(declared))
    return None if amount is None else amount(declared, given)


def may_be_much(tiles: Tiles | Callable[[Given], Tiles]) -> bool:
    """Whether the tiles of a row may be much more work than its tensors have elements."""
    return callable(tiles) or type(tiles) in _AMOUNTS


def of_windows(declared: Windows, given: Given) -> Work:
    """Return the terms of all windows: each on its own, unless windows are only reduced."""
    sizes, is_reduced = given["output"].sizes, declared.is_reduced(given)
    return terms(terms_of(sizes, declared.window(given), given["input"].shape[2:], is_reduced=is_reduced))


def of_in_windows(declared: InWindows, given: Given) -> Work:
    """Return the terms of the windows that contain each element, and of those that are reduced first."""
    counts, sizes = given["input_gradient"].shape, given["output_gradient"].sizes
    back = math.prod(map(most_places, sizes[2:], counts[2:], *declared.window))
    first = sum(terms_of(counts, of.window, sizes[2:]) for of in declared.first.values())
    return terms(math.prod(sizes) * back + first)


def of_correlations(declared: Correlations, given: Given) -> Work:
    """Return the products of all sums; each pass of a transposed convolution counts as many of them."""
    taps, sizes = declared.taps(given).shape, given["output"].sizes
    if not declared.is_backward(given):
        return multiplications(math.prod(sizes) * math.prod(taps[2:]))
    passes = math.prod(map(min, declared.window(given).strides, sizes[2:]))
    return multiplications(given["input"].size * taps[1] * math.prod(taps[3:]) + passes * _PASS)


_PASS = 1 << 22  # multiplications that take as long as the rest of a pass


def of_neighbours(declared: Neighbours, given: Given) -> Work:
    """Return the terms of the sums over all regions, and for gradients over those that contain each element."""
    (axes, reach), sizes = declared.of(given), given["input"].shape
    if has_everything(sizes, axes, reach):
        return terms(math.prod(sizes))
    reach, passes = ((sum(reach),) * 2, 2) if declared.is_twice else (reach, 1)
    return terms(passes * terms_of(sizes, region(sizes, axes, reach).window, sizes, is_reduced=True))


_AMOUNTS: Mapping[type, Callable[[Any, Given], Work]] = {
    Correlations: of_correlations,
    InWindows: of_in_windows,
    Neighbours: of_neighbours,
    Windows: of_windows,
}
