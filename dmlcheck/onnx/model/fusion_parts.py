"""The nodes of a graph for the patterns of fusions: the writer of a value, its readers, and its constant.

Needs the package onnx.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck.onnx.model.values import CONSTANT, Value

_NEAR = 1e-3  # of a constant: FLOAT16 is no nearer


class FusionPart(NamedTuple):
    """A node, or the result of a fusion: `replaced` has the positions of the fused nodes.

    Attributes are values, or each an onnx.AttributeProto as a node has it; `is_fused` says that the part is no node of
    the model.
    """

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    replaced: tuple[int, ...]
    is_fused: bool = False

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute."""
        from onnx import AttributeProto, helper

        value = self.attributes.get(name, default)
        return helper.get_attribute_value(value) if isinstance(value, AttributeProto) else value


class Replacement(NamedTuple):
    """The result of fusing parts, the last one of them first."""

    operator: str
    inputs: Sequence[str]
    parts: Sequence[FusionPart]
    attributes: Mapping[str, Any] = {}


class Parts:
    """The parts of a graph in their order, and its values; `kept` are those that its outputs or inner graphs read."""

    def __init__(
        self,
        parts: Iterable[FusionPart],
        values: Mapping[str, Value],
        kept: frozenset[str] = frozenset(),
        opset: int = 1,
    ) -> None:
        self.parts = list(parts)
        self.values, self.kept, self.opset = values, kept, opset
        self.makers = {name: part for part in self.parts for name in part.outputs if name}
        self.readers: dict[str, list[FusionPart]] = defaultdict(list)
        for part in self.parts:
            for name in part.inputs:
                self.readers[name].append(part)

    def maker(self, name: str, *operators: str) -> FusionPart | None:
        """Return the part that makes a value, if it is one of some operators."""
        part = self.makers.get(name)
        return part if part is not None and part.operator in operators else None

    def made_inputs(self, part: FusionPart, *operators: str) -> Iterator[tuple[FusionPart, str]]:
        """Yield the part that makes either input of a part, if it is one of some operators, and the other input."""
        if len(part.inputs) == 2:
            for name, other in (part.inputs, part.inputs[::-1]):
                maker = self.maker(name, *operators)
                if maker is not None:
                    yield maker, other

    def other_input(self, part: FusionPart, constant: float) -> str | None:
        """Return the input of a part whose other input is a constant of one element, or None."""
        if len(part.inputs) != 2:
            return None
        for name, other in (part.inputs, part.inputs[::-1]):
            number = self.number(name)
            if number is not None and abs(number - constant) <= _NEAR * abs(constant):
                return other
        return None

    def number(self, name: str) -> float | None:
        """Return the number that a constant of one element has, or None."""
        value = self.values.get(name)
        if value is None or value.numbers is None or value.numbers.size != 1 or value.numbers.dtype.kind not in "fiu":
            return None
        return float(value.numbers.reshape(-1)[0])

    def element(self, name: str) -> str:
        """Return ONNX's name of the type of a value, "" if it is not known."""
        value = self.values.get(name)
        return "" if value is None else value.element

    def sizes(self, name: str) -> tuple[int | str, ...] | None:
        """Return the sizes of a value, or None."""
        value = self.values.get(name)
        return None if value is None else value.sizes

    def is_constant(self, name: str) -> bool:
        """Whether a value is in the model."""
        value = self.values.get(name)
        return value is not None and value.origin == CONSTANT

    def are_apart(self, parts: Sequence[FusionPart]) -> bool:
        """Whether only the parts themselves read their outputs, except for the first one's outputs."""
        inside = {part.outputs for part in parts}
        return all(
            name not in self.kept and all(reader.outputs in inside for reader in self.readers[name])
            for part in parts[1:]
            for name in part.outputs
        )
