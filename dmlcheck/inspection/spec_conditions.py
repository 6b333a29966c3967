"""The conditions of a spec's rows: whether any desc can meet them. A row that none meets would check nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dmlcheck.specs.names import DATA_TYPES, ENUMS, LEVEL_ORDER, LEVELS
from dmlcheck.specs.records import DATA_TYPE, Constraint, Field, OperatorSpec

Condition = Mapping[str, tuple[Any, ...]]


def condition_problems(
    spec: OperatorSpec, where: str, condition: Condition | None, levels: Sequence[str] = LEVELS
) -> Iterator[str]:
    """Yield the problems of a condition: an unknown field, or a value that it never has."""
    for name, values in (condition or {}).items():
        field = spec.fields.get(name)
        if field is None and name != DATA_TYPE:
            yield f"{where} asks for the field {name}, which does not exist"
        elif field is None or field.is_tensor:
            yield from _type_problems(spec, where, name, values, levels)
        else:
            yield from _value_problems(where, field, values)
        if not values:
            yield f"{where} asks for no value of {name}"


def row_problems(spec: OperatorSpec, row: Constraint) -> Iterator[str]:
    """Yield why no desc at any level is one that a constraint is for."""
    levels = [level for level in LEVELS if _is_at(row, level) and _is_there(spec, level)]
    if not levels:
        yield f"{row.id} is for no feature level from {spec.introduced} on"
    for condition in (row.when, row.unless):
        yield from condition_problems(spec, row.id, condition, levels or LEVELS)
    yield from (
        f"{row.id} asks for {name} and that it is left out"
        for name in sorted({*row.present, *(row.when or ())} & {*row.absent})
    )
    if row.unless is not None and row.when is not None and _implies(row.when, row.unless):
        yield f"{row.id} is for no desc: unless is met where when is"


def unreached(where: str, when: Condition | None, earlier: Iterable[Condition | None]) -> Iterator[str]:
    """Yield why no desc gets to a row, of which the first that it meets counts: an earlier one has taken it."""
    if any(_implies(when or {}, other or {}) for other in earlier):
        yield f"{where} is never reached: an earlier one is for the same descs"


def _is_at(row: Constraint, level: str) -> bool:
    order = LEVEL_ORDER[level]
    return (row.since is None or LEVEL_ORDER[row.since] <= order) and (
        row.until is None or order < LEVEL_ORDER[row.until]
    )


def _is_there(spec: OperatorSpec, level: str) -> bool:
    return LEVEL_ORDER[spec.introduced] <= LEVEL_ORDER[level]


def _implies(when: Condition, unless: Condition) -> bool:
    """Whether every desc that meets one condition meets another."""
    return all(name in when and {*when[name]} <= {*values} for name, values in unless.items())


def _type_problems(
    spec: OperatorSpec, where: str, name: str, values: tuple[Any, ...], levels: Sequence[str]
) -> Iterator[str]:
    """Yield the data types of a condition that a tensor never has."""
    field = spec.fields.get(name) if name != DATA_TYPE else next(iter(spec.outputs), None)
    if field is not None and name != DATA_TYPE and field.type != "TENSOR_DESC":
        yield f"{where} compares {name}, of which there may be several, with a data type"
        return
    taken = None if field is None else _types_of(spec, field.name, levels)
    for kind in values:
        if kind not in DATA_TYPES:
            yield f"{where} has the type {kind}"
        elif taken is not None and kind not in taken:
            yield f"{where}: no support table gives {name} the type {kind} where it applies"


def _types_of(spec: OperatorSpec, name: str, levels: Sequence[str]) -> set[str] | None:
    """Return the types that the support tables give a tensor at some levels; None if none limits them."""
    rows = [table.rows[heading] for table in spec.support for level in levels if (heading := table.heading_at(level))]
    found = [row[name].types for row in rows if name in row]
    return None if not found or () in found else {kind for types in found for kind in types}


def _value_problems(where: str, field: Field, values: tuple[Any, ...]) -> Iterator[str]:
    """Yield the values of a condition that a field which is no tensor never has."""
    if field.enum is not None:
        known = ENUMS.get(field.enum, ())
        yield from (f"{where}: {value} is not a value of {field.enum}" for value in values if value not in known)
    elif field.boolean:
        yield from (f"{where}: {field.name} is never {value}" for value in values if type(value) is not bool)
    elif field.type in ("UINT", "INT", "FLOAT"):
        numbers = (int, float) if field.type == "FLOAT" else (int,)
        yield from (f"{where}: {field.name} is never {value}" for value in values if type(value) not in numbers)
    else:
        yield f"{where} compares {field.name}, which is neither one value nor a tensor"
