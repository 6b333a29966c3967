"""The row of an operator of WebNN, and a call of an operator with its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dmlcheck.diagnostics.wording import describe
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Unmapped, axis_of


class Call(NamedTuple):
    """A call of an operator of WebNN: its arguments by WebNN's names, and its outputs.

    `activation` is the fused operator, in the notation of DirectML's fields. `transposed` are the tensors that
    are read with their last two dimensions swapped.
    """

    name: str
    given: Mapping[str, Any]
    outputs: tuple[TensorRef, ...]
    activation: Mapping[str, Any] | None = None
    transposed: frozenset[str] = frozenset()

    @property
    def output(self) -> TensorRef:
        """The only output, or the first."""
        return self.outputs[0]

    @property
    def fused(self) -> dict[str, Any]:
        """The field of the activation that is fused into the operator, where there is one."""
        return {} if self.activation is None else {"FusedActivation": dict(self.activation)}

    def has(self, name: str) -> bool:
        """Whether an argument or option is given."""
        return self.given.get(name) is not None

    def tensor(self, name: str) -> TensorRef:
        """Return a tensor; Unmapped where there is none."""
        value = self.given.get(name)
        if not isinstance(value, TensorRef):
            raise Unmapped(f"`{name}` of {self.name} is {describe(value)}, not a tensor of the test")
        return value

    def optional(self, name: str) -> TensorRef | None:
        """Return a tensor, or None."""
        return self.tensor(name) if self.has(name) else None

    def tensors(self, name: str) -> list[TensorRef]:
        """Return a list of tensors."""
        value = self.given.get(name)
        if not isinstance(value, list) or not all(isinstance(each, TensorRef) for each in value):
            raise Unmapped(f"`{name}` of {self.name} is not a list of tensors of the test")
        return value

    def number(self, name: str, default: float | None = None) -> float | int:
        """Return a number."""
        value = self.given.get(name) if self.has(name) else default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Unmapped(f"`{name}` of {self.name} is {describe(value)}, not a number")
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        """Return a whole number."""
        return self._whole(name, self.number(name, default))

    def numbers(self, name: str, default: list[int] | None = None) -> list[int]:
        """Return a list of whole numbers."""
        value = self.given.get(name) if self.has(name) else default
        if not isinstance(value, list):
            raise Unmapped(f"`{name}` of {self.name} is {describe(value)}, not a list of numbers")
        return [self._whole(name, each) for each in value]

    def _whole(self, name: str, value: Any) -> int:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value != int(value):
            raise Unmapped(f"`{name}` of {self.name} has {describe(value)}, which is no whole number")
        return int(value)

    def pair(self, name: str, default: list[int]) -> list[int]:
        """Return the two numbers of height and width."""
        return self._counted(name, default)

    def padding(self) -> tuple[list[int], list[int]]:
        """Return the padding before and after height and width."""
        top, bottom, left, right = self._counted("padding", [0, 0, 0, 0])
        return [top, left], [bottom, right]

    def _counted(self, name: str, default: list[int]) -> list[int]:
        value = self.numbers(name, default)
        if len(value) != len(default):
            raise Unmapped(f"`{name}` of {self.name} has {len(value)} numbers, not {len(default)}")
        return value

    def axis(self, name: str, rank: int, default: int | None = None) -> int:
        """Return a dimension."""
        return axis_of(self.whole(name, default), rank)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a truth value."""
        return bool(self.given.get(name)) if self.has(name) else default

    def choice(self, name: str, choices: Mapping[str, Any], default: str) -> Any:
        """Return the value for a word; Unmapped if Chromium's backend does not take the word."""
        value = self.given.get(name) if self.has(name) else default
        if not isinstance(value, str) or value not in choices:
            raise Unmapped(f"Chromium's DirectML backend does not take {name} {describe(value)}")
        return choices[value]


class WebnnRow(NamedTuple):
    """An operator of WebNN: the names of its arguments, in order, and the function that makes the operator of DirectML.

    `becomes` are DirectML's operators, without their prefix, that calls become; `below` those at feature levels where
    DirectML has none of the others. `takes_activation` says that Chromium fuses an activation into it.
    """

    arguments: tuple[str, ...]
    make: Callable[[Call], Counterpart]
    becomes: tuple[str, ...]
    below: tuple[str, ...] = ()
    takes_activation: bool = False
