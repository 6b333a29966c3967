"""A tile, and the request for tiles: a desc, its formula with its attributes, and the tensors that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.ball.numbers import Arithmetic
from dmlcheck.reference.bindings import Binding, parameter
from dmlcheck.reference.functions.products import Magnitudes

TENSORS = "TENSOR_DESC_ARRAY"


@cache
def parameters_of(formula: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the parameters of a formula."""
    return frozenset(inspect.signature(formula).parameters)


class Request(NamedTuple):
    """A request for the tiles of a desc's results.

    `formula` takes the `tensors` in their order; its attributes are bound, as balls if there is an arithmetic. `given`
    has the tensors and attributes by parameter. The formula computes the outputs `names`; None for all.
    """

    desc: OperatorDesc
    bound: Binding
    formula: Callable[..., Any]
    tensors: Mapping[str, Any]
    given: Mapping[str, Any]
    is_exact: bool
    is_integer: bool
    arithmetic: Arithmetic | None
    names: Collection[str] | None = None

    def asks_for(self, parameter: str) -> bool:
        """Whether the formula has a parameter."""
        return parameter in parameters_of(self.bound.function)

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """The sizes of the outputs that the formula computes, by parameter."""
        parts = (part for field in self.desc.spec.outputs for part in self.desc.parts[field.name])
        sizes = {parameter(part.label): part.tensor.sizes for part in parts}
        return sizes if self.names is None else {name: sizes[name] for name in self.names}

    def where(self, places: Mapping[str, Any]) -> Any:
        """Return `where` of a tile: its index in the only output, or a dict of the indices by parameter."""
        return next(iter(places.values())) if self._has_one_output else places

    def everywhere(self, place: Any) -> Any:
        """Return `where` of a tile with the same index in every output."""
        return place if self._has_one_output else dict.fromkeys(self.outputs, place)

    @property
    def _has_one_output(self) -> bool:
        fields = self.desc.spec.outputs
        return len(fields) == 1 and fields[0].type != TENSORS


# ---- tiles


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
