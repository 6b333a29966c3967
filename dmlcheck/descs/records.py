"""A desc whose fields are known to be of the right types."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import DATA_TYPE, INPUT, OUTPUT, OperatorSpec


class TensorDesc(NamedTuple):
    """A DML_BUFFER_TENSOR_DESC whose fields are known to be of the right types; strides None means packed."""

    data_type: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    total_size: int | None = None
    alignment: int = 0
    flags: str = "NONE"

    @property
    def DimensionCount(self) -> int:  # noqa: N802 - DirectML's name, for constraint expressions
        """The number of dimensions."""
        return len(self.sizes)

    @property
    def element_count(self) -> int:
        """The number of logical elements."""
        return math.prod(self.sizes)

    @property
    def extent(self) -> int:
        """The number of elements of the buffer from the first to the last that the tensor touches."""
        if self.strides is None:
            return self.element_count
        return 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=False))

    @property
    def shares_places(self) -> bool:
        """Whether strides that are not 0 may put two elements in one place; False is certain, True is not."""
        reach = 0
        steps = sorted((stride, size) for size, stride in zip(self.sizes, self.strides or (), strict=False) if size > 1)
        for stride, size in steps:
            if 0 < stride <= reach:
                return True
            reach += stride * (size - 1)
        return False

    @property
    def buffer_bytes(self) -> int:
        """The size of the tensor's buffer: its own, and no less than its elements need."""
        return max(self.implied_bytes, self.total_size or 0)

    @property
    def implied_bytes(self) -> int:
        """The minimum implied size in bytes: the span, rounded up to 4."""
        return (self.span_bytes + 3) // 4 * 4

    @property
    def span_bytes(self) -> int:
        """The bytes from the first to the last element, without the padding of the tensor's size."""
        return (self.extent * DATA_TYPES[self.data_type].bits + 7) // 8


class TensorPart(NamedTuple):
    """One tensor of a desc: the name that reports give it (`OutputTensors[0]`) and its path in the desc."""

    label: str
    path: tuple[str | int, ...]
    tensor: TensorDesc


class OperatorDesc(NamedTuple):
    """A desc whose fields have the right types: tensors are TensorDesc, enumerations suffixes, counts filled in.

    `values` has the fields that are given and right, `broken` the names of wrong ones, `parts` the tensors of each
    tensor field. `derived` has the counts that follow from their arrays. `steps` is the path from a nested operator to
    its fields (`Desc`, in the long form). `refused` has the paths of values that the support table of the checked level
    does not accept (`("ATensor", "DataType")`).

    A desc can be read like a mapping: `desc["TransA"]`, `"Alpha" in desc`, `desc.get("CTensor")`.
    """

    spec: OperatorSpec
    values: Mapping[str, Any]
    parts: Mapping[str, tuple[TensorPart, ...]]
    broken: frozenset[str] = frozenset()
    derived: frozenset[str] = frozenset()
    refused: frozenset[tuple[str | int, ...]] = frozenset()
    steps: tuple[str, ...] = ()

    @classmethod
    def of(cls, spec: OperatorSpec, values: Mapping[str, Any], broken: frozenset[str] = frozenset()) -> OperatorDesc:
        """Return the desc with these values."""
        parts: dict[str, tuple[TensorPart, ...]] = {}
        for field in (*spec.inputs, *spec.outputs):
            name = field.name
            value = values.get(name)
            if isinstance(value, TensorDesc):
                parts[name] = (TensorPart(name, (name,), value),)
            else:
                parts[name] = tuple(
                    TensorPart(f"{name}[{index}]", (name, index), tensor)
                    for index, tensor in enumerate(value or ())
                    if tensor is not None
                )
        return cls(spec, values, parts, broken)

    def __getitem__(self, field: Any) -> Any:
        """Return the value of a field by its name: of an enumeration the suffix, of a tensor a TensorDesc.

        KeyError if the desc leaves the field out, or the operator has no such field.
        """
        if not isinstance(field, str):
            return tuple.__getitem__(self, field)
        value = self.values.get(field)
        if value is None:
            raise KeyError(self._why_missing(field))
        return value

    def __contains__(self, field: object) -> bool:
        """Whether the desc gives a field."""
        return self.values.get(field) is not None if isinstance(field, str) else tuple.__contains__(self, field)

    def get(self, field: str, default: Any = None) -> Any:
        """Return the value of a field by its name, or the default where the desc leaves it out."""
        value = self.values.get(field)
        return default if value is None else value

    def _why_missing(self, field: str) -> str:
        if field in self.spec.fields:
            return f"{field} is left out; ask with `in` or get()"
        return f"{self.spec.short} has no field {field}; it has {', '.join(self.spec.fields)}"

    def without(self, names: Iterable[str]) -> OperatorDesc:
        """Return the desc as if some of its fields could not be read."""
        broken = self.broken.union(names)
        values = {name: value for name, value in self.values.items() if name not in broken}
        parts = {name: () if name in broken else parts for name, parts in self.parts.items()}
        return self._replace(values=values, parts=parts, broken=broken)

    def tensor(self, name: str) -> TensorDesc | None:
        """Return a single tensor by its field's name, or None where the desc has none."""
        value = self.values.get(name)
        return value if isinstance(value, TensorDesc) else None

    def matches(self, when: Mapping[str, tuple[str, ...]] | None) -> bool:
        """Whether the fields have the values of a condition of the spec.

        A tensor's value is its data type; `DataType` stands for that of the first output.
        """
        return all(self.value_of(field) in values for field, values in (when or {}).items())

    def value_of(self, field: str) -> Any:
        """Return the value that a condition of the spec compares: that of a field, or the data type of a tensor."""
        if field == DATA_TYPE:
            outputs = self.tensors(OUTPUT)
            return outputs[0].tensor.data_type if outputs else ""
        value = self.values.get(field)
        return value.data_type if isinstance(value, TensorDesc) else value

    def inputs_with(self, values: Mapping[str, Any]) -> Iterator[tuple[TensorPart, Any]]:
        """Yield every input tensor with its values, from values by field; an array of tensors has a list."""
        for field in self.spec.inputs:
            given = values.get(field.name)
            parts = [] if given is None else given if isinstance(given, list) else [given]
            yield from zip(self.parts[field.name], parts, strict=False)

    def tensors(self, kind: str | None = None) -> list[TensorPart]:
        """Return the tensors of the desc, or of one kind; inputs first."""
        fields = self.spec.fields
        return [part for name, parts in self.parts.items() if kind in (None, fields[name].kind) for part in parts]

    def by_field(self, by_label: Mapping[str, Any], kind: str = INPUT) -> dict[str, Any]:
        """Return by field the values that tensors of a kind have by label: a list of them for an array of tensors."""
        fields = self.spec.fields
        return {
            name: by_label[name] if fields[name].type == "TENSOR_DESC" else [by_label[part.label] for part in parts]
            for name, parts in self.parts.items()
            if parts and fields[name].kind == kind
        }
