"""What is to be cut into tiles: a formula with its attributes, and the tensors that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.ball.numbers import Arithmetic
from dmlcheck.reference.bindings import Binding, parameter

TENSORS = "TENSOR_DESC_ARRAY"


@cache
def parameters_of(formula: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the parameters of a formula."""
    return frozenset(inspect.signature(formula).parameters)


class Request(NamedTuple):
    """The results of a desc, to be cut into tiles.

    `formula` takes the tensors in their order, and has its attributes, which are balls where there is an arithmetic;
    `given` has all of them by parameter. It computes the outputs `names`, or all where that is None.
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
        """The sizes of the outputs that it computes by parameter."""
        parts = (part for field in self.desc.spec.outputs for part in self.desc.parts[field.name])
        sizes = {parameter(part.label): part.tensor.sizes for part in parts}
        return sizes if self.names is None else {name: sizes[name] for name in self.names}

    def where(self, places: Mapping[str, Any]) -> Any:
        """Return where a tile is: its place in the one output that there may be, or in each by parameter."""
        return next(iter(places.values())) if self._has_one_output else places

    def everywhere(self, place: Any) -> Any:
        """Return where a tile is that has the same place in every output."""
        return place if self._has_one_output else dict.fromkeys(self.outputs, place)

    @property
    def _has_one_output(self) -> bool:
        fields = self.desc.spec.outputs
        return len(fields) == 1 and fields[0].type != TENSORS
