"""One operator of an ONNX model: its attributes, the values of its inputs, and the types of its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.diagnostics.wording import dimensions_text
from dmlcheck.graphs.tensors import Array, TensorRef

# Rules of nodes for which ONNX Runtime creates no session.
NO_PROVIDER = "no-provider"
PROVIDER_REFUSES = "provider-refuses"
REFUSALS = (NO_PROVIDER, PROVIDER_REFUSES)


class Unmapped(Exception):
    """A model without counterpart among DirectML's operators; the message says why."""


class NeverMapped(Unmapped):
    """A node without counterpart whatever its sizes are: an attribute or a type is the reason."""


class UnknownValues(Unmapped):
    """A node of a model whose desc depends on numbers that only a run of the model makes."""


class RefusedNode(Unmapped):
    """A node for which ONNX Runtime creates no session, though a provider takes it; `help` says how to change it."""

    def __init__(self, reason: str, help: str) -> None:
        super().__init__(reason)
        self.help = help


class OnnxNode(NamedTuple):
    """An operator of an opset; inputs and outputs that are left out are None.

    Values that are not known before a run are None in their tensors. Outputs in `untyped` are there, though they are
    None: their types or sizes are not known.
    """

    type: str
    opset: int
    attributes: Mapping[str, Any]
    inputs: tuple[TensorRef | None, ...]
    outputs: tuple[TensorRef | None, ...]
    untyped: frozenset[int] = frozenset()

    @property
    def has_outputs(self) -> bool:
        """Whether the values of the outputs are known."""
        return any(output is not None and output.values is not None for output in self.outputs)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute."""
        return self.attributes.get(name, default)

    def with_attributes(self, **attributes: Any) -> OnnxNode:
        """Return the node with other values of some attributes."""
        return self._replace(attributes={**self.attributes, **attributes})

    def with_inputs(self, *inputs: TensorRef | None) -> OnnxNode:
        """Return the node with other tensors as its first inputs."""
        return self._replace(inputs=(*inputs, *self.inputs[len(inputs) :]))

    def whole(self, name: str, default: int | None = None) -> int:
        """Return an attribute that is a whole number; Unmapped if it is none."""
        value = self.get(name, default)
        if value is None:
            raise Unmapped(f"{self.type} has no attribute {name}")
        if not isinstance(value, int):
            raise Unmapped(f"the attribute {name} of {self.type} is {value!r}, not a whole number")
        return value

    def positive(self, name: str) -> int:
        """Return an attribute that is a whole number above 0; Unmapped if it is none."""
        value = self.whole(name)
        if value < 1:
            raise Unmapped(f"the attribute {name} of {self.type} is {value}, not 1 or more")
        return value

    def has(self, index: int) -> bool:
        """Whether an optional input is there."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def input(self, index: int) -> TensorRef:
        """Return an input that must be there."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            raise Unmapped(f"{self.type} has no input {index}")
        return value

    def optional(self, index: int) -> TensorRef | None:
        """Return an input, or None."""
        return self.inputs[index] if self.has(index) else None

    def known(self, index: int) -> Array | None:
        """Return the values of an input, None without it; UnknownValues where a run of the model makes them."""
        given = self.optional(index)
        if given is None:
            return None
        values = given.values if given.size else np.empty(given.shape, given.dtype)
        if values is None:
            raise UnknownValues(f"the values of input {index} of {self.type} are not known before a run")
        return values

    def numbers_of(self, index: int) -> Array:
        """Return the values of an input that must be there; UnknownValues where a run of the model makes them."""
        self.input(index)
        values = self.known(index)
        assert values is not None  # noqa: S101 - the input is there
        return values

    def output(self, index: int = 0) -> TensorRef:
        """Return an output that must be there."""
        value = self.outputs[index] if index < len(self.outputs) else None
        if value is None:
            raise Unmapped(f"there are no values for output {index} of {self.type}")
        return value

    def tensors(self) -> dict[str, TensorRef]:
        """Return the only input and the only output as most operators of DirectML name them."""
        return {"InputTensor": self.input(0), "OutputTensor": self.output()}

    def gives(self, index: int) -> bool:
        """Whether an optional output is there, its type and sizes known."""
        return index < len(self.outputs) and self.outputs[index] is not None

    def only_outputs(self, count: int) -> None:
        """Refuse outputs beyond the first ones."""
        if any(value is not None for value in self.outputs[count:]):
            raise Unmapped(f"DirectML has no counterpart to output {count} of {self.type}")

    def numbers(self, name: str, index: int | None) -> list[int] | None:
        """Return whole numbers that are an attribute in some opsets and an input in others, or None."""
        given = self.get(name)
        if given is not None:
            return [int(shortest) for shortest in given] if isinstance(given, (list, tuple)) else [int(given)]
        values = None if index is None else self.known(index)
        return None if values is None else [int(shortest) for shortest in values.reshape(-1).tolist()]


class Counterpart(NamedTuple):
    """A DirectML operator, without its prefix, and its fields with their tensors.

    `note` names the part of the node that the case lacks. Of the outputs in `uncompared` only type and sizes are known.
    `least` is the least number of dimensions that the provider gives its tensors.
    """

    operator: str
    fields: Mapping[str, Any]
    note: str | None = None
    uncompared: frozenset[str] = frozenset()
    least: int = 4

    def with_fields(self, **fields: Any) -> Counterpart:
        """Return the operator with other values of some fields."""
        return self._replace(fields={**self.fields, **fields})


# ---- attributes


def axis_of(axis: int, rank: int) -> int:
    """Return an axis counted from the start."""
    if not -rank <= axis < rank:
        raise Unmapped(f"axis {axis} is not one of {dimensions_text(rank)}")
    return axis % rank


def axes_of(axes: Iterable[int], rank: int) -> list[int]:
    """Return axes counted from the start, in ascending order."""
    return sorted(axis_of(axis, rank) for axis in axes)


def shortest(value: Any, dtype: Any = np.float32) -> float | int:
    """Return a number with the fewest digits that are rounded to it in a type, by default the type of attributes."""
    if isinstance(value, (str, list, tuple)):
        raise Unmapped(f"an attribute is {value!r}, not a number")
    if np.dtype(dtype).kind != "f":
        return int(value)
    held = np.dtype(dtype).type(value)
    short = float(str(held))
    return int(short) if short.is_integer() and abs(short) < 2**24 and (short or not np.signbit(held)) else short
