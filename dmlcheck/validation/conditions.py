"""When a row of a spec applies, and to what: its fields, values and feature levels, tensors and nested operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dmlcheck.descs.records import OperatorDesc, TensorPart
from dmlcheck.specs.names import LEVEL_ORDER
from dmlcheck.specs.records import DATA_TYPE, Constraint


def applicable(desc: OperatorDesc, level: str) -> Iterator[Constraint]:
    """Yield the rows of a desc's operator that apply to it at a level."""
    return (row for row in desc.spec.constraints if applies(row, desc, level))


def applies(row: Constraint, desc: OperatorDesc, level: str) -> bool:
    """Whether a row applies to a desc at a level."""
    return row.is_unconditional or (_is_at(row, level) and _is_about(row, desc))


def _is_at(row: Constraint, level: str) -> bool:
    """Whether a row applies at a level."""
    order = LEVEL_ORDER[level]
    if row.since is not None and order < LEVEL_ORDER[row.since]:
        return False
    return row.until is None or order < LEVEL_ORDER[row.until]


def _is_about(row: Constraint, desc: OperatorDesc) -> bool:
    """Whether a row applies to the fields of a desc."""
    values = desc.values
    if any(name not in values for name in row.present):
        return False
    if any(name in values or name in desc.broken for name in row.absent):
        return False
    if row.when is not None and not desc.matches(row.when):
        return False
    return row.unless is None or (_is_known(row.unless, desc) and not desc.matches(row.unless))


def _is_known(condition: Mapping[str, tuple[str, ...]], desc: OperatorDesc) -> bool:
    """Whether every field of a condition has a value, or may do without one."""
    return all(name in desc.values or desc.spec.fields[name].optional for name in condition if name != DATA_TYPE)


def tensors_of(desc: OperatorDesc, name: str) -> tuple[TensorPart, ...]:
    """Return the tensors of a field, or the one with a label (`OutputTensors[0]`); none if it is not there."""
    if name in desc.parts:
        return desc.parts[name]
    return tuple(part for part in desc.parts[name.partition("[")[0]] if part.label == name)


def nested(desc: OperatorDesc) -> Iterator[tuple[tuple[str | int, ...], OperatorDesc]]:
    """Yield the operators inside an operator, each with its path."""
    for field in desc.spec.operators:
        value = desc.values.get(field.name)
        if isinstance(value, OperatorDesc):
            yield (field.name,), value
        else:
            for index, part in enumerate(value or ()):
                if part is not None:
                    yield (field.name, index), part
