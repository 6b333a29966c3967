"""Conditions on draws: attributes with a value, and data types of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import DATA_TYPE_PREFIX, ENUMS, enum_prefix
from dmlcheck.specs.records import Field

DATA_TYPE = "DataType"  # of any tensor


class Where(NamedTuple):
    """A condition: the name of an attribute or DataType, and the values that it may have, as a desc has them."""

    name: str
    values: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Where | None:
        """Return the condition of `Direction=FORWARD` or `DataType=FLOAT16|FLOAT32`, None for any other text."""
        name, equals, values = text.replace(" ", "").partition("=")
        return cls(name, tuple(values.split("|"))) if name and equals and all(values.split("|")) else None

    def is_for(self, operator: str) -> bool:
        """Whether an operator has what the condition is about, and can have one of its values."""
        field = load_spec(operator).fields.get(self.name)
        if self.name == DATA_TYPE or field is None:
            return self.name == DATA_TYPE
        return field.enum is None or any(_suffix(field, value) in ENUMS[field.enum] for value in self.values)

    def holds(self, desc: OperatorDesc) -> bool:
        """Whether a desc has one of the values."""
        if self.name == DATA_TYPE:
            types = {part.tensor.data_type for part in desc.tensors()}
            return any(value.removeprefix(DATA_TYPE_PREFIX) in types for value in self.values)
        field = desc.spec.fields[self.name]
        return _text(notation(desc).get(self.name)) in {_suffix(field, value).casefold() for value in self.values}


def all_hold(where: Sequence[Where], desc: OperatorDesc) -> bool:
    """Whether a desc meets all conditions."""
    return all(one.holds(desc) for one in where)


def _suffix(field: Field, value: str) -> str:
    return value if field.enum is None else value.removeprefix(enum_prefix(field.enum))


def _text(value: Any) -> str:
    """Return a value as conditions are written: without spaces, `[1,1]`, `true`."""
    if isinstance(value, dict):
        value = value.get("Type")
    return str(value).replace(" ", "").casefold()
